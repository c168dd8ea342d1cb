"""Two adapters of the zoo claimed as rails: did each carry its share?"""

from dataclasses import replace

import pytest
from msgspec.structs import replace as replace_
from tests.zoo.animals import ZOO
from tests.zoo.frames import run_of
from tests.zoo.parts import Adapter
from tests.zoo.scene import Move, Point, Scene, rail_of, timeline
from tests.zoo.situations import best_level

from wireproof.model.finding import Judgement
from wireproof.model.run import Run
from wireproof.physics.rails import claim_of_rails
from wireproof.verdict.run import judge

STREAMS = (
    Point("pingpong", 8, seconds=0.1),
    Point("stream", 4 << 20),
    Point("stream", 4 << 20, 1, 0),
)
TWINS = [
    one
    for one in ZOO
    if len(one.ports) == 1
    and one.port(one.claimed).kind != "virtual"
    and one.known
    and best_level(one, one.carrier) is not None
]
"""Adapters whose second card is of the same kind, and whose counters show what it carries."""


def _claimed(adapter: Adapter, move: Move, **changes: object) -> Judgement:
    rail = rail_of(adapter)
    nics = f"{adapter.claimed},{rail.name}"
    scene = Scene(adapter, move, nic=nics, points=STREAMS, rate=1.5 * adapter.rate)
    return judge(run_of(timeline(replace(scene, **changes))))


def _codes(found: Judgement) -> set[str]:
    return {one.code for one in found.findings}


def _streams(found: Judgement) -> list[tuple[str, str]]:
    return [(one.proof, one.striping) for one in found.pairs if one.pattern == "stream"]


@pytest.mark.parametrize("adapter", TWINS, ids=lambda one: one.key)
def test_rails_that_share_the_bytes_are_proved_to(adapter: Adapter) -> None:
    found = _claimed(adapter, Move(claimed=0.5, rail=0.5, carrier=adapter.carrier))
    assert _streams(found) == [("on-wire", "striped")] * 2
    assert not _codes(found) & {"one-rail", "unequal-rails", "slow-rail", "rail-down"}
    seen = [one for pair in found.pairs if pair.pattern == "stream" for one in pair.rails]
    assert len(seen) == 8
    for one in seen:
        assert one.share == pytest.approx(0.5, abs=0.05)
        assert one.due_share == pytest.approx(0.5)
        assert one.seen_bytes == pytest.approx(one.due_bytes, rel=0.2)


@pytest.mark.parametrize("adapter", TWINS, ids=lambda one: one.key)
def test_one_rail_that_carries_all_is_found(adapter: Adapter) -> None:
    found = _claimed(adapter, Move(claimed=1.0, carrier=adapter.carrier))
    assert _streams(found) == [("on-wire", "one-rail")] * 2
    assert "one-rail" in _codes(found)
    assert found.verdict == "fail"


@pytest.mark.parametrize("adapter", TWINS, ids=lambda one: one.key)
def test_shares_out_of_proportion_are_found(adapter: Adapter) -> None:
    found = _claimed(adapter, Move(claimed=0.8, rail=0.2, carrier=adapter.carrier))
    assert _streams(found) == [("on-wire", "unequal")] * 2
    assert "unequal-rails" in _codes(found)
    assert found.verdict == "fail"


@pytest.mark.parametrize("adapter", TWINS, ids=lambda one: one.key)
def test_a_port_that_is_no_rail_stays_wrong(adapter: Adapter) -> None:
    found = _claimed(adapter, Move(eth0=1.0), rate=0.117e9, latency_s=25e-6)
    assert {proof for proof, _ in _streams(found)} == {"wrong-path"}
    assert {state for _, state in _streams(found)} == {"unknown"}


@pytest.mark.parametrize("adapter", TWINS[::6], ids=lambda one: one.key)
def test_memory_is_no_rail(adapter: Adapter) -> None:
    found = _claimed(adapter, Move(carrier=adapter.carrier), rate=12e9, latency_s=0.4e-6)
    assert {proof for proof, _ in _streams(found)} <= {"off-wire", "unproven"}
    assert found.verdict == "fail" or {proof for proof, _ in _streams(found)} == {"unproven"}


def test_rails_with_a_third_in_memory_are_mixed() -> None:
    adapter = next(one for one in TWINS if one.fast)
    found = _claimed(adapter, Move(claimed=0.35, rail=0.35, carrier=adapter.carrier))
    assert {proof for proof, _ in _streams(found)} == {"mixed"}


def test_a_rail_that_a_host_lacks_proves_nothing() -> None:
    adapter = TWINS[0]
    found = _claimed(adapter, Move(claimed=1.0, carrier=adapter.carrier), with_rail=False)
    assert {proof for proof, _ in _streams(found)} == {"unproven"}
    lacking = [one for one in found.findings if one.code == "nic-unknown"]
    assert lacking
    assert rail_of(adapter).name in lacking[0].message
    assert f"{adapter.claimed}," not in lacking[0].message.split(";")[0]


def _with_speeds(run: Run, rail: str, mbps: int) -> Run:
    hosts = [
        replace_(
            host,
            nics=[replace_(nic, speed_mbps=mbps) if nic.name == rail else nic for nic in host.nics],
        )
        for host in run.hosts
    ]
    return replace_(run, hosts=hosts)


def _plain() -> tuple[Adapter, str, Run]:
    """Two 10 Gb/s ports without RDMA, both used alike."""
    adapter = next(one for one in TWINS if one.key == "i40e")
    rail = rail_of(adapter).name
    scene = Scene(
        adapter,
        Move(claimed=0.5, rail=0.5),
        nic=f"{adapter.claimed},{rail}",
        points=STREAMS,
        rate=1.5 * adapter.rate,
    )
    return adapter, rail, _with_speeds(run_of(timeline(scene)), rail, 1000)


def test_a_rail_that_negotiated_less_than_claimed_is_named() -> None:
    adapter, rail, run = _plain()
    speed = next(nic.speed_mbps for nic in run.hosts[0].nics if nic.name == adapter.claimed) or 0
    link = claim_of_rails(f"ethernet:{speed // 1000}", f"{adapter.claimed},{rail}")
    found = judge(replace_(run, claim=replace_(run.claim, link=link)))
    said = [one.message for one in found.findings if one.code == "nic-speed-disagrees"]
    assert said
    assert all(f"{rail} negotiated 1 Gb/s" in one for one in said)


def test_rails_of_different_speeds_without_a_link_are_said_to_be() -> None:
    _, _, run = _plain()
    notes = [one.message for one in judge(run).findings if one.code == "link-from-port"]
    assert len(notes) == 1
    assert " + 1gbe" in notes[0]
    assert "rails have different speeds" in notes[0]
