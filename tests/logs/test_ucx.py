"""ucx_perftest: the last line counts, the size is bandwidth / rate, ping-pongs print both
directions.
"""

from pathlib import Path

import pytest
from tests.records import holds

from wireproof.logs.readers import read

MIB = 1 << 20
LINE = (
    "+--------------+--------------+----------+---------+---------+----------+----------+"
    "-----------+-----------+\n"
)


def row(label: str, count: int, time: float, size: int) -> str:
    bandwidth, rate = size / time * 1e6 / MIB, 1e6 / time
    return (
        f"{label}{count:18d} {time * 0.9:10.3f} {time:9.3f} {time:9.3f} {bandwidth:11.2f} "
        f"{bandwidth:10.2f} "
        f"{rate:11.0f} {rate:11.0f}\n"
    )


def table(what: str, *rows: str, stage: str = "Stage", percentile: str = "50.0%ile") -> str:
    above = f"|       {what:>8} (usec)        |   bandwidth (MB/s)  |  message rate (msg/s) |\n"
    names = (
        f"| # iterations | {percentile} | average | overall |  average |  overall |  average  |  "
        "overall  |\n"
    )
    return (
        f"{LINE}|              |              {above}{LINE}|    {stage}     "
        f"{names}{LINE}{''.join(rows)}"
    )


PROGRESS = row("[thread 0]", 412345, 1.9, 8)
BOX = (
    "| API:          protocol layer     |\n| Test:         tag match latency  |\n| Message size: "
    "8     |\n"
)


TAG_LATENCY = "$ ucx_perftest n1 -t tag_lat -s 8\n" + table(
    "latency", PROGRESS, row("Final:    ", 1000000, 1.75, 8)
)


def test_only_the_final_line_counts() -> None:
    one = read(TAG_LATENCY.encode(), "log")[0]
    holds(
        one,
        benchmark="tag_lat",
        metric="half_round_trip",
        traffic="pingpong",
        waits=True,
        complete=True,
    )
    assert [(p.message_bytes, p.hrt_ns, p.iterations) for p in one.points] == [(8, 1750.0, 1000000)]
    assert one.points[0].goodput_bytes_per_s == pytest.approx(8 / 1.75e-6, rel=1e-2)
    assert one.points[0].percentiles == {"p50": 1575.0}


def test_stream_with_threads_and_groups_of_digits() -> None:
    text = "UCX_TLS=rc ucx_perftest n1 -t tag_bw -s 1048576 -N\n" + table(
        "overhead",
        f"{'Final:    ':10}{'1,000,000':>18} {42.0:29.3f} {23809.52:22.2f} {'23,810':>24}\n",
    )
    one = read(text.encode(), "log")[0]
    holds(one, metric="bandwidth", traffic="stream", protocol="rdma", window=32)
    assert [(p.message_bytes, p.time_ns, p.iterations) for p in one.points] == [
        (MIB, 42000.0, 1000000)
    ]
    assert one.points[0].goodput_bytes_per_s == pytest.approx(23809.52 * MIB)


def test_box_says_test_and_size() -> None:
    one = read((BOX + table("latency", row("Final:    ", 1000, 1.75, 8))).encode(), "log")[0]
    assert (one.benchmark, one.points[0].message_bytes) == ("tag_lat", 8)
    transport = BOX.replace("protocol", "transport").replace("tag match", "put")
    assert (
        read((transport + table("latency", row("Final:    ", 9, 1.7, 8))).encode(), "log")[
            0
        ].benchmark
        == "put_lat"
    )


def test_size_is_bandwidth_by_rate() -> None:
    one = read(table("overhead", row("Final:    ", 1000, 90.0, MIB)).encode(), "log")[0]
    assert one.points[0].message_bytes == MIB
    assert any("bandwidth / message rate" in note for note in one.notes)
    wrong = "ucx_perftest -t tag_bw -s 64 n1\n" + table(
        "overhead", row("Final:    ", 1000, 90.0, MIB)
    )
    assert read(wrong.encode(), "log")[0].points[0].message_bytes == MIB


def test_a_rate_of_three_digits_still_measures() -> None:
    """From github.com/openucx/ucx/issues/10649: a bond of two 200 Gb/s ports."""
    final = (
        "Final:                  1000      0.240  1675.942  1671.351    46615.58   46743.62"
        "         597         598\n"
    )
    (one,) = read(table("overhead", final).encode(), "x")
    (point,) = one.points
    assert point.goodput_bytes_per_s == pytest.approx(46743.62 * MIB)
    assert point.message_bytes == pytest.approx(81_920_000, rel=0.002)


