"""Our own numbers and those of other programs are compared with the same limits; what is not known
widens them.
"""

from dataclasses import replace

import msgspec
import pytest
from tests import synthetic
from tests.changed_runs import codes as own_codes
from tests.changed_runs import each_pair, set_, slower
from tests.logs.tables import codes, pingpong, stream, wire_times
from tests.synthetic import World, lab, run_of

from wireproof.logs.verdict import judge_log, judge_series
from wireproof.model.finding import Judgement
from wireproof.model.record import Sentinel
from wireproof.model.run import Run
from wireproof.model.series import Series, SeriesVerdict
from wireproof.physics import (
    PhysicsError,
    claim_from_text,
    default_table,
    link_from_name,
    link_names,
    override,
)
from wireproof.physics.bounds import bounds_of, spared_ns
from wireproof.physics.framing import path_mtu, roce_path_mtu
from wireproof.physics.limits import floor_constant, pcie_choices, pcie_goodput
from wireproof.verdict.run import judge

SIZES = (8, 65536, 1 << 20, 4 << 20)


def of_pingpong(link: str, start_us: float, rate_mb: float, **claim: object) -> SeriesVerdict:
    return judge_series(pingpong(wire_times(start_us, rate_mb)), claim_from_text(link, **claim))  # type: ignore[arg-type]


def of_stream(link: str, rate_mb: float, **claim: object) -> SeriesVerdict:
    series = stream({1 << n: min(rate_mb, (1 << n) * 3.0) for n in range(23)})
    return judge_series(series, claim_from_text(link, **claim))  # type: ignore[arg-type]


def own(world: World, *, pcie: str = "") -> Judgement:
    run = run_of(world)
    assert run.claim.link is not None
    link = msgspec.structs.replace(run.claim.link, pcie=pcie)
    return judge(set_(run, claim=set_(run.claim, link=link)))


# --- what is not known


@pytest.mark.parametrize(("link", "line"), [("1gbe", 125.0), ("10gbe", 1250.0), ("25gbe", 3125.0)])
def test_tcp_without_timestamps_fills_a_link_of_known_mtu(link: str, line: float) -> None:
    found = of_pingpong(link, 22.0, 1460 / 1538 * line * 0.9995, mtu=1500)
    assert (found.verdict, found.proof) == ("pass", "unproven")
    assert of_stream(link, 1460 / 1538 * line, mtu=1500).verdict == "pass"


def test_timestamps_that_a_user_states_are_known() -> None:
    table = override(default_table(), "[tcp]\ntimestamp_option = 12\n")
    link = claim_from_text("1gbe", mtu=1500)
    series = pingpong(wire_times(22.0, 1460 / 1538 * 125 * 0.9995))
    assert judge_series(series, link, table=table).verdict == "fail"


def test_our_own_stream_without_timestamps_is_no_doubt() -> None:
    found = own(World(sizes=SIZES[1:], patterns=("stream",), efficiency=1460 / 1448 * 0.9995))
    assert found.verdict == "pass"


@pytest.mark.parametrize(
    ("link", "rate", "slot"),
    [
        ("qdr", 3280.0, "gen2x8"),
        ("hdr200", 12_900.0, "gen3x16"),
        ("edr", 6400.0, "gen3x8"),
        ("xdr800", 97_000.0, "gen6x16"),
    ],
)
def test_a_slot_of_unknown_payload_size_expects_no_more_than_its_smallest(
    link: str, rate: float, slot: str
) -> None:
    assert of_stream(link, rate, pcie=slot).verdict == "pass"
    goodput = bounds_of(link_from_name(link)).most
    share = rate * 1e6 / goodput
    world = World(
        link=link, mtu=None, latency_ns=1500.0, efficiency=share, sizes=SIZES, patterns=("stream",)
    )
    assert not {"below-expectation", "above-ceiling"} & own_codes(own(world, pcie=slot))


def test_the_largest_payload_size_bounds_the_ceiling_of_a_slot() -> None:
    assert of_stream("hdr200", 14_800.0, pcie="gen3x16").verdict == "pass"
    assert of_stream("hdr200", 15_300.0, pcie="gen3x16").verdict == "fail"
    assert of_stream("hdr200", 12_900.0, pcie="gen3x16 mps512").verdict == "fail"


