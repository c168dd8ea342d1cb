"""What an experiment does: its arms, the order of their trials, when it ends, what is compared.

Whatever the noise does, two arms of a block are as likely to change places (Fisher's
randomisation), therefore their difference in a block is symmetric about the effect: that is all
that the intervals assume.
"""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from wireproof.analysis.signed_rank import least_size
from wireproof.model.experiment import Metric

ALPHA = 0.05
"""Of all claims of an experiment together."""
WARM_UP = -1
"""The block of a trial that does not count."""
BLOCK_VALUES = 4
"""At most so many arms share a small block with the base: the base costs a quarter more trials, and
an arm and its base are at most four trials apart.
"""
Shape = Literal["mirrored", "round", "small"]
"""The blocks of one round. ``mirrored``: one block, a random order of all arms and the same
backwards, in which a straight drift has the same sum at both places of each arm (docs/adr/0011).
``round``: one block, all arms in random order (docs/adr/0013). ``small``: every arm but the base
once, in blocks of a few that all hold the base, so that a block is over before the machine has
changed much (docs/adr/0015).
"""
Test = Literal["interval", "change", "loss"]
"""What decides. ``interval``: an interval that holds together with all others. ``change``: Holm's
rule over all comparisons, each with an interval of its own. ``loss``: Holm's rule for a loss above
``smallest``, with intervals that hold together.
"""


@dataclass(frozen=True)
class Contrast:
    """Two arms: ``other`` is compared with ``base``."""

    base: int
    other: int


def against_base(arms: Sequence[int]) -> tuple[Contrast, ...]:
    """Every arm compared with the first."""
    return tuple(Contrast(arms[0], arm) for arm in arms[1:])


def least_rounds(comparisons: int, alpha: float) -> int:
    """The fewest rounds after which the clearest of so many effects can be told from none at
    ``alpha`` by Holm's rule: its first step asks for alpha / comparisons, and six rounds are the
    least for any interval.
    """
    return max(6, least_size(alpha / comparisons))


@dataclass(frozen=True)
class TrialPlace:
    """Where a trial stands: ``round_`` and ``block`` count from 0."""

    round_: int
    block: int
    arm: int


@dataclass(frozen=True, kw_only=True)
class Design:
    """``arms``: numbers by which the bench knows them, the base first. ``shape``: of the blocks.

    ``rounds`` None: as many as ``budget_s`` holds. ``least``: rounds without which nothing can be
    decided, 0: not looked at. ``looks``: the answers are looked at while it runs, and these looks
    share ``alpha``. ``smallest``: share below which an effect counts as none.
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
        """Blocks of one round."""
        return math.ceil((len(self.arms) - 1) / BLOCK_VALUES) if self.shape == "small" else 1

    @property
    def trials(self) -> int:
        """Trials of one round."""
        return sum(map(len, self.order(0)))

    def order(self, number: int) -> list[tuple[int, ...]]:
        """The arms of each block of round ``number``, in the order of measurement. Same seed and
        number, same order.
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


# --- When the intervals are looked at, and how much of the error each look may spend. Repeated
# confidence intervals (Jennison and Turnbull, J. R. Statist. Soc. B 51 (1989)): the intervals of
# all looks hold the truth together with probability 1 - alpha, so one may stop after any look and
# for any reason. The error is divided among the looks by Bonferroni's inequality instead of a
# boundary that presumes normal noise; the last look has all that the earlier ones have left.

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
    """The intervals are looked at after so many blocks, even if others can follow."""
    return next(look for look in _looks() if look >= blocks) == blocks


def level(alpha: float, looked: Sequence[float], *, last: bool) -> float:
    """What the next look may spend of ``alpha`` when the earlier ones have spent ``looked``."""
    if last:
        return alpha - sum(looked)
    return alpha * _SHARE * _LESS ** len(looked)
