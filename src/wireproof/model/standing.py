"""The changes of ours that stood on the hosts while they were measured."""

from __future__ import annotations

import msgspec

from wireproof.model.change import SetState

__all__ = ["Standing", "StandingSet"]


class StandingSet(msgspec.Struct, frozen=True, kw_only=True):
    """One change set that stood on ``hosts``. ``since``: as the hosts' clocks say it; ``changes``:
    what was changed, as ``mtu/ib0: 2044 -> 65520``.
    """

    id: str
    state: SetState
    hosts: list[str]
    by: str = ""
    since: str = ""
    changes: list[str] = msgspec.field(default_factory=list)


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """What the journals of ``hosts`` say. ``unread``: the hosts whose journals could not be read,
    by the reason: of these nothing is known. ``here``: no hosts were named, and the one is the
    machine that measured. ``lab``: the lab whose nodes they are, "" for hosts.
    """

    hosts: list[str] = msgspec.field(default_factory=list)
    sets: list[StandingSet] = msgspec.field(default_factory=list)
    here: bool = False
    lab: str = ""
    unread: dict[str, list[str]] = msgspec.field(default_factory=dict)