def test_an_interface_of_4096_has_a_path_mtu_of_2048() -> None:
    """include/rdma/ib_addr.h, iboe_get_mtu: 96 B of headers are taken off."""
    expected = {
        351: 256,
        352: 256,
        1119: 512,
        1120: 1024,
        1500: 1024,
        2143: 1024,
        2144: 2048,
        4096: 2048,
        4191: 2048,
    }
    assert {mtu: roce_path_mtu(mtu) for mtu in expected} == expected
    assert (roce_path_mtu(4192), roce_path_mtu(9000)) == (4096, 4096)
    for mtu in (1500, 2200, 4200, 9000):
        assert path_mtu(link_from_name("roce100", mtu=mtu), default_table())[0] == roce_path_mtu(
            mtu
        )


def test_a_roce_mtu_of_4096_may_be_one_of_the_path_or_of_the_interface() -> None:
    bounds = bounds_of(link_from_name("roce100", mtu=4096))
    assert [round(choice.rate / 1e6) for choice in bounds.choices] == [12019, 12255]
    assert bounds.most == bounds.choices[-1].rate


@pytest.mark.parametrize("name", link_names())
def test_what_is_expected_never_exceeds_the_ceiling(name: str) -> None:
    bounds = bounds_of(link_from_name(name, pcie="gen4x8"))
    rates = [choice.rate for choice in bounds.choices]
    assert rates == sorted(rates)
    assert bounds.most == (rates[-1] if rates else None)
    for rate in rates:
        expected = bounds.expected(rate)[0]
        assert 0.997 * rate <= expected <= rate, (
            "what a choice reaches is expected of it, and no more"
        )


def test_a_shortfall_of_a_rate_that_is_an_upper_limit_is_a_doubt() -> None:
    link = msgspec.structs.replace(link_from_name("25gbe", mtu=9000), at_most=True)
    series = stream({1 << n: min(1200.0, (1 << n) * 3.0) for n in range(23)})
    assert judge_series(series, link).verdict == "inconclusive"
    world = World(link="25gbe", mtu=9000, efficiency=0.4, sizes=SIZES, patterns=("stream",))
    assert judge(run_of(world), link=link).verdict == "inconclusive"
    assert judge(run_of(world)).verdict == "fail"


# --- PCI Express


def test_generation_six_is_flits_and_no_line_code() -> None:
    rate, line = pcie_goodput("gen6x16 mps256")
    assert rate == pytest.approx(128e9 * 236 / 256 * 256 / 272)
    assert "gen6 x16" in line
    assert [option for _, _, option in pcie_choices("gen6x8")] == ["MPS 128", "MPS 256", "MPS 512"]


@pytest.mark.parametrize(
    "slot", ["gen7x16", "gen0x8", "gen6x12", "gen6x32", "gen3x3", "gen3x24", "x16", "gen3x8mps64"]
)
def test_a_slot_that_does_not_exist_is_refused(slot: str) -> None:
    with pytest.raises(PhysicsError, match="PCIe slot"):
        pcie_goodput(slot)


def test_twelve_lanes_are_three_quarters_of_sixteen() -> None:
    assert pcie_goodput("gen3x12 mps256")[0] == pytest.approx(
        0.75 * pcie_goodput("gen3x16 mps256")[0]
    )


# --- rendezvous and exchange


