"""Compare the current values of a host with a plan, from its facts. Pure."""

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
    """Return the stripped text of the file or after the command's key; None if not read."""
    if change.kind == "file":
        text = facts.file(change.path).text
        return None if text is None else text.strip()
    text = facts.command(change.read).text
    part = None
    if text is not None:
        part = part_of(text, Read(command=change.read, section=change.section, key=change.key))
    return None if part is None else part.strip()


def shown_value(change: Change, text: str | None) -> str:
    """Return the value within ``text``: the chosen word, or the first word of a command's line."""
    if text is None:
        return "not read"
    if change.form == "choice" and (chosen := re.search(r"\[(\S+)\]", text)):
        return chosen[1]
    words = text.split()
    return (words[0] if words else "") if change.kind == "command" else " ".join(words)


def has_value(change: Change, text: str | None) -> bool:
    """Return whether the wanted value is in force, as the kernel writes it."""
    return text is not None and shown_value(change, text) == " ".join(change.value.split())


def text_of_file(facts: HostFacts, path: str) -> str | None:
    """Return the whole text; None if the file does not exist. Raise ``ValueError`` if it exists but
    could not be read.
    """
    answer = facts.file(path)
    if answer.text is None and not answer.absent:
        raise ValueError(answer.why)
    return answer.text


def places_of(changes: Iterable[Change], keeps: Iterable[Keep]) -> tuple[FactRequest, ...]:
    """Return requests for the current state of all these places."""
    files = dict.fromkeys(
        [*(item.path for item in changes if item.path), *(item.path for item in keeps)]
    )
    commands = dict.fromkeys(item.read for item in changes if item.read)
    return (
        *(FactRequest(kind="file", path=path) for path in files),
        *(FactRequest(kind="command", argv=argv, limit_bytes=1 << 18) for argv in commands),
    )


def moved(plan: HostPlan, facts: HostFacts) -> str:
    """Return a sentence for the first value or drop-in that changed since the plan; "" if
    none did.
    """
    for planned in plan.changes:
        now = standing(facts, planned.change)
        if planned.was is not None and now != planned.was:
            was, is_ = shown_value(planned.change, planned.was), shown_value(planned.change, now)
            return f"{planned.change.id} was {was!r} when the plan was made and is {is_!r} now"
    for kept in plan.keeps:
        try:
            text = text_of_file(facts, kept.keep.path)
        except ValueError as error:
            return f"{kept.keep.path} {error}"
        if text != kept.was:
            return f"{kept.keep.path} has changed since the plan was made"
    return ""


_ORDER = ("applying", "armed", "partly", "pending", "confirmed", "reverted")


def in_force_first(host: HostTuned) -> HostTuned:
    """Sort the sets of the host by state: waiting, kept, then reverted; within a state the newest
    first.
    """
    newest = sorted(
        host.sets, key=lambda change_set: (change_set.since, change_set.id), reverse=True
    )
    return msgspec.structs.replace(
        host, sets=sorted(newest, key=lambda item: _ORDER.index(item.state))
    )


def waiting(answers: Sequence[HostTuned]) -> tuple[str, tuple[str, ...]]:
    """Return the id of the only set that waits for confirmation, and its hosts, including hosts
    that did not answer. Raise ``BadInput`` if no set or several sets wait.
    """
    armed = [
        (change_set.id, host.host)
        for host in answers
        for change_set in host.sets
        if change_set.state == "armed"
    ]
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
"""``left`` is neither the old value nor wireproof's: something may have been changed."""
_BROKEN_OFF = ("applying", "partly")


def standing_of(answers: Sequence[HostTuned]) -> Standing:
    """Return the sets that are at least partly in force, each with all its hosts."""
    unread: defaultdict[str, list[str]] = defaultdict(list)
    groups: defaultdict[str, list[tuple[str, SetAnswer, list[str]]]] = defaultdict(list)
    for host in answers:
        if host.problem:
            unread[host.problem].append(host.host)
        for item, changed in _sets(host):
            groups[item.id].append((host.host, item, changed))
    return Standing(
        hosts=[item.host for item in answers],
        sets=[_joined(group) for group in groups.values()],
        unread=dict(unread),
    )


def _sets(host: HostTuned) -> Iterator[tuple[SetAnswer, list[str]]]:
    for change_set in host.sets:
        standing_changes = [
            change
            for change in host.changes
            if change.of == change_set.id and change.state in _STANDS
        ]
        if change_set.state != "reverted" and (standing_changes or change_set.state in _BROKEN_OFF):
            yield change_set, [_line_of(change) for change in standing_changes]


def _line_of(change: ChangeAnswer) -> str:
    if change.state == "kept":
        return f"{change.id} is written"
    seen = change.seen if change.state == "left" else change.wanted
    return f"{change.id}: {change.old} -> {seen}"


def _joined(group: Sequence[tuple[str, SetAnswer, list[str]]]) -> StandingSet:
    first = group[0][1]
    return StandingSet(
        id=first.id,
        state=first.state,
        hosts=[host for host, _, _ in group],
        by=first.by,
        since=first.since,
        changes=list(dict.fromkeys(line for _, _, changed in group for line in changed)),
    )
