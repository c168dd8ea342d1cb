"""nccl-tests: columns of several versions, hosts, bus bandwidth, what a single host proves."""

from __future__ import annotations

import json

import pytest
from tests.records import holds

from wireproof.logs.readers import read
from wireproof.model.errors import BadInput

PLACES = "out-of-place                       in-place          "
ONCE = "   time   algbw   busbw #wrong  "
UNITS = "    (us)  (GB/s)  (GB/s)         "
HEAD = (
    f"#{'':62}{PLACES}\n"
    f"#       size         count      type   redop    root  {ONCE}{ONCE}\n"
    f"#        (B)    (elements)                           {UNITS}{UNITS}\n"
)
SIZES = (1 << 20, 1 << 21, 1 << 22)


def devices(*hosts: str) -> str:
    lines = [
        f"#  Rank {rank:2d} Group  0 Pid  {4000 + rank} on {host:>10} device  0 [0x8d] NVIDIA X\n"
        for rank, host in enumerate(hosts)
    ]
    return (
        f"# nThread 1 nGpus 1 minBytes 1048576 maxBytes {SIZES[-1]} step: 2(factor) warmup iters: "
        "5 iters: 20 "
        f"agg iters: 1 validation: 1 graph: 0\n#\n# Using devices\n{''.join(lines)}#\n"
    )


def row(size: int, factor: float, wrong: str = "0", redop: str = "sum", root: str = "-1") -> str:
    places = "".join(
        f"  {time:7.1f} {size / time / 1e3:7.2f} {size / time / 1e3 * factor:7.2f} {wrong:>6}"
        for time in (100.0 + size / 2e4, 90.0 + size / 2e4)
    )
    return f"{size:13d} {size // 4:13d} {'float':>9} {redop:>7} {root:>7}{places}\n"


TAIL = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 12.345 \n#\n"


def log(
    *hosts: str, factor: float = 1.5, rows: int = 3, tail: str = TAIL, command: str = ""
) -> str:
    return (
        command
        + devices(*hosts)
        + HEAD
        + "".join(row(size, factor) for size in SIZES[:rows])
        + tail
    )


def test_both_places() -> None:
    out, inside = read(log("a", "a", "b", "b").encode(), "log")
    assert (out.benchmark, inside.benchmark) == (
        "all_reduce_perf out-of-place",
        "all_reduce_perf in-place",
    )
    holds(out, processes=4, hosts=["a", "b"], complete=True, metric="time", traffic="collective")
    first = out.points[0]
    assert first.message_bytes == SIZES[0]
    assert first.time_ns == pytest.approx((100 + SIZES[0] / 2e4) * 1e3, rel=1e-3)
    assert first.values["bus_bytes_per_s"] == pytest.approx(
        1.5 * (first.goodput_bytes_per_s or 0), rel=1e-2
    )
    assert (first.valid, first.iterations) == (True, 20)
    assert not any("bus / algorithm" in note for note in out.notes)


def test_one_host_proves_no_network() -> None:
    assert any("one host" in note for note in read(log("a", "a").encode(), "log")[0].notes)


def test_part_of_the_list_of_devices_proves_no_single_host() -> None:
    text = log("a", "a", "b", "b")
    kept = "".join(line for line in text.splitlines(True) if "# " not in line or "Rank  3" in line)
    one = read((kept + TAIL).encode(), "log")[0]
    assert (one.hosts, one.processes) == ([], 4)
    assert any("list of devices is not complete" in note for note in one.notes)


def test_processes_that_ran_alone() -> None:
    twice = devices("a").replace("#\n# Using", "# Using") + log("b", factor=0.0)
    one = read(twice.encode(), "log")[0]
    assert any("each process ran alone" in note for note in one.notes)


def test_name_of_the_command_and_its_factor() -> None:
    text = log("a", "b", factor=0.5, command="$ mpirun -np 2 ./build/all_gather_perf -b 1M -e 4M\n")
    one = read(text.encode(), "log")[0]
    assert one.benchmark.startswith("all_gather_perf")
    assert not any("bus / algorithm" in note for note in one.notes)
    wrong = read(text.replace("all_gather", "all_reduce").encode(), "log")[0]
    assert any("bus / algorithm bandwidth is 0.5" in note for note in wrong.notes)


def test_concluded_line_names_it() -> None:
    text = log("a", "b", factor=1.0, tail=TAIL + "# Collective test concluded: sendrecv_perf\n")
    one = read(text.encode(), "log")[0]
    assert (one.benchmark, one.traffic) == ("sendrecv_perf out-of-place", "ring")


OLD = "     time   algbw   busbw  error     time   algbw   busbw  error"


