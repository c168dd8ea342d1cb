"""Which interfaces carry the connection to a host: their links are never taken down."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterable, Mapping

import msgspec

from wireproof.audit.facts import HostFacts
from wireproof.audit.interfaces import INTERFACES
from wireproof.launch.hosts.here import is_here
from wireproof.model.record import Nic
from wireproof.workflow.target.target import Target

__all__ = ["carrying"]


def carrying(
    target: Target, host: str, facts: HostFacts, environment: Mapping[str, str]
) -> frozenset[str] | None:
    """Names of the interfaces, with all that they stand on; None where they are not known.

    A lab's node is reached without any of its interfaces, this machine by the one that somebody is
    logged in through, if at all.
    """
    if target.lab is not None:
        return frozenset()
    if not target.hosts or is_here(host):
        words = environment.get("SSH_CONNECTION", "").split()
        return _having(facts, words[2:3]) if words else frozenset()
    return _having(facts, _addresses(host))


def _addresses(host: str) -> list[str]:
    with contextlib.suppress(OSError, UnicodeError):
        return [str(one[4][0]) for one in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]
    return []


def _having(facts: HostFacts, addresses: Iterable[str]) -> frozenset[str] | None:
    wanted = set(addresses)
    text = facts.file(INTERFACES).text
    try:
        nics = msgspec.json.decode(text, type=list[Nic]) if text else []
    except msgspec.DecodeError:
        return None
    lower = {one.name: one.lower for one in nics}
    found = [one.name for one in nics if {each.split("/")[0] for each in one.address} & wanted]
    if not found:
        return None
    names: set[str] = set()
    while found:
        name = found.pop()
        if name not in names:
            names.add(name)
            found += lower.get(name, [])
    return frozenset(names)
