"""A history: shared without locks, and asked what has changed."""

import errno
import gzip
import json
import os
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from tests.cli.verb import document, wireproof
from tests.dossiers import dossier_of

import wireproof as library
from wireproof.archive import logs as adding
from wireproof.archive.history import (
    ages,
    entry_called,
    found,
    least_proven,
    newest_of,
    prunable,
    prune,
    regressions,
    since_good,
    trends,
)
from wireproof.archive.history_document import (
    age_document,
    drift_lines,
    entries_document,
    regression_lines,
    trend_document,
)
from wireproof.archive.logs import add
from wireproof.files.hostile import copy_folder
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.finding import Verdict
from wireproof.model.history import Entry, Number
from wireproof.model.run import StoredResult
from wireproof.report.document import Table
from wireproof.report.reporter import LoggingReporter
from wireproof.report.text import document_text
from wireproof.store import history as store
from wireproof.store.history import RESULTS, add_entry, entries
from wireproof.store.result import write_result

START = datetime(2026, 1, 1, tzinfo=UTC)


def entry(
    day: int,
    rate: float = 1e10,
    *,
    verdict: Verdict = "pass",
    nodes: dict[str, Verdict] | None = None,
    **more: object,
) -> Entry:
    number = Number(
        name="stream",
        message_bytes=1 << 20,
        unit="bytes_per_s",
        value=rate,
        low=rate * 0.99,
        high=rate * 1.01,
        results=2,
    )
    fields: dict[str, object] = {
        "numbers": [number],
        "fingerprint": "f",
        "hosts": "n[1-2]",
        "link": "edr",
        "transport": "mpi",
        "mpi": "MPICH 5.0.2 (/usr)",
        "wireproof": "0.1.0",
    }
    return Entry(
        id=f"r{day:05}",
        measured=(START + timedelta(days=day)).isoformat(),
        verdict=verdict,
        nodes=nodes or {"n1": verdict, "n2": verdict},
        **(fields | more),  # type: ignore[arg-type]
    )


def noisy(days: int, *, at: int = 0, factor: float = 1.0, seed: int = 1) -> list[Entry]:
    """A rate that varies by 1 %, and is another one from day ``at`` on."""
    rng = random.Random(seed)
    return [
        entry(
            day,
            1e10 * rng.gauss(1, 0.01) * (factor if at and day >= at else 1),
            conditions={"driver": "5.1" if at and day >= at else "5.0", "MTU": "4096"},
        )
        for day in range(days)
    ]


def test_a_change_is_found_with_what_changed_there() -> None:
    (found_trend,) = trends(noisy(40, at=25, factor=0.9))
    (change,) = found_trend.changes
    assert change.since == "r00025"
    assert change.ratio == pytest.approx(0.9, rel=0.02)
    assert change.changed == ["driver: 5.0 -> 5.1"]
    text = document_text(trend_document([found_trend], [""], "fail"))
    assert "% since 2026-01-26" in text
    assert "changed there: driver: 5.0 -> 5.1" in text


def test_the_newest_result_is_held_against_the_good_ones() -> None:
    good = noisy(12)
    (same,) = regressions([*good, entry(12, 0.99e10)])
    assert not same.worse
    (slow,) = regressions([*good, entry(12, 0.9e10)])
    assert slow.worse
    assert slow.results == 12
    assert "% worse than in the last 12 good results" in regression_lines("r", [slow])[0]
    bad = [entry(day, verdict="fail") for day in range(12)]
    assert regressions([*bad, entry(12, 0.5e10)]) == []
    assert "not compared with earlier results" in regression_lines("r", [])[0]
    assert regressions([]) == []


def test_what_changed_since_the_last_good_result_is_named() -> None:
    """A change point needs two results after it; the newest one alone may be worse."""
    slow = entry(12, 0.9e10, verdict="fail", conditions={"driver": "5.0", "MTU": "1500"})
    assert since_good([*noisy(12), slow]) == ("r00011", ["MTU: 4096 -> 1500"])
    assert drift_lines(*since_good([*noisy(12), slow])) == [
        "changed since r00011, the last good result before: MTU: 4096 -> 1500"
    ]
    assert since_good(noisy(12)) == ("r00010", [])
    assert drift_lines("r", []) == []
    assert since_good([slow]) == since_good([]) == ("", [])
    (line,) = drift_lines("r", [f"setting {at}: 0 -> 1" for at in range(9)])
    assert line.endswith("setting 5: 0 -> 1; 3 more")


def test_other_conditions_are_another_fingerprint() -> None:
    known = [*noisy(12), entry(12, 0.5e10, fingerprint="g")]
    assert regressions(known) == []
    assert len(trends(known)) == 2


