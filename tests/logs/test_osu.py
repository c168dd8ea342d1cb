"""The OSU adapter: real outputs, forms that people paste, and logs that are cut."""

import pytest
from tests.logs.tables import LOGS
from tests.logs.tables import one_golden as one

from wireproof.logs.readers import read
from wireproof.logs.readers.osu import requested_iterations, requested_processes, with_request
from wireproof.logs.readers.osu.benchmarks import by_name, by_title
from wireproof.model.errors import BadInput


def test_latency_is_half_a_round_trip_in_ns() -> None:
    series = one("osu74-latency-tcp10g.out")
    assert (series.tool, series.version, series.benchmark) == ("osu", "7.4", "osu_latency")
    assert (series.metric, series.traffic, series.waits) == ("half_round_trip", "pingpong", True)
    assert series.points[-1].message_bytes == 4 << 20
    assert series.points[-1].hrt_ns == pytest.approx(4621.58e3)
    assert series.points[-1].time_step_ns == pytest.approx(10)
    assert series.complete


def test_percentiles_are_kept_in_ns() -> None:
    point = one("osu74-latency-percentiles-tcp10g.out").points[0]
    assert point.hrt_ns == pytest.approx(9600)
    assert point.percentiles == pytest.approx({"p50": 9490, "p90": 9720, "p99": 10330})


def test_validation_column() -> None:
    series = one("osu74-latency-validate-shm.out")
    assert all(point.valid is True for point in series.points)
    failed = (LOGS / "osu74-latency-validate-shm.out").read_text().replace("Pass", "Fail", 1)
    assert read(failed.encode(), "x")[0].points[0].valid is False


def test_pairs_and_window_come_from_the_heading() -> None:
    series = one("osu74-mbw_mr-2pairs-tcp10g.out")
    assert (series.pairs, series.window, series.traffic) == (2, 64, "rate")
    assert series.points[0].messages_per_s == pytest.approx(50334.56)
    assert series.points[0].goodput_bytes_per_s == pytest.approx(0.05e6)


def test_both_directions_are_said() -> None:
    assert one("osu74-bibw-tcp10g.out").directions == 2
    assert one("osu74-bw-tcp1g.out").directions == 1


def test_one_sided_time_is_no_half_round_trip() -> None:
    series = one("osu74-put_latency-tcp10g.out")
    assert series.traffic == "put"
    assert series.points[0].hrt_ns is None
    assert series.points[0].time_ns is not None


def test_overlap_columns_are_values() -> None:
    series = one("osu74-iallreduce-overlap-tcp10g.out")
    assert series.metric == "overlap"
    assert series.points[0].time_ns == pytest.approx(12910)
    assert series.points[0].values["overlap"] == pytest.approx(10.19)


def test_full_collective_has_min_max_and_iterations() -> None:
    point = one("osu74-allreduce-full-tcp10g.out").points[0]
    assert (point.time_min_ns, point.time_max_ns, point.iterations) == (3387370, 5534060, 20)


def test_barrier_has_one_time_and_no_size() -> None:
    series = one("osu74-barrier-tcp10g.out")
    assert [point.time_ns for point in series.points] == [pytest.approx(5839590)]


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("MPI-CUDA Bi-Directional Bandwidth", "osu_bibw"),
        ("One Sided MPI_Put latency", "osu_put_latency"),
        ("MPI One Sided MPI_Get Bandwidth", "osu_get_bw"),
        ("MPI_Get_accumulate latency", "osu_get_acc_latency"),
        ("MPI_Compare_and_swap latency", "osu_cas_latency"),
        ("MPI Non-blocking Alltoall Latency", "osu_ialltoall"),
        ("MPI Multi-threaded Latency", "osu_latency_mt"),
    ],
)
def test_titles(title: str, name: str) -> None:
    assert by_title(title, "").name == name


@pytest.mark.parametrize(
    ("title", "name"), [("Bandwidth", "osu_bw"), ("Bidirectional Bandwidth", "osu_bibw")]
)
def test_a_version_in_parentheses(title: str, name: str) -> None:
    """From the Open MPI mailing lists of 2007 and 2008; the prompt of a log names another word."""
    text = (
        f"[me@n1 ~/osu_benchmarks]$ mpirun -np 2 ./a\n# OSU MPI {title} Test (Version 2.3)\n"
        "# Size          Bandwidth (MB/s)\n1               0.12\n2               0.26\n"
        "4               0.53\n8               1.06\n"
    )
    (one,) = read(text.encode(), "x")
    assert (one.tool, one.benchmark, one.version, len(one.points)) == ("osu", name, "2.3", 4)


