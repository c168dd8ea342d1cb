"""What no wire can do: quicker than the floor, faster than the link, more packets than it has room
for.
"""

from __future__ import annotations

from wireproof.verdict.external.case import Case
from wireproof.verdict.external.ceiling import (
    judge_ceiling,
    judge_slowest_pair,
    limited_after_burst,
)
from wireproof.verdict.external.floor import (
    judge_any_nic,
    judge_collective,
    judge_floor,
    judge_transfer,
)
from wireproof.verdict.external.rates import judge_message_rate, judge_one_pair

__all__ = ["judge_physics"]


def judge_physics(case: Case) -> None:
    """Adds the reasons, and marks the case when they exclude the claimed wire."""
    bounds = case.bounds
    if bounds is not None and not bounds.wire:
        return
    judge_any_nic(case)
    if bounds is None:
        return
    judge_floor(case, bounds)
    judge_collective(case, bounds)
    if limited_after_burst(case, bounds):
        return
    judge_transfer(case, bounds)
    judge_ceiling(case, bounds)
    judge_slowest_pair(case, bounds)
    judge_message_rate(case, bounds)
    judge_one_pair(case, bounds)
