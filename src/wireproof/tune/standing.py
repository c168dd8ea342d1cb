"""Compares the current value of a setting with a plan, from the facts of its host. Pure."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from wireproof.audit.facts import HostFacts
from wireproof.audit.values import part_of
from wireproof.model.errors import BadInput
from wireproof.model.plan import FactRequest
from wireproof.model.setting import Read
from wireproof.model.tuning import (
    Change,
    ChangeAnswer,
    HostPlan,
    HostTuned,
    Keep,
    SetAnswer,
    Standing,
    StandingSet,
)


def standing(facts: HostFacts, change: Change) -> str | None:
    """The text of the file or behind the command's key, stripped; None: not read."""
    if change.kind == "file":
        text = facts.file(change.path).text
        return None if text is None else text.strip()
    text = facts.command(change.read).text
    part = None
    if text is not None:
        part = part_of(text, Read(command=change.read, section=change.section, key=change.key))
    return None if part is None else part.strip()


def shown_value(change: Change, text: str | None) -> str:
    """The value within ``text``: the chosen word, the first word of a command's line."""
    if text is None:
        return "not read"
    if change.form == "choice" and (found := re.search(r"\[(\S+)\]", text)):
        return found[1]
    words = text.split()
    return (words[0] if words else "") if change.kind == "command" else " ".join(words)


def has_value(change: Change, text: str | None) -> bool:
    """Whether the value that is wanted stands there, as the kernel writes it."""
    return text is not None and shown_value(change, text) == " ".join(change.value.split())


def text_of_file(facts: HostFacts, path: str) -> str | None:
    """The whole text; None where the file is not there. Raises ``ValueError`` when it is and could
    not be read.
    """
    answer = facts.file(path)
    if answer.text is None and not answer.absent:
        raise ValueError(answer.why)
    return answer.text


def places_of(changes: Iterable[Change], keeps: Iterable[Keep]) -> tuple[FactRequest, ...]:
    """What to ask of a host to know what stands in all these places."""
    files = dict.fromkeys(
        [*(one.path for one in changes if one.path), *(one.path for one in keeps)]
    )
    commands = dict.fromkeys(one.read for one in changes if one.read)
    return (
        *(FactRequest(kind="file", path=path) for path in files),
        *(FactRequest(kind="command", argv=argv, limit_bytes=1 << 18) for argv in commands),
    )


def moved(plan: HostPlan, facts: HostFacts) -> str:
    """One sentence for the first value or drop-in that is another now; "" when none is."""
    for one in plan.changes:
        now = standing(facts, one.change)
        if one.was is not None and now != one.was:
            was, is_ = shown_value(one.change, one.was), shown_value(one.change, now)
            return f"{one.change.id} was {was!r} when the plan was made and is {is_!r} now"
    for each in plan.keeps:
        try:
            text = text_of_file(facts, each.keep.path)
        except ValueError as error:
            return f"{each.keep.path} {error}"
        if text != each.was:
            return f"{each.keep.path} is another than when the plan was made"
    return ""


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
