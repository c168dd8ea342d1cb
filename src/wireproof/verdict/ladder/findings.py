"""Findings of a ladder: what each step loses, which layers take no part, and whether the link
itself is slow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from wireproof.model import quantity
from wireproof.model.finding import Evidence, Finding, Severity, Verdict, rank, verdict_of
from wireproof.model.ladder import Layer, LayerName, LayerStep, MissingLayer
from wireproof.verdict.catalogue import CATALOGUE

__all__ = ["JudgedSteps", "judge_ladder"]


def step_said(step: LayerStep, titles: Mapping[LayerName, str], smallest: float) -> str:
    """``MPI point to point takes 11.2 us more than libfabric tcp before the first byte (2.1 times
    [2.0, 2.2])``.
    """
    lower, upper = titles[step.lower], titles[step.upper]
    if step.answer == "undecided":
        what = {"start": "start", "rate": "rate", "windowed": "rate of a window"}[step.quantity]
        return (
            f"{lower} to {upper}: whether the {what} loses more than {smallest:.0%} is open"
            f" ({_times(step)}); give more --rounds"
        )
    if step.answer == "no-loss":
        return f"{upper} {_alike(step)} {lower}, within {smallest:.0%} ({_times(step)})"
    said = f"{upper} {_lost(step)} {lower} ({_times(step)})"
    if step.regained:
        return f"{said}; {titles[step.regained]} does not pay it, so it does not go through there"
    return said


def _alike(step: LayerStep) -> str:
    words = {"start": "starts as soon as", "rate": "is as fast as"}
    return words.get(step.quantity, "with a full window is as fast as")


def _lost(step: LayerStep) -> str:
    amount = abs(step.difference.value)
    if step.quantity == "start":
        return f"takes {quantity.microseconds(amount)} us longer to start than"
    how = " with a full window" if step.quantity == "windowed" else ""
    return f"moves {quantity.megabytes(amount)} MB/s less{how} than"


def _times(step: LayerStep) -> str:
    """``2.1 times the start [2.0, 2.2]``; of rates what is left, ``26 % of its rate [25, 27]``."""
    if step.quantity == "start":
        span = "" if step.low is None or step.high is None else _span(step.low, step.high)
        return f"{quantity.significant(step.ratio)} times its start{span}"
    low, high = step.low, step.high
    span = "" if low is None or high is None else f" [{100 / high:.0f}, {100 / low:.0f}]"
    return f"{100 / step.ratio:.0f} % of its rate{span}"


def _span(low: float, high: float) -> str:
    return f" [{quantity.significant(low)}, {quantity.significant(high)}]"


_LINK_SHARE = 0.8
"""Of the link's attainable goodput, below which the lowest layer itself is slow."""
_BUSY = 0.25
"""Share of the time without a processor, above which a host is too busy to blame a layer."""


@dataclass(frozen=True)
class JudgedSteps:
    steps: list[LayerStep]
    findings: list[Finding]
    verdict: Verdict
    answer: str


def judge_ladder(
    layers: Sequence[Layer],
    missing: Sequence[MissingLayer],
    steps: Sequence[LayerStep],
    *,
    smallest: float,
    attainable_bytes_per_s: float | None = None,
) -> JudgedSteps:
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
    return JudgedSteps(worded, findings, verdict, _answer(worded, findings, parts, smallest))


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


def _busy(step: LayerStep, layers: Sequence[Layer]) -> str:
    """Why the hosts may have made the difference: the processes of both layers waited for a
    processor. Where those of the upper layer alone did, its own way of waiting is the cause.
    """
    waited = {one.name: one.waited for one in layers}
    lower, upper = waited[step.lower], waited[step.upper]
    if lower is None or lower <= _BUSY or (upper is not None and upper <= _BUSY):
        return ""
    share = f"{lower:.0%}" if upper is None else f"{lower:.0%} and {upper:.0%}"
    return f"; but the processes waited for a processor for {share} of the time"


def _of_step(step: LayerStep, busy: str) -> Finding:
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


def _of_number(parts: Sequence[Layer], steps: Sequence[LayerStep]) -> list[Finding]:
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
    steps: Sequence[LayerStep], findings: Sequence[Finding], parts: Sequence[Layer], smallest: float
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
