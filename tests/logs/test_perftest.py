"""The perftest adapter: real logs, the forms of its versions, and logs that are cut."""

import pytest
from tests.logs.tables import LOGS, one
from tests.records import holds

from wireproof.logs.readers import read

RULE = "-" * 87
MIB = 1 << 20


def log(title: str, heading: str, *rows: str, block: str = "", closed: bool = True) -> bytes:
    lines = [
        RULE,
        f"                    {title}",
        " Dual-port       : OFF\t\tDevice         : mlx5_3",
    ]
    lines += [
        " Number of qps   : 4\t\tTransport type : IB",
        " Connection type : RC\t\tUsing SRQ      : OFF",
    ]
    lines += [
        " TX depth        : 128",
        " Mtu             : 4096[B]",
        " Link type       : IB",
        *block.splitlines(),
    ]
    lines += [" rdma_cm QPs\t : OFF", " Data ex. method : Ethernet", RULE]
    lines += [
        " local address: LID 0x05 QPN 0x0098 PSN 0x5a1c",
        RULE,
        heading,
        *rows,
        *([RULE] if closed else []),
    ]
    return ("\n".join(lines) + "\n").encode()


BW = " #bytes     #iterations    BW peak[{0}]    BW average[{0}]   MsgRate[Mpps]"
LAT = (
    " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    "
    "t_stdev[usec]   "
    "99% percentile[usec]   99.9% percentile[usec] "
)


def test_real_logs() -> None:
    bandwidth, latency, verbs = read((LOGS / "softroce_tcg_tap_client.log").read_bytes(), "x")
    assert (verbs.tool, verbs.points[0].message_bytes) == ("ibv_pingpong", 4096)
    holds(bandwidth, tool="perftest", benchmark="ib_write_bw", metric="bandwidth")
    assert (bandwidth.traffic, bandwidth.protocol, bandwidth.window) == ("put", "rdma", 100)
    (point,) = bandwidth.points
    assert point.goodput_bytes_per_s == pytest.approx(29.94 * MIB)
    assert point.messages_per_s == pytest.approx(479)
    assert (point.message_bytes, point.iterations, point.line) == (65536, 100, 46)
    holds(latency, benchmark="ib_write_lat", metric="half_round_trip", waits=True)
    assert latency.points[0].hrt_ns == pytest.approx(250140)
    assert latency.points[0].percentiles["p99"] == pytest.approx(2274520)
    assert bandwidth.complete
    assert latency.complete


def test_a_terminated_sweep_keeps_its_rows_and_says_so() -> None:
    sweep, latency, *verbs = read((LOGS / "softroce_tcg_vm2_client.log").read_bytes(), "x")
    assert [(one.tool, one.complete) for one in verbs] == [("ibv_pingpong", False)]
    assert [point.message_bytes for point in sweep.points] == [2**power for power in range(1, 22)]
    assert not sweep.complete
    assert "Terminated" in sweep.incomplete
    assert not latency.complete
    assert len(latency.points) == 2
    assert sweep.points[0].goodput_bytes_per_s is None, (
        "0.00 is below the last digit, no measured zero"
    )
    assert sweep.points[0].messages_per_s == pytest.approx(2123)


def test_no_device_is_an_incomplete_series_without_points() -> None:
    series = one((LOGS / "ib_write_bw_no_rdma.txt").read_bytes())
    assert not series.complete
    assert not series.points
    assert "Unable to find the Infiniband/RoCE device" in series.incomplete


@pytest.mark.parametrize(
    ("unit", "factor"),
    [("MB/sec", MIB), ("MiB/sec", MIB), ("Gb/sec", 125_000_000)],
    ids=["old", "new", "gbits"],
)
def test_units_of_bandwidth(unit: str, factor: int) -> None:
    row = " 65536      5000             97.10              96.52                0.184097"
    series = one(log("RDMA_Write BW Test", BW.format(unit), row))
    assert series.points[0].goodput_bytes_per_s == pytest.approx(96.52 * factor)
    assert series.points[0].goodput_step == pytest.approx(0.01 * factor)
    assert series.points[0].values["peak_bytes_per_s"] == pytest.approx(97.10 * factor)
    assert any("2^20" in note for note in series.notes) == (unit == "MB/sec")
    assert "Number of qps: 4" in series.notes
    assert "Mtu: 4096" in series.notes


def test_both_directions() -> None:
    row = " 65536      1000           21953.12            21951.88\t\t   0.351230"
    series = one(log("Send Bidirectional BW Test", BW.format("MiB/sec"), row))
    assert (series.benchmark, series.metric) == ("ib_send_bw", "bidirectional_bandwidth")
    assert (series.traffic, series.directions) == ("exchange", 2)


