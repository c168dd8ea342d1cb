"""Which change sets stand, of what the hosts' journals say. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from wireproof.model.change import ChangeAnswer, SetAnswer
from wireproof.model.tuning import HostTuned, Standing, StandingSet

__all__ = ["standing_of"]

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
