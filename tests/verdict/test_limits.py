"""Each code is reached by the evidence that its entry names: limits, quality, curves, the
catalogue.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.changed_runs import (
    SMALL,
    codes,
    each_estimate,
    each_host,
    each_pair,
    each_reading,
    later,
    set_,
    slower,
)
from tests.synthetic import World, lab, run_of

from wireproof.model.claim import Criteria
from wireproof.model.finding import Judgement
from wireproof.model.record import Nic, PairResult, PointRecord, Sentinel, Total
from wireproof.physics import default_table, override
from wireproof.physics.bounds import cache_fall
from wireproof.verdict.catalogue import CATALOGUE, entries_of
from wireproof.verdict.run import judge

# --- limits and quality


def test_too_fast_fails_as_surely_as_too_slow() -> None:
    run = run_of(replace(SMALL, sizes=(1 << 20,), patterns=("stream",)))
    assert codes(judge(slower(run, 1.5)), "fail") == {"below-expectation"}
    assert codes(judge(slower(run, 0.5)), "fail") == {"above-ceiling"}
    assert judge(slower(run, 1.0)).verdict == "pass"


def test_a_time_below_the_floor_fails_even_with_the_bytes_on_the_wire() -> None:
    run = run_of(replace(SMALL, sizes=(8,), patterns=("pingpong",), latency_ns=9_000.0))
    assert judge(run).verdict == "pass"
    found = judge(slower(run, 0.2))
    assert codes(found, "fail") == {"below-floor"}


def test_a_literature_floor_nearly_reached_is_a_doubt_and_may_be_overridden() -> None:
    run = run_of(replace(SMALL, sizes=(8,), patterns=("pingpong",), latency_ns=6_500.0))
    found = judge(run)
    assert codes(found, "inconclusive") == {"below-floor"}
    table = override(default_table(), "[floor]\ntcp = 5500\n")
    assert judge(run, table=table).verdict == "pass"


@pytest.mark.parametrize("size", [64, 4096, 16384, 262144, 1 << 20])
def test_the_bound_of_payload_over_rate_holds_at_every_size(size: int) -> None:
    run = run_of(
        replace(SMALL, sizes=(size,), patterns=("pingpong",), latency_ns=9_000.0, efficiency=1.0)
    )
    assert judge(run).verdict == "pass"
    assert "below-floor" in codes(judge(slower(run, 0.55)), "fail")


def test_a_lab_link_lets_short_messages_pass_unjudged_by_the_ceiling() -> None:
    run = run_of(lab(sizes=(8192,), patterns=("stream",)))
    assert "above-ceiling" not in codes(judge(slower(run, 0.3)))
    real = run_of(World(sizes=(8192,), patterns=("stream",)))
    assert "above-ceiling" in codes(judge(slower(real, 0.3)), "fail")


def test_a_wide_interval_decides_only_wholly_on_one_side() -> None:
    run = run_of(replace(SMALL, sizes=(1 << 20,), patterns=("stream",)))
    median = 1e9 * (1 << 20) / 117.7e6

    def wide(middle: float, low: float, high: float) -> Judgement:
        times = {"median_ns": median * middle, "low_ns": median * low, "high_ns": median * high}
        return judge(each_estimate(run, **times, half_width=0.15, label="unstable"))

    assert codes(wide(2, 1.7, 2.3), "fail") == {"below-expectation"}
    found = wide(1.1, 1.0, 1.3)
    assert found.verdict == "inconclusive"
    assert "unstable" in codes(found, "inconclusive")


def test_two_kinds_of_times_are_a_warning() -> None:
    found = judge(each_estimate(run_of(SMALL), label="multimodal"))
    assert codes(found) == {"multimodal"}
    assert found.verdict == "pass"


def test_sentinels_tell_of_crowding_and_of_far_cores() -> None:
    crowded = [Sentinel(clock_read_ns=8, involuntary_switches=40, steal_ns=0)] * 20
    assert "oversubscribed" in codes(judge(each_pair(run_of(SMALL), sentinels=crowded)), "warning")
    bounce = [130.0 + i for i in range(10)] + [350.0 + i for i in range(10)]
    far = [
        Sentinel(clock_read_ns=8, involuntary_switches=0, steal_ns=0, bounce_ns=b) for b in bounce
    ]
    assert "far-core-state" in codes(judge(each_pair(run_of(SMALL), sentinels=far)), "warning")


@pytest.mark.parametrize(
    ("counter", "rise", "code", "said"),
    [
        ("net/hsn0/rx_dropped", 7, "retransmits", "rx_dropped +7"),
        ("net/hsn0/tx_carrier_errors", 1, "nic-down", "the link went down"),
        ("ib/mlx5_0/1/counters/link_downed", 1, "nic-down", "link_downed +1"),
        ("ethtool/hsn0/link_down_events_phy", 2, "nic-down", "link_down_events_phy +2"),
        ("net/hsn0/carrier_changes", 2, "nic-down", "carrier_changes +2"),
        ("net/veth1/carrier_changes", 2, "", ""),
    ],
)
def test_trouble_counters_are_surfaced(counter: str, rise: int, code: str, said: str) -> None:
    more = {counter: (0, rise)}
    run = each_reading(run_of(SMALL), lambda one, _: set_(one, counters=one.counters | more))
    found = [one for one in judge(run).findings if one.code in ("nic-down", "retransmits")]
    assert {(one.code, one.severity) for one in found} == ({(code, "warning")} if code else set())
    assert all(said in one.message for one in found)


@pytest.mark.parametrize(("within", "between"), [(0, 2), (4, 0)])
def test_a_link_that_goes_down_between_two_points_is_reported(within: int, between: int) -> None:
    name = "net/hsn0/carrier_changes"
    run = run_of(SMALL)
    first = run.points[0]
    witness = [set_(one, counters=one.counters | {name: (4, 4 + within)}) for one in first.witness]
    rank = witness[0].rank
    total = Total(rank=rank, interval_ns=1e9, counters={name: (4, 4 + within + between)})
    points = [set_(first, witness=witness), *run.points[1:]]
    found = judge(set_(run, points=points, totals=[total])).findings
    down = [one.message for one in found if one.code == "nic-down"]
    assert any("between two points" in text and f"+{between}" in text for text in down) == (
        between > within
    )
    assert len(down) == (len(witness) if within else 1)


BROKEN: list[tuple[str, Callable[[PointRecord, PairResult], PairResult]]] = [
    ("bytes", lambda point, pair: set_(pair, payload_forward_bytes=pair.payload_forward_bytes + 1)),
    (
        "messages",
        lambda point, pair: set_(pair, operations_per_batch=pair.operations_per_batch * 100),
    ),
    ("elapsed", lambda point, pair: set_(pair, batch_ns=[t * 3 for t in pair.batch_ns])),
    ("estimate", lambda point, pair: set_(pair, batch_ns=[t / 3 for t in pair.batch_ns])),
]


@pytest.mark.parametrize(("name", "break_"), BROKEN, ids=[row[0] for row in BROKEN])
def test_a_record_that_contradicts_itself_fails(
    name: str, break_: Callable[[PointRecord, PairResult], PairResult]
) -> None:
    run = run_of(replace(SMALL, sizes=(65536,)))
    points = [
        set_(point, pairs=[break_(point, pair) for pair in point.pairs]) for point in run.points
    ]
    assert "row-arithmetic" in codes(judge(set_(run, points=points)), "fail")


def _hiccups(pair: PairResult) -> PairResult:
    """The same time in all, in blocks of three quick batches and a long one."""
    each = pair.estimate.median_ns * pair.operations_per_batch
    blocks = len(pair.batch_ns) // 4
    return set_(
        pair,
        batch_ns=[each * 0.8, each * 0.8, each * 0.8, each * 1.6] * blocks,
        block_batches=[4] * blocks,
    )


def test_the_mean_of_pipelined_batches_is_no_contradiction() -> None:
    """After a hiccup several acknowledgements arrive together: there a block is its mean."""
    run = run_of(replace(SMALL, sizes=(65536,)))
    points = [
        set_(point, pairs=[_hiccups(pair) for pair in point.pairs])
        for point in run.points
        if point.pattern == "stream"
    ]
    assert points
    assert "row-arithmetic" not in codes(judge(set_(run, points=points)))


# --- curves: the measured tables of the documents

# size in KiB: MB/s, as printed in the documents' tables
GBE = {16: 70.87, 64: 104.7, 128: 108.71, 256: 106.67, 1024: 113.58, 4096: 115.62}
GBE_40 = {16: 4716.5, 64: 4502.7, 256: 4986.1, 1024: 4176.5, 2048: 3920.9, 4096: 3950.5}
OPA = {16: 7123.9, 64: 9863.7, 256: 9645.5, 1024: 9357.4, 2048: 6631.7, 4096: 5567.7}


@pytest.mark.parametrize(("curve", "cache"), [(GBE, False), (GBE_40, True), (OPA, True)])
def test_a_cache_is_told_from_a_wire(curve: dict[int, float], cache: bool) -> None:
    assert (cache_fall({size << 10: rate for size, rate in curve.items()}) is not None) == cache


def test_a_lonely_bad_point_is_no_cache() -> None:
    assert cache_fall({16384: 50.0, 65536: 100.0, 1 << 20: 60.0, 4 << 20: 99.0}) is None
    assert cache_fall({65536: 100.0, 4 << 20: 50.0}) is None


def test_a_protocol_switch_is_a_note() -> None:
    sizes = tuple(1 << k for k in range(3, 23))
    world = replace(SMALL, sizes=sizes, patterns=("pingpong",), link="10gbe", mtu=9000)
    found = judge(later(run_of(world), 60_000.0, above=65536))
    told = next(f for f in found.findings if f.code == "protocol-switch")
    assert told.severity == "note"
    assert told.evidence["eager_limit_bytes"] == 65536


def test_repeats_that_disagree_are_a_warning() -> None:
    near, far = (
        run_of(replace(SMALL, sizes=(8,), seed=1)),
        slower(run_of(replace(SMALL, sizes=(8,), seed=2)), 1.4),
    )
    points = [*near.points, *(set_(p, id=p.id + 100, repeat=1) for p in far.points)]
    found = judge(set_(near, points=points))
    assert "launches-disagree" in codes(found, "warning")


ROOT = Path(__file__).resolve().parents[2]

# --- the catalogue


def test_every_entry_is_whole() -> None:
    for code, entry in CATALOGUE.items():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", code)
        assert all(
            len(text) > 10
            for text in (entry.title, entry.meaning, entry.detection, entry.next_action)
        )
        assert "\n" not in entry.meaning


def test_every_code_of_the_sources_is_in_the_catalogue_and_the_other_way_round() -> None:
    source = Path(__file__).resolve().parents[2] / "src" / "wireproof"
    words = set()
    judging = ("verdict", "locate", "experiment", "watch", "logs", "pfc")
    for file in (path for name in judging for path in (source / name).rglob("*.py")):
        if file.name != "catalogue_text.py":
            words |= set(re.findall(r'"([a-z]+(?:-[a-z]+)*)"', file.read_text(encoding="utf-8")))
    assert set(CATALOGUE) <= words


@pytest.mark.parametrize(
    "damaged",
    [
        "*Detected by:*",  # a part is missing
        "*What to do:*",
        "### `one-kernel`: The",  # a heading without its code
    ],
)
def test_a_damaged_entry_is_named_by_its_line(damaged: str) -> None:
    text = (ROOT / "src/wireproof/verdict/catalogue/findings.md").read_text(encoding="utf-8")
    broken = text.replace(damaged, damaged.replace("*", "").replace("`", ""), 1)
    with pytest.raises(ValueError, match=r"^findings\.md:\d+: give"):
        entries_of(broken)
    with pytest.raises(ValueError, match=r"^findings\.md:\d+: give a new `code`"):
        entries_of(f"{text}\n{text}")


def test_criteria_are_obeyed() -> None:
    run = run_of(replace(SMALL, sizes=(1 << 20,), patterns=("stream",), efficiency=0.8))
    assert judge(run).verdict == "fail"
    assert judge(run, Criteria(min_efficiency=0.75)).verdict == "pass"


def test_the_order_of_counters_and_nics_changes_nothing() -> None:
    run = run_of(lab(nodes=3))
    turned = each_host(run)
    turned = set_(
        turned,
        hosts=[set_(host, nics=list(reversed(host.nics))) for host in reversed(turned.hosts)],
    )
    assert judge(turned) == judge(run)


def test_an_unused_nic_changes_nothing() -> None:
    run = run_of(lab())
    hosts = [
        set_(host, nics=[*host.nics, Nic(name="docker0", driver="bridge")]) for host in run.hosts
    ]
    assert judge(set_(run, hosts=hosts)) == judge(run)
