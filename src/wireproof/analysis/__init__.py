"""From records to numbers with intervals, and from counters to traffic. Pure; numpy only."""

from __future__ import annotations

from wireproof.analysis.familiar import Familiar, familiar
from wireproof.analysis.fit import Fit, Line, fit_sizes
from wireproof.analysis.interval import autocorrelation, estimate, quantiles, two_modes
from wireproof.analysis.measured import Measured, block_times, measure, operation_times, tail
from wireproof.analysis.repeats import Effect, Repeated, effect, repeated
from wireproof.analysis.witness import readers, watch

__all__ = [
    "Effect",
    "Familiar",
    "Fit",
    "Line",
    "Measured",
    "Repeated",
    "autocorrelation",
    "block_times",
    "effect",
    "estimate",
    "familiar",
    "fit_sizes",
    "measure",
    "operation_times",
    "quantiles",
    "readers",
    "repeated",
    "tail",
    "two_modes",
    "watch",
]
