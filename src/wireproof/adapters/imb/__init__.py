"""The Intel MPI Benchmarks."""

from __future__ import annotations

from wireproof.adapters.imb.output import ADAPTER

__all__ = ["ADAPTER"]
