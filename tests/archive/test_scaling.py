"""Numbers of several results against the count of nodes or ranks."""

import dataclasses
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from tests.archive.test_compare_logs import osu

from wireproof.archive import compare as module
from wireproof.archive.compare import scaling
from wireproof.archive.compare_document import scaling_document
from wireproof.cli.report import compare as command
from wireproof.measure.comparison import Key
from wireproof.model.errors import BadInput
from wireproof.model.history import Number
from wireproof.options.sizes import parse_counts
from wireproof.report.document import Table
from wireproof.report.figure.file import standalone
from wireproof.report.figure.series import scaling_chart
from wireproof.report.reporter import LoggingReporter
from wireproof.report.text import document_text


def logs(folder: Path, times: dict[int, float]) -> tuple[Path, ...]:
    return tuple(
        osu(folder / f"{n}.log", "Allreduce Latency", "Avg Latency(us)", {8: t, 64: 2 * t}, "7.0")
        for n, t in times.items()
    )


def run(results: tuple[Path, ...], **more: object) -> module.Scaling:
    return scaling(results, LoggingReporter(), **more)  # type: ignore[arg-type]


def test_logs_in_any_order_make_a_curve_over_the_given_nodes(tmp_path: Path) -> None:
    found = run(logs(tmp_path, {8: 3.4, 2: 1.7, 4: 2.4}), nodes=(8, 2, 4))
    assert found.against == "nodes"
    assert found.claimed
    curve = next(one for one in found.curves if one.message_bytes == 8)
    assert [(one.count, one.value, one.source) for one in curve.points] == [
        (2, 1700.0, 1),
        (4, 2400.0, 2),
        (8, 3400.0, 0),
    ]
    assert all(one.low is None for one in curve.points)
    document = scaling_document(found)
    table = next(part for part in document.parts if isinstance(part, Table))
    assert table.rows[1].cells[:3] == ("4", "2.40 us", "x 1.41")
    text = document_text(document)
    assert "64 B" not in text
    assert "claims" in text
    assert "64 B" in document_text(scaling_document(found, everything=True))
    picture = standalone(scaling_chart(found))
    assert picture.count("3.4 at 8 nodes") >= 1
    assert "number of nodes" in picture


def test_two_logs_at_one_count_are_one_point(tmp_path: Path) -> None:
    found = run(logs(tmp_path, {1: 1.0, 2: 4.0, 3: 5.0}), nodes=(2, 2, 4))
    point = found.curves[0].points[0]
    assert point.value == pytest.approx(2000.0)
    assert point.results == 2


def test_counts_that_nothing_states_are_asked_for(tmp_path: Path) -> None:
    found = run(logs(tmp_path, {2: 1.0, 4: 2.0}))
    assert found.verdict == "inconclusive"
    assert any("--nodes" in note for note in found.notes)


def test_each_result_needs_a_count(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="2 counts for 3 results"):
        run(logs(tmp_path, {2: 1.0, 4: 2.0, 8: 3.0}), nodes=(2, 4))


def test_tables_of_one_log_are_held_against_its_ranks(tmp_path: Path) -> None:
    table = (
        "#----------------------------------------------------------------\n"
        "# Benchmarking Allreduce \n"
        "# #processes = {n} \n"
        "#----------------------------------------------------------------\n"
        "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
        "            8         1000         {t}         {t}         {t}\n\n"
    )
    head = "#    Intel(R) MPI Benchmarks 2021.7, MPI-1 part\n"
    log = tmp_path / "imb"
    log.write_text(head + "".join(table.format(n=n, t=f"{n * 0.5:.2f}") for n in (2, 4, 8)))
    found = run((log,), against="ranks")
    assert [(one.count, one.value) for one in found.curves[0].points] == [
        (2, 1000.0),
        (4, 2000.0),
        (8, 4000.0),
    ]


def test_a_run_counts_its_hosts_and_keeps_its_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    key = Key("ring", "", "robust", "natural", True, 4, 8, 0, "ns")
    number = Number(
        name="natural ring",
        message_bytes=8,
        window=0,
        unit="ns",
        value=5.0,
        low=4.0,
        high=6.0,
        results=3,
    )
    monkeypatch.setattr(module, "samples_by_key", lambda _: {key: []})
    asked = []
    monkeypatch.setattr(module, "number_of", lambda key, _: asked.append(key) or number)
    hosts = [SimpleNamespace(host=name) for name in "abcd"]
    section = SimpleNamespace(run=SimpleNamespace(claim=SimpleNamespace(hosts=hosts)))
    point = next(iter(module._of_run([section], 0, None)))  # type: ignore[list-item]
    assert asked == [dataclasses.replace(key, members=2)]
    assert (point.nodes, point.ranks) == (4, 4)
    assert (point.values.low, point.values.high, point.values.results) == (4.0, 6.0, 3)


@pytest.mark.parametrize("given", ["x", "2,,4", "-2", "0,1", "2;4", "9999999999"])
def test_node_counts_are_numbers(given: str) -> None:
    with pytest.raises(BadInput, match="node counts"):
        parse_counts(given)


def test_a_picture_needs_a_count(tmp_path: Path) -> None:
    a, b = logs(tmp_path, {2: 1.0, 4: 2.0})
    ended = CliRunner().invoke(command, [str(a), str(b), "--plot", str(tmp_path / "x.svg")])
    assert ended.exit_code == 2
    assert not (tmp_path / "x.svg").exists()