def test_a_read_is_no_half_round_trip() -> None:
    row = (
        " 2       1000          1.71           4.93         1.76  \t       1.77  \t0.04\t\t1.91 "
        "\t\t4.93"
    )
    series = one(log("RDMA_Read Latency Test", LAT, row))
    assert (series.benchmark, series.metric, series.traffic) == ("ib_read_lat", "latency", "get")
    assert series.points[0].hrt_ns is None
    assert series.points[0].time_ns == pytest.approx(1760)
    assert series.points[0].values["avg_ns"] == pytest.approx(1770)


def test_atomics_name_their_operation() -> None:
    series = one(
        log("Atomic FETCH_AND_ADD Latency Test", LAT, " 8  1000  1.7  4.9  1.8  1.8  0.0  1.9  4.9")
    )
    assert (series.benchmark, series.traffic) == ("ib_atomic_lat", "atomic")
    wide = log(
        "Atomic CMP_AND_SWAP BW Test", BW.format("MB/sec"), " 8   1000   18.21   18.20   2.385510"
    )
    assert one(wide).benchmark == "ib_atomic_bw"


def test_latency_over_a_duration_has_only_a_mean() -> None:
    heading = " #bytes        #iterations       t_avg[usec]    tps average"
    series = one(
        log("Send Latency Test", heading, " 2       4512031            1.11        451203.10")
    )
    assert series.points[0].hrt_ns == pytest.approx(1110)
    assert series.points[0].percentiles == {}


def test_extra_columns() -> None:
    heading = BW.format("Gb/sec") + "    CPU_Util[%]"
    series = one(
        log("RDMA_Write BW Test", heading, " 4096   5000   0.00   189.20   5.773900   4.2")
    )
    assert series.points[0].goodput_bytes_per_s == pytest.approx(189.20 * 125e6)
    assert "peak_bytes_per_s" not in series.points[0].values, (
        "0.00 means that no peak was looked for"
    )
    assert series.points[0].values["cpu_util"] == pytest.approx(4.2)
    qos = (
        " #bytes    #sl      #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]"
    )
    assert (
        one(log("Send BW Test", qos, " 1024    3    5000    900.10   900.05    0.921651"))
        .points[0]
        .iterations
        == 5000
    )


def test_two_ports() -> None:
    ports = "   BW Port1[Gb/sec]   MsgRate Port1[Mpps]   BW Port2[Gb/sec]   MsgRate Port2[Mpps]"
    row = (
        " 65536      10000     190.20      190.10     0.362586     95.00     0.181198     95.10   "
        "  0.181388"
    )
    point = one(log("RDMA_Write BW Test", BW.format("Gb/sec") + ports, row)).points[0]
    assert point.goodput_bytes_per_s == pytest.approx(190.10 * 125e6)
    assert point.values["bw_port1_bytes_per_s"] == pytest.approx(95.00 * 125e6)


def test_raw_ethernet_is_not_called_rdma() -> None:
    data = log("Send BW Test", BW.format("Gb/sec"), " 1500 1000 0.00 98.10 8.175000").replace(
        b"type : RC", b"type : RawEth"
    )
    assert one(data).protocol == ""


def addresses(local: str, remote: str, pairs: int = 1) -> str:
    lines = [f" local address: LID {local} QPN 0x0098 PSN 0x5a1c"] * pairs
    return "\n".join([*lines, *[f" remote address: LID {remote} QPN 0x0099 PSN 0x5a1d"] * pairs])


def test_both_ends_are_named() -> None:
    (first, *_) = read((LOGS / "softroce_tcg_tap_client.log").read_bytes(), "x")
    assert first.hosts == ["10.30.1.2", "10.30.1.1"]
    row = " 65536      5000             97.10              96.52                0.184097"
    data = log("RDMA_Write BW Test", BW.format("MB/sec"), row, block=addresses("0x05", "0x07", 300))
    series = one(
        data.replace(b" local address: LID 0x05 QPN 0x0098 PSN 0x5a1c\n" + b"-" * 87, b"-" * 87)
    )
    assert series.hosts == ["LID 0x0005", "LID 0x0007"]
    assert series.window == 512, "128 deep, on each of 4 queue pairs"


def test_one_port_at_both_ends_is_told() -> None:
    row = " 65536      5000             97.10              96.52                0.184097"
    series = one(
        log("RDMA_Write BW Test", BW.format("MB/sec"), row, block=addresses("0x05", "0x05"))
    )
    assert series.hosts == ["LID 0x0005"]
    assert any("both ranks are on" in note for note in series.notes)


