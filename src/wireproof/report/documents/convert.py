"""A rate or a time converted to every unit, with the arithmetic, as a document; and the list of
links.
"""

from collections.abc import Iterable, Iterator

from wireproof.model.claim import LinkClaim
from wireproof.model.quantity import Converted, LinkShares
from wireproof.report.document import Document, Head, Part, Row, Section, Table, Text

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
    first, *more = found.arithmetic or [found.value]
    rows = tuple(Row((row.text, row.arithmetic)) for row in found.rows)
    parts: list[Part] = [*map(Text, more), Table(_ROWS, rows, most=len(rows))]
    if found.bytes_per_s is None:
        words = "give --size BYTES for the goodput of one message in this time or at this rate"
        parts.append(Text(words))
    parts += [Text(f"note: {found.remark}")] if found.remark else []
    parts += [Section(found.link.kind, tuple(_shares(found.link)))] if found.link else []
    return Document(f"{found.value} in every unit", first, tuple(parts))


def _shares(link: LinkShares) -> Iterator[Text]:
    yield from map(Text, (*link.derivation, *link.arithmetic))
    yield from (Text(f"WARNING: {line}", "warning") for line in link.warnings)


def links_document(links: Iterable[LinkClaim]) -> Document:
    """Return the links that --link accepts, with their rates."""
    rows = tuple(Row((one.kind, _rate(one), one.protocol)) for one in links)
    return Document("Links", "", (Table(_LINKS, rows, most=len(rows)),))


def _rate(one: LinkClaim) -> str:
    return f"{one.rate_bits_per_s / 1e9:g} Gb/s" if one.rate_bits_per_s else "no rate"
