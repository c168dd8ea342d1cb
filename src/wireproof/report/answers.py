"""The five questions, answered in one or two sentences each from the judgement and the claim. Concludes nothing new."""

from __future__ import annotations

from dataclasses import dataclass

from wireproof.model.finding import Finding
from wireproof.report import quantity
from wireproof.report.names import fold
from wireproof.report.section import Section, ranked
from wireproof.report.traffic import flows

__all__ = ["Answer", "answers", "seen_of"]


@dataclass(frozen=True)
class Answer:
    """``tone`` is ``pass``, ``fail``, ``inconclusive`` or ``note``: how the answer is to be coloured."""

    question: str
    short: str
    text: str
    tone: str


def answers(section: Section) -> list[Answer]:
    """Normal? Wire? Which? Why? Undo? In this order."""
    return [_normal(section), _wire(section), _which(section), _why(section), _undo(section)]


def seen_of(seen: float, due: float) -> str:
    """``657 MB seen for 629 MB of payload`` (headers make it more), ``0 B of 412 MB seen`` when bytes are missing."""
    if seen >= due:
        return f"{quantity.volume(seen)} seen for {quantity.volume(due)} of payload"
    return f"{quantity.volume(seen)} of {quantity.volume(due)} seen"


def _normal(section: Section) -> Answer:
    judgement = section.judgement
    good = sum(pair.verdict == "pass" for pair in judgement.pairs)
    count = f"{good} of {len(judgement.pairs)} results pass."
    if section.run.missing:
        count += f" {len(section.run.missing)} planned points are missing."
    short = {"pass": "Yes", "fail": "No", "inconclusive": "Not known"}[judgement.verdict]
    return Answer("Is it normal?", short, count, judgement.verdict)


def _wire(section: Section) -> Answer:
    question = "Did it use the wire?"
    claimed = [flow for flow in flows(section.run) if flow.claimed and flow.seen_bytes is not None]
    seen = sum(flow.seen_bytes or 0.0 for flow in claimed)
    due = sum(flow.expected_bytes for flow in claimed)
    nics = fold({flow.nic for flow in claimed})
    count = f"{seen_of(seen, due)} on {nics}." if claimed else ""
    if not section.run.claim.wire:
        return Answer(question, "None claimed", "Memory or loopback inside one machine; this proves no wire.", "note")
    proof = section.judgement.proof
    short, text, tone = {
        "on-wire": ("Yes", f"The counters of both ends agree: {count}" if count else "", "pass"),
        "off-wire": ("No", f"The traffic took shared memory or loopback: {count}", "fail"),
        "wrong-path": ("Wrong path", f"The bytes crossed another NIC than the claimed one: {count}", "fail"),
        "mixed": ("Partly", f"Not every result took the claimed path: {count}", "fail"),
        "unproven": ("Not proven", count or "No counter gave evidence of the path.", "inconclusive"),
    }[proof]
    return Answer(question, short, text, tone)


def _which(section: Section) -> Answer:
    question = "Which node or link?"
    subjects = [finding.subject for finding in _decisive(section) if finding.subject]
    named = list(dict.fromkeys(subjects))
    if named:
        more = f" and {len(named) - 3} more" if len(named) > 3 else ""
        return Answer(question, ", ".join(named[:3]) + more, "", section.judgement.verdict)
    if section.judgement.verdict == "pass":
        return Answer(question, "None stands out", "", "pass")
    return Answer(question, "Cannot be told", "", "inconclusive")


def _why(section: Section) -> Answer:
    decisive = _decisive(section)
    if not decisive:
        normal = section.judgement.verdict == "pass"
        return Answer("Why?", "Nothing to explain" if normal else "Too little evidence", "", "note")
    first = decisive[0]
    more = f" and {len(decisive) - 1} more" if len(decisive) > 1 else ""
    return Answer("Why?", f"Finding {first.code}{more}", f"Next: {first.advice}" if first.advice else "", "note")


def _undo(section: Section) -> Answer:
    if not section.changes:
        return Answer("How to undo?", "Nothing was changed", "wireproof measured and read counters only.", "note")
    return Answer("How to undo?", f"{len(section.changes)} changes", "; ".join(section.changes), "note")


def _decisive(section: Section) -> list[Finding]:
    return [finding for finding in ranked(section.judgement.findings) if finding.severity in ("fail", "inconclusive")]
