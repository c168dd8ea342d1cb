"""What locate calls slow, and how sure it has to be."""

import dataclasses
import math

from wireproof.model.located import Metric


@dataclasses.dataclass(frozen=True, kw_only=True)
class LocateCriteria:
    """``alpha``: family-wise error of a whole sweep. ``practical_*``: the least slowdown that is
    called one (relative: goodput that is missing, time that is added). ``floor``: spread of healthy
    ports that is never called a difference. ``max_suspects``: how many nodes a confirm stage takes
    at most, the worst first.

    Raises ValueError when a share is not between 0 and 1.
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
        """The practical threshold of ``metric``, as a relative slowdown."""
        return self.practical_goodput if metric == "goodput" else self.practical_latency


def as_log(metric: Metric, slowdown: float) -> float:
    """Slowness (natural logarithm, positive is slow) of a relative slowdown: 0.05 less goodput, or
    0.10 more time.
    """
    return (
        -math.log1p(-min(slowdown, 1.0 - 1e-12))
        if metric == "goodput"
        else math.log1p(max(slowdown, -1.0 + 1e-12))
    )


def as_slowdown(metric: Metric, slowness: float) -> float:
    """The inverse of ``as_log``."""
    return -math.expm1(-slowness) if metric == "goodput" else math.expm1(min(slowness, 700.0))
