"""One line of the benchmark's table: a value with its interval, held against a target. Pure."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

__all__ = ["NotRun", "Outcome", "Row", "Sense", "certain", "exit_status", "outcome_of"]

Sense = Literal["at most", "at least", "within"]
Outcome = Literal["reached", "missed", "undecided", "shown"]


def outcome_of(
    low: float | None, high: float | None, target: float | None, sense: Sense
) -> Outcome:
    """``reached`` only when the whole interval keeps the target, ``missed`` when no part of it
    does.

    ``within``: the target is the distance from 1, either way.
    """
    if target is None:
        return "shown"
    if low is None or high is None:
        return "undecided"
    least, most = {
        "within": (1 - target, 1 + target),
        "at least": (target, float("inf")),
        "at most": (float("-inf"), target),
    }[sense]
    if least <= low and high <= most:
        return "reached"
    return "missed" if low > most or high < least else "undecided"


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """``value`` with its 95 % interval is what is judged: ours / theirs, or a figure of our own in
    ``unit``.

    ``ours`` and ``theirs`` are the medians in ``unit``, for reading only. ``pairs``: comparisons
    used; ``dropped``: those thrown out because our own figure had moved between the run before
    theirs and the run after.
    """

    group: str
    title: str
    unit: str
    value: float | None
    low: float | None = None
    high: float | None = None
    quantity: str = "ratio"
    ours: float | None = None
    theirs: float | None = None
    target: float | None = None
    sense: Sense = "at most"
    pairs: int = 0
    dropped: int = 0
    note: str = ""

    @property
    def outcome(self) -> Outcome:
        return outcome_of(self.low, self.high, self.target, self.sense)


class NotRun(msgspec.Struct, frozen=True, kw_only=True):
    """What could not be compared here, and why. ``required``: it has a target, so that it is no
    pass without it.
    """

    group: str
    title: str
    reason: str
    required: bool = True


def certain(
    group: str, title: str, unit: str, value: float, target: float | None, **more: Any
) -> Row:
    """A figure without chance: its interval is a point. ``more``: other fields of a row."""
    known = {"quantity": unit, "pairs": 1, **more}
    return Row(
        group=group,
        title=title,
        unit=unit,
        value=value,
        low=value,
        high=value,
        target=target,
        **known,
    )


def exit_status(rows: list[Row], not_run: list[NotRun]) -> int:
    """0 all targets reached, 1 some missed, 3 some undecided or not run: zero evidence is never a
    pass.
    """
    outcomes = {row.outcome for row in rows}
    if "missed" in outcomes:
        return 1
    return 3 if "undecided" in outcomes or any(one.required for one in not_run) or not rows else 0
