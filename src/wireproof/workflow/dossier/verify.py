"""A dossier verified by anybody, offline: is it what was sealed, and what do its records say?

A manifest can be written anew by whoever edits a file. What stands in several places then has to be
edited in all of them, in agreement with the records: whether what a result says of itself follows
from its raw records is checked, too.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from wireproof.files.hostile import read_bounded
from wireproof.model.dossier import Agreed, Dossier, Rejudgement, Verification, threshold_criteria
from wireproof.model.errors import BadInput
from wireproof.model.finding import worst
from wireproof.model.json_reader import decode_json
from wireproof.model.run import Run
from wireproof.model.stored import StoredPart, StoredResult
from wireproof.report.judged_run import JudgedRun
from wireproof.settings.inputs import read_criteria
from wireproof.store.manifest import MANIFEST, digest_of, listed
from wireproof.store.result import DOSSIER, RESULT, read_dossier
from wireproof.store.seal import table_differences
from wireproof.verdict.node import node_verdicts
from wireproof.version import version
from wireproof.workflow.dossier.intact import told, unaltered
from wireproof.workflow.dossier.seal import (
    CRITERIA,
    DISCLOSURE,
    criteria_of,
    criteria_toml,
    platform_name,
    program_digest,
    rules_digest,
)
from wireproof.workflow.dossier.signature import checked
from wireproof.workflow.report import Rejudged, judged_anew
from wireproof.workflow.result import PAGE
from wireproof.workflow.stored import conclusions, merged_records, stored_in

_LARGEST = 256 << 20
_OF_LAUNCHES = ("open", "hosts", "idle", "provenance")
"""What a merged run has of its launches as it stands there."""
_MERGED = ("totals", "floors")
"""And what is computed of theirs, by this program."""


def contradictions(
    folder: Path,
    dossier: Dossier,
    stored: StoredResult,
    sections: Sequence[JudgedRun],
    *,
    same_rules: bool,
    same_program: bool,
) -> list[str]:
    """One clause for each contradiction, naming the file; none where all follows. Only the same
    rules have to conclude, and the same program has to compute, the same.
    """
    found = list(_of_criteria(folder, dossier, stored))
    for number, (part, section) in enumerate(zip(stored.parts, sections, strict=True), start=1):
        where = f"part {number} of result.json"
        records = merged_records(folder, part)
        found += [f"{where} {said}" for said in _of_run(records, part.run)]
        if same_program:
            found += [f"{where} {said}" for said in _of_merging(records, part.run)]
        if same_rules:
            found += [f"{where} {said}" for said in _of_judgement(part, section)]
    if same_program:
        found += _of_words(folder, dossier, stored)
        found += _of_disclosure(folder, sections)
    return [*found, *_of_tables(folder, stored)]


def _of_criteria(folder: Path, dossier: Dossier, stored: StoredResult) -> Iterator[str]:
    """``dossier.json``, ``criteria.toml`` and ``result.json`` have the same criteria."""
    first = stored.parts[0]
    if any(part.criteria != first.criteria for part in stored.parts):
        yield "the parts of result.json have different criteria"
    if dossier.wireproof != stored.wireproof:
        yield "dossier.json and result.json name different versions"
    if dossier.verdict != worst([part.verdict for part in stored.parts]):
        yield "dossier.json and result.json have different verdicts"
    known = {one.name: one.value for one in dossier.criteria}
    judged = {one.name: one.value for one in threshold_criteria(first.criteria, None)}
    others = {
        one.name: one.value
        for one in criteria_of(stored.parts, None)
        if not one.name.startswith("locate.")
    }
    for name, value in {**others, **judged}.items():
        if known.get(name) != value:
            yield f"dossier.json says {name} = {known.get(name)}, and result.json {value}"
    written = read_criteria(folder / CRITERIA)
    if written is not None and written.criteria != first.criteria:
        yield f"{CRITERIA} has other values than result.json"


def _of_words(folder: Path, dossier: Dossier, stored: StoredResult) -> Iterator[str]:
    """Units, meanings and sources, too, where this program has written them."""
    agreed = None
    if dossier.agreed is not None:
        agreed = Agreed(
            criteria=stored.parts[0].criteria,
            chosen=tuple(one.name for one in dossier.criteria if one.chosen),
            source=dossier.agreed.name,
            sha256=dossier.agreed.sha256,
        )
    if dossier.criteria != criteria_of(stored.parts, agreed):
        yield "dossier.json states its criteria as no check writes them"
    text = criteria_toml(dossier.criteria).encode("utf-8")
    if read_bounded(folder / CRITERIA, _LARGEST, follow=False) != text:
        yield f"{CRITERIA} says otherwise than dossier.json"


def _of_run(records: Run, stored: Run) -> Iterator[str]:
    for name in _OF_LAUNCHES:
        if getattr(records, name) != getattr(stored, name):
            yield f"has other {name} than the records"
    yield from _of_claim(records, stored)


def _of_merging(records: Run, stored: Run) -> Iterator[str]:
    for name in _MERGED:
        if getattr(records, name) != getattr(stored, name):
            yield f"has other {name} than the records"
    if any(one not in stored.errors for one in records.errors):
        yield "lacks errors that the records have"
    lost = any(one.code == "rank-lost" for one in stored.errors)
    if not lost and set(records.missing) - set(stored.missing):
        yield "does not say which points the records lack"


def _of_claim(records: Run, stored: Run) -> Iterator[str]:
    """The whole's claim is that of its launches; each may have had some of the hosts only."""
    ours, theirs = (
        msgspec.structs.replace(one.claim, hosts=[], provider="") for one in (stored, records)
    )
    if ours != theirs:
        yield "claims another link than the records"
    known = {(one.host, one.nic) for one in stored.claim.hosts}
    if {(one.host, one.nic) for one in records.claim.hosts} - known:
        yield "names other hosts than the records"


