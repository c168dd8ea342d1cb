"""A verified dossier as a document."""

from collections.abc import Iterator

from wireproof.model.dossier import Signature, Verification
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
from wireproof.report.results import change_lines

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
        ("records", f"the result follows from them{_page(found.judged.page)}"),
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


def _page(page: bool | None) -> str:
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
