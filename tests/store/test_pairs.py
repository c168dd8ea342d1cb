"""Tables of pairs: read whole or by sample, hostile names and numbers included."""

import gzip
from pathlib import Path

import duckdb
import numpy as np
import pytest

from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.store import pairs as pairs_of_files
from wireproof.store import seal
from wireproof.store.pairs import open_pairs
from wireproof.workflow.locate import from_table

NODES = 60


@pytest.fixture(params=["DuckDB", "without"], autouse=True)
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """DuckDB is an extra: without it, CSV is read in memory. Parquet is read by DuckDB only."""
    kind: str = request.param
    if kind == "without":
        monkeypatch.setattr(pairs_of_files, "has_duckdb", lambda: False)
    return kind


SLOW = 17


def table(
    path: Path,
    *,
    value: str = "goodput_bytes_per_s",
    factor: float = 1.0,
    ends: str = "origin, target",
) -> Path:
    """Every directed pair of 60 nodes at 10 GB/s, 1 % apart; node n17 sends at four fifths."""
    one, other = ends.split(", ")
    form = "parquet" if path.suffix == ".parquet" else "csv, HEADER"
    duckdb.sql(
        f"COPY (SELECT 'n' || a AS {one}, 'n' || b AS {other},"  # noqa: S608  a test's own names
        f" (1e10 - 1e8 * abs(sin(a * 12.9 + b * 78.2))) * CASE WHEN a = {SLOW} THEN 0.8 ELSE 1 END"
        f' * {factor} AS "{value}" FROM range({NODES}) x(a), range({NODES}) y(b) WHERE a <> b) TO'
        f" '{path}' (FORMAT {form})"
    )
    return path


@pytest.mark.parametrize(
    ("name", "value", "factor", "ends"),
    [
        ("p.parquet", "goodput_bytes_per_s", 1.0, "origin, target"),
        ("p.csv", "MB/s", 1e-6, "src, dst"),
        ("p.csv", "Gbit/s", 8e-9, "node1, node2"),
        ("p.csv", "GB/s", 1e-9, "Sender, Receiver"),
    ],
)
def test_a_slow_sender_is_found_whatever_the_columns_are_called(
    tmp_path: Path, name: str, value: str, factor: float, ends: str
) -> None:
    found = from_table(table(tmp_path / name, value=value, factor=factor, ends=ends), None)
    (located,) = found.located
    assert [(blame.subject, blame.direction) for blame in located.blames] == [(f"n{SLOW}", "tx")]
    assert located.blames[0].slowdown == pytest.approx(0.2, abs=0.02)
    assert located.blames[0].value == pytest.approx(8e9, rel=0.02)
    assert located.blames[0].stage == "screened"


def test_medians_are_those_of_all_pairs(tmp_path: Path) -> None:
    with open_pairs(table(tmp_path / "p.parquet")) as pairs:
        assert pairs.rows == NODES * (NODES - 1)
        assert pairs.nodes[:3] == ("n0", "n1", "n2")
        everything = pairs.everything()
        tx, rx = pairs.medians()
        for node in (0, SLOW, NODES - 1):
            assert tx[node] == pytest.approx(
                np.median(everything.value[everything.origin == node]), rel=2e-3
            )
            assert rx[node] == pytest.approx(
                np.median(everything.value[everything.target == node]), rel=2e-3
            )


def test_the_worst_pair_is_worse_than_both_its_nodes(tmp_path: Path) -> None:
    path = table(tmp_path / "p.csv")
    text = path.read_text().splitlines()
    spoiled = [
        ",".join([*line.split(",")[:2], "4e9"]) if line.startswith("n3,n5,") else line
        for line in text
    ]
    path.write_text("\n".join(spoiled) + "\n")
    found = from_table(path, None)
    worst = found.worst_pairs[0]
    assert (worst.origin, worst.target) == ("n3", "n5")
    assert worst.ratio == pytest.approx(0.4, abs=0.02)


def test_a_sample_has_about_so_many_partners_of_each_node(tmp_path: Path) -> None:
    with open_pairs(table(tmp_path / "p.parquet")) as pairs:
        some, again = pairs.sample(10), pairs.sample(10)
        assert np.array_equal(some.origin, again.origin)
        counts = np.bincount(some.origin, minlength=NODES)
        assert counts.min() >= 4
        assert counts.max() <= 20


def test_rows_that_are_no_measurement_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text(
        "origin,target,MB/s\na,b,100\nb,a,nan\nb,c,-1\nc,b,0\nc,a,inf\na,a,5\na,c,\n,b,7\nb,c,90\n"
    )
    with open_pairs(path) as pairs:
        assert pairs.rows == 2


HOSTILE = "a'b\"c; DROP TABLE pairs --"


