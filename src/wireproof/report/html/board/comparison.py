"""The page of two results held against each other."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from wireproof.model import quantity
from wireproof.model.comparison import Comparison, Ratio, Source
from wireproof.report.documents.comparison import conclusion_text, sides
from wireproof.report.html.board.frame import framed
from wireproof.report.html.board.places import file_of
from wireproof.report.names import clean

__all__ = ["comparison_page"]

_MOST = 400


@dataclass(frozen=True)
class SideView:
    letter: str
    id: str
    place: str
    verdict: str
    words: str


@dataclass(frozen=True)
class RatioView:
    name: str
    bytes: int
    size: str
    a: str
    b: str
    raw: str
    change: str
    interval: str
    words: str
    bad: bool


def comparison_page(root: str, a: str, b: str, found: Comparison, places: Collection[str]) -> str:
    """``a``, ``b``: the names of the results; ``places``: pages of results that are there."""
    rows = [one for one in found.rows if one.ratio is not None]
    left = [one for one in found.rows if one.ratio is None]
    notes = [clean(one, 300) for one in found.notes]
    if rows:
        notes.insert(0, "Above 0 % B is better, whatever the unit.")
    if len(rows) > _MOST:
        notes.append(f"The first {_MOST} of {len(rows)} numbers are shown.")
    return framed(
        "compare",
        "Compare",
        root,
        "",
        sides=[_side("A", a, found.a, places), _side("B", b, found.b, places)],
        head="B against A" if rows else "Nothing to compare",
        notes=notes,
        rows=[_row(one) for one in rows[:_MOST]],
        left=[
            f"{clean(one.name, 60)}, {quantity.size(one.message_bytes)}: {clean(one.reason)}"
            for one in left[:_MOST]
        ],
        differ=[
            (clean(one.name, 80), clean(one.a, 300), clean(one.b, 300))
            for one in (*found.differ, *found.settings)
        ],
    )


def _side(letter: str, name: str, one: Source, places: Collection[str]) -> SideView:
    place = file_of("run", name)
    words = f"{clean(one.hosts, 120)}, {clean(one.measured, 40)}"
    place = place if place in places else ""
    return SideView(letter=letter, id=name, place=place, verdict=one.verdict, words=words)


def _row(one: Ratio) -> RatioView:
    a, b = sides(one)
    return RatioView(
        name=clean(one.name, 80),
        bytes=one.message_bytes,
        size=quantity.size(one.message_bytes),
        a=a,
        b=b,
        raw="" if one.ratio is None else f"{one.ratio:.6g}",
        change=quantity.change(one.ratio),
        interval=f"{quantity.change(one.low)} to {quantity.change(one.high)}",
        words=conclusion_text(one),
        bad=one.conclusion == "worse",
    )
