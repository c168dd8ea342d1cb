"""Each form of topology as its tool writes it, and what a reader says of a wrong one."""

import tomllib
from pathlib import Path

import pytest

from wireproof.model.errors import BadInput
from wireproof.model.located import Fabric
from wireproof.topology import against, leaf_numbers, read_topology
from wireproof.topology.infiniband import host_and_nic
from wireproof.topology.nodes import expand

HERE = Path(__file__).parent
GOLDEN = HERE.parent / "golden" / "topology"


def read(name: str) -> Fabric:
    return read_topology((GOLDEN / name).read_text(encoding="utf-8"), name)


def leaves(fabric: Fabric) -> dict[str, str]:
    return {each.node: each.switch for each in fabric.attachments}


def cables(fabric: Fabric) -> dict[tuple[str, str], tuple[int, float | None]]:
    return {(each.one, each.other): (each.count, each.rate_bits_per_s) for each in fabric.cables}


def test_slurm_tree() -> None:
    fabric = read("slurm_tree.conf")
    expected = {f"n{index}": "leaf1" if index < 5 else "leaf2" for index in range(1, 9)}
    assert leaves(fabric) == expected | dict.fromkeys(("rack3-n01", "rack3-n02", "gpu1"), "leaf3")
    assert fabric.levels == {"leaf1": 1, "leaf2": 1, "leaf3": 1, "spine1": 2, "spine2": 2, "top": 3}
    assert ("leaf3", "spine1") in cables(fabric)
    assert ("leaf3", "spine2") not in cables(fabric)
    assert "number of cables" in fabric.notes[0]


def test_one_switch_has_no_cables_to_another() -> None:
    fabric = read_topology("SwitchName=a Nodes=n[1-4]\n", "topology.conf")
    assert leaves(fabric) == dict.fromkeys(("n1", "n2", "n3", "n4"), "a")
    assert not any("cables" in note for note in fabric.notes)


def test_scontrol_repeats_the_nodes_at_each_level() -> None:
    fabric = read("scontrol_topology.txt")
    assert leaves(fabric) == {
        f"n{index}": "leaf1" if index < 5 else "leaf2" for index in range(1, 9)
    }
    assert fabric.levels["spine1"] == 2


def test_slurm_blocks_are_leaves() -> None:
    fabric = read("slurm_block.conf")
    assert leaves(fabric)["n4"] == "block1"
    assert leaves(fabric)["n5"] == "block2"
    assert "blocks" in fabric.notes[0]


def test_ibnetdiscover() -> None:
    fabric = read("ibnetdiscover.txt")
    assert [(each.node, each.switch, each.nic, each.port) for each in fabric.attachments] == [
        ("n1", "leaf1", "mlx5_0", "1"),
        ("n2", "leaf1", "mlx5_0", "2"),
        ("n3", "leaf2", "HCA-1", "1"),
    ]
    assert cables(fabric) == {("leaf1", "spine1"): (2, 100e9), ("leaf2", "spine1"): (1, 200e9)}
    # the one without a host name; the switch's own agent is none
    assert "contains no host name: 1" in fabric.notes[0]


def test_opareport() -> None:
    fabric = read("opareport_links.txt")
    assert leaves(fabric) == {"n1": "leaf1", "n2": "leaf1", "n3": "leaf2"}
    assert cables(fabric) == {
        ("leaf1", "spine1 L112B"): (2, 50e9),
        ("leaf2", "spine1 L112B"): (1, 100e9),
    }


def switch_of(fabric: Fabric, node: str, nic: str) -> str:
    return next(one.switch for one in fabric.attachments if (one.node, one.nic) == (node, nic))


def test_lldp_keyvalue() -> None:
    fabric = read("lldp_keyvalue.txt")
    assert switch_of(fabric, "n1", "eno1") == "mgmt1"
    assert switch_of(fabric, "n1", "ens1f0np0") == "leaf1"
    assert fabric.leaves["n2"] == "leaf2"
    assert cables(fabric) == {("leaf1", "spine1"): (2, None), ("leaf2", "spine1"): (1, None)}


def test_lldp_text_between_rules() -> None:
    fabric = read("lldp_text.txt")
    assert [(each.node, each.switch, each.nic, each.port) for each in fabric.attachments] == [
        ("n1", "leaf1", "eth1", "Ethernet5"),
        ("n2", "00:11:22:33:44:0b", "eth1", "00:11:22:33:44:bb"),
    ]


def test_our_own_form() -> None:
    fabric = read("own.toml")
    assert switch_of(fabric, "n8", "ib0") == "leaf2"
    assert fabric.levels == {"leaf1": 1, "leaf2": 1, "spine1": 2, "spine2": 2}
    assert cables(fabric)["leaf1", "spine1"] == (2, 100e9)
    assert cables(fabric)["leaf1", "spine2"] == (1, None)


