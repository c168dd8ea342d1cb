"""The pair picture: goodput from every host to every host, coloured by its share of the attainable
goodput, as a table on a page and as a separate file.

Colours range from dark orange (slow) through white to blue (full rate): they are safe for
colour-blind readers, and lightness alone shows the order up to full rate. A failed direction is
also outlined and described, never shown by colour alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from statistics import median
from typing import NamedTuple

from wireproof.model import gathered, quantity
from wireproof.model.located import Located
from wireproof.report.figure import Ink
from wireproof.report.figure.drawing import LEVELS, scale_line, shade
from wireproof.report.figure.file import PALETTE
from wireproof.report.figure.strip import leaf_by_node
from wireproof.report.judged_run import JudgedRun
from wireproof.report.names import clean, fold, harmless, natural
from wireproof.report.rows import Cell, ResultTable, shown_hosts, tables

# --- The picture of very many nodes: median goodput from every leaf switch to every leaf
# switch, as one small SVG.

GROUPS_WITHOUT_FABRIC = 64
MOST_LEAVES = 512
MOST_TOLD = 6


class LeafMap(NamedTuple):
    """``leaves``: number of leaves drawn. ``strokes``: (colour, path). ``ticks``: distance from the
    top, name, and whether it contains a culprit. ``slowest``: texts for the slowest cells;
    ``best``: the rate with full shade, bytes/s; ``left_out``: number of leaves not drawn.
    """

    what: str
    size: int
    leaves: int
    strokes: list[tuple[str, str]]
    ticks: list[tuple[float, str, bool]]
    slowest: list[str]
    best: float
    left_out: int


def leaf_map(run: JudgedRun, table: ResultTable) -> LeafMap | None:
    """Return the map of one table of rates, or None with fewer than two groups that measured each
    other.
    """
    size, cells = table.directed
    group, real = _groups(run, cells)
    names = sorted(set(group.values()), key=natural)
    if size is None or len(names) < 2:
        return None
    place = {leaf: index for index, leaf in enumerate(names[:MOST_LEAVES])}
    values = _medians(cells, group, place)
    if not values:
        return None
    best = sorted(values.values())[int(0.9 * (len(values) - 1))]
    return LeafMap(
        "leaf switch" if real else "group of neighbours by name",
        size,
        len(place),
        _strokes(_levels(values, best), len(place)),
        _ticks(names[:MOST_LEAVES], _guilty(run.located, group)),
        _slowest(values, names, best),
        best,
        max(0, len(names) - MOST_LEAVES),
    )


def leaf_picture(run: JudgedRun, table: ResultTable) -> Ink | None:
    """Return the map as a picture of a page."""
    found = leaf_map(run, table)
    if found is None:
        return None
    left = f" {found.left_out} more are left out." if found.left_out else ""
    note = (
        f"Rows send, columns receive; a cell is the median from one {found.what} to another, and"
        f" empty if no pair was measured.{left}"
    )
    alt = f"Map of {found.leaves} by {found.leaves}. Slowest: {'; '.join(found.slowest[:3])}."
    names = "".join(_tick(found.leaves, *tick) for tick in found.ticks)
    drawn = "".join(f'<path stroke="{colour}" d="{path}"/>' for colour, path in found.strokes)
    markup = (
        f'<div class="leaves" role="img" aria-label="{escape(alt)}">'
        f'<div class="names" aria-hidden="true">{names}</div>'
        f'<svg viewBox="0 0 {found.leaves} {found.leaves}" preserveAspectRatio="none"'
        f' shape-rendering="crispEdges" aria-hidden="true">{drawn}</svg></div>'
    )
    scale = f"of {quantity.megabytes(found.best)} MB/s (nine of ten cells are below it)"
    below = f"<p>The slowest: {escape('; '.join(found.slowest))}.</p>"
    what = f"Every {found.what} to every other: {table.pattern} at {quantity.size(found.size)}"
    return Ink(f"{markup}{scale_line(scale)}{below}", what, note)


def _tick(count: int, at: float, name: str, guilty: bool) -> str:
    kind, mark = (' class="guilty"', " ▸") if guilty else ("", "")
    return f'<span{kind} style="top:{100 * at / count:.2f}%">{escape(name)}{mark}</span>'


def _levels(values: Mapping[tuple[int, int], float], best: float) -> dict[tuple[int, int], int]:
    if not best:
        return dict.fromkeys(values, 0)
    return {key: min(LEVELS, round(LEVELS * one / best)) for key, one in values.items()}


def _groups(run: JudgedRun, cells: list[Cell]) -> tuple[dict[str, str], bool]:
    """Return the leaf of each node, or a folded block of neighbours; True for real leaves."""
    nodes = sorted({host for cell in cells for host in (cell.origin, cell.target)}, key=natural)
    leaf = leaf_by_node(run)
    if leaf and sum(node in leaf for node in nodes) > len(nodes) / 2:
        return {node: leaf.get(node, "no known switch") for node in nodes}, True
    each = max(1, -(-len(nodes) // GROUPS_WITHOUT_FABRIC))
    found: dict[str, str] = {}
    for start in range(0, len(nodes), each):
        block = nodes[start : start + each]
        found |= dict.fromkeys(block, fold(block, 60))
    return found, False


def _medians(
    cells: list[Cell], group: dict[str, str], place: dict[str, int]
) -> dict[tuple[int, int], float]:
    drawn = [cell for cell in cells if {group[cell.origin], group[cell.target]} <= place.keys()]
    rates = gathered(
        ((place[group[cell.origin]], place[group[cell.target]]), cell.goodput) for cell in drawn
    )
    return {key: median(values) for key, values in rates.items()}


def _strokes(level: dict[tuple[int, int], int], count: int) -> list[tuple[str, str]]:
    """Return one path for each shade; adjacent cells of one shade in a row are one horizontal
    stroke.
    """
    paths: dict[int, list[str]] = {}
    for row in range(count):
        column = 0
        while column < count:
            shade_here = level.get((row, column))
            end = column + 1
            while end < count and level.get((row, end)) == shade_here:
                end += 1
            if shade_here is not None:
                paths.setdefault(shade_here, []).append(f"M{column} {row}.5h{end - column}")
            column = end
    return [(shade(one / LEVELS)[0], "".join(paths[one])) for one in sorted(paths)]


def _guilty(located: Sequence[Located], group: dict[str, str]) -> set[str]:
    """Return the leaves that are a culprit or contain one."""
    names = {blame.subject for one in located for blame in one.blames}
    nodes = {node for one in located for blame in one.blames for node in blame.nodes} | names
    return {group[node] for node in nodes if node in group} | (names & set(group.values()))


def _ticks(names: list[str], guilty: set[str]) -> list[tuple[float, str, bool]]:
    """Return the names beside the map: of some leaves at regular distances and of each leaf with a
    culprit, as far as names do not overlap.
    """
    room = max(1.0, len(names) / 24)
    chosen: list[int] = [i for i, name in enumerate(names) if name in guilty][:24]
    for i in range(0, len(names), max(1, len(names) // 12)):
        if all(abs(i - other) >= room for other in chosen):
            chosen.append(i)
    return [(i + 0.5, clean(names[i], 40), names[i] in guilty) for i in sorted(chosen)]


def _slowest(values: dict[tuple[int, int], float], names: list[str], best: float) -> list[str]:
    worst = sorted(values, key=lambda key: (values[key], key))[:MOST_TOLD]
    return [
        f"{clean(names[a], 60)} → {clean(names[b], 60)}: {quantity.megabytes(values[a, b])} MB/s, "
        f"{quantity.percent(values[a, b] / best if best else None)}"
        for a, b in worst
    ]


PRINTED_HOSTS = 16
MOST_HOSTS = 64
_SIDE = 640
_LEFT, _TOP = 150, 150
_LETTERS = 22


def _safe(text: str, limit: int = 80) -> str:
    return escape(harmless(clean(text, limit)))


def heat_map(table: ResultTable) -> Ink | None:
    """Return the picture of one table, or None with fewer than two directions between different
    hosts. With many hosts, the values are only in tooltips and for screen readers.
    """
    size, cells = table.directed
    if size is None or len(cells) < 2:
        return None
    hosts, left = shown_hosts(cells, MOST_HOSTS)
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
    note = f"Rows send, columns receive. MB/s{below}.{_omission(len(hosts), left)}"
    return Ink(markup + scale, title, note)


def _omission(shown: int, left: int) -> str:
    of_all = f"of {shown + left} are shown."
    return f" The {shown} hosts with the slowest directions {of_all}" if left else ""


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
    hosts, left = shown_hosts(cells, MOST_HOSTS)
    title = f"{table.pattern} at {quantity.size(size)}: rows send, columns receive, MB/s"
    if left:
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
            yield f'<text {where} fill="{ink}">{quantity.significant(cell.goodput / 1e6)}</text>'


def _leaves(leaves: LeafMap) -> Iterator[str]:
    for at, name, _ in leaves.ticks:
        y = _TOP + _SIDE * at / leaves.leaves + 4
        yield f'<text x="{_LEFT - 6}" y="{y:.1f}" text-anchor="end">{_safe(name, _LETTERS)}</text>'
    scale = f"{_SIDE / leaves.leaves:.5f}"
    yield f'<g transform="translate({_LEFT} {_TOP}) scale({scale})" fill="none">'
    for colour, path in leaves.strokes:
        yield f'<path stroke="{colour}" stroke-width="1.02" d="{path}"/>'
    yield "</g>"
