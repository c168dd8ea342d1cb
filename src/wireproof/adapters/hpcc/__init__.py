"""HPC Challenge."""

from __future__ import annotations

from wireproof.adapters.hpcc.output import ADAPTER

__all__ = ["ADAPTER"]
