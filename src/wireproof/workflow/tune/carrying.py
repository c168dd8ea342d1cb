"""Which interfaces carry the connection to a host: their links are never taken down."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Mapping

from wireproof.audit.facts import HostFacts
from wireproof.launch.hosts.here import is_here
from wireproof.tune.carrying import default_interfaces, having, ssh_addresses, with_lower
from wireproof.workflow.target.target import Target

__all__ = ["carrying"]


def carrying(
    target: Target, host: str, facts: HostFacts, environment: Mapping[str, str]
) -> frozenset[str] | None:
    """Names of the interfaces, with all that they stand on; None where they are not known.

    A lab's node is reached without any of its interfaces. Of this machine it is those of open ssh
    connections and of the default route: sudo forgets by which of them somebody is logged in.
    """
    if target.lab is not None:
        return frozenset()
    sessions = ssh_addresses(facts)
    if not target.hosts or is_here(host):
        words = environment.get("SSH_CONNECTION", "").split()
        found = having(facts, sessions | set(words[2:3])) | default_interfaces(facts)
        return with_lower(facts, found)
    reached = having(facts, _addresses(host))
    if not reached:
        return None
    return with_lower(facts, reached | having(facts, sessions))


def _addresses(host: str) -> list[str]:
    with contextlib.suppress(OSError, UnicodeError):
        return [str(one[4][0]) for one in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]
    return []
