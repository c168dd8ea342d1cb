"""Verify a dossier offline: check that it is unchanged since it was sealed, judge its records, and
show the result as a document.

Whoever edits a file can also write a new manifest, but must then edit a fact in every place where
it is stored, consistently with the records. So verify also checks that the statements of a result
follow from its raw records.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from wireproof.archive.dossier import (
    CRITERIA,
    DISCLOSURE,
    criteria_of,
    criteria_toml,
    platform_name,
    program_digest,
    rules_digest,
)
from wireproof.files.hostile import read_bounded
from wireproof.locate.node import node_verdicts
from wireproof.measure.report import judged_anew
from wireproof.measure.result import PAGE, conclusions, merged_records, stored_in
from wireproof.model.dossier import Agreed, Dossier, Rejudgement, Signature, Verification
from wireproof.model.errors import BadInput, decode_json, reading
from wireproof.model.finding import worst
from wireproof.model.run import Run, StoredPart, StoredResult
from wireproof.options.resolve import read_criteria
from wireproof.report.document import (
    Document,
    Facts,
    Head,
    Part,
    Row,
    Section,
    Table,
    Text,
)
from wireproof.report.judged_run import JudgedRun
from wireproof.report.results import change_lines
from wireproof.store.manifest import MANIFEST, digest_of, listed
from wireproof.store.result import DOSSIER, RESULT, read_dossier
from wireproof.store.seal import table_differences
from wireproof.store.signature import checked, listing, unaltered
from wireproof.version import version

_LARGEST = 256 << 20
_OF_LAUNCHES = ("open", "hosts", "idle", "provenance")
"""Fields that a merged run takes from its launches unchanged."""
_MERGED = ("totals", "floors")
"""Fields that this program computes from those of the launches."""


def contradictions(
    folder: Path,
    dossier: Dossier,
    stored: StoredResult,
    sections: Sequence[JudgedRun],
    *,
    same_rules: bool,
) -> list[str]:
    """Return a clause for each contradiction, naming the file.

    Equal conclusions are required only under the same rules, equal computed values only from the
    same program.
    """
    same_program = _same_program(dossier)
    clauses = list(_of_criteria(folder, dossier, stored))
    for number, (part, section) in enumerate(zip(stored.parts, sections, strict=True), start=1):
        where = f"part {number} of result.json"
        records = merged_records(folder, part)
        found = [*_of_fields(_OF_LAUNCHES, records, part.run), *_of_claim(records, part.run)]
        found += _of_merging(records, part.run) if same_program else ()
        found += _of_judgement(part, section) if same_rules else ()
        clauses += [f"{where} {clause}" for clause in found]
    if same_program:
        clauses += _of_words(folder, dossier, stored)
        clauses += _of_disclosure(folder, sections)
    return [*clauses, *_of_tables(folder, stored)]


def _of_criteria(folder: Path, dossier: Dossier, stored: StoredResult) -> Iterator[str]:
    """Check that ``dossier.json``, ``criteria.toml`` and ``result.json`` have the same criteria."""
    first = stored.parts[0]
    if any(part.criteria != first.criteria for part in stored.parts):
        yield "the parts of result.json have different criteria"
    if dossier.wireproof != stored.wireproof:
        yield "dossier.json and result.json state different versions"
    if dossier.verdict != worst([part.verdict for part in stored.parts]):
        yield "dossier.json and result.json have different verdicts"
    known = {row.name: row.value for row in dossier.criteria}
    for row in criteria_of(stored.parts, None):
        if not row.name.startswith("locate.") and known.get(row.name) != row.value:
            said = known.get(row.name)
            yield f"dossier.json says {row.name} = {said}, and result.json {row.value}"
    written = read_criteria(folder / CRITERIA)
    if written is not None and written.criteria != first.criteria:
        yield f"{CRITERIA} and result.json have different values"


def _of_words(folder: Path, dossier: Dossier, stored: StoredResult) -> Iterator[str]:
    """Also check units, meanings and sources, which are identical only if the same program wrote
    them.
    """
    agreed = None
    if dossier.agreed is not None:
        agreed = Agreed(
            criteria=stored.parts[0].criteria,
            chosen=tuple(row.name for row in dossier.criteria if row.chosen),
            source=dossier.agreed.name,
            sha256=dossier.agreed.sha256,
        )
    if dossier.criteria != criteria_of(stored.parts, agreed):
        yield "dossier.json states its criteria in a form that no check writes"
    text = criteria_toml(dossier.criteria).encode("utf-8")
    if read_bounded(folder / CRITERIA, _LARGEST, follow=False) != text:
        yield f"{CRITERIA} contradicts dossier.json"


def _of_fields(names: Sequence[str], records: Run, stored: Run) -> Iterator[str]:
    for name in names:
        if getattr(records, name) != getattr(stored, name):
            yield f"differs from the records in {name}"


def _of_merging(records: Run, stored: Run) -> Iterator[str]:
    yield from _of_fields(_MERGED, records, stored)
    if any(error not in stored.errors for error in records.errors):
        yield "lacks errors that the records have"
    lost = any(error.code == "rank-lost" for error in stored.errors)
    if not lost and set(records.missing) - set(stored.missing):
        yield "does not list the points that the records lack"


def _of_claim(records: Run, stored: Run) -> Iterator[str]:
    """Compare the claim of the whole run with that of its launches, each of which may use only some
    hosts.
    """
    ours, theirs = (
        msgspec.structs.replace(run.claim, hosts=[], provider="") for run in (stored, records)
    )
    if ours != theirs:
        yield "claims a different link from the records"
    known = {(rank.host, rank.nic) for rank in stored.claim.hosts}
    if {(rank.host, rank.nic) for rank in records.claim.hosts} - known:
        yield "lists different hosts from the records"


def _of_judgement(part: StoredPart, section: JudgedRun) -> Iterator[str]:
    """Compare the stored judgement with the judgement that the same rules reach now."""
    judgement = section.judgement
    if judgement.verdict != part.verdict:
        yield f"states {part.verdict}, but its records result in {judgement.verdict}"
    elif conclusions(judgement) != part.conclusions:
        yield "has different findings from those that its records give"
    elif node_verdicts(section.run, judgement, section.located) != part.nodes:
        yield "makes a statement about a node that does not follow from its records"


def _of_disclosure(folder: Path, sections: Sequence[JudgedRun]) -> Iterator[str]:
    expected = msgspec.to_builtins([section.disclosure for section in sections])
    with reading(folder / DISCLOSURE):
        stored = decode_json(read_bounded(folder / DISCLOSURE, _LARGEST, follow=False), object)
    if stored != expected:
        yield f"{DISCLOSURE} contradicts the records"


def _of_tables(folder: Path, stored: StoredResult) -> Iterator[str]:
    """Compare the tables for other tools with the frames."""
    for name in dict.fromkeys(name for part in stored.parts for name in part.records):
        yield from (f"{name}/{clause}" for clause in table_differences(folder / name))


_PARTS = (DOSSIER, RESULT, CRITERIA, DISCLOSURE, PAGE)
_LARGEST_PAGE = 256 << 20


def verify(folder: Path, signers: Path | None = None) -> Verification:
    """Return whether the dossier is unchanged since it was sealed, who has signed it, and the
    verdict on its records by the rules of this version.

    ``signers``: a file of people, at least one of whom must have signed (OpenSSH's
    allowed_signers); None: no signature is required.

    Raises ``BadInput`` if it was altered (naming each file), was written by a newer version, or
    lacks a required signature; ``CouldNotMeasure`` if a tool that checks signatures is missing. The
    files that are judged are the same copy that was hashed. Nothing is written.
    """
    with unaltered(folder) as copy:
        found = _verified(copy, signers)
    return msgspec.structs.replace(found, folder=str(folder))


def _verified(folder: Path, signers: Path | None) -> Verification:
    """Verify a private copy, which other users cannot replace during the judgement."""
    names = listed(folder)
    if lacks := [name for name in _PARTS if name not in names]:
        raise BadInput(f"{folder} is not a complete dossier: it lacks {', '.join(lacks)}.")
    dossier = read_dossier(folder)
    signatures = checked(folder, signers)
    again = judged_anew(folder)
    assert again.before is not None  # noqa: S101  a dossier has a result.json
    sections = again.sections
    same_rules = dossier.rules == rules_digest()
    stored = stored_in(folder)
    found = contradictions(folder, dossier, stored, sections, same_rules=same_rules)
    page = _same_page(folder, dossier, sections, again.title)
    if page is False:
        found.append(f"{PAGE} does not match these records")
    if found:
        raise BadInput(
            f"{folder} contradicts itself, although every file matches its digest in {MANIFEST}:"
            f" {listing(found)}. It was edited and sealed again: no verdict is given."
        )
    return Verification(
        folder=folder.name,
        verdict=again.verdict,
        files=len(names),
        manifest=digest_of(folder / MANIFEST),
        dossier=dossier,
        judged=Rejudgement(
            verdict=again.verdict,
            before=again.before,
            same_rules=same_rules,
            page=page,
            gone=list(again.gone),
            new=list(again.new),
        ),
        signatures=signatures,
    )


def _same_program(dossier: Dossier) -> bool:
    """Also compare the version: it appears on the page but is not part of the modules."""
    return (dossier.program, dossier.wireproof) == (program_digest(), version())


def _same_page(
    folder: Path, dossier: Dossier, sections: Sequence[JudgedRun], title: str
) -> bool | None:
    """Return whether the page was made from these records; None if another program or platform
    wrote it.
    """
    if not _same_program(dossier) or dossier.platform != platform_name():
        return None
    from wireproof.measure.export import page_of

    page = page_of(sections, title).encode("utf-8")
    return read_bounded(folder / PAGE, _LARGEST_PAGE, follow=False) == page


# --- A verified dossier as a document.

NOT_SIGNED = (
    "none: checksums reveal accidents, not intent. Anyone who edits files can rewrite SHA256SUMS:"
    " compare its SHA-256 with that of the other party, or have it signed"
    " (`wireproof dossier sign`)"
)
_CRITERIA = (Head("criterion", 9, left=True), Head("value", 8), Head("source", 6, left=True))


def verification_document(found: Verification) -> Document:
    """Return the verdict by the rules of this version, then the result of each check."""
    dossier = found.dossier
    answer = f"{found.files} files, all as sealed {dossier.sealed} by wireproof {dossier.wireproof}"
    chosen = [criterion for criterion in dossier.criteria if criterion.chosen]
    count = f"{len(dossier.criteria)} (criteria.toml), of which {len(chosen)} were chosen"
    rows = (
        ("folder", str(found.folder)),
        ("SHA-256 of SHA256SUMS", found.manifest),
        *(("signature", text) for text in _signatures(found.signatures)),
        ("criteria", count),
        ("records", f"the result follows from them{_page_said(found.judged.page)}"),
    )
    judged = tuple(Text(line.strip()) for line in _judged(found))
    parts: list[Part] = [Facts(rows), Section("Judged again by the rules of this version", judged)]
    if chosen:
        values = tuple(
            Row(
                (
                    f"{each.name}: {each.about}",
                    f"{each.value} {each.unit if each.unit != '1' else ''}".strip(),
                    each.source,
                )
            )
            for each in chosen
        )
        parts.append(Section("Chosen criteria", (Table(_CRITERIA, values),)))
    return Document("Acceptance dossier", answer, tuple(parts), found.verdict)


def _signatures(signatures: list[Signature]) -> Iterator[str]:
    if not signatures:
        yield NOT_SIGNED
    for each in signatures:
        doubt = "" if each.state != "valid" else "; no trusted signer has that key: give --signers"
        yield f"{each.file}: {each.said}{doubt}"


def _page_said(page: bool | None) -> str:
    if page:
        return ", and so does report.html"
    return (
        "; report.html was not compared, because another version or platform wrote it: "
        "`wireproof report --out FILE` writes a new page"
    )


def _judged(found: Verification) -> list[str]:
    judged = found.judged
    rules = "the rules are the same" if judged.same_rules else "the rules have changed"
    head, *more = change_lines(
        found.dossier.wireproof, judged.before, judged.verdict, judged.gone, judged.new
    )
    return [f"{head} ({rules})", *more]
