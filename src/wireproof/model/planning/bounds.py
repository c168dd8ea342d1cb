"""A number that is known to lie between two others, both included."""

from __future__ import annotations

import msgspec

__all__ = ["Bounds", "exactly"]


class Bounds(msgspec.Struct, frozen=True):
    """``low`` <= the true number <= ``high``; the unit is that of the field that holds it."""

    low: float
    high: float

    def __add__(self, other: Bounds) -> Bounds:
        return Bounds(self.low + other.low, self.high + other.high)

    def times(self, other: Bounds | float) -> Bounds:
        """The product of two numbers that are 0 or more."""
        if isinstance(other, Bounds):
            return Bounds(self.low * other.low, self.high * other.high)
        return Bounds(self.low * other, self.high * other)

    @property
    def known(self) -> bool:
        """True where both bounds agree."""
        return self.low == self.high


def exactly(value: float) -> Bounds:
    """A number that is known."""
    return Bounds(value, value)
