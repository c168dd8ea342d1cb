"""One launch of a study: all its patterns with one configuration, and the library's reports in
it.
"""

from __future__ import annotations

import dataclasses
import random
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from wireproof.experiment.effects import waited_in
from wireproof.experiment.kept import planned_arm
from wireproof.experiment.study import Configuration, Library, StudiedPattern, StudyRun
from wireproof.experiment.study.catalogue import points_of, title_of
from wireproof.experiment.study.readback import Said, path_of, said_in
from wireproof.experiment.trial_pattern import unread
from wireproof.files.held import make_folder
from wireproof.files.hostile import read_bounded, text_in
from wireproof.launch.command import request_for
from wireproof.launch.engines import MpiInstall
from wireproof.launch.known import MPIS
from wireproof.launch.mpi.environment import psm3_variables
from wireproof.ledger.measured import metric_of, value_of
from wireproof.logs.psm3 import is_statistics
from wireproof.logs.psm3.identify import readback
from wireproof.logs.psm3.statistics import statistics
from wireproof.logs.psm3.verdict import judge_statistics
from wireproof.measure.session import Method, Session, Storage
from wireproof.measure.session.launch import command_of, install_for
from wireproof.measure.session.rounds import equally_long, launched_once
from wireproof.model.claim import first_rail, rails_of
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.experiment import PlannedArm
from wireproof.model.plan import FactRequest, Point
from wireproof.model.psm3 import Statistics
from wireproof.model.record import Host
from wireproof.options.table import Options
from wireproof.report.judged_run import JudgedRun
from wireproof.report.reporter import Quiet, Reporter
from wireproof.target import Target
from wireproof.target.resolve import resolve_target

EACH_S = 0.15
"""Time of one point; short, because the variation between launches is larger than within a
launch.
"""
PROBE_S = 0.02
PROBE_HANGS_MS = 8000
"""Deadline of a short point; if no point meets it, the value does not work."""
COUNTS = "counts"
"""Folder inside a launch's folder for the library's counters."""
_LOG_BYTES = 8 << 20