def _of_judgement(part: StoredPart, section: JudgedRun) -> Iterator[str]:
    """By the rules of the day nothing may come out otherwise."""
    judgement = section.judgement
    if judgement.verdict != part.verdict:
        yield f"says {part.verdict}, and its records give {judgement.verdict}"
    elif conclusions(judgement) != part.conclusions:
        yield "has other findings than its records give"
    elif node_verdicts(section.run, judgement, section.located) != part.nodes:
        yield "says otherwise of a node than its records give"


def _of_disclosure(folder: Path, sections: Sequence[JudgedRun]) -> Iterator[str]:
    own = msgspec.to_builtins([section.disclosure for section in sections])
    try:
        told = decode_json(read_bounded(folder / DISCLOSURE, _LARGEST, follow=False), object)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{folder / DISCLOSURE} cannot be read: {error}.") from error
    if told != own:
        yield f"{DISCLOSURE} says otherwise than the records"


def _of_tables(folder: Path, stored: StoredResult) -> Iterator[str]:
    """The tables for other tools have what the frames have."""
    for name in dict.fromkeys(name for part in stored.parts for name in part.records):
        yield from (f"{name}/{said}" for said in table_differences(folder / name))


_PARTS = (DOSSIER, RESULT, CRITERIA, DISCLOSURE, PAGE)
_LARGEST_PAGE = 256 << 20


@dataclasses.dataclass(frozen=True, kw_only=True)
class VerifySpecification:
    """``signers``: a file of those whose signature is demanded (OpenSSH's allowed_signers); None:
    none is.
    """

    folder: Path
    signers: Path | None = None


def verify(specification: VerifySpecification) -> Verification:
    """Whether the dossier is as it was sealed, who has signed it, and the verdict of its records by
    the rules of this version.

    Raises ``BadInput`` for one that was altered, naming each file, is of a newer version, or lacks
    a signature that is demanded; ``CouldNotMeasure`` when a tool that checks signatures is missing.
    What is judged is a copy of what was hashed. Nothing is written.
    """
    folder = specification.folder
    with unaltered(folder) as copy:
        found = _verified(copy, specification.signers)
    return msgspec.structs.replace(found, folder=str(folder))


def _verified(folder: Path, signers: Path | None) -> Verification:
    """Of a copy that nobody can exchange while it is judged."""
    names = listed(folder)
    if lacks := [name for name in _PARTS if name not in names]:
        raise BadInput(f"{folder} is no whole dossier: it lacks {', '.join(lacks)}.")
    dossier = read_dossier(folder)
    signatures = checked(folder, signers)
    again = judged_anew(folder)
    sections = [part.section for part in again.result.parts]
    same_rules = dossier.rules == rules_digest()
    found = contradictions(
        folder,
        dossier,
        stored_in(folder),
        sections,
        same_rules=same_rules,
        same_program=_same_program(dossier),
    )
    page = _same_page(folder, dossier, sections, again.title)
    if page is False:
        found.append(f"{PAGE} is not the page of these records")
    if found:
        raise BadInput(
            f"{folder} contradicts itself, although every file has its digest in {MANIFEST}:"
            f" {told(found)}. It was edited and sealed anew: no verdict is given."
        )
    return Verification(
        folder=folder.name,
        verdict=again.result.verdict,
        files=len(names),
        manifest=digest_of(folder / MANIFEST),
        dossier=dossier,
        judged=_rejudgement(again, same_rules=same_rules, page=page),
        signatures=signatures,
    )


def _rejudgement(again: Rejudged, *, same_rules: bool, page: bool | None) -> Rejudgement:
    assert again.before is not None  # noqa: S101  a dossier has a result.json
    return Rejudgement(
        verdict=again.result.verdict,
        before=again.before,
        same_rules=same_rules,
        page=page,
        gone=list(again.gone),
        new=list(again.new),
    )


def _same_program(dossier: Dossier) -> bool:
    """Also the version: it stands on the page, and is no part of the modules."""
    return (dossier.program, dossier.wireproof) == (program_digest(), version())


def _same_page(
    folder: Path, dossier: Dossier, sections: Sequence[JudgedRun], title: str
) -> bool | None:
    """Whether the page is the one of these records; None where it would be written otherwise."""
    if not _same_program(dossier) or dossier.platform != platform_name():
        return None
    from wireproof.workflow.export import page_of

    own = page_of(sections, title).encode("utf-8")
    return read_bounded(folder / PAGE, _LARGEST_PAGE, follow=False) == own
