"""``tune try``: measures whether a setting helps here, with a warm-up, blocks of runs in random
order and looks at the intervals.
"""

import dataclasses
import shlex
import time
from collections.abc import Mapping
from contextlib import ExitStack

import msgspec

from wireproof.analysis.interval import least_size
from wireproof.experiment import (
    ALPHA,
    RULE,
    WARM_UP,
    Bench,
    Design,
    Experiment,
    TrialPlace,
    against_base,
    carry_out,
)
from wireproof.experiment.effects import compared, said
from wireproof.model import quantity
from wireproof.model.experiment import Stopping, TrialRun, TriedKnob, TryResult, ValueEffect
from wireproof.model.tuning import TunePlan
from wireproof.settings.options import Options
from wireproof.workflow.reporter import Reporter
from wireproof.workflow.target import Target
from wireproof.workflow.tune.plan import PlanSpecification, plan
from wireproof.workflow.tune.trial.on_hosts import AppliedKnob, OnHosts, planned
from wireproof.workflow.tune.trial.pattern import (
    CommandWorkload,
    OwnCommand,
    PatternWorkload,
    TrialSpecification,
    Variables,
    Workload,
)

__all__ = ["TrialSpecification", "run_trial"]


class InEnvironment(AppliedKnob):
    """A variable of the runs; nothing outside of them is changed."""

    def __init__(self, knob: TriedKnob) -> None:
        self._knob = knob

    def put(self, value: int) -> Variables:
        return {self._knob.name: self._knob.values[value]}

    def keep(self, value: int) -> str:
        text = self._knob.values[value]
        do = f"unset {self._knob.name}" if text is None else f"export {self._knob.shown(value)}"
        return f"a variable is lost when its process ends: put `{do}` into the job script"


_SPARE_S = 60.0
_LONGEST_TIMER_S = 86400


def run_trial(
    wanted: TrialSpecification, reporter: Reporter, environment: Mapping[str, str]
) -> TryResult:
    """Measure with each value in turn until the answer is known or the budget is used up.

    ``environment``: inherited by commands, and searched for an allocation. At the end, and after
    any error, the old value is restored unless ``keep`` is set. Raises ``BadInput`` before anything
    is started, ``CouldNotMeasure`` if a run fails.
    """
    workload = _workload(wanted, reporter, environment)
    for line in workload.notes:
        reporter.say(line)
    wanted, knob = _applied(wanted, workload, reporter, environment)
    with ExitStack() as stack:
        applied = stack.enter_context(knob)
        stack.enter_context(workload)
        result = _Trial(wanted, workload, applied, reporter).measure()
        if wanted.keep and result.best is not None:
            reporter.say(applied.keep(result.best.value))
            result = msgspec.structs.replace(result, kept=result.best.value)
    return result


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
) -> tuple[TrialSpecification, AppliedKnob]:
    """Return how the knob is applied, and the specification with all its values named."""
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
    """Return the target with each host once, because a host is changed once however many ranks it
    has.
    """
    return dataclasses.replace(target, hosts=tuple(dict.fromkeys(target.hosts)))


def _again(target: Target) -> Options:
    """Return options that name the same hosts."""
    lab = target.lab.name if target.lab is not None else None
    return Options(
        hosts=target.hosts,
        launcher="" if lab else target.agent,
        lab=lab,
        scheduler="none",
        prefix=shlex.join(target.prefix),
        virtual=target.virtual,
        alone=True,
    )


class _Trial(Bench[TrialRun]):
    """The trial of one knob; an arm is the index of a value."""

    def __init__(
        self,
        wanted: TrialSpecification,
        workload: Workload,
        applied: AppliedKnob,
        reporter: Reporter,
    ) -> None:
        self._wanted, self._workload = wanted, workload
        self._applied, self._reporter = applied, reporter
        self._comparisons: list[ValueEffect] = []
        arms = tuple(range(len(wanted.knob.values)))
        self._design = Design(
            arms=arms,
            seed=str(wanted.seed),
            shape="mirrored",
            budget_s=wanted.budget_s,
            least=least_size(ALPHA / (len(arms) - 1)),
            looks=True,
            metrics=(workload.metric,),
            contrasts=against_base(arms),
            test="interval",
            smallest=wanted.smallest,
        )

    def measure(self) -> TryResult:
        """Warm up each value, then run blocks until the answer is known or the budget is used
        up.
        """
        begun = time.monotonic()
        warm = [self.run(TrialPlace(WARM_UP, WARM_UP, arm)) for arm in self._design.arms]
        experiment = Experiment(design=self._design, trials=warm, seconds=time.monotonic() - begun)
        if carry_out(experiment, self, self._reporter.say, time.monotonic).stopped == "interrupted":
            raise KeyboardInterrupt
        return self._trial(experiment)

    def run(self, place: TrialPlace) -> TrialRun:
        variables = self._applied.put(place.arm)
        begun = time.monotonic()
        metric, guards, proof = self._workload.run(variables, self._wanted.knob.shown(place.arm))
        return TrialRun(
            block=place.block,
            value=place.arm,
            metric=metric,
            seconds=time.monotonic() - begun,
            guards=guards,
            proof=proof,
        )

    def decided(self, experiment: Experiment[TrialRun]) -> bool:
        design = dataclasses.replace(experiment.design, alpha=experiment.looks[-1].alpha)
        knob, metric = self._wanted.knob, self._workload.metric
        pace_s = experiment.seconds / len(experiment.trials)
        self._comparisons = [
            msgspec.structs.replace(found, text=said(found, knob, metric, pace_s))
            for found in compared(design, experiment.trials)
        ]
        after = f"after block {experiment.rounds}, {quantity.duration(experiment.seconds)}"
        for found in self._comparisons:
            self._reporter.say(f"{after}: {found.text}")
        return all(
            found.answer != "undecided" or found.beside_the_wire for found in self._comparisons
        )

    def _trial(self, experiment: Experiment[TrialRun]) -> TryResult:
        wanted = self._wanted
        stopping = {
            "rule": RULE,
            "alpha": ALPHA,
            "looks": experiment.looks,
            "reason": experiment.stopped,
            "budget_s": wanted.budget_s,
        }
        return TryResult(
            knob=wanted.knob,
            workload=self._workload.title,
            metric=self._workload.metric,
            smallest=wanted.smallest,
            seed=wanted.seed,
            stopping=msgspec.convert(stopping, Stopping),
            runs=experiment.trials,
            comparisons=self._comparisons,
            seconds=experiment.seconds,
            notes=self._workload.notes,
        )
