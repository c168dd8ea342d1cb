"""A stored result judged and rendered again: on any machine, by today's rules."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.fabric import Fabric
from wireproof.model.finding import Verdict, worst
from wireproof.model.stored import Conclusion, StoredResult
from wireproof.report.judged_run import JudgedRun
from wireproof.store.manifest import is_sealed
from wireproof.store.result import RESULT
from wireproof.store.snapshot import SETTINGS
from wireproof.workflow.audit import AuditSpecification, audit
from wireproof.workflow.disclosure import with_disclosures
from wireproof.workflow.dossier.intact import unaltered
from wireproof.workflow.export import Form, default_target, exported
from wireproof.workflow.joined import with_settings
from wireproof.workflow.reporter import LoggingReporter, Reporter
from wireproof.workflow.result import MeasuredPart, Result
from wireproof.workflow.stored import conclusions, judged_again, stored_in
from wireproof.workflow.target.fabric import read_fabric


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReportSpecification:
    """``folders``: results. ``form``: of what is written. ``page``: one file (of figures: one
    folder) for all of them; None: one in each folder; ``pages`` False: none. ``topology``: a
    description of the fabric that replaces the stored one.
    """

    folders: tuple[Path, ...]
    page: Path | None = None
    pages: bool = True
    form: Form = "html"
    topology: Path | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rejudged:
    """A result of before and what today's rules say of it. ``by``: the version that judged it, ""
    when it does not say; ``before``: its verdict then, None likewise. ``gone`` and ``new``: what
    only one of the two judgements concludes. ``title``: of the result.
    """

    folder: Path
    result: Result
    title: str = "wireproof report"
    by: str = ""
    before: Verdict | None = None
    gone: tuple[Conclusion, ...] = ()
    new: tuple[Conclusion, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether the judgement differs from that of before."""
        return bool(self.gone or self.new) or self.before not in (None, self.result.verdict)


def report(specification: ReportSpecification, reporter: Reporter) -> list[Rejudged]:
    """Judge each folder's result again and write the pages; the records are not touched.

    Raises ``BadInput`` before anything is written when a folder holds no result, or a damaged or
    newer one, or is a dossier that was altered, and ``CouldNotMeasure`` when ``page`` cannot be
    written. Nothing is written into a dossier.
    """
    for folder in filter(is_sealed, specification.folders):
        if specification.page is not None and _is_inside(specification.page, folder):
            raise BadInput(
                f"{folder} is a dossier: a file more would break it. Give another --out."
            )
    fabric = read_fabric(specification.topology) if specification.topology else None
    found = []
    for folder in specification.folders:
        if len(specification.folders) > 1:
            reporter.say(f"judging {folder}")
        found.append(_judged(folder, fabric))
        if found[-1].before is None:
            reporter.warn(
                f"{folder} has no {RESULT}: its check has not ended, or is of before there was one."
                " What is there is judged."
            )
    if not specification.pages:
        return found
    if specification.page is not None:
        sections = [part.section for one in found for part in one.result.parts]
        page = exported(specification.form, sections, found[0].title, specification.page, reporter)
        return [_with_page(one, page) for one in found]
    return [_own_page(one, specification.form, reporter) for one in found]


def _judged(folder: Path, fabric: Fabric | None) -> Rejudged:
    """Of a dossier a copy is judged: what was found to be whole cannot be exchanged meanwhile."""
    if not is_sealed(folder):
        return judged_anew(folder, fabric)
    with unaltered(folder) as copy:
        found = judged_anew(copy, fabric)
    result = dataclasses.replace(found.result, folder=folder)
    return dataclasses.replace(found, folder=folder, result=result)


def _is_inside(page: Path, folder: Path) -> bool:
    return page.resolve().is_relative_to(folder.resolve())


def judged_anew(folder: Path, fabric: Fabric | None = None) -> Rejudged:
    """One folder's result, judged by today's rules; nothing is written."""
    stored = stored_in(folder)
    sections = [judged_again(folder, part, fabric) for part in stored.parts]
    if sections and stored.settings:
        snapshot = AuditSpecification(source=folder / stored.settings)
        sections = with_settings(sections, audit(snapshot, LoggingReporter(), {}))
    if not sections:
        raise BadInput(f"{folder} holds a result without parts: nothing was measured.")
    sections = with_disclosures(sections, folder / (stored.settings or SETTINGS), stored.command)
    result = Result(parts=tuple(MeasuredPart(section, ()) for section in sections), folder=folder)
    if not stored.wireproof:
        return Rejudged(folder=folder, result=result, title=stored.title)
    gone, new = _differences(stored, sections)
    return Rejudged(
        folder=folder,
        result=result,
        title=stored.title,
        by=stored.wireproof,
        before=worst([part.verdict for part in stored.parts]),
        gone=gone,
        new=new,
    )


def _differences(
    stored: StoredResult, sections: Sequence[JudgedRun]
) -> tuple[tuple[Conclusion, ...], tuple[Conclusion, ...]]:
    """Conclusions of before alone and of now alone, part by part."""
    gone: list[Conclusion] = []
    new: list[Conclusion] = []
    for part, section in zip(stored.parts, sections, strict=True):
        now = conclusions(section.judgement)
        gone += sorted({*part.conclusions}.difference(now))
        new += sorted({*now}.difference(part.conclusions))
    return tuple(gone), tuple(new)


def _own_page(one: Rejudged, form: Form, reporter: Reporter) -> Rejudged:
    sections = [part.section for part in one.result.parts]
    if is_sealed(one.folder):
        reporter.say(f"{one.folder} is a dossier and stays as it is: --out FILE writes the report.")
        return one
    try:
        page = exported(form, sections, one.title, default_target(form, one.folder), reporter)
    except CouldNotMeasure as error:
        reporter.warn(f"{error} Give --out FILE to write it elsewhere.")
        return one
    return _with_page(one, page)


def _with_page(one: Rejudged, page: Path) -> Rejudged:
    return dataclasses.replace(one, result=dataclasses.replace(one.result, page=page))