@pytest.mark.parametrize(
    ("link", "latency"),
    [
        ("hdr200", 1000.0),
        ("ndr400", 1000.0),
        ("xdr800", 1000.0),
        ("roce400", 1400.0),
        ("slingshot200", 1900.0),
        ("efa400", 14_000.0),
        ("100gbe", 12_000.0),
    ],
)
def test_a_rendezvous_of_three_crossings_is_no_slow_link(
    link: str, latency: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = synthetic.operation_ns

    def with_handshake(world: World, pattern: str, size: int, a: int, b: int) -> float:
        more = 2 * world.latency_ns if pattern == "pingpong" and size >= 16384 else 0.0
        return plain(world, pattern, size, a, b) + more

    monkeypatch.setattr(synthetic, "operation_ns", with_handshake)
    driver, mtu = ("ice", 9000) if link == "100gbe" else ("mlx5", None)
    world = World(
        link=link, mtu=mtu, latency_ns=latency, driver=driver, sizes=SIZES, patterns=("pingpong",)
    )
    found = own(world)
    assert "below-expectation" not in own_codes(found)
    times = wire_times(
        latency / 1e3, 0.985 * (bounds_of(link_from_name(link, mtu=mtu)).most or 0.0) / 1e6
    )
    late = {
        size: time + (2 * latency / 1e3 if size >= 16384 else 0.0) for size, time in times.items()
    }
    assert "below-expectation" not in codes(
        judge_series(pingpong(late), link_from_name(link, mtu=mtu))
    )


def test_of_a_waited_operation_at_most_half_is_its_start() -> None:
    assert spared_ns(10_000.0, 1000.0, 700.0) == 3000.0
    assert spared_ns(4000.0, 1000.0, 700.0) == 2000.0, (
        "a crawling link is not excused by a slow start"
    )
    assert spared_ns(100_000.0, None, 700.0) == 7000.0


@pytest.mark.parametrize(("each", "verdict"), [(6080.5, "pass"), (2000.0, "fail")])
def test_both_directions_at_once_are_judged_alike(each: float, verdict: str) -> None:
    """12,161 MB/s both ways at FDR: 89.8 % of one direction in each."""
    most = bounds_of(link_from_name("fdr")).most or 0.0
    world = World(
        link="fdr",
        mtu=4096,
        latency_ns=1200.0,
        driver="mlx4",
        efficiency=each * 1e6 / most,
        patterns=("exchange",),
        sizes=SIZES,
    )
    assert own(world).verdict == verdict
    series = stream(
        {1 << n: min(2 * each, (1 << n) * 3.0) for n in range(23)},
        benchmark="osu_bibw",
        traffic="exchange",
        directions=2,
    )
    assert judge_series(series, claim_from_text("fdr")).verdict == verdict


# --- floors


@pytest.mark.parametrize("link", ["sdr", "ddr", "qdr", "roce10", "roce100", "truescale"])
def test_shared_memory_of_seven_tenths_of_a_microsecond_is_no_old_fabric(link: str) -> None:
    assert of_pingpong(link, 0.69, 900).verdict != "pass"


def test_every_generation_has_a_floor_with_its_source() -> None:
    values = {name: floor_constant(link_from_name(name)).value for name in link_names()}
    assert (
        values["sdr"]
        > values["ddr"]
        > values["qdr"]
        > values["fdr"]
        > values["edr"]
        >= values["ndr400"]
    )
    assert values["roce10"] > values["roce25"] > values["roce100"]
    assert values["1gbe"] > values["10gbe"] > values["25gbe"]
    assert values["efa100"] > values["efa200"]
    assert values["fdr10"] == values["fdr"]
    assert floor_constant(claim_from_text("infiniband")).value == min(
        values[n] for n in ("sdr", "edr", "xdr800")
    )
    assert all(constant.source for constant in default_table().values())


def test_a_floor_that_a_user_sets_holds_for_all_its_generations() -> None:
    table = override(default_table(), "[floor]\ninfiniband = 910\ntcp = 4000\n")
    assert floor_constant(link_from_name("hdr200"), table).value == 910
    assert floor_constant(link_from_name("25gbe"), table).value == 4000
    both = override(default_table(), "[floor]\ninfiniband = 910\nhdr = 820\n")
    assert floor_constant(link_from_name("hdr200"), both).value == 820


@pytest.mark.parametrize("start", [4.5, 5.2])
def test_polling_sockets_are_no_shared_memory(start: float) -> None:
    assert of_pingpong("25gbe", start, 2900, path="tcp").verdict == "pass"


# --- the upper limit of latency


def slow_start(found: Judgement) -> set[str]:
    return {f.severity for f in found.findings if f.code == "slow-start"}


@pytest.mark.parametrize("added", [150_000.0, 400_000.0])
def test_latency_that_was_added_to_a_gigabit_link_is_found(added: float) -> None:
    quick = World(sizes=(0, 8, 1024), patterns=("pingpong",))
    assert slow_start(judge(run_of(quick))) == set()
    slow = replace(quick, latency_ns=25_000.0 + added)
    assert slow_start(judge(run_of(slow))) == {"fail"}
    assert slow_start(
        judge(run_of(lab(sizes=(0, 8, 1024), patterns=("pingpong",), latency_ns=25_000.0 + added)))
    ) == {"inconclusive"}
    foreign = of_pingpong("1gbe", (25_000.0 + added) / 1e3, 117.0)
    assert "slow-start" in codes(foreign, "fail")


def crowded_run(run: Run) -> Run:
    busy = [Sentinel(clock_read_ns=20.0, involuntary_switches=50, steal_ns=0.0) for _ in range(12)]
    return each_pair(run, sentinels=busy)


def test_a_crowded_host_may_answer_late() -> None:
    run = run_of(World(sizes=(8,), patterns=("pingpong",), latency_ns=300_000.0))
    assert slow_start(judge(crowded_run(run))) == set()
    late = run_of(World(sizes=(8,), patterns=("pingpong",), latency_ns=900_000.0))
    assert slow_start(judge(crowded_run(late))) == {"inconclusive"}


# --- what the protocol costs and not the link


def slow_pingpongs(run: Run, factor: float) -> Run:
    large = 65536
    return slower(run, factor, lambda p: p.pattern == "pingpong" and p.message_bytes >= large)


def below(found: Judgement) -> set[str]:
    return {f.severity for f in found.findings if f.code == "below-expectation"}


def test_streams_that_fill_the_link_acquit_it_of_slow_pingpongs() -> None:
    both = run_of(World(link="25gbe", mtu=9000, sizes=SIZES, patterns=("pingpong", "stream")))
    assert below(judge(both)) == set()
    assert below(judge(slow_pingpongs(both, 1.6))) == {"inconclusive"}
    alone = run_of(World(link="25gbe", mtu=9000, sizes=SIZES, patterns=("pingpong",)))
    assert below(judge(slow_pingpongs(alone, 1.6))) == {"fail"}
    one_way = World(
        link="25gbe",
        mtu=9000,
        sizes=SIZES,
        patterns=("pingpong", "stream"),
        speed=lambda a, b: 0.6 if a > b else 1.0,
    )
    assert "fail" in below(judge(slow_pingpongs(run_of(one_way), 1.6))), (
        "a slow direction is acquitted of nothing"
    )


def test_one_pair_of_endpoints_need_not_fill_an_efa_device() -> None:
    world = World(
        link="efa100", mtu=None, latency_ns=16_000.0, driver="efa", efficiency=0.5, sizes=SIZES[1:]
    )
    assert below(judge(run_of(replace(world, patterns=("stream",))))) == {"inconclusive"}
    assert below(judge(run_of(replace(world, patterns=("stream",), efficiency=0.3)))) == {"fail"}


def test_a_small_message_may_take_its_time_on_a_slow_line() -> None:
    """1 KiB takes 0.87 ms at 10 Mb/s: it is not slow to start."""
    found = bounds_of(claim_from_text("ethernet:0.01", mtu=1500))
    assert found.slow_at(0) == found.slow
    assert found.slow_at(1024) == pytest.approx(found.slow + 2.5e9 * 1024 / found.most)


# --- the same curve, as a run and as a log

OF_A_CURVE = {"below-floor", "above-ceiling", "slow-start", "below-expectation", "cache-shaped"}
"""What a curve by itself may be blamed for, by one set of rules."""
GIGABIT = World(sizes=(8, 1024, 65536, 262144, 1 << 20, 4 << 20))


def as_log(run: Run) -> list[Series]:
    """The tables that a program would print that had measured the same times between the same two
    hosts.
    """
    times = {
        pattern: {
            point.message_bytes: point.pairs[0].estimate.median_ns
            for point in run.points
            if point.pattern == pattern and point.pairs[0].estimate is not None
        }
        for pattern in ("pingpong", "stream")
    }
    tables = [
        pingpong({size: time / 1e3 for size, time in times["pingpong"].items()}),
        stream({size: size / time * 1e3 for size, time in times["stream"].items()}),
    ]
    return [table for table in tables if table.points]


@pytest.mark.parametrize(
    ("world", "expected"),
    [
        (GIGABIT, set()),
        (replace(GIGABIT, efficiency=0.5), {"below-expectation"}),
        (replace(GIGABIT, efficiency=1.3, patterns=("stream",)), {"above-ceiling"}),
        (replace(GIGABIT, latency_ns=400_000.0), {"slow-start"}),
        (replace(GIGABIT, latency_ns=2_500.0), {"below-floor"}),
    ],
    ids=["sound", "slow", "fast", "late", "quick"],
)
def test_a_curve_is_blamed_alike_as_a_run_and_as_a_log(world: World, expected: set[str]) -> None:
    run = run_of(world)
    link = run.claim.link
    logged = {
        reason.code
        for found in judge_log(as_log(run), link, path="tcp")
        for reason in found.reasons
        if reason.severity == "fail"
    }
    judged = {found.code for found in judge(run).findings if found.severity == "fail"}
    assert (judged & OF_A_CURVE, logged & OF_A_CURVE) == (expected, expected)


def test_a_cache_has_the_same_shape_in_a_run_and_in_a_log() -> None:
    def cached(world: World, pattern: str, size: int, a: int, b: int) -> float:
        return 6_000.0 + size / (12e9 if size <= 65536 else 4e9) * 1e9

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(synthetic, "operation_ns", cached)
        run = run_of(replace(GIGABIT, link="100gbe", mtu=9000))
    found = [codes(one) for one in judge_log(as_log(run), run.claim.link)]
    assert all("cache-shaped" in one for one in (own_codes(judge(run)), *found))
