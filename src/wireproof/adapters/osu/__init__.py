"""The OSU micro-benchmarks."""

from __future__ import annotations

from wireproof.adapters.osu.output import ADAPTER

__all__ = ["ADAPTER"]
