"""The specification of a trial and its workloads: a pattern of wireproof, with a launch for each
run, or the user's command.
"""

import dataclasses
import resource
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Self

from wireproof.experiment import WARM_UP
from wireproof.experiment.effects import waited_in
from wireproof.experiment.kept import planned_arm
from wireproof.files.held import temporary_folder
from wireproof.instrument.watch_command import WatchedCommand
from wireproof.launch.command import shell_line
from wireproof.launch.engines import MpiInstall
from wireproof.launch.known import MPIS
from wireproof.launch.registry import LaunchCommand
from wireproof.ledger.measured import guards_of, losses, messages_of, metric_of, value_of
from wireproof.measure.job import prepare
from wireproof.measure.session import Session, Storage
from wireproof.measure.session.launch import command_of, install_for
from wireproof.measure.session.rounds import equally_long, launched_once
from wireproof.measure.specification import MeasureSpecification
from wireproof.model import quantity
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.experiment import Better, Metric, PlannedArm, TrialRun, TriedKnob
from wireproof.model.plan import TransportKind
from wireproof.model.setting import Profile
from wireproof.options.knobs import Reader
from wireproof.report.judged_run import JudgedRun
from wireproof.report.reporter import Quiet, Reporter
from wireproof.target import launcher_environment
from wireproof.tune.node import JournalPlace
from wireproof.watch.command import NOWHERE, Watch, allow_files
from wireproof.watch.hosts import start_servers
from wireproof.watch.prove import (
    INTERRUPTED,
    ProofSpecification,
    judged_command,
    on_target,
    run_command,
    size_of,
)

Variables = Mapping[str, str | None]
"""Variables of a run's environment; None: the variable is unset."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class OwnCommand:
    """The user's command.

    ``reader`` None: its wall time is the metric. ``text``: the text of ``--metric``. ``longest_s``:
    a run that takes longer is stopped. ``claimed``: the user named the NIC or the link.
    """

    proof: ProofSpecification
    claimed: bool = False
    reader: Reader | None = None
    text: str = ""
    better: Better = "lower"
    longest_s: float = 60.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrialSpecification:
    """``workload``: a pattern of wireproof or a command.

    ``smallest``: an effect below this fraction is ignored. ``budget_s``: no block is started that
    would end later. ``keep``: leave the best value applied, to be confirmed. For settings,
    ``place``: where the hosts keep their journals; ``allow_link_down``: links may go down for a
    moment. ``storage``: of the result, and of the state that ``resume`` continues.
    """

    knob: TriedKnob
    workload: MeasureSpecification | OwnCommand
    seed: int
    smallest: float = 0.05
    budget_s: float = 60.0
    keep: bool = False
    profile: Profile = "throughput"
    place: JournalPlace | None = None
    allow_link_down: bool = False
    storage: Storage = dataclasses.field(default_factory=lambda: Storage(kept=False))


# --- The workloads that come with wireproof: a pattern, and a command of the user.


RUN_S = 0.2
"""Default duration of a run; short, because the variation between launches is larger than within a
launch.
"""


class PatternWorkload(AbstractContextManager["PatternWorkload"]):
    """Launches of the engine with one point. ``environment`` is searched for an allocation."""

    def __init__(
        self, wanted: MeasureSpecification, reporter: Reporter, environment: Mapping[str, str]
    ) -> None:
        method = dataclasses.replace(wanted.method, budget_s=wanted.method.budget_s or RUN_S)
        prepared = prepare(dataclasses.replace(wanted, method=method), environment)
        if len(prepared.points) != 1:
            raise BadInput("a trial compares a single number: give one size and one direction.")
        point = prepared.points[0]
        self.title = (
            f"{point.pattern} of {quantity.size(point.message_bytes)} over {method.transport}"
        )
        self._session = method.session(
            self.title,
            [point],
            policy=equally_long(prepared.policy),
            seed=0,
            out=None,
            storage=Storage(kept=False),
        )
        self._variables = dict(prepared.variables)
        self._environment, self._quiet = environment, Quiet(reporter)
        self.target = prepared.target
        self.notes = list(self.target.notes)
        self.metric = metric_of(point.pattern, point.form)

    def __exit__(self, *_: object) -> None:
        """Do nothing, because a launch leaves no process behind."""

    def check(self, knob: TriedKnob) -> None:
        """Raise ``BadInput`` for a variable that cannot have an effect in the runs."""
        name, install = knob.name, install_for(self._session)
        why = unread(name, self._session.transport, install)
        if why:
            raise BadInput(f"{name} has no effect in these runs: {why}.")
        for value in knob.values:
            command = command_of(self._with({name: value}), self.target)
            if value is not None and (given := overridden(command, name, value)):
                raise BadInput(
                    f"{name}={value} has no effect: the launch itself sets it to {given[:80]!r}"
                    " for the claimed NIC or fabric; give --nic-selection none and no --fabric"
                    " to prevent this."
                )

    def run(self, variables: Variables, shown: str) -> TrialRun:
        """Run once with ``variables``; ``shown``: the value under trial, for messages. The caller
        fills in the place of the run.

        Raises ``CouldNotMeasure`` if the run fails, ``KeyboardInterrupt`` if the user stops it.
        """
        begun, before = time.monotonic(), processor_s()
        section = self._launched(self._with(variables), shown)
        point = section.run.points[0]
        value = value_of(point)
        if value is None:
            raise CouldNotMeasure(f"{shown}: the run printed no number.")
        guards = guards_of(point)
        if self.target.lab is not None or not self.target.hosts:
            guards["cpu_ns_per_message"] = (processor_s() - before) * 1e9 / messages_of(point)
        return TrialRun(
            block=WARM_UP,
            value=0,
            metric=value,
            seconds=time.monotonic() - begun,
            proof=section.judgement.proof if self.target.wire else "",
            guards=guards,
            waited=waited_in(section.run.points),
        )

    def planned(self, variables: Variables, shown: str) -> PlannedArm:
        """Return the command of a run."""
        return planned_arm(shown, command_of(self._with(variables), self.target))

    def _with(self, variables: Variables) -> Session:
        for name, value in variables.items():
            if value is None and name in self._environment:
                raise BadInput(f"{name} is set in this shell: unset it to allow a run without it.")
        chosen = {name: value for name, value in variables.items() if value is not None}
        extra = tuple({**self._variables, **chosen}.items())
        return dataclasses.replace(self._session, extra=extra)

    def _launched(self, session: Session, shown: str) -> JudgedRun:
        with temporary_folder("wireproof-try-") as scratch:
            there = dataclasses.replace(session, out=Path(scratch) / "run")
            try:
                return launched_once(there, self.target, self._quiet)[0]
            except CouldNotMeasure as error:
                raise CouldNotMeasure(f"{shown}: {error}") from error


def processor_s() -> float:
    """Return the processor time in seconds of all ended child processes of this process."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# --- Check whether a variable under trial is read. A variable that is overridden, or that no