@pytest.mark.parametrize(
    ("names", "cells"),
    [
        ("   redop ", "sum {}  0e+00 {}  2e-07"),
        ("    root ", "0 {}  0e+00 {}  0e+00"),
        ("", "{}  0e+00 {}    N/A"),
    ],
)
def test_old_columns(names: str, cells: str) -> None:
    line = (
        "     1048576        262144     float  "
        + cells.format("100.0  10.49  10.49", "50.0  20.97  20.97")
        + "\n"
    )
    out, inside = read(
        f"#     size         count      type{names}{OLD}\n{line}{line}".encode(), "log"
    )
    assert [point.time_ns for point in out.points] == [1e5, 1e5]
    assert inside.points[0].goodput_bytes_per_s == pytest.approx(20.97e9)


def test_the_operation_that_old_all_to_all_leaves_blank() -> None:
    cells = "  1048576  65536  float  100.0  10.49  9.18  N/A  50.0  20.97 18.35  N/A"
    text = f"#     size         count      type   redop {OLD}\n{cells}\n{cells}\n"
    out, inside = read(text.encode(), "log")
    assert [point.time_ns for point in out.points] == [1e5, 1e5]
    assert (out.complete, inside.complete) == (True, True)


def test_a_torn_row_without_a_column_for_the_operation() -> None:
    cells = "  1048576  262144  float  100.0  10.49  10.49  0e+00  50.0  20.97  20.97  0e+00\n"
    text = f"#     size         count      type{OLD}\n{cells}{cells.replace('  50.0', '')}"
    out, _ = read(text.encode(), "log")
    assert (len(out.points), out.complete) == (1, False)


def test_a_tagged_table_in_a_page_without_labels() -> None:
    table = "".join(f"   [1,0]<stdout>:{line}\n" for line in log("a", "b").splitlines())
    page = "# How to read it\n" + "Some words.\n" * 90 + f"```log\n{table}```\n" + "More.\n" * 20
    out, _ = read(page.encode(), "README.md")
    assert (len(out.points), out.complete, out.hosts) == (3, True, ["a", "b"])


@pytest.mark.parametrize(
    ("names", "inner", "last"),
    [
        (ONCE + ONCE + " timestamp", "", " 2026-07-10 10:00:00"),
        (2 * (ONCE + " i_min i_max i_p99 i_cv%"), " 0.9 1.1 1.2 5.0", " 0.9 1.1 1.2 5.0"),
    ],
)
def test_columns_of_2026(names: str, inner: str, last: str) -> None:
    head = f"# size count type redop root {names}\n"
    cells = [row(size, 1.5).split() for size in SIZES]
    rows = "".join(f"{' '.join(one[:9])}{inner} {' '.join(one[9:])}{last}\n" for one in cells)
    series = read((devices("a", "b") + head + rows + TAIL).encode(), "log")
    (plain, _) = read(log("a", "b").encode(), "log")
    assert [point.time_ns for point in series[0].points] == [p.time_ns for p in plain.points]
    assert [len(one.points) for one in series] == [3, 3]


