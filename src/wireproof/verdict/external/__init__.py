"""Judgement of series that other programs have printed. Pure, and without numpy: ten thousand files
in seconds.
"""

from wireproof.verdict.external.log import judge_log
from wireproof.verdict.external.series import judge_series

__all__ = ["judge_log", "judge_series"]
