"""The edges of the judgement: where a little more or less evidence changes what may be said."""

import itertools
from dataclasses import replace

import pytest
from tests.changed_runs import (
    SMALL,
    codes,
    each_counter,
    each_estimate,
    each_host,
    each_nic,
    each_pair,
    each_reading,
    later,
    set_,
    slower,
    unread,
)
from tests.synthetic import World, lab, run_of

from wireproof.model.claim import Criteria
from wireproof.model.finding import Route
from wireproof.model.record import Estimate, Idle, PairResult, PointRecord, Sentinel, WitnessReading
from wireproof.model.run import Run
from wireproof.verdict.context import context
from wireproof.verdict.run import judge
from wireproof.verdict.run.directions import Stream, blame, direction_issues
from wireproof.verdict.run.shape import CurveSample, Variant, cache_issues

STREAM = replace(SMALL, sizes=(1 << 20,), patterns=("stream",))
KIND = ("stream", "stream", 1 << 20, "robust")


def _bytes_of_hsn0(name: str) -> bool:
    return "hsn0" in name and name.endswith("_bytes")


def steady(run: Run, rate: int) -> Run:
    """The idle window shows ``rate`` bytes/s each way on the claimed ports, and the counters hold
    it too.
    """
    counters = {"net/hsn0/tx_bytes": rate, "net/hsn0/rx_bytes": rate}
    idle = [Idle(rank=r, interval_ns=1e9, counters=counters) for r in range(2)]

    def moved(reading: WitnessReading, point: PointRecord) -> WitnessReading:
        more = int(rate * point.elapsed_ns * 1e-9)
        new = {n: (a, b + more * _bytes_of_hsn0(n)) for n, (a, b) in reading.counters.items()}
        return set_(reading, counters=new)

    return set_(each_reading(run, moved), idle=idle)


def test_quiet_background_is_subtracted_and_loud_background_proves_nothing() -> None:
    assert judge(steady(run_of(STREAM), 1_000_000)).verdict == "pass"
    found = judge(steady(run_of(STREAM), 100_000_000))
    assert (found.verdict, found.proof) == ("inconclusive", "unproven")
    assert codes(found, "inconclusive") == {"background-traffic", "other-traffic"}


def test_background_alone_is_not_taken_for_the_payload() -> None:
    """Shared memory, while other traffic as large as the payload crosses the claimed port."""
    world = lab(path="shm", sizes=(1 << 20,), patterns=("stream",))
    found = judge(steady(run_of(world), 10**10))
    assert found.verdict == "fail"  # above the ceiling
    assert found.proof != "on-wire"


