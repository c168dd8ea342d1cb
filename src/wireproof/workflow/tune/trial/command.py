"""A command of the user's as the workload of a trial, between two readings of its hosts' ports."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from wireproof.analysis.workload import losses
from wireproof.instrument.watch_command import WatchedCommand
from wireproof.model.errors import CouldNotMeasure
from wireproof.model.experiment import Metric
from wireproof.model.trial import TriedKnob
from wireproof.workflow.prove.command import on_target
from wireproof.workflow.prove.servers import start_servers
from wireproof.workflow.prove.watch import NOWHERE, Watch, allow_files
from wireproof.workflow.reporter import Reporter
from wireproof.workflow.target.reach import launcher_environment
from wireproof.workflow.tune.trial.pattern import processor_s
from wireproof.workflow.tune.trial.specification import OwnCommand, RunNumbers, Variables

__all__ = ["CommandWorkload"]

READ_EVERY_S = 10.0
"""Ports are read before and after a run; between, only to keep the connection."""


class CommandWorkload:
    """Runs of one command. Its output is kept for its number and shown when it fails."""

    def __init__(
        self, wanted: OwnCommand, reporter: Reporter, environment: Mapping[str, str]
    ) -> None:
        proof = wanted.proof
        self._wanted, self._reporter = wanted, reporter
        self.target = proof.target
        self._environment = {**environment, **launcher_environment(self.target, environment)}
        self._argv = on_target(proof.argv, self.target)
        self.title = " ".join(proof.argv)
        self.notes = list(self.target.said)
        self.metric = (
            Metric(name="wall time", unit="s", better="lower", source="clock")
            if wanted.reader is None
            else Metric(name=wanted.text, unit="", better=wanted.better, source="output")
        )
        allow_files(self.target)
        self._watch = Watch(self.target, self._environment, READ_EVERY_S, reporter)
        self._reads = False

    def __enter__(self) -> Self:
        try:
            self._begin_to_read()
            start_servers(self._watch, self._wanted.proof.companions, NOWHERE, self._reporter)
        except BaseException:
            self._watch.__exit__()
            raise
        return self

    def _begin_to_read(self) -> None:
        try:
            self._watch.begin()
            self._watch.mark()
            self._reads = True
        except CouldNotMeasure as error:
            self._reporter.warn(f"no retransmits and drops are seen: {error}")
            self.notes.append(f"no retransmits and drops are seen: {error}")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._watch.__exit__()

    def check(self, knob: TriedKnob) -> None:
        """What a command reads is its own business."""

    def run(self, variables: Variables, shown: str) -> RunNumbers:
        environment = {**self._environment, **{k: v for k, v in variables.items() if v is not None}}
        for name in [name for name, value in variables.items() if value is None]:
            environment.pop(name, None)
        if self._reads:
            self._watch.mark()
        before = processor_s()
        output, seconds = self._output(environment, shown)
        used = processor_s() - before
        guards = {"cpu_s": used, **self._losses()}
        return RunNumbers(metric=self._number(output, seconds, shown), guards=guards)

    def _output(self, environment: Mapping[str, str], shown: str) -> tuple[str, float]:
        """Its output, and the seconds that it took; ``CouldNotMeasure`` when it failed."""
        begun = time.monotonic()
        command = WatchedCommand(
            self._argv, environment, self._watch.node, NOWHERE, self._watch.hearing
        )
        try:
            in_time = self._watch.hearing.listen(self._wanted.longest_s, command.ended)
            seconds = time.monotonic() - begun
            status = command.end()
        finally:
            command.close()
        if not in_time:
            raise CouldNotMeasure(
                f"{shown}: the command did not end within {self._wanted.longest_s:.0f} s: give a"
                " larger --budget-s, or a shorter command."
            )
        if status != 0:
            words = command.last_words()
            last = f": {words}" if words else "."
            raise CouldNotMeasure(f"{shown}: the command ended with status {status}{last}")
        return command.output.decode("utf-8", "replace"), seconds

    def _number(self, output: str, seconds: float, shown: str) -> float:
        if self._wanted.reader is None:
            return seconds
        value = self._wanted.reader(output)
        if value is None:
            raise CouldNotMeasure(
                f"{shown}: --metric {self._wanted.text[:60]!r} finds no number in the command's"
                " output."
            )
        if not 0.0 < value < float("inf"):
            raise CouldNotMeasure(
                f"{shown}: --metric {self._wanted.text[:60]!r} found {value:g}: ratios need"
                " positive numbers."
            )
        return value

    def _losses(self) -> dict[str, float]:
        """Of all hosts; empty when one of them cannot be read."""
        if not self._reads:
            return {}
        self._watch.mark()
        found: dict[str, float] = {}
        for host in self._watch.watched():
            if host.error or host.before is None or host.after is None:
                return {}
            before = host.before.counters
            rose = {name: n - before.get(name, n) for name, n in host.after.counters.items()}
            for name, count in losses(rose).items():
                found[name] = found.get(name, 0.0) + count
        return found
