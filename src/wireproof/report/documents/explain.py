"""Entries of catalogues as documents, and lists of them."""

from collections.abc import Mapping, Sequence

from wireproof.report.document import Document, Facts, Section

Explained = tuple[str, Sequence[tuple[str, str]]]
"""The title of an entry, and its paragraphs with their headings."""


def explanation_document(found: Sequence[Explained]) -> Document:
    """Return one entry, or all entries with the same name; only titles if none has paragraphs."""
    if not any(rows for _, rows in found):
        titles = [title.partition(": ") for title, _ in found]
        return titles_document("Entries", {code: title for code, _, title in titles})
    parts = [(title, Facts(tuple(rows))) for title, rows in found]
    if len(parts) == 1:
        ((title, facts),) = parts
        return Document(title.partition(":")[0], title, (facts,))
    sections = tuple(Section(title, (facts,)) for title, facts in parts)
    return Document("Explanations", "", sections)


def titles_document(title: str, titles: Mapping[str, str]) -> Document:
    """Return a catalogue as a list of names with titles."""
    return Document(title, "", (Facts(tuple(titles.items())),))
