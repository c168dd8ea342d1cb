"""What ``wireproof atlas`` prints: for each link and pattern a strip of dots, and the sources."""

from __future__ import annotations

from collections.abc import Iterable

from wireproof.model import quantity
from wireproof.model.atlas import AtlasView, Spread
from wireproof.report.text.dots import dots
from wireproof.report.text.look import Look

__all__ = ["atlas_text", "shown_value"]

_AT = {"time": 8, "goodput": 1 << 20}


def atlas_text(found: AtlasView, look: Look, *, listed: bool, at: int | None) -> str:
    """``listed``: the links with their numbers of sources, and no rows; ``at``: the size of the
    values.
    """
    if not found.series:
        return "no number of that kind is in the atlas: docs/atlas.md says how to add one"
    lines = _links(found) if listed and at is None else _groups(found, look, at)
    total = (
        f"{quantity.counted(found.sources, 'source')}, {quantity.counted(found.rows, 'row')}; "
        "every row is within the limits of its link"
    )
    lines += ["", total]
    lines += [f"of the site: {look.say(name)}" for name in found.files]
    return "\n".join(lines)


def _links(found: AtlasView) -> list[str]:
    width = max((len(name) for name in found.links), default=0)
    return [
        f"{name:{width}}  {quantity.counted(count, 'source')}"
        for name, count in found.links.items()
    ]


def _groups(found: AtlasView, look: Look, at: int | None) -> list[str]:
    groups: dict[tuple[str, str, str], list[tuple[float, int, Spread]]] = {}
    for one in found.series:
        place = shown_value(one, at)
        if place is not None:
            value, size = place
            groups.setdefault((one.link, one.pattern, one.quantity), []).append((value, size, one))
    lines: list[str] = []
    for (link, pattern, what), rows in groups.items():
        rows.sort(key=lambda row: row[0], reverse=what == "goodput")
        values = [value for value, _, _ in rows]
        lines += ["", f"{link} {pattern}: {len(rows)} series"]
        lines.append(f"  {dots(values, rows[0][2].quantity, look)}")
        lines += [_row(value, size, one, look) for value, size, one in rows]
    shown = {one.source: one for rows in groups.values() for _, _, one in rows}
    lines += ["", "sources:", *_sources(shown.values(), look)]
    return lines[1:]


def _row(value: float, size: int, one: Spread, look: Look) -> str:
    shown = quantity.short_time if one.quantity == "time" else quantity.throughput
    at = quantity.size(size) if size else "peak"
    about = ", ".join(filter(None, (one.adapter, one.tool, one.mpi, one.judged)))
    own = f" [{one.file}]" if one.file else ""
    return f"  {shown(value):>11} {at:>7}  {look.say(f'{one.source}{own}: {about}', 300)}"


def _sources(found: Iterable[Spread], look: Look) -> list[str]:
    return [
        "  "
        + look.say(
            f"{one.source} ({one.trust} {one.date}".rstrip() + f"): {one.title}; {one.where}"
        )
        for one in sorted(found, key=lambda one: one.source)
    ]


def shown_value(one: Spread, at: int | None) -> tuple[float, int] | None:
    """(value in ns or bytes/s, size) at the size, or at the printed one nearest to the usual."""
    wanted = (_AT[one.quantity] if at is None else at).bit_length()
    near = min(one.si, key=lambda row: abs(row[0].bit_length() - wanted), default=None)
    return (near[1], near[0]) if near is not None else None
