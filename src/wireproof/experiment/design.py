"""The design of an experiment: its arms, the order of their trials, when it ends, what is compared.

Whatever the noise, two arms of a block are equally likely to change places (Fisher's
randomisation). Their difference in a block is therefore symmetric about the effect, which is all
that the intervals assume.
"""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from wireproof.analysis.interval import least_size
from wireproof.model.experiment import Metric

ALPHA = 0.05
"""Error probability of all claims of an experiment together."""
WARM_UP = -1
"""Block number of trials that do not count."""
BLOCK_VALUES = 4
"""Most arms that share a small block with the base: the base costs a quarter more trials, and an
arm and its base are at most four trials apart.
"""
Shape = Literal["mirrored", "round", "small"]
"""The blocks of one round. ``mirrored``: one block, a random order of all arms followed by its
reverse, so that a linear drift has the same sum for each arm (docs/adr/0011). ``round``: one
block, all arms in random order (docs/adr/0013). ``small``: small blocks that all include the
base and together every other arm once, so that a block ends before the machine has changed much
(docs/adr/0015).
"""
Test = Literal["interval", "change", "loss"]
"""What decides. ``interval``: an interval that holds jointly with all others. ``change``: Holm's
rule over all comparisons, each with a separate interval. ``loss``: Holm's rule for a loss above
``smallest``, with joint intervals.
"""


@dataclass(frozen=True)
class Contrast:
    """Two arms: ``other`` is compared with ``base``."""

    base: int
    other: int


def against_base(arms: Sequence[int]) -> tuple[Contrast, ...]:
    """Compare every arm with the first."""
    return tuple(Contrast(arms[0], arm) for arm in arms[1:])


def least_rounds(comparisons: int, alpha: float) -> int:
    """Return the fewest rounds after which the clearest of the effects can be detected by Holm's
    rule.

    Its first step needs alpha / comparisons, and no interval exists with fewer than six rounds.
    """
    return max(6, least_size(alpha / comparisons))


@dataclass(frozen=True)
class TrialPlace:
    """The place of a trial: ``round_`` and ``block`` count from 0."""

    round_: int
    block: int
    arm: int


@dataclass(frozen=True, kw_only=True)
class Design:
    """``arms``: numbers by which the bench knows them, the base first. ``shape``: of the blocks.

    ``rounds`` None: as many as ``budget_s`` allows. ``least``: rounds needed for any decision; 0:
    not checked. ``looks``: the answers are evaluated during the run, and these looks share
    ``alpha``. ``smallest``: share below which an effect counts as none.
    """

    arms: tuple[int, ...]
    seed: str
    shape: Shape = "round"
    rounds: int | None = None
    budget_s: float = math.inf
    least: int = 0
    looks: bool = False
    metrics: tuple[Metric, ...] = ()
    contrasts: tuple[Contrast, ...] = ()
    test: Test = "change"
    alpha: float = ALPHA
    smallest: float = 0.05

    @property
    def blocks(self) -> int:
        """Number of blocks in one round."""
        return math.ceil((len(self.arms) - 1) / BLOCK_VALUES) if self.shape == "small" else 1

    @property
    def trials(self) -> int:
        """Number of trials in one round."""
        return sum(map(len, self.order(0)))

    def order(self, number: int) -> list[tuple[int, ...]]:
        """Return the arms of each block of round ``number``, in the order of measurement.

        Equal seed and number give equal order.
        """
        draw = random.Random(f"{self.seed}/{number}")
        order = list(self.arms)
        if self.shape != "small":
            draw.shuffle(order)
            return [(*order, *reversed(order)) if self.shape == "mirrored" else tuple(order)]
        base, *others = order
        draw.shuffle(others)
        blocks = [[base, *others[index :: self.blocks]] for index in range(self.blocks)]
        for block in blocks:
            draw.shuffle(block)
        return [tuple(block) for block in blocks]


# --- When the intervals are evaluated, and how much of the error each look may spend. Repeated
# confidence intervals (Jennison and Turnbull, J. R. Statist. Soc. B 51 (1989)): the intervals of
# all looks jointly cover the truth with probability 1 - alpha, so the experiment may stop after any
# look and for any reason. Bonferroni's inequality divides the error among the looks, instead of a
# boundary that assumes normal noise; the last look gets the remainder.

RULE = (
    "repeated confidence intervals (Jennison and Turnbull 1989) after 8, 12, 18, 27, 40 ... blocks"
    " and at the end; the looks share the error (Bonferroni): the first has 16 % of it, each later"
    " one 0.8 times as much, the last all that is left"
)
_FIRST, _GROWTH = 8, 1.5
_SHARE, _LESS = 0.16, 0.8


def _looks() -> Iterator[int]:
    blocks = _FIRST
    while True:
        yield blocks
        blocks = int(blocks * _GROWTH)


def is_look(blocks: int) -> bool:
    """Return whether the intervals are evaluated after this many blocks, even if others can
    follow.
    """
    return next(look for look in _looks() if look >= blocks) == blocks


def level(alpha: float, looked: Sequence[float], *, last: bool) -> float:
    """Return what the next look may spend of ``alpha`` after earlier looks have spent
    ``looked``.
    """
    if last:
        return alpha - sum(looked)
    return alpha * _SHARE * _LESS ** len(looked)