# program reads, would have no effect for any value.

_OF_LIBFABRIC = ("FI_", "PSM3_", "PSM2_", "HFI_")
_MCA = "OMPI_MCA_"


def unread(name: str, transport: TransportKind, install: MpiInstall | None) -> str:
    """Return the reason why no program in a launch over ``transport`` reads the variable; "" if a
    program may read it, or if no messages are sent.
    """
    if transport == "tcp":
        return "the transport tcp has no MPI that reads it"
    if transport == "ofi" and not name.startswith(_OF_LIBFABRIC):
        return "libfabric does not read it"
    if transport == "mpi" and install is not None:
        mpi = MPIS[install.family]
        if name.startswith(mpi.foreign):
            return f"{mpi.title} does not read it: choose another --mpi"
    return ""


def overridden(command: LaunchCommand, name: str, value: str) -> str:
    """Return the value that the launch itself gives the variable instead of ``value``, or ""."""
    given = [command.environment.get(name, value)]
    argv = ("", *command.argv, "")
    for before, word, after in zip(argv, argv[1:], argv[2:], strict=False):
        if before in ("-genv", "-env") and word == name:
            given.append(after)
        elif before == "-x" and word.startswith(f"{name}="):
            given.append(word.partition("=")[2])
        elif before == "--mca" and f"{_MCA}{word}" == name:
            given.append(after)
    return next((other for other in given if other != value), "")


# --- The user's command as the workload of a trial, between two readings of its hosts' ports.

READ_EVERY_S = 10.0
"""Without a wire, ports are read before and after a run; readings in between only keep the
connection open.
"""