def test_ages_and_the_least_proven(tmp_path: Path) -> None:
    known = [
        entry(1, nodes={"n1": "pass", "n2": "pass"}),
        entry(2, nodes={"n2": "fail", "n3": "pass"}),
    ]
    by_name = {one.node: one for one in ages(known, ["n1", "n2", "n3", "n4"])}
    assert by_name["n4"].age_s is None
    assert (by_name["n2"].verdict, by_name["n2"].measured[:10]) == ("fail", "2026-01-02")
    for one in known:
        add_entry(tmp_path, one)
    hosts = ["n1", "n2", "n3", "n4"]
    assert least_proven(tmp_path, hosts, 1) == ("n4",)
    assert least_proven(tmp_path, hosts, 3) == ("n1", "n2", "n4")
    assert least_proven(tmp_path / "none", hosts, 2) == ("n1", "n2")
    assert "never" in document_text(age_document(ages(known, hosts)))


def test_a_result_with_a_date_in_the_future_is_named(tmp_path: Path) -> None:
    """A node that had passed was "never proven", without a word about the clock."""
    for day in (1, 10**5):
        add_entry(tmp_path, entry(day))
    shown = wireproof("history", "nodes", tmp_path)
    assert shown.returncode == 0
    assert "r100000" in shown.stderr
    assert "clock" in shown.stderr
    assert "r00001" not in shown.stderr


def test_a_proof_over_one_link_is_none_of_another() -> None:
    over_ib, over_eth = ({"conditions": {"NIC": name}} for name in ("ib0", "eth0"))
    known = [
        entry(1, nodes={"n1": "pass"}, **over_ib),
        entry(2, nodes={"n1": "pass"}, link="10gbe", **over_eth),
        entry(3, nodes={"n1": "fail"}, **over_ib),
    ]
    (node,) = ages(known)
    assert (node.measured[:10], node.nic) == ("2026-01-03", "")
    found = [
        (one.nic, one.link, one.verdict, one.measured[:10])
        for one in ages(known, ["n1"], by_link=True)
    ]
    assert found == [("ib0", "edr", "fail", "2026-01-02"), ("eth0", "10gbe", "pass", "2026-01-03")]
    (table,) = age_document(ages(known, ["n1", "n2"], by_link=True)).parts
    assert isinstance(table, Table)
    assert [head.title for head in table.heads][:3] == ["node", "NIC", "link"]
    assert table.rows[0].cells == ("n2", "-", "-", "inconclusive", "never")


def test_what_is_needed_is_never_pruned() -> None:
    known = [entry(0, nodes={"n9": "pass"}), *noisy(30)[1:]]
    now = (START + timedelta(days=400)).timestamp()
    gone = {one.id for one in prunable(known, days=90, now=now)}
    assert "r00000" not in gone  # the only proof of n9
    assert len(gone) == 30 - 1 - 5
    assert not prunable(known, days=1000, now=now)


def test_many_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    known = [entry(day) for day in range(500)]
    with ThreadPoolExecutor(8) as pool:
        writing = [pool.submit(add_entry, tmp_path, one) for one in known]
        for one in writing:
            one.result()
        counts = list(pool.map(lambda _: len(entries(tmp_path)), range(8)))
    assert counts == [500] * 8
    left = os.listdir(tmp_path / "index")
    assert all(name.endswith(".jsonl.gz") for name in left)
    add_entry(tmp_path, entry(500))
    assert [one.id for one in entries(tmp_path)] == [f"r{day:05}" for day in range(501)]


def test_a_reader_who_may_not_write_reads_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for day in range(store._LOOSE + 5):
        add_entry(tmp_path, entry(day))

    def refused(*_: object) -> None:
        raise PermissionError(13, "no")

    monkeypatch.setattr(store, "_replace", refused)
    assert len(entries(tmp_path)) == store._LOOSE + 5


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is damaged"),
        (json.dumps({"id": 1}), "is damaged"),
        ("version", "was made by a newer wireproof"),
        ("name", "which is not a result"),
    ],
)
def test_a_damaged_entry_is_named(tmp_path: Path, text: str, said: str) -> None:
    add_entry(tmp_path, entry(1))
    path = tmp_path / "index" / "r00001.json"
    stored = json.loads(path.read_text())
    if text == "version":
        text = json.dumps(stored | {"version": 99})
    if text == "name":
        text = json.dumps(stored | {"id": "../../etc"})
    path.write_text(text)
    with pytest.raises(BadInput, match=said):
        entries(tmp_path)


@pytest.mark.parametrize("name", ["a.json", "a.jsonl.gz", "a.parquet"])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("gone", path)])
def test_what_is_no_file_is_named(tmp_path: Path, name: str, make: Callable[[Path], None]) -> None:
    add_entry(tmp_path, entry(1))
    make(tmp_path / "index" / name)
    with pytest.raises(BadInput, match=rf"{name} cannot be read: it is .* Remove it"):
        entries(tmp_path)


