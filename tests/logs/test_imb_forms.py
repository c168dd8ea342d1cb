"""The IMB adapter on the forms in which tables are met: old versions, pasted pieces, hostile text,
cut logs.
"""

from collections.abc import Sequence

import pytest
from tests.logs.tables import LOGS, one
from tests.logs.test_imb_megabytes import NEW, OLD, SIZES, rows, run, table

from wireproof.logs.readers import read
from wireproof.logs.readers.imb import parse
from wireproof.logs.readers.page import Page, page_of
from wireproof.model.errors import BadInput


def test_defects() -> None:
    body = [[*row, "0.00"] for row in rows(1e6)]
    body[3][4] = "1.00"
    columns = "#bytes #repetitions t[usec] Mbytes/sec defects"
    series = one(run("Intel(R) MPI Benchmarks 2021.11, MPI-1 part", table(body, columns)))
    assert [point.valid for point in series.points[:5]] == [True, True, True, False, True]


@pytest.mark.parametrize(
    ("mode", "metric"), [("AGGREGATE", "bandwidth"), ("NON-AGGREGATE", "latency")]
)
def test_one_sided_with_a_fence(mode: str, metric: str) -> None:
    body = f"#\n#    MODE: {mode} \n#\n" + OLD
    series = one(run("Intel (R) MPI Benchmark Suite V3.2, MPI-2 part    ", body, "Unidir_Put"))
    assert (series.metric, series.traffic, series.points[-1].hrt_ns) == (metric, "put", None)
    assert "fence" in series.formula


def test_rows_out_of_order_are_sorted_and_twins_stay() -> None:
    lines = NEW.splitlines()
    body = [lines[0], *lines[:0:-1], lines[5]]
    series = one("# Benchmarking PingPong\n" + "\n".join(body) + "\n")
    assert [point.message_bytes for point in series.points] == sorted([*SIZES, 8])


def test_marks_lost_in_a_web_page() -> None:
    text = "Benchmarking Sendrecv\n#processes = 4\n#-----\n"
    text += "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec] Mbytes/sec\n"
    series = one(
        text + "".join(f"{a} {b} {c} {c} {c} {float(d) * 2:.2f}\n" for a, b, c, d in rows(1e6))
    )
    assert (series.benchmark, series.processes, series.directions) == ("Sendrecv", 4, 2)


def test_column_names_on_two_lines() -> None:
    body = [(*row, str(round(1e6 / float(row[2])))) for row in rows(1e6)]
    text = (
        "# Benchmarking PingPong\n# #processes = 2\n      t[usec] Mbytes/sec Msg/sec\n   #bytes "
        "#repetitions\n"
    )
    series = one(text + "".join(" ".join(row) + "\n" for row in body))
    assert (series.benchmark, len(series.points)) == ("PingPong", len(SIZES))
    assert series.points[-1].messages_per_s is not None


@pytest.mark.parametrize(
    ("messages", "benchmark"), [(1, "PingPong"), (2, "Sendrecv"), (4, "Exchange")]
)
def test_bare_column_names_are_judged_by_their_arithmetic(messages: int, benchmark: str) -> None:
    body = [(a, b, c, c, c, d) for a, b, c, d in rows(1e6, messages=messages)]
    series = one(table(body, "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec] Mbytes/sec"))
    assert series.benchmark == benchmark
    assert any("does not contain the benchmark" in note for note in series.notes)
    hinted = one(
        "My Sendrecv results:\n"
        + table(body, "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec] Mbytes/sec")
    )
    assert hinted.benchmark == "Sendrecv"


def test_the_command_above_bare_column_names_names_the_benchmark() -> None:
    series = one("$ mpirun -np 2 -ppn 1 IMB-MPI1 pingping\n\n" + NEW)
    assert (series.benchmark, series.traffic) == ("PingPing", "exchange")
    assert not any("does not contain the benchmark" in note for note in series.notes)


def cells(order: Sequence[int]) -> str:
    """A P2P table with a cell a line; rows from the fourth on have their cells in the given
    order.
    """
    lines = []
    for index, (size, count, time, rate) in enumerate(rows(1e6)):
        row = (size, count, time, rate, str(round(1e6 / float(time))))
        lines += [row[place] for place in (order if index > 2 else range(5))]
    return (
        "# Benchmarking PingPong\n# #processes = 2\n #bytes #repetitions t[usec] Mbytes/sec "
        "Msg/sec\n" + "".join(f"   {line}\n\n" for line in lines)
    )


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (1, 2, 3, 4, 0), (2, 4, 0, 1, 3)])
def test_cells_on_lines_of_their_own(order: Sequence[int]) -> None:
    series = one(cells(order) + "```\nIMB output gives bandwidth in MB/s.\n")
    assert [point.message_bytes for point in series.points] == SIZES
    assert {point.iterations for point in series.points} == {1000}
    assert series.points[-1].goodput_bytes_per_s == pytest.approx(3e9, rel=0.01)
    assert any("on a separate line" in note for note in series.notes)
    assert series.complete


