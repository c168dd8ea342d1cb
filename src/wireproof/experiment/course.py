"""Run an experiment: round after round, a trial at each place, until the design ends it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeVar

from wireproof.experiment.design import Design, TrialPlace, is_look, level
from wireproof.model import quantity
from wireproof.model.errors import WireproofError
from wireproof.model.experiment import InterimLook

T = TypeVar("T")
Stopped = Literal["complete", "decided", "budget", "too-slow", "interrupted"]


@dataclass(kw_only=True)
class Experiment(Generic[T]):
    """``trials``: in the order of measurement.

    ``rounds``: complete rounds; trials of another round may follow. ``seconds``: time spent so far,
    with everything before the first round. ``longest_s``: of a round.
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
    """How a verb prepares an arm and runs one trial."""

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
        """Called at each look, the last of ``looks``: return whether no further round is needed."""
        return False


class Listener(Protocol):
    """Receives progress messages of the experiment."""

    def say(self, text: str) -> None: ...


def carry_out(
    begun: Experiment[T],
    bench: Bench[T],
    reporter: Listener,
    clock: Callable[[], float],
    keep: Callable[[Experiment[T]], Any] | None = None,
) -> Experiment[T]:
    """Run all rounds of the design after those that ``begun`` has; call ``keep`` after each.

    An interrupted experiment is returned as well; any other exception of a bench passes through.
    """
    origin = clock() - begun.seconds
    stopped: Stopped | None = None
    try:
        while stopped is None and not begun.complete:
            _round(begun, bench)
            begun.design = bench.after(begun)
            spent = clock() - origin
            begun.longest_s = max(begun.longest_s, spent - begun.seconds)
            begun.seconds, begun.rounds = spent, begun.rounds + 1
            _say_round(begun, reporter)
            if keep is not None:
                keep(begun)
            stopped = _ended(begun, bench)
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


def _say_round(begun: Experiment[T], reporter: Listener) -> None:
    """Report progress; future rounds are assumed to take as long as past ones."""
    planned = begun.design.rounds
    if planned is not None:
        left_s = begun.seconds / begun.rounds * (planned - begun.rounds)
        reporter.say(
            f"round {begun.rounds} of {planned}; {quantity.duration(begun.seconds)} elapsed, about"
            f" {quantity.duration(left_s)} left"
        )


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
