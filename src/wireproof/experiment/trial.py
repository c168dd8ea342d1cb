"""``tune try``: measure whether a setting helps here, with a warm-up, blocks of runs in random
order and interim analyses of the intervals.
"""

import dataclasses
import time
from collections.abc import Mapping
from contextlib import ExitStack

import msgspec

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
from wireproof.experiment.applied import (
    AppliedKnob,
    InEnvironment,
    OnHosts,
    planned,
    refuse_open_sets,
)
from wireproof.experiment.effects import compared, said
from wireproof.experiment.kept import Keeper, keeper_for
from wireproof.experiment.trial_pattern import (
    CommandWorkload,
    OwnCommand,
    PatternWorkload,
    TrialSpecification,
    Workload,
)
from wireproof.model import quantity
from wireproof.model.experiment import (
    BegunTrial,
    ExperimentPlan,
    Stopping,
    TrialRun,
    TryResult,
    ValueEffect,
)
from wireproof.model.tuning import TunePlan
from wireproof.report.reporter import Reporter, say_all
from wireproof.stats import least_size
from wireproof.target.resolve import options_of
from wireproof.tune.plan import PlanSpecification, plan

__all__ = ["TrialSpecification", "plan_trial", "run_trial"]


# --- The trial.

RESULT = "trial.json"
_SPARE_S = 60.0
_LONGEST_TIMER_S = 86400


def run_trial(
    wanted: TrialSpecification, reporter: Reporter, environment: Mapping[str, str]
) -> TryResult:
    """Measure with each value alternately until the answer is known or the budget is used up.

    ``environment``: inherited by commands, and searched for an allocation. At the end, and after
    any error, the old value is restored unless ``keep`` is set. Raises ``BadInput`` before anything
    is started, ``CouldNotMeasure`` if a run fails.
    """
    workload = _workload(wanted, reporter, environment)
    say_all(workload.notes, reporter)
    with keeper_for(wanted.storage, "try", reporter, BegunTrial) as keeper, ExitStack() as stack:
        wanted, knob = _applied(wanted, workload, reporter, environment)
        stack.enter_context(knob)
        stack.enter_context(workload)
        result = _Trial(wanted, workload, knob, reporter).measure(keeper)
        if wanted.keep and result.best is not None:
            reporter.say(knob.keep(result.best.value))
            result = msgspec.structs.replace(result, kept=result.best.value)
        keeper.keep(result, RESULT)
    return result


def plan_trial(
    wanted: TrialSpecification, reporter: Reporter, environment: Mapping[str, str]
) -> ExperimentPlan:
    """Return the command of a run with each value, without starting anything.

    Raises ``BadInput``.
    """
    workload, knob = _workload(wanted, reporter, environment), wanted.knob
    variable = knob.kind == "variable"
    if variable:
        workload.check(knob)
    arms = [
        workload.planned({knob.name: value} if variable else {}, knob.shown(index))
        for index, value in enumerate(knob.values)
    ]
    set_by = f"each value is set as by `wireproof tune apply {knob.name}`, and restored at the end"
    return ExperimentPlan(
        hosts=list(workload.target.hosts),
        rounds=None,
        seed=wanted.seed,
        arms=arms,
        notes=[*workload.notes, *(() if variable else (set_by,))],
    )


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
    """Return the means of applying the knob, and the specification with explicit values."""
    if wanted.knob.kind == "variable":
        workload.check(wanted.knob)
        return wanted, InEnvironment(wanted.knob)
    hosts = tuple(dict.fromkeys(workload.target.hosts))  # a host with several ranks is changed once
    target = dataclasses.replace(workload.target, hosts=hosts)
    refuse_open_sets(target, wanted.place)
    asked = PlanSpecification(
        target=options_of(target), profile=wanted.profile, allow_link_down=wanted.allow_link_down
    )

    def plan_of(text: str) -> TunePlan:
        return plan(dataclasses.replace(asked, asked=(text,)), reporter, environment)

    knob, plans = planned(wanted.knob, plan_of, target, environment)
    timeout_s = min(_LONGEST_TIMER_S, round(_SPARE_S + 2 * wanted.budget_s))
    on_hosts = OnHosts(plans, target, timeout_s=timeout_s, place=wanted.place, reporter=reporter)
    return dataclasses.replace(wanted, knob=knob), on_hosts


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

    def measure(self, keeper: Keeper[BegunTrial]) -> TryResult:
        """Warm up each value, then run blocks until the answer is known or the budget is used
        up.
        """
        begun = keeper.begun(self._asked())
        experiment = self._resumed(begun) if begun is not None else Experiment(design=self._design)
        start = time.monotonic() - experiment.seconds
        experiment.trials += [
            self.run(TrialPlace(WARM_UP, WARM_UP, arm)) for arm in self._design.arms
        ]
        experiment.seconds = time.monotonic() - start
        carry_out(
            experiment,
            self,
            self._reporter.say,
            time.monotonic,
            lambda so_far: keeper.keep(self._begun(so_far)),
        )
        if experiment.stopped == "interrupted":
            raise KeyboardInterrupt
        return self._trial(experiment)

    def _asked(self) -> dict[str, str]:
        """Return what must be the same when a trial is resumed."""
        knob, workload = self._wanted.knob, self._workload
        return {
            "the values": " ".join(map(knob.shown, range(len(knob.values)))),
            "the workload": workload.title,
            "the hosts": ",".join(workload.target.hosts),
            "the NIC": ",".join(workload.target.nics),
            "the metric": f"{workload.metric.name}, {workload.metric.better} is better",
            "--smallest": f"{self._wanted.smallest:g}",
        }

    def _begun(self, experiment: Experiment[TrialRun]) -> BegunTrial:
        return BegunTrial(
            asked=self._asked(),
            seed=self._wanted.seed,
            rounds=experiment.rounds,
            seconds=experiment.seconds,
            longest_s=experiment.longest_s,
            runs=experiment.trials,
            looks=experiment.looks,
        )

    def _resumed(self, begun: BegunTrial) -> Experiment[TrialRun]:
        self._reporter.say(f"resuming after block {begun.rounds}")
        self._wanted = dataclasses.replace(self._wanted, seed=begun.seed)
        self._design = dataclasses.replace(self._design, seed=str(begun.seed))
        return Experiment(
            design=self._design,
            trials=list(begun.runs),
            rounds=begun.rounds,
            seconds=begun.seconds,
            longest_s=begun.longest_s,
            looks=list(begun.looks),
        )

    def run(self, place: TrialPlace) -> TrialRun:
        variables = self._applied.put(place.arm)
        run = self._workload.run(variables, self._wanted.knob.shown(place.arm))
        return msgspec.structs.replace(run, block=place.block, value=place.arm)

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
