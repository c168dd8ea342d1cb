"""What ``wireproof check --dry-run --json`` prints."""

from __future__ import annotations

import msgspec

from wireproof.model.plan import Point

__all__ = ["DryRunDocument"]


class DryRunDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What a check would start first, how often, and what it would measure."""

    argv: list[str]
    environment: dict[str, str]
    launches: int
    hosts: list[str]
    points: list[Point]
    at_most_s: float
