"""Trials of a setting: the order of the runs, the effect with its interval, when to stop, what to
conclude. Pure.
"""

from __future__ import annotations

from wireproof.analysis.trial.conclude import ALPHA, compared
from wireproof.analysis.trial.looks import RULE, is_look, level
from wireproof.analysis.trial.schedule import block_order

__all__ = ["ALPHA", "RULE", "block_order", "compared", "is_look", "level"]
