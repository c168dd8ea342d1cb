"""A dossier of a synthetic check, made by the product's own functions: nothing is measured."""

import dataclasses
from pathlib import Path

import msgspec
import pytest
from tests.records import made_plan
from tests.synthetic import World, lab, run_of

from wireproof.archive.dossier import seal
from wireproof.archive.verify import verify
from wireproof.measure.result import MeasuredPart, Result, keep_result
from wireproof.measure.session import Session, Storage
from wireproof.measure.session.run import judged
from wireproof.model.dossier import Agreed, Verification
from wireproof.model.errors import BadInput
from wireproof.model.plan import Point
from wireproof.model.run import Run, RunDocument
from wireproof.report.reporter import LoggingReporter
from wireproof.store.load import DOCUMENT, FRAMES, load_run
from wireproof.store.manifest import write_manifest

GOOD = lab(sizes=(8, 65536, 1 << 20))


def write_run(folder: Path, run: Run) -> Path:
    """The run as the recorder leaves it."""
    folder.mkdir(parents=True)
    assert run.open is not None
    assert run.close is not None
    frames = [run.open, *run.hosts, *run.idle, *run.points, *run.facts, run.close]
    lines = b"".join(msgspec.json.encode(frame) + b"\n" for frame in frames)
    (folder / FRAMES).write_bytes(lines)
    planned = tuple(
        Point(
            id=one.id,
            pattern=one.pattern,
            form=one.form,
            message_bytes=one.message_bytes,
            pairs=tuple((pair.origin, pair.target) for pair in one.pairs),
        )
        for one in run.points
    )
    plan = made_plan(planned, *(one.host for one in run.claim.hosts))
    document = RunDocument(claim=run.claim, provenance=run.provenance, plan=plan, ended="done")
    (folder / DOCUMENT).write_bytes(msgspec.json.encode(document))
    return folder


def dossier_of(folder: Path, world: World = GOOD, agreed: Agreed | None = None) -> Path:
    """The folder of an acceptance check of ``world``."""
    write_run(folder / "run-1", run_of(world))
    result = resumed(folder, agreed)
    assert not result.left_open, result.left_open
    return folder


def resumed(folder: Path, agreed: Agreed | None = None) -> Result:
    """The same where everything was measured before: no launch is left."""
    place = folder / "run-1"
    session = Session(title="check of 2 hosts", points=(), seed=1)
    if agreed is not None:
        session = dataclasses.replace(session, criteria=agreed.criteria)
    reporter = LoggingReporter()
    result = keep_result(
        [MeasuredPart(judged(load_run(place), session, [place]), [])],
        title="wireproof check",
        folder=folder,
        storage=Storage(folder=folder, command=("wireproof", "check")),
        reporter=reporter,
    )
    return seal(result, "acceptance", agreed, reporter)


def verified(folder: Path, signers: Path | None = None) -> Verification:
    return verify(folder, signers)


def refused(folder: Path, signers: Path | None = None) -> str:
    """Why it is no intact dossier."""
    with pytest.raises(BadInput) as caught:
        verified(folder, signers)
    return str(caught.value)


def resealed(folder: Path) -> Path:
    """As whoever edits a file and then writes the manifest anew."""
    write_manifest(folder)
    return folder
