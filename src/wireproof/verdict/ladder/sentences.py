"""A step's answer as one sentence."""

from __future__ import annotations

from collections.abc import Mapping

from wireproof.model import quantity
from wireproof.model.ladder import LayerName, Step

__all__ = ["step_said"]


def step_said(step: Step, titles: Mapping[LayerName, str], smallest: float) -> str:
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


def _alike(step: Step) -> str:
    words = {"start": "starts as soon as", "rate": "is as fast as"}
    return words.get(step.quantity, "with a full window is as fast as")


def _lost(step: Step) -> str:
    amount = abs(step.difference.value)
    if step.quantity == "start":
        return f"takes {quantity.microseconds(amount)} us longer to start than"
    how = " with a full window" if step.quantity == "windowed" else ""
    return f"moves {quantity.megabytes(amount)} MB/s less{how} than"


def _times(step: Step) -> str:
    """``2.1 times the start [2.0, 2.2]``; of rates what is left, ``26 % of its rate [25, 27]``."""
    if step.quantity == "start":
        span = "" if step.low is None or step.high is None else _span(step.low, step.high)
        return f"{quantity.significant(step.ratio)} times its start{span}"
    low, high = step.low, step.high
    span = "" if low is None or high is None else f" [{100 / high:.0f}, {100 / low:.0f}]"
    return f"{100 / step.ratio:.0f} % of its rate{span}"


def _span(low: float, high: float) -> str:
    return f" [{quantity.significant(low)}, {quantity.significant(high)}]"
