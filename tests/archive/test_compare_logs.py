"""Two logs compared with each other: ratios of claims, which decide nothing."""

from pathlib import Path

import pytest

from wireproof.archive.compare import compare
from wireproof.archive.compare_document import comparison_document
from wireproof.model.errors import BadInput
from wireproof.report.reporter import LoggingReporter
from wireproof.report.text import document_text


def osu(path: Path, benchmark: str, unit: str, rows: dict[int, float], version: str) -> Path:
    table = "\n".join(f"{size:<10}{value:>20.2f}" for size, value in rows.items())
    path.write_text(f"# OSU MPI {benchmark} Test v{version}\n# Size          {unit}\n{table}\n")
    return path


def test_ratios_of_two_logs_are_marked_as_claims(tmp_path: Path) -> None:
    a = osu(tmp_path / "a", "Latency", "Latency (us)", {8: 1.00, 16: 1.00, 32: 2.0}, "5.6.2")
    b = osu(tmp_path / "b", "Latency", "Latency (us)", {8: 0.89, 16: 1.64, 64: 2.0}, "7.0")
    found = compare(a, b, LoggingReporter())
    rows = {row.message_bytes: row for row in found.rows}
    assert rows[8].ratio == pytest.approx(1 / 0.89)
    assert rows[16].ratio == pytest.approx(1 / 1.64)
    assert rows[32].reason == "B has no such row"
    assert rows[64].reason == "A has no such row"
    assert all(row.low is None and "claimed" in row.name for row in found.rows)
    assert found.claimed
    assert found.verdict == "inconclusive"
    differ = {(one.name, one.a, one.b) for one in found.differ}
    assert ("version of pingpong", "5.6.2", "7.0") in differ
    text = document_text(comparison_document(found))
    assert "as the logs claim" in text
    assert "+12.4 %" in text


def test_what_the_logs_say_of_their_mpi_is_compared(tmp_path: Path) -> None:
    a = osu(tmp_path / "a", "Latency", "Latency (us)", {8: 1.0}, "7.0")
    b = osu(tmp_path / "b", "Latency", "Latency (us)", {8: 1.1}, "7.0")
    b.write_text("mpirun (Open MPI) 4.0.5\n" + b.read_text())
    found = compare(a, b, LoggingReporter())
    differ = [(one.name, one.a, one.b) for one in found.differ]
    assert differ == [("software of pingpong", "not said", "Open MPI 4.0.5")]


def test_a_rate_and_a_time_are_not_compared(tmp_path: Path) -> None:
    a = osu(tmp_path / "a", "Latency", "Latency (us)", {8: 1.0}, "7.0")
    b = osu(tmp_path / "b", "Bandwidth", "Bandwidth (MB/s)", {8: 1.0}, "7.0")
    found = compare(a, b, LoggingReporter())
    assert {row.conclusion for row in found.rows} == {"not-compared"}


def test_sizes_that_are_not_compared_for_one_reason_are_one_row(tmp_path: Path) -> None:
    unit = "Bandwidth (MB/s)"
    a = osu(tmp_path / "a", "Bandwidth", unit, {1 << n: 1.0 for n in range(20)}, "7.0")
    b = osu(tmp_path / "b", "Bi-Directional Bandwidth", unit, {4: 1.0}, "7.0")
    text = document_text(comparison_document(compare(a, b, LoggingReporter())))
    assert text.count("has no such row") == 3  # the answer and a row for each benchmark
    assert "20: 1 B to 512 KiB" in text


def test_a_collective_is_not_another(tmp_path: Path) -> None:
    unit = "Avg Latency(us)"
    a = osu(tmp_path / "a", "Allreduce Latency", unit, {8: 1.0}, "7.0")
    b = osu(tmp_path / "b", "Alltoall Personalized Exchange Latency", unit, {8: 3.0}, "7.0")
    found = compare(a, b, LoggingReporter())
    assert len(found.rows) == 2
    assert {row.conclusion for row in found.rows} == {"not-compared"}


def test_a_log_and_a_folder_are_refused(tmp_path: Path) -> None:
    a = osu(tmp_path / "a", "Latency", "Latency (us)", {8: 1.0}, "7.0")
    (tmp_path / "b").mkdir()
    with pytest.raises(BadInput, match="two results or two logs"):
        compare(a, tmp_path / "b", LoggingReporter())
