"""Interfaces that stand on others: what is claimed may be the upper one, the one below, or another;
never a lie.
"""

import dataclasses
from pathlib import Path

import pytest
from tests.lab.conftest import Build, run, say

from wireproof.lab.cluster import Lab
from wireproof.measure.points import numbered, sweep
from wireproof.measure.session import Session
from wireproof.measure.session.run import run_session
from wireproof.model.finding import Judgement
from wireproof.model.topology import Network
from wireproof.report.reporter import LoggingReporter
from wireproof.target import lab_target

pytestmark = [pytest.mark.netns, pytest.mark.engine]

MANAGEMENT = Network(name="mgmt", device="eth0", rate="1gbit", subnet="10.10.1.0/24")
FAST = Network(name="hsn", device="hsn0", rate="1gbit", subnet="10.20.1.0/24")
UPPER = "up0"

BUILDS: dict[str, tuple[str, ...]] = {
    "macvlan": (f"ip link add link hsn0 name {UPPER} type macvlan mode bridge",),
    "ipvlan": (f"ip link add link hsn0 name {UPPER} type ipvlan mode l2",),
    "vlan": (f"ip link add link hsn0 name {UPPER} type vlan id 5",),
    "bridge": (f"ip link add {UPPER} type bridge", f"ip link set hsn0 master {UPPER}"),
    "bond": (
        f"ip link add {UPPER} type bond mode active-backup",
        "ip link set hsn0 down",
        f"ip link set hsn0 master {UPPER}",
    ),
    "team": (
        f"ip link add {UPPER} type team",
        "ip link set hsn0 down",
        f"ip link set hsn0 master {UPPER}",
    ),
}
OWN_NETWORK = "10.55.1"


def stacked(lab: Lab, kind: str) -> tuple[str, ...]:
    """An interface of ``kind`` on hsn0 of each node, alone in its network; its addresses. Skips
    what is not there.
    """
    addresses = []
    for number, node in enumerate(lab.nodes, 1):
        for line in BUILDS[kind]:
            done = run(lab, node, *line.split())
            if done.returncode != 0:
                pytest.skip(f"kernel: no {kind}: {done.stderr.strip()}")
        say(lab, node, "ip", "address", "flush", "dev", "hsn0")
        say(lab, node, "ip", "address", "add", f"{OWN_NETWORK}.{number}/24", "dev", UPPER)
        say(lab, node, "ip", "link", "set", "hsn0", "up")
        say(lab, node, "ip", "link", "set", UPPER, "up")
        addresses.append(f"{OWN_NETWORK}.{number}")
    neighbours(lab, tuple(addresses), UPPER)
    return tuple(addresses)


def streamed(
    lab: Lab, nic: str, addresses: tuple[str, ...], out: Path, *, hosts: tuple[str, ...] = ()
) -> Judgement:
    place = lab_target(lab, hosts or lab.nodes, nic="hsn0")
    place = dataclasses.replace(place, nics=(nic,) * place.size, addresses=addresses)
    both = [
        *sweep("stream", [1 << 20], [(0, 1)], budget_ms=300),
        *sweep("stream", [1 << 20], [(1, 0)], budget_ms=300),
    ]
    wish = Session(
        title="stacked", points=tuple(numbered(both, seed=1)), seed=1, transport="tcp", out=out
    )
    return run_session(wish, place, LoggingReporter())[0].judgement


def proofs(judgement: Judgement) -> set[str]:
    return {pair.proof for pair in judgement.pairs}


@pytest.mark.parametrize("claimed", [UPPER, "hsn0", "eth0"])
@pytest.mark.parametrize("kind", BUILDS)
def test_the_upper_and_the_lower_interface_are_one_path_and_another_is_not(
    build: Build, tmp_path: Path, kind: str, claimed: str
) -> None:
    lab = build(2, MANAGEMENT, FAST)
    addresses = stacked(lab, kind)
    judgement = streamed(lab, claimed, addresses, tmp_path / "run")
    assert proofs(judgement) == ({"wrong-path"} if claimed == "eth0" else {"on-wire"}), [
        one.message for one in judgement.findings
    ]


@pytest.mark.parametrize("kind", BUILDS)
def test_shared_memory_stays_memory_whatever_is_claimed(
    build: Build, tmp_path: Path, kind: str
) -> None:
    lab = build(2, MANAGEMENT, FAST)
    first = stacked(lab, kind)[0]
    for claimed in (UPPER, "hsn0"):
        judgement = streamed(lab, claimed, (first, first), tmp_path / claimed, hosts=("n1", "n1"))
        assert proofs(judgement) <= {"off-wire", "unproven"}
        assert judgement.verdict != "pass"


def neighbours(lab: Lab, addresses: tuple[str, ...], device: str) -> None:
    """Each node sends frames for the other's address to that node's ``device``: an answer to ARP
    would be a race.
    """
    for number, node in enumerate(lab.nodes):
        mac = say(lab, lab.nodes[1 - number], "cat", f"/sys/class/net/{device}/address")
        peer = addresses[1 - number]
        say(lab, node, *f"ip neighbour replace {peer} lladdr {mac} dev {UPPER}".split())


def test_a_macvlan_whose_replies_enter_its_parent_is_not_memory(
    build: Build, tmp_path: Path
) -> None:
    """The peer knows the address at the parent: "went through memory", while the parent carried 356
    MB.
    """
    lab = build(2, MANAGEMENT, FAST)
    addresses = stacked(lab, "macvlan")
    neighbours(lab, addresses, "hsn0")
    judgement = streamed(lab, UPPER, addresses, tmp_path / "run")
    assert proofs(judgement) == {"wrong-path"}
    assert not any("memory" in one.message for one in judgement.findings)
    assert any("hsn0" in one.message for one in judgement.findings if one.code == "wrong-path")
