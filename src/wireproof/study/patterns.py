"""What a study measures in each launch: one point for each of its patterns. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from wireproof.model import quantity
from wireproof.model.errors import BadInput
from wireproof.model.pattern import Form, GroupPattern, Pattern
from wireproof.model.plan import Point
from wireproof.model.study import Knob

__all__ = ["PATTERNS", "StudyPattern", "patterns_for", "points_of", "title_of"]


@dataclass(frozen=True, kw_only=True)
class StudyPattern:
    """``title``: with {size}. ``group``: all ranks take part, else the first of either host."""

    title: str
    pattern: Pattern | GroupPattern
    form: Form
    size: int
    window: int = 64
    group: bool = False


PATTERNS: dict[str, StudyPattern] = {
    "latency": StudyPattern(
        title="half round trip of {size}", pattern="pingpong", form="latency", size=8
    ),
    "pingpong": StudyPattern(
        title="half round trip of {size}", pattern="pingpong", form="latency", size=128 << 10
    ),
    "stream": StudyPattern(
        title="stream of {size}, 8 in flight",
        pattern="stream",
        form="stream",
        size=128 << 10,
        window=8,
    ),
    "saturation": StudyPattern(
        title="message rate of {size}, all ranks, 64 in flight",
        pattern="message_rate",
        form="stream",
        size=2 << 10,
        group=True,
    ),
    "ring": StudyPattern(
        title="ring of {size}, all ranks",
        pattern="ring",
        form="stream",
        size=8,
        group=True,
    ),
    "allreduce": StudyPattern(
        title="allreduce of {size}, all ranks",
        pattern="allreduce",
        form="stream",
        size=16 << 10,
        group=True,
    ),
}
"""By the names of ``--over``. The sizes: below every switch of protocol, and above the usual one
(64,000 B), where a window of messages can keep several rails busy.
"""
_ALWAYS = "latency"
"""A gain elsewhere that costs latency is a trade."""


def patterns_for(knobs: Iterable[Knob]) -> tuple[str, ...]:
    """What is measured when nobody says: what any of the knobs can move, and the latency."""
    moved = {name for knob in knobs for name in knob.moves} | {_ALWAYS}
    return tuple(name for name in PATTERNS if name in moved)


def points_of(names: Sequence[str], ranks: int) -> list[Point]:
    """One point for each pattern, in the order of ``names``; ids are given later. The ranks of one
    host have neighbouring numbers: pairs are rank 0 and the first of the second half.
    """
    unknown = next((name for name in names if name not in PATTERNS), None)
    if unknown is not None:
        raise BadInput(f"--over: there is no {unknown[:40]!r}; there are {', '.join(PATTERNS)}.")
    return [_point(PATTERNS[name], ranks) for name in dict.fromkeys(names)]


def _point(one: StudyPattern, ranks: int) -> Point:
    point = Point(
        id=0,
        pattern=one.pattern,
        message_bytes=one.size,
        form=one.form,
        window=one.window,
    )
    if one.group:
        return msgspec.structs.replace(point, members=tuple(range(ranks)))
    return msgspec.structs.replace(point, pairs=((0, ranks // 2),))


def title_of(name: str) -> str:
    """``stream of 128 KiB, 8 in flight``"""
    one = PATTERNS[name]
    return one.title.format(size=quantity.size(one.size))