class CommandWorkload(AbstractContextManager["CommandWorkload"]):
    """Runs of one command.

    Its output is searched for the number, and its last lines are shown if it fails.
    """

    def __init__(
        self, wanted: OwnCommand, reporter: Reporter, environment: Mapping[str, str]
    ) -> None:
        proof = wanted.proof
        self._wanted, self._reporter = wanted, reporter
        self.target = proof.target
        self._environment = {**environment, **launcher_environment(self.target, environment)}
        self._argv = on_target(proof.argv, self.target)
        self.title = " ".join(proof.argv)
        self.notes = list(self.target.notes)
        self.metric = (
            Metric(name="wall time", unit="s", better="lower", source="clock")
            if wanted.reader is None
            else Metric(name=wanted.text, unit="", better=wanted.better, source="output")
        )
        self._proof = dataclasses.replace(proof, stdin="empty", longest_s=wanted.longest_s)
        allow_files(self.target)
        interval_s = proof.interval_s if self.target.wire else READ_EVERY_S
        self._watch = Watch(self.target, self._environment, interval_s, Quiet(reporter))
        self._reads = False

    def __enter__(self) -> Self:
        try:
            self._begin_to_read()
            start_servers(self._watch, self._wanted.proof.companions, NOWHERE, self._reporter)
            self.notes += self._watch.notes
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
            self._reporter.warn(f"retransmits and drops cannot be observed: {error}")
            self.notes.append(f"retransmits and drops cannot be observed: {error}")

    def __exit__(self, *_: object) -> None:
        self._watch.__exit__()

    def check(self, knob: TriedKnob) -> None:
        """Do nothing, because it is unknown which variables a command reads."""

    def planned(self, variables: Variables, shown: str) -> PlannedArm:
        """Return the command of a run."""
        given = {name: value for name, value in variables.items() if value is not None}
        return PlannedArm(title=shown, commands=[shell_line(self._argv, given)])

    def run(self, variables: Variables, shown: str) -> TrialRun:
        """Run once, like `PatternWorkload.run`."""
        environment = {**self._environment, **{k: v for k, v in variables.items() if v is not None}}
        for name in [name for name, value in variables.items() if value is None]:
            environment.pop(name, None)
        files = {path: size_of(path) for path in self._proof.results}
        if self._reads and self.target.wire:
            self._watch.look_at_the_background()
        elif self._reads:
            self._watch.mark()
        before = processor_s()
        try:
            ended = run_command(self._watch, self._proof, NOWHERE, environment)
        except CouldNotMeasure as error:
            raise CouldNotMeasure(
                f"{shown}: {error} Give a larger --budget-s, or a shorter command."
            ) from error
        used = processor_s() - before
        try:
            return TrialRun(
                block=WARM_UP,
                value=0,
                metric=self._number(*ended, shown),
                seconds=ended[2],
                proof=self._path_of(*ended, files),
                guards={"cpu_s": used, **self._losses()},
            )
        finally:
            ended[0].close()
            ended[0].output.clear()

    def _path_of(
        self,
        command: WatchedCommand,
        status: int,
        seconds: float,
        files: Mapping[Path, tuple[int, int]],
    ) -> str:
        """Return the proof of a run's path, as `wireproof prove` gives it; "" if no wire is
        claimed, or if neither NIC nor link is and the path cannot be judged.
        """
        if not self.target.wire:
            return ""
        unproven = "unproven" if self._wanted.claimed else ""
        if not self._reads:
            return unproven
        judged = judged_command(self._watch, self._proof, command, status, seconds, files).judgement
        if judged.proof != "unproven":
            return judged.proof
        why = f"the path of the runs is not proven: {judged.reasons[0].message}"
        if why not in self.notes:
            self.notes.append(why)
            self._reporter.warn(why)
        return unproven

    def _number(self, command: WatchedCommand, status: int, seconds: float, shown: str) -> float:
        """Return the metric of a run. Raises ``CouldNotMeasure`` if it has none."""
        if status == INTERRUPTED:
            raise KeyboardInterrupt
        if status != 0:
            words = command.last_words()
            last = f": {words}" if words else "."
            raise CouldNotMeasure(f"{shown}: the command ended with status {status}{last}")
        if self._wanted.reader is None:
            return seconds
        value = self._wanted.reader(command.output.decode("utf-8", "replace"))
        metric = f"{shown}: --metric {self._wanted.text[:60]!r} found"
        if value is None:
            raise CouldNotMeasure(f"{metric} no number in the command's output.")
        if not 0.0 < value < float("inf"):
            raise CouldNotMeasure(f"{metric} {value:g}, but ratios need positive numbers.")
        return value

    def _losses(self) -> dict[str, float]:
        """Return the losses of all hosts; empty if one of them cannot be read."""
        if not self._reads:
            return {}
        if not self.target.wire:
            self._watch.mark()
        total: dict[str, float] = {}
        for host in self._watch.watched():
            if host.error or host.before is None or host.after is None:
                return {}
            before = host.before.counters
            rose = {name: n - before.get(name, n) for name, n in host.after.counters.items()}
            for name, count in losses(rose).items():
                total[name] = total.get(name, 0.0) + count
        return total


Workload = PatternWorkload | CommandWorkload
"""The workload that is run repeatedly. Leaving the context ends all its processes."""