def test_a_wrapped_counter_that_misses_bytes_may_have_wrapped_twice() -> None:
    def wrapped(name: str, pair: tuple[int, int]) -> tuple[int, int]:
        before = 2**32 - 1000
        return (
            (before, (pair[1] - pair[0]) // 2)
            if name == "net/hsn0/tx_bytes" and pair[1] - pair[0] > 10**6
            else pair
        )

    found = judge(each_counter(run_of(STREAM), wrapped))
    assert (found.verdict, found.proof) == ("inconclusive", "unproven")
    assert "counter-wrapped" in codes(found, "inconclusive")


def test_our_own_frames_do_not_prove_a_short_point_on_a_route_that_is_off_wire() -> None:
    world = lab(path="shm", sizes=(8, 1 << 20), patterns=("pingpong",), management=1_000)

    def chatter(name: str, pair: tuple[int, int]) -> tuple[int, int]:
        return (pair[0], pair[0] + 40_000) if _bytes_of_hsn0(name) else pair

    run = each_counter(run_of(world), chatter)
    short = run.points[0].pairs[0]
    moved = {f"messages_{way}": 700 for way in ("forward", "backward")}
    moved |= {f"payload_{way}_bytes": 5600 for way in ("forward", "backward")}
    few = set_(short, **moved, operations_per_batch=2)
    points = [set_(run.points[0], pairs=[few]), *run.points[1:]]
    alone = judge(set_(run, points=points[:1], close=None))
    assert alone.pairs[0].proof == "on-wire"  # 19.6 kB needed, 40 kB seen: by itself it looks right
    both = judge(set_(run, points=points))
    assert [pair.proof for pair in both.pairs] == ["unproven", "off-wire"]


def tiny_stream(seen: int) -> Run:
    run = each_pair(
        run_of(replace(SMALL, sizes=(1,), patterns=("stream",), management=1_000)),
        messages_forward=9_000,
        payload_forward_bytes=9_000,
        operations_per_batch=50,
    )
    return each_counter(
        run, lambda name, pair: (pair[0], pair[0] + seen) if _bytes_of_hsn0(name) else pair
    )


def test_the_headers_of_many_tiny_messages_prove_their_path() -> None:
    assert {pair.proof for pair in judge(tiny_stream(1_100_000)).pairs} == {"on-wire"}
    assert {pair.proof for pair in judge(tiny_stream(100_000)).pairs} == {"unproven"}


def test_ranks_of_one_namespace_are_together_even_when_nothing_identifies_the_machine() -> None:
    run = each_host(run_of(lab(path="shm", one_namespace=True)), boot_id="", machine_id="")
    found = judge(run)
    assert found.proof == "off-wire"
    assert "shared-memory-suspected" in codes(found, "fail")


def test_containers_on_one_real_machine_never_pass_unless_they_are_said_to_be_virtual() -> None:
    run = run_of(SMALL)
    hosts = [set_(host, boot_id="one", netns=host.rank + 1) for host in run.hosts]
    found = judge(set_(run, hosts=hosts))
    assert found.verdict != "pass"
    assert "one-kernel" in codes(found, "inconclusive")
    virtual = judge(set_(run, hosts=hosts, claim=set_(run.claim, virtual=True)))
    assert virtual.proof == "on-wire"
    assert "one-kernel" not in codes(virtual, "inconclusive")


def test_a_rank_on_another_claimed_host_is_told_with_both_names() -> None:
    run = run_of(SMALL)
    one, two = run.hosts[:2]
    swapped = [set_(one, hostname=two.host + ".cluster"), set_(two, hostname=one.host)]
    found = judge(set_(run, hosts=[*swapped, *run.hosts[2:]]))
    assert "wrong-host" in codes(found, "inconclusive")
    alias = judge(set_(run, hosts=[set_(one, hostname="an-alias"), *run.hosts[1:]]))
    assert "wrong-host" not in codes(alias, "inconclusive")
    nameless = judge(set_(run, hosts=[set_(host, hostname="") for host in run.hosts]))
    assert "wrong-host" not in codes(nameless, "inconclusive")


def test_the_smallest_mtu_of_the_path_sets_the_ceiling() -> None:
    run = run_of(replace(STREAM, mtu=9000))
    link = run.claim.link
    assert link is not None
    open_mtu = set_(run, claim=set_(run.claim, link=set_(link, mtu=None)))
    assert judge(open_mtu).verdict == "pass"
    nics = [nic if nic.name != "hsn0" else set_(nic, mtu=1500) for nic in run.hosts[0].nics]
    mixed = set_(open_mtu, hosts=[set_(run.hosts[0], nics=nics), run.hosts[1]])
    assert "above-ceiling" in codes(judge(mixed))


def test_a_doubt_needs_the_bytes_on_the_wire() -> None:
    run = run_of(replace(SMALL, sizes=(8,), patterns=("pingpong",), latency_ns=6_500.0))
    assert "below-floor" in codes(judge(run), "inconclusive")
    assert "below-floor" in codes(judge(unread(run)), "fail")


def interval(run: Run, median: float, low: float, high: float) -> Run:
    """Every pair's time per operation becomes ``median`` (ns), its interval ``low`` to ``high``."""
    points = []
    for point in run.points:
        pair = point.pairs[0]
        factor = median / pair.estimate.median_ns
        estimate = set_(
            pair.estimate,
            median_ns=median,
            low_ns=low,
            high_ns=high,
            half_width=(high - low) / 2 / median,
        )
        batches = [time * factor for time in pair.batch_ns]
        elapsed = point.elapsed_ns * max(1.0, factor)
        points.append(
            set_(point, elapsed_ns=elapsed, pairs=[set_(pair, estimate=estimate, batch_ns=batches)])
        )
    return set_(run, points=points)


TRUE = (1 << 20) / 117.685e6 * 1e9  # ns of 1 MiB at the attainable goodput of 1 GbE


@pytest.mark.parametrize(
    ("median", "low", "high", "code", "severity"),
    [
        (0.50, 0.49, 0.51, "above-ceiling", "fail"),
        (0.95, 0.93, 0.99, "above-ceiling", "inconclusive"),
        (1.14, 1.12, 1.16, "below-expectation", "fail"),
        (1.14, 1.10, 1.18, "below-expectation", "inconclusive"),
        (1.10, 1.08, 1.13, "below-expectation", "inconclusive"),
        (1.02, 1.01, 1.03, "", ""),
    ],
)
def test_the_whole_interval_must_be_on_one_side(
    median: float, low: float, high: float, code: str, severity: str
) -> None:
    run = interval(run_of(STREAM), median * TRUE, low * TRUE, high * TRUE)
    quick = [set_(point, elapsed_ns=point.elapsed_ns * min(1.0, median)) for point in run.points]
    found = judge(set_(run, points=quick))
    wrong = {(f.code, f.severity) for f in found.findings}
    assert wrong == ({(code, severity)} if code else set())


@pytest.mark.parametrize(
    ("factor", "waited", "verdict"),
    [
        (1.3, 0.06, "inconclusive"),
        (1.3, 0.3, "inconclusive"),
        (3.0, 0.3, "inconclusive"),
        (3.0, 0.06, "fail"),
        (8.0, 0.3, "fail"),
        (8.0, 0.7, "inconclusive"),
        (100.0, 0.7, "fail"),
    ],
)
def test_a_disturbed_host_excuses_what_its_wait_can_explain(
    factor: float, waited: float, verdict: str
) -> None:
    """10 Gb/s claimed on 100 Mb/s was open, because a process had waited for a third of the
    time.
    """
    found = judge(waiting(slower(run_of(STREAM), factor), waited))
    assert found.verdict == verdict
    assert "below-expectation" in codes(found, "fail" if verdict == "fail" else "inconclusive")


def test_preempted_ranks_excuse_a_little() -> None:
    busy = [Sentinel(clock_read_ns=8, involuntary_switches=40, steal_ns=0)] * 20
    assert judge(each_pair(slower(run_of(STREAM), 1.3), sentinels=busy)).verdict == "inconclusive"
    assert judge(each_pair(slower(run_of(STREAM), 8.0), sentinels=busy)).verdict == "fail"


SIZES = tuple(1 << power for power in (18, 20, 22, 23))


def test_one_rate_at_every_size_is_no_wait_for_a_processor() -> None:
    """Processes that lose the processor at random do not keep to one rate."""
    several = waiting(slower(run_of(replace(STREAM, sizes=SIZES)), 5.0), 0.5)
    assert judge(several).verdict == "fail"
    one = waiting(slower(run_of(STREAM), 5.0), 0.5)
    assert judge(one).verdict == "inconclusive"


def test_one_size_below_two_that_fill_the_link_is_open() -> None:
    run = run_of(replace(STREAM, sizes=SIZES))
    found = judge(slower(run, 1.25, lambda point: point.message_bytes == SIZES[1]))
    assert "below-expectation" in codes(found, "inconclusive")
    assert "below-expectation" not in codes(found, "fail")


def waiting(run: Run, share: float) -> Run:
    """The targets' processes waited for a processor for ``share`` of the time."""
    waited = {"origin_waited_ns": 0.0, "target_waited_ns": lambda one: share * sum(one.batch_ns)}
    return each_pair(run, **waited)


def test_the_disturbance_is_named() -> None:
    found = judge(waiting(slower(run_of(STREAM), 1.5), 0.2))
    text = next(f.message for f in found.findings if f.code == "below-expectation")
    assert "waited for a processor for 20% of the time" in text


def test_an_undisturbed_shortfall_fails() -> None:
    assert judge(waiting(slower(run_of(STREAM), 1.5), 0.001)).verdict == "fail"


@pytest.mark.parametrize("factor", [0.4, 2.0])
@pytest.mark.parametrize(
    "badly", [{"half_width": 1.0}, {"effective_blocks": 4.0, "half_width": 0.05}, {"blocks": 3}]
)
def test_a_number_from_too_few_samples_neither_fails_nor_passes(
    factor: float, badly: dict[str, float]
) -> None:
    for share in (factor, 1.0):
        found = judge(each_estimate(slower(run_of(STREAM), share), **badly))
        assert {pair.verdict for pair in found.pairs} == {"inconclusive"}
        assert "fail" not in {finding.severity for finding in found.findings}


def test_times_that_the_ports_contradict_are_doubted_and_not_the_link() -> None:
    run = run_of(STREAM)
    # over the whole point the ports saw the link's rate
    fast = interval(run, 0.5 * TRUE, 0.49 * TRUE, 0.51 * TRUE)
    found = judge(fast)
    assert found.verdict == "inconclusive"
    assert "above-ceiling" in codes(found, "inconclusive")
    text = next(f.message for f in found.findings if f.code == "above-ceiling")
    assert "over the whole point" in text


def stream(origin: str, target: str, value: float, width: float = 0.01) -> Stream:
    return Stream(origin, target, KIND, value, value * (1 - width), value * (1 + width))


def test_directions_whose_intervals_overlap_are_not_told_apart() -> None:
    run = run_of(replace(STREAM, speed=lambda a, b: 0.8 if a == 0 else 1.0))
    assert "direction-slow" in codes(judge(run), "fail")

    def wide(pair: PairResult) -> Estimate:
        low_ns, high_ns = pair.estimate.median_ns * 0.7, pair.estimate.median_ns * 1.3
        return set_(pair.estimate, low_ns=low_ns, high_ns=high_ns, half_width=0.3)

    assert "direction-slow" not in codes(judge(each_pair(run, estimate=wide)))


def test_a_direction_whose_host_was_disturbed_does_not_fail() -> None:
    run = run_of(replace(STREAM, speed=lambda a, b: 0.5 if a == 0 else 1.0))
    assert "direction-slow" in codes(judge(run), "fail")
    alike = judge(waiting(run, 0.3))
    assert "direction-slow" in codes(alike, "fail"), "the other direction waited as much"
    alone = waiting(run, 0.3)
    points = [
        point if point.pairs[0].origin == 0 else set_(point, pairs=run_point.pairs)
        for point, run_point in zip(alone.points, run.points, strict=True)
    ]
    found = judge(set_(alone, points=points))
    assert "direction-slow" in codes(found, "inconclusive")
    assert found.verdict == "inconclusive"


@pytest.mark.parametrize(
    ("slow", "others", "severity"), [(0.3, 0.3, "fail"), (0.3, 0.0, "inconclusive")]
)
def test_a_node_is_blamed_when_everybody_was_disturbed_alike(
    slow: float, others: float, severity: str
) -> None:
    names = "abcd"
    told = "its processes waited"
    rates = {name: (30, 29, 31) if name == "a" else (100, 98, 102) for name in names}
    waited = {name: slow if name == "a" else others for name in names}
    streams = [
        Stream(x, y, KIND, *rates[x], True, told, waited[x])
        for x, y in itertools.permutations(names, 2)
    ]
    issues, _ = direction_issues(context(run_of(STREAM), Criteria(), None, None), streams)
    assert {(i.code, i.severity, str(i.subject)) for i in issues} == {
        ("node-direction-slow", severity, "a tx")
    }


def test_a_node_is_not_blamed_by_streams_from_too_few_samples() -> None:
    streams = [
        Stream(x, y, KIND, 30 if x == "a" else 100, 29, 102, x != "a")
        for x, y in itertools.permutations("abcd", 2)
    ]
    issues, _ = direction_issues(context(run_of(STREAM), Criteria(), None, None), streams)
    assert {(i.code, i.severity) for i in issues} == {("node-direction-slow", "inconclusive")}


def test_one_unproven_small_point_makes_no_cache_of_a_falling_curve() -> None:
    falling = CurveSample(50e6, 49e6, 51e6, "on-wire")
    curve = {
        8: CurveSample(1e6, 1e6, 1e6, "unproven"),
        65536: CurveSample(100e6, 99e6, 101e6, "on-wire"),
        1 << 20: falling,
        4 << 20: falling,
    }
    key = Variant(Route("a", "b"), (0, 1), "stream", "stream", 64)
    assert [issue.severity for issue in cache_issues({key: curve})] == ["warning"]
    away = {size: replace(one, proof="off-wire") for size, one in curve.items()}
    assert [issue.severity for issue in cache_issues({key: away})] == ["fail"]
    busy = {size: replace(one, disturbed="busy") for size, one in away.items()}
    assert [issue.severity for issue in cache_issues({key: busy})] == ["inconclusive"]


def test_one_stream_blames_no_node() -> None:
    ring = [stream(*ends, 30 if ends == "ab" else 100) for ends in ("ab", "bc", "cd", "da")]
    assert blame(ring, 0.85) == []


def test_one_good_stream_acquits_a_node() -> None:
    pairs = list(itertools.permutations("abcd", 2))
    mixed = [stream(x, y, 30 if x == "a" and y != "d" else 100) for x, y in pairs]
    assert blame(mixed, 0.85) == []
    found = blame([stream(x, y, 30 if x == "a" else 100) for x, y in pairs], 0.85)
    assert [(one.node, one.verb, round(one.value), round(one.reference)) for one in found] == [
        ("a", "sends", 30, 100)
    ]


def test_two_nodes_cannot_blame_one() -> None:
    assert blame([stream("a", "b", 30), stream("b", "a", 100)], 0.85) == []


def test_a_shaper_is_not_a_protocol_switch() -> None:
    run = run_of(lab(sizes=tuple(1 << k for k in range(3, 21)), patterns=("pingpong",)))
    assert "protocol-switch" not in codes(judge(later(run, 120_000.0, above=8192)))


def test_a_lab_nic_claims_any_speed() -> None:
    assert judge(each_nic(run_of(lab()), speed_mbps=10_000)).findings == []
    assert "nic-speed-disagrees" in codes(judge(each_nic(run_of(World()), speed_mbps=10_000)))
