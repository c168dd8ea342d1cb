"""No real fabric is called memory, and no memory is taken for a wire."""

import pytest
from tests.truth.external_worlds import HEALTHY, MEMORIES, SLOW, Fabric, Memory, claim, memory, wire

from wireproof.logs.verdict import judge_series
from wireproof.model.series import SeriesVerdict
from wireproof.physics import claim_from_text

SOLD_AS = (
    "1gbe",
    "10gbe",
    "ethernet:25",
    "40gbe",
    "100gbe",
    "roce100",
    "roce:200",
    "qdr",
    "edr",
    "hdr200",
    "ndr400",
    "opa100",
    "truescale",
    "efa:100",
    "slingshot:200",
    "ipoib-edr",
)


def failures(found: SeriesVerdict) -> set[str]:
    return {reason.code for reason in found.reasons if reason.severity == "fail"}


@pytest.mark.parametrize("fabric", HEALTHY, ids=lambda f: f"{f.link}-{f.path}-{f.mtu}-{f.forms[0]}")
def test_a_healthy_fabric_passes(fabric: Fabric) -> None:
    for form in fabric.forms:
        for seed in range(4):
            found = judge_series(wire(fabric, form, seed), claim(fabric), path=fabric.path)
            assert (found.proof, found.verdict) == ("unproven", "pass"), (form, seed, found.reasons)


@pytest.mark.parametrize("fabric", SLOW, ids=lambda f: f"{f.link}-{f.path}-{f.forms[0]}")
def test_a_slow_fabric_fails_for_being_slow(fabric: Fabric) -> None:
    for form in fabric.forms:
        for seed in range(4):
            found = judge_series(wire(fabric, form, seed), claim(fabric), path=fabric.path)
            assert found.proof == "unproven", (form, seed, found.reasons)
            assert found.verdict != "pass" or form in ("bibw",), (form, seed, found.reasons)
            assert failures(found) <= {"below-expectation", "slow-start"}, (
                form,
                seed,
                found.reasons,
            )


@pytest.mark.parametrize("world", MEMORIES, ids=lambda w: w.name)
def test_memory_never_passes_as_a_wire(world: Memory) -> None:
    off = total = 0
    for form in ("latency", "pingpong", "bw", "put_bw"):
        for link in SOLD_AS:
            found = judge_series(memory(world, form, 1), claim_from_text(link))
            assert found.verdict != "pass", (form, link, found.reasons)
            total += 1
            off += found.proof == "off-wire"
    assert off > 0.5 * total or world.name == "two ranks on one core", (off, total)


def test_without_a_claim_nothing_real_is_impossible_and_memory_is() -> None:
    for fabric in (*HEALTHY, *SLOW):
        found = judge_series(wire(fabric, fabric.forms[0], 5), None)
        assert (found.proof, found.verdict) == ("unproven", "inconclusive"), (fabric, found.reasons)
    for world in MEMORIES[:4]:
        assert judge_series(memory(world, "latency", 2), None).proof == "off-wire"


def test_the_link_that_a_curve_is_from_is_among_its_explanations() -> None:
    for name in ("1gbe", "10gbe", "edr", "hdr200", "opa100", "truescale", "ndr400"):
        fabric = next(f for f in HEALTHY if f.link == name)
        found = judge_series(wire(fabric, "pingpong", 3), None)
        assert name in found.explained_by, (name, found.explained_by)
        assert "shm" not in found.explained_by
