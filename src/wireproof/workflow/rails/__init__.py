"""``wireproof measure --gain``: what do several rails carry, each alone and together?"""

from __future__ import annotations

from wireproof.workflow.rails.gain import GainResult, measure_gain

__all__ = ["GainResult", "measure_gain"]
