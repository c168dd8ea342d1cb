"""Findings of a ladder: what each step loses, which layers take no part, and whether the link
itself is slow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from wireproof.model import quantity
from wireproof.model.finding import Evidence, Finding, Severity, Verdict
from wireproof.model.ladder import Layer, LayerName, MissingLayer, Step
from wireproof.model.severity import rank, verdict_of
from wireproof.verdict.catalogue import CATALOGUE
from wireproof.verdict.ladder.sentences import step_said

__all__ = ["Judged", "judge_ladder"]

_LINK_SHARE = 0.8
"""Of the link's attainable goodput, below which the lowest layer itself is slow."""
_BUSY = 0.25
"""Share of the time without a processor, above which a host is too busy to blame a layer."""


@dataclass(frozen=True)
class Judged:
    steps: list[Step]
    findings: list[Finding]
    verdict: Verdict
    answer: str


def judge_ladder(
    layers: Sequence[Layer],
    missing: Sequence[MissingLayer],
    steps: Sequence[Step],
    *,
    smallest: float,
    attainable_bytes_per_s: float | None = None,
) -> Judged:
    """Findings, the worst first, the verdict and the answer in words."""
    titles: dict[LayerName, str] = {one.name: one.title for one in layers}
    worded = [msgspec.structs.replace(one, text=step_said(one, titles, smallest)) for one in steps]
    parts = [one for one in layers if not one.apart]
    findings = [
        *(_of_step(one, _busy(one, layers)) for one in worded if one.answer != "no-loss"),
        *_of_lowest(parts, attainable_bytes_per_s),
        *(_of_layer(one) for one in layers if one.apart),
        *_of_number(parts, worded),
        *(_of_missing(one) for one in missing),
    ]
    findings.sort(key=lambda one: rank(one.severity))
    verdict = verdict_of(one.severity for one in findings)
    return Judged(worded, findings, verdict, _answer(worded, findings, parts, smallest))


def _finding(
    code: str, severity: Severity, message: str, subject: str, evidence: Evidence
) -> Finding:
    return Finding(
        code=code,
        severity=severity,
        message=message,
        evidence=evidence,
        advice=CATALOGUE[code].next_action,
        subject=subject,
    )


def _busy(step: Step, layers: Sequence[Layer]) -> str:
    """Why the hosts may have made the difference: the processes of both layers waited for a
    processor. Where those of the upper layer alone did, its own way of waiting is the cause.
    """
    waited = {one.name: one.waited for one in layers}
    lower, upper = waited[step.lower], waited[step.upper]
    if lower is None or lower <= _BUSY or (upper is not None and upper <= _BUSY):
        return ""
    share = f"{lower:.0%}" if upper is None else f"{lower:.0%} and {upper:.0%}"
    return f"; but the processes waited for a processor for {share} of the time"


def _of_step(step: Step, busy: str) -> Finding:
    code = "layer-latency" if step.quantity == "start" else "layer-rate"
    severity: Severity = "note" if step.regained else "inconclusive" if busy else "fail"
    if step.answer == "undecided":
        code, severity = "layer-undecided", "inconclusive"
    evidence: Evidence = {
        "lower": step.lower,
        "upper": step.upper,
        "quantity": step.quantity,
        "ratio": step.ratio,
        "low": step.low,
        "high": step.high,
        "p": step.p,
    }
    return _finding(code, severity, step.text + busy, step.upper, evidence)


def _of_lowest(parts: Sequence[Layer], attainable: float | None) -> list[Finding]:
    """The rate of the lowest layer against the link: only where no layer above does better."""
    tops = [top for one in parts if (top := _top(one)) is not None]
    lowest = parts[0].line.windowed or parts[0].line.rate if parts else None
    if lowest is None or attainable is None or len(tops) < len(parts):
        return []
    if max(tops) >= _LINK_SHARE * attainable:
        return []
    rate = lowest.value
    message = (
        f"{parts[0].title} itself moves {quantity.megabytes(rate)} MB/s, {rate / attainable:.0%} of"
        f" the {quantity.megabytes(attainable)} MB/s that the link can carry, and no layer above"
        " does better: look at the link and the host first"
    )
    evidence: Evidence = {"rate": rate, "attainable": attainable}
    return [_finding("lowest-layer-slow", "fail", message, parts[0].name, evidence)]


def _top(layer: Layer) -> float | None:
    """The upper end of the best rate that it reaches, bytes/s; None with too few rounds for one."""
    found = [one.high for one in (layer.line.rate, layer.line.windowed) if one is not None]
    return None if not found or None in found else max(one for one in found if one is not None)


def _of_layer(layer: Layer) -> Finding:
    message = f"{layer.title} takes no part in a claim: {layer.apart}"
    evidence: Evidence = {"proof": layer.proof}
    return _finding("layer-off-wire", "inconclusive", message, layer.name, evidence)


def _of_number(parts: Sequence[Layer], steps: Sequence[Step]) -> list[Finding]:
    """Too few layers for any step, or layers whose numbers make no line."""
    if steps:
        return []
    found = ", ".join(one.title for one in parts) or "none"
    message = f"no step can be compared: layers that are measured and proven: {found}"
    return [_finding("ladder-too-short", "inconclusive", message, "", {"layers": len(parts)})]


def _of_missing(one: MissingLayer) -> Finding:
    message = f"{one.title} is not measured: {one.why}"
    return _finding("layer-missing", "note", message, one.name, {})


def _answer(
    steps: Sequence[Step], findings: Sequence[Finding], parts: Sequence[Layer], smallest: float
) -> str:
    """What is to be said first."""
    said = [one.message for one in findings if one.severity == "fail"]
    if not said:
        open_ = [one for one in findings if one.severity == "inconclusive"]
        open_.sort(key=lambda one: one.code == "layer-undecided")
        said = [open_[0].message] if open_ else [f"no layer loses more than {smallest:.0%}"]
    return ". ".join([*said, *_share(parts)]) + "."


def _share(parts: Sequence[Layer]) -> list[str]:
    """What of the lowest layer's rate is left at the top: of a window where both have one."""
    if len(parts) < 2:
        return []
    low, top = parts[0].line, parts[-1].line
    ends = (low.windowed, top.windowed) if low.windowed and top.windowed else (low.rate, top.rate)
    if ends[0] is None or ends[1] is None:
        return []
    first, last = ends[0].value, ends[1].value
    left = f"{quantity.megabytes(last)} MB/s ({last / first:.0%}) are left in {parts[-1].title}"
    return [f"Of {quantity.megabytes(first)} MB/s in {parts[0].title}, {left}"]
