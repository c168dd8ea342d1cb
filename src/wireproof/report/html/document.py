"""A document as one self-contained HTML page: verdict and answer first, a card for each section,
figures in table cells. Reports of runs and pages of a history are built this way.
"""

import itertools
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from wireproof.report.document import (
    Bar,
    Cell,
    Document,
    Dots,
    Figure,
    Findings,
    Head,
    Part,
    Picture,
    Section,
    Span,
    Spark,
    Value,
    full_of,
    words_of,
)
from wireproof.report.figure import Chart
from wireproof.report.figure.drawing import LONG, NARROW, WIDE, drawn
from wireproof.report.figure.file import style
from wireproof.report.html import compiled_page, part, policy, script, trusted
from wireproof.report.names import clean, harmless
from wireproof.version import version

_MARKED = {"pass": "good", "fail": "bad", "inconclusive": "unsure", "warning": "unsure"}
"""CSS classes of table rows, by tone."""
_LONG = 24
"""A longer cell, in characters, may be wrapped."""
_WIDTH, _HEIGHT = 200.0, 18.0


def stylesheet() -> str:
    """Return the style of all pages, for embedding in a page or for a file beside the many pages of
    a history.
    """
    return part("style.css") + style() + part("board.css")


def document_page(
    document: Document,
    *,
    when: str = "",
    home: str = "",
    pages: Sequence[tuple[str, str]] = (),
    here: str = "",
    beside: str = "",
) -> str:
    """Return the whole page. The template escapes every text.

    ``when``: a line below the title; ``home``: target of the link back; ``pages``: names and files
    that every page of a history links to; ``here``: the entry of ``pages`` that this page belongs
    to; ``beside``: the file with the style.
    """
    shown = "picture" in (kinds := {*_kinds(document.parts)}) or "table" in kinds
    scripts = [script("page.js")] if shown else []
    scripts += [script("board.js")] if pages and shown else []
    page: str = compiled_page().render(
        title=clean(document.title),
        verdict=document.verdict,
        answer=document.answer,
        parts=document.parts,
        contents=[one for one in document.parts if isinstance(one, Section) and one.anchor],
        when=clean(when, 2000),
        home=home,
        pages=pages,
        here=here,
        beside=beside,
        alone=_alone,
        attributes=_attributes,
        drawn=_drawn,
        full_of=full_of,
        grouped=_grouped,
        marked=_MARKED,
        pictured=lambda chart: _pictured(chart, long=bool(pages)),
        trusted=trusted,
        version=version(),
        style=trusted("" if beside else stylesheet()),
        policy=policy(*scripts, beside=bool(beside)),
        script=trusted("</script>\n<script>".join(scripts)),
    )
    return page


def _kinds(parts: Sequence[Part]) -> Iterator[str]:
    for one in parts:
        yield one.kind
        if isinstance(one, Section):
            yield from _kinds(one.parts)


def _alone(one: Part) -> bool:
    """Return True if a part is a card, or creates its cards."""
    return isinstance(one, Section | Picture) or (isinstance(one, Findings) and one.cards)


def _grouped(parts: Sequence[Part]) -> list[list[Part]]:
    """Return the parts in groups: each card is a group, and so are the parts between two cards."""
    keyed = itertools.groupby(enumerate(parts), lambda each: each[0] if _alone(each[1]) else -1)
    return [[one for _, one in group] for _, group in keyed]


def _attributes(head: Head, cell: Cell) -> Any:
    """Return the attributes of a cell: words are left-aligned, long ones wrapped, and a number has
    its raw value for the page's script.
    """
    kinds = ["text"] if head.left else []
    kinds += ["long"] if len(words_of(cell)) > _LONG else []
    kinds += [] if isinstance(cell, str | Value) else ["picture"]
    kind = f' class="{" ".join(kinds)}"' if kinds else ""
    raw = cell.raw if isinstance(cell, Value) else ""
    return trusted(f'{kind} data-v="{raw}"' if raw else kind)


