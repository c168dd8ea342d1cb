"""One launch of a study: all its patterns with one configuration, and what the library says in
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

from wireproof.adapters.psm3 import is_statistics, readback, statistics
from wireproof.analysis.workload import metric_of, value_of
from wireproof.files.held import make_folder
from wireproof.files.hostile import read_bounded
from wireproof.launch.command import request_for
from wireproof.launch.known import MPIS
from wireproof.launch.mpi.environment import psm3_variables
from wireproof.launch.mpi.install import MpiInstall
from wireproof.model.claim import first_rail, rails_of
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.plan import FactRequest, Point
from wireproof.model.psm3 import Statistics
from wireproof.model.record import Host
from wireproof.model.study import Configuration, Library, StudiedPattern, StudyRun
from wireproof.report.judged_run import JudgedRun
from wireproof.settings.options import Options
from wireproof.study.catalogue import points_of, title_of
from wireproof.study.path import path_of
from wireproof.study.readback import Said, said_in
from wireproof.verdict.psm3.judge import judge_statistics
from wireproof.workflow.reporter import Quiet, Reporter
from wireproof.workflow.session.launch import install_for
from wireproof.workflow.session.rounds import equally_long, launched_once
from wireproof.workflow.session.session import Method, Session, Storage
from wireproof.workflow.target.resolve import resolve_target
from wireproof.workflow.target.target import Target
from wireproof.workflow.tune.trial.pattern import unread

EACH_S = 0.15
"""What one point measures: launches differ more than what is in one."""
PROBE_S = 0.02
PROBE_HANGS_MS = 8000
"""A value with which not one short point ends so soon does not work."""
COUNTS = "counts"
"""The folder of a launch that a library's counters go to."""
_LOG_BYTES = 8 << 20


class Launcher:
    """Launches of ``wanted`` on its target. Raises ``BadInput`` for what cannot be launched."""

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
            raise BadInput("a study needs two hosts, with a wire between them: give --hosts.")
        if not target.nics or not target.nics[0]:
            raise BadInput(
                "a study needs to know the NIC, or the rails, that the traffic is claimed to use:"
                " give --nic."
            )
        self.asked = rails_of(target.nics[0])
        one = dataclasses.replace(target, nics=tuple(map(first_rail, target.nics)))
        self.target: Target = one.spread(wanted.ppn)
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
            raise BadInput(f"the transport {method.transport} has nothing of {library.title}.")
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
        """What a launch would set for the claimed NIC, as variables that a value can replace."""
        nic = self.target.nics[0]
        if self._session.transport == "ofi":
            return psm3_variables(nic) if self._session.ofi.provider == "psm3" else {}
        if self.install is None:
            return {}
        request = request_for(
            "mpi",
            self.install,
            fabric=wanted.method.fabric or wanted.library.fabric,  # type: ignore[arg-type]
            hosts=self.target.start_on,
            nics=self.target.nics,
            machine_ranks=self.target.machine_ranks,
        )
        return dict(MPIS[self.install.family].uniform(request, nic))

    def check(self, configuration: Configuration) -> None:
        """Raise ``BadInput`` for a variable that nothing in these launches reads."""
        for name in configuration.variables:
            why = unread(name, self._session.transport, self.install)
            if why:
                raise BadInput(f"{name} has no effect in these launches: {why}.")

    @property
    def patterns(self) -> list[StudiedPattern]:
        """What is measured, in the order of the tables."""
        return [
            StudiedPattern(
                name=name, what=title_of(name), metric=metric_of(point.pattern, point.form)
            )
            for name, point in self._points.items()
        ]

    def probe(
        self, variables: Mapping[str, str], asks: Mapping[str, str], folder: Path
    ) -> tuple[list[Host], str, str]:
        """Start once with ``asks``: the hosts that answered, all that was said, and why it failed
        ("" when it did not).
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
            hosts, looked = run.hosts, "\n".join(one.text for one in run.facts)
        except CouldNotMeasure as error:
            failed = str(error).split(" (log:")[0].split(" (give --out")[0]
        return hosts, f"{_log(folder / 'run')}\n{looked}", failed

    def run(
        self, number: int, block: int, configuration: Configuration, seed: str, folder: Path
    ) -> StudyRun:
        """All patterns once, in an order drawn by ``seed``. Raises ``CouldNotMeasure``."""
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
            f"{MPIS[install.family].title} has nothing of {library.title}: choose --mpi ({titles})."
        )


def _log(folder: Path) -> str:
    """All that the processes of a launch wrote; "" when it cannot be read."""
    try:
        data = read_bounded(folder / "engine.log", _LOG_BYTES, follow=False)
    except OSError:
        return ""
    return data.decode("utf-8", "replace")


# --- What a study is asked for.


@dataclasses.dataclass(frozen=True, kw_only=True)
class StudySpecification:
    """``knobs`` empty: all of the library's, or those of ``values``. ``over``: patterns, empty:
    what the knobs can move. ``budget_s``: no round is begun that would end later. ``smallest``:
    share below which an effect is not worth a setting.
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


# --- What a launch of a study said and counted, by the library's own reader where it has one.
# Statistics files hold the whole environment of a process: their readers let the library's own
# settings pass and nothing else, and no text of them is kept.

_MOST_FILES = 256
_LARGEST = 16 << 20
_TELLING = ("fail", "inconclusive", "warning")


def counting(library: Library, folder: Path) -> dict[str, str]:
    """The variables that make a run leave its counters in ``folder``, which is made."""
    if not library.counts:
        return {}
    make_folder(folder, 0o700)
    return {name: value.replace("{folder}", str(folder)) for name, value in library.counts.items()}


def heard(text: str, library: Library, folder: Path) -> Said:
    """The lines of a start by their kinds; what a reader makes of text and counters has kinds of
    its own (observed, taken).
    """
    found: Mapping[str, list[tuple[str, str, str]]] = defaultdict(
        list, {kind: list(lines) for kind, lines in said_in(text, library).items()}
    )
    if library.reader == "psm3":
        texts = [data.decode("utf-8", "replace") for _, data in _files(folder)]
        for seen in readback(text, texts):
            if seen.kind in ("observed", "taken"):
                found[seen.kind].append((seen.who, seen.setting, seen.value))
    return found


def counted(library: Library, folder: Path) -> dict[str, str]:
    """What the library's own counters are found to say, by code; nothing where none were left."""
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
    return {one.code: one.message for one in judged.findings if one.severity in _TELLING}


def _files(folder: Path) -> list[tuple[str, bytes]]:
    """Statistics files that the ranks on this machine have left."""
    found: list[tuple[str, bytes]] = []
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
            found.append((path.name, data))
    return found
