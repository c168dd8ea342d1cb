"""The strip of all nodes: how fast each one sends and receives beside what is expected, culprits
marked and numbered.

One SVG without scripts. Ten thousand nodes make two paths: above ``MOST_COLUMNS`` a column stands
for several neighbours and shows the slowest of them. A culprit is told by a mark and a number,
never by colour alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from wireproof.model import quantity
from wireproof.model.located import Blame, Located
from wireproof.report.names import clean, natural
from wireproof.report.section import Section

__all__ = ["Lane", "Mark", "Strip", "leaf_by_node", "strip_of"]

MOST_COLUMNS = 1000
MOST_MARKS = 40
MOST_LISTED = 12
_WIDE = 1000.0
_HIGH = 56.0
_TOP = 1.15
_LEAST_WIDTH = 3.0  # of a culprit's column, so that it is seen
_ONE_WAY = ("stream", "put")


@dataclass(frozen=True)
class Mark:
    """``at``: from the left, 0 to 1000; ``number`` stands at the mark and in the list."""

    at: str
    number: str
    title: str


@dataclass(frozen=True)
class Lane:
    """One direction: ``good`` and ``bad`` are SVG paths, ``level`` the height of what is
    expected.
    """

    way: str
    good: str
    bad: str
    gaps: str
    marks: list[Mark]


@dataclass(frozen=True)
class Strip:
    """``rows``: the slowest nodes, as (node, way, goodput, share of the expected, word)."""

    id: str
    title: str
    note: str
    alt: str
    level: str
    high: str
    lanes: list[Lane]
    rows: list[tuple[str, str, str, str, str]]


def leaf_by_node(section: Section) -> dict[str, str]:
    """Node to its leaf switch; empty without a fabric."""
    if section.fabric is None:
        return {}
    return {one.node: one.switch for one in reversed(section.fabric.attachments)}


def strip_of(section: Section, located: Located, name: str) -> Strip | None:
    """The strip of the goodput, or None with fewer than three nodes that were measured."""
    if located.metric != "goodput":
        return None
    sent, received = _by_node(section, located)
    leaf = leaf_by_node(section)
    nodes = sorted(
        {*sent, *received, *located.missing},
        key=lambda node: (natural(leaf.get(node, "")), natural(node)),
    )
    if len({*sent, *received}) < 3:
        return None
    # Most pairs take the kind of path with the most samples.
    usual = max(located.tiers, key=lambda tier: tier.samples).median if located.tiers else 0.0
    usual = (
        usual
        if math.isfinite(usual) and usual > 0
        else median([*sent.values(), *received.values()])
    )
    lanes: list[Lane] = []
    rows: list[_Seen] = []
    for way, found in (("tx", sent), ("rx", received)):
        accused = _accused(located, way)
        seen = [
            _Seen(
                node,
                way,
                found[node],
                found[node] / accused.get(node, (usual, 0))[0],
                accused.get(node, (0, 0))[1],
            )
            for node in nodes
            if node in found
        ]
        lanes.append(_lane(way, nodes, {one.node: one for one in seen}))
        rows += seen
    rows.sort(key=lambda one: (not one.culprit, one.share))
    return Strip(
        id=f"{name}-strip",
        title="Every node: what it sends and receives, beside what is expected",
        note=_note(len(nodes), usual, bool(leaf)),
        alt=_alt(len(nodes), rows),
        level=f"{_y(1.0):.1f}",
        high=f"{_HIGH:g}",
        lanes=lanes,
        rows=[_row(one) for one in rows[:MOST_LISTED]],
    )


class _Seen(NamedTuple):
    """``culprit``: its number in the list, 0 for none."""

    node: str
    way: str
    value: float
    share: float
    culprit: int


def _note(count: int, usual: float, by_switch: bool) -> str:
    note = (
        f"Each column is the slowest of {-(-count // MOST_COLUMNS)} neighbours. "
        if count > MOST_COLUMNS
        else ""
    )
    note += (
        f"The line is what is expected ({quantity.megabytes(usual)} MB/s, or the culprit's own). "
    )
    return note + (
        "In the order of their switches." if by_switch else "In the order of their names."
    )


def _by_node(section: Section, located: Located) -> tuple[dict[str, float], dict[str, float]]:
    """Median goodput that each node sends and receives, over partners that are no culprits (where
    there are any); of the size that most pairs have.
    """
    sizes: dict[int, int] = {}
    streams = [
        p
        for p in section.judgement.pairs
        if p.pattern in _ONE_WAY and p.unit == "bytes_per_s" and p.value > 0
    ]
    for pair in streams:
        sizes[pair.message_bytes] = sizes.get(pair.message_bytes, 0) + 1
    size = max(sizes, key=lambda one: (sizes[one], one), default=0)
    slow = {way: set(_accused(located, way)) for way in ("tx", "rx")}
    found: dict[str, dict[str, list[float]]] = {"tx": {}, "rx": {}}
    spoilt: dict[str, dict[str, list[float]]] = {"tx": {}, "rx": {}}
    for pair in streams:
        if pair.message_bytes != size or pair.origin_host == pair.target_host:
            continue
        ends = (
            ("tx", pair.origin_host, pair.target_host in slow["rx"]),
            ("rx", pair.target_host, pair.origin_host in slow["tx"]),
        )
        for way, node, by_culprit in ends:
            (spoilt if by_culprit else found)[way].setdefault(node, []).append(pair.value)
    sent, received = (
        {n: median(v) for n, v in {**spoilt[way], **found[way]}.items()} for way in ("tx", "rx")
    )
    return sent, received


def _accused(located: Located, way: str) -> dict[str, tuple[float, int]]:
    """Node to (what is expected of it, the number of its culprit) for one direction."""
    found: dict[str, tuple[float, int]] = {}
    for number, blame in enumerate(located.blames, 1):
        if blame.direction in ("", way) and blame.expected > 0:
            for node in _touched(blame):
                found.setdefault(node, (blame.expected, number))
    return found


def _touched(blame: Blame) -> list[str]:
    return (
        [blame.subject]
        if blame.kind in ("node", "port")
        else []
        if blame.kind == "pair"
        else list(blame.nodes)
    )


def _y(share: float) -> float:
    return _HIGH * (1.0 - min(_TOP, max(0.0, share)) / _TOP)


def _lane(way: str, nodes: list[str], seen: dict[str, _Seen]) -> Lane:
    each = max(1, -(-len(nodes) // MOST_COLUMNS))
    count = -(-len(nodes) // each)
    step = _WIDE / count
    width = max(0.35, step * (0.8 if step > 2.5 else 1.0))
    paths: dict[str, list[str]] = {"good": [], "bad": [], "gaps": []}
    marks: list[Mark] = []
    for column in range(count):
        some = nodes[column * each : (column + 1) * each]
        known = [seen[node] for node in some if node in seen]
        guilty = [one for one in known if one.culprit]
        left = column * step
        if known:
            top = _y(min(one.share for one in guilty or known))
            wide = max(width, _LEAST_WIDTH) if guilty else width
            paths["bad" if guilty else "good"].append(
                f"M{left:.4g} {_HIGH:g}V{top:.3g}h{wide:.3g}V{_HIGH:g}z"
            )
        if len(known) < len(some):
            paths["gaps"].append(f"M{left:.4g} 3h{width:.3g}")
        if guilty and len(marks) < MOST_MARKS:
            numbers = list(dict.fromkeys(str(one.culprit) for one in guilty))[:2]
            title = ", ".join(clean(one.node, 60) for one in guilty[:4])
            marks.append(Mark(f"{left + width / 2:.1f}", "/".join(numbers), title))
    words = "sends" if way == "tx" else "receives"
    return Lane(words, "".join(paths["good"]), "".join(paths["bad"]), "".join(paths["gaps"]), marks)


def _row(one: _Seen) -> tuple[str, str, str, str, str]:
    word = f"culprit {one.culprit}" if one.culprit else ""
    way = "sends" if one.way == "tx" else "receives"
    return (
        clean(one.node, 80),
        way,
        quantity.megabytes(one.value),
        quantity.percent(one.share),
        word,
    )


def _alt(count: int, rows: list[_Seen]) -> str:
    words = {"tx": "sends", "rx": "receives"}
    bad = [
        f"{clean(one.node, 60)} {words[one.way]} {quantity.percent(one.share)}"
        for one in rows
        if one.culprit
    ]
    more = f" and {len(bad) - 8} more" if len(bad) > 8 else ""
    told = f"Culprits: {', '.join(bad[:8])}{more}" if bad else "No culprit"
    least = quantity.percent(min((one.share for one in rows), default=None))
    return (
        f"Strip of {count} nodes, two rows of bars: sends and receives. {told}. Least: {least} "
        "of what is expected."
    )