def test_cells_that_fit_no_row_are_not_believed() -> None:
    series = one(cells((0, 1, 2, 3, 4)).replace("   1024\n", "   1\n", 1))
    assert not series.complete
    assert len(series.points) < len(SIZES)
    nonsense = one(
        "# Benchmarking PingPong\n#bytes #repetitions t[usec] Mbytes/sec\n" + "7\n8.5\n3\n" * 40
    )
    assert (nonsense.points, nonsense.complete) == ([], False)


def test_two_runs_and_another_tool_in_one_log() -> None:
    osu = (LOGS / "osu74-latency-tcp10g.out").read_text()
    first = run("Intel (R) MPI Benchmark Suite V3.2, MPI-1 part", OLD)
    second = run("Intel(R) MPI Benchmarks 2021.11, MPI-1 part", NEW, "PingPing")
    found = read(("Job starts\n" + first + osu + second).encode(), "slurm-1.out")
    assert [(series.tool, series.version) for series in found] == [
        ("imb", "3.2"),
        ("osu", "7.4"),
        ("imb", "2021.11"),
    ]
    assert found[2].benchmark == "PingPing"


def test_a_run_that_stops_early_is_incomplete() -> None:
    text = run("Intel(R) MPI Benchmarks 2021.11, MPI-1 part", NEW)
    cut = text[: text.index("      1048576")]
    series = one(cut)
    assert not series.complete
    assert "524288" in series.incomplete
    assert "4194304" in series.incomplete
    killed = one(cut + "srun: error: n2: task 1: Killed\n")
    assert not killed.complete


@pytest.mark.parametrize("word", ["nan", "-1.00", "1e300", "inf", "-inf", "0x10", "1_0", "१२"])
def test_a_row_with_what_is_no_number_is_left_out_and_said(word: str) -> None:
    body = rows(1e6)
    body[4] = (body[4][0], "1000", word, body[4][3])
    series = one("# Benchmarking PingPong\n" + table(body))
    assert len(series.points) == len(SIZES) - 1
    assert not series.complete
    assert any("left out" in note for note in series.notes) or "torn" in series.incomplete


def test_torn_rows_make_it_incomplete() -> None:
    lines = NEW.splitlines()
    lines[7] = lines[7][:30]
    series = one("# Benchmarking PingPong\n" + "\n".join(lines) + "\n")
    assert "torn" in series.incomplete
    assert len(series.points) == len(SIZES) - 1


def test_other_output_inside_a_row_makes_it_incomplete() -> None:
    lines = NEW.splitlines()
    lines[7] += "srun: warning: n2 is slow"
    series = one("# Benchmarking PingPong\n" + "\n".join(lines) + "\n")
    assert "mixed into a row" in series.incomplete
    assert len(series.points) == len(SIZES) - 1


def test_a_remark_behind_a_row_does_not_hide_it() -> None:
    lines = NEW.splitlines()
    lines[-1] += " ★← drops here"
    lines[7] += "   # eager limit, see 3.14"
    series = one("# Benchmarking PingPong\n" + "\n".join(lines) + "\n")
    assert [point.message_bytes for point in series.points] == SIZES
    assert series.complete
    processes = NEW + "Killed\n 2211 4242 0.5 1.5 IMB-MPI1\n 2212 4243 0.5 1.5 IMB-MPI1\n"
    killed = one("# Benchmarking PingPong\n" + processes)
    assert (len(killed.points), killed.incomplete) == (len(SIZES), "")


def test_a_heading_without_a_table() -> None:
    series = one("# Benchmarking PingPongMT\n# NO SUCCESSFUL EXECUTIONS\n#-----\n\nbye\n")
    assert (series.points, series.complete) == ([], False)


def test_prose_about_the_suite_is_no_result() -> None:
    text = (
        "We use the Intel(R) MPI Benchmarks 2021, see # Benchmarking PingPong "
        "below.\nBenchmarking is hard.\n"
    )
    with pytest.raises(BadInput, match="no result"):
        read(text.encode(), "x")


def test_any_start_line_is_safe() -> None:
    page = page_of((LOGS / "imb2021-mpi1-multi1-shm.out").read_bytes(), "x")
    for index in range(len(page.lines)):
        assert parse(page, index).after > index
    assert parse(Page("x", ["# Benchmarking PingP"], True), 0).series == []


@pytest.mark.parametrize(("listed", "alone"), [((0, 1, 2), True), ((2, 3), False)])
def test_only_the_whole_list_of_ranks_proves_a_single_host(
    listed: tuple[int, ...], alone: bool
) -> None:
    ranks = "".join(
        f"[0] MPI startup(): {rank}       4{rank}00     n1         {{0}}\n" for rank in listed
    )
    series = one(ranks + run("Intel(R) MPI Benchmarks 2021.11, MPI-1 part", NEW))
    assert any("ranks are on n1" in note for note in series.notes) == alone