def test_program_names_are_known_without_a_title() -> None:
    found = by_name("osu_put_bw")
    assert (found.traffic, found.metric) == ("put", "bandwidth")
    assert by_name("osu_nonsense") is None


TITLE = "# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n"


def test_rows_out_of_order_noise_and_bars() -> None:
    text = (
        TITLE
        + "srun: warning: nœud lent\n| 16 | 1.30 |\r\n   8\t1.24\nUCX  WARN  something\n32 1.40\n"
    )
    (series,) = read(text.encode(), "x")
    assert [(p.message_bytes, p.hrt_ns) for p in series.points] == [
        (8, 1240),
        (16, 1300),
        (32, 1400),
    ]


@pytest.mark.parametrize("row", ["8 nan", "8 -1.0", "8 inf", "8 1e999", "-8 1.0", "8 1_0.0"])
def test_what_is_no_measured_number_is_left_out(row: str) -> None:
    (series,) = read(f"{TITLE}4 1.20\n{row}\n".encode(), "x")
    assert [point.message_bytes for point in series.points] == [4]


def test_two_results_in_one_log() -> None:
    text = (
        TITLE
        + "8 1.24\n"
        + TITLE.replace("Latency Test", "Bandwidth Test").replace(
            "Latency (us)", "Bandwidth (MB/s)"
        )
        + "8 20.00\n"
    )
    assert [series.benchmark for series in read(text.encode(), "x")] == ["osu_latency", "osu_bw"]


ALIGNED = TITLE + "8                       1.24\n16                      1.25\n"


def test_a_last_row_without_line_end_counts_when_the_table_is_aligned() -> None:
    (series,) = read(ALIGNED.rstrip().encode(), "x")
    assert [point.message_bytes for point in series.points] == [8, 16]
    assert series.complete


def test_torn_rows_make_the_table_incomplete() -> None:
    (series,) = read((TITLE + "8 1.24\n16\n1.30\n32 1.40\n").encode(), "x")
    assert [point.message_bytes for point in series.points] == [8, 32]
    assert "torn" in series.incomplete


def test_the_numbers_of_the_next_program_are_no_torn_rows() -> None:
    table = "# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n1 1.60\n2 1.61\n4 1.62\n"
    prose = (
        "Setting up a solver\n  Unit style : real\n  Time step : 0.1\n  Step Temp Energy Press\n"
    )
    rows = "  0  300.1 -113.2 439.0\n 10  300.8 -113.3 818.2\n"
    (series,) = read((table + prose + rows).encode(), "x")
    assert (series.complete, len(series.points)) == (True, 3)
    (torn,) = read((table + "8 1.6 3.2 1\n" + prose + rows).encode(), "x")
    assert "line 6: a row is torn (1 in all)" in torn.incomplete
    (continued,) = read((table + prose + "8\n16 1.63\n").encode(), "x")
    assert "line 10: a row is torn" in continued.incomplete


def test_a_title_that_is_printed_twice_is_one_table() -> None:
    (series,) = read((TITLE.splitlines()[0] + "\n" + TITLE + "8  1.20\n16  1.30\n").encode(), "log")
    assert len(series.points) == 2


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"\n \n", "empty"),
        (b"hello\n", "no result"),
        (bytes(range(256)) * 40, "binary"),
    ],
)
def test_what_is_no_log_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        read(data, "some.log")


CELLS = (
    "# OSU MPI_Put Bandwidth Test v5.8\n# Size\n       Bandwidth (MB/s)\n"
    "  1\n 0.20\n 2\n 0.40\n 4\n 0.81\n 1.58\n 8\n 2.89\n16\n```\n"
)


def test_a_cell_a_line_is_paired_down_the_columns() -> None:
    (series,) = read(CELLS.encode(), "x")
    found = [(point.message_bytes, point.goodput_bytes_per_s) for point in series.points]
    assert found == [
        (1, 0.20e6),
        (2, 0.40e6),
        (4, 0.81e6),
        (8, pytest.approx(1.58e6)),
        (16, pytest.approx(2.89e6)),
    ]
    assert series.complete


