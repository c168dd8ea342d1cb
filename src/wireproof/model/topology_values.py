"""Quantities of a topology as words: rates, losses, delays. Pure."""

from __future__ import annotations

import re

from wireproof.model.errors import BadInput

__all__ = ["parse_delay_us", "parse_loss_percent", "parse_rate"]

_NUMBER = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*([a-z%]+)", re.ASCII)


def _quantity(text: str, units: dict[str, float], what: str, example: str) -> float:
    found = _NUMBER.fullmatch(text.strip().lower())
    factor = units.get(found.group(2)) if found else None
    if found is None or factor is None:
        raise BadInput(f"{what} {text[:40]!r} is not understood: write {example}")
    return float(found.group(1)) * factor


def parse_rate(text: str) -> int:
    """Bits/s of ``"1gbit"``, ``"2.5gbit"``, ``"300mbit"``, ``"64kbit"`` (10^3 steps, as tc has
    them).
    """
    rate = _quantity(
        text, {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}, "rate", "one such as 300mbit, 1gbit, 2.5gbit"
    )
    if not 8e3 <= rate <= 1e12:
        raise BadInput(f"rate {text} is out of range: give 8kbit to 1000gbit")
    return round(rate)


def parse_loss_percent(text: str) -> float:
    """Percent of ``"1%"``, ``"0.01%"``."""
    loss = _quantity(text, {"%": 1.0}, "loss", "a percentage such as 1% or 0.01%")
    if not 0 < loss <= 100:
        raise BadInput(f"loss {text} is out of range: give more than 0% and at most 100%")
    return loss


def parse_delay_us(text: str) -> float:
    """Microseconds of ``"100us"``, ``"2ms"``."""
    delay = _quantity(text, {"us": 1.0, "ms": 1e3, "s": 1e6}, "delay", "one such as 100us or 2ms")
    if not 1 <= delay <= 10e6:
        raise BadInput(f"delay {text} is out of range: give 1us to 10s")
    return delay
