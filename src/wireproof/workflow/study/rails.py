"""Which NICs the library may share its payload among, on all hosts alike."""

from __future__ import annotations

from collections.abc import Sequence

from wireproof.model.errors import BadInput
from wireproof.model.record import Host, Nic
from wireproof.study.path import rails_of

__all__ = ["agreed_rails"]


def agreed_rails(hosts: Sequence[Host], asked: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """The claimed NICs where they are several; else the claimed one and those like it that every
    host has, with what should be known of that. Raises ``BadInput`` for a rail that is not there,
    has no address, or differs in speed from another.
    """
    if len(asked) > 1:
        for host in hosts:
            _check(host, asked)
        return tuple(asked), []
    claimed = asked[0].partition(":")[0] if asked else ""
    lists = [[nic.name for nic in rails_of(host, claimed)] for host in hosts]
    shared = [name for name in (lists[0] if lists else []) if all(name in one for one in lists)]
    if len(shared) < 2:
        return tuple(shared), []
    return tuple(shared), [
        f"rails: {', '.join(shared)} (of one speed on all hosts); --nic NIC,NIC names others"
    ]


def _check(host: Host, asked: Sequence[str]) -> None:
    where = host.host or host.hostname
    found: list[Nic] = []
    for name in asked:
        nic = next((one for one in host.nics if one.name == name), None)
        if nic is None:
            there = ", ".join(one.name for one in host.nics if one.kind != "loopback")
            raise BadInput(f"--nic: {where} has no NIC {name[:40]!r}; it has {there[:200]}.")
        if not nic.address:
            raise BadInput(f"--nic: {name} of {where} has no address.")
        found.append(nic)
    if len({one.speed_mbps for one in found}) > 1:
        speeds = ", ".join(f"{one.name} {one.speed_mbps or '?'} Mb/s" for one in found)
        raise BadInput(
            f"--nic: the rails of {where} differ in speed ({speeds}): the slowest would hold up"
            " all; name rails of one speed."
        )
