"""What a lab starts and writes, without starting it."""

from pathlib import Path

import pytest

from wireproof.lab import commands
from wireproof.lab.commands import Shape, burst_bytes, gso_bytes, shape_of, transition
from wireproof.model.topology import Fault, Network, Topology

HSN = Network(name="hsn", device="hsn0", subnet="10.20.1.0/24", rate="1gbit")
FAST = Network(name="fast", device="fast0", subnet="10.30.1.0/24", rate="10gbit", mtu=9000)
PLAIN = Network(name="plain", device="plain0", subnet="10.40.1.0/24")
SLOW = Fault(node="n2", network="hsn", kind="rate", direction="tx", value="300mbit")
CLASS = (
    "class {0} dev d parent 1: classid 1:1 htb rate {1}bit ceil {1}bit burst {2} cburst {2} quantum"
    " 60000"
)
TWO = Topology(nodes=("n1", "n2"), networks=(HSN,), faults=(SLOW,))


def test_the_supervisor_is_told_its_nodes_and_what_they_own() -> None:
    topology = Topology(nodes=("n1", "n2"), networks=(HSN,), share=("ipc", "pid"))
    argv = commands.hold_argv(
        Path("/x/wireproof-node"),
        name="a",
        state=Path("/s/a"),
        cookie="c0",
        topology=topology,
        descriptors=(4, 5),
        user=True,
    )
    assert argv == [
        *("/x/wireproof-node", "hold", "--lab", "a", "--cookie", "c0", "--state", "/s/a"),
        *("--report-fd", "4", "--control-fd", "5", "--user-namespace"),
        *("--node", "n1=net,uts,mount,shm", "--node", "n2=net,uts,mount,shm"),
    ]


def test_entering_keeps_the_command_as_it_is() -> None:
    argv = commands.enter_argv(Path("/x/n"), Path("/s/a"), "n1", ["echo", "a b", "--", "$HOME"])
    assert argv == ["/x/n", "enter", "--state", "/s/a", "n1", "--", "echo", "a b", "--", "$HOME"]


def test_hosts_lead_to_the_first_network_and_name_the_node_on_each_line() -> None:
    topology = Topology(nodes=("n1", "n2"), networks=(HSN, FAST))
    assert commands.hosts_text(topology).splitlines() == [
        "127.0.0.1 localhost",
        "10.20.1.1 n1 n1-hsn # n1",
        "10.20.1.2 n2 n2-hsn # n2",
        "10.30.1.1 n1-fast # n1",
        "10.30.1.2 n2-fast # n2",
    ]


def test_links_are_made_on_the_switch_with_their_far_end_in_the_node() -> None:
    assert commands.switch_link_lines(TWO, {"n1": 2, "n2": 3})[:4] == [
        "link add br_hsn type bridge forward_delay 0 mcast_snooping 0",
        "link set dev br_hsn up",
        (
            "link add n1-hsn0 mtu 1500 gso_max_size 16384 type veth peer name hsn0 mtu 1500"
            " gso_max_size 16384 netns 2"
        ),
        "link set dev n1-hsn0 master br_hsn up",
    ]


def test_networks_with_one_switch_share_a_bridge() -> None:
    other = Network(name="rail2", device="hsn1", subnet="10.21.1.0/24", switch="hsn")
    lines = commands.switch_link_lines(Topology(nodes=("n1",), networks=(HSN, other)), {"n1": 2})
    assert [line for line in lines if "type bridge" in line] == [
        "link add br_hsn type bridge forward_delay 0 mcast_snooping 0"
    ]
    assert "link set dev n1-hsn1 master br_hsn up" in lines


def test_a_port_name_that_is_too_long_becomes_a_position() -> None:
    topology = Topology(nodes=("n1", "a-node-with-long-name"), networks=(HSN,))
    assert commands.port_device(topology, "n1", HSN) == "n1-hsn0"
    assert commands.port_device(topology, "a-node-with-long-name", HSN) == "p1-0"


def test_a_nic_that_is_planted_down_is_not_raised() -> None:
    down = Fault(node="n1", network="hsn", kind="down")
    topology = Topology(nodes=("n1", "n2"), networks=(HSN,), faults=(down,))
    assert commands.node_link_lines(topology, "n1") == ["addr add 10.20.1.1/24 dev hsn0"]
    assert commands.node_link_lines(topology, "n2")[-1] == "link set dev hsn0 up"


