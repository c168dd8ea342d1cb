"""libfabric's fabtests."""

from __future__ import annotations

from wireproof.adapters.fabtests.output import ADAPTER

__all__ = ["ADAPTER"]
