"""The series of one log, judged by what the others of it show: rings, ping-pongs that convict or
acquit.
"""

import msgspec
import pytest
from tests.logs.tables import codes, pingpong, stream, wire_times

from wireproof.logs.readers import read
from wireproof.logs.verdict import judge_log, judge_series
from wireproof.model.series import Series, SeriesVerdict
from wireproof.physics import claim_from_text

LINK = claim_from_text("opa100")


def hpcc(
    processes: int = 4,
    latency: tuple[float, float, float] = (1.2, 1.3, 1.4),
    bandwidth: float = 11.8,
    rings: tuple[float, float, float, float] = (1.9, 10.5, 2.4, 10.1),
) -> dict[str, SeriesVerdict]:
    """us and GB/s: ping-pong (min, avg, max), its bandwidth, and natural and random rings."""
    natural, natural_gb, random, random_gb = rings
    text = (
        "Begin of MPIRandomAccess section.\nBegin of LatencyBandwidth section.\n"
        "End of LatencyBandwidth section.\nBegin of Summary section.\n"
        f"VersionMajor=1\nVersionMinor=5\nLANG=C\nCommWorldProcs={processes}\n"
        f"MaxPingPongLatency_usec={latency[2]}\nRandomlyOrderedRingLatency_usec={random}\n"
        f"MinPingPongBandwidth_GBytes={bandwidth}\nNaturallyOrderedRingBandwidth_GBytes={natural_gb}\n"
        f"RandomlyOrderedRingBandwidth_GBytes={random_gb}\nMinPingPongLatency_usec={latency[0]}\n"
        f"AvgPingPongLatency_usec={latency[1]}\nMaxPingPongBandwidth_GBytes={bandwidth}\n"
        f"AvgPingPongBandwidth_GBytes={bandwidth}\nNaturallyOrderedRingLatency_usec={natural}\n"
        "Success=1\nEnd of Summary section.\n"
    )
    series = read(text.encode(), "hpccoutf.txt")
    judged = judge_log(series, LINK)
    return {one.benchmark: found for one, found in zip(series, judged, strict=True)}


def test_processes_on_hosts_of_their_own_make_rings_that_are_judged() -> None:
    found = hpcc()
    assert {name: one.verdict for name, one in found.items()} == dict.fromkeys(found, "pass")
    assert len(found) == 6
    assert found["RandomlyOrderedRingLatency"].start_ns == pytest.approx(2400)
    assert found["RandomlyOrderedRingBandwidth"].best_bytes_per_s == pytest.approx(10.1e9)


def test_slow_rings_do_not_pass() -> None:
    found = hpcc(rings=(30.0, 0.9, 12.0, 5.0))
    assert codes(found["NaturallyOrderedRingLatency"], "fail") == {"slow-start"}
    assert codes(found["NaturallyOrderedRingBandwidth"], "fail") == {"below-expectation"}
    assert codes(found["RandomlyOrderedRingLatency"], "inconclusive") == {"slow-start"}
    assert codes(found["RandomlyOrderedRingBandwidth"], "inconclusive") == {"below-expectation"}


def test_a_ring_above_the_link_is_none_of_it() -> None:
    found = hpcc(rings=(1.9, 12.8, 2.4, 10.0))["NaturallyOrderedRingBandwidth"]
    assert (found.proof, found.verdict) == ("off-wire", "fail")


def test_neighbours_in_one_host_leave_the_floor_alone() -> None:
    found = hpcc(latency=(0.4, 1.1, 1.4))
    assert codes(found["RandomlyOrderedRingLatency"], "inconclusive") == {"only-a-floor"}


def test_the_bandwidth_of_a_pingpong_waits_for_its_answers() -> None:
    found = hpcc(processes=2, bandwidth=12.56)
    assert found["PingPongBandwidth"].proof == "off-wire"


def test_pingpongs_above_the_link_let_nothing_of_their_run_pass() -> None:
    quick = (0.7, 0.71, 0.75)
    two = hpcc(processes=2, latency=quick, bandwidth=12.56)
    assert codes(two["PingPongLatency"], "inconclusive") == {"mixed-paths"}
    four = hpcc(latency=(0.76, 0.77, 0.78), bandwidth=12.56)
    assert {name for name, one in four.items() if one.verdict == "pass"} == set()


def test_a_pingpong_too_quick_for_the_link_lets_nothing_beside_it_pass() -> None:
    series = [pingpong(wire_times(0.62, 11_900)), stream({1 << n: 12_000.0 for n in range(16, 23)})]
    assert judge_series(series[1], LINK).verdict == "pass"
    latency, bandwidth = judge_log(series, LINK)
    assert (latency.verdict, bandwidth.verdict) == ("inconclusive", "inconclusive")
    assert "line" in bandwidth.reasons[0].message
    proved = judge_log(series, LINK, counted=True)
    assert [one.verdict for one in proved] == ["pass", "pass"], "counters have shown the bytes"


def test_a_ring_acquits_a_slow_pingpong_beside_it() -> None:
    link = claim_from_text("fdr")
    slow = pingpong(wire_times(1.3, 1400))
    ring = stream({1 << 21: 6300.0}, traffic="ring", benchmark="ring", window=None)
    assert judge_log([slow], link)[0].verdict == "fail"
    assert judge_log([slow, ring], link)[0].verdict == "inconclusive"


def _both_ways(rate_mb: float) -> Series:
    return stream(
        {1 << n: min(rate_mb, (1 << n) / 200) for n in range(23)},
        tool="imb",
        benchmark="Sendrecv",
        traffic="exchange",
        directions=2,
        processes=2,
    )


