"""What `wireproof explain` prints as documents: entries of catalogues, lists of them, and a rate or
a time in every unit.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from wireproof.model.claim import LinkClaim
from wireproof.model.quantity import Converted, LinkShares
from wireproof.report.document import Document, Facts, Head, Part, Row, Section, Table, Text

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


# --- A rate or a time converted to every unit, with the arithmetic, and the list of links.

_ROWS = (Head("value", 9, left=True), Head("arithmetic", 8, left=True))
_LINKS = (
    Head("link", 9, left=True),
    Head("rate", 8),
    Head("protocol", 7, left=True),
)


def conversion_document(found: Converted) -> Document:
    """Return the arithmetic that leads to the value, the value in every unit, and its shares of a
    link.
    """
    first, *more = [*filter(None, [_share(found)]), *(found.arithmetic or [found.value])]
    rows = tuple(Row((row.text, row.arithmetic)) for row in found.rows)
    parts: list[Part] = [*map(Text, more), Table(_ROWS, rows, most=len(rows))]
    if found.bytes_per_s is None and found.kind != "amount":
        words = "give --size BYTES for the goodput of one message in this time or at this rate"
        parts.append(Text(words))
    parts += [Text(f"note: {found.remark}")] if found.remark else []
    parts += [Section(found.link.kind, tuple(_shares(found.link)))] if found.link else []
    return Document(f"{found.value} in every unit", first, tuple(parts))


def _share(found: Converted) -> str:
    """Return the share of the link that a rate reaches; "" for a time, which has no share."""
    share = found.link.share_of_attainable if found.link else None
    if found.link is None or found.kind == "time" or not isinstance(share, float):
        return ""
    return f"{found.value} is {share:.1%} of what {found.link.kind} can carry"


def _shares(link: LinkShares) -> Iterator[Text]:
    yield from map(Text, (*link.derivation, *link.arithmetic))
    yield from (Text(f"WARNING: {line}", "warning") for line in link.warnings)


def links_document(links: Iterable[LinkClaim]) -> Document:
    """Return the links that --link accepts, with their rates."""
    rows = tuple(Row((one.kind, _rate(one), one.protocol)) for one in links)
    return Document("Links", "", (Table(_LINKS, rows, most=len(rows)),))


def _rate(one: LinkClaim) -> str:
    return f"{one.rate_bits_per_s / 1e9:g} Gb/s" if one.rate_bits_per_s else "no rate"
