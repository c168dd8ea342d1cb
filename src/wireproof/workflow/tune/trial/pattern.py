"""One of our own patterns as the workload of a trial: each run is a launch of its own."""

from __future__ import annotations

import dataclasses
import resource
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from wireproof.analysis.workload import guards_of, messages_of, metric_of, value_of
from wireproof.model import quantity
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.trial import TriedKnob
from wireproof.report.judged_run import JudgedRun
from wireproof.workflow.measure import prepare
from wireproof.workflow.reporter import Quiet, Reporter
from wireproof.workflow.session.launch import install_for
from wireproof.workflow.session.run import command_of, run_session
from wireproof.workflow.session.session import Session
from wireproof.workflow.specification import MeasureSpecification, Storage
from wireproof.workflow.tune.trial.reaching import overridden, unread
from wireproof.workflow.tune.trial.specification import RunNumbers, Variables

__all__ = ["PatternWorkload", "processor_s"]

RUN_S = 0.2
"""What one run measures, when nothing else is asked for: launches differ more than what is in
one.
"""
_NARROW = 1e-4


class PatternWorkload:
    """Launches of the engine with one point. ``environment``: where an allocation is looked for."""

    def __init__(
        self, wanted: MeasureSpecification, reporter: Reporter, environment: Mapping[str, str]
    ) -> None:
        method = dataclasses.replace(wanted.method, budget_s=wanted.method.budget_s or RUN_S)
        prepared = prepare(dataclasses.replace(wanted, method=method), environment)
        if len(prepared.points) != 1:
            raise BadInput("a trial compares one number: give one size and one direction.")
        point = prepared.points[0]
        # All runs are equally long: none ends at a precision that its value reaches earlier.
        policy = msgspec.structs.replace(
            prepared.policy, latency_half_width=_NARROW, bandwidth_half_width=_NARROW
        )
        self.title = (
            f"{point.pattern} of {quantity.size(point.message_bytes)} over {method.transport}"
        )
        self._session = method.session(
            self.title,
            [point],
            policy=policy,
            seed=0,
            out=None,
            storage=Storage(kept=False),
        )
        self._variables = dict(prepared.variables)
        self._environment, self._quiet = environment, Quiet(reporter)
        self.target = prepared.target
        self.notes = list(self.target.said)
        self.metric = metric_of(point.pattern, point.form)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """A launch leaves nothing behind."""

    def check(self, knob: TriedKnob) -> None:
        name, install = knob.name, install_for(self._session)
        why = unread(name, self._session.transport, install)
        if why:
            raise BadInput(f"{name} has no effect in these runs: {why}.")
        for value in knob.values:
            command = command_of(self._with({name: value}), self.target)
            if value is not None and (given := overridden(command, name, value)):
                raise BadInput(
                    f"{name}={value} does not get through: the launch itself sets it to"
                    f" {given[:80]!r}, for the claimed NIC or fabric; --nic-selection none and no"
                    " --fabric leave it alone."
                )

    def run(self, variables: Variables, shown: str) -> RunNumbers:
        before = processor_s()
        section = self._launched(self._with(variables), shown)
        point = section.run.points[0]
        value = value_of(point)
        if value is None:
            raise CouldNotMeasure(f"{shown}: the run gave no number.")
        guards = guards_of(point)
        if self.target.lab is not None or not self.target.hosts:
            guards["cpu_ns_per_message"] = (processor_s() - before) * 1e9 / messages_of(point)
        return RunNumbers(
            metric=value,
            guards=guards,
            proof=section.judgement.proof if self.target.wire else "",
        )

    def _with(self, variables: Variables) -> Session:
        for name, value in variables.items():
            if value is None and name in self._environment:
                raise BadInput(f"{name} is set here: unset it, so that a run without it can be.")
        chosen = {name: value for name, value in variables.items() if value is not None}
        extra = tuple({**self._variables, **chosen}.items())
        return dataclasses.replace(self._session, extra=extra)

    def _launched(self, session: Session, shown: str) -> JudgedRun:
        with tempfile.TemporaryDirectory(prefix="wireproof-try-") as scratch:
            there = dataclasses.replace(session, out=Path(scratch) / "run")
            try:
                section, outcomes = run_session(there, self.target, self._quiet)
            except CouldNotMeasure as error:
                raise CouldNotMeasure(f"{shown}: {error}") from error
        if outcomes[-1].ending.ended == "interrupted":
            raise KeyboardInterrupt
        if not section.run.points:
            raise CouldNotMeasure(f"{shown}: {outcomes[-1].ending.reason}")
        return section


def processor_s() -> float:
    """Processor time of all that we have started and that has ended, here; seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
