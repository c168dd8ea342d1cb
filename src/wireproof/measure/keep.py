"""Store results in a history, each folder either completely or not at all."""

import contextlib
import errno
import hashlib
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from wireproof.files.held import held_folder, within
from wireproof.locate.node import joined_nodes, node_verdicts
from wireproof.measure.comparison import number_of, samples_of
from wireproof.measure.conditions import conditions, listed, setting_values
from wireproof.model import gathered
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.finding import worst
from wireproof.model.history import Entry, Number
from wireproof.report.judged_run import JudgedRun
from wireproof.report.names import fold
from wireproof.store.history import RESULTS, add_entry
from wireproof.version import version


@contextlib.contextmanager
def whole_folder(place: Path) -> Iterator[Path]:
    """Yield a temporary name under which the folder is built.

    The folder is renamed to ``place`` at the end, and removed after an error or an interrupt;
    leftovers of a killed process are removed a day later. If another process creates ``place``
    first, the folder of that process is kept. Raises ``CouldNotMeasure``.
    """
    fresh = place.with_name(f".{place.name}.{secrets.token_hex(3)}")
    try:
        with (
            held_folder(place.parents[1], make=0o755),
            held_folder(place.parent, make=0o755) as folder,
        ):
            _sweep(place.parent, folder)
            try:
                yield fresh
                with contextlib.suppress(FileExistsError):
                    _renamed(fresh, place, folder)
            finally:
                shutil.rmtree(within(folder, fresh), ignore_errors=True, dir_fd=folder)
    except OSError as error:
        raise not_copied(place, error) from error


_DRAFT = re.compile(r"\..+\.[0-9a-f]{6}")
"""The id of a result begins with a letter or a digit."""
_ABANDONED_S = 86400.0


def _sweep(results: Path, folder: int | None) -> None:
    """Remove this user's drafts to which no process writes any more."""
    for name in filter(_DRAFT.fullmatch, os.listdir(results) if folder is not None else ()):
        with contextlib.suppress(OSError):
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if found.st_uid == os.geteuid() and time.time() - found.st_mtime > _ABANDONED_S:
                shutil.rmtree(name, ignore_errors=True, dir_fd=folder)


def _renamed(fresh: Path, place: Path, folder: int | None) -> None:
    try:
        draft, name = within(folder, fresh), within(folder, place)
        os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ENOTEMPTY:
            raise FileExistsError(place) from error
        raise


def not_copied(place: Path, error: OSError) -> CouldNotMeasure:
    """Return the error for a result that could not be written to disk."""
    why = error.strerror or str(error)[:200]
    return CouldNotMeasure(f"the result cannot be copied to {place.parent}: {why}.")


def new_folder(root: Path) -> Path:
    """Return the folder for the next result of a history without creating it."""
    stamp = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
    return root / RESULTS / stamp


def storage_folder(out: Path | None, history: Path) -> Path:
    """Return the folder for a result of the history: ``out`` if it is inside the history, or a new
    folder. Raises ``BadInput`` for any other ``out``.
    """
    if out is not None and out.parent != history / RESULTS:
        raise BadInput(
            "give either --out or --history: a history stores results in its own folder."
        )
    return out or new_folder(history)


def record(root: Path, folder: Path, sections: Sequence[JudgedRun]) -> Entry:
    """Add a result that is in the history's folder to its index.

    Raises ``CouldNotMeasure`` if the index cannot be written.
    """
    entry = _entry(folder.name, sections)
    add_entry(root, entry)
    return entry


def measured(sections: Sequence[JudgedRun]) -> str:
    """Return the start of the last measurement, UTC."""
    return max(section.run.provenance.started for section in sections)


def _entry(name: str, sections: Sequence[JudgedRun]) -> Entry:
    known = conditions(sections)
    hosts = sorted({rank.host for section in sections for rank in section.run.claim.hosts})
    nodes = joined_nodes(
        [
            node_verdicts(section.run, section.judgement, section.located)
            for section in sections
            if section.run.claim.wire and not section.run.played
        ]
    )
    same = [
        *hosts,
        known.get("link", ""),
        known.get("transport", ""),
        known.get("MPI", "").partition(" ")[0],
        known.get("NIC", ""),
    ]
    settings = sections[0].settings
    knobs = setting_values(settings) if settings else {}
    return Entry(
        id=name,
        measured=measured(sections),
        fingerprint=hashlib.sha256("\n".join(same).encode()).hexdigest()[:16],
        hosts=fold(hosts),
        link=known.get("link", ""),
        transport=known.get("transport", ""),
        mpi=known.get("MPI", ""),
        verdict=worst(section.judgement.verdict for section in sections),
        wireproof=version(),
        conditions=known | {f"setting {id_}": listed(values) for id_, values in knobs.items()},
        nodes={row.node: row.verdict for row in nodes},
        numbers=_numbers(sections),
        reasons=gathered((row.reason, row.node) for row in nodes if row.verdict != "pass"),
        fabric=any(section.fabric is not None for section in sections),
    )


def _numbers(sections: Sequence[JudgedRun]) -> list[Number]:
    """Return the numbers of results whose path is proven, except those of a model."""
    return [
        number
        for section in sections
        if not section.run.played
        for key, samples in samples_of(section.judgement, section.run).items()
        if (number := number_of(key, samples)) is not None
    ]