def test_the_bucket_is_64_us_of_line_rate_and_segments_are_small_below_2_gbit_only() -> None:
    assert [burst_bytes(rate) for rate in (10**9, 10**10, 10**7)] == [8000, 80_000, 2000]
    assert [gso_bytes(network) for network in (HSN, FAST, PLAIN)] == [16384, None, None]


def test_a_sender_is_limited_at_the_node_and_a_receiver_at_the_switch() -> None:
    def limited(lines: list[str]) -> list[str]:
        return [line for line in lines if "rate 300000000bit" in line]

    assert limited(commands.node_shaping_lines(TWO, "n2"))
    assert not limited(commands.node_shaping_lines(TWO, "n1"))
    assert not limited(commands.switch_shaping_lines(TWO))
    late = Fault(node="n2", network="hsn", kind="rate", direction="rx", value="300mbit")
    receiving = Topology(nodes=("n1", "n2"), networks=(HSN,), faults=(late,))
    (line,) = limited(commands.switch_shaping_lines(receiving))
    assert "dev n2-hsn0" in line
    assert "burst 2400 " in line


def test_a_fault_never_makes_a_link_faster_and_an_unshaped_network_gets_no_shaper() -> None:
    fast = Fault(node="n1", network="hsn", kind="rate", direction="tx", value="40gbit")
    assert shape_of(HSN, [fast], "n1", "tx").rate == 10**9
    assert commands.node_shaping_lines(Topology(nodes=("n1",), networks=(PLAIN,)), "n1") == []


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        (Shape(), Shape(), []),
        (
            Shape(),
            Shape(rate=10**9, burst=8000),
            [
                "qdisc add dev d root handle 1: htb default 1 r2q 1000",
                CLASS.format("add", 10**9, 8000),
            ],
        ),
        (
            Shape(rate=10**9, burst=8000),
            Shape(rate=3 * 10**8, burst=2400),
            [CLASS.format("change", 3 * 10**8, 2400)],
        ),
        (Shape(rate=10**9), Shape(), ["qdisc del dev d root"]),
        (
            Shape(rate=10**9),
            Shape(rate=10**9, delay_us=100, loss_percent=0.5),
            ["qdisc add dev d parent 1:1 handle 10: netem limit 10000 delay 100us loss 0.5%"],
        ),
        (
            Shape(rate=10**9, delay_us=100),
            Shape(rate=10**9, delay_us=200),
            ["qdisc change dev d parent 1:1 handle 10: netem limit 10000 delay 200us"],
        ),
        (
            Shape(rate=10**9, delay_us=100),
            Shape(rate=10**9),
            ["qdisc del dev d parent 1:1 handle 10:"],
        ),
    ],
)
def test_from_one_shape_to_another(old: Shape, new: Shape, lines: list[str]) -> None:
    assert transition("d", old, new) == lines


def test_delay_on_an_unshaped_link_gets_a_class_to_hang_below() -> None:
    lines = transition("d", Shape(), Shape(delay_us=100))
    assert [line.split(" dev ")[0] for line in lines] == ["qdisc add", "class add", "qdisc add"]


def test_lifting_and_planting_touch_only_what_changes() -> None:
    assert commands.fault_batches(TWO, "n2", HSN, [SLOW], [SLOW]) == []
    ((where, tool, lines),) = commands.fault_batches(TWO, "n2", HSN, [SLOW], [])
    assert (where, tool) == ("n2", "tc")
    assert "rate 1000000000bit" in lines[0]
    down = Fault(node="n1", network="hsn", kind="down")
    assert commands.fault_batches(TWO, "n1", HSN, [], [down]) == [
        ("n1", "ip", ["link set dev hsn0 down"])
    ]
    assert commands.fault_batches(TWO, "n1", HSN, [down], []) == [
        ("n1", "ip", ["link set dev hsn0 up"])
    ]
    late = Fault(node="n1", network="hsn", kind="delay", direction="rx", value="1ms")
    ((where, tool, lines),) = commands.fault_batches(TWO, "n1", HSN, [], [late])
    assert (where, tool) == (commands.SWITCH, "tc")
    assert "dev n1-hsn0" in lines[0]
