"""Which priority is the lossless one: said by the user, by the settings, or shown by the pauses.
Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from wireproof.model.pfc import PfcReading, PfcSettings

__all__ = ["Chosen", "chosen"]


class Chosen(NamedTuple):
    """``claimed``: somebody said so; what only moved proves nothing about where it should."""

    priority: int | None
    how: str
    claimed: bool


def chosen(
    asked: int | None, settings: Sequence[PfcSettings], readings: Sequence[PfcReading]
) -> Chosen:
    """The first of them that names one."""
    if asked is not None:
        return Chosen(asked, "as asked", claimed=True)
    on = {tuple(one.lossless) for one in settings if one.lossless}
    if len(on) == 1 and len(one := on.pop()) == 1:
        return Chosen(one[0], "the one that PFC is on for", claimed=True)
    paused = Counter(
        one.priority
        for reading in readings
        for one in reading.priorities
        if one.tx.stopped or one.rx.stopped
    )
    if len(paused) == 1:
        return Chosen(next(iter(paused)), "the only one that paused", claimed=False)
    return Chosen(None, "not known", claimed=False)
