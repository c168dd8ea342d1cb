"""Judgement of series that other programs have printed. Pure, and without numpy: ten thousand files
in seconds.
"""

from __future__ import annotations

from wireproof.verdict.foreign.judge import judge_series
from wireproof.verdict.foreign.log import judge_log

__all__ = ["judge_log", "judge_series"]
