"""The layers that our own engine measures: one launch of it for each round."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

import msgspec

from wireproof.analysis.ladder import Round
from wireproof.analysis.measured import measure
from wireproof.instrument.measure import Outcome
from wireproof.launch.programs.program import shell_line
from wireproof.model import quantity
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.finding import Judgement, Proof
from wireproof.model.ladder import LAYERS, LayerName, PlannedLayer
from wireproof.model.plan import Point
from wireproof.model.record import Host, PointRecord
from wireproof.model.run import Run
from wireproof.plan.sweep import numbered
from wireproof.report.section import Section, results
from wireproof.verdict.run.quality import waited_share
from wireproof.workflow.ladder.specification import LadderSpecification
from wireproof.workflow.measure import Prepared, prepare
from wireproof.workflow.reporter import Quiet, Reporter
from wireproof.workflow.result import Part
from wireproof.workflow.session.merge import merged_run
from wireproof.workflow.session.run import command_of, judged, run_session
from wireproof.workflow.session.session import Session
from wireproof.workflow.specification import MeasureSpecification, Method
from wireproof.workflow.target.target import Target

__all__ = ["LaunchedLayer", "sizes_for"]

BUDGET_S = 0.05
"""Time of one point, unless another is asked for: rounds differ more than what is in one."""
_SIZES = (8, 64, 512, 4096, 16384, 65536, 262144, 1 << 20, 4 << 20)
_LONGEST_NS = 1e7
_UNKNOWN_RATE = 1e9
_PATTERN, _STREAM = "pingpong", "stream"
_LEAST_SIZES = 3
_NS_PER_S = 1e9
_TITLES: Mapping[LayerName, str] = {
    "tcp": "kernel TCP",
    "ofi": "libfabric",
    "mpi": "MPI point to point",
}


def sizes_for(rate_bits_per_s: float | None) -> tuple[int, ...]:
    """Small ones for the start, large ones for the rate; a message takes 10 ms at most."""
    byte_ns = 8e9 / (rate_bits_per_s or _UNKNOWN_RATE)
    return tuple(size for size in _SIZES if size <= 65536 or size * byte_ns <= _LONGEST_NS)


class LaunchedLayer:
    """One layer: kernel sockets, libfabric, or an MPI's point-to-point or collective calls."""

    def __init__(
        self,
        name: LayerName,
        wanted: LadderSpecification,
        folder: Path,
        environment: Mapping[str, str],
    ) -> None:
        self.name: LayerName = name
        self._wanted, self._folder = wanted, folder
        pattern = {"collective": wanted.collective, "application": wanted.pattern}.get(name)
        self.title = _TITLES.get(name) or f"MPI {pattern}"
        self._method = _method(name, wanted)
        self._prepared = self._prepare(pattern or _PATTERN, environment)
        self._sections: list[Section] = []
        self._outcomes: list[Outcome] = []
        self._part: Part | None = None

    @property
    def target(self) -> Target:
        return self._prepared.target

    def _prepare(self, pattern: str, environment: Mapping[str, str]) -> Prepared:
        """The sizes of the pattern; of messages between two also a window full of the largest."""
        found = prepare(self._measured(pattern, self._wanted.sizes or _SIZES), environment)
        sizes = self._wanted.sizes or sizes_for(found.target.claimed_rate)
        points = tuple(one for one in found.points if one.message_bytes in sizes)
        if len(points) < _LEAST_SIZES:
            raise BadInput(f"--sizes: a line needs {_LEAST_SIZES} sizes above 0 B of {pattern}.")
        if pattern == _PATTERN:
            stream = prepare(self._measured(_STREAM, (max(sizes),)), environment)
            points += stream.points
        return dataclasses.replace(found, points=points)

    def _measured(self, pattern: str, sizes: tuple[int, ...]) -> MeasureSpecification:
        return MeasureSpecification(
            pattern=pattern, target=self._wanted.target, method=self._method, sizes=sizes
        )

    def session(self, number: int, seed: int) -> Session:
        """The launch of round ``number``: the same points in another order, numbered apart."""
        points = _numbered(self._prepared.points, number, seed + number)
        title = f"{self.title}, round {number + 1}"
        session = self._method.session(
            title,
            [],
            policy=self._prepared.policy,
            seed=seed + number,
            out=self._folder / f"{self.name}-{number + 1}",
            storage=self._wanted.storage,
        )
        return dataclasses.replace(session, points=points, extra=self._prepared.variables)

    def run(self, number: int, seed: int, reporter: Reporter) -> Round:
        """Times by size of one round. Raises ``CouldNotMeasure`` when a size has none."""
        session = self.session(number, seed)
        try:
            section, outcomes = run_session(session, self.target, Quiet(reporter))
        except (BadInput, CouldNotMeasure) as error:
            raise type(error)(f"{self.title}: {error}") from error
        if outcomes[-1].ending.ended == "interrupted":
            raise KeyboardInterrupt
        times = [(one, time) for one in section.run.points if (time := _time_ns(one)) is not None]
        if len(times) < len(session.points):
            raise CouldNotMeasure(f"{self.title}: {_why(section.run)}")
        self._sections.append(section)
        self._outcomes += outcomes
        windowed = [_NS_PER_S * one.message_bytes / time for one, time in times if _streams(one)]
        return Round(
            {one.message_bytes: time for one, time in times if not _streams(one)},
            max(windowed, default=None),
        )

    def planned(self, seed: int) -> PlannedLayer:
        """The command of its first launch."""
        command = command_of(self.session(0, seed), self.target)
        line = shell_line(command.argv, command.environment)
        return PlannedLayer(name=self.name, title=self.title, commands=[line])

    def part(self) -> Part:
        """All rounds as one judged run, in which those of few bytes help each other's proof."""
        if self._part is not None:
            return self._part
        first = self._sections[0]
        run = merged_run([one.run for one in self._sections])
        records = [folder for one in self._sections for folder in one.records]
        session = Session(
            title=self.titled(),
            points=(),
            seed=0,
            table=self._method.table,
            criteria=first.criteria,
        )
        self._part = Part(judged(run, session, records), self._outcomes)
        return self._part

    def titled(self) -> str:
        """With the provider that answered."""
        fabric = self.hosts[0].fabric if self.hosts else None
        return f"{self.title} {fabric.provider}" if fabric is not None else self.title

    def how(self) -> str:
        """What was measured, over which library."""
        hosts = self.hosts
        library = hosts[0].library.split("\n")[0][:80] if hosts and hosts[0].library else ""
        pattern = self._prepared.points[0].pattern
        what = "half round trips" if pattern == _PATTERN else f"{pattern} of two ranks"
        return f"{what} over {library or self._method.transport}"

    def waited(self) -> float | None:
        """Share of the time that a process waited for a processor; None where it is not counted."""
        points = [point for one in self._sections for point in one.run.points]
        shares = [waited_share(pair) for point in points for pair in point.pairs]
        return median(shares) if shares else None

    def proof(self) -> Proof:
        return path_of(self.part().section.judgement)

    @property
    def hosts(self) -> list[Host]:
        """Where the ranks ran, and with which NICs; none before the first round."""
        return self._sections[0].run.hosts if self._sections else []