@pytest.mark.parametrize(
    ("rate_mb", "beside", "verdict"),
    [
        (125.0, 113.5, "inconclusive"),  # more than one direction carries: not half duplex
        (110.0, 113.5, "fail"),  # as a half-duplex link
        (125.0, 60.0, "fail"),  # and nothing shows that one direction is whole
    ],
)
def test_one_direction_that_fills_the_link_acquits_both_at_once(
    rate_mb: float, beside: float, verdict: str
) -> None:
    one_way = pingpong(wire_times(60.0, beside), tool="imb", benchmark="PingPong", processes=2)
    found = judge_log([one_way, _both_ways(rate_mb)], claim_from_text("1gbe"))
    assert found[1].verdict == verdict
    assert "below-expectation" in codes(found[1], verdict)


@pytest.mark.parametrize("traffic", ["put", "get"])
def test_a_put_or_get_that_fills_the_link_acquits_both_at_once(traffic: str) -> None:
    rates = {1 << n: min(113.5, (1 << n) / 200) for n in range(23)}
    one_way = stream(rates, tool="imb", benchmark="Unidir_Put", traffic=traffic, processes=2)
    found = judge_log([one_way, _both_ways(160.0)], claim_from_text("1gbe"))
    assert [one.verdict for one in found] == ["pass", "inconclusive"]


def _lone(largest: tuple[float, ...], **changes: object) -> list[Series]:
    rates = {1 << n: min(largest[0], (1 << n) * 3.0) for n in range(23)}
    tail = dict(zip((1 << 19, 1 << 20, 1 << 21, 1 << 22), largest, strict=True))
    return [stream(rates | tail, processes=2, **changes)]


# 92 to 96 % of attainable and uneven, as copies in memory are; and a full line.
MEMORY, FULL = (11_700.0, 11_900.0, 11_620.0, 11_410.0), (12_150.0, 12_172.0, 12_160.0, 12_165.0)


@pytest.mark.parametrize("link", ["edr", "opa100"])
@pytest.mark.parametrize("traffic", ["stream", "exchange", "put"])
def test_a_lone_rate_that_memory_reaches_too_does_not_pass(link: str, traffic: str) -> None:
    (found,) = judge_log(_lone(MEMORY, traffic=traffic), claim_from_text(link))
    assert (found.proof, codes(found, "inconclusive")) == ("unproven", {"rate-like-memory"})
    (full,) = judge_log(_lone(FULL, traffic=traffic), claim_from_text(link))
    assert full.verdict == "pass"
    (proved,) = judge_log(_lone(MEMORY, traffic=traffic), claim_from_text(link), counted=True)
    assert proved.verdict == "pass"


def test_a_wires_start_a_full_line_or_two_hosts_beside_it_show_the_wire() -> None:
    link = claim_from_text("edr")
    start = pingpong(wire_times(1.1, 11_000), processes=2)
    assert [one.verdict for one in judge_log([start, *_lone(MEMORY)], link)] == ["pass", "pass"]
    line = _lone(FULL)[0]
    assert judge_log([line, *_lone(MEMORY, traffic="exchange")], link)[1].verdict == "pass"
    assert judge_log(_lone(MEMORY, hosts=["n1", "n2"]), link)[0].verdict == "pass"
    others = msgspec.structs.replace(start, processes=4)
    assert judge_log([others, *_lone(MEMORY)], link)[1].verdict == "inconclusive"
    waited = msgspec.structs.replace(start, notes=["14 more processes waited meanwhile"])
    assert judge_log([waited, *_lone(MEMORY)], link)[1].verdict == "inconclusive"


def test_rates_that_no_memory_has_or_that_a_socket_carried_pass_alone() -> None:
    slow = {1 << n: min(2_800.0 + n, (1 << n) * 3.0) for n in range(23)}
    assert judge_log([stream(slow)], claim_from_text("roce25"))[0].verdict == "pass"
    verbs = _lone(MEMORY, tool="perftest", protocol="rdma")
    assert judge_log(verbs, claim_from_text("edr"))[0].verdict == "pass"
    short = {1 << n: min(11_900.0, (1 << n) * 3.0) for n in range(17)}
    (found,) = judge_log([stream(short)], claim_from_text("edr"))
    assert "fewer than 3 sizes" in next(
        one.message for one in found.reasons if one.code == "rate-like-memory"
    )


@pytest.mark.parametrize(("tool", "verdict"), [("qperf", "inconclusive"), ("table", "pass")])
def test_a_latency_beside_a_rate_above_the_line(tool: str, verdict: str) -> None:
    """As qperf between two guests of a machine: tcp_bw shows memory, tcp_lat alone does not."""
    made = {"tool": tool, "protocol": "tcp", "hosts": ["10.0.0.2"]}
    rate = stream({65536: 5_780.0}, benchmark="tcp_bw", **made)
    late = pingpong({1: 26.1}, benchmark="tcp_lat", **made)
    found = judge_log([rate, late], claim_from_text("25gbe"))
    assert [one.proof for one in found] == ["off-wire", "unproven"]
    assert found[1].verdict == verdict


def test_a_table_of_neighbours_in_a_larger_job_says_so() -> None:
    """Two of eight pairs as quick as seven links are in one host, not on seven links."""
    rates = {1 << n: min(18_700.0, (1 << n) * 3.0) for n in range(23)}
    idle = stream(
        rates, tool="imb", processes=4, pairs=2, notes=["12 more processes waited meanwhile"]
    )
    (found,) = judge_log([idle], claim_from_text("roce25"))
    assert (found.verdict, found.proof) == ("fail", "off-wire")
    assert "start one process per host" in next(
        one.message for one in found.reasons if "processes" in one.message
    )
    alone = msgspec.structs.replace(idle, notes=[])
    assert judge_log([alone], claim_from_text("roce25"))[0].proof == "mixed"
