"""The five questions, answered in one or two sentences each from the judgement and the claim.
Concludes nothing new.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from wireproof.model import quantity
from wireproof.model.finding import Finding, GroupVerdict, PairVerdict
from wireproof.report.flows import Flow, flows
from wireproof.report.judged_run import (
    CULPRITS,
    JudgedRun,
    counted,
    is_baseline,
    passing,
    ranked,
    results,
)
from wireproof.report.names import fold
from wireproof.report.rails import rails_sentence
from wireproof.report.undo import undo
from wireproof.report.why import why

__all__ = ["LEVELS", "AnswerLine", "answers", "counted_at", "seen_of"]


@dataclass(frozen=True)
class AnswerLine:
    """``tone`` is ``pass``, ``fail``, ``inconclusive`` or ``note``: how the answer is to be
    coloured.
    """

    question: str
    short: str
    text: str
    tone: str


def answers(section: JudgedRun, seen: Sequence[Flow] | None = None) -> list[AnswerLine]:
    """Normal? Wire? Which? Why? Undo? In this order. ``seen``: the traffic, where it was added up
    before.
    """
    return [
        _normal(section),
        _wire(section, flows(section.run) if seen is None else seen),
        _which(section),
        _why(section),
        _undo(section),
    ]


def seen_of(seen: float, due: float) -> str:
    """``657 MB seen for 629 MB of payload`` (headers make it more), ``0 B of 412 MB seen`` when
    bytes are missing.
    """
    if seen >= due:
        return f"{quantity.volume(seen)} seen for {quantity.volume(due)} of payload"
    return f"{quantity.volume(seen)} of {quantity.volume(due)} seen"


LEVELS = {
    "wire": "counted at the physical port",
    "function": "counted at a function of the adapter, whose own switch may turn bytes round",
    "stack": "counted at the kernel's interface",
}
_QUALITIES = {
    "lower-bound": "a lower bound",
    "stale": "summed over the run, as the counters are refreshed late",
}


def counted_at(judged: Sequence[PairVerdict | GroupVerdict]) -> str:
    """Where what is on the wire was counted: the weakest level, and what else weakens it; "" when
    nothing is.
    """
    proven = [one for one in judged if one.proof == "on-wire"]
    levels = {one.level for one in proven}
    qualities = {one.quality for one in proven}
    level = next((name for name in ("stack", "function", "wire") if name in levels), "")
    quality = next((text for name, text in _QUALITIES.items() if name in qualities), "")
    return ", ".join(part for part in (LEVELS.get(level, ""), quality) if part)


def _normal(section: JudgedRun) -> AnswerLine:
    judgement = section.judgement
    judged = results(judgement)
    count = f"{passing(judgement)}.{_reached(section)}"
    if section.run.missing:
        count += f" {len(section.run.missing)} planned points are missing."
    if is_baseline(section):
        count = (
            f"{quantity.counted(len(judged), 'result')} of one machine: a baseline, not judged, as"
            " no wire was measured. Name two hosts to have a link judged."
        )
    short = {"pass": "Yes", "fail": "No", "inconclusive": "Not known"}[judgement.verdict]
    return AnswerLine("Is it normal?", short, count, judgement.verdict)


def _reached(section: JudgedRun) -> str:
    """What large messages reach of the ceiling: a number alone tells nobody whether it is
    normal.
    """
    limits, pairs = section.limits, counted(section.judgement)
    ceiling = limits.attainable_bytes_per_s if limits else None
    rates = [one for one in pairs if one.unit == "bytes_per_s" and one.efficiency is not None]
    if not ceiling or not rates:
        return ""
    size = max(one.message_bytes for one in rates)
    shares = [one.efficiency or 0.0 for one in rates if one.message_bytes == size]
    least = quantity.percent(min(shares))
    low = f" (the least {least})" if len(shares) > 1 else ""
    middle = f"{quantity.percent(median(shares))}{low} of {quantity.megabytes(ceiling)} MB/s"
    return f" {quantity.size(size)} reaches {middle} attainable."


_PROVEN = {
    "on-wire": ("Yes", "pass"),
    "off-wire": ("No", "fail"),
    "wrong-path": ("Another NIC did", "fail"),
    "mixed": ("Partly", "fail"),
    "unproven": ("Not proven", "inconclusive"),
}
_IN_PART = {"No": "Not all of it", "Not proven": "Not proven everywhere"}
"""What is said instead where some results are on the wire."""


def _wire(section: JudgedRun, found: Sequence[Flow]) -> AnswerLine:
    question = "Did it use the wire?"
    if not section.run.claim.wire:
        text = "Memory or loopback inside one machine; this proves no wire."
        return AnswerLine(question, "None claimed", text, "note")
    judged = results(section.judgement)
    proofs = Counter(one.proof for one in judged)
    short, tone = _PROVEN[section.judgement.proof]
    if not proofs:
        return AnswerLine(question, short, "Nothing was measured.", tone)
    if proofs["on-wire"]:
        short = _IN_PART.get(short, short)
    total = proofs.total()
    counts = ", ".join(f"{n} of {total} results {proof}" for proof, n in proofs.most_common())
    where = counted_at(judged)
    text = f"{counts}. {_counted(found)}" + (f" What proves it was {where}." if where else "")
    shared = rails_sentence(section.judgement)
    text += f" Rails: {shared}." if shared else ""
    return AnswerLine(question, short, text, tone)


def _counted(found: Sequence[Flow]) -> str:
    """What the counters of the claimed NICs saw of what was due."""
    claimed = [flow for flow in found if flow.claimed and flow.seen_bytes is not None]
    if not claimed:
        return "No counter of a claimed NIC could be read."
    seen = sum(flow.seen_bytes or 0.0 for flow in claimed)
    due = sum(flow.expected_bytes for flow in claimed)
    return f"{seen_of(seen, due)} on {fold({flow.nic for flow in claimed})}."


def _which(section: JudgedRun) -> AnswerLine:
    question = "Which node or link?"
    decisive = _decisive(section)
    # Only the most telling code is named here: what it explains (a node's pairs, say) would only
    # repeat it.
    codes = {finding.code for finding in decisive[:1]}
    codes |= set(CULPRITS) if codes & set(CULPRITS) else set()
    subjects = [
        _subject(finding) for finding in decisive if finding.code in codes and finding.subject
    ]
    named = list(dict.fromkeys(subjects))
    if named:
        more = f" and {len(named) - 3} more" if len(named) > 3 else ""
        listed = ", ".join(named[:3]) + more
        if decisive[0].severity == "fail" or codes & set(CULPRITS):
            return AnswerLine(question, listed, "", decisive[0].severity)
        return AnswerLine(question, "Not known", f"Undecided: {listed}.", "inconclusive")
    if section.judgement.verdict == "pass":
        return AnswerLine(question, "None stands out", "", "pass")
    return AnswerLine(question, "Cannot be determined", "", "inconclusive")


def _why(section: JudgedRun) -> AnswerLine:
    found = why(section, _decisive(section))
    return AnswerLine("Why?", found.short, found.text, "note")


def _subject(finding: Finding) -> str:
    doing = {"tx": "sending", "rx": "receiving"}.get(str(finding.evidence.get("direction", "")))
    node = finding.evidence.get("node")
    return f"{node}, {doing}" if isinstance(node, str) and doing else finding.subject


def _undo(section: JudgedRun) -> AnswerLine:
    short, text, known = undo(section.standing)
    return AnswerLine("How to undo?", short, text, "note" if known else "inconclusive")


def _decisive(section: JudgedRun) -> list[Finding]:
    return [
        finding
        for finding in ranked(section.judgement.findings)
        if finding.severity in ("fail", "inconclusive")
    ]