def test_get_is_not_halved() -> None:
    text = "ucx_perftest n1 -t ucp_get -s 8\n" + table("latency", row("Final:    ", 1000, 3.0, 8))
    one = read(text.encode(), "log")[0]
    assert (one.metric, one.traffic, one.points[0].hrt_ns, one.points[0].time_ns) == (
        "latency",
        "get",
        None,
        3000.0,
    )


def test_batch_makes_a_series_per_test() -> None:
    text = table(
        "overhead",
        "+tag_lat-----+--------------+----------+\n",
        PROGRESS,
        row("Final:    ", 1000000, 1.75, 8),
        "+tag_bw------+--------------+----------+\n",
        row("Final:    ", 1000000, 90.0, MIB),
    )
    assert [one.benchmark for one in read(text.encode(), "log")] == ["tag_lat", "tag_bw"]


def test_final_only_and_comma_separated() -> None:
    text = table("overhead", row("    tag_bw", 1000000, 90.0, MIB), stage=" Test")
    assert read(text.encode(), "log")[0].benchmark == "tag_bw"
    csv = (
        "test_types_ucp,iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,"
        "avg_mr,overall_mr\n"
    )
    csv += "tag_lat,[thread 0]9000,1.500,1.700,1.700,4.40,4.40,588235,588235\n"
    csv += "tag_lat,10000,1.500,1.750,1.750,4.36,4.36,571429,571429\n"
    csv += "tag_bw,1000,0.240,90.000,90.000,11111.11,11111.11,11111,11111\n"
    found = read(csv.encode(), "log")
    assert [(one.benchmark, one.points[0].message_bytes, len(one.points)) for one in found] == [
        ("tag_lat", 8, 1),
        ("tag_bw", MIB, 1),
    ]


def test_threads_in_comma_separated_lines() -> None:
    csv = (
        "message_size,iterations,typical_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,"
        "overall_mr\n"
    )
    csv += (
        "8,Final:    10000000,0.131,116.50,15269888\n4096,Final:    "
        "10000000,0.750,10416.67,2666667\n"
    )
    (one,) = read(csv.encode(), "log")
    assert [(point.message_bytes, point.iterations) for point in one.points] == [
        (8, 10_000_000),
        (4096, 10_000_000),
    ]


def test_protocol_tables_between() -> None:
    talk = (
        "[1704982674.011993] [n1:2320454:0]   | perftest inter-node cfg#0 | active message |\n"
        * 300
    )
    text = table("latency", talk, row("Final:    ", 1000, 1.75, 8))
    assert len(read(text.encode(), "log")[0].points) == 1


def test_progress_without_marks_counts_only_at_its_end() -> None:
    rows = (row("", 412345, 1.9, 8), row("", 900000, 1.8, 8))
    assert not read(table("latency", *rows).encode(), "log")[0].points
    assert (
        len(read(table("latency", *rows, row("", 1000000, 1.7, 8)).encode(), "log")[0].points) == 1
    )


def test_a_log_that_ends_in_progress_says_what_was_reached() -> None:
    text = "ucx_perftest n1 -t tag_lat -s 8\n" + table("latency", PROGRESS)
    one = read(text.encode(), "log")[0]
    assert not one.complete
    assert "MB/s" in one.incomplete


def test_golden() -> None:
    log = Path(__file__).parents[1] / "golden" / "logs" / "ucx_perftest_1.13_tcp_loopback.txt"
    found = read(log.read_bytes(), "log")
    assert all(one.complete and one.protocol == "tcp" for one in found)
    assert [
        (one.benchmark, one.metric, [point.message_bytes for point in one.points]) for one in found
    ] == [
        ("tag_lat", "half_round_trip", [8]),
        ("tag_bw", "bandwidth", [MIB]),
        ("tag_bw", "bandwidth", [4096]),
        ("tag_bw", "bandwidth", [64]),
        ("ucp_get", "latency", [8]),
        ("tag_bw", "bandwidth", [64]),
        ("tag_lat", "half_round_trip", [8]),
        ("lat_8", "half_round_trip", [8]),
        ("lat_64", "half_round_trip", [64]),
        ("bw_64k", "bandwidth", [65536]),
        ("lat_8", "half_round_trip", [8]),
        ("lat_64", "half_round_trip", [64]),
        ("bw_64k", "bandwidth", [65536]),
    ]
    assert found[1].points[0].iterations == 6000
    assert found[1].points[0].goodput_bytes_per_s == pytest.approx(241.16 * MIB)


def test_a_batch_with_names_that_say_nothing() -> None:
    text = table("overhead", "+mine--------+--------------+\n", row("Final:    ", 1000, 90.0, MIB))
    one = read(text.encode(), "log")[0]
    assert (one.benchmark, one.traffic) == ("mine", "other")
