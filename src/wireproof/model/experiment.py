"""What all experiments measure and answer: tries of a setting, studies, ladders, gains of rails."""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ["Answer", "Better", "InterimLook", "Interval", "Metric"]

Better = Literal["lower", "higher"]
Answer = Literal["helps", "no-effect", "hurts", "undecided"]


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """A value with its interval over the launches or rounds; ``low``, ``high`` None: too few of
    them for an interval.
    """

    value: float
    low: float | None = None
    high: float | None = None


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """The number that decides. ``source``: where a run's number comes from."""

    name: str
    unit: str
    better: Better
    source: str


class InterimLook(msgspec.Struct, frozen=True, kw_only=True):
    """The intervals were looked at after ``blocks``; they missed the truth with probability
    ``alpha`` at most.
    """

    blocks: int
    alpha: float
