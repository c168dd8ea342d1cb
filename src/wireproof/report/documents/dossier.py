"""A verified dossier as a document."""

from collections.abc import Iterator, Sequence

from wireproof.model.dossier import Signature, Verification
from wireproof.model.finding import Verdict
from wireproof.model.run import Conclusion
from wireproof.report.document import Document, Facts, Head, Part, Row, Section, Table, Text
from wireproof.report.names import clean

NOT_SIGNED = (
    "none: this shows accidents, not intent. Anyone who edits files can rewrite SHA256SUMS:"
    " compare its SHA-256 with that of the other party, or have it signed"
    " (`wireproof dossier sign`)"
)
_MOST_CONCLUSIONS = 10
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
        "; report.html was not compared, another version or platform wrote it:"
        " `wireproof report --out FILE` writes a new page"
    )


def _judged(found: Verification) -> list[str]:
    judged = found.judged
    rules = "the rules are the same" if judged.same_rules else "the rules have changed"
    head, *more = change_lines(
        found.dossier.wireproof, judged.before, judged.verdict, judged.gone, judged.new
    )
    return [f"{head} ({rules})", *more]


def change_lines(
    by: str,
    before: Verdict | None,
    now: Verdict,
    gone: Sequence[Conclusion],
    new: Sequence[Conclusion],
) -> list[str]:
    """Return a line on the verdict, then the conclusions that only one of the judgements has.
    ``by``: the version that judged before, "" if unknown.
    """
    if before is None:
        return ["judged now; this result does not contain its earlier verdict"]
    verdict = (
        f"{now}, as by wireproof {clean(by)}"
        if before == now
        else f"{now} now; wireproof {clean(by)} said {before}"
    )
    same = not gone and not new
    head = f"{verdict}; {'the same findings' if same else 'the findings differ'}"
    return [head, *_listed("no longer", gone), *_listed("new", new)]


def _listed(title: str, found: Sequence[Conclusion]) -> list[str]:
    lines = [
        f"  {title}: {one.severity} {clean(one.code)}"
        + (f" ({clean(one.subject)})" if one.subject else "")
        for one in found[:_MOST_CONCLUSIONS]
    ]
    if len(found) > _MOST_CONCLUSIONS:
        lines.append(f"  {title}: {len(found) - _MOST_CONCLUSIONS} more")
    return lines
