"""The closed catalogue of findings: what each code means, how it is detected, what to do next."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from wireproof.model.packaged import packaged

if TYPE_CHECKING:
    from wireproof.locate.causes.rules import Rule

__all__ = ["CATALOGUE", "Entry", "causes", "entries_of", "page"]


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One code. ``next_action`` is printed with every finding of this code."""

    code: str
    title: str
    meaning: str
    detection: str
    next_action: str


_FINDINGS = "findings.md"
_ENTRY = re.compile(
    r"### `(?P<code>[a-z]+(?:-[a-z]+)*)`: (?P<title>.+)\n\n"
    r"(?P<meaning>(?:.+\n)+)\n"
    r"\*Detected by:\* (?P<detection>(?:.+\n)+)\n"
    r"\*What to do:\* (?P<next_action>(?:.+\n)+)"
)


def entries_of(text: str) -> dict[str, Entry]:
    """The entries of findings.md by their codes. Raises ``ValueError`` with the line of a heading
    below which a part is missing, or whose code was there before.
    """
    found: dict[str, Entry] = {}
    for start in re.finditer("^### ", text, re.MULTILINE):
        entry = _ENTRY.match(text, start.start())
        if entry is None or entry["code"] in found:
            line = text.count("\n", 0, start.start()) + 1
            raise ValueError(
                f"{_FINDINGS}:{line}: give a new `code`, a title, what it means,"
                " '*Detected by:*' and '*What to do:*'"
            )
        parts = {name: " ".join(part.split()) for name, part in entry.groupdict().items()}
        found[entry["code"]] = Entry(**parts)
    return found


CATALOGUE: dict[str, Entry] = entries_of(packaged(__name__, _FINDINGS))


def causes() -> dict[str, Entry]:
    """The causes that a culprit may have, as entries; they are no findings and never stand
    alone.
    """
    from wireproof.locate.causes.rules import RULES

    names = {"node": "NODE", "nic": "NIC"}
    return {
        rule.code: Entry(
            code=rule.code,
            title=f"Cause: {rule.sentence.format(**names)}",
            meaning=_said_of(rule),
            detection=_seen_when(rule),
            next_action=rule.fix.format(**names) or _of_setting(rule),
        )
        for rule in RULES
    }


def _of_setting(rule: Rule) -> str:
    return (
        f"It is the setting `{rule.setting}`: `wireproof explain {rule.setting}` prints what it"
        " should be, its fix and its undo."
    )


def _said_of(rule: Rule) -> str:
    kinds = ", ".join(sorted(rule.kinds))
    best = f" (at best {rule.sure:g})" if rule.surer else ""
    return f"Said of a {kinds} that was found slow, with a confidence of {rule.confidence:g}{best}."


def _seen_when(rule: Rule) -> str:
    surer = "; ".join(sign.means() for sign in rule.surer)
    more = f". Surer when {surer}" if surer else ""
    return f"{'; '.join(sign.means() for sign in rule.when)}{more}."


_CAUSES = """\
## Causes

Whoever is found slow gets the causes that counters, facts and sentinels speak for, the likeliest
first. "Other nodes" are up to 64 that are not blamed. A cause is never said without something seen,
and its confidence is a judgement of ours, not a measured frequency. Below a switch a cause must
hold for half of its nodes.
"""


def page() -> str:
    """docs/explain.md: findings.md, and the causes below it."""
    parts = [packaged(__name__, _FINDINGS), _CAUSES]
    for code, entry in causes().items():
        parts.append(f"### `{code}`: {entry.title.removeprefix('Cause: ')}\n")
        parts.append(
            f"{entry.meaning}\n\n*Seen when:* {entry.detection}\n\n"
            f"*What to do:* {entry.next_action}\n"
        )
    return "\n".join(parts)
