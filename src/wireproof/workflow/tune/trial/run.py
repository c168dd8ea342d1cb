"""The trial: warm-up, blocks of runs in random order, looks at the intervals, the answer."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import Protocol, Self

import msgspec

from wireproof.analysis.signed_rank import least_size
from wireproof.analysis.trial import ALPHA, block_order, compared
from wireproof.analysis.trial.sentences import said
from wireproof.experiment.looks import RULE, is_look, level
from wireproof.model import quantity
from wireproof.model.experiment import Look
from wireproof.model.trial import Comparison, Knob, Stopping, Trial, TrialRun
from wireproof.model.tuning import TunePlan
from wireproof.workflow.reporter import Reporter
from wireproof.workflow.target.resolve import TargetSpecification
from wireproof.workflow.target.target import Target
from wireproof.workflow.tune.plan import PlanSpecification, plan
from wireproof.workflow.tune.trial.command import CommandWorkload
from wireproof.workflow.tune.trial.on_hosts import OnHosts, planned
from wireproof.workflow.tune.trial.pattern import PatternWorkload
from wireproof.workflow.tune.trial.specification import (
    OwnCommand,
    TrialSpecification,
    Variables,
    Workload,
)

__all__ = ["run_trial"]


class Applied(Protocol):
    """A context manager: leaving it brings the old value back, unless ``keep`` was called."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def put(self, value: int) -> Variables:
        """Value number ``value`` is in force now, in runs with these variables. Raises
        ``CouldNotMeasure`` when that cannot be.
        """

    def keep(self, value: int) -> str:
        """The value stays; what the user has to do, in a sentence."""


class InEnvironment:
    """A variable of the runs: nothing outside them is changed."""

    def __init__(self, knob: Knob) -> None:
        self._knob = knob

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """There is nothing to take away."""

    def put(self, value: int) -> Variables:
        return {self._knob.name: self._knob.values[value]}

    def keep(self, value: int) -> str:
        text = self._knob.values[value]
        do = f"unset {self._knob.name}" if text is None else f"export {self._knob.shown(value)}"
        return f"a variable lasts as long as its process: put `{do}` into the job script"


WARM_UP = -1
_SPARE_S = 60.0
_LONGEST_TIMER_S = 86400


def run_trial(
    wanted: TrialSpecification, reporter: Reporter, environment: Mapping[str, str]
) -> Trial:
    """Measure with each value in turn until the answer is known or the time is over.

    ``environment``: what commands inherit, and where an allocation is looked for. The old value is
    back at the end, however that comes, unless ``keep`` asks for another. Raises ``BadInput``
    before anything is started, ``CouldNotMeasure`` when a run fails.
    """
    workload = _workload(wanted, reporter, environment)
    for line in workload.notes:
        reporter.say(line)
    wanted, knob = _applied(wanted, workload, reporter, environment)
    with ExitStack() as stack:
        applied = stack.enter_context(knob)
        stack.enter_context(workload)
        found = _Course(wanted, workload, applied, reporter).run()
        if wanted.keep and found.best is not None:
            reporter.say(applied.keep(found.best.value))
            found = msgspec.structs.replace(found, kept=found.best.value)
    return found


def _workload(
    wanted: TrialSpecification, reporter: Reporter, environment: Mapping[str, str]
) -> Workload:
    if isinstance(wanted.workload, OwnCommand):
        return CommandWorkload(wanted.workload, reporter, environment)
    return PatternWorkload(wanted.workload, reporter, environment)


def _applied(
    wanted: TrialSpecification,
    workload: Workload,
    reporter: Reporter,
    environment: Mapping[str, str],
) -> tuple[TrialSpecification, Applied]:
    """How the knob is turned, and the specification with all its values named."""
    if wanted.knob.kind == "variable":
        workload.check(wanted.knob)
        return wanted, InEnvironment(wanted.knob)
    target = _each_once(workload.target)
    asked = PlanSpecification(
        target=_again(target), profile=wanted.profile, allow_link_down=wanted.allow_link_down
    )

    def plan_of(text: str) -> TunePlan:
        return plan(dataclasses.replace(asked, asked=(text,)), reporter, environment)

    knob, plans = planned(wanted.knob, plan_of, target, environment)
    timeout_s = min(_LONGEST_TIMER_S, round(_SPARE_S + 2 * wanted.budget_s))
    on_hosts = OnHosts(plans, target, timeout_s=timeout_s, place=wanted.place, reporter=reporter)
    return dataclasses.replace(wanted, knob=knob), on_hosts


