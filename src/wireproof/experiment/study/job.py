"""``wireproof study``: find the settings of a library that take effect, and those that help
here.
"""

from __future__ import annotations

import dataclasses
import tempfile
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import cast

from wireproof.catalogue import refuse_slow_patterns
from wireproof.experiment import (
    ALPHA,
    WARM_UP,
    Bench,
    Design,
    Experiment,
    TrialPlace,
    carry_out,
    least_rounds,
)
from wireproof.experiment.kept import Keeper, keeper_for
from wireproof.experiment.study import (
    Begun,
    Configuration,
    Knob,
    Library,
    Probe,
    Stopped,
    Study,
    StudyRun,
)
from wireproof.experiment.study.catalogue import chosen, configurations, patterns_for
from wireproof.experiment.study.conclude import concluded, spelling
from wireproof.experiment.study.launching import COUNTS, Launcher, StudySpecification, heard
from wireproof.experiment.study.library import libraries, library_called
from wireproof.experiment.study.readback import agreed_rails, complaint, readbacks
from wireproof.files.held import temporary_folder
from wireproof.model import quantity
from wireproof.model.errors import (
    CouldNotMeasure,
    WireproofError,
)
from wireproof.model.experiment import ExperimentPlan
from wireproof.model.record import Host
from wireproof.model.secrets import masked
from wireproof.report.reporter import Reporter

__all__ = ["StudySpecification", "libraries", "library_called", "plan_study", "run_study"]


class Prober:
    """Starts a library with one value at a time and reads back the value that it uses.

    ``folder``: folder for the logs, which are temporary.
    """

    def __init__(self, launcher: Launcher, library: Library, folder: Path) -> None:
        self._launcher, self._library, self._folder = launcher, library, folder

    def base(self) -> list[Host]:
        """Start the library without values; return the hosts. Raises ``CouldNotMeasure`` if the
        start fails.
        """
        hosts, text, failed, _ = self._start(Configuration())
        if failed:
            reason = complaint(text, self._library)
            in_words = f" ({reason})" if reason else ""
            raise CouldNotMeasure(
                f"{self._library.title} does not start even without any of the values:"
                f" {failed}{in_words}"
            )
        return hosts

    def probe(self, configuration: Configuration, knob: Knob) -> Probe:
        """Return the library's report when one value is set."""
        _, text, failed, folder = self._start(configuration)
        lines = heard(text, self._library, folder / COUNTS)
        if failed:
            return Probe(
                failed=complaint(text, self._library) or failed,
                readbacks=readbacks(lines, knob, configuration),
                controls=self._controls(configuration, knob),
            )
        listed = {name for _, name, _ in lines.get(self._library.listing, ())}
        return Probe(
            readbacks=readbacks(lines, knob, configuration),
            listed=sorted(listed) if listed else None,
        )

    def _controls(self, configuration: Configuration, knob: Knob) -> dict[str, str]:
        """Try other spellings of a refused value; return the reason why each did not start."""
        controls: dict[str, str] = {}
        for control in knob.control:
            other = spelling(control, configuration.value)
            if not other or other == configuration.value:
                continue
            variables = {**configuration.variables, knob.name: other}
            _, text, failed, _ = self._start(
                Configuration(knob=knob.name, value=other, variables=variables)
            )
            controls[other] = (complaint(text, self._library) or failed) if failed else ""
        return controls

    def _start(self, configuration: Configuration) -> tuple[list[Host], str, str, Path]:
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        hosts, text, failed = self._launcher.probe(
            configuration.variables, self._library.asks, folder
        )
        matched = partial(self._matched, text, folder, configuration)
        refuse_slow_patterns(matched, f"the output of {self._library.title}", _of(self._library))
        return hosts, text, failed, folder

    def _matched(self, text: str, folder: Path, configuration: Configuration) -> None:
        complaint(text, self._library)
        lines = heard(text, self._library, folder / COUNTS)
        for knob in self._library.knob:
            readbacks(lines, knob, configuration)


def _of(library: Library) -> str:
    return f"the study {library.id}"


RESULT = "study.json"
MORE_ROUNDS = 3
"""Rounds beyond the minimum, so that a single outlier block cannot hide an effect."""
LEAST_PLANNED = 12


