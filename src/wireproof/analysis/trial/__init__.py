"""Trials of a setting: the order of the runs, the effect with its interval, when to stop, what to
conclude. Pure.
"""

from __future__ import annotations

from wireproof.analysis.trial.conclude import ALPHA, compared
from wireproof.analysis.trial.schedule import block_order

__all__ = ["ALPHA", "block_order", "compared"]
