"""Published numbers as a document: for each link and pattern a strip of dots, the values, and the
sources.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from wireproof.model import quantity
from wireproof.model.atlas import AtlasView, Spread
from wireproof.report.document import (
    Document,
    Dots,
    Facts,
    Head,
    Part,
    Picture,
    Row,
    Section,
    Table,
    Text,
)
from wireproof.report.figure import Chart
from wireproof.report.figure.series import atlas_chart

_AT = {"time": 8, "goodput": 1 << 20}
_LINKS = (Head("link", 9, left=True), Head("sources", 8))
_ROWS = (
    Head("value", 9),
    Head("at", 8),
    Head("source: adapter, tool, MPI", 7, left=True),
)
_Shown = tuple[float, int, Spread]


def atlas_document(found: AtlasView, *, listed: bool, at: int | None) -> Document:
    """``listed``: only the links with their numbers of sources; ``at``: the message size of the
    values.
    """
    title = "Published numbers"
    if not found.series:
        none = "the atlas has no such number: docs/atlas.md describes how to add one"
        return Document(title, none, ())
    parts: list[Part] = [Text(f"of the site: {name}", "note") for name in found.files]
    if listed and at is None:
        rows = tuple(Row((name, str(count))) for name, count in found.links.items())
        parts.insert(0, Table(_LINKS, rows, most=len(rows)))
    else:
        parts = [*_groups(found, at), *parts]
    counts = f"{quantity.counted(found.sources, 'source')}, {quantity.counted(found.rows, 'row')}"
    answer = f"{counts}; every row is within the limits of its link"
    return Document(title, answer, tuple(parts))


def _groups(found: AtlasView, at: int | None) -> Iterator[Part]:
    groups: dict[tuple[str, str, str], list[_Shown]] = {}
    for one in found.series:
        place = shown_value(one, at)
        if place is not None:
            groups.setdefault((one.link, one.pattern, one.quantity), []).append((*place, one))
    for (link, pattern, what), rows in groups.items():
        rows.sort(key=lambda row: row[0], reverse=what == "goodput")
        yield _group(f"{link} {pattern}: {len(rows)} series", rows)
    yield Picture(partial(_charts, found))
    shown = {one.source: one for rows in groups.values() for _, _, one in rows}
    about = (
        (one.source, f"({f'{one.trust} {one.date}'.strip()}) {one.title}; {one.where}")
        for one in sorted(shown.values(), key=lambda one: one.source)
    )
    yield Section("Sources", (Facts(tuple(about)),))


def _charts(found: AtlasView) -> list[Chart]:
    return [atlas_chart(found)]


def _group(title: str, rows: Sequence[_Shown]) -> Section:
    strip = Dots(tuple(value for value, _, _ in rows), rows[0][2].quantity)
    table = Table(_ROWS, tuple(map(_row, rows)), most=len(rows))
    return Section(title, (Facts((("", strip),)), table))


def _row(found: _Shown) -> Row:
    value, size, one = found
    shown = quantity.short_time if one.quantity == "time" else quantity.throughput
    about = ", ".join(filter(None, (one.adapter, one.tool, one.mpi, one.judged)))
    own = f" [{one.file}]" if one.file else ""
    at = quantity.size(size) if size else "peak"
    return Row((shown(value), at, f"{one.source}{own}: {about}"))


def shown_value(one: Spread, at: int | None) -> tuple[float, int] | None:
    """Return (value in ns or bytes/s, size) at the requested size, or at the printed size closest
    to the default.
    """
    wanted = (_AT[one.quantity] if at is None else at).bit_length()
    near = min(one.si, key=lambda row: abs(row[0].bit_length() - wanted), default=None)
    return (near[1], near[0]) if near is not None else None