def run_study(
    wanted: StudySpecification, reporter: Reporter, environment: Mapping[str, str]
) -> Study:
    """Read back every value, then measure all of them in rounds until the budget is used up.

    ``environment``: inherited by commands. Raises ``BadInput`` before anything is started, and for
    rails that cannot be used; ``CouldNotMeasure`` if the base does not run.
    """
    pick = partial(chosen, wanted.library, wanted.knobs, wanted.values)
    refuse_slow_patterns(pick, "--values", _of(wanted.library))
    knobs = pick()
    launcher = Launcher(wanted, wanted.over or patterns_for(knobs), reporter, environment)
    with (
        keeper_for(wanted.storage, "study", reporter, Begun) as keeper,
        temporary_folder("wireproof-study-") as scratch,
    ):
        bench = _Study(wanted, launcher, knobs, Path(scratch), reporter)
        study = bench.measure({**environment, **launcher.base}, keeper)
        keeper.keep(study, RESULT)
    return study


def plan_study(
    wanted: StudySpecification, reporter: Reporter, environment: Mapping[str, str]
) -> ExperimentPlan:
    """Return the command of a launch with each value, without starting anything; the rails are
    those that --nic names. Raises ``BadInput``.
    """
    knobs = chosen(wanted.library, wanted.knobs, wanted.values)
    launcher = Launcher(wanted, wanted.over or patterns_for(knobs), reporter, environment)
    tried, left = configurations(knobs, launcher.asked, {**environment, **launcher.base})
    for configuration in tried:
        launcher.check(configuration)
    return ExperimentPlan(
        hosts=list(launcher.target.hosts),
        rounds=None,
        seed=wanted.seed,
        arms=[launcher.planned(configuration) for configuration in tried],
        notes=[*launcher.target.notes, *left],
    )


