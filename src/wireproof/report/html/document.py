"""A document as one self-contained HTML page: the verdict and the answer first, a card for each
section, figures in the cells of tables.
"""

from __future__ import annotations

import itertools
from typing import Any

from wireproof.report.document import (
    Bar,
    Document,
    Dots,
    Figure,
    Part,
    Picture,
    Section,
    Span,
    Spark,
    full_of,
)
from wireproof.report.figure.chart import Chart
from wireproof.report.figure.drawing import NARROW, WIDE, drawn
from wireproof.report.figure.file import style
from wireproof.report.html.markup import trusted
from wireproof.report.html.published import strip
from wireproof.report.html.shell import figure_view, part, policy, script, template
from wireproof.report.names import clean, harmless
from wireproof.version import version

__all__ = ["document_page"]

_MARKED = {"pass": "good", "fail": "bad", "inconclusive": "unsure", "warning": "unsure"}
"""The classes of a table's rows by their tones."""
_WIDTH, _HEIGHT = 200.0, 18.0


def document_page(document: Document) -> str:
    """The whole page. Every text is escaped by the template."""
    scripts = [script("page.js")]
    page: str = template("document.html").render(
        title=clean(document.title),
        verdict=document.verdict,
        answer=document.answer,
        groups=_groups(document.parts),
        when="",
        drawn=_drawn,
        pictured=_pictured,
        full_of=full_of,
        figure_view=figure_view,
        marked=_MARKED,
        version=version(),
        style=trusted(part("style.css") + style()),
        policy=policy(*scripts),
        script=trusted("".join(scripts)),
    )
    return page


def _groups(parts: tuple[Part, ...]) -> list[list[Part]]:
    """Sections and pictures each alone; what stands between two of them together."""
    keyed = itertools.groupby(
        enumerate(parts), lambda each: each[0] if isinstance(each[1], Section | Picture) else -1
    )
    return [[one for _, one in group] for _, group in keyed]


def _drawn(figure: Figure, full: float) -> Any:
    """The picture of one cell; the numbers stand in the cells beside it."""
    if isinstance(figure, Bar):
        return _svg(_bar(figure, full), "")
    if isinstance(figure, Span):
        return _svg(_span(figure, full), "")
    if isinstance(figure, Dots):
        return trusted(strip(figure.place)) + harmless(figure.words)
    return _svg(_spark(figure), figure.words)


def _pictured(chart: Chart) -> list[tuple[str, Any]]:
    """The chart for wide pages and for phones, with the class of each."""
    sizes = (("wide-only", WIDE), ("narrow-only", NARROW))
    return [(name, trusted(drawn(chart, size))) for name, size in sizes]


def _svg(ink: str, words: str) -> Any:
    hidden = "" if words else ' aria-hidden="true"'
    box = f'<svg class="cell" viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}" preserveAspectRatio="none"'
    return trusted(f"{box}{hidden}>{ink}</svg>") + harmless(words)


def _bar(bar: Bar, full: float) -> str:
    share = min(1.0, max(0.0, (bar.value or 0.0) / (bar.full or full or 1.0)))
    ground = f'<rect class="rail" width="{_WIDTH:.0f}" height="{_HEIGHT:.0f}"/>'
    return f'{ground}<rect class="share" width="{_WIDTH * share:.1f}" height="{_HEIGHT:.0f}"/>'


def _span(span: Span, full: float) -> str:
    """A row of a forest plot: the center as a dashed line, the interval, the estimate."""
    half = _WIDTH / 2 - 5
    scale = half / full if full else 0.0

    def at(value: float) -> float:
        return _WIDTH / 2 + max(-half, min(half, (value - span.center) * scale))

    middle = _HEIGHT / 2
    ink = f'<path class="center" d="M{_WIDTH / 2:.1f} 0V{_HEIGHT:.0f}"/>'
    if span.low is not None and span.high is not None:
        ink += f'<path class="interval" d="M{at(span.low):.1f} {middle}H{at(span.high):.1f}"/>'
    dot = f'<rect class="estimate" x="{at(span.value) - 3:.1f}" y="{middle - 4}"'
    return f'{ink}{dot} width="6" height="8"/>'


def _spark(spark: Spark) -> str:
    step = _WIDTH / max(1, len(spark.values))
    heights = [_HEIGHT * min(1.0, max(0.0, value / (spark.full or 1.0))) for value in spark.values]
    return "".join(
        f'<rect class="share" x="{number * step:.1f}" y="{_HEIGHT - height:.1f}"'
        f' width="{max(0.5, step - 1):.1f}" height="{height:.1f}"/>'
        for number, height in enumerate(heights)
    )