def test_a_closed_table_is_complete_whatever_others_print() -> None:
    row = " 65536      5000             97.10              96.52                0.184097"
    assert one(
        log("RDMA_Write BW Test", BW.format("MB/sec"), "[warn] error: no route to the license", row)
    ).complete
    assert not one(
        log("RDMA_Write BW Test", BW.format("MB/sec"), row, " Completion with error at server")
    ).complete
    killed = log("RDMA_Write BW Test", BW.format("MB/sec"), row, closed=False)
    first, second = read(killed + log("Send BW Test", BW.format("MB/sec"), row), "x")
    assert not first.complete, "the rule above the next title closes nothing"
    assert second.complete


def test_port_counters_are_kept() -> None:
    rows = (
        " 65536      5000             11500.00             11490.00     0.183840",
        "\tport_xmit_data=81920000",
        "",
    )
    series = one(log("RDMA_Write BW Test", BW.format("MiB/sec"), *rows))
    assert series.points[0].values["port_xmit_data"] == 81920000


def test_only_the_table_was_pasted() -> None:
    text = "$ ib_send_lat -a node7\n" + LAT + "\n 2 1000 0.90 3.00 0.95 0.97 0.02 1.10 3.00\n"
    series = one(text.encode())
    holds(series, benchmark="ib_send_lat", metric="half_round_trip", complete=True)
    bare = one((LAT + "\n 2 1000 0.90 3.00 0.95 0.97 0.02 1.10 3.00\n").encode())
    assert (bare.benchmark, bare.metric, bare.traffic) == ("perftest", "latency", "other")


def test_sizes_are_sorted_and_repeated_runs_keep_their_order() -> None:
    rows = [" 4096 10 1.0 9.0 0.1", " 2 10 1.0 1.0 0.1", " 2 10 1.0 2.0 0.1"]
    points = one(log("Send BW Test", BW.format("MiB/sec"), *rows)).points
    assert [(point.message_bytes, point.line) for point in points] == [(2, 16), (2, 17), (4096, 15)]


@pytest.mark.parametrize("bad", ["nan", "-12.50", "1e300", "inf"])
def test_what_cannot_be_measured_is_left_out(bad: str) -> None:
    rows = (
        f" 2      1000    9.00    {bad}    4.500000",
        " 4      1000    9.00    8.90    2.300000",
    )
    series = one(log("Send BW Test", BW.format("MiB/sec"), *rows))
    assert [point.message_bytes for point in series.points] == [4]
    assert not series.complete or any("left out" in note for note in series.notes)


def test_samples_before_the_row_are_no_table() -> None:
    samples = ["#, usec", *(f"{index}, 1.{index}" for index in range(1, 200)), RULE, LAT]
    series = one(
        log("Send Latency Test", LAT, *samples, " 2 200 0.90 3.00 0.95 0.97 0.02 1.10 3.00")
    )
    assert [point.hrt_ns for point in series.points] == pytest.approx([950])
    assert series.complete


def test_two_ends_in_one_log_and_the_oldest_heading() -> None:
    data = log(
        "RDMA_Write BW Test",
        " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]  ",
        " 8 50 9.1 9.0",
    )
    assert one(data).points[0].goodput_bytes_per_s == pytest.approx(9.0 * MIB)
    ends = (line + line for line in data.splitlines(keepends=True))
    twice = b"$ ib_write_bw & ib_write_bw localhost\n" + b"".join(ends)
    assert [(p.message_bytes, p.goodput_bytes_per_s) for p in one(twice).points] == [
        (8, 9.0 * MIB)
    ] * 2
    own = (
        b"#bytes     #iterations    BW_peak[MB/sec]    BW_average[MB/sec]   MsgRate[Mpps]\n8 50 "
        b"9.1 9.0 1.1\n"
    )
    assert one(own).points[0].goodput_bytes_per_s == pytest.approx(9.0 * MIB)


def test_errors_and_doubts_are_told() -> None:
    row = " 2      1000    9.00    8.00    4.500000"
    series = one(
        log(
            "Send BW Test",
            BW.format("MiB/sec"),
            row,
            " Completion with error at client",
            closed=False,
        )
    )
    assert not series.complete
    assert "Completion with error" in series.incomplete
    clock = "Conflicting CPU frequency values detected: 1200.000000 != 3100.000000\n"
    series = one(log("Send BW Test", BW.format("MiB/sec"), clock + row))
    assert len(series.points) == 1
    assert any("frequencies" in note for note in series.notes)
    failed = (
        RULE + "\n                    Send BW Test\n Couldn't allocate MR\n failed to create mr\n"
    )
    assert "allocate MR" in one(failed.encode()).incomplete