@pytest.mark.parametrize("lost", [" 0.40\n", " 8\n", " 1.58\n", " 2\n"])
def test_a_lost_cell_makes_no_rows(lost: str) -> None:
    (series,) = read(CELLS.replace(lost, "", 1).encode(), "x")
    assert (series.points, series.complete) == ([], False)


def test_a_put_that_is_complete_at_its_origin_only_waits_for_nobody() -> None:
    data = (LOGS / "osu74-put_latency-tcp10g.out").read_bytes()
    assert read(data, "x")[0].waits
    (local,) = read(data.replace(b"MPI_Win_flush", b"MPI_Win_flush_local"), "x")
    assert (local.waits, local.traffic) == (False, "other")
    assert "origin only" in local.formula


@pytest.mark.parametrize(
    ("command", "count"),
    [
        ("mpirun -n 2 ./osu_bw -i 500 -x 5", 500),
        ("mpirun -n 2 /opt/osu/osu_bw -m 8:64 -i500", 500),
        ("osu_bw --iterations 500", 500),
        ("osu_bw --iterations=500 H H", 500),
        ("mpirun -n 1 osu_bw -i 500 : -n 1 osu_bw -i 500", 500),
        ("mpirun -n 1 osu_bw -i 500 : -n 1 osu_bw -i 50", None),
        ("mpirun -i 500 osu_bw", None),
        ("mpirun -n 2 osu_bw -i all", None),
        ("sh job.sh -i 500", None),
    ],
)
def test_the_iterations_of_a_command(command: str, count: int | None) -> None:
    words = command.split()
    assert requested_iterations(words) == count
    series = one("osu74-latency-tcp10g.out")
    assert {point.iterations for point in with_request([series], words)[0].points} == {count}


@pytest.mark.parametrize(
    ("command", "count"),
    [
        ("mpirun -n 2 ./osu_allreduce -i 5", 2),
        ("srun -N2 -n16 osu_bcast", 16),
        ("mpirun --np 4 --hosts a,b osu_bcast -n 9", 4),
        ("srun --ntasks=4 numactl -l osu_bcast", 4),
        ("mpirun -n 1 osu_bcast : -n 3 osu_bcast", 4),
        ("mpirun -n 1 osu_bcast : osu_bcast", None),
        ("mpirun -hosts a,b -ppn 1 osu_bcast", None),
        ("sh job.sh -n 2", None),
    ],
)
def test_the_processes_of_a_command(command: str, count: int | None) -> None:
    assert requested_processes(command.split()) == count
    series = one("osu74-latency-tcp10g.out")
    assert with_request([series], command.split())[0].processes == count


@pytest.mark.parametrize(("buffers", "in_gpu"), [("H H", False), ("D H", True), ("", True)])
def test_the_command_above_a_title_that_names_a_gpu(buffers: str, in_gpu: bool) -> None:
    text = (
        f"$ mpirun -np 2 ./osu_latency -d cuda {buffers}\n# OSU MPI-CUDA Latency Test v7.5\n"
        "# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n1    1.50\n2    1.50\n"
    )
    (one,) = read(text.encode(), "x")
    assert any("DEVICE" in note for note in one.notes) == in_gpu


@pytest.mark.parametrize(("unit", "known"), [("MB/s", True), ("GB/s", False), ("Gb/s", False)])
def test_a_heading_of_another_unit_below_a_command(unit: str, known: bool) -> None:
    rows = "".join(f"{1 << n:<10} {2.5 * (1 << n):.4f}\n" for n in range(12))
    title = f"# OSU MPI Bandwidth Test v7.5\n# Size      Bandwidth ({unit})\n"
    found = read(f"$ mpirun -n 2 ./osu_bw\n{title}{rows}".encode(), "x")
    assert any(one.points for one in found) == known


def test_titles_of_the_tests_in_python() -> None:
    rows = "".join(f"{1 << n:<10}{1.9 + n / 10:18.2f}\n" for n in range(8))
    text = f"# OMB-Py MPI Latency Test\n# {'Size (B)':<8}{'Latency (us)':>18}\n{rows}"
    (one,) = read(text.encode(), "x")
    assert (one.tool, one.benchmark, len(one.points)) == ("osu", "osu_latency", 8)
