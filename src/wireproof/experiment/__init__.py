# pure
"""The design of an experiment (arms, order of trials, end, comparisons), and how it is carried out.

Pure: callers provide clock and bench.

Whatever the noise, two arms of a block are equally likely to change places (Fisher's
randomisation). Their difference in a block is therefore symmetric about the effect, which is all
that the intervals assume.
"""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from wireproof.model import quantity
from wireproof.model.errors import WireproofError
from wireproof.model.experiment import InterimLook, Metric
from wireproof.stats import least_size

ALPHA = 0.05
"""Error probability of all claims of an experiment together."""
WARM_UP = -1
"""Block number of warm-up trials, which do not count."""
BLOCK_VALUES = 4
"""Largest number of arms that share a small block with the base: the base costs a quarter more
trials, and an arm and its base are at most four trials apart.
"""
Shape = Literal["mirrored", "round", "small"]
"""The blocks of one round. ``mirrored``: one block, a random order of all arms followed by its
reverse, so that a linear drift has the same sum for each arm (docs/adr/0011). ``round``: one
block, all arms in random order (docs/adr/0013). ``small``: small blocks that all include the
base and together every other arm once, so that a block ends before the machine has changed much
(docs/adr/0015).
"""
Test = Literal["interval", "change", "loss"]
"""The rule that decides. ``interval``: an interval that holds jointly with all others. ``change``:
Holm's rule over all comparisons, each with a separate interval. ``loss``: Holm's rule for a loss
above ``smallest``, with joint intervals.
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
    """``arms``: numbers by which the bench knows them, the base first. ``shape``: shape of the
    blocks.

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

        The same seed and number give the same order.
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
    """Return the part of ``alpha`` that the next look may spend after earlier looks have spent
    ``looked``.
    """
    if last:
        return alpha - sum(looked)
    return alpha * _SHARE * _LESS ** len(looked)


# --- Carry out an experiment: round after round, a trial at each place, until the design ends it.


T = TypeVar("T")
Stopped = Literal["complete", "decided", "budget", "too-slow", "interrupted"]


@dataclass(kw_only=True)
class Experiment(Generic[T]):
    """``trials``: the trials, in the order of measurement.

    ``rounds``: complete rounds; trials of another round may follow. ``seconds``: time spent so far,
    with everything before the first round. ``longest_s``: the longest duration of a round.
    """

    design: Design
    trials: list[T] = field(default_factory=list)
    rounds: int = 0
    seconds: float = 0.0
    longest_s: float = 0.0
    looks: list[InterimLook] = field(default_factory=list)
    stopped: Stopped = "complete"

    @property
    def complete(self) -> bool:
        """True if all rounds of the design are done."""
        return self.design.rounds is not None and self.rounds >= self.design.rounds

    def affords(self, rounds: int) -> bool:
        """Return whether this many more rounds would end within the budget."""
        return self.seconds + rounds * self.longest_s <= self.design.budget_s


class Bench(Generic[T]):
    """Interface of a verb: prepare an arm and run one trial."""

    def run(self, place: TrialPlace) -> T:
        """Run one trial.

        Raises ``WireproofError`` if it fails, ``KeyboardInterrupt`` if the user stops it.
        """
        raise NotImplementedError

    def failed(self, place: TrialPlace, error: WireproofError) -> None:
        """Return to skip this trial; raise to end the experiment."""
        raise error

    def after(self, experiment: Experiment[T]) -> Design:
        """Called after each round (number ``rounds``): return the design of the following
        rounds.
        """
        return experiment.design

    def decided(self, experiment: Experiment[T]) -> bool:
        """Return whether no further round is needed. Called at each look."""
        return False


def carry_out(
    begun: Experiment[T],
    bench: Bench[T],
    say: Callable[[str], None],
    clock: Callable[[], float],
    keep: Callable[[Experiment[T]], Any] | None = None,
) -> Experiment[T]:
    """Run all rounds of the design after those that ``begun`` has; call ``keep`` after each.

    An interrupted experiment is also returned; any other exception of a bench passes through.
    """
    origin, before = clock() - begun.seconds, (begun.rounds, begun.seconds)
    stopped = _looked(begun, bench)
    try:
        while stopped is None and not begun.complete:
            _round(begun, bench)
            begun.design = bench.after(begun)
            spent = clock() - origin
            begun.longest_s = max(begun.longest_s, spent - begun.seconds)
            last, begun.seconds, begun.rounds = begun.seconds, spent, begun.rounds + 1
            _say_round(begun, say, before, last)
            stopped = _ended(begun, bench)
            if keep is not None:
                keep(begun)
    except KeyboardInterrupt:
        stopped = "interrupted"
    begun.stopped, begun.seconds = stopped or "complete", clock() - origin
    return begun


def _round(begun: Experiment[T], bench: Bench[T]) -> None:
    first = begun.rounds * begun.design.blocks
    for block, arms in enumerate(begun.design.order(begun.rounds), start=first):
        for arm in arms:
            place = TrialPlace(begun.rounds, block, arm)
            try:
                begun.trials.append(bench.run(place))
            except WireproofError as error:
                bench.failed(place, error)


def _say_round(
    begun: Experiment[T], say: Callable[[str], None], before: tuple[int, float], last_s: float
) -> None:
    """Report progress; future rounds are assumed to take as long as those since ``before`` (rounds,
    seconds). If the time ends the experiment, report each tenth of it; ``last_s``: end of the
    previous round.
    """
    planned, budget_s = begun.design.rounds, begun.design.budget_s
    elapsed = f"{quantity.duration(begun.seconds)} elapsed"
    if planned is not None:
        left_s = (begun.seconds - before[1]) / (begun.rounds - before[0]) * (planned - begun.rounds)
        left = f", about {quantity.duration(left_s)} left" if left_s else ""
        say(f"round {begun.rounds} of {planned}; {elapsed}{left}")
    elif int(10.0 * last_s / budget_s) != int(10.0 * begun.seconds / budget_s):
        left = quantity.duration(max(0.0, budget_s - begun.seconds))
        say(f"round {begun.rounds}; {elapsed}, at most {left} left")


def _looked(begun: Experiment[T], bench: Bench[T]) -> Stopped | None:
    """Return why a stored experiment had ended with its last look; None if it can go on."""
    if not begun.looks:
        return None
    over = sum(look.alpha for look in begun.looks) > begun.design.alpha * (1.0 - 1e-9)
    if (over or begun.looks[-1].blocks == begun.rounds) and bench.decided(begun):
        return "decided"
    return "budget" if over else None


def _ended(begun: Experiment[T], bench: Bench[T]) -> Stopped | None:
    """Return why no further round follows; None if one may."""
    design = begun.design
    hopeless = begun.rounds == 1 < design.least and not begun.affords(design.least - 1)
    last = hopeless or not begun.affords(1) or begun.complete
    if design.looks and (last or is_look(begun.rounds)):
        alpha = level(design.alpha, [look.alpha for look in begun.looks], last=last)
        begun.looks.append(InterimLook(blocks=begun.rounds, alpha=alpha))
        if bench.decided(begun):
            return "decided"
    if begun.complete:
        return "complete"
    if last:
        return "too-slow" if hopeless else "budget"
    return None
