"""What ``measure`` measures: the patterns, and sweeps made of them."""

from __future__ import annotations

from wireproof.model.pattern import GROUP_PATTERNS, PAIR_PATTERNS

__all__ = ["GROUP_PATTERNS", "PAIR_PATTERNS", "PATTERNS", "SATURATED"]

PATTERNS = (*PAIR_PATTERNS, *GROUP_PATTERNS, "saturation")
SATURATED = 8
"""Ranks on each host of a saturation, when --ppn is not given."""