def test_names_are_values_and_never_statements(tmp_path: Path) -> None:
    path = tmp_path / "it's [a] *table*.csv"
    quoted = '"' + HOSTILE.replace('"', '""') + '"'
    path.write_text(f"origin,target,MB/s\n{quoted},x,100\nx,{quoted},101\n")
    with open_pairs(path) as pairs:
        assert set(pairs.nodes) == {HOSTILE, "x"}
        assert pairs.rows == 2


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "table"),
        (b"origin,target,speed\na,b,1\n", "its first line must contain origin, target"),
        (b"origin,target,MB/s\n", "no pair"),
        (b"\x00\xff\x00\xfe" * 50, "table|columns"),
        (b"origin,target,MB/s\na,a,1\n", "no pair"),
    ],
)
def test_what_is_no_table_of_pairs_is_one_sentence(
    tmp_path: Path, content: bytes, said: str
) -> None:
    path = tmp_path / "p.csv"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=said), open_pairs(path):
        pass


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="not a readable file"), open_pairs(tmp_path / "no.parquet"):
        pass
    (tmp_path / "no.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(BadInput, match="cannot be read"), open_pairs(tmp_path / "no.parquet"):
        pass


def test_every_row_of_a_small_table_counts_repeats_included(tmp_path: Path) -> None:
    """36 rows of 4 nodes, three of each pair."""
    path = tmp_path / "p.csv"
    rows = [
        f"n{a},n{b},{500 if a == 3 else 1100 + 3 * repeat + a}"
        for repeat in range(3)
        for a in range(4)
        for b in range(4)
        if a != b
    ]
    path.write_text("\n".join(["origin,target,MB/s", *rows]) + "\n")
    found = from_table(path, None)
    (located,) = found.located
    assert (located.samples, located.missing, found.notes) == (36, {}, ())
    assert [str(blame.about) for blame in located.blames] == ["n3 tx"]


def test_a_pair_without_a_number_never_passes(tmp_path: Path) -> None:
    """A link that is down has 0 MB/s, or no number at all."""
    for dead in ("0", "", "failed", "nan"):
        path = tmp_path / "p.csv"
        rows = [
            f"n{a},n{b},{dead if (a, b) == (1, 2) else 1100 + a + b}"
            for a in range(8)
            for b in range(8)
            if a != b
        ]
        path.write_text("\n".join(["origin,target,MB/s", *rows]) + "\n")
        found = from_table(path, None)
        assert found.verdict == "inconclusive"
        assert found.undecided == ("1 row without a positive number: are those pairs down?",)


def test_a_pair_that_is_faster_than_its_nodes_is_not_far_below_them(tmp_path: Path) -> None:
    from wireproof.locate.document import locate_document
    from wireproof.report.text import document_text

    path = tmp_path / "p.csv"
    path.write_text("origin,target,MB/s\nn1,n2,500\nn1,n3,1100\nn2,n3,1105\n")
    text = " ".join(document_text(locate_document(from_table(path, None))).split())
    assert "n2 receives slowly" in text
    assert " next: " in text
    assert "220%" not in text


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("packed", [False, True])
def test_both_readers_give_the_same_pairs(tmp_path: Path, separator: str, packed: bool) -> None:
    """Other columns between, quotes, an empty line, and the line ends of another system."""
    rows = [
        "round,from,note,to,MB/s",
        '0,n2,"a ""b""",n10,100',
        "1,n10,,n2,101.5",
        "",
        "0,n2,x,n2,3",
    ]
    text = "\r\n".join(row.replace(",", separator) for row in rows) + "\r\n"
    path = tmp_path / ("p.csv.gz" if packed else "p.csv")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    with open_pairs(path) as pairs:
        columns = pairs.everything()
        found = sorted(zip(*(each.tolist() for each in vars(columns).values()), strict=True))
        assert (pairs.nodes, pairs.metric, pairs.left_out) == (("n2", "n10"), "goodput", 0)
    assert found == [(0, 1, 0, 100e6), (1, 0, 1, pytest.approx(101.5e6))]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"origin,target,MB/s\na,b,1,2\n", "4 columns"),
        (b"origin,target,MB/s\na,b\n", "2 columns"),
        (b"origin,target,MB/s\n" + b"x" * 300 + b",b,1\n", "255 characters"),
        (b"origin,target,MB/s\na,b,1\n" + b"y" * (1 << 17), "a line is too long"),
        (b'origin,target,MB/s\n"a,b,1\n', "cannot be read|columns"),
        (b"origin,target,MB/s\n\xff,b,1\n", "cannot be read"),
    ],
)
def test_damaged_text_is_one_sentence_without_duckdb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, reason: str
) -> None:
    monkeypatch.setattr(pairs_of_files, "has_duckdb", lambda: False)
    for name, content in (("p.csv", data), ("p.csv.gz", gzip.compress(data))):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(BadInput, match=reason), open_pairs(tmp_path / name):
            pass


def test_a_table_is_never_larger_than_memory_without_duckdb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairs_of_files, "has_duckdb", lambda: False)
    monkeypatch.setattr(pairs_of_files, "MOST_PLAIN", 3)
    monkeypatch.setattr(seal, "has_duckdb", lambda: False)
    for name, content in (
        ("p.csv", "origin,target,MB/s\n" + "a,b,1\n" * 4),
        ("p.parquet", "PAR1"),
        ("p.csv.zst", "(\xb5/\xfd"),
    ):
        (tmp_path / name).write_text(content)
        with pytest.raises(CouldNotMeasure, match="pip install"), open_pairs(tmp_path / name):
            pass


def test_a_table_of_the_most_rows_is_read_and_an_odd_number_is_left_out_without_duckdb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairs_of_files, "has_duckdb", lambda: False)
    monkeypatch.setattr(pairs_of_files, "MOST_PLAIN", 3)
    (tmp_path / "p.csv").write_text("origin,target,MB/s\na,b,1\nb,a,1_000\na,b,2\n")
    with open_pairs(tmp_path / "p.csv") as pairs:
        assert (pairs.rows, pairs.left_out) == (2, 1)
