"""From records to numbers with intervals, and from counters to traffic. Pure; numpy only."""

from __future__ import annotations

from wireproof.analysis.interval import autocorrelation, estimate, quantiles, two_modes
from wireproof.analysis.measured import Measured, block_times, measure, operation_times, tail
from wireproof.analysis.witness import HostTraffic, PortTraffic, Seen, readers, watch

__all__ = [
    "HostTraffic",
    "Measured",
    "PortTraffic",
    "Seen",
    "autocorrelation",
    "block_times",
    "estimate",
    "measure",
    "operation_times",
    "quantiles",
    "readers",
    "tail",
    "two_modes",
    "watch",
]
