"""Our own sockets use the claimed NIC, whatever the hosts' names lead to, or say in one sentence
why they cannot.
"""

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from tests.lab.conftest import Build, say

from wireproof.lab.cluster import Lab
from wireproof.lab.commands import SWITCH, port_device
from wireproof.measure.points import numbered, sweep
from wireproof.measure.session import Session
from wireproof.measure.session.run import run_session
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.topology import Network
from wireproof.report.reporter import LoggingReporter
from wireproof.target import Target, lab_target

pytestmark = [pytest.mark.netns, pytest.mark.engine]

MANAGEMENT = Network(name="mgmt", device="eth0", rate="1gbit", subnet="10.10.1.0/24")
FAST = Network(name="hsn", device="hsn0", rate="1gbit", subnet="10.20.1.0/24")


def streamed(lab: Lab, nic: str, out: Path) -> Any:
    """A stream by sockets on hosts whose addresses on the NIC nobody told; they meet at the
    management network.
    """
    place = lab_target(lab, lab.nodes, nic="hsn0")
    nics = (nic,) * len(lab.nodes)
    place = dataclasses.replace(place, nics=nics, addresses=())
    both_ways = [
        *sweep("stream", [1 << 20], [(0, 1)], budget_ms=200),
        *sweep("stream", [1 << 20], [(1, 0)], budget_ms=200),
    ]
    points = tuple(numbered(both_ways, seed=1))
    wish = Session(title="sockets", points=points, seed=1, transport="tcp", out=out)
    section, _ = run_session(wish, place, LoggingReporter())
    return section.judgement


@pytest.fixture
def meets_at_management(monkeypatch: pytest.MonkeyPatch) -> None:
    from wireproof.launch.here import meeting_point

    def meet(self: Any) -> str:
        return meeting_point(self.lab.node_address(self.hosts[0], "mgmt"))

    monkeypatch.setattr(Target, "meet", meet)


@pytest.mark.usefixtures("meets_at_management")
def test_sockets_bind_to_the_claimed_nic(build: Build, tmp_path: Path) -> None:
    """They took the network that the hosts' names lead to, failed wrong-path and advised MPI
    variables.
    """
    judgement = streamed(build(2, MANAGEMENT, FAST), "hsn0", tmp_path / "run")
    assert {pair.proof for pair in judgement.pairs} == {"on-wire"}


@pytest.mark.usefixtures("meets_at_management")
def test_a_claimed_nic_without_an_address_is_one_sentence(build: Build, tmp_path: Path) -> None:
    lab = build(2, MANAGEMENT, FAST)
    for node in lab.nodes:
        say(lab, node, "ip", "address", "flush", "dev", "hsn0")
    with pytest.raises(BadInput, match="hsn0 has no IP address"):
        streamed(lab, "hsn0", tmp_path / "run")


@pytest.mark.usefixtures("meets_at_management")
def test_a_peer_that_the_claimed_nic_does_not_reach_is_one_sentence(
    build: Build, tmp_path: Path
) -> None:
    lab = build(2, MANAGEMENT, FAST)
    say(lab, "n2", "ip", "address", "flush", "dev", "hsn0")
    say(lab, "n2", "ip", "address", "add", "10.77.7.2/24", "dev", "hsn0")
    with pytest.raises(CouldNotMeasure, match="no route by hsn0"):
        streamed(lab, "hsn0", tmp_path / "run")


@pytest.mark.usefixtures("meets_at_management")
def test_a_switch_port_that_drops_large_frames_is_proven(build: Build, tmp_path: Path) -> None:
    """After 61 s an MTU black hole was one of four candidates."""
    jumbo = Network(name="hsn", device="hsn0", rate="1gbit", subnet="10.20.1.0/24", mtu=9000)
    lab = build(2, MANAGEMENT, jumbo)
    for node in lab.nodes:  # the kernel does not look at the length of what it would segment
        say(lab, node, "ip", "link", "set", "hsn0", "gso_max_size", "1500")
    port = port_device(lab.topology, "n2", jumbo)
    say(lab, SWITCH, "ip", "link", "set", port, "mtu", "1500")
    with pytest.raises(CouldNotMeasure, match=r"from n. to n. .* 1500 .* 9000 .*black hole"):
        streamed(lab, "hsn0", tmp_path / "run")
