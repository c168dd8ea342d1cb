"""One way over the rails, each alone or all: launches of the same points, one in each round."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from wireproof.analysis.measured import block_times
from wireproof.instrument.measure import Outcome
from wireproof.launch.mpi.rails import told_in
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.finding import PairVerdict, Proof
from wireproof.model.plan import Point
from wireproof.model.record import PairResult, PointRecord
from wireproof.model.run import Run
from wireproof.plan.sweep import numbered
from wireproof.report.section import Section
from wireproof.workflow.measure import Prepared
from wireproof.workflow.reporter import Quiet, Reporter
from wireproof.workflow.result import Part
from wireproof.workflow.session.merge import merged_run
from wireproof.workflow.session.run import command_of, judged, run_session
from wireproof.workflow.session.session import Session
from wireproof.workflow.specification import Method, Storage

__all__ = ["Key", "Way"]

Key = tuple[str, int, int, int]
"""Pattern, size, origin and target."""


class Way:
    """``rail``: the one that is used alone, "" for all of them."""

    def __init__(
        self, rail: str, title: str, prepared: Prepared, method: Method, storage: Storage
    ) -> None:
        self.rail, self.title, self.prepared = rail, title, prepared
        self._method, self._storage = method, storage
        self._sections: list[Section] = []
        self._outcomes: list[Outcome] = []

    def check(self, seed: int) -> None:
        """Raise ``BadInput`` where no launcher can start it, before anything is written."""
        command_of(self._session(0, seed, None), self.prepared.target)

    def run(self, number: int, seed: int, folder: Path, reporter: Reporter) -> None:
        """One launch. Raises ``CouldNotMeasure`` when a point has no number."""
        session = self._session(number, seed, folder)
        try:
            section, outcomes = run_session(session, self.prepared.target, Quiet(reporter))
        except (BadInput, CouldNotMeasure) as error:
            raise type(error)(f"{self.title}: {error}") from error
        if outcomes[-1].ending.ended == "interrupted":
            raise KeyboardInterrupt
        self._sections.append(section)
        self._outcomes += outcomes
        if len(section.run.points) < len(session.points):
            why = next(iter(section.run.missing.values()), None)
            raise CouldNotMeasure(f"{self.title}: {why.text if why else 'points are missing'}.")

    def _session(self, number: int, seed: int, folder: Path | None) -> Session:
        """Round ``number``: the same points in another order, numbered apart."""
        session = self._method.session(
            f"{self.title}, round {number + 1}",
            [],
            policy=self.prepared.policy,
            seed=seed + number,
            out=folder,
            storage=self._storage,
        )
        points = _numbered(self.prepared.points, number, seed + number)
        return dataclasses.replace(session, points=points, extra=self.prepared.variables)

    def part(self) -> Part:
        """All rounds as one judged run."""
        first = self._sections[0]
        session = Session(
            title=self.title,
            points=(),
            seed=0,
            table=self._method.table,
            criteria=first.criteria,
        )
        records = [folder for one in self._sections for folder in one.records]
        run = merged_run([one.run for one in self._sections])
        return Part(judged(run, session, records), self._outcomes)

    def times(self) -> Mapping[Key, list[list[float]]]:
        """Times of one operation (ns), by launch."""
        found: dict[Key, list[list[float]]] = {}
        for section in self._sections:
            for point in section.run.points:
                for pair in point.pairs:
                    times = [float(one) for one in block_times(point, pair)]
                    found.setdefault(key_of(point, pair), []).append(times)
        return found

    def told(self) -> dict[str, str]:
        """What the MPI was told of its NICs, in the first launch."""
        run: Run = self._sections[0].run
        return told_in(run.provenance.argv, run.provenance.environment)


def key_of(point: PointRecord, pair: PairResult) -> Key:
    return point.pattern, point.message_bytes, pair.origin, pair.target


def verdicts_of(section: Section, key: Key) -> list[PairVerdict]:
    """Those of one pattern, size and direction, over all rounds."""
    return [
        one
        for one in section.judgement.pairs
        if (one.pattern, one.message_bytes, one.origin, one.target) == key
    ]


_WORST: tuple[Proof, ...] = ("off-wire", "wrong-path", "mixed", "unproven", "on-wire")


def proof_of(verdicts: Sequence[PairVerdict]) -> Proof:
    """The worst over all rounds."""
    seen = {one.proof for one in verdicts}
    return next((one for one in _WORST if one in seen), "unproven")


def _numbered(points: Sequence[Point], number: int, seed: int) -> tuple[Point, ...]:
    first = number * len(points)
    return tuple(
        msgspec.structs.replace(one, id=first + one.id, repeat=number)
        for one in numbered(points, seed=seed)
    )