def _drawn(figure: Figure, full: float) -> Any:
    """Return the picture in one cell; the numbers are in the cells beside it."""
    if isinstance(figure, Bar):
        return _svg(_bar(figure, full), figure.words)
    if isinstance(figure, Span):
        return _svg(_span(figure, full), "")
    if isinstance(figure, Dots):
        return trusted(strip(figure)) + harmless(figure.words)
    return _svg(_spark(figure), figure.words)


def _pictured(chart: Chart, *, long: bool) -> list[tuple[str, Any]]:
    sizes = (("wide-only", LONG if long else WIDE), ("narrow-only", NARROW))
    return [(name, trusted(drawn(chart, size))) for name, size in sizes]


def _svg(ink: str, words: str) -> Any:
    hidden = "" if words else ' aria-hidden="true"'
    box = f'<svg class="cell" viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}" preserveAspectRatio="none"'
    return trusted(f"{box}{hidden}>{ink}</svg>") + harmless(words)


def _bar(bar: Bar, full: float) -> str:
    share = min(1.0, max(0.0, (bar.value or 0.0) / (bar.full or full or 1.0)))
    ground = f'<rect class="rail" width="{_WIDTH:.0f}" height="{_HEIGHT:.0f}"/>'
    ink = f'{ground}<rect class="share" width="{_WIDTH * share:.1f}" height="{_HEIGHT:.0f}"/>'
    if bar.due is None:
        return ink
    at = _WIDTH * min(1.0, bar.due / (bar.full or full or 1.0))
    return f'{ink}<path class="due" d="M{at:.1f} 0V{_HEIGHT:.0f}"/>'


def _span(span: Span, full: float) -> str:
    """Return a row of a forest plot: the center as a dashed line, the interval, the estimate."""
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


_WIDE, _HIGH, _EDGE, _LINE = 640, 58, 14.0, 24.0


def strip(one: Dots) -> str:
    """Return the strip: slower on the left, faster on the right, on a logarithmic scale. The
    measured number is the triangle; dots in the same place are stacked.
    """
    label = f"Strip of {len(one.values)} published numbers. {one.words}"
    parts = [
        (
            f'<svg class="figure strip" viewBox="0 0 {_WIDE} {_HIGH}" role="img"'
            f' aria-label="{escape(clean(label, 800))}">'
        ),
        f'<path class="grid" d="M{_EDGE} {_LINE + 8}H{_WIDE - _EDGE}"/>',
    ]
    taken: dict[int, int] = {}
    for value in one.values:
        at = _at(one, value)
        above = taken[round(at / 6)] = taken.get(round(at / 6), -1) + 1
        tip = f"<title>{escape(one.shown(value))}</title>"
        place = max(4.0, _LINE - 6 * above)
        parts.append(f'<g class="s4"><circle class="dot" cx="{at:.1f}" cy="{place:.1f}" r="3">')
        parts.append(f"{tip}</circle></g>")
    if one.value:
        at = _at(one, one.value)
        mark = f"M{at:.1f} {_LINE + 4:.1f}l6 11h-12z"
        tip = f"<title>{escape(f'this run: {one.shown(one.value)}')}</title>"
        parts.append(f'<g class="s1"><path class="dot mine" d="{mark}">{tip}</path></g>')
    slow, fast = one.ends
    for x, anchor, value in ((_EDGE, "start", slow), (_WIDE - _EDGE, "end", fast)):
        shown = escape(one.shown(value))
        parts.append(
            f'<text class="tick" x="{x:.0f}" y="{_HIGH - 4}" text-anchor="{anchor}">{shown}</text>'
        )
    return "".join([*parts, "</svg>"])


def _at(one: Dots, value: float) -> float:
    return 2 * _EDGE + one.share(value) * (_WIDE - 4 * _EDGE)
