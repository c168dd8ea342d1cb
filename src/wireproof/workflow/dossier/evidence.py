"""Whether what a result says of itself follows from its raw records.

A manifest can be written anew by whoever edits a file. What stands in several places then has to be
edited in all of them, in agreement with the records.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from wireproof.files.hostile import read_bounded
from wireproof.model.dossier import Agreed, Dossier, threshold_criteria
from wireproof.model.errors import BadInput
from wireproof.model.finding import worst
from wireproof.model.json_reader import decode_json
from wireproof.model.run import Run
from wireproof.model.stored import StoredPart, StoredResult
from wireproof.report.judged_run import JudgedRun
from wireproof.settings.inputs import read_criteria
from wireproof.store.seal import table_differences
from wireproof.verdict.node import node_verdicts
from wireproof.workflow.dossier.seal import CRITERIA, DISCLOSURE, criteria_of, criteria_toml
from wireproof.workflow.stored import conclusions, merged_records

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
