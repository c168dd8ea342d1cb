"""The layers that our own engine measures: one launch of it for each round."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from wireproof.analysis.ladder import Times
from wireproof.analysis.measured import measure
from wireproof.instrument.measure import Outcome
from wireproof.model import quantity
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.finding import Judgement, Proof
from wireproof.model.ladder import LAYERS, LayerName
from wireproof.model.plan import Point
from wireproof.model.record import PointRecord
from wireproof.model.run import Run
from wireproof.plan.sweep import numbered
from wireproof.report.section import Section, results
from wireproof.workflow.ladder.specification import LadderSpecification
from wireproof.workflow.measure import Prepared, prepare
from wireproof.workflow.reporter import Quiet, Reporter
from wireproof.workflow.result import Part
from wireproof.workflow.session.merge import merged_run
from wireproof.workflow.session.run import judged, run_session
from wireproof.workflow.session.session import Session
from wireproof.workflow.specification import MeasureSpecification, Method
from wireproof.workflow.target.target import Target

__all__ = ["LaunchedLayer", "sizes_for"]

BUDGET_S = 0.05
"""Time of one point, unless another is asked for: rounds differ more than what is in one."""
_SIZES = (8, 64, 512, 4096, 16384, 65536, 262144, 1 << 20, 4 << 20)
_LONGEST_NS = 1e7
_UNKNOWN_RATE = 1e9
_PATTERN = "pingpong"
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
        collective = name == "collective"
        self.title = f"MPI {wanted.collective}" if collective else _TITLES[name]
        self._method = _method(name, wanted)
        self._prepared = self._prepare(wanted.collective if collective else _PATTERN, environment)
        self._sections: list[Section] = []
        self._outcomes: list[Outcome] = []

    @property
    def target(self) -> Target:
        return self._prepared.target

    @property
    def method(self) -> Method:
        return self._method

    def _prepare(self, pattern: str, environment: Mapping[str, str]) -> Prepared:
        measured = MeasureSpecification(
            pattern=pattern,
            target=self._wanted.target,
            method=self._method,
            sizes=self._wanted.sizes or _SIZES,
        )
        found = prepare(measured, environment)
        if not self._wanted.sizes:
            sizes = sizes_for(found.target.claimed_rate)
            points = tuple(one for one in found.points if one.message_bytes in sizes)
            found = dataclasses.replace(found, points=points)
        return found

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

    def run(self, number: int, seed: int, reporter: Reporter) -> Times:
        """Times by size of one round. Raises ``CouldNotMeasure`` when a size has none."""
        session = self.session(number, seed)
        try:
            section, outcomes = run_session(session, self.target, Quiet(reporter))
        except (BadInput, CouldNotMeasure) as error:
            raise type(error)(f"{self.title}: {error}") from error
        if outcomes[-1].ending.ended == "interrupted":
            raise KeyboardInterrupt
        self._sections.append(section)
        self._outcomes += outcomes
        times = {one.message_bytes: _time_ns(one) for one in section.run.points}
        found = {size: one for size, one in times.items() if one is not None}
        if len(found) < len(session.points):
            raise CouldNotMeasure(f"{self.title}: {_why(section.run)}")
        return found

    def part(self) -> Part:
        """All rounds as one judged run."""
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
        return Part(judged(run, session, records), self._outcomes)

    def titled(self) -> str:
        """With the provider that answered."""
        fabric = self._host_fabric()
        return f"{self.title} {fabric}" if self.name == "ofi" and fabric else self.title

    def _host_fabric(self) -> str:
        hosts = self._sections[0].run.hosts if self._sections else []
        return hosts[0].fabric.provider if hosts and hosts[0].fabric is not None else ""

    def how(self) -> str:
        """What was measured, over which library."""
        hosts = self._sections[0].run.hosts if self._sections else []
        library = hosts[0].library.split("\n")[0][:80] if hosts and hosts[0].library else ""
        pattern = self._prepared.points[0].pattern
        what = "half round trips" if pattern == _PATTERN else f"{pattern} of two ranks"
        return f"{what} over {library or self._method.transport}"

    def proof(self, judgement: Judgement) -> Proof:
        """The worst proof of its points. Those with too few bytes to be seen are passed over where
        larger ones of the layer are seen.
        """
        return path_of(judgement)


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
