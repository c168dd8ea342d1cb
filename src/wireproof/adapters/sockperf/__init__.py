"""sockperf."""

from __future__ import annotations

from wireproof.adapters.sockperf.output import ADAPTER

__all__ = ["ADAPTER"]