REFUSED = tomllib.loads((HERE / "refused.toml").read_text(encoding="utf-8"))["case"]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["said"])
def test_what_is_wrong_is_one_sentence(case: dict[str, str]) -> None:
    with pytest.raises(BadInput, match="(?s)" + case["said"].replace("[", r"\[")) as caught:
        read_topology(case["text"], "fabric.txt")
    assert "fabric.txt" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_rails_need_their_nics_named() -> None:
    text = "".join(
        f"[[switch]]\nname='{name}'\nnodes='n[1-2]'\nnic='{nic}'\n"
        for name, nic in (("a", "ib0"), ("b", "ib1"))
    )
    fabric = read_topology(text, "rails.toml")
    assert switch_of(fabric, "n2", "ib1") == "b"
    assert [each.switch for each in against(fabric, ["n1", "n2"], "ib1")[0].attachments] == [
        "b",
        "b",
    ]
    _, notes = against(fabric, ["n1", "n2"])
    assert "n1, n2 are attached to several switches" in notes[-1]


def test_a_switch_may_be_told_once_per_rail() -> None:
    text = (
        "[[switch]]\nname='a'\nnodes='n1'\nnic='ib0'\n[[switch]]\nname='a'\nnodes='n1'\nnic='ib1'\n"
    )
    assert len(read_topology(text, "t").attachments) == 2


def test_nodes_that_do_not_fit_are_noted() -> None:
    fabric, notes = against(read("slurm_tree.conf"), ["n1", "n5.cluster", "other"])
    assert leaves(fabric) == {"n1": "leaf1", "n5.cluster": "leaf2"}
    assert any(
        "9 nodes (n2, n3, n4, ...) are in slurm_tree.conf but not measured here" in note
        for note in notes
    )
    assert any("other has no place in slurm_tree.conf" in note for note in notes)
    assert not set(notes) & set(fabric.notes)  # the reader's own stay with the fabric
    assert leaf_numbers(fabric, ["n5.cluster", "other", "n1"]) == [0, -1, 1]


def test_a_topology_of_another_machine_holds_nobody() -> None:
    fabric, notes = against(read("slurm_tree.conf"), ["x1", "x2"])
    assert fabric.attachments == ()
    assert fabric.levels == {}
    assert any("x1, x2 have no place" in note for note in notes)
    assert leaf_numbers(fabric, ["x1", "x2"]) == leaf_numbers(None, ["x1", "x2"]) == [-1, -1]


def test_a_short_name_that_two_nodes_share_is_not_guessed() -> None:
    fabric, _ = against(read("slurm_tree.conf"), ["n1.east", "n1.west"])
    assert fabric.attachments == ()


def test_the_same_fabric_told_by_both_ends_counts_its_cables_once() -> None:
    text = (GOLDEN / "ibnetdiscover.txt").read_text(encoding="utf-8")
    assert cables(read_topology(text + text, "twice")) == cables(read_topology(text, "once"))


def test_a_switch_that_only_its_neighbour_names_keeps_its_identity() -> None:
    text = 'Switch 2 "S-01" # "leaf1"\n[1] "H-0a"[1](b) # "n1 mlx5_0"\n[2] "S-02"[1]\n'
    assert cables(read_topology(text, "cut")) == {("leaf1", "S-02"): (1, None)}


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("n1 mlx5_0", ("n1", "mlx5_0")),
        ("n1.cluster.org HCA-1", ("n1.cluster.org", "HCA-1")),
        ("n1 hfi1_0", ("n1", "hfi1_0")),
        ("'n1 mlx5_0'", ("n1", "mlx5_0")),
        ("login1", ("login1", "")),
        ("MT25408 ConnectX Mellanox Technologies", ("", "")),
        ("Mellanox Technologies Aggregation Node", ("", "")),
        ("mlx5_0", ("", "")),
        ("", ("", "")),
    ],
)
def test_whose_adapter_it_is(description: str, expected: tuple[str, str]) -> None:
    assert host_and_nic(description) == expected


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("tux[0-3,12]", ["tux0", "tux1", "tux2", "tux3", "tux12"]),
        ("r[1-2]n[08-10]", ["r1n08", "r1n09", "r1n10", "r2n08", "r2n09", "r2n10"]),
        ("a,b,a", ["a", "b"]),
        ("n[1-2]-ib, x", ["n1-ib", "n2-ib", "x"]),
        ("", []),
    ],
)
def test_sets_of_names(text: str, names: list[str]) -> None:
    assert expand(text, "here") == names