class Launcher:
    """Launches the study ``wanted`` on its target. Raises ``BadInput`` if it cannot be launched."""

    def __init__(
        self,
        wanted: StudySpecification,
        over: Sequence[str],
        reporter: Reporter,
        environment: Mapping[str, str],
    ) -> None:
        self._quiet = Quiet(reporter)
        target = resolve_target(wanted.target, environment)
        if len(set(target.hosts)) < 2:
            raise BadInput("a study needs two hosts with a wire between them: give --hosts.")
        if not target.nics or not target.nics[0]:
            raise BadInput(
                "a study needs the NIC, or the rails, that the traffic is claimed to use: give"
                " --nic."
            )
        self.asked = rails_of(target.nics[0])
        first_nics = dataclasses.replace(target, nics=tuple(map(first_rail, target.nics)))
        self.target: Target = first_nics.spread(wanted.ppn)
        self.names = tuple(dict.fromkeys(over))
        self._points = dict(zip(self.names, points_of(self.names, self.target.size), strict=True))
        self._budget_s = wanted.method.budget_s or EACH_S
        self._session = self._prepared(wanted)
        self.install = install_for(self._session)
        _refuse_other_mpi(wanted.library, self._session, self.install)
        self.base = {**self._own_variables(wanted), **wanted.library.base}
        self.rails: tuple[str, ...] = ()
        self._library = wanted.library

    def _prepared(self, wanted: StudySpecification) -> Session:
        method, library = wanted.method, wanted.library
        ofi = method.ofi
        if method.transport == "ofi" and not ofi.provider:
            ofi = msgspec.structs.replace(ofi, provider=library.provider)
        if method.transport != "mpi" and not (method.transport == "ofi" and ofi.provider):
            raise BadInput(f"the transport {method.transport} does not use {library.title}.")
        return Session(
            title=f"study of {library.title}",
            points=(),
            seed=0,
            transport=method.transport,
            mpi=method.mpi,
            ofi=ofi,
            nic_selection="none",
            kept=False,
            table=method.table,
        )

    def _own_variables(self, wanted: StudySpecification) -> dict[str, str]:
        """Return the variables that a launch sets for the claimed NIC; a value under study can
        replace them.
        """
        nic = self.target.nics[0]
        if self._session.transport == "ofi":
            return psm3_variables(nic) if self._session.ofi.provider == "psm3" else {}
        if self.install is None:
            return {}
        request = request_for(
            "mpi",
            self.install,
            fabric=wanted.method.fabric or wanted.library.fabric,
            hosts=self.target.start_on,
            nics=self.target.nics,
            machine_ranks=self.target.machine_ranks,
        )
        return dict(MPIS[self.install.family].uniform(request, nic))

    def check(self, configuration: Configuration) -> None:
        """Raise ``BadInput`` for a variable that no program in these launches reads."""
        for name in configuration.variables:
            why = unread(name, self._session.transport, self.install)
            if why:
                raise BadInput(f"{name} has no effect in these launches: {why}.")

    def planned(self, configuration: Configuration) -> PlannedArm:
        """Return the command of a launch with this value."""
        points = tuple(self._points.values())
        session = self._with(configuration.variables, points, self._budget_s, Path())
        return planned_arm(configuration.whole, command_of(session, self.target))

    @property
    def patterns(self) -> list[StudiedPattern]:
        """Return the measured patterns, in the order of the tables."""
        return [
            StudiedPattern(
                name=name, what=title_of(name), metric=metric_of(point.pattern, point.form)
            )
            for name, point in self._points.items()
        ]

    def probe(
        self, variables: Mapping[str, str], asks: Mapping[str, str], folder: Path
    ) -> tuple[list[Host], str, str]:
        """Start once with ``asks``; return the hosts that responded, all output, and the reason for
        a failure or "".
        """
        point = msgspec.structs.replace(points_of(("latency",), self.target.size)[0], id=0)
        counts = counting(self._library, folder / COUNTS)
        session = self._with({**variables, **asks, **counts}, (point,), PROBE_S, folder / "run")
        hung = msgspec.structs.replace(session.policy, point_deadline_ms=PROBE_HANGS_MS)
        looks = tuple(FactRequest(kind="command", argv=argv) for argv in self._library.looks)
        session = dataclasses.replace(session, policy=hung, facts=looks)
        hosts: list[Host] = []
        failed = looked = ""
        try:
            run = self._launched(session).run
            hosts, looked = run.hosts, "\n".join(fact.text for fact in run.facts)
        except CouldNotMeasure as error:
            failed = str(error).split(" (log:")[0].split(" (give --out")[0]
        printed = text_in(folder / "run" / "engine.log", _LOG_BYTES)
        return hosts, f"{printed}\n{looked}", failed

    def run(
        self, number: int, block: int, configuration: Configuration, seed: str, folder: Path
    ) -> StudyRun:
        """Run all patterns once, in an order drawn by ``seed``. Raises ``CouldNotMeasure``."""
        names = list(self.names)
        random.Random(seed).shuffle(names)
        points = tuple(
            msgspec.structs.replace(self._points[name], id=index)
            for index, name in enumerate(names)
        )
        begun = time.monotonic()
        variables = {**configuration.variables, **counting(self._library, folder / COUNTS)}
        section = self._launched(self._with(variables, points, self._budget_s, folder / "run"))
        numbers = {
            names[point.id]: value
            for point in section.run.points
            if (value := value_of(point)) is not None
        }
        proof, shares = path_of(section.run, section.judgement, self.rails)
        return StudyRun(
            block=block,
            configuration=number,
            numbers=numbers,
            seconds=time.monotonic() - begun,
            proof=proof,
            shares=shares,
            said=counted(self._library, folder / COUNTS),
            waited=waited_in(section.run.points),
        )

    def _with(
        self,
        variables: Mapping[str, str],
        points: tuple[Point, ...],
        budget_s: float,
        folder: Path,
    ) -> Session:
        policy = equally_long(self.target.pinned(Method(budget_s=budget_s).bounds()))
        return dataclasses.replace(
            self._session,
            points=points,
            policy=policy,
            extra=tuple({**self.base, **variables}.items()),
            out=folder,
        )

    def _launched(self, session: Session) -> JudgedRun:
        return launched_once(session, self.target, self._quiet)[0]