class _Study(Bench[StudyRun]):
    """The configurations of one library; an arm is the number of a configuration."""

    def __init__(
        self,
        wanted: StudySpecification,
        launcher: Launcher,
        knobs: list[Knob],
        folder: Path,
        reporter: Reporter,
    ) -> None:
        self._wanted, self._launcher = wanted, launcher
        self._knobs = {knob.name: knob for knob in knobs}
        self._folder, self._reporter = folder, reporter
        self._prober = Prober(launcher, wanted.library, folder)
        self._started = time.monotonic()
        self._before_s = 0.0
        self._seed = wanted.seed
        self._configurations: list[Configuration] = [Configuration()]
        self._probes: dict[int, Probe] = {}
        self._notes: list[str] = []
        self._course: Experiment[StudyRun] = Experiment(design=Design(arms=(0,), seed="", rounds=0))

    def measure(self, variables: Mapping[str, str], keeper: Keeper[Begun]) -> Study:
        hosts = self._prober.base()
        rails, notes = agreed_rails(hosts, self._launcher.asked)
        self._launcher.rails = rails
        self._configurations, left = configurations(list(self._knobs.values()), rails, variables)
        for configuration in self._configurations:
            self._launcher.check(configuration)
        begun = keeper.begun(self._asked())
        inherited = _inherited(self._wanted.library, variables, self._launcher.base)
        for line in (*self._launcher.target.notes, *notes, *inherited, *left):
            self._note(line)
        if begun is not None:
            self._go_on(begun)
        try:
            self._probe_all()
            keeper.keep(self._begun())
            self._measure(keeper)
        except KeyboardInterrupt:
            self._course.stopped = "interrupted"
        keeper.keep(self._begun())
        return self._study()

    def _asked(self) -> dict[str, str]:
        """Return the options that must be the same when a study is resumed."""
        return {
            "the library": self._wanted.library.id,
            "the hosts": ",".join(self._launcher.target.hosts),
            "the transport": self._wanted.method.transport,
            "the patterns": ",".join(self._launcher.names),
            "the values": " ".join(tried.shown for tried in self._configurations[1:]),
            "the rails": ",".join(self._launcher.rails),
        }

    def _begun(self) -> Begun:
        return Begun(
            asked=self._asked(),
            seed=self._seed,
            rails=list(self._launcher.rails),
            configurations=self._configurations,
            probes=self._probes,
            runs=self._course.trials,
            rounds=self._course.rounds,
            seconds=self._seconds(),
            notes=self._notes,
        )

    def _go_on(self, begun: Begun) -> None:
        self._seed, self._probes = begun.seed, dict(begun.probes)
        self._course.trials, self._course.rounds = list(begun.runs), begun.rounds
        self._before_s = begun.seconds
        launches = quantity.counted(len(begun.runs), "launch", "launches")
        self._reporter.say(f"resuming after round {begun.rounds}, {launches}")

    def _seconds(self) -> float:
        return self._before_s + time.monotonic() - self._started

    def _note(self, line: str) -> None:
        self._notes.append(line)
        self._reporter.say(line)

    def _probe_all(self) -> None:
        for number, configuration in enumerate(self._configurations[1:], start=1):
            if number in self._probes:
                continue
            probe = self._prober.probe(configuration, self._knobs[configuration.knob])
            self._probes[number] = probe
            if probe.failed:
                self._reporter.say(f"{configuration.shown}: no run works with it: {probe.failed}")

    def _measure(self, keeper: Keeper[Begun]) -> None:
        startable = [number for number, probe in self._probes.items() if not probe.failed]
        if not startable:
            return
        course = self._course
        course.design = self._plan(startable, self._warm_up())
        if not course.complete:  # an interrupted round is measured again
            first = course.rounds * course.design.blocks
            course.trials = [run for run in course.trials if run.block < first]
        course.seconds = self._seconds()
        carry_out(
            course,
            self,
            self._reporter.say,
            time.monotonic,
            lambda _: keeper.keep(self._begun()),
        )

    def _warm_up(self) -> float:
        """Return the duration of a launch in seconds.

        Raises ``CouldNotMeasure`` if the base is not on the wire.
        """
        run = self._launcher.run(0, WARM_UP, self._configurations[0], "warm-up", self._new_folder())
        if run.proof not in ("on-wire", "unproven", ""):
            rails = ", ".join(self._launcher.rails) or "the claimed NIC"
            raise CouldNotMeasure(
                f"the runs without any value are {run.proof} of {rails}: nothing can be concluded"
                " about settings; give the NIC, or the rails, with --nic."
            )
        return run.seconds

    def _plan(self, startable: list[int], launch_s: float) -> Design:
        """Choose the number of rounds in advance, so that the results do not determine it."""
        budget_s, done, names = self._wanted.budget_s, self._course.rounds, self._launcher.names
        design = Design(
            arms=(0, *startable), seed=f"study/{self._seed}", shape="small", budget_s=budget_s
        )
        least = least_rounds(len(startable) * len(names), ALPHA)
        round_s = launch_s * design.trials
        affordable = done + max(0, int((budget_s - self._seconds()) / round_s))
        planned = max(1, min(max(LEAST_PLANNED, least + MORE_ROUNDS), affordable))
        self._reporter.say(
            f"{len(startable)} values over {', '.join(names)}:"
            f" {quantity.counted(planned, 'round')} of {design.trials} launches, about"
            f" {quantity.duration(max(0, planned - done) * round_s)}"
        )
        if planned < least:
            self._note(
                f"there is time for {quantity.counted(planned, 'round')} in"
                f" {quantity.duration(budget_s)}, but {least} are needed to detect any effect:"
                " give a larger --budget, fewer --knobs, or fewer patterns (--over)."
            )
        return dataclasses.replace(design, rounds=planned)

    def run(self, place: TrialPlace) -> StudyRun:
        seed = f"{self._seed}/{place.block}/{place.arm}"
        configuration = self._configurations[place.arm]
        folder = self._new_folder()
        return self._launcher.run(place.arm, place.block, configuration, seed, folder)

    def failed(self, place: TrialPlace, error: WireproofError) -> None:
        """Leave out a launch that fails, and report it."""
        if not isinstance(error, CouldNotMeasure):
            raise error
        shown = self._configurations[place.arm].shown
        self._note(f"a launch with {shown} failed and is left out: {error}")

    def _new_folder(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self._folder))

    def _study(self) -> Study:
        wanted, course = self._wanted, self._course
        bare = Study(
            library=wanted.library.id,
            title=wanted.library.title,
            hosts=list(dict.fromkeys(self._launcher.target.hosts)),
            rails=list(self._launcher.rails),
            patterns=self._launcher.patterns,
            configurations=self._configurations,
            runs=course.trials,
            smallest=wanted.smallest,
            alpha=ALPHA,
            seed=self._seed,
            rounds=course.rounds,
            rounds_planned=course.design.rounds or 0,
            budget_s=wanted.budget_s,
            seconds=self._seconds(),
            stopped=cast(Stopped, course.stopped),  # a study has no interim analyses
            notes=self._notes,
        )
        return concluded(bare, self._probes, self._knobs, wanted.library)


def _inherited(
    library: Library, variables: Mapping[str, str], base: Mapping[str, str]
) -> list[str]:
    """Return a sentence about the library's variables that the user has set for all runs."""
    assignments = [
        masked(f"{name}={value}")
        for name, value in sorted(variables.items())
        if name.startswith(library.prefixes) and name not in base
    ]
    return (
        [f"set in this shell, and therefore in every run: {' '.join(assignments)[:1000]}"]
        if assignments
        else []
    )
