"""Blames in the form that is reported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from wireproof.locate.criteria import as_slowdown
from wireproof.locate.slowness import value_of
from wireproof.model.located import Blame, BlameKind, Direction, Metric

__all__ = ["SURE", "UNSURE", "blame_of"]

SURE, UNSURE = 0.999, 0.95
"""The most that is claimed of what was measured again alone, and of what was only seen among
others.
"""


def blame_of(
    kind: BlameKind,
    subject: str,
    direction: Direction,
    metric: Metric,
    *,
    slowness: float,
    error: float,
    p: float,
    expected: float,
    stage: Literal["screened", "confirmed"],
    nodes: Sequence[str],
    evidence: Sequence[str] = (),
) -> Blame:
    """``slowness`` and its standard ``error`` are logarithms against ``expected`` (log slowness);
    ``p``: adjusted.

    The interval is the estimate -/+ 1.96 errors.
    """
    return Blame(
        kind=kind,
        subject=subject,
        direction=direction,
        metric=metric,
        slowdown=as_slowdown(metric, slowness),
        low=as_slowdown(metric, slowness - 1.96 * error),
        high=as_slowdown(metric, slowness + 1.96 * error),
        confidence=max(0.0, min(SURE if stage == "confirmed" else UNSURE, 1.0 - p)),
        stage=stage,
        value=value_of(metric, expected + slowness),
        expected=value_of(metric, expected),
        nodes=list(nodes),
        evidence=list(evidence),
    )
