"""The topology file: what it means, and one clear sentence for each thing that is wrong with it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof.lab.topology_file import check_topology, load_topology, parse_topology
from wireproof.model.errors import BadInput
from wireproof.model.topology import (
    Fault,
    Network,
    Topology,
    parse_delay_us,
    parse_loss_percent,
    parse_rate,
)

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "lab"
NETWORK = '[[network]]\nname = "hsn"\ndevice = "hsn0"\nrate = "1gbit"\nsubnet = "10.20.1.0/24"\n'
TWO = "nodes = 2\n" + NETWORK
FAULT = (
    '[[fault]]\nnode = "n1"\nnetwork = "hsn"\nkind = "rate"\ndirection = "tx"\nvalue = "300mbit"\n'
)


def test_a_count_gives_names_and_defaults() -> None:
    topology = parse_topology("nodes = 3\n" + NETWORK)
    assert topology.nodes == ("n1", "n2", "n3")
    assert topology.networks[0].mtu == 1500
    assert topology.networks[0].bridge == "hsn"
    assert topology.networks[0].rate_bits_per_s == 10**9
    assert topology.address("n3", "hsn") == "10.20.1.3"
    assert topology.share == ()


def test_names_networks_faults_and_shares() -> None:
    text = 'nodes = ["head", "c1"]\nshare = ["ipc"]\n' + NETWORK + FAULT.replace("n1", "head")
    topology = parse_topology(text)
    assert topology.nodes == ("head", "c1")
    assert topology.share == ("ipc",)
    assert topology.faults == (
        Fault(node="head", network="hsn", kind="rate", direction="tx", value="300mbit"),
    )


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_every_example_is_good(path: Path) -> None:
    assert len(load_topology(path).nodes) >= 2


def test_the_examples_are_those_that_the_documents_name() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.toml")} >= {
        *("two-nodes-1g", "two-nodes-10g", "four-nodes-bad-direction", "two-networks", "shared-ipc")
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nodes = ", "not TOML"),
        (NETWORK, "'nodes' is missing"),
        ("nodes = 2\n", "no network"),
        ("nodes = 0\n" + NETWORK, "give 1 to 128"),
        ("nodes = 9999\n" + NETWORK, "give 1 to 128"),
        ("nodes = true\n" + NETWORK, "nodes: expected a whole number or a list"),
        ("nodes = 2.5\n" + NETWORK, "nodes: expected a whole number or a list"),
        ("nodes = []\n" + NETWORK, "give 1 to 128"),
        ("nodes = [1, 2]\n" + NETWORK, "line 1: nodes 1: expected text, got a whole number"),
        ('nodes = ["N1"]\n' + NETWORK, "'N1' cannot be a node's name"),
        ('nodes = ["a;rm"]\n' + NETWORK, "cannot be a node's name"),
        ('nodes = ["../x"]\n' + NETWORK, "cannot be a node's name"),
        ('nodes = ["localhost"]\n' + NETWORK, "cannot be a node's name"),
        ('nodes = ["n1", "n1"]\n' + NETWORK, "'n1' would occur twice"),
        ('nodes = ["n1", "n1-hsn"]\n' + NETWORK, "'n1-hsn' would occur twice"),
        ("node = 2\n" + NETWORK, "line 1: 'node' is not known: did you mean nodes?"),
        ("nodes = 2\nnetwork = 3\n", "line 2: network: expected a list"),
        (TWO + 'rat = "1gbit"\n', "line 7: network 1: 'rat' is not known: did you mean rate?"),
        (TWO + "mtu = 100\n", "mtu = 100 is out of range"),
        (TWO + 'mtu = "big"\n', "line 7: network 1, mtu: expected a whole number"),
        (TWO.replace("1gbit", "1Gb/s"), "rate '1Gb/s' is not understood"),
        (TWO.replace("hsn0", "fab0"), "PSM3 interprets as a number"),
        (TWO.replace('"hsn0"', '"lo"'), "cannot be a NIC's name"),
        (TWO.replace('"hsn0"', '"hsn0 up"'), "cannot be a NIC's name"),
        (TWO.replace('"hsn0"', '"a-name-that-is-too-long"'), "cannot be a NIC's name"),
        (TWO.replace('name = "hsn"', 'name = "h s"'), "name: use 1 to 10"),
        (TWO.replace("10.20.1.0/24", "10.20.1.1/24"), "has host bits set"),
        (TWO.replace("10.20.1.0/24", "10.20.1.0/31"), "is too small for 2 nodes"),
        (TWO.replace("10.20.1.0", "127.0.0.0"), "is too small"),
        (TWO.replace('subnet = "10.20.1.0/24"\n', ""), "network 1: 'subnet' is missing"),
        (TWO + NETWORK, "two networks have name = 'hsn'"),
        (
            TWO + NETWORK.replace('"hsn"', '"two"').replace("hsn0", "two0"),
            "network 'two': subnet 10.20.1.0/24 overlaps",
        ),
        (
            "nodes = 2\n" + 'share = ["net"]\n' + NETWORK,
            "share 1: 'net' is not one of ipc, mount, pid, shm, uts",
        ),
        ("nodes = 2\n" + 'share = ["mount"]\n' + NETWORK, 'needs "pid" and "shm" too'),
        (TWO + FAULT.replace("n1", "n7"), "fault 1: node: there is no 'n7'"),
        (TWO + FAULT.replace('"hsn"', '"hsm"'), "network: there is no 'hsm' (did you mean hsn?)"),
        (TWO + FAULT.replace("300mbit", "fast"), "fault 1: value: rate 'fast'"),
        (TWO + FAULT.replace('direction = "tx"\n', ""), "direction is missing"),
        (TWO + FAULT.replace('value = "300mbit"\n', ""), "value is missing"),
        (TWO + FAULT.replace('"rate"', '"down"'), "neither a direction nor a value"),
        (
            TWO + FAULT.replace('"rate"', '"gone"'),
            "fault 1, kind: 'gone' is not one of delay, down, loss, rate",
        ),
        (TWO + FAULT + FAULT, "fault 2: rate is given twice"),
    ],
)
def test_what_is_wrong_is_named_with_the_file(text: str, said: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_topology(text, "lab.toml")
    assert said in str(caught.value)
    assert str(caught.value).startswith("lab.toml")


def test_a_topology_made_by_a_program_is_checked_too() -> None:
    good = Network(name="hsn", device="hsn0", subnet="10.20.1.0/24")
    check_topology(Topology(nodes=("n1",), networks=(good,)))
    with pytest.raises(BadInput, match="cannot be a node's name"):
        check_topology(Topology(nodes=("n 1",), networks=(good,)))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "does not exist"),
        (b"\xff\xfe", "is not text in UTF-8"),
        (b"#" * (1 << 20) + b"##", "larger than 1 MiB"),
    ],
)
def test_a_file_that_is_none(tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "lab.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadInput, match=said):
        load_topology(path)


def test_units() -> None:
    assert parse_rate("2.5gbit") == 2_500_000_000
    assert parse_rate(" 300 Mbit ") == 300_000_000
    assert parse_rate("64kbit") == 64_000
    assert parse_loss_percent("0.5%") == 0.5
    assert parse_delay_us("2ms") == 2000


@pytest.mark.parametrize(
    "text", ["0gbit", "1", "gbit", "-1gbit", "1e9bit", "9999999gbit", "١gbit", ""]
)
def test_no_rate(text: str) -> None:
    with pytest.raises(BadInput):
        parse_rate(text)


@given(st.text())
def test_any_text_is_a_topology_or_bad_input(text: str) -> None:
    try:
        topology = parse_topology(text)
    except BadInput:
        return
    assert topology.nodes


@given(st.text(alphabet="0123456789.kmgbit% us"))
def test_any_quantity_is_in_range_or_bad_input(text: str) -> None:
    try:
        rate = parse_rate(text)
    except BadInput:
        return
    assert 8_000 <= rate <= 10**12
