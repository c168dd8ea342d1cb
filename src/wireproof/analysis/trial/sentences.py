"""The answer of a comparison as one sentence."""

from __future__ import annotations

import math

from wireproof.model import quantity
from wireproof.model.experiment import Metric
from wireproof.model.trial import Comparison, Guard, Knob

__all__ = ["amount", "said"]

_GUARDS = {
    "p99_ns": "the 99th percentile",
    "cpu_ns_per_message": "processor time per message",
    "cpu_s": "processor time",
    "retransmits": "TCP retransmits",
    "drops": "drops",
}


def said(one: Comparison, knob: Knob, metric: Metric, run_s: float) -> str:
    """``UCX_X=1 helps by 10.2 % [8.1, 12.3] (goodput 1118 -> 1232 MB/s)``. ``run_s``: seconds of a
    run, for what is missing.
    """
    value = knob.shown(one.value)
    numbers = f"{metric.name} {amount(one.base, metric.unit)} -> {amount(one.other, metric.unit)}"
    link = "but" if one.answer == "helps" else "and"
    guards = "".join(f"; {link} {_worse(guard)}" for guard in one.guards if guard.worse)
    if one.low is None or one.high is None or one.answer == "undecided":
        return f"{value} undecided: {_missing(one, run_s)} ({numbers}){guards}"
    low, high = sorted((abs(one.low - 1.0), abs(one.high - 1.0)))
    if one.answer == "no-effect":
        return f"{value}: no effect larger than {_percent(high)} % ({numbers}){guards}"
    by = f"{_percent(abs(one.ratio - 1.0))} % [{_percent(low)}, {_percent(high)}]"
    return f"{value} {one.answer} by {by} ({numbers}){guards}"


def _missing(one: Comparison, run_s: float) -> str:
    if one.beside_the_wire:
        base, other = (path or "unproven" for path in one.paths)
        return f"the runs did not use the claimed wire (base {base}, this value {other})"
    more = f"needs about {one.more_runs} more runs ({quantity.duration(one.more_runs * run_s)})"
    if one.low is None or one.high is None:
        return f"{more} for any interval"
    return f"{more}; so far {_signed(one.low)} to {_signed(one.high)} %"


def _percent(share: float) -> str:
    """A share in per cent, one decimal below 100 %."""
    return f"{100.0 * share:.1f}" if share < 1.0 else f"{100.0 * share:.0f}"


def _signed(ratio: float) -> str:
    return f"{100.0 * (ratio - 1.0):+.1f}"


def _worse(guard: Guard) -> str:
    name = _GUARDS.get(guard.name, guard.name)
    if guard.kind == "count":
        return f"{name} rise by {guard.change:.3g} per run"
    return f"{name} rises by {_percent(guard.change)} %"


def amount(value: float, unit: str) -> str:
    """A value of a metric as people write it."""
    if unit == "ns":
        return f"{quantity.microseconds(value)} us"
    if unit == "bytes_per_s":
        return f"{quantity.megabytes(value)} MB/s"
    if unit == "messages_per_s":
        return f"{quantity.messages(value)}/s"
    shown = f"{value:.4g}" if math.isfinite(value) else "?"
    return f"{shown} {unit}".rstrip()
