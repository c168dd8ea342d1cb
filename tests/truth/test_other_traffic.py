"""Another job's traffic on the measured ports: contention, named with port, direction and rate, and
never a fault.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.changed_runs import each_nic, set_
from tests.synthetic import World, lab, link_of, run_of

from wireproof.locate.confirm import conclude
from wireproof.locate.document import LocateDocument, locate_document
from wireproof.locate.samples import samples_of
from wireproof.locate.screen import screen
from wireproof.locate.verdict import with_located, with_other_traffic
from wireproof.model.finding import Finding, Judgement
from wireproof.model.record import QuietWindows
from wireproof.model.run import Run
from wireproof.physics import limits
from wireproof.report.judged_run import ranked
from wireproof.verdict.run import judge

Flow = tuple[int, int, float]
"""Origin, target and share of the line that another job takes."""


def with_flow(
    run: Run, world: World, flow: Flow, *, point: bool = True, quiet: bool = False
) -> Run:
    """``run`` with another job's bytes in the counters of the points, and in the quiet windows
    around them.
    """
    origin, target, share = flow
    bytes_per_s = share * (
        limits(link_of(world), "stream", "stream", 1 << 20).attainable_bytes_per_s or 0.0
    )
    ways = {origin: "net/hsn0/tx_bytes", target: "net/hsn0/rx_bytes"}
    points = []
    for one in run.points:
        witness = []
        for reading in one.witness:
            name = ways.get(reading.rank, "")
            if name and point:
                before, after = reading.counters.get(name, (0, 0))
                more = round(bytes_per_s * reading.interval_ns * 1e-9)
                reading = set_(reading, counters={**reading.counters, name: (before, after + more)})
            if name and quiet:
                windows = QuietWindows(interval_ns=4e7, counters={name: round(bytes_per_s * 0.04)})
                reading = set_(reading, quiet=windows)
            witness.append(reading)
        points.append(set_(one, witness=witness))
    return set_(run, points=points)


def slowed(*flows: Flow) -> Callable[[int, int], float]:
    """Each of our streams has what the flows leave of its sender's and receiver's ports."""

    def speed(a: int, b: int) -> float:
        return min(
            [1.0, *(1.0 - share for origin, target, share in flows if a == origin or b == target)]
        )

    return speed


def judged(
    nodes: int, *flows: Flow, quiet: bool = False, nic: str = "", **more: object
) -> Judgement:
    world = lab(nodes=nodes, sizes=(8, 1 << 20, 4 << 20), speed=slowed(*flows), **more)
    run = run_of(world)
    for flow in flows:
        run = with_flow(run, world, flow, quiet=quiet)
    return judge(each_nic(run, kind="virtual", link_kind=nic, driver=nic) if nic else run)


def others(judgement: Judgement) -> dict[str, Finding]:
    return {one.subject: one for one in judgement.findings if one.code == "other-traffic"}


@pytest.mark.parametrize(
    ("quiet", "nic"), [(False, ""), (True, ""), (False, "vlan"), (True, "tun")]
)
@pytest.mark.parametrize("share", [0.25, 0.3, 0.5])
@pytest.mark.parametrize("nodes", [2, 4])
def test_another_jobs_flow_is_contention_and_not_a_slow_direction(
    nodes: int, share: float, quiet: bool, nic: str
) -> None:
    """300 Mb/s one way on 1 Gb/s was FAIL direction-slow, "look at the cable"."""
    for seed in range(3):
        judgement = judged(nodes, (0, 1, share), quiet=quiet, seed=seed, nic=nic)
        assert judgement.verdict == "inconclusive", [one.message for one in judgement.findings]
        found = others(judgement)
        assert {"n1 tx", "n2 rx"} & set(found)
        assert set(found) <= {"n1 tx", "n2 rx"}
        for one in found.values():
            assert one.evidence["nic"] == "hsn0"
            assert one.evidence["bytes_per_s"] == pytest.approx(share * 117.7e6, rel=0.35)
            assert "Mb/s" in one.message
            assert "do not replace the cable" in one.advice
        assert ranked(judgement.findings)[0].code == "other-traffic"


@pytest.mark.parametrize("nodes", [2, 4])
@pytest.mark.parametrize("share", [0.21, 0.25, 0.3])
def test_a_flow_excuses_no_more_than_its_own_bytes(nodes: int, share: float) -> None:
    """A sender at a third of the line beside a flow that takes a quarter of it was "another job":
    a fifth of the line excused any loss.
    """
    world = lab(nodes=nodes, sizes=(8, 1 << 20), speed=lambda a, b: 0.3 if a == 0 else 1.0)
    judgement = judge(with_flow(run_of(world), world, (0, 1, share)))
    first = ranked(judgement.findings)[0]
    assert (judgement.verdict, first.severity) == ("fail", "fail")
    assert first.code in ("direction-slow", "node-direction-slow")
    assert first.subject.startswith("n1")


@pytest.mark.parametrize("nodes", [2, 4])
def test_a_second_check_disturbs_some_points_and_is_named_first(nodes: int) -> None:
    """Each point meets another flow: one median over all points hid it, and a direction failed."""
    for seed in range(3):
        world = lab(nodes=nodes, sizes=(8, 1 << 18, 1 << 20), seed=seed)
        half = run_of(replace(world, speed=lambda *_: 0.5))
        for a in range(nodes):
            half = with_flow(half, world, (a, (a + 1) % nodes, 0.5))
        points = [
            beside if pure.message_bytes == 1 << 20 and pure.pairs[0].origin == 0 else pure
            for pure, beside in zip(run_of(world).points, half.points, strict=True)
            if pure.pattern == "stream"
        ]
        judgement = judge(set_(half, points=points))
        assert judgement.verdict == "inconclusive", [one.message for one in judgement.findings]
        assert ranked(judgement.findings)[0].code == "other-traffic"


def test_two_flows_name_both_ports() -> None:
    judgement = judged(4, (0, 1, 0.3), (2, 3, 0.4))
    assert judgement.verdict == "inconclusive"
    assert {"n1 tx", "n3 tx"} <= set(others(judgement))


def test_a_slow_port_is_a_fault_beside_a_trickle_of_other_traffic() -> None:
    for flow in ((0, 1, 0.02), (0, 1, 0.08)):
        world = lab(nodes=4, sizes=(8, 1 << 20), speed=lambda a, b: 0.5 if a == 0 else 1.0)
        judgement = judge(with_flow(run_of(world), world, flow, quiet=True))
        assert judgement.verdict == "fail"
        assert any(
            one.code == "node-direction-slow" and one.severity == "fail"
            for one in judgement.findings
        )


def test_a_slow_port_elsewhere_is_a_fault_whatever_others_do() -> None:
    world = lab(
        nodes=4, sizes=(8, 1 << 20), speed=lambda a, b: 0.5 if a == 2 else 0.7 if a == 0 else 1.0
    )
    judgement = judge(with_flow(run_of(world), world, (0, 1, 0.3)))
    slow = {
        one.subject: one.severity for one in judgement.findings if one.code == "node-direction-slow"
    }
    assert slow["n3 tx"] == "fail"
    assert slow.get("n1 tx", "inconclusive") == "inconclusive"


def test_good_worlds_have_no_other_traffic() -> None:
    for seed in range(4):
        for world in (
            lab(nodes=3, seed=seed),
            World(nodes=3, seed=seed),
            World(link="100gbe", mtu=9000, seed=seed),
        ):
            assert others(judge(run_of(world))) == {}


@pytest.mark.parametrize(
    ("flow", "back"), [((0, 1, 0.3), 1.0), ((2, 0, 0.5), 1.0), ((0, 1, 0.5), 0.7)]
)
def test_a_port_that_others_use_is_no_culprit(flow: Flow, back: float) -> None:
    """Measured alone it is slow as well, as long as the other job lasts: confirmed, and still
    nobody's fault. ``back``: what is left if only the acknowledgements wait behind the other job.
    """
    ways, least = slowed(flow), (flow[1], flow[0])
    world = lab(
        nodes=6, sizes=(8, 1 << 20), speed=lambda a, b: back if (a, b) == least else ways(a, b)
    )
    run = with_flow(run_of(world), world, flow)
    samples = samples_of(run)
    assert samples is not None
    found = screen(samples)
    located = conclude(found, samples)
    assert located.blames
    judgement = with_located(judge(run), [located])
    assert judgement.verdict == "inconclusive", [
        one.message for one in judgement.findings if one.severity == "fail"
    ]
    blamed = [
        one for one in judgement.findings if one.code in ("port-slow", "node-slow", "pair-slow")
    ]
    assert blamed
    assert all("other traffic" in one.message for one in blamed)
    assert ranked(judgement.findings)[0].code == "other-traffic"
    document = LocateDocument(
        located=(with_other_traffic(located, judgement.findings, judgement.pairs),)
    )
    assert document.verdict == "inconclusive"
    assert "of other traffic" in locate_document(document).answer
