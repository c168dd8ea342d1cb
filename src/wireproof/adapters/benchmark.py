"""What one benchmark of a tool measures."""

from __future__ import annotations

from dataclasses import dataclass

from wireproof.model.series import Traffic

__all__ = ["Benchmark"]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """``name`` as the program calls it; ``metric``, ``traffic``, ``formula``, ``directions``,
    ``waits`` and ``window`` as in a Series.
    """

    name: str
    metric: str
    traffic: Traffic
    formula: str
    directions: int = 1
    waits: bool = False
    window: int | None = None

    @property
    def half_round_trip(self) -> bool:
        """The printed time is half of a round trip, not that of a whole operation."""
        return self.metric == "half_round_trip"
