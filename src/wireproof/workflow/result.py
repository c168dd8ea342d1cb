"""The result of a check or a measurement: judged parts, and what is kept of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from wireproof.files.hostile import replace_file
from wireproof.instrument.measure import Outcome
from wireproof.model.finding import Verdict, worst
from wireproof.model.run import StoredResult
from wireproof.model.tuning import Standing
from wireproof.report.json.result import ResultDocument, document_of
from wireproof.report.judged_run import JudgedRun
from wireproof.store.result import RESULT, write_result
from wireproof.store.seal import is_tabled, seal
from wireproof.store.snapshot import SETTINGS
from wireproof.workflow.disclosure import with_disclosures
from wireproof.workflow.reporter import Reporter
from wireproof.workflow.session.session import Storage
from wireproof.workflow.stored import stored_result

PAGE = "report.html"


class MeasuredPart(NamedTuple):
    """One judged run and its launches."""

    section: JudgedRun
    outcomes: Sequence[Outcome]

    def on_hosts_with(self, standing: Standing | None) -> MeasuredPart:
        """Add the changes of ours that were in force on its hosts."""
        return self._replace(section=dataclasses.replace(self.section, standing=standing))

    def ended(self, how: str) -> bool:
        """Return whether a launch of this part ended this way: ``interrupted``, ``disk-full``,
        ...
        """
        return any(outcome.ending.ended == how for outcome in self.outcomes)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Result:
    """Judged parts.

    ``folder``: where records and page are kept, None if nothing is; ``page``: the report, None if
    there is nothing to show or it could not be written. ``left_open``: why the requested dossier
    was not made, else "".
    """

    parts: tuple[MeasuredPart, ...]
    folder: Path | None = None
    page: Path | None = None
    left_open: str = ""

    @property
    def verdict(self) -> Verdict:
        """Return the worst verdict of all parts."""
        return worst([part.section.judgement.verdict for part in self.parts])

    def ended(self, how: str) -> bool:
        """Return whether a launch ended this way: ``interrupted``, ``disk-full``, ..."""
        return any(part.ended(how) for part in self.parts)

    def documents(self) -> list[ResultDocument]:
        """Return one document for each part, as ``--json`` prints them."""
        return [document_of(part.section) for part in self.parts]


def keep_result(
    parts: Sequence[MeasuredPart], *, title: str, folder: Path, storage: Storage, reporter: Reporter
) -> Result:
    """Write the records and the page into ``folder``, and the result into the history, as
    ``storage`` asks.
    """
    sections = with_disclosures(
        [part.section for part in parts], folder / SETTINGS, storage.command
    )
    parts = [part._replace(section=section) for part, section in zip(parts, sections, strict=True)]
    if not storage.kept:
        return Result(parts=tuple(parts))
    for place in _not_sealed(parts):
        seal(place)
    _keep(folder, stored_result(sections, title, storage.command), reporter)
    if storage.history is not None:
        from wireproof.workflow.history.keep import record

        record(storage.history, folder, sections)
    page = None
    if any(section.run.points for section in sections):
        page = _write_page(sections, title, folder, reporter)
    return Result(parts=tuple(parts), folder=folder, page=page)


def _not_sealed(parts: Sequence[MeasuredPart]) -> list[Path]:
    """Return earlier launches that a resumed check did not repeat and that were killed before they
    were sealed. New launches are sealed when they end.
    """
    return [place for part in parts for place in part.section.records if not is_tabled(place)]


def _keep(folder: Path, stored: StoredResult, reporter: Reporter) -> None:
    """Write the file that names the records of the result, for ``wireproof report``."""
    try:
        write_result(folder, stored)
    except OSError as error:
        reporter.warn(f"{folder / RESULT} could not be written: {error.strerror}.")


def _write_page(
    sections: Sequence[JudgedRun], title: str, folder: Path, reporter: Reporter
) -> Path | None:
    from wireproof.workflow.export import page_of

    page = folder / PAGE
    try:
        replace_file(page, page_of(sections, title).encode("utf-8"))
    except OSError as error:
        reporter.warn(
            f"the report could not be written: {error.strerror}; the records stay in {folder}."
        )
        return None
    return page
