"""Launch the same points once in each round of an experiment, and judge them as one run."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import msgspec

from wireproof.files.hostile import replace_file
from wireproof.instrument import Outcome
from wireproof.ledger.measured import measure
from wireproof.measure.job import Prepared
from wireproof.measure.points import numbered
from wireproof.measure.result import MeasuredPart, keep_result
from wireproof.measure.session import Method, Session, Storage
from wireproof.measure.session.merge import merged_run
from wireproof.measure.session.run import judged, run_session
from wireproof.model import quantity
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.experiment import ExperimentResult
from wireproof.model.plan import Policy
from wireproof.model.record import PointRecord
from wireproof.report.json import json_text
from wireproof.report.judged_run import JudgedRun
from wireproof.report.reporter import Quiet, Reporter
from wireproof.target import Target

_NARROW = 1e-4


def equally_long(policy: Policy) -> Policy:
    """Make all launches equally long, so that none ends early because its arm reaches the precision
    sooner.
    """
    return msgspec.structs.replace(policy, latency_half_width=_NARROW, bandwidth_half_width=_NARROW)


def launched_once(
    session: Session, target: Target, reporter: Reporter
) -> tuple[JudgedRun, list[Outcome]]:
    """Run one trial of an experiment; if it is resumed, only points without a record are measured.

    Raises ``CouldNotMeasure`` if it measured no point, and ``KeyboardInterrupt`` if the user
    stopped it.
    """
    section, outcomes = run_session(session, target, reporter)
    if outcomes and outcomes[-1].ending.ended == "interrupted":
        raise KeyboardInterrupt
    if not section.run.points:
        raise CouldNotMeasure(outcomes[-1].ending.reason)
    return section, outcomes


def sealed(
    parts: Sequence[MeasuredPart],
    document: ExperimentResult,
    *,
    answer: str,
    title: str,
    place: Path,
    storage: Storage,
    reporter: Reporter,
) -> Path | None:
    """Store the records, each with ``answer`` as its first part, and the document at ``place`` in
    the same folder.

    Return the folder, or None if nothing is kept.
    """
    led = [part._replace(section=dataclasses.replace(part.section, lead=answer)) for part in parts]
    result = keep_result(led, title=title, folder=place.parent, storage=storage, reporter=reporter)
    if storage.kept:
        replace_file(place, json_text(document).encode() + b"\n")
    return result.folder


class Rounds:
    """The launches of one arm. ``sections``: the judged runs of the launches that succeeded."""

    def __init__(self, title: str, prepared: Prepared, method: Method, storage: Storage) -> None:
        self.title, self.prepared = title, prepared
        self.sections: list[JudgedRun] = []
        self._method, self._storage = method, storage
        self._outcomes: list[Outcome] = []

    def session(self, number: int, seed: int, folder: Path | None) -> Session:
        """Return the session of round ``number``: the same points in another order, with separate
        numbers. If the experiment is resumed, a launch that has begun measures its missing points.
        """
        session = self._method.session(
            f"{self.title}, round {number + 1}",
            [],
            policy=self.prepared.policy,
            seed=seed + number,
            out=folder,
            storage=self._storage,
        )
        first = number * len(self.prepared.points)
        points = tuple(
            msgspec.structs.replace(point, id=first + point.id, repeat=number)
            for point in numbered(self.prepared.points, seed=seed + number)
        )
        begun = folder is not None and (folder / "run.json").is_file()
        return dataclasses.replace(
            session,
            points=points,
            extra=self.prepared.variables,
            resume=self._storage.resume and begun,
        )

    def run(self, number: int, seed: int, folder: Path, reporter: Reporter) -> JudgedRun:
        """Run one launch. Raises ``CouldNotMeasure`` if a point has no time."""
        session = self.session(number, seed, folder)
        try:
            section, outcomes = launched_once(session, self.prepared.target, Quiet(reporter))
        except (BadInput, CouldNotMeasure) as error:
            raise type(error)(f"{self.title}: {error}") from error
        if len(section.run.points) < len(session.points):
            why = next(iter(section.run.missing.values()), None)
            raise CouldNotMeasure(f"{self.title}: {why.text if why else 'points are missing'}.")
        for point in section.run.points:
            if time_of(point) is None:
                size = quantity.size(point.message_bytes)
                raise CouldNotMeasure(f"{self.title}: nothing was timed at {size}.")
        self.sections.append(section)
        self._outcomes += outcomes
        return section

    def part(self, title: str) -> MeasuredPart:
        """Return all rounds as one judged run, in which rounds with few bytes support each other's
        proof.
        """
        session = Session(
            title=title,
            points=(),
            seed=0,
            table=self._method.table,
            criteria=self.sections[0].criteria,
        )
        records = [folder for section in self.sections for folder in section.records]
        run = merged_run([section.run for section in self.sections])
        return MeasuredPart(judged(run, session, records), self._outcomes)


def time_of(point: PointRecord) -> float | None:
    """Return the time of one message in one direction (half round trip), or of one collective, in
    ns; None if not timed.
    """
    if point.group is not None:
        estimate = point.group.estimate
        return estimate.median_ns if estimate is not None and estimate.median_ns > 0 else None
    measured = measure(point, point.pairs[0]) if point.pairs else None
    return measured.time.median_ns if measured is not None else None
