"""Which port a name means, and what stands on what, also in files that others have written."""

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from wireproof.ledger.crossed import at_rails, crossed_at, everywhere, others_than
from wireproof.ledger.places import inner, one_place
from wireproof.ledger.relations import ledger_with_rails, port_called, stacks
from wireproof.model.record import AdapterIdentity, Nic, Rdma
from wireproof.model.traffic import Ledger, LedgerEntry, PortLedger


def nic(name: str, device: str = "", port: int = 1, **fields: Any) -> Nic:
    rdma = Rdma(device=device, port=port, driver="mlx5_core") if device else None
    return Nic(name=name, rdma=rdma, **{"driver": "mlx5_core", **fields})


def virtual(name: str, kind: str, *lower: str, device: str = "") -> Nic:
    return nic(name, device, kind="virtual", link_kind=kind, lower=list(lower), driver="")


BOND = virtual("bond0", "bond", "p0", "p1", device="mlx5_bond_0")
LAG = (nic("p0", "mlx5_bond_0"), nic("p1"), BOND, virtual("bond0.7", "vlan", "bond0"))
_FIRST, _OTHER = nic("p0", "mlx5_bond_0"), nic("p1")
_OVER = virtual("bond0", "bond", "p0", "p1")
_TWO = (nic("p0", "mlx5_0"), nic("p1", "mlx5_1"))
_APART = (*_TWO, virtual("bond0", "bond", "p0", "p1", device="mlx5_0"))
_MASTER = virtual("bond0", "bond", device="mlx5_bond_0")
_NAMING = (nic("p0", "mlx5_bond_0", master="bond0"), nic("p1", master="bond0"), _MASTER)
_MAKERS = (nic("p0", "mlx5_0"), nic("p1", driver="igb"), _OVER)
_VLAN = (virtual("hsn0.7", "vlan", "hsn0", device="mlx5_0"), nic("hsn0", "mlx5_0"))
_IB = {"kind": "infiniband"}
_CHILD = (nic("ib0.8001", "mlx5_0", lower=["ib0"], **_IB), nic("ib0", "mlx5_0", **_IB))
CASES = {
    "the bond of a LAG": (LAG, "mlx5_bond_0", "bond0"),
    "by its port": (LAG, "mlx5_bond_0:1", "bond0"),
    "no such port": (LAG, "mlx5_bond_0:2", ""),
    "an interface's own name": (LAG, "p0", "p0"),
    "members that name their master": (_NAMING, "mlx5_bond_0", "bond0"),
    "a bond that no GID names": ((_FIRST, _OTHER, _OVER), "mlx5_bond_0", "bond0"),
    "members with devices of their own": (_APART, "mlx5_0", "p0"),
    "the other one of these": (_APART, "mlx5_1", "p1"),
    "a bond of two makers": (_MAKERS, "mlx5_0", "p0"),
    "a VLAN's port": (_VLAN, "mlx5_0", "hsn0"),
    "an IPoIB child's port": (_CHILD, "mlx5_0:1", "ib0"),
    "the first port of two": ((nic("ib1", "mlx4_0", 2), nic("ib0", "mlx4_0", 1)), "mlx4_0", "ib0"),
    "the second of two": ((nic("ib0", "mlx4_0", 1), nic("ib1", "mlx4_0", 2)), "mlx4_0:2", "ib1"),
    "Omni-Path's interface": ((nic("ib0", "hfi1_0", driver="hfi1", **_IB),), "hfi1_0", "ib0"),
    "a device without an interface": ((nic("hfi1_0:1", "hfi1_0"),), "hfi1_0", "hfi1_0:1"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_name_means_one_port(case: str) -> None:
    nics, name, meant = CASES[case]
    for order in (nics, nics[::-1]):
        found = port_called(order, name)
        assert (found.name if found is not None else "") == meant


NAMES = tuple("abcdef")
names = st.sampled_from(NAMES)
ports = st.builds(
    lambda lower, kind, real, physical, count: (lower, kind, real, physical, count),
    st.lists(names, max_size=3),
    st.sampled_from(("", "bond", "vlan", "bridge", "veth", "rails")),
    st.sampled_from(("ethernet", "infiniband", "virtual", "loopback")),
    st.sampled_from(("", "0000:3b:00.0", "0000:3b:00.1")),
    st.sampled_from((None, 0.0, 1e9, 2e9)),
)


def _ledger(drawn: list[tuple[list[str], str, Any, str, float | None]]) -> Ledger:
    found = {}
    for number, (name, (lower, kind, real, physical, count)) in enumerate(
        zip(NAMES, drawn, strict=False)
    ):
        entry = LedgerEntry(carrier="any", level="wire", quality="exact", bytes=count)
        one = Nic(
            name=name,
            kind=real,
            link_kind=kind,
            lower=lower,
            pci=f"0000:3b:00.{number % 3}",
            adapter=AdapterIdentity(serial="00-01", physical=physical),
        )
        found[name] = PortLedger(nic=one, tx=[entry], rx=[entry])
    return Ledger(host="n1", interval_ns=1e9, ports=found)


_TWICE = (["d", "b", "d"], "bond", "virtual", "0000:3b:00.1", 1e9)


@settings(max_examples=300)
@example([_TWICE, _TWICE, _TWICE, (["d", "b", "b"], *_TWICE[1:])], "b", "f")
@given(st.lists(ports, min_size=1, max_size=6), names, names)
def test_circles_and_towers_of_ports_end(drawn: list[Any], one: str, other: str) -> None:
    ledger = ledger_with_rails(_ledger(drawn), f"{one},{other}")
    most = 2e9 * len(ledger.ports)
    for name in ledger.ports:
        assert (crossed_at(ledger, name, "tx").bytes or 0.0) <= most
        assert all((rest.bytes or 0.0) >= 0.0 for rest in others_than(ledger, name, "tx").values())
        assert name in one_place(ledger, [name])
    assert sum(seen.bytes or 0.0 for seen in everywhere(ledger, "tx").values()) <= most
    assert set(inner(ledger)) <= set(ledger.ports)
    there = [name for name in (one, other) if name in ledger.ports]
    assert set(at_rails(ledger, list(dict.fromkeys(there)), "tx")) == set(there)


def _over_ib0(name: str) -> Nic:
    rdma = Rdma(device="mlx5_0", port=1, link_layer="InfiniBand", driver="mlx5_core")
    return Nic(name=name, kind="infiniband", driver="mlx5_core", rdma=rdma)


def test_an_ipoib_interface_for_a_partition_key_is_one_place_with_its_parent() -> None:
    """The kernel names no port below it; both use the same port of the same device."""
    children = ["ib0.8001", "ib0.8002"]
    found = stacks([*map(_over_ib0, reversed(children)), _over_ib0("ib0")])
    assert found == {"ib0": [], "ib0.8001": ["ib0"], "ib0.8002": ["ib0"]}


def test_a_vlan_over_a_bond_without_rdma_has_none_of_it() -> None:
    """What members count beside the bond's own sockets is not the VLAN's."""
    late = LedgerEntry(carrier="any", level="wire", quality="stale", bytes=2e9)
    legs = [
        Nic(name=one, kind="ethernet", driver="bnxt_en", master="bond0") for one in ("p0", "p1")
    ]
    bond = Nic(name="bond0", kind="virtual", link_kind="bond", lower=["p0", "p1"])
    vlan = Nic(name="bond0.7", kind="virtual", link_kind="vlan", lower=["bond0"])
    kernel = LedgerEntry(carrier="kernel", level="stack", quality="double", bytes=1e9)
    ports = {nic.name: PortLedger(nic=nic, tx=[late, kernel], rx=[], known=True) for nic in legs}
    ports |= {nic.name: PortLedger(nic=nic, tx=[kernel], rx=[], known=True) for nic in (bond, vlan)}
    found = crossed_at(Ledger(host="n1", interval_ns=1e9, ports=ports), "bond0.7", "tx")
    assert (found.bytes, found.quality) == (1e9, "double")