def path_of(judgement: Judgement) -> Proof:
    """``on-wire`` when every point that shows a path shows that one, and the largest size does."""
    every = results(judgement)
    seen = {one.proof for one in every}
    for bad in ("off-wire", "wrong-path", "mixed"):
        if bad in seen:
            return bad
    largest = max((one.message_bytes for one in every), default=0)
    proven = [one.proof == "on-wire" for one in every if one.message_bytes == largest]
    return "on-wire" if proven and all(proven) else "unproven"


def _method(name: LayerName, wanted: LadderSpecification) -> Method:
    method = wanted.ofi if name == "ofi" else wanted.mpi
    if wanted.mpi.transport == "model":
        world = wanted.mpi.model
        for step in wanted.model_steps:
            if LAYERS.index(name) >= LAYERS.index(step.layer):
                world = step.put_on(world)
        method = dataclasses.replace(wanted.mpi, model=world)
    elif name == "tcp":
        method = dataclasses.replace(wanted.mpi, transport="tcp", mpi="", fabric="")
    return dataclasses.replace(method, budget_s=method.budget_s or BUDGET_S, repeat=1)


def _numbered(points: Sequence[Point], number: int, seed: int) -> tuple[Point, ...]:
    first = number * len(points)
    return tuple(
        msgspec.structs.replace(one, id=first + one.id, repeat=number)
        for one in numbered(points, seed=seed)
    )


def _streams(point: PointRecord) -> bool:
    return point.pattern == _STREAM


def _time_ns(point: PointRecord) -> float | None:
    """Of one message one way (half round trip), or of one collective."""
    if point.group is not None:
        found = point.group.estimate
        return found.median_ns if found is not None and found.median_ns > 0 else None
    measured = measure(point, point.pairs[0]) if point.pairs else None
    return measured.time.median_ns if measured is not None else None


def _why(run: Run) -> str:
    """Why a point has no number."""
    for point, why in run.missing.items():
        return f"point {point} is missing: {why}"
    timed = [one.message_bytes for one in run.points if _time_ns(one) is None]
    return f"nothing was timed at {quantity.size(timed[0])}." if timed else "points are missing."
