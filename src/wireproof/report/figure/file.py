"""A chart as a file of its own: light, with its legend, and no variables of a style sheet, which
many programs that show SVG do not know.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from wireproof.report.figure.chart import Chart
from wireproof.report.figure.curves import bandwidth, latency
from wireproof.report.figure.drawing import PRINTED, Size, drawn
from wireproof.report.figure.spread import over_pairs, over_samples
from wireproof.report.judged_run import JudgedRun
from wireproof.report.rows import ResultTable, tables

PALETTE = {
    "ink": "#1c2430",
    "muted": "#5a6573",
    "line": "#d9dee5",
    "limit": "#b3261e",
    "card": "#ffffff",
    "sunk": "#f0f2f5",
    "accent": "#1f5fb4",
    "s0": "#1f5fb4",
    "s1": "#b45309",
    "s2": "#0f766e",
    "s3": "#8b3fa0",
    "s4": "#5b6470",
    "s5": "#a3245b",
}
"""The light colours of the page."""


def style() -> str:
    """How the classes of a drawing look; colours are variables of the page."""
    return (Path(__file__).parent / "figure.css").read_text(encoding="utf-8")


def charts(section: JudgedRun, found: Sequence[ResultTable], name: str) -> list[Chart]:
    """In the order in which they are read; ``name`` begins the name of each."""
    drawn = [
        latency(section, found, f"{name}-latency"),
        bandwidth(section, found, f"{name}-bandwidth"),
        over_samples(section, f"{name}-samples"),
        over_pairs(section, found, f"{name}-over-pairs"),
    ]
    return [chart for chart in drawn if chart is not None]


def figures(sections: Sequence[JudgedRun]) -> dict[str, str]:
    """Every figure of every run as the text of an SVG file, by its name."""
    return {
        chart.id: standalone(chart)
        for number, section in enumerate(sections, 1)
        for chart in charts(section, tables(section), f"run{number}")
    }


def standalone(chart: Chart, size: Size = PRINTED) -> str:
    """The whole text of an SVG file."""
    painted = re.sub(r"var\(--(\w+)\)", lambda found: PALETTE[found[1]], style())
    head, rest = drawn(chart, size, legend=True).split(">", 1)
    ground = f'<rect width="100%" height="100%" fill="{PALETTE["card"]}"/>'
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n{head} width="{size.width}" '
        'xmlns="http://www.w3.org/2000/svg">'
        f"<style>{painted}</style>{ground}{rest}\n"
    )
