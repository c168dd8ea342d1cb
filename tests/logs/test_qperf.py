"""The qperf adapter: real outputs, units, sweeps, and logs that are cut."""

import pytest
from tests.logs.tables import golden, one
from tests.records import holds


def test_real_log() -> None:
    band, tcp, udp = golden("qperf_n1-fab.txt")
    holds(band, tool="qperf", benchmark="tcp_bw", metric="bandwidth", protocol="tcp")
    assert band.points[0].goodput_bytes_per_s == pytest.approx(1.23e9)
    assert band.points[0].goodput_step == pytest.approx(1e7)
    assert band.points[0].messages_per_s == pytest.approx(18800)
    assert band.points[0].message_bytes == 64 << 10
    assert any("default" in note for note in band.notes)
    assert (tcp.metric, tcp.waits, udp.protocol) == ("half_round_trip", True, "udp")
    assert tcp.points[0].hrt_ns == pytest.approx(27700)
    assert udp.points[0].hrt_ns == pytest.approx(29600)
    assert all(series.complete for series in (band, tcp, udp))


def test_a_sweep_is_one_series() -> None:
    band, latency = golden("qperf_sweep_loopback.txt")
    assert [point.message_bytes for point in band.points] == [1, 16, 256, 4096, 65536]
    assert band.points[0].goodput_bytes_per_s == pytest.approx(1.03e6)
    assert [point.hrt_ns for point in latency.points] == pytest.approx(
        [31400, 35200, 32800, 35600, 40500]
    )
    assert band.notes == []


def test_verbose_output_and_zero_results() -> None:
    band, lost, late = golden("qperf_verbose_loopback.txt")
    assert band.points[0].message_bytes == 1 << 20
    assert band.points[0].values["send_cpus_used_percent"] == 136
    for series in (lost, late):
        assert not series.points
        assert not series.complete
        assert any("zero" in note for note in series.notes)


def test_unified_units() -> None:
    band, latency = golden("qperf_units_loopback.txt")
    assert band.points[0].goodput_bytes_per_s == 1852243968
    assert latency.points[0].hrt_ns == 27431


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("941 MB/sec", 941e6),
        ("9.41 Gb/sec", 9.41e9 / 8),
        ("12.3 GB/sec", 12.3e9),
        ("900 Kb/sec", 900e3 / 8),
        ("-5 MB/sec", None),
        ("nan MB/sec", None),
        ("1e300 GB/sec", None),
        ("12.3 parsecs", None),
    ],
)
def test_units_of_bandwidth(text: str, expected: float | None) -> None:
    series = one(f"rc_bw:\n    bw  =  {text}\n")
    assert series.protocol == "rdma"
    if expected is None:
        assert not series.points
        assert not series.complete
    else:
        assert series.points[0].goodput_bytes_per_s == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "metric", "traffic", "directions"),
    [
        ("rc_rdma_read_lat", "latency", "get", 1),
        ("rc_rdma_write_lat", "half_round_trip", "pingpong", 1),
        ("rc_rdma_write_bw", "bandwidth", "put", 1),
        ("rc_bi_bw", "bidirectional_bandwidth", "exchange", 2),
        ("ud_lat", "half_round_trip", "pingpong", 1),
    ],
)
def test_what_each_test_means(name: str, metric: str, traffic: str, directions: int) -> None:
    value = (
        "latency  =  1.9 us" if metric in ("latency", "half_round_trip") else "bw  =  6.2 GB/sec"
    )
    series = one(f"{name}:\n    {value}\n")
    assert (series.metric, series.traffic, series.directions) == (metric, traffic, directions)
    assert (series.points[0].hrt_ns is not None) == (metric == "half_round_trip")


def test_datagrams_are_counted_where_they_arrive() -> None:
    series = one("udp_bw:\n    send_bw  =  9.8 Gb/sec\n    recv_bw  =  4.9 Gb/sec\n")
    assert series.points[0].goodput_bytes_per_s == pytest.approx(4.9e9 / 8)
    assert series.points[0].values["send_bytes_per_s"] == pytest.approx(9.8e9 / 8)


@pytest.mark.parametrize(
    ("asked", "size"), [("-m 1M", 1 << 20), ("-m 64k", 64000), ("--msg_size 256KiB", None)]
)
def test_the_size_of_a_command_above(asked: str, size: int | None) -> None:
    series = one(f"$ qperf 192.0.2.7 {asked} -ca 6 tcp_bw\ntcp_bw:\n    bw  =  3.91 GB/sec\n")
    assert series.points[0].message_bytes == (size if size is not None else 64 << 10)


def test_a_web_page_that_leaves_one_blank() -> None:
    series = one("<p>\n tcp_bw:\n bw = 3.91 GB/sec\n msg_size = 1 MiB (1,048,576)\n</p>\n")
    assert series.points[0].message_bytes == 1 << 20
    assert series.complete


def test_no_device() -> None:
    (series,) = golden("qperf_rc_bw_no_rdma.txt")
    assert not series.points
    assert "failed to find any InfiniBand devices" in series.incomplete


def test_words_between_indentation_and_dos_line_ends() -> None:
    text = "Préparation…\r\n  tcp_bw:\r\n      bw        =  941 MB/sec\r\nslurmstepd: warning\r\n"
    text += "      msg_size  =    1 MiB (1,048,576)\r\n"
    series = one(text + "Fin.\r\n")
    assert series.points[0].message_bytes == 1 << 20
    assert series.complete


WHOLE = (
    "tcp_bw:\n    bw        =  3.84 GB/sec\n    msg_size  =   100 KB\n    time      =     1 sec\n"
)
