"""The pair picture: goodput from every host to every host, coloured by its share of the attainable
goodput, as a table on a page and as a separate file.

Colours go from dark orange (slow) over white to blue (full rate): safe for colour-blind readers,
and lightness alone gives the order up to full rate. A failed direction is also outlined and
described, never shown by colour alone.
"""

from collections.abc import Iterator, Sequence
from html import escape

from wireproof.model import quantity
from wireproof.report.figure.chart import Ink
from wireproof.report.figure.drawing import scale_line, shade
from wireproof.report.figure.file import PALETTE
from wireproof.report.figure.leaves import LeafMap, leaf_map
from wireproof.report.judged_run import JudgedRun
from wireproof.report.names import clean, harmless, natural
from wireproof.report.rows import Cell, ResultTable, tables

PRINTED_HOSTS = 16
MOST_HOSTS = 64
_SIDE = 640
_LEFT, _TOP = 150, 150
_LETTERS = 22


def _safe(text: str, limit: int = 80) -> str:
    return escape(harmless(clean(text, limit)))


def heat_map(table: ResultTable) -> Ink | None:
    """Return the picture of one table, or None with fewer than two directions between different
    hosts. With many hosts, only the pointer and screen readers show the values.
    """
    size, cells = table.directed
    if size is None or len(cells) < 2:
        return None
    hosts, note = _shown_hosts(cells)
    many = len(hosts) > PRINTED_HOSTS
    by_route = {(cell.origin, cell.target): cell for cell in cells}
    best = max(cell.goodput for cell in cells)
    shares = any(cell.efficiency is not None for cell in cells)
    heads = "".join(f'<th scope="col">{"" if many else "→ "}{_safe(name)}</th>' for name in hosts)
    rows = (
        f'<tr><th scope="row" class="text">{_safe(a)}{"" if many else " →"}</th>'
        + "".join(_td(by_route.get((a, b)), a == b, best, many=many) for b in hosts)
        + "</tr>"
        for a in hosts
    )
    title = f"Every direction: goodput of {table.pattern} at {quantity.size(size)}"
    below = ", below it the share of the attainable goodput" if shares and not many else ""
    markup = (
        f'<div class="scroll" role="group" tabindex="0" aria-label="{escape(title)}">'
        f'<table class="heat{" many" if many else ""}"><caption class="unseen">Goodput from each'
        " sending host (row) to each receiving host (column), MB/s</caption><thead><tr>"
        f'<td class="corner"><span class="unseen">sender</span></td>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
    scale = scale_line("of the attainable goodput" if shares else "of the fastest direction")
    return Ink(markup + scale, title, f"Rows send, columns receive. MB/s{below}. {note}".strip())


def _shown_hosts(cells: Sequence[Cell]) -> tuple[list[str], str]:
    """Return the hosts of the picture, and a note on omitted hosts. The hosts with the slowest
    directions stay.
    """
    hosts = sorted({host for cell in cells for host in (cell.origin, cell.target)}, key=natural)
    if len(hosts) <= MOST_HOSTS:
        return hosts, ""
    slow = sorted(cells, key=lambda cell: cell.goodput)
    first = dict.fromkeys(host for cell in slow for host in (cell.origin, cell.target))
    note = f"The {MOST_HOSTS} hosts with the slowest directions of {len(hosts)} are shown."
    return sorted(list(first)[:MOST_HOSTS], key=natural), note


def _td(cell: Cell | None, same: bool, best: float, *, many: bool) -> str:
    if same or cell is None:
        sign = "" if many else "·" if same else "–"
        return f'<td class="{"self" if same else "none"}">{sign}</td>'
    fill, ink = shade(_share(cell, best))
    value = quantity.significant(cell.goodput / 1e6, 4 if many else 3)
    share = quantity.percent(cell.efficiency) if cell.efficiency is not None else cell.verdict
    word = {"pass": "", "fail": ", fail"}.get(cell.verdict, ", not sure")
    told = (
        f'<span class="unseen">{value}</span>' if many else f"{value}<small>{share}{word}</small>"
    )
    title = f"{_told(cell)} {quantity.plus_minus(cell.half_width)}, {cell.proof}, {cell.verdict}"
    kind = ' class="bad"' if cell.verdict == "fail" else ""
    look = f'style="background:{fill};color:{ink}" title="{_safe(title, 400)}"'
    return f"<td{kind} {look}>{told}</td>"


def _share(cell: Cell, best: float) -> float:
    return cell.efficiency if cell.efficiency is not None else cell.goodput / best


def _told(cell: Cell) -> str:
    between = f"{clean(cell.origin, 80)} → {clean(cell.target, 80)}"
    return f"{between}: {quantity.megabytes(cell.goodput)} MB/s"


def pair_figures(runs: Sequence[JudgedRun]) -> dict[str, str]:
    """Return the text of an SVG file for each table of rates with at least two directions, by
    name.
    """
    found: dict[str, str] = {}
    for number, run in enumerate(runs, 1):
        for place, table in enumerate(tables(run), 1):
            text = _picture(run, table) if table.unit != "ns" else ""
            found |= {f"run{number}-pairs{place}": text} if text else {}
    return found


def _picture(run: JudgedRun, table: ResultTable) -> str:
    """Return the picture, leaf by leaf if there are too many hosts; "" if there is nothing to
    draw.
    """
    size, cells = table.directed
    if size is None or len(cells) < 2:
        return ""
    hosts = sorted({host for cell in cells for host in (cell.origin, cell.target)}, key=natural)
    title = f"{table.pattern} at {quantity.size(size)}: rows send, columns receive, MB/s"
    if len(hosts) > MOST_HOSTS:
        leaves = leaf_map(run, table)
        return _whole(title, "".join(_leaves(leaves))) if leaves is not None else ""
    return _whole(title, "".join(_hosts(hosts, cells)))


def _whole(title: str, inside: str) -> str:
    width, height = _LEFT + _SIDE + 16, _TOP + _SIDE + 16
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'font-family="system-ui, DejaVu Sans, sans-serif" font-size="13" fill="{PALETTE["ink"]}">'
        f'<rect width="100%" height="100%" fill="{PALETTE["card"]}"/>'
        f'<text x="12" y="24" font-size="15" font-weight="600">{_safe(title, 200)}</text>'
        f"{inside}</svg>\n"
    )


