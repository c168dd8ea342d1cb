"""The picture of the pairs as a file of its own: host by host, or leaf by leaf where there are too
many hosts to draw.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from wireproof.model import quantity
from wireproof.report.figure.file import PALETTE
from wireproof.report.html.heat import MOST_HOSTS, PRINTED_HOSTS, shade
from wireproof.report.html.leaves import LeafMap, leaf_map
from wireproof.report.judged_run import JudgedRun
from wireproof.report.names import clean, harmless, natural
from wireproof.report.rows import Cell, ResultTable, tables

__all__ = ["pair_figures"]

_SIDE = 640
_LEFT, _TOP = 150, 150
_LETTERS = 22


def pair_figures(sections: Sequence[JudgedRun]) -> dict[str, str]:
    """The text of an SVG file for each table of rates with two directions or more, by its name."""
    found: dict[str, str] = {}
    for number, section in enumerate(sections, 1):
        for place, table in enumerate(tables(section), 1):
            text = _picture(section, table) if table.unit != "ns" else ""
            found |= {f"run{number}-pairs{place}": text} if text else {}
    return found


def _picture(section: JudgedRun, table: ResultTable) -> str:
    """ "" where there is nothing to draw."""
    size, cells = table.directed
    if size is None or len(cells) < 2:
        return ""
    hosts = sorted({host for cell in cells for host in (cell.origin, cell.target)}, key=natural)
    title = f"{table.pattern} at {quantity.size(size)}: rows send, columns receive, MB/s"
    if len(hosts) > MOST_HOSTS:
        leaves = leaf_map(section, table, "", section.located)
        return _whole(title, "".join(_leaves(leaves))) if leaves is not None else ""
    return _whole(title, "".join(_hosts(hosts, cells)))


def _whole(title: str, inside: str) -> str:
    width, height = _LEFT + _SIDE + 16, _TOP + _SIDE + 16
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'font-family="system-ui, DejaVu Sans, sans-serif" font-size="13" fill="{PALETTE["ink"]}">'
        f'<rect width="100%" height="100%" fill="{PALETTE["card"]}"/>'
        f'<text x="12" y="24" font-size="15" font-weight="600">{_safe(title)}</text>'
        f"{inside}</svg>\n"
    )


def _safe(text: str) -> str:
    return escape(harmless(text))


def _hosts(hosts: Sequence[str], cells: Sequence[Cell]) -> Iterator[str]:
    each = _SIDE / len(hosts)
    letters = f' font-size="{min(13.0, max(4.0, each * 0.8)):.1f}"'
    for index, host in enumerate(hosts):
        middle, name = (index + 0.6) * each, _safe(clean(host, _LETTERS))
        side = f'x="{_LEFT - 6}" y="{_TOP + middle:.1f}" text-anchor="end"'
        yield f"<text {side}{letters}>{name}</text>"
        at = f"{_LEFT + middle:.1f} {_TOP - 6}"
        yield f'<text transform="translate({at}) rotate(-90)"{letters}>{name}</text>'
    place = {host: index for index, host in enumerate(hosts)}
    best = max(cell.goodput for cell in cells)
    for cell in cells:
        share = cell.efficiency if cell.efficiency is not None else cell.goodput / best
        told = f"{cell.origin} → {cell.target}: {quantity.megabytes(cell.goodput)} MB/s"
        x, y = _LEFT + place[cell.target] * each, _TOP + place[cell.origin] * each
        yield (
            f'<rect x="{x:.2f}" y="{y:.2f}" width="{each * 0.94:.2f}" height="{each * 0.94:.2f}" '
            f'fill="{shade(share)[0]}"><title>{_safe(clean(told, 200))}</title></rect>'
        )
        if len(hosts) <= PRINTED_HOSTS:
            where = f'x="{x + each * 0.47:.1f}" y="{y + each * 0.5 + 4:.1f}" text-anchor="middle"'
            value = quantity.significant(cell.goodput / 1e6)
            yield f'<text {where} fill="{shade(share)[1]}">{value}</text>'


def _leaves(leaves: LeafMap) -> Iterator[str]:
    for tick in leaves.ticks:
        y = _TOP + _SIDE * tick.at / leaves.count + 4
        name = _safe(clean(tick.name, _LETTERS))
        yield f'<text x="{_LEFT - 6}" y="{y:.1f}" text-anchor="end">{name}</text>'
    yield f'<g transform="translate({_LEFT} {_TOP}) scale({_SIDE / leaves.count:.5f})" fill="none">'
    for colour, path in leaves.strokes:
        yield f'<path stroke="{colour}" stroke-width="1.02" d="{path}"/>'
    yield "</g>"