@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE, errno.EACCES])
def test_an_entry_on_a_failing_disk_is_not_one_to_remove(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(path: Path, *_: object, **__: object) -> bytes:
        raise OSError(number, os.strerror(number), str(path))

    add_entry(tmp_path, entry(1))
    monkeypatch.setattr(store, "read_bounded", failing)
    with pytest.raises(BadInput, match=rf"cannot be read: {os.strerror(number)}\.$"):
        entries(tmp_path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("value", value) for value in (0.0, 1e-320, 1e300)),
        ("low", -1.0),
        ("high", 1e300),
        ("window", -1),
        ("message_bytes", 1 << 51),
    ],
)
def test_a_number_that_cannot_be_is_refused(tmp_path: Path, name: str, value: float) -> None:
    number = msgspec.structs.replace(entry(1).numbers[0], **{name: value})
    add_entry(tmp_path, entry(1, numbers=[number]))
    with pytest.raises(BadInput, match=rf"is damaged: Expected .* at `\$\.numbers\[0\]\.{name}`"):
        entries(tmp_path)


@pytest.mark.parametrize(
    "measured", ["2199-01-01T00:00:00+00:00", "garbage", "0001-01-01T00:00:00"]
)
def test_a_wrong_clock_hides_no_regression_and_proves_nothing(measured: str) -> None:
    worse = noisy(30, at=29, factor=0.5)
    odd = msgspec.structs.replace(worse[3], id="odd", measured=measured, nodes={"n7": "pass"})
    known = sorted([*worse, odd], key=lambda one: one.measured)
    newest = newest_of(known)
    assert newest.id == "r00029"
    assert [one.worse for one in regressions(known)] == [True]
    (age,) = ages(known, ["n7"])
    assert (age.measured, age.age_s) == ("", None)


def test_other_windows_are_another_series() -> None:
    known = noisy(10)
    number = msgspec.structs.replace(known[-1].numbers[0], window=64, value=1e9)
    known[-1] = msgspec.structs.replace(known[-1], numbers=[number])
    assert [len(one.values) for one in trends(known)] == [9, 1]
    assert regressions(known) == []


def test_prune_removes_what_a_result_made_and_nothing_else(tmp_path: Path) -> None:
    chosen = [entry(day) for day in range(5)]
    for one in chosen:
        add_entry(tmp_path, one)
    results, other = tmp_path / "results", tmp_path / "other"
    ours = StoredResult(title="t", wireproof="0.1.0", parts=[])
    for folder in (results / "r00000", results / "r00001", results / "r00002", other):
        folder.mkdir(parents=True)
        (folder / "kept").write_text("")
    write_result(results / "r00000", ours)
    write_result(other, ours)
    (results / "r00001" / "result.json").write_text("{")
    (results / "r00003").symlink_to(other)
    stay = prune(tmp_path, chosen)  # a result, a damaged one, another folder, a link, and none
    assert len(stay) == 3
    assert not (results / "r00000").exists()
    assert all((folder / "kept").exists() for folder in (results / "r00001", other))
    assert (results / "r00002" / "kept").exists()
    assert [one.id for one in entries(tmp_path)] == ["r00001"]  # looked at again next time


def test_what_is_no_history(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is not a history"):
        found(tmp_path)
    with pytest.raises(BadInput, match="cannot be the name"):
        add_entry(tmp_path, entry(1).__class__(**{**as_fields(entry(1)), "id": "../x"}))
    (tmp_path / "file").write_text("")
    with pytest.raises(CouldNotMeasure, match="cannot be written"):
        add_entry(tmp_path / "file", entry(1))


def as_fields(one: Entry) -> dict[str, object]:
    return {name: getattr(one, name) for name in one.__struct_fields__}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"no gzip", "cannot be read"),
        (gzip.compress(b'{"id": "x"}' * 99, mtime=0)[:-9], "cannot be read"),
        (gzip.compress(b"x" * (17 << 20), mtime=0), "an entry of more than 16 MiB"),
        (gzip.compress(b"{\n", mtime=0), "is damaged"),
    ],
)
def test_a_damaged_table_is_named(tmp_path: Path, text: bytes, said: str) -> None:
    add_entry(tmp_path, entry(1))
    (tmp_path / "index" / "a.jsonl.gz").write_bytes(text)
    with pytest.raises(BadInput, match=rf"a\.jsonl\.gz {said}|a\.jsonl\.gz has {said}"):
        entries(tmp_path)


