"""Which ports of a host can have priority flow control. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from wireproof.analysis.relations import beneath, port_called, stacks
from wireproof.model.rails import rails_of
from wireproof.model.record import Nic

__all__ = ["bottom", "ports_of"]


def ports_of(nics: Sequence[Nic], named: str = "") -> list[str]:
    """What ``named`` (an interface, or rails) stands on at the bottom; without a name the Ethernet
    ports that have RDMA, else all that have a carrier, else the virtual ones. Empty: ``named`` is
    not there.
    """
    if named:
        return list(dict.fromkeys(one for rail in rails_of(named) for one in bottom(nics, rail)))
    ethernet = [one for one in nics if one.kind == "ethernet" and one.carrier is not False]
    rdma = [one for one in ethernet if one.rdma is not None]
    virtual = [one for one in nics if one.kind == "virtual" and not one.lower]
    return [one.name for one in rdma or ethernet or virtual]


def bottom(nics: Sequence[Nic], named: str) -> list[str]:
    """``named``, or the ports at the bottom of a VLAN or bond of that name: pauses are counted
    there. It may be the name of an RDMA device.
    """
    first = port_called(nics, named)
    if first is None:
        return []
    lower = stacks(nics)
    every = [first.name, *beneath(first.name, lower)]
    return [one for one in every if not any(below in lower for below in lower[one])]
