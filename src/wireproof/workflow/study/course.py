"""A study under way: the base, what each value is taken for, rounds of blocks, the answer."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from wireproof.model import quantity
from wireproof.model.errors import CouldNotMeasure
from wireproof.model.study import Configuration, Knob, Stopped, Study, StudyRun
from wireproof.study.catalogue import chosen, configurations
from wireproof.study.conclude import concluded
from wireproof.study.design import launches, least_rounds, round_blocks
from wireproof.study.effects import ALPHA
from wireproof.study.honoured import Probe
from wireproof.workflow.reporter import Reporter
from wireproof.workflow.study.launching import Launcher
from wireproof.workflow.study.probing import Prober
from wireproof.workflow.study.rails import agreed_rails
from wireproof.workflow.study.specification import StudySpecification

__all__ = ["run_study"]

MORE_ROUNDS = 3
"""Beyond the least: a single odd block must not hide an effect."""
LEAST_PLANNED = 12
START_S = 2.0
"""What a launch is thought to take before one was seen."""


def run_study(
    wanted: StudySpecification, reporter: Reporter, environment: Mapping[str, str]
) -> Study:
    """Read back every value, then measure all of them in rounds until the budget is over.

    ``environment``: what commands inherit. Raises ``BadInput`` before anything is started, and for
    rails that cannot be used; ``CouldNotMeasure`` when the base does not run.
    """
    launcher = Launcher(wanted, reporter, environment)
    knobs = chosen(wanted.library, wanted.knobs, wanted.values)
    with tempfile.TemporaryDirectory(prefix="wireproof-study-") as scratch:
        course = _Course(wanted, launcher, knobs, Path(scratch), reporter)
        return course.run({**environment, **launcher.base})


class _Course:
    def __init__(
        self,
        wanted: StudySpecification,
        launcher: Launcher,
        knobs: list[Knob],
        folder: Path,
        reporter: Reporter,
    ) -> None:
        self._wanted, self._launcher, self._knobs = wanted, launcher, knobs
        self._folder, self._reporter = folder, reporter
        self._prober = Prober(launcher, wanted.library, folder)
        self._begun = time.monotonic()
        self._configurations: list[Configuration] = [Configuration()]
        self._probes: dict[int, Probe] = {}
        self._runs: list[StudyRun] = []
        self._notes: list[str] = []
        self._rounds = self._planned = 0

    def run(self, variables: Mapping[str, str]) -> Study:
        hosts = self._prober.base(self._knobs)
        rails, notes = agreed_rails(hosts, self._launcher.asked)
        self._launcher.rails = rails
        self._configurations, left = configurations(self._knobs, rails, variables)
        for one in self._configurations:
            self._launcher.check(one)
        for line in (*self._launcher.target.said, *notes, *left):
            self._note(line)
        try:
            self._probe_all()
            stopped: Stopped = self._measure()
        except KeyboardInterrupt:
            stopped = "interrupted"
        return self._study(stopped)

    def _note(self, line: str) -> None:
        self._notes.append(line)
        self._reporter.say(line)

    def _probe_all(self) -> None:
        by_name = {knob.name: knob for knob in self._knobs}
        for number, one in enumerate(self._configurations[1:], start=1):
            probe = self._prober.probe(one, by_name[one.knob])
            self._probes[number] = probe
            if probe.failed:
                self._reporter.say(f"{one.shown}: no run starts with it: {probe.failed}")

    def _measure(self) -> Stopped:
        startable = [n for n, probe in self._probes.items() if not probe.failed]
        if not startable:
            return "complete"
        each = self._warm_up()
        comparisons = len(startable) * len(self._launcher.names)
        needed = max(LEAST_PLANNED, least_rounds(comparisons, ALPHA) + MORE_ROUNDS)
        round_s = each * launches(len(startable))
        self._planned = max(1, min(needed, int(self._left_s() / round_s)))
        self._announce(len(startable), round_s, least_rounds(comparisons, ALPHA))
        while self._rounds < self._planned and (self._rounds == 0 or self._left_s() > round_s):
            self._round(startable)
            round_s = max(round_s * 0.5, self._spent_s() / max(1, self._rounds))
        return "complete" if self._rounds >= self._planned else "budget"

    def _left_s(self) -> float:
        return self._wanted.budget_s - (time.monotonic() - self._begun)

    def _warm_up(self) -> float:
        """Seconds of a launch; ``CouldNotMeasure`` when the base does not run."""
        run = self._launcher.run(0, -1, self._configurations[0], "warm-up", self._new_folder())
        if run.proof not in ("on-wire", "unproven", ""):
            raise CouldNotMeasure(
                f"the runs without any of the values are {run.proof} of {self._rails()}: nothing"
                " can be said of settings; name the NIC, or the rails, with --nic."
            )
        return run.seconds

    def _rails(self) -> str:
        return ", ".join(self._launcher.rails) or "the claimed NIC"

    def _announce(self, values: int, round_s: float, least: int) -> None:
        patterns = ", ".join(self._launcher.names)
        self._reporter.say(
            f"{values} values over {patterns}: {self._planned} rounds of {launches(values)}"
            f" launches, about {quantity.duration(self._planned * round_s)}"
        )
        if self._planned < least:
            self._note(
                f"{self._planned} rounds fit into {quantity.duration(self._wanted.budget_s)}, and"
                f" {least} are needed before any effect can be told from none: give a larger"
                " --budget, fewer --knobs, or fewer patterns (--over)."
            )

    def _round(self, startable: list[int]) -> None:
        for block in round_blocks(len(startable), self._wanted.seed, self._rounds):
            number = 1 + max((run.block for run in self._runs), default=-1)
            for place in block:
                self._one(startable[place - 1] if place else 0, number)
        self._rounds += 1
        left = (self._planned - self._rounds) * self._spent_s() / self._rounds
        self._reporter.say(
            f"round {self._rounds} of {self._planned}; about {quantity.duration(left)} left"
            if left
            else f"round {self._rounds} of {self._planned}"
        )

    def _spent_s(self) -> float:
        return sum(run.seconds for run in self._runs)

    def _one(self, number: int, block: int) -> None:
        """One launch; one that fails is left out and said."""
        seed = f"{self._wanted.seed}/{len(self._runs)}"
        one = self._configurations[number]
        try:
            run = self._launcher.run(number, block, one, seed, self._new_folder())
        except CouldNotMeasure as error:
            self._note(f"a launch with {one.shown} failed and is left out: {error}")
            return
        self._runs.append(run)

    def _new_folder(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self._folder)) / "run"

    def _study(self, stopped: Stopped) -> Study:
        wanted = self._wanted
        return concluded(
            Study(
                library=wanted.library.id,
                title=wanted.library.title,
                hosts=list(dict.fromkeys(self._launcher.target.hosts)),
                rails=list(self._launcher.rails),
                patterns=self._launcher.patterns,
                configurations=self._configurations,
                runs=self._runs,
                effects=[],
                honoured=[],
                advice=[],
                findings=[],
                precision={},
                smallest=wanted.smallest,
                alpha=ALPHA,
                seed=wanted.seed,
                rounds=self._rounds,
                rounds_planned=self._planned,
                budget_s=wanted.budget_s,
                seconds=time.monotonic() - self._begun,
                stopped=stopped,
                method="",
                notes=self._notes,
            ),
            self._probes,
            {knob.name: knob for knob in self._knobs},
            wanted.library,
        )