def _refuse_other_mpi(library: Library, session: Session, install: MpiInstall | None) -> None:
    if session.transport != "mpi" or install is None or not library.mpi:
        return
    if install.family not in library.mpi:
        titles = ", ".join(MPIS[name].title for name in library.mpi)
        raise BadInput(
            f"{MPIS[install.family].title} does not use {library.title}: choose --mpi ({titles})."
        )


# --- The specification of a study.


@dataclasses.dataclass(frozen=True, kw_only=True)
class StudySpecification:
    """``knobs`` empty: all knobs of the library, or those in ``values``.

    ``over``: patterns; empty: those that the knobs can affect. ``budget_s``: no round is started
    that would end later. ``smallest``: an effect below this fraction does not justify a setting.
    """

    library: Library
    target: Options
    method: Method = dataclasses.field(default_factory=Method)
    storage: Storage = dataclasses.field(default_factory=lambda: Storage(kept=False))
    knobs: tuple[str, ...] = ()
    values: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    over: tuple[str, ...] = ()
    ppn: int = 1
    budget_s: float = 300.0
    smallest: float = 0.03
    seed: int = 0


# --- Output and counters of a launch, read by the library's reader if it has one. Statistics files
# contain the whole environment of a process, so their readers pass on only the library's settings,
# and the text is never stored.

_MOST_FILES = 256
_LARGEST = 16 << 20
_TELLING = ("fail", "inconclusive", "warning")


def counting(library: Library, folder: Path) -> dict[str, str]:
    """Return the variables that make a run write its counters into ``folder``, which is created."""
    if not library.counts:
        return {}
    make_folder(folder, 0o700)
    return {name: value.replace("{folder}", str(folder)) for name, value in library.counts.items()}


def heard(text: str, library: Library, folder: Path) -> Said:
    """Return the lines of a start by kind; a reader of text and counters adds the kinds
    ``observed`` and ``taken``.
    """
    lines_by_kind: Mapping[str, list[tuple[str, str, str]]] = defaultdict(
        list, {kind: list(lines) for kind, lines in said_in(text, library).items()}
    )
    if library.reader == "psm3":
        texts = [data.decode("utf-8", "replace") for _, data in _files(folder)]
        for seen in readback(text, texts):
            if seen.kind in ("observed", "taken"):
                lines_by_kind[seen.kind].append((seen.who, seen.setting, seen.value))
    return lines_by_kind


def counted(library: Library, folder: Path) -> dict[str, str]:
    """Return the findings of the library's counters by code; empty without counters."""
    if library.reader != "psm3":
        return {}
    files: list[Statistics] = []
    for name, data in _files(folder):
        try:
            files.append(statistics(data, name))
        except BadInput:
            continue
    if not files:
        return {}
    judged = judge_statistics(files, wire=True)
    return {
        finding.code: finding.message for finding in judged.findings if finding.severity in _TELLING
    }


def _files(folder: Path) -> list[tuple[str, bytes]]:
    """Return the statistics files that the ranks on this machine have written."""
    contents: list[tuple[str, bytes]] = []
    try:
        paths = sorted(folder.iterdir())[:_MOST_FILES]
    except OSError:
        return []
    for path in paths:
        try:
            data = read_bounded(path, _LARGEST, follow=False)
        except OSError:
            continue
        if is_statistics(data):
            contents.append((path.name, data))
    return contents