def _each_once(target: Target) -> Target:
    """A host is changed once, however many ranks it has."""
    return dataclasses.replace(target, hosts=tuple(dict.fromkeys(target.hosts)))


def _again(target: Target) -> TargetSpecification:
    """The same hosts, asked for by name."""
    lab = target.lab.name if target.lab is not None else None
    return TargetSpecification(
        hosts=target.hosts,
        launcher="" if lab else target.agent,
        lab=lab,
        prefix=target.prefix,
        virtual=target.virtual,
        alone=True,
    )


class _Course:
    """One trial under way."""

    def __init__(
        self, wanted: TrialSpecification, workload: Workload, applied: Applied, reporter: Reporter
    ) -> None:
        self._wanted, self._workload = wanted, workload
        self._applied, self._reporter = applied, reporter
        self._values = len(wanted.knob.values)
        self._runs: list[TrialRun] = []
        self._looks: list[Look] = []
        self._begun = time.monotonic()
        self._longest_s = 0.0

    def run(self) -> Trial:
        for value in range(self._values):
            self._one(WARM_UP, value)
        number = 0
        while True:
            begun = time.monotonic()
            for value in block_order(self._values, self._wanted.seed, number):
                self._one(number, value)
            number += 1
            self._longest_s = max(self._longest_s, time.monotonic() - begun)
            hopeless = number == 1 and not self._affords(self._least_blocks() - 1)
            last = hopeless or not self._affords(1)
            if last or is_look(number):
                comparisons = self._look(number, last=last)
                decided = all(
                    one.answer != "undecided" or one.beside_the_wire for one in comparisons
                )
                if decided or last:
                    reason = "decided" if decided else "too-slow" if hopeless else "budget"
                    return self._trial(comparisons, reason)

    def _one(self, block: int, value: int) -> None:
        knob = self._wanted.knob
        variables = self._applied.put(value)
        begun = time.monotonic()
        measured = self._workload.run(variables, knob.shown(value))
        self._runs.append(
            TrialRun(
                block=block,
                value=value,
                metric=measured.metric,
                seconds=time.monotonic() - begun,
                guards=measured.guards,
                proof=measured.proof,
            )
        )

    def _least_blocks(self) -> int:
        return least_size(ALPHA / (self._values - 1))

    def _affords(self, blocks: int) -> bool:
        """So many more blocks would end within the budget."""
        spent = time.monotonic() - self._begun
        return spent + blocks * self._longest_s <= self._wanted.budget_s

    def _look(self, blocks: int, *, last: bool) -> list[Comparison]:
        alpha = level(ALPHA, [look.alpha for look in self._looks], last=last)
        self._looks.append(Look(blocks=blocks, alpha=alpha))
        comparisons = compared(
            self._runs,
            values=self._values,
            better=self._workload.metric.better,
            smallest=self._wanted.smallest,
            alpha=alpha,
        )
        worded = [
            msgspec.structs.replace(
                one, text=said(one, self._wanted.knob, self._workload.metric, self._pace_s())
            )
            for one in comparisons
        ]
        spent = quantity.duration(time.monotonic() - self._begun)
        for one in worded:
            self._reporter.say(f"after block {blocks}, {spent}: {one.text}")
        return worded

    def _pace_s(self) -> float:
        """Seconds that one run takes, with what stands between runs."""
        return (time.monotonic() - self._begun) / len(self._runs)

    def _trial(self, comparisons: list[Comparison], reason: str) -> Trial:
        wanted = self._wanted
        return Trial(
            knob=wanted.knob,
            workload=self._workload.title,
            metric=self._workload.metric,
            smallest=wanted.smallest,
            seed=wanted.seed,
            stopping=msgspec.convert(
                {
                    "rule": RULE,
                    "alpha": ALPHA,
                    "looks": self._looks,
                    "reason": reason,
                    "budget_s": wanted.budget_s,
                },
                Stopping,
            ),
            runs=self._runs,
            comparisons=comparisons,
            seconds=time.monotonic() - self._begun,
            notes=self._workload.notes,
        )
