"""No real fabric is called memory, and no memory is taken for a wire."""

from pathlib import Path

import msgspec
import pytest
from tests.truth.external_worlds import HEALTHY, MEMORIES, SLOW, Fabric, Memory, claim, memory, wire

from wireproof.logs.readers import read
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


# --- Logs of a virtual cluster's shaped links: real wires by their own claim, and shared memory on
# one of its nodes.


LOGS = Path(__file__).resolve().parents[1] / "golden" / "logs"


def judged(name: str, link: str) -> list[SeriesVerdict]:
    """Every series of a log, compared with a link of the lab: its shaper counts no preamble."""
    claim = msgspec.structs.replace(claim_from_text(link), preamble_counted=False)
    return [judge_series(one, claim, path="tcp") for one in read((LOGS / name).read_bytes(), name)]


@pytest.mark.parametrize(
    ("name", "link"),
    [
        ("osu74-bw-tcp1g.out", "1gbe"),
        ("imb2021-p2p-pingpong-tcp1g.out", "1gbe"),
        ("osu_latency_impi_10g.txt", "10gbe"),
        ("osu_latency_ompi4_10g.txt", "10gbe"),
        ("osu_bw_impi_10g.txt", "10gbe"),
        ("osu_bw_m5_10g.txt", "10gbe"),
        ("osu_bw_ompi4_10g.txt", "10gbe"),
        ("osu74-latency-tcp10g.out", "10gbe"),
        ("osu74-put_bw-tcp10g.out", "10gbe"),
    ],
)
def test_a_shaped_link_passes_by_its_own_claim(name: str, link: str) -> None:
    (found,) = judged(name, link)
    assert (found.proof, found.verdict) == ("unproven", "pass"), found.reasons


@pytest.mark.parametrize(
    "name", ["osu74-latency-validate-shm.out", "imb_mpi1_pingpong_SHM_same_node.txt"]
)
def test_shared_memory_on_a_node_of_the_lab_is_excluded(name: str) -> None:
    (found,) = judged(name, "10gbe")
    assert (found.proof, found.verdict) == ("off-wire", "fail")
    assert len({reason.code for reason in found.reasons if reason.severity == "fail"}) >= 3


def test_no_log_of_a_wire_is_called_memory_by_its_own_claim() -> None:
    logs = sorted(path.name for path in LOGS.glob("*tcp1*g.out"))
    assert len(logs) > 10
    for name in logs:
        for found in judged(name, "1gbe" if "1g." in name else "10gbe"):
            assert found.proof == "unproven", (name, found.reasons)
