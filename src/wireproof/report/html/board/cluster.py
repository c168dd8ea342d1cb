"""The first page: every node of the cluster as a small square, group by group."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from wireproof.model.history import Group, NodeNow, Overview, State
from wireproof.report.documents.history import regression_lines
from wireproof.report.html.board.frame import framed
from wireproof.report.html.board.places import CLUSTER, RESULTS, file_of, is_plain
from wireproof.report.html.board.rows import entry_rows, node_rows, words_of
from wireproof.report.html.markup import in_script, trusted
from wireproof.report.names import clean

__all__ = ["cluster_page"]

_DAY_S = 86400.0
_AGES = (_DAY_S, 7 * _DAY_S, 30 * _DAY_S)
_STATES: tuple[State, ...] = ("pass", "inconclusive", "fail", "never")
_WORDS = ("pass", "inconclusive", "fail", "never measured")
_MOST_BAD = 30
_MANY = 2500
"""Nodes from which on a square is small."""
_LEAST_COLUMN = 96
"""Pixels, so that a name such as n[00001-00064] fits."""
_LEGEND = (
    ("k0", "passed, proven within a day"),
    ("k1", "within a week"),
    ("k2", "within a month"),
    ("k3", "longer ago"),
    ("i", "inconclusive"),
    ("f", "fails"),
    ("n", "never measured"),
)


@dataclass(frozen=True)
class GroupView:
    """``words``: for who does not see the drawing; ``tone``: the worst of its nodes, "" when all
    pass.
    """

    place: str
    name: str
    words: str
    tone: str
    drawing: Any


@dataclass(frozen=True)
class CountView:
    tone: str
    words: str
    place: str


@dataclass(frozen=True)
class MapView:
    nodes: int
    words: str
    note: str
    counts: list[CountView]
    groups: list[GroupView]
    legend: tuple[tuple[str, str], ...]
    samples: list[Any]
    cell: int
    column: int
    data: Any


def cluster_page(found: Overview, places: Collection[str], written: str) -> str:
    """Map, what does not pass, the newest results. ``places``: pages of results that are there;
    ``written``: when.
    """
    nodes = [node for group in found.groups for node in group.nodes]
    bad = sorted((one for one in nodes if one.state in ("fail", "inconclusive")), key=_worst_first)
    return framed(
        "cluster",
        "Cluster",
        found.root,
        CLUSTER,
        written=written,
        map=_map(found, nodes),
        troubles=[clean(one, 400) for one in found.troubles],
        troubled=found.troubled,
        bad=node_rows(bad[:_MOST_BAD], places),
        bad_words=_bad_words(len(bad)),
        newest=entry_rows(found.newest, places),
        all_results=RESULTS,
        results=f"{found.results:,}",
        regressions=regression_lines(found.newest[0].id, found.regressions) if found.newest else [],
    )


def _worst_first(one: NodeNow) -> tuple[bool, str]:
    return one.state != "fail", one.proven


def _bad_words(count: int) -> str:
    if count > _MOST_BAD:
        return f"{_MOST_BAD} of {count:,} nodes that did not pass last"
    return "Nodes that did not pass last"


def _map(found: Overview, nodes: Sequence[NodeNow]) -> MapView:
    counted = Counter(one.state for one in nodes)
    cell = 9 if len(nodes) > _MANY else 13
    what = "below their switches" if found.by_switch else "in blocks of neighbours by name"
    return MapView(
        nodes=len(nodes),
        words=f"{len(nodes):,} {'node' if len(nodes) == 1 else 'nodes'}, {what}",
        note=(
            "A square is a node: by its last verdict, and the paler the longer ago it was proven."
            " Point at one to read it; press it to open it."
        ),
        counts=[
            CountView(state, f"{counted[state]:,} {_WORDS[at]}", file_of("nodes", state))
            for at, state in enumerate(_STATES)
            if counted[state]
        ],
        groups=[_group(number, one, cell) for number, one in enumerate(found.groups)],
        legend=_LEGEND,
        samples=[trusted(_cells(kind, [(0, 0)])) for kind, _ in _LEGEND],
        cell=cell,
        column=max([_LEAST_COLUMN, *(_columns(len(one.nodes)) * cell for one in found.groups)]) + 4,
        data=in_script(_data(found.groups)),
    )


def _columns(count: int) -> int:
    return max(1, min(count, 8)) if count <= 64 else math.ceil(math.sqrt(count))


def _group(number: int, group: Group, cell: int) -> GroupView:
    counted = Counter(one.state for one in group.nodes)
    columns = _columns(len(group.nodes))
    rows = -(-len(group.nodes) // columns)
    places: dict[str, list[tuple[int, int]]] = {}
    for at, one in enumerate(group.nodes):
        places.setdefault(_kind(one), []).append((at % columns, at // columns))
    drawn = "".join(_cells(kind, places[kind]) for kind in sorted(places))
    svg = (
        f'<svg class="cells" viewBox="0 0 {columns} {rows}" width="{columns * cell}"'
        f' height="{rows * cell}" aria-hidden="true">{drawn}</svg>'
    )
    name = clean(group.name, 60)
    said = ", ".join(
        f"{counted[state]} {_WORDS[at]}" for at, state in enumerate(_STATES) if counted[state]
    )
    tone = "fail" if counted["fail"] else "inconclusive" if counted["inconclusive"] else ""
    oldest = words_of([one for one in group.nodes if one.state == "pass"])
    return GroupView(
        place=file_of("group", str(number)),
        name=name,
        words=f"{name}: {said}{oldest}",
        tone=tone,
        drawing=trusted(svg),
    )


def _kind(one: NodeNow) -> str:
    """The class of its square."""
    if one.state != "pass":
        return one.state[0]
    age_s = math.inf if one.age_s is None else one.age_s
    return f"k{sum(age_s > most for most in _AGES)}"


def _cells(kind: str, places: Sequence[tuple[int, int]]) -> str:
    """Squares of one kind. Kinds differ by shape, too: a bar, a crossed square, a frame."""
    if kind == "n":
        path = "".join(f"M{x + 0.14:g} {y + 0.14:g}h.72v.72h-.72z" for x, y in places)
        return f'<path class="n" d="{path}"/>'
    path = "".join(f"M{x + 0.08:g} {y}.5h.84" for x, y in places)
    cross = ""
    if kind == "f":
        marks = "".join(f"M{x + 0.25:g} {y + 0.25:g}l.5 .5m0 -.5l-.5 .5" for x, y in places)
        cross = f'<path class="x" d="{marks}"/>'
    return f'<path class="{kind}" d="{path}"/>{cross}'


def _data(groups: Sequence[Group]) -> str:
    """What the pointer tells, of each group: names, states as digits, ages in s (-1: never);
    ``odd``: pages of nodes whose names are no file names.
    """
    return json.dumps(
        {
            "words": _WORDS,
            "odd": {
                f"{number},{at}": file_of("node", node.node)
                for number, one in enumerate(groups)
                for at, node in enumerate(one.nodes)
                if not is_plain(node.node)
            },
            "columns": [_columns(len(one.nodes)) for one in groups],
            "names": [[clean(node.node, 80) for node in one.nodes] for one in groups],
            "states": [
                "".join(str(_STATES.index(node.state)) for node in one.nodes) for one in groups
            ],
            "ages": [
                [-1 if node.age_s is None else round(node.age_s) for node in one.nodes]
                for one in groups
            ],
        },
        separators=(",", ":"),
    )
