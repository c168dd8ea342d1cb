"""Which ports of a host can have priority flow control. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wireproof.analysis.relations import lower_of
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
    known = {one.name: one for one in nics}
    first = known.get(named) or next((one for one in nics if _has_device(one, named)), None)
    if first is None:
        return []
    found: dict[str, None] = {}
    seen: set[str] = set()
    waiting = [first]
    while waiting:
        one = waiting.pop(0)
        if one.name in seen:
            continue
        seen.add(one.name)
        lower = [known[name] for name in _below(one, nics) if name in known]
        waiting += lower
        if not lower:
            found[one.name] = None
    return list(found)


def _below(nic: Nic, nics: Sequence[Nic]) -> Iterable[str]:
    return lower_of(nic, nics) if nic.kind == "virtual" else nic.lower


def _has_device(nic: Nic, device: str) -> bool:
    return nic.rdma is not None and device in (
        nic.rdma.device,
        f"{nic.rdma.device}:{nic.rdma.port}",
    )
