"""The sockperf adapter: real outputs, its versions and modes, and logs that are cut."""

import pytest
from tests.logs.tables import LOGS, one
from tests.logs.tables import one_golden as golden
from tests.records import holds

from wireproof.logs.readers import read

MIB = 1 << 20


def test_ping_pong() -> None:
    series = golden("sockperf_pingpong_loopback.txt")
    holds(series, tool="sockperf", version="3.7-no.git", metric="half_round_trip")
    holds(series, protocol="udp", traffic="pingpong", waits=True, complete=True)
    (point,) = series.points
    assert point.hrt_ns == pytest.approx(36930)
    assert point.time_step_ns == pytest.approx(1)
    assert point.time_min_ns == pytest.approx(12568)
    assert point.time_max_ns == pytest.approx(651899)
    assert point.percentiles["p50"] == pytest.approx(36859)
    assert point.percentiles["p99.99"] == pytest.approx(78366)
    assert (point.iterations, point.message_bytes) == (7444, 14)
    assert any("14 bytes" in note for note in series.notes)


def test_whole_round_trips_are_halved() -> None:
    series = golden("sockperf_underload_rtt_loopback.txt")
    assert series.points[0].hrt_ns == pytest.approx(98444 / 2)
    assert series.points[0].percentiles["p50"] == pytest.approx(73158 / 2)
    assert not series.waits, "messages were lost: nothing waited for them"
    assert any("half" in note for note in series.notes)


def test_throughput_counts_in_powers_of_1024() -> None:
    series = golden("sockperf_throughput_loopback.txt")
    (point,) = series.points
    assert point.goodput_bytes_per_s == pytest.approx(305.418 * MIB)
    assert (point.message_bytes, point.messages_per_s) == (1400, 228753)
    assert any("the sender's count" in note for note in series.notes)


RUN = (
    "sockperf: == version #3.10-0.git == \n"
    "sockperf: [Total Run] RunTime=10.000 sec; Warm up time=400 msec; SentMessages=900000; "
    "ReceivedMessages=899999\n"
    "sockperf: ====> avg-latency=5.321 (std-dev=1.250, mean-ad=0.400, median-ad=0.300, "
    "siqr=0.200, cv=0.235, "
    "std-error=0.001, 99.0% ci=[5.318, 5.324])\n"
    "sockperf: Summary: Latency is 5.321 usec\n"
    "sockperf: Total 850000 observations; each percentile contains 8500.00 observations\n"
    "sockperf: ---> <MAX> observation =  120.100\n"
    "sockperf: ---> percentile 99.000 =    7.700\n"
    "sockperf: ---> <MIN> observation =    4.100\n"
)


def test_new_versions_print_more() -> None:
    series = one("$ sockperf pp -i 192.0.2.4 --tcp -m 64 -t 10\n" + RUN)
    (point,) = series.points
    assert (series.benchmark, point.message_bytes, series.version) == (
        "ping-pong",
        64,
        "3.10-0.git",
    )
    assert point.values["std_dev_ns"] == pytest.approx(1250)
    assert point.values["std_error_ns"] == pytest.approx(1)


def test_the_kind_of_a_command_above() -> None:
    assert (
        one("# sockperf under-load -i 192.0.2.4 --mps 50000 -m 200\n" + RUN).benchmark
        == "under-load"
    )
    assert one("# sockperf playback -i 192.0.2.4 --data-file x\n" + RUN).benchmark == "playback"


@pytest.mark.parametrize(("name", "hrt"), [("lat", 61_250.0), ("rtt", 30_625.0)])
def test_the_file_of_a_full_log_has_no_summary(name: str, hrt: float) -> None:
    series = one(
        "test was performed using the following parameters: --mps=100 --msg-size=32 --time=5\n"
        "sockperf: [Total Run] RunTime=5.100 sec; SentMessages=511; ReceivedMessages=510\n"
        f"sockperf: ====> avg-{name}=61.250 (std-dev=4.100)\n"
        "sockperf: Total 500 observations; each percentile contains 5.00 observations\n"
        "sockperf: ---> <MAX> observation =   90.125\n"
        "sockperf: ---> percentile 50.000 =   60.500\n"
        "sockperf: ---> <MIN> observation =   41.750\n"
        "------------------------------\ntxTime, rxTime\n1.000079493, 1.000140747\n"
    )
    assert (series.complete, series.points[0].hrt_ns) == (True, pytest.approx(hrt))


def test_a_full_log_says_the_size() -> None:
    head = (
        "test was performed using the following parameters: --mps=600000 --burst=1 --msg-size=256 "
        "--time=1\n"
    )
    assert one(head + "-" * 30 + "\n" + RUN.partition("\n")[2]).points[0].message_bytes == 256


def test_only_the_end_was_pasted_and_two_runs() -> None:
    tail = RUN.partition("\n")[2].replace("<MAX>", "MAX").replace("<MIN>", "MIN")
    assert one(tail).points[0].hrt_ns == pytest.approx(5321)
    both = read(
        (RUN + "vmware tools restarted\n" + RUN.replace("5.321 usec", "6.000 usec")).encode(), "x"
    )
    assert [series.points[0].hrt_ns for series in both] == pytest.approx([5321, 6000])


@pytest.mark.parametrize("first", ["=========", r"[Valid Duration]"])
def test_the_size_of_a_command_above_the_statistics(first: str) -> None:
    """From notes on firecracker in a public repository, whose driver kept only the end."""
    golden_text = (LOGS / "sockperf_pingpong_loopback.txt").read_text()
    end = golden_text[golden_text.index(f"sockperf: {first}") :]
    assert one(f"sockperf ping-pong -i 10.0.0.1 -m 64\n{end}").points[0].message_bytes == 64


def test_only_summaries_were_pasted() -> None:
    text = (
        "# sockperf: Summary: Latency is 12.345 usec\n# sockperf: Summary: Round trip is 30.000 "
        "usec\n"
    )
    first, second = read(text.encode(), "x")
    assert first.points[0].hrt_ns == pytest.approx(12345)
    assert second.points[0].hrt_ns == pytest.approx(15000)
    assert not first.complete, "the percentiles are not there"


def test_throughput_without_a_word_on_its_size() -> None:
    text = (
        "sockperf: Total of 1000000 messages sent in 1.000 sec\n"
        "sockperf: Summary: Message Rate is 1000000 [msg/sec]\n"
        "sockperf: Summary: BandWidth is 1.404 GBps (11.230 Gbps)\n"
    )
    series = one(text)
    assert series.points[0].goodput_bytes_per_s == pytest.approx(1404 * MIB)
    assert series.points[0].message_bytes == pytest.approx(1472, rel=1e-3)
    assert any("bandwidth / message rate" in note for note in series.notes)


@pytest.mark.parametrize("bad", ["nan", "-1.000", "0.000", "99999999999.000"])
def test_numbers_that_cannot_be(bad: str) -> None:
    series = one(RUN.replace("5.321", bad))
    assert not series.points
    assert not series.complete


def test_a_run_without_answers() -> None:
    series = one(
        "sockperf: == version #3.7 ==\nsockperf: No messages were received from the server. Is "
        "the server down?\n"
    )
    assert not series.points
    assert "No messages" in series.incomplete
