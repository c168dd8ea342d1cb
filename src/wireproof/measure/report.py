"""Judge and render a stored result again, on any machine and by the current rules."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from wireproof.audit.job import AuditSpecification, audit
from wireproof.audit.job_facts import with_disclosures
from wireproof.files.held import real_path
from wireproof.measure.conditions import with_settings
from wireproof.measure.export import Form, default_target, exported
from wireproof.measure.result import MeasuredPart, Result, conclusions, judged_again, stored_in
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.finding import Verdict, worst
from wireproof.model.located import Fabric
from wireproof.model.run import Conclusion, StoredResult
from wireproof.report.judged_run import JudgedRun
from wireproof.report.reporter import LoggingReporter, Reporter
from wireproof.store.manifest import is_sealed
from wireproof.store.result import RESULT
from wireproof.store.signature import unaltered
from wireproof.store.snapshot import SETTINGS
from wireproof.target.resolve import read_fabric


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rejudged(Result):
    """A stored result judged by the current rules.

    ``by``: the version that judged it before, "" if unknown; ``before``: the earlier verdict, None
    if unknown. ``gone`` and ``new``: conclusions that are only in the earlier or only in the new
    judgement.
    """

    folder: Path
    title: str = "wireproof report"
    by: str = ""
    before: Verdict | None = None
    gone: tuple[Conclusion, ...] = ()
    new: tuple[Conclusion, ...] = ()

    @property
    def changed(self) -> bool:
        """Return whether the judgement differs from the earlier judgement."""
        return bool(self.gone or self.new) or self.before not in (None, self.verdict)


def report(
    folders: Sequence[Path],
    reporter: Reporter,
    *,
    page: Path | None = None,
    pages: bool = True,
    form: Form = "html",
    topology: Path | None = None,
) -> list[Rejudged]:
    """Judge the result of each folder again and write the pages. The records are not changed.

    ``form``: output format. ``page``: one file for all results (for figures, one folder), None for
    a file in each folder; ``pages`` False: no files. ``topology``: a description of the fabric that
    replaces the stored description. Raises ``BadInput`` before anything is written if a folder
    contains no result, a damaged or newer result, or an altered dossier; ``CouldNotMeasure`` if
    ``page`` cannot be written. Nothing is written into a dossier.
    """
    for folder in filter(is_sealed, folders):
        if page is not None and real_path(page).is_relative_to(real_path(folder)):
            raise BadInput(
                f"{folder} is a dossier: an additional file would break it. Give another --out."
            )
    fabric = read_fabric(topology) if topology else None
    rejudged = []
    for folder in folders:
        if len(folders) > 1:
            reporter.say(f"judging {folder}")
        rejudged.append(_judged(folder, fabric))
        if rejudged[-1].before is None:
            reporter.warn(
                f"{folder} has no {RESULT}: its check has not ended, or was made by a version"
                " without that file. The existing records are judged."
            )
    if not pages:
        return rejudged
    if page is not None:
        sections = [section for result in rejudged for section in result.sections]
        written = exported(form, sections, rejudged[0].title, page, reporter)
        return [dataclasses.replace(result, page=written) for result in rejudged]
    return [_own_page(result, form, reporter) for result in rejudged]


def _judged(folder: Path, fabric: Fabric | None) -> Rejudged:
    """Judge a copy of a dossier, so that its files cannot be replaced after they were verified."""
    if not is_sealed(folder):
        return judged_anew(folder, fabric)
    with unaltered(folder) as copy:
        return dataclasses.replace(judged_anew(copy, fabric), folder=folder)


def judged_anew(folder: Path, fabric: Fabric | None = None) -> Rejudged:
    """Judge the result of one folder by the current rules; nothing is written."""
    stored = stored_in(folder)
    sections = [judged_again(folder, part, fabric) for part in stored.parts]
    if sections and stored.settings:
        snapshot = AuditSpecification(source=folder / stored.settings)
        sections = with_settings(sections, audit(snapshot, LoggingReporter(), {}))
    if not sections:
        raise BadInput(f"{folder} contains a result without parts: nothing was measured.")
    sections = with_disclosures(sections, folder / (stored.settings or SETTINGS), stored.command)
    parts = tuple(MeasuredPart(section, ()) for section in sections)
    gone, new = _differences(stored, sections) if stored.wireproof else ((), ())
    return Rejudged(
        parts=parts,
        folder=folder,
        title=stored.title,
        by=stored.wireproof,
        before=worst([part.verdict for part in stored.parts]) if stored.wireproof else None,
        gone=gone,
        new=new,
    )


def _differences(
    stored: StoredResult, sections: Sequence[JudgedRun]
) -> tuple[tuple[Conclusion, ...], tuple[Conclusion, ...]]:
    gone: list[Conclusion] = []
    new: list[Conclusion] = []
    for part, section in zip(stored.parts, sections, strict=True):
        now = conclusions(section.judgement)
        gone += sorted({*part.conclusions}.difference(now))
        new += sorted({*now}.difference(part.conclusions))
    return tuple(gone), tuple(new)


def _own_page(rejudged: Rejudged, form: Form, reporter: Reporter) -> Rejudged:
    if is_sealed(rejudged.folder):
        reporter.say(
            f"{rejudged.folder} is a dossier and is not changed: --out FILE writes the report."
        )
        return rejudged
    try:
        target = default_target(form, rejudged.folder)
        page = exported(form, rejudged.sections, rejudged.title, target, reporter)
    except CouldNotMeasure as error:
        reporter.warn(f"{error} Give --out FILE to write it elsewhere.")
        return rejudged
    return dataclasses.replace(rejudged, page=page)
