"""Adds existing results, and logs of other programs, to a history."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from wireproof.files.copies import copy_folder
from wireproof.files.hostile import read_bounded
from wireproof.model.errors import BadInput
from wireproof.model.history import Entry
from wireproof.report.judged_run import JudgedRun
from wireproof.store.history import RESULTS
from wireproof.store.load import DOCUMENT
from wireproof.store.manifest import is_sealed
from wireproof.store.result import RESULT
from wireproof.workflow.dossier.intact import held, refuse_altered
from wireproof.workflow.history.keep import measured, record, whole_folder
from wireproof.workflow.history.logs import LogClaims, add_log, read_log
from wireproof.workflow.report import Rejudged, judged_anew
from wireproof.workflow.reporter import Reporter

_LARGEST = 256 << 20


def add_all(
    root: Path, sources: Sequence[Path], claims: LogClaims, reporter: Reporter
) -> Iterator[Entry]:
    """Yield the entry of each source, a result's folder or a log; ``claims`` apply to the logs.

    Every log is read before anything is written. Raises ``BadInput`` for a log without results and
    for claims without a log, and as ``add`` does.
    """
    logs = {path: read_log(path, claims) for path in sources if not path.is_dir()}
    if claims != LogClaims() and not logs:
        raise BadInput(
            "--link, --path, --mtu, --pcie, --hosts and --measured describe logs: a result of"
            " wireproof holds these facts already."
        )
    for path in sources:
        yield add_log(root, logs[path]) if path in logs else add(root, path, reporter)


def add(root: Path, folder: Path, reporter: Reporter) -> Entry:
    """Copy a result into the history, judged by the current rules, with all its records.

    A result that is already in the history stays in place, and its entry is rewritten. Raises
    ``BadInput`` for a folder without a result, and ``CouldNotMeasure`` if the history cannot be
    written.
    """
    inside = folder.resolve()
    if inside.parent == (root / RESULTS).resolve():
        return record(root, inside, _sections(judged_anew(inside)))
    with held(folder) as copy:
        if is_sealed(copy):
            refuse_altered(copy)
        again = judged_anew(copy)
        if again.before is None:
            reporter.warn(f"{folder} has no {RESULT}: what is there is judged.")
        sections = _sections(again)
        stamp = re.sub(r"[^0-9TZ]", "", measured(sections).replace("+00:00", "Z"))
        place = root / RESULTS / f"{stamp or 'undated'}-{_digest(copy, sections)}"
        if not place.exists():
            with whole_folder(place) as fresh:
                copy_folder(copy, fresh)
    return record(root, place, sections)


def _sections(again: Rejudged) -> list[JudgedRun]:
    return [part.section for part in again.result.parts]


def _digest(folder: Path, sections: Sequence[JudgedRun]) -> str:
    """Return a short digest of the result's document, or of the first launch's document for results
    from before ``result.json``.
    """
    path = folder / RESULT
    try:
        if not path.exists():
            path = sections[0].records[0] / DOCUMENT
        return hashlib.sha256(read_bounded(path, _LARGEST, follow=False)).hexdigest()[:6]
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
