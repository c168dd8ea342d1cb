"""One launch of a study: all its patterns with one configuration, and what the library says in
it.
"""

from __future__ import annotations

import dataclasses
import random
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from wireproof.analysis.workload import metric_of, value_of
from wireproof.files.hostile import read_bounded
from wireproof.launch.command import request_for
from wireproof.launch.known import MPIS
from wireproof.launch.mpi.environment import psm3_variables
from wireproof.launch.mpi.install import MpiInstall
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.plan import FactRequest, Point
from wireproof.model.rails import first_rail, rails_of
from wireproof.model.record import Host
from wireproof.model.study import Configuration, Library, StudiedPattern, StudyRun
from wireproof.report.judged_run import JudgedRun
from wireproof.study.path import path_of
from wireproof.study.patterns import points_of, title_of
from wireproof.workflow.reporter import Quiet, Reporter
from wireproof.workflow.session.launch import install_for
from wireproof.workflow.session.run import run_session
from wireproof.workflow.session.session import Session
from wireproof.workflow.specification import Method
from wireproof.workflow.study.reading import counted, counting
from wireproof.workflow.study.specification import StudySpecification
from wireproof.workflow.target.resolve import resolve_target
from wireproof.workflow.target.target import Target
from wireproof.workflow.tune.trial.reaching import unread

__all__ = ["COUNTS", "Launcher"]

EACH_S = 0.15
"""What one point measures: launches differ more than what is in one."""
PROBE_S = 0.02
PROBE_HANGS_MS = 8000
"""A value with which not one short point ends so soon does not work."""
COUNTS = "counts"
"""The folder of a launch that a library's counters go to."""
_NARROW = 1e-4
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
        policy = Method(budget_s=budget_s).policy()
        # All runs are equally long: none ends at a precision that its value reaches earlier.
        policy = msgspec.structs.replace(
            self.target.pinned(policy), latency_half_width=_NARROW, bandwidth_half_width=_NARROW
        )
        return dataclasses.replace(
            self._session,
            points=points,
            policy=policy,
            extra=tuple({**self.base, **variables}.items()),
            out=folder,
        )

    def _launched(self, session: Session) -> JudgedRun:
        section, outcomes = run_session(session, self.target, self._quiet)
        if outcomes[-1].ending.ended == "interrupted":
            raise KeyboardInterrupt
        if not section.run.points:
            raise CouldNotMeasure(outcomes[-1].ending.reason)
        return section


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
