"""Causes as a finding says them: the likeliest in its sentence, all in its evidence. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from wireproof.model.finding import Evidence
from wireproof.model.located import Cause

__all__ = ["advice_of", "cause_evidence", "cause_sentence"]


def cause_sentence(causes: Sequence[Cause]) -> str:
    """The likeliest cause that is enough; else that none is, with the first that is not."""
    enough = [cause for cause in causes if cause.explains]
    if enough:
        return f"Cause: {enough[0].sentence} (confidence {enough[0].confidence:.2g})"
    text = "No counter or configuration difference explains it"
    return f"{text}: {causes[0].sentence}" if causes else text


def cause_evidence(causes: Sequence[Cause]) -> Evidence:
    """``cause`` with its code, setting, confidence, fix and undo, where one is enough;
    ``other_causes`` that are, too; ``not_enough``: those that are not.
    """
    found: Evidence = {}
    enough = [cause for cause in causes if cause.explains]
    if enough:
        first = enough[0]
        found = {
            "cause": first.sentence,
            "cause_code": first.code,
            "cause_confidence": first.confidence,
            "cause_seen": list(first.evidence),
        }
        if first.setting:
            found |= {"cause_setting": first.setting}
        if first.fix:
            found |= {"cause_fix": first.fix}
        if first.undo:
            found |= {"cause_undo": first.undo}
    others = [f"{cause.sentence} ({cause.confidence:.2g})" for cause in enough[1:]]
    if others:
        found["other_causes"] = others
    lacking = [cause.sentence for cause in causes if not cause.explains]
    if lacking:
        found["not_enough"] = lacking
    return found


def advice_of(causes: Sequence[Cause]) -> str:
    """What mends the likeliest cause that is enough, and what undoes that; "" without one."""
    first = next((cause for cause in causes if cause.explains and cause.fix), None)
    if first is None:
        return ""
    return f"{first.fix} Undo: {first.undo}." if first.undo else first.fix
