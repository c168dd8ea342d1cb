"""What a megabyte is in IMB's tables: by the version, by the rows."""

from collections.abc import Sequence

import pytest
from tests.logs.tables import one

SIZES = [0, *(1 << power for power in range(23))]


def rows(
    megabyte: float, *, start_us: float = 1.5, gbytes: float = 3.0, messages: int = 1
) -> list[tuple[str, str, str, str]]:
    """PingPong rows of a link with the given start-up time and rate; MB as the version counts
    it.
    """
    found = []
    for size in SIZES:
        microseconds = round(start_us + size / (gbytes * 1e3), 2)
        rate = messages * size / microseconds * 1e6 / megabyte
        found.append((str(size), "1000", f"{microseconds:.2f}", f"{rate:.2f}"))
    return found


def table(
    body: Sequence[Sequence[str]], columns: str = "#bytes #repetitions t[usec] Mbytes/sec"
) -> str:
    lines = [columns.split(), *body]
    return "".join("".join(f"{word:>13}" for word in line) + "\n" for line in lines)


def run(title: str, body: str, benchmark: str = "PingPong", processes: int = 2) -> str:
    rule = "#---------------------------------------------------\n"
    return (
        f"{rule}#    {title}\n{rule}# Date                  : Wed Jan 29 00:18:01 2014\n\n"
        "# Minimum message length in bytes:   0\n# Maximum message length in bytes:   4194304\n#\n"
        "# MPI_Datatype                   :   MPI_BYTE \n#\n#\n\n# List of Benchmarks to run:\n\n"
        f"# {benchmark}\n\n{rule}# Benchmarking {benchmark} \n# #processes = {processes} "
        f"\n{rule}{body}"
        "\n\n# All processes entering MPI_Finalize\n\n"
    )


OLD = table(rows(2.0**20))


NEW = table(rows(1e6))


@pytest.mark.parametrize(
    ("title", "version", "megabyte"),
    [
        ("Intel (R) MPI Benchmark Suite V3.2, MPI-1 part    ", "3.2", 2.0**20),
        ("Intel (R) MPI Benchmark Suite V3.2.3, MPI-1 part    ", "3.2.3", 2.0**20),
        ("Intel (R) MPI Benchmarks 4.1 Update 1, MPI-1 part    ", "4.1 Update 1", 2.0**20),
        ("Intel (R) MPI Benchmarks 2017, MPI-1 part    ", "2017", 2.0**20),
        ("Intel (R) MPI Benchmarks 2018, MPI-1 part    ", "2018", 1e6),
        ("Intel(R) MPI Benchmarks 2019 Update 6, MPI-1 part", "2019 Update 6", 1e6),
        ("Intel® MPI Benchmarks 2021.3, MPI-1 part (GPU)", "2021.3", 1e6),
    ],
)
def test_megabytes_by_version(title: str, version: str, megabyte: float) -> None:
    series = one(run(title, table(rows(megabyte))))
    assert series.version == version
    assert series.unit_doubt == ""
    assert series.unit.endswith("2^20 bytes" if megabyte != 1e6 else "10^6 bytes")
    assert series.points[-1].goodput_bytes_per_s == pytest.approx(3e9, rel=0.01)
    assert len(series.points) == len(SIZES)
    assert series.complete


def test_the_rows_overrule_a_version_that_cannot_be() -> None:
    series = one(run("Intel(R) MPI Benchmarks 2021.3, MPI-1 part", OLD))
    assert series.points[-1].goodput_bytes_per_s == pytest.approx(3e9, rel=0.01)
    assert "2^20" in series.unit_doubt


@pytest.mark.parametrize(("body", "word"), [(OLD, "2^20"), (NEW, "10^6")])
def test_a_piece_without_a_title_is_decided_by_its_rows(body: str, word: str) -> None:
    series = one("# Benchmarking PingPong\n# #processes = 2\n" + body)
    assert word in series.unit
    assert series.version == series.unit_doubt == ""
    assert series.points[-1].goodput_bytes_per_s == pytest.approx(3e9, rel=0.01)


def test_too_few_rows_to_tell_leave_the_bandwidth_out() -> None:
    series = one(
        "# Benchmarking PingPong\n#bytes #repetitions t[usec] Mbytes/sec\n 1 1000 1.77 0.54\n"
    )
    assert series.unit_doubt
    assert series.points[0].goodput_bytes_per_s is None
    assert series.points[0].hrt_ns == pytest.approx(1770)


def test_edited_numbers_stay_and_are_doubted() -> None:
    twice = [
        (size, count, time, f"{float(rate) * 1.4:.2f}") for size, count, time, rate in rows(1e6)
    ]
    series = one("# Benchmarking PingPong\n" + table(twice))
    assert series.points[-1].goodput_bytes_per_s == pytest.approx(1.4 * 3e9, rel=0.01)
    assert series.unit_doubt