def _hosts(hosts: Sequence[str], cells: Sequence[Cell]) -> Iterator[str]:
    each = _SIDE / len(hosts)
    letters = f' font-size="{min(13.0, max(4.0, each * 0.8)):.1f}"'
    for index, host in enumerate(hosts):
        middle, name = (index + 0.6) * each, _safe(host, _LETTERS)
        side = f'x="{_LEFT - 6}" y="{_TOP + middle:.1f}" text-anchor="end"'
        yield f"<text {side}{letters}>{name}</text>"
        at = f"{_LEFT + middle:.1f} {_TOP - 6}"
        yield f'<text transform="translate({at}) rotate(-90)"{letters}>{name}</text>'
    place = {host: index for index, host in enumerate(hosts)}
    best = max(cell.goodput for cell in cells)
    for cell in cells:
        fill, ink = shade(_share(cell, best))
        x, y = _LEFT + place[cell.target] * each, _TOP + place[cell.origin] * each
        yield (
            f'<rect x="{x:.2f}" y="{y:.2f}" width="{each * 0.94:.2f}" height="{each * 0.94:.2f}" '
            f'fill="{fill}"><title>{_safe(_told(cell), 200)}</title></rect>'
        )
        if len(hosts) <= PRINTED_HOSTS:
            where = f'x="{x + each * 0.47:.1f}" y="{y + each * 0.5 + 4:.1f}" text-anchor="middle"'
            value = quantity.significant(cell.goodput / 1e6)
            yield f'<text {where} fill="{ink}">{value}</text>'


def _leaves(leaves: LeafMap) -> Iterator[str]:
    for at, name, _ in leaves.ticks:
        y = _TOP + _SIDE * at / leaves.leaves + 4
        shown = _safe(name, _LETTERS)
        yield f'<text x="{_LEFT - 6}" y="{y:.1f}" text-anchor="end">{shown}</text>'
    scale = f"{_SIDE / leaves.leaves:.5f}"
    yield f'<g transform="translate({_LEFT} {_TOP}) scale({scale})" fill="none">'
    for colour, path in leaves.strokes:
        yield f'<path stroke="{colour}" stroke-width="1.02" d="{path}"/>'
    yield "</g>"
