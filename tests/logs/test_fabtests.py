"""fabtests: tables and machine lines, named or not, old and new columns."""

from pathlib import Path

import pytest
from tests.records import holds

from wireproof.logs.readers import read

HEAD = "bytes   iters   total       time     MB/sec    usec/xfer   Mxfers/sec\n"
PING = (
    "64      10k     1.2m        0.03s     42.67       1.50       0.67\n"
    "1m      100     200m        0.02s  10485.76     100.00       0.01\n"
)
BW = (
    "64      20k     1.2m        0.01s    128.00       0.50       2.00\n"
    "64k     2k      125m        0.01s  11915.64       5.50       0.18\n"
)
MACHINE = (
    "---\n/opt/fab/bin/fi_rdm_bw -p verbs -m 10.0.0.1 :\n"
    "- { xfer_size: 64, iterations: 20000, total: 1280000, time: 0.010000, MB/sec: 128.000000, "
    "usec/xfer: 0.500000, "
    "Mxfers/sec: 2.000000 }\n"
    "- { xfer_size: 65536, iterations: 2000, total: 131072000, time: 0.011000, MB/sec: "
    "11915.636364, "
    "usec/xfer: 5.500000, Mxfers/sec: 0.181818 }\n"
)


def test_name_comes_from_the_command() -> None:
    one = read(("$ ./benchmarks/fi_msg_pingpong -p verbs n1\n" + HEAD + PING).encode(), "log")[0]
    holds(one, benchmark="fi_msg_pingpong", metric="half_round_trip", traffic="pingpong")
    assert [point.hrt_ns for point in one.points] == [1500.0, 100000.0]
    assert one.points[0].iterations == 10000


def test_without_a_command_the_bytes_tell() -> None:
    assert read((HEAD + PING).encode(), "log")[0].metric == "half_round_trip"
    one = read((HEAD + BW).encode(), "log")[0]
    assert (one.metric, one.traffic, one.points[0].hrt_ns, one.window) == (
        "bandwidth",
        "stream",
        None,
        64,
    )
    assert one.points[1].goodput_bytes_per_s == pytest.approx(11915.64e6)
    assert one.points[0].messages_per_s == pytest.approx(2e6)
    assert one.points[1].messages_per_s is None  # 0.18: two decimals say too little


@pytest.mark.parametrize(
    ("command", "traffic"),
    [
        ("fi_rma_bw -e rdm -o read n1", "get"),
        ("fi_rma_bw -o write n1", "put"),
        ("fi_msg_bw -W 128 n1", "stream"),
    ],
)
def test_what_the_program_does(command: str, traffic: str) -> None:
    one = read((f"+ {command}\n" + HEAD + BW).encode(), "log")[0]
    assert one.traffic == traffic
    assert one.window == (128 if "128" in command else 64)


def test_rows_with_names_make_a_series_each() -> None:
    rows = "".join(
        f"{name:50}{line}\n" for name in ("min", "max of all") for line in BW.splitlines()
    )
    found = read((f"fi_rdm_atomic n1\n{'name':50}{HEAD}{rows}").encode(), "log")
    assert [one.benchmark for one in found] == ["fi_rdm_atomic min", "fi_rdm_atomic max of all"]
    assert all(one.traffic == "atomic" and len(one.points) == 2 for one in found)


def test_old_columns_in_gigabits() -> None:
    head = "bytes   iters   total       time     Gb/sec    usec/xfer\n"
    text = head + "64      100k    12m         2.95s      0.03      14.74\n"
    one = read(text.encode(), "log")[0]
    assert one.points[0].goodput_bytes_per_s == pytest.approx(0.03e9 / 8)


def test_machine_lines() -> None:
    one = read(MACHINE.encode(), "log")[0]
    assert (one.benchmark, one.metric, len(one.points), one.complete) == (
        "fi_rdm_bw",
        "bandwidth",
        2,
        True,
    )
    assert one.points[1].goodput_bytes_per_s == pytest.approx(11915.636364e6)
    glued = MACHINE.replace("0.500000, Mxfers", "0.500000Mxfers")  # as some versions print it
    assert read(glued.encode(), "log")[0].points[0].time_ns == 500.0


def test_server_and_client_are_two_series() -> None:
    assert len(read((HEAD + BW + HEAD + BW).encode(), "log")) == 2


def test_golden() -> None:
    log = Path(__file__).parents[1] / "golden" / "logs" / "fabtests_1.17_sockets_loopback.txt"
    table, stream, machine = read(log.read_bytes(), "log")
    sizes = [64, 256, 1024, 4096, 65536, 1048576]
    for one in (table, stream, machine):
        assert one.complete
        assert [point.message_bytes for point in one.points] == sizes
    assert (table.benchmark, table.metric, table.points[5].hrt_ns) == (
        "fi_rdm_pingpong",
        "half_round_trip",
        28304880.0,
    )
    assert (stream.benchmark, stream.metric) == ("fi_rdm_tagged_bw", "bandwidth")
    assert stream.points[5].goodput_bytes_per_s == pytest.approx(116.36e6)
    assert machine.points[0].hrt_ns == pytest.approx(7599750)
    assert machine.points[0].time_step_ns == 50.0
