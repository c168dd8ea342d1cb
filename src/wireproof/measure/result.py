"""The result of a check or a measurement: its judged parts, their stored form, and stored results
judged by the current rules.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import msgspec

from wireproof.audit.job_facts import with_disclosures
from wireproof.files.hostile import replace_file
from wireproof.instrument import Outcome
from wireproof.locate.node import node_verdicts
from wireproof.measure.session import Session, Storage
from wireproof.measure.session.again import CONFIRM_BASE, METRICS, located_section, screened
from wireproof.measure.session.again import FIRST as REPEATS_BASE
from wireproof.measure.session.merge import merged_run, ranks_by_host, renumbered
from wireproof.measure.session.run import judged
from wireproof.model.claim import Claim, Criteria
from wireproof.model.errors import BadInput
from wireproof.model.finding import Judgement, Verdict, worst
from wireproof.model.located import Fabric
from wireproof.model.run import Conclusion, Run, StoredPart, StoredResult
from wireproof.model.tuning import Standing
from wireproof.physics.table import with_constants
from wireproof.report.json.result import ResultDocument, document_of
from wireproof.report.judged_run import JudgedRun
from wireproof.report.reporter import Reporter
from wireproof.store.load import DOCUMENT, load_run
from wireproof.store.result import RESULT, read_result, write_result
from wireproof.store.seal import is_tabled, seal
from wireproof.store.snapshot import SETTINGS
from wireproof.verdict.run.quality import settled_by_repeats
from wireproof.version import version

_LAUNCH = re.compile(r"(run|pair|loopback|confirm)(-again|-\d+)?(\.\d+)?", re.ASCII)
_ASK = "give the --out folder of a check or measurement"
_OF_RUN = ("run", "confirm")
"""Stems of launches that are judged together: the screen, and its suspects measured alone."""


def stored_result(
    sections: Sequence[JudgedRun], title: str, command: Sequence[str] = ()
) -> StoredResult:
    """Return the data that must be stored with the records to judge and render ``sections``
    again.
    """
    return StoredResult(
        title=title,
        wireproof=version(),
        parts=[
            StoredPart(
                title=section.title,
                records=[folder.name for folder in section.records],
                run=msgspec.structs.replace(section.run, points=[], facts=[]),
                criteria=section.criteria,
                lead=section.lead,
                standing=section.standing,
                constants=dict(section.constants),
                fabric=section.fabric,
                screened=bool(section.located),
                settled=section.settled,
                statistics=None if section.statistics is None else list(section.statistics),
                verdict=section.judgement.verdict,
                nodes=node_verdicts(section.run, section.judgement, section.located),
                conclusions=conclusions(section.judgement),
            )
            for section in sections
        ],
        settings=SETTINGS if any(section.settings for section in sections) else "",
        command=list(command),
    )


def conclusions(judgement: Judgement) -> list[Conclusion]:
    """Return the findings in short form, sorted and without duplicates."""
    return sorted(
        {
            Conclusion(severity=finding.severity, code=finding.code, subject=finding.subject)
            for finding in judgement.findings
        }
    )


def stored_in(folder: Path) -> StoredResult:
    """Return the parts of the result in ``folder``: from its document, else from the names of its
    launches' folders (results from before ``result.json``; a single launch's folder).

    Raises ``BadInput`` if it contains no result, or if the result is damaged or newer than this
    version.
    """
    if folder.is_file():
        raise BadInput(
            f"{folder} is a file: give the --out folder of a check or measurement;"
            " `wireproof judge` reads logs."
        )
    if not folder.is_dir():
        raise BadInput(
            f"{folder} is not a folder: give the --out folder of a check or measurement."
        )
    stored = read_result(folder)
    if stored is not None:
        return stored
    if (folder / DOCUMENT).is_file():
        return _by_names({"run": [folder]})
    launches: dict[str, list[Path]] = {}
    for path in sorted(folder.iterdir()):
        named = _LAUNCH.fullmatch(path.name)
        if named is not None and (path / DOCUMENT).is_file():
            stem = "run" if named[1] in _OF_RUN else named[1]
            launches.setdefault(stem, []).append(path)
    if not launches:
        raise BadInput(f"{folder} contains no run: {_ASK}.")
    return _by_names(launches)


def _by_names(launches: dict[str, list[Path]]) -> StoredResult:
    parts = []
    for stem, folders in launches.items():
        ordered = sorted(folders, key=lambda folder: folder.name.startswith("confirm"))
        run = _merged(ordered)
        several = len({rank.host for rank in run.claim.hosts}) > 2
        parts.append(
            StoredPart(
                title=stem,
                records=[folder.name for folder in ordered],
                run=msgspec.structs.replace(run, points=[], facts=[]),
                criteria=Criteria(),
                screened=several and any(len(point.pairs) for point in run.points),
                settled=several or any(folder.name.endswith("-again") for folder in ordered),
            )
        )
    return StoredResult(title="wireproof", wireproof="", parts=parts)


def _merged(folders: Sequence[Path]) -> Run:
    runs = [load_run(folder) for folder in folders]
    whole = max(runs, key=lambda run: len(run.claim.hosts)).claim
    return merged_run([_as_in(run, whole, at) for run, at in zip(runs, folders, strict=True)])


def _as_in(run: Run, whole: Claim, folder: Path) -> Run:
    ranks = ranks_by_host(run.claim, whole)
    if ranks is None:
        raise BadInput(f"{folder} was measured on other hosts than the rest of its result.")
    return renumbered(run, ranks, whole)


def merged_records(folder: Path, part: StoredPart) -> Run:
    """Return the run of one part from its records alone; ``part.run`` must agree with it.

    Raises ``BadInput`` for records that are missing or damaged.
    """
    return _merged([_record(folder, name) for name in part.records])


def judged_again(folder: Path, part: StoredPart, fabric: Fabric | None = None) -> JudgedRun:
    """Judge one part of the result in ``folder`` by the rules of this version.

    ``fabric`` replaces the stored description. Raises ``BadInput`` for records that are missing or
    damaged.
    """
    places = [_record(folder, name) for name in part.records]
    launches = [_as_in(load_run(place), part.run.claim, place) for place in places]
    run = msgspec.structs.replace(
        part.run,
        points=list(chain.from_iterable(launch.points for launch in launches)),
        facts=list(chain.from_iterable(launch.facts for launch in launches)),
    )
    session = Session(
        title=part.title,
        points=(),
        seed=0,
        lead=part.lead,
        table=with_constants(part.constants),
        criteria=part.criteria,
    )
    section = dataclasses.replace(judged(run, session, places), standing=part.standing)
    if part.screened:
        try:
            return _located(section, fabric or part.fabric)
        except ValueError as error:
            raise BadInput(f"{folder} is damaged: {error}.") from error
    if part.settled:
        section = dataclasses.replace(
            section, judgement=settled_by_repeats(section.judgement), settled=True
        )
    if part.statistics is None:
        return section
    from wireproof.logs.statistics import with_statistics

    return with_statistics(section, tuple(part.statistics))


def _record(folder: Path, name: str) -> Path:
    """Return a launch's folder: inside ``folder``, or ``folder`` itself."""
    place = folder / name
    if place.is_dir() and not place.is_symlink():
        return place
    if folder.name == name and (folder / DOCUMENT).is_file():
        return folder
    raise BadInput(f"{folder} lacks the records of a launch, {name}: copy the complete folder.")


