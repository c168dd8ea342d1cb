"""The change sets of hosts: which waits to be confirmed, and which are in force. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from wireproof.model.change import SetAnswer
from wireproof.model.errors import BadInput
from wireproof.model.tuning import HostTuned

__all__ = ["in_force_first", "waiting"]

_ORDER = ("applying", "armed", "partly", "pending", "confirmed", "reverted")


def in_force_first(host: HostTuned) -> HostTuned:
    """The host with its sets in another order: what waits, what is kept, what is over; the newest
    first among those.
    """
    newest = sorted(host.sets, key=lambda one: (one.since, one.id), reverse=True)
    return msgspec.structs.replace(host, sets=sorted(newest, key=_rank))


def _rank(one: SetAnswer) -> int:
    return _ORDER.index(one.state)


def waiting(answers: Sequence[HostTuned]) -> tuple[str, tuple[str, ...]]:
    """The id of the single set that waits to be confirmed, and its hosts, with those that could
    not be asked. Raises ``BadInput`` when none or several wait.
    """
    armed = [(one.id, host.host) for host in answers for one in host.sets if one.state == "armed"]
    names = sorted({name for name, _ in armed})
    if not names:
        problem = next((f": {host.host}: {host.problem}" for host in answers if host.problem), "")
        raise BadInput(f"no change set waits to be confirmed{problem or '.'}")
    if len(names) > 1:
        raise BadInput(
            f"{len(names)} change sets wait to be confirmed ({', '.join(names[:8])}): give the ID"
            " of the set to keep."
        )
    unread = [host.host for host in answers if host.problem]
    return names[0], tuple(dict.fromkeys([*(host for _, host in armed), *unread]))
