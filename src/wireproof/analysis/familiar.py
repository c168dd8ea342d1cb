"""The numbers that OSU and IMB would print, so that a user finds the familiar figure beside the
robust one.
"""

from __future__ import annotations

from dataclasses import dataclass

from wireproof.model.pattern import is_round_trip
from wireproof.model.record import PairResult, PointRecord

__all__ = ["Familiar", "familiar"]


@dataclass(frozen=True, slots=True)
class Familiar:
    """``t_usec`` per message as the tool defines it; ``mbytes_per_s`` with MB = 10^6, as all of
    them have it.
    """

    tool: str
    t_usec: float
    mbytes_per_s: float
    messages_per_s: float


def familiar(point: PointRecord, pair: PairResult) -> Familiar | None:
    """The tool's figures from the engine's ``formula_value_ns``; else their common rule, the plain
    mean over all batches.

    An exchange counts both directions in IMB's and OSU's bidirectional bandwidth. None when nothing
    was timed.
    """
    value = pair.formula_value_ns
    if value is None:
        operations = len(pair.batch_ns) * pair.operations_per_batch
        if operations == 0:
            return None
        value = (
            sum(pair.batch_ns)
            / operations
            / (2.0 if is_round_trip(point.pattern, point.form) else 1.0)
        )
    if not value > 0:
        return None
    directions = 2 if point.pattern == "exchange" else 1
    return Familiar(
        point.formula,
        value / 1e3,
        directions * point.message_bytes / value * 1e3,
        directions * 1e9 / value,
    )
