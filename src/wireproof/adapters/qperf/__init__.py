"""qperf."""

from __future__ import annotations

from wireproof.adapters.qperf.output import ADAPTER

__all__ = ["ADAPTER"]
