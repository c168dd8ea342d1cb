"""Represent the rails of a host as one more port: what crossed them all crossed that port. Pure.

The kernel does not know this port: it is a bond that the user claims and no driver creates.
"""

from collections.abc import Iterable, Sequence

import msgspec

from wireproof.analysis.catalogue import family_of
from wireproof.analysis.relations import RAILS, port_called
from wireproof.model.claim import is_several, rails_of
from wireproof.model.ledger import Ledger, PortLedger
from wireproof.model.record import Host, Nic


def rail_nics(nics: Iterable[Nic], claim: str) -> list[Nic]:
    """Return the ports that ``claim`` names, in its order, without missing ones."""
    listed, names = list(nics), rails_of(claim)
    found = (port_called(listed, name) for name in names)
    return [nic for nic in found if nic is not None]


def with_rails(host: Host, claim: str) -> Host:
    """Return the host with an extra port for the claimed rails.

    Unchanged if the claim names one NIC, none, or NICs that the host does not have.
    """
    if not is_several(claim):
        return host
    found = rail_nics(host.nics, claim)
    if len({nic.name for nic in found}) < len(rails_of(claim)):
        return host
    return msgspec.structs.replace(host, nics=[*host.nics, _together(claim, found)])


def ledger_with_rails(ledger: Ledger, claim: str) -> Ledger:
    """Return the ledger with an extra port for the claimed rails, if the host has them all."""
    if not is_several(claim):
        return ledger
    found = rail_nics([port.nic for port in ledger.ports.values()], claim)
    if len({nic.name for nic in found}) < len(rails_of(claim)):
        return ledger
    known = all(ledger.ports[nic.name].known for nic in found)
    port = PortLedger(nic=_together(claim, found), tx=[], rx=[], known=known)
    return msgspec.structs.replace(ledger, ports={**ledger.ports, claim: port})


def are_rails(nic: Nic) -> bool:
    """Return whether the port stands for rails."""
    return nic.link_kind == RAILS


def is_known(nic: Nic, nics: Sequence[Nic]) -> bool:
    """Return whether the catalogue knows the port's counters; for rails, those of each."""
    if not are_rails(nic):
        return family_of(nic) is not None
    return all(family_of(one) is not None for one in nics if one.name in nic.lower)


def _together(claim: str, rails: Sequence[Nic]) -> Nic:
    sizes = [nic.mtu for nic in rails]
    carriers = {nic.carrier for nic in rails}
    return Nic(
        name=claim,
        kind="infiniband" if all(nic.kind == "infiniband" for nic in rails) else "ethernet",
        link_kind=RAILS,
        lower=[nic.name for nic in rails],
        mtu=None if None in sizes else min(size for size in sizes if size is not None),
        carrier=True if carriers == {True} else None,
    )