def _located(section: JudgedRun, fabric: Fabric | None) -> JudgedRun:

    first = _only(section.run, range(CONFIRM_BASE))
    again = _only(section.run, range(CONFIRM_BASE, REPEATS_BASE))
    screens = {metric: screened(first, metric, fabric) for metric in METRICS}
    return located_section(section, screens, again if again.points else None, fabric)


def _only(run: Run, points: Iterable[int]) -> Run:
    return msgspec.structs.replace(
        run, points=[point for point in run.points if point.id in points]
    )


# --- Judged parts, and their stored form.


PAGE = "report.html"


class MeasuredPart(NamedTuple):
    """One judged run and its launches."""

    section: JudgedRun
    outcomes: Sequence[Outcome]

    def on_hosts_with(self, standing: Standing | None) -> MeasuredPart:
        """Add the changes by wireproof that were in force on the hosts."""
        return self._replace(section=dataclasses.replace(self.section, standing=standing))

    def ended(self, how: str) -> bool:
        """Return whether a launch of this part ended this way: ``interrupted``, ``disk-full``,
        ...
        """
        return any(outcome.ending.ended == how for outcome in self.outcomes)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Result:
    """Judged parts.

    ``folder``: the folder that keeps records and page, None if nothing is kept; ``page``: the
    report, None if there is nothing to show or it could not be written. ``left_open``: the reason
    why the requested dossier was not made, else "".
    """

    parts: tuple[MeasuredPart, ...]
    folder: Path | None = None
    page: Path | None = None
    left_open: str = ""

    @property
    def verdict(self) -> Verdict:
        """Return the worst verdict of all parts."""
        return worst([section.judgement.verdict for section in self.sections])

    @property
    def sections(self) -> list[JudgedRun]:
        return [part.section for part in self.parts]

    def ended(self, how: str) -> bool:
        """Return whether a launch ended this way: ``interrupted``, ``disk-full``, ..."""
        return any(part.ended(how) for part in self.parts)

    def documents(self) -> list[ResultDocument]:
        """Return one document for each part, as ``--json`` prints them."""
        return list(map(document_of, self.sections))


def keep_result(
    parts: Sequence[MeasuredPart], *, title: str, folder: Path, storage: Storage, reporter: Reporter
) -> Result:
    """Write the records and the page into ``folder``, and the result into the history, according to
    ``storage``.
    """
    sections = with_disclosures(
        [part.section for part in parts], folder / SETTINGS, storage.command
    )
    parts = [part._replace(section=section) for part, section in zip(parts, sections, strict=True)]
    if not storage.kept:
        return Result(parts=tuple(parts))
    # New launches are sealed when they end; earlier launches that a resumed check did not repeat
    # may have been killed before they were sealed.
    for place in (folder for section in sections for folder in section.records):
        if not is_tabled(place):
            seal(place)
    _keep(folder, stored_result(sections, title, storage.command), reporter)
    if storage.history is not None:
        from wireproof.measure.keep import record

        record(storage.history, folder, sections)
    page = None
    if any(section.run.points for section in sections):
        page = _write_page(sections, title, folder, reporter)
    return Result(parts=tuple(parts), folder=folder, page=page)


def _keep(folder: Path, stored: StoredResult, reporter: Reporter) -> None:
    """Write the file that lists the records of the result, for ``wireproof report``."""
    try:
        write_result(folder, stored)
    except OSError as error:
        reporter.warn(f"{folder / RESULT} could not be written: {error.strerror}.")


def _write_page(
    sections: Sequence[JudgedRun], title: str, folder: Path, reporter: Reporter
) -> Path | None:
    from wireproof.measure.export import page_of

    page = folder / PAGE
    try:
        replace_file(page, page_of(sections, title).encode("utf-8"))
    except OSError as error:
        reporter.warn(
            f"the report could not be written: {error.strerror}; the records stay in {folder}."
        )
        return None
    return page
