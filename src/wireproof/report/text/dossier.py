"""A verified dossier, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wireproof.model.criteria import Criterion
from wireproof.model.dossier import Signature, Verification
from wireproof.report.text.look import Look
from wireproof.report.text.rejudged import change_lines

__all__ = ["NOT_SIGNED", "verification_lines"]

NOT_SIGNED = (
    "not signed: this shows accidents, not intent. Whoever edits files can write SHA256SUMS anew;"
    " compare its SHA-256 with what the other party has, or have it signed"
    " (`wireproof dossier sign`)"
)


def verification_lines(found: Verification, look: Look) -> list[str]:
    """What was found, a line for each question, and the verdict last."""
    dossier = found.dossier
    sealed = f"all as sealed {dossier.sealed} by wireproof {dossier.wireproof}"
    told = [
        f"SHA-256 of SHA256SUMS: {found.manifest}",
        *(f"signature: {line}" for line in _signatures(found.signatures)),
        *_criteria(dossier.criteria),
        f"records: the result follows from them{_page(found.judged.page)}",
        *(f"judged again: {line.strip()}" for line in _judged(found)),
    ]
    return [
        look.say(f"{found.folder}: {found.files} files, {sealed}", 1000),
        *(f"  {look.say(line, 1000)}" for line in told),
        f"{found.verdict.upper()} by the rules of this wireproof",
    ]


def _signatures(signatures: Sequence[Signature]) -> Iterator[str]:
    if not signatures:
        yield NOT_SIGNED
    for one in signatures:
        doubt = "; nobody vouches for that key here: give --signers" if one.state == "valid" else ""
        yield f"{one.file}: {one.said}{doubt}"


def _criteria(criteria: Sequence[Criterion]) -> Iterator[str]:
    chosen = [one for one in criteria if one.chosen]
    yield f"criteria: {len(criteria)} (criteria.toml), of which {len(chosen)} were chosen"
    for one in chosen:
        unit = f" {one.unit}" if one.unit not in ("", "1") else ""
        yield f"criterion: {one.name} = {one.value}{unit} ({one.source}): {one.about}"


def _page(page: bool | None) -> str:
    if page:
        return ", and so does report.html"
    return (
        "; report.html was not compared, it is of another version or platform:"
        " `wireproof report --out FILE` writes it anew"
    )


def _judged(found: Verification) -> list[str]:
    judged = found.judged
    rules = "the rules are the same" if judged.same_rules else "the rules are others"
    head, *more = change_lines(
        found.dossier.wireproof, judged.before, judged.verdict, judged.gone, judged.new
    )
    return [f"{head} ({rules})", *more]
