"""The change sets of hosts: which one waits for confirmation, and which are in force. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import msgspec

from wireproof.model.change import ChangeAnswer, SetAnswer
from wireproof.model.errors import BadInput
from wireproof.model.tuning import HostTuned, Standing, StandingSet

__all__ = ["in_force_first", "standing_of", "waiting"]

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


_STANDS = ("applied", "rewritten", "kept", "left", "unreadable")
"""``left`` is neither the old value nor ours: nobody can say that nothing was changed."""
_BROKEN_OFF = ("applying", "partly")


def standing_of(answers: Sequence[HostTuned]) -> Standing:
    """The sets of which something stands, each with all its hosts."""
    unread: defaultdict[str, list[str]] = defaultdict(list)
    groups: defaultdict[str, list[tuple[str, SetAnswer, list[str]]]] = defaultdict(list)
    for host in answers:
        if host.problem:
            unread[host.problem].append(host.host)
        for one, changed in _sets(host):
            groups[one.id].append((host.host, one, changed))
    return Standing(
        hosts=[one.host for one in answers],
        sets=[_joined(each) for each in groups.values()],
        unread=dict(unread),
    )


def _sets(host: HostTuned) -> Iterator[tuple[SetAnswer, list[str]]]:
    for one in host.sets:
        mine = [each for each in host.changes if each.of == one.id and each.state in _STANDS]
        if one.state != "reverted" and (mine or one.state in _BROKEN_OFF):
            yield one, [_said(each) for each in mine]


def _said(change: ChangeAnswer) -> str:
    if change.state == "kept":
        return f"{change.id} is written"
    seen = change.seen if change.state == "left" else change.wanted
    return f"{change.id}: {change.old} -> {seen}"


def _joined(each: Sequence[tuple[str, SetAnswer, list[str]]]) -> StandingSet:
    first = each[0][1]
    return StandingSet(
        id=first.id,
        state=first.state,
        hosts=[host for host, _, _ in each],
        by=first.by,
        since=first.since,
        changes=list(dict.fromkeys(line for _, _, changed in each for line in changed)),
    )
