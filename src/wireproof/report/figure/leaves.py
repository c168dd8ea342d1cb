"""The picture of very many nodes: median goodput from every leaf switch to every leaf switch, as
one small SVG.

Without a fabric, groups of neighbours by name replace leaves. Cells of one shade in a row are one
stroke, so that 313 x 313 leaves take far less than a megabyte. The slowest cells are also listed
below the picture.
"""

from collections.abc import Mapping, Sequence
from html import escape
from statistics import median
from typing import NamedTuple

from wireproof.model import quantity
from wireproof.model.located import Located
from wireproof.report.figure.chart import Ink
from wireproof.report.figure.drawing import LEVELS, scale_line, shade
from wireproof.report.figure.strip import leaf_by_node
from wireproof.report.judged_run import JudgedRun
from wireproof.report.names import clean, fold, natural
from wireproof.report.rows import Cell, ResultTable

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
    what = f"Every {found.what} with every other: {table.pattern} at {quantity.size(found.size)}"
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
        label = fold(block, 60)
        found |= dict.fromkeys(block, label)
    return found, False


def _medians(
    cells: list[Cell], group: dict[str, str], place: dict[str, int]
) -> dict[tuple[int, int], float]:
    found: dict[tuple[int, int], list[float]] = {}
    for cell in cells:
        one, other = place.get(group[cell.origin]), place.get(group[cell.target])
        if one is not None and other is not None:
            found.setdefault((one, other), []).append(cell.goodput)
    return {key: median(values) for key, values in found.items()}


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
    """Return the leaves that contain a culprit or are one."""
    names = {blame.subject for one in located for blame in one.blames}
    nodes = {node for one in located for blame in one.blames for node in blame.nodes} | names
    return {group[node] for node in nodes if node in group} | (names & set(group.values()))


def _ticks(names: list[str], guilty: set[str]) -> list[tuple[float, str, bool]]:
    """Return names beside the map: every few leaves and each leaf with a culprit, as long as names
    do not overlap.
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
