"""UCX's ``ucx_perftest``."""

from __future__ import annotations

from wireproof.adapters.ucx_perftest.output import ADAPTER

__all__ = ["ADAPTER"]
