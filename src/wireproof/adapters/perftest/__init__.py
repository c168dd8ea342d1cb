"""perftest: ``ib_write_bw`` and its family."""

from __future__ import annotations

from wireproof.adapters.perftest.output import ADAPTER

__all__ = ["ADAPTER"]
