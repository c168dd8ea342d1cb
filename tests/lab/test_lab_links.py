"""Links are as fast as stated and not faster; faults are in the direction that was planted and can
be lifted.
"""

import msgspec
import pytest
from tests.lab.conftest import HSN, Build, best_rate, limited, run, say, stream_rate

from wireproof.model.claim import LinkClaim
from wireproof.model.errors import BadInput, LabError
from wireproof.model.topology import Fault, Network
from wireproof.physics.table import link_from_name
from wireproof.target import lab_target

pytestmark = pytest.mark.netns

PAYLOAD_SHARE = 1448 / 1514  # of a frame as HTB counts it, MTU 1500, TCP time stamps
GIGABIT = 1e9 / 8 * PAYLOAD_SHARE
SLOW = Fault(node="n2", network="hsn", kind="rate", direction="tx", value="100mbit")


def test_a_gigabit_carries_a_gigabit(build: Build) -> None:
    lab = build(2)
    before = lab.counters("n1", "hsn0")["tx_bytes"], lab.counters("n2", "hsn0")["rx_bytes"]
    stream_rate(lab, "n1", "n2")
    sent = lab.counters("n1", "hsn0")["tx_bytes"] - before[0]
    seen = lab.counters("n2", "hsn0")["rx_bytes"] - before[1]
    assert 1.0 < sent / (64 << 20) < 1.1
    assert 1.0 < seen / (64 << 20) < 1.1
    assert limited(lab, "n1", "n2", GIGABIT)


def test_a_slow_direction_is_slow_in_that_direction_only(build: Build) -> None:
    lab = build(2, faults=(SLOW,))
    assert limited(lab, "n2", "n1", 0.1 * GIGABIT, size=16 << 20)
    assert limited(lab, "n1", "n2", GIGABIT)
    assert best_rate(lab, "n2", "n1", size=8 << 20) < 0.5 * best_rate(lab, "n1", "n2")


def test_a_receiver_is_limited_at_the_switch(build: Build) -> None:
    lab = build(
        2,
        Network(name="hsn", device="hsn0", rate="10gbit", subnet="10.20.1.0/24", mtu=9000),
        faults=(Fault(node="n1", network="hsn", kind="rate", direction="rx", value="100mbit"),),
    )
    assert limited(lab, "n2", "n1", 0.1e9 / 8 * 8948 / 9014, size=16 << 20)
    assert best_rate(lab, "n2", "n1", size=8 << 20) < 0.5 * best_rate(lab, "n1", "n2")


def test_faults_are_planted_and_lifted_while_the_lab_runs(build: Build) -> None:
    lab = build(2)
    assert lab.faults == ()
    lab.set_fault(SLOW)
    assert lab.status().faults == (SLOW,)
    assert limited(lab, "n2", "n1", 0.1 * GIGABIT, size=16 << 20)
    lab.set_fault(Fault(node="n2", network="hsn", kind="rate", direction="tx", value="50mbit"))
    assert limited(lab, "n2", "n1", 0.05 * GIGABIT, size=8 << 20)
    lab.clear_fault(SLOW)
    assert limited(lab, "n2", "n1", GIGABIT)
    with pytest.raises(BadInput, match="no rate fault at n2"):
        lab.clear_fault(SLOW)


def test_a_nic_goes_down_and_comes_back_with_its_address(build: Build) -> None:
    lab = build(2)
    down = Fault(node="n2", network="hsn", kind="down")
    lab.set_fault(down)
    assert say(lab, "n2", "cat", "/sys/class/net/hsn0/operstate") == "down"
    assert "NO-CARRIER" in say(lab, "@switch", "ip", "-br", "link", "show", "dev", "n2-hsn0")
    lab.clear_fault(down)
    assert say(lab, "n2", "cat", "/sys/class/net/hsn0/operstate") == "up"
    assert stream_rate(lab, "n1", "n2", size=1 << 20) > 0


def test_a_nic_can_be_down_from_the_start(build: Build) -> None:
    lab = build(2, faults=(Fault(node="n1", network="hsn", kind="down"),))
    assert say(lab, "n1", "cat", "/sys/class/net/hsn0/operstate") == "down"


def test_a_fault_that_cannot_be(build: Build) -> None:
    lab = build(2)
    with pytest.raises(BadInput, match="there is no 'n7'"):
        lab.set_fault(Fault(node="n7", network="hsn", kind="down"))
    assert lab.status().faults == ()


def test_delay_works_or_names_what_the_kernel_lacks(build: Build) -> None:
    lab = build(2)
    late = Fault(node="n1", network="hsn", kind="delay", direction="tx", value="20ms")
    try:
        lab.set_fault(late)
    except LabError as error:
        refusal = str(error)
    else:
        assert "delay 20ms" in say(lab, "n1", "tc", "qdisc", "show", "dev", "hsn0")
        return
    assert "this kernel has no netem (module sch_netem)" in refusal
    assert lab.status().faults == ()
    assert stream_rate(lab, "n1", "n2", size=1 << 20) > 0


def test_an_unshaped_network_is_faster_than_a_shaped_one(build: Build) -> None:
    plain = Network(name="plain", device="plain0", subnet="10.40.1.0/24", mtu=9000)
    lab = build(2, msgspec.structs.replace(HSN, rate="100mbit"), plain)
    assert "htb" not in say(lab, "n1", "tc", "qdisc", "show", "dev", "plain0")
    assert best_rate(lab, "n1", "n2", "plain") > 1.5 * best_rate(lab, "n1", "n2", size=8 << 20)
    assert lab.expected_link("plain").rate_bits_per_s is None


def test_a_link_that_is_named_keeps_the_shaping_of_the_lab(build: Build) -> None:
    """A token bucket lets bursts pass: a healthy lab would be faster than 1gbe by name."""
    plain = Network(name="plain", device="plain0", subnet="10.40.1.0/24")
    lab = build(2, msgspec.structs.replace(HSN, rate="1gbit"), plain)

    def claimed(link: str, nic: str) -> LinkClaim:
        found = lab_target(lab, ("n1", "n2"), nic=nic, link=link_from_name(link)).link
        assert found is not None
        return found

    named = claimed("1gbe", HSN.device)
    assert not named.preamble_counted
    assert named.kind == link_from_name("1gbe").kind
    assert "shaped by HTB" in named.source
    assert claimed("1gbe", "plain0").preamble_counted
    assert claimed("edr", HSN.device) == link_from_name("edr")


def test_two_rails_on_one_switch_reach_each_other(build: Build) -> None:
    rail = Network(name="rail", device="hsn1", subnet="10.21.1.0/24", switch="hsn", rate="1gbit")
    lab = build(2, HSN, rail)
    assert stream_rate(lab, "n1", "n2", "rail", size=1 << 20) > 0
    assert (
        run(lab, "@switch", "ip", "-br", "link", "show", "master", "br_hsn").stdout.count("hsn")
        == 4
    )
