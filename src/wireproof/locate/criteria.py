"""Thresholds that decide what counts as slow, and how certain a culprit has to be."""

import dataclasses
import math

from wireproof.model.located import Metric


@dataclasses.dataclass(frozen=True, kw_only=True)
class LocateCriteria:
    """``alpha``: family-wise error rate of a whole sweep. ``practical_*``: smallest relative
    slowdown that is reported (missing goodput, added time). ``floor``: spread between healthy ports
    that is never reported as a difference. ``max_suspects``: most nodes that a confirm stage
    measures, the slowest first.

    Raises ValueError if a share is not between 0 and 1.
    """

    alpha: float = 0.05
    practical_goodput: float = 0.05
    practical_latency: float = 0.10
    floor: float = 0.005
    max_suspects: int = 16

    def __post_init__(self) -> None:
        for name in ("alpha", "practical_goodput", "practical_latency", "floor"):
            value = getattr(self, name)
            if not 0.0 < value < 1.0:
                raise ValueError(f"{name} is {value}: it must be between 0 and 1")

    def practical(self, metric: Metric) -> float:
        """Return the practical threshold of ``metric`` as a relative slowdown."""
        return self.practical_goodput if metric == "goodput" else self.practical_latency


def as_log(metric: Metric, slowdown: float) -> float:
    """Convert a relative slowdown to log slowness (natural logarithm, positive is slow). 0.05 means
    5 % less goodput or 5 % more time.
    """
    return (
        -math.log1p(-min(slowdown, 1.0 - 1e-12))
        if metric == "goodput"
        else math.log1p(max(slowdown, -1.0 + 1e-12))
    )


def as_slowdown(metric: Metric, slowness: float) -> float:
    """Convert log slowness to a relative slowdown: the inverse of ``as_log``."""
    return -math.expm1(-slowness) if metric == "goodput" else math.expm1(min(slowness, 700.0))