def test_ten_thousand_results_are_read(tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    store._write_table(tmp_path, [entry(day) for day in range(10_000)])
    assert len(found(tmp_path, "n1")) == 10_000
    assert found(tmp_path, "n9") == []


def test_a_long_history_shows_its_newest_results() -> None:
    many = [entry(day) for day in range(41)]
    text = document_text(entries_document(many))
    assert "r00000" not in text
    assert "r00040" in text
    assert text.startswith("41 results")
    assert text.endswith("1 older: --last 41 shows all\n")
    assert "r00000" in document_text(entries_document(many, 41))


def test_hostile_names_are_shown_harmless() -> None:
    bad = entry(1, hosts="n1\x1b[31m", link="\u202e", mpi="a\nb")
    text = document_text(entries_document([bad]))
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_a_run_of_before_result_json_is_added_once(tmp_path: Path) -> None:
    old = Path(__file__).parents[1] / "store" / "data" / "run-folder-schema-1"
    one = add(tmp_path, old, LoggingReporter())
    assert add(tmp_path, old, LoggingReporter()).id == one.id
    assert [each.id for each in entries(tmp_path)] == [one.id]
    assert (tmp_path / "results" / one.id / "run.json").is_file()


@pytest.mark.engine
def test_a_measurement_keeps_its_result_or_says_why_not(tmp_path: Path) -> None:
    root = tmp_path / "history"
    argv = ["measure", "pingpong", "--transport", "null", "--sizes", "8", "--budget", "20ms"]
    assert wireproof(*argv, "--history", root).returncode == 3  # no wire took part
    (kept,) = entries(root)
    assert (root / RESULTS / kept.id).is_dir()
    gain = wireproof(*argv, "--gain", "--nic", "a,b", "--history", root)
    assert gain.returncode == 2
    assert "a history cannot keep the result of --gain" in gain.stderr


@pytest.mark.engine
def test_a_check_keeps_its_result(tmp_path: Path) -> None:
    root = tmp_path / "history"
    argv = ["check", "--hosts", "h[1-4]", "--transport", "model", "--budget", "20ms"]
    assert wireproof(*argv, "--history", root).returncode in (0, 1, 3)
    library.check(hosts="h[1-2]", transport="model", budget="20ms", out=tmp_path / "out")
    for _ in range(2):
        assert wireproof("history", "add", root, tmp_path / "out").returncode == 0
    for own in (root / "results").iterdir():
        assert wireproof("history", "add", root, own).returncode == 0
    listed = document(wireproof("history", "list", root, "--json"))["results"]
    assert {one["hosts"] for one in listed} == {"h[1-4]", "h[1-2]"}  # perhaps of one second
    assert len(listed) == 2
    assert all(one["nodes"] == {} for one in listed)  # a model proves no node
    shown = wireproof("history", "show", root, "last")
    assert shown.returncode in (0, 1, 3)
    assert (root / RESULTS / entry_called(root, "last").id).is_dir()
    assert wireproof("history", "show", root, "nothing").returncode == 2
    for form, begins in (("html", "<!doctype html>"), ("markdown", "# ")):
        page = wireproof("history", "show", root, "last", "--format", form)
        assert page.returncode == shown.returncode
        assert page.stdout.startswith(begins)
    assert "verdict" in document(wireproof("history", "show", root, "last", "--format", "json"))
    assert wireproof(*argv, "--history", root, "--out", tmp_path / "x").returncode == 2
    assert wireproof(*argv, "--least-proven", "9", "--history", root).returncode == 2
    done = wireproof(*argv, "--least-proven", "2", "--history", root)
    assert "check of 2 hosts" in done.stderr
    first = entries(root)[0]
    prune(root, [first])
    assert first.id not in [one.id for one in entries(root)]
    assert not (root / "results" / first.id).exists()


def test_who_adds_the_same_at_once_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever is first: the result is there once, and neither is an error."""
    root, folder = tmp_path / "history", dossier_of(tmp_path / "result")
    kept, copied = [], copy_folder

    def meanwhile(source: Path, target: Path) -> None:
        monkeypatch.setattr(adding, "copy_folder", copied)
        kept.append(add(root, folder, LoggingReporter()))
        copied(source, target)

    monkeypatch.setattr(adding, "copy_folder", meanwhile)
    own = add(root, folder, LoggingReporter())
    assert [one.id for one in entries(root)] == [own.id] == [one.id for one in kept]
    assert [path.name for path in (root / "results").iterdir()] == [own.id]


def test_a_history_on_a_full_disk_has_no_half_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(source: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    root, folder = tmp_path / "history", dossier_of(tmp_path / "result")
    monkeypatch.setattr(adding, "copy_folder", full)
    with pytest.raises(CouldNotMeasure) as caught:
        add(root, folder, LoggingReporter())
    assert str(caught.value) == (
        f"the result cannot be copied to {root / 'results'}: No space left on device."
    )
    assert list((root / "results").iterdir()) == []
