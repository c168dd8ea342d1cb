"""All figures of one run, those that have something to show."""

from __future__ import annotations

from collections.abc import Sequence

from wireproof.report.figure.chart import Chart
from wireproof.report.figure.curves import bandwidth, latency
from wireproof.report.figure.spread import over_pairs, over_samples
from wireproof.report.judged_run import JudgedRun
from wireproof.report.rows import ResultTable

__all__ = ["charts"]


def charts(section: JudgedRun, found: Sequence[ResultTable], name: str) -> list[Chart]:
    """In the order in which they are read; ``name`` begins the name of each."""
    drawn = [
        latency(section, found, f"{name}-latency"),
        bandwidth(section, found, f"{name}-bandwidth"),
        over_samples(section, f"{name}-samples"),
        over_pairs(section, found, f"{name}-over-pairs"),
    ]
    return [chart for chart in drawn if chart is not None]