def document(*hosts: str, **over: object) -> dict[str, object]:
    def place(size: int, time: float) -> dict[str, object]:
        return {
            "time": time,
            "alg_bw": size / time / 1e3,
            "bus_bw": 1.5 * size / time / 1e3,
            "nwrong": 0.0,
        }

    listed = [{"rank": rank, "hostname": host} for rank, host in enumerate(hosts)]
    whole = {
        "version": 3,
        "start_time": "2026-07-10 10:00:00",
        "args": ["./build/all_reduce_perf", "-J", "out.json"],
        "env": ['A={"version": 1, "start_time": ""}'],
        "nccl_version": 22803,
        "config": {
            "nthreads": 1,
            "ngpus": 1,
            "maximum_bytes": SIZES[-1],
            "iterations": 20,
            "devices": listed,
        },
        "results": [
            {"size": size, "count": size // 4, "type": "float", "redop": "sum", "root": "    -1"}
            | {"out_of_place": place(size, 100 + size / 2e4), "in_place": None}
            for size in SIZES
        ],
        "out_of_bounds": {"count": 2, "okay": False},
        "average_bus_bandwidth": {"bandwidth": 12.5, "okay": "unchecked"},
    }
    return whole | over


@pytest.mark.parametrize("indent", [None, 2])
def test_document(indent: int | None) -> None:
    text = "# Writing JSON output\n" + json.dumps(document("a", "a", "b", "b"), indent=indent)
    out, inside = read(text.encode(), "log")
    (printed, _) = read(log("a", "a", "b", "b").encode(), "log")
    holds(out, benchmark=printed.benchmark, processes=4, hosts=["a", "b"], complete=True)
    first = 2 if indent is None else 3
    assert [(point.message_bytes, point.iterations, point.line) for point in out.points] == [
        (size, 20, first) for size in SIZES
    ]
    assert [point.time_ns for point in out.points] == pytest.approx(
        [point.time_ns for point in printed.points], rel=1e-3
    )
    assert any("2 values out of bounds" in note for note in out.notes)
    assert (inside.points, inside.complete) == ([], False)


def test_document_that_is_cut_or_another() -> None:
    text = json.dumps(document("a", "b"))
    cut = read(text[: len(text) // 2].encode(), "log")[0]
    assert (cut.points, cut.incomplete) == ([], "line 1: the text ends inside a document")
    early = document("a", "b")
    del early["average_bus_bandwidth"]
    early["results"] = early["results"][:1]  # type: ignore[index]
    assert "the run was to reach" in read(json.dumps(early).encode(), "log")[0].incomplete
    odd = document(
        "a", "b", args=7, config=3, results=[5, "x", {"size": [1]}], average_bus_bandwidth=1
    )
    assert not any(one.points for one in read(json.dumps(odd).encode(), "log"))
    with pytest.raises(BadInput):
        read(b'{"version": 3, "start_time": "2026-07-10 10:00:00", "runs": []}\n', "log")


def test_wrong_values_are_told() -> None:
    text = (
        log("a", "b")
        .replace(row(SIZES[1], 1.5), row(SIZES[1], 1.5, wrong="7"))
        .replace(": 0 OK", ": 14 FAILED")
    )
    one = read(text.encode(), "log")[0]
    assert [point.valid for point in one.points] == [True, False, True]
    assert any("14 values out of bounds" in note for note in one.notes)


def test_rows_that_sent_nothing() -> None:
    empty = "  0  0  float  sum  -1  0.20  0.00  0.00  0  0.16  0.00  0.00  N/A\n"
    one = read(
        log("a", "b").replace(row(SIZES[0], 1.5), empty + row(SIZES[0], 1.5)).encode(), "log"
    )[0]
    assert [point.message_bytes for point in one.points] == list(SIZES)
    assert any("nothing was sent" in note for note in one.notes)


def test_library_talk_between_rows() -> None:
    talk = "a:100:200 [0] NCCL INFO comm 0x55 rank 0 nranks 2 - Init COMPLETE\n" * 200
    text = log("a", "b").replace(row(SIZES[1], 1.5), talk + row(SIZES[1], 1.5))
    assert len(read(text.encode(), "log")[0].points) == 3


@pytest.mark.parametrize("comma", [False, True])
@pytest.mark.parametrize("heading", [False, True])
def test_rows_with_commas_or_without_their_heading(comma: bool, heading: bool) -> None:
    names = "size count type redop root" + 2 * " time algbw busbw #wrong" + "\n"
    text = (names if heading else "") + "".join(row(size, 1.0) for size in SIZES)
    if comma:
        text = "".join(",".join(line.split()) + "\n" for line in text.splitlines())
    out, into = read(text.encode(), "slurm.out")
    assert [len(out.points), len(into.points)] == [len(SIZES)] * 2
    assert out.points[-1].time_ns == pytest.approx((100.0 + SIZES[-1] / 2e4) * 1e3, rel=1e-3)
    assert out.complete


def test_rows_whose_arithmetic_is_another_are_not_read_without_a_heading() -> None:
    text = "".join(row(size, 1.0) for size in SIZES).replace("float", "half ")
    swapped = text.replace(" sum ", " sum  0 ")
    with pytest.raises(BadInput):
        read(swapped.encode(), "slurm.out")


def test_two_runs() -> None:
    text = log("a", "b", command="./all_reduce_perf\n") + log(
        "c", "d", factor=0.5, command="./all_gather_perf\n"
    )
    assert [(one.benchmark.split()[0], one.hosts) for one in read(text.encode(), "log")][::2] == [
        ("all_reduce_perf", ["a", "b"]),
        ("all_gather_perf", ["c", "d"]),
    ]


@pytest.mark.parametrize(
    ("devices_each", "ranks", "program", "valid"),
    [
        (4, 4, "hypercube", None),
        (4, 4, "all_reduce", False),
        (1, 4, "hypercube", False),
        (2, 2, "hypercube", False),  # one step has nothing to wait for
    ],
)
def test_the_check_of_a_hypercube_of_several_devices_a_thread_is_wrong_itself(
    devices_each: int, ranks: int, program: str, valid: bool | None
) -> None:
    text = (
        f"$ ./build/{program}_perf -g {devices_each}\n"
        + devices(*["a"] * ranks).replace("nGpus 1", f"nGpus {devices_each}")
        + HEAD
        + "".join(row(size, 1.0, wrong="512", redop="none") for size in SIZES)
        + "# Out of bounds values : 56 FAILED\n# Avg bus bandwidth    : 1.0 \n#\n"
    )
    found = read(text.encode(), "log")[0]
    assert {point.valid for point in found.points} == {valid}
    assert any("#wrong is not used" in note for note in found.notes) == (valid is None)
