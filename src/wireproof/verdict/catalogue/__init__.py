"""The closed catalogue of findings: what each code means, how it is detected, what to do next."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

import msgspec

from wireproof.model.errors import BadInput
from wireproof.verdict.catalogue.external import EXTERNAL
from wireproof.verdict.catalogue.ladder import LADDER
from wireproof.verdict.catalogue.located import LOCATED
from wireproof.verdict.catalogue.path import PATH
from wireproof.verdict.catalogue.pfc import PFC
from wireproof.verdict.catalogue.psm import PSM
from wireproof.verdict.catalogue.rails import RAILS
from wireproof.verdict.catalogue.runs import RUNS
from wireproof.verdict.catalogue.watched import WATCHED

if TYPE_CHECKING:
    from wireproof.locate.causes.rules import Rule

__all__ = ["CATALOGUE", "Entry", "causes", "explain", "explain_text", "page"]


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One code. ``next_action`` is printed with every finding of this code."""

    code: str
    title: str
    meaning: str
    detection: str
    next_action: str


def _parsed(text: str) -> dict[str, Entry]:
    """``# code: title``, then ``means:``, ``detected:``, ``next:``, each with indented continuation
    lines.
    """
    found: dict[str, Entry] = {}
    for block in ("\n" + text).split("\n# ")[1:]:
        head, *rest = block.split("\n## ")[0].strip().split("\n")
        code, _, title = head.partition(": ")
        fields = dict(
            line.partition(": ")[::2] for line in "\n".join(rest).replace("\n  ", " ").split("\n")
        )
        found[code] = Entry(
            code=code,
            title=title,
            meaning=fields["means"],
            detection=fields["detected"],
            next_action=fields["next"],
        )
    return found


CATALOGUE: dict[str, Entry] = _parsed(
    "\n".join((PATH, RAILS, RUNS, EXTERNAL, WATCHED, LOCATED, LADDER, PFC, PSM))
)


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


def explain(code: str) -> Entry:
    """The entry of a finding's or a cause's code. Raises BadInput with the nearest codes when there
    is none.
    """
    key = code.strip().lower().replace("_", "-")
    if key in CATALOGUE:
        return CATALOGUE[key]
    also = causes()
    if key in also:
        return also[key]
    near = difflib.get_close_matches(key, [*CATALOGUE, *also], n=3, cutoff=0.4)
    hint = f"did you mean {', '.join(near)}?" if near else "see docs/explain.md for all codes"
    raise BadInput(f"no finding has the code {code!r}; {hint}")


def explain_text(code: str) -> str:
    """The entry as a few lines of plain text."""
    entry = explain(code)
    return (
        f"{entry.code}: {entry.title}\n\n{entry.meaning}\n\n"
        f"Detected by: {entry.detection}\nWhat to do: {entry.next_action}\n"
    )


_PREFACE = """\
Every finding has one of these codes; `wireproof explain CODE` prints its entry. The list is closed:
a code, once printed, keeps its meaning. This page is written by
`wireproof.verdict.catalogue.page()`, and a test keeps it equal to the catalogue.

A finding is a *fail*, *inconclusive*, a *warning* or a *note*. One fail fails the run; else
anything inconclusive, or nothing measured at all, makes it inconclusive; else it passes. Warnings
and notes never decide.

The path of each number has one of five proofs: `on-wire` (the payload is on the claimed port of
both ends), `off-wire` (shared memory, loopback), `wrong-path` (another NIC), `mixed` (part here,
part elsewhere), `unproven` (no evidence that can be believed). Only `on-wire` can pass. The results
of other programs (`wireproof judge`) hold no counters: they pass as `unproven`, when they are
complete and nothing in them contradicts the claim; `off-wire` then says that the numbers themselves
exclude the claimed wire.
"""


_CAUSES = """\
# Causes

Whoever is found slow gets the causes that counters, facts and sentinels speak for, the likeliest
first. "Other nodes" are up to 64 that are not blamed. A cause is never said without something seen,
and its confidence is a judgement of ours, not a measured frequency. Below a switch a cause must
hold for half of its nodes.
"""


def page() -> str:
    """docs/explain.md: the whole catalogue as Markdown."""
    parts = ["# Findings\n", _PREFACE]
    for code, entry in CATALOGUE.items():
        parts.append(f"### `{code}`: {entry.title}\n")
        parts.append(_body(entry, "Detected by"))
    parts.append(_CAUSES)
    for code, entry in causes().items():
        parts.append(f"#### `{code}`: {entry.title.removeprefix('Cause: ')}\n")
        parts.append(_body(entry, "Seen when"))
    return "\n".join(parts)


def _body(entry: Entry, seen: str) -> str:
    return f"{entry.meaning}\n\n*{seen}:* {entry.detection}\n\n*What to do:* {entry.next_action}\n"
