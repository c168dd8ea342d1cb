"""Puts a result that was kept elsewhere into a history."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import re
import secrets
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from wireproof.files.hostile import read_bounded
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.history import Entry
from wireproof.report.section import Section
from wireproof.store.history import RESULTS
from wireproof.store.load import DOCUMENT
from wireproof.store.result import RESULT
from wireproof.workflow.history.keep import measured, record
from wireproof.workflow.report import ReportSpecification, report
from wireproof.workflow.reporter import Reporter

__all__ = ["add"]

_LARGEST = 256 << 20


def add(root: Path, folder: Path, reporter: Reporter) -> Entry:
    """Copy a result into the history, judged by today's rules; its records are copied whole. One
    of the history itself stays where it is, and its entry is written anew. Raises ``BadInput`` for
    a folder without a result, ``CouldNotMeasure`` when the history cannot be written.
    """
    (again,) = report(ReportSpecification(folders=(folder,), pages=False), reporter)
    sections = [part.section for part in again.result.parts]
    own = folder.resolve()
    if own.parent == (root / RESULTS).resolve():
        return record(root, own, sections)
    started = measured(sections)
    stamp = re.sub(r"[^0-9TZ]", "", started.replace("+00:00", "Z"))
    place = root / RESULTS / f"{stamp or 'undated'}-{_digest(folder, sections)}"
    if not place.exists():
        _copy(folder, place)
    return record(root, place, sections)


def _digest(folder: Path, sections: Sequence[Section]) -> str:
    """Of what says what the result is; results from before ``result.json`` have that of their first
    launch.
    """
    path = folder / RESULT
    try:
        if not path.exists():
            path = sections[0].records[0] / DOCUMENT
        return hashlib.sha256(read_bounded(path, _LARGEST, follow=False)).hexdigest()[:6]
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error


def _copy(folder: Path, place: Path) -> None:
    """Whole or not at all, also when it is interrupted. Who copies the same at once comes first."""
    fresh = place.with_name(f".{place.name}.{secrets.token_hex(3)}")
    try:
        fresh.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(folder, fresh, symlinks=True, copy_function=partial(_copied, place))
        with contextlib.suppress(FileExistsError):
            _renamed(fresh, place)
    except OSError as error:
        raise _not_copied(place, error) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _copied(place: Path, source: str, target: str) -> str:
    """A file; the first that cannot be copied ends it all, where ``copytree`` would go on."""
    try:
        return str(shutil.copy2(source, target, follow_symlinks=False))
    except OSError as error:
        raise _not_copied(place, error) from error


def _renamed(fresh: Path, place: Path) -> None:
    try:
        fresh.rename(place)
    except OSError as error:
        if error.errno == errno.ENOTEMPTY:
            raise FileExistsError(place) from error
        raise


def _not_copied(place: Path, error: OSError) -> CouldNotMeasure:
    why = error.strerror or str(error)[:200]
    return CouldNotMeasure(f"the result cannot be copied to {place.parent}: {why}.")
