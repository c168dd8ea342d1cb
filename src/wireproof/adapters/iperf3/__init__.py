"""iperf3 and iperf 2."""

from __future__ import annotations

from wireproof.adapters.iperf3.output import ADAPTER

__all__ = ["ADAPTER"]
