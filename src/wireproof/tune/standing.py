"""Compares the current value of a setting with a plan, from the facts of its host. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from wireproof.audit.facts import HostFacts
from wireproof.audit.values import part_of
from wireproof.model.change import Change, Keep
from wireproof.model.plan import FactRequest
from wireproof.model.setting import Read
from wireproof.model.tuning import HostPlan

__all__ = ["has_value", "moved", "places_of", "shown_value", "standing", "text_of_file"]


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
