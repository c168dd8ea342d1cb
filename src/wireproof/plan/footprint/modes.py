"""The modes by name."""

from __future__ import annotations

from wireproof.plan.footprint import psm3, rxm, ucx
from wireproof.plan.footprint.world import Mode

__all__ = ["MODES"]

MODES: dict[str, Mode] = {one.name: one for one in (*psm3.MODES, *rxm.MODES, *ucx.MODES)}
