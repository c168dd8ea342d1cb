"""The strip of all nodes: the rates at which each node sends and receives, compared with the
expected rate, with culprits marked and numbered. It is one SVG without scripts. Ten thousand nodes
need only two paths: above ``MOST_COLUMNS`` nodes, a column represents several neighbours and shows
the slowest. A culprit is shown by a mark and a number, never by colour alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from statistics import median
from typing import NamedTuple

from wireproof.model import quantity
from wireproof.model.finding import PairVerdict
from wireproof.model.located import Blame, Located
from wireproof.model.traffic import DIRECTIONS, Direction
from wireproof.report.figure import Ink
from wireproof.report.judged_run import JudgedRun, counted
from wireproof.report.names import clean, natural

MOST_COLUMNS = 1000
MOST_MARKS = 40
MOST_LISTED = 12
MOST_NAMED = 16
_WIDE = 1000.0
_HIGH = 56.0
_TOP = 1.15
_LEAST_WIDTH = 3.0  # minimum width of a culprit's column, so that it is visible
_ONE_WAY = ("stream", "put")
_VERBS: dict[Direction, str] = {"tx": "sends", "rx": "receives"}


def leaf_by_node(run: JudgedRun) -> dict[str, str]:
    """Return the leaf switch of each node; empty without a fabric."""
    return run.fabric.leaves if run.fabric is not None else {}


def strip_of(run: JudgedRun, located: Located) -> Ink | None:
    """Return the strip of the goodput, or None if fewer than three nodes were measured."""
    if located.metric != "goodput":
        return None
    measured = _by_node(run, located)
    known = {node for values in measured.values() for node in values}
    if len(known) < 3:
        return None
    leaf = leaf_by_node(run)
    nodes = sorted(
        known | {*located.missing}, key=lambda node: (natural(leaf.get(node, "")), natural(node))
    )
    usual = _usual(located, measured)
    seen = [
        one
        for direction, values in measured.items()
        for one in _seen(located, direction, values, nodes, usual)
    ]
    rows = sorted(seen, key=lambda one: (not one.culprit, one.share))
    lanes = "".join(
        _lane(way, nodes, [one for one in seen if one.direction == way]) for way in measured
    )
    markup = (
        f'<div role="img" aria-label="{escape(_alt(len(nodes), rows))}">'
        f"{lanes}{_names(nodes)}</div>"
        f"<details><summary>The slowest, in numbers</summary>{_numbers(rows)}</details>"
    )
    title = "Every node: the rates at which it sends and receives, compared with the expected rate"
    return Ink(markup, title, _note(len(nodes), usual, bool(leaf)), "strip")


def _names(nodes: Sequence[str]) -> str:
    if len(nodes) > MOST_NAMED:
        return ""
    names = (escape(clean(node, 60)) for node in nodes)
    shown = "".join(f'<span title="{name}">{name}</span>' for name in names)
    return f'<div class="lane-names" aria-hidden="true">{shown}</div>'


def _numbers(rows: Sequence[_Seen]) -> str:
    heads = ("node", "direction", "MB/s", "of expected", "culprit")
    title = "The slowest nodes: goodput and share of the expected rate"
    body = "".join(map(_numbered, rows[:MOST_LISTED]))
    top = "".join(f'<th scope="col">{head}</th>' for head in heads)
    return (
        '<div class="scroll" role="group" tabindex="0" aria-label="The slowest nodes"><table>'
        f'<caption class="unseen">{title}</caption><thead><tr>{top}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _numbered(one: _Seen) -> str:
    kind, word = (' class="bad"', f"culprit {one.culprit}") if one.culprit else ("", "")
    return (
        f'<tr{kind}><th scope="row" class="text">{escape(clean(one.node, 80))}</th>'
        f'<td class="text">{_VERBS[one.direction]}</td><td>{quantity.megabytes(one.value)}</td>'
        f'<td>{quantity.percent(one.share)}</td><td class="text">{word}</td></tr>'
    )


def _usual(located: Located, measured: Mapping[Direction, Mapping[str, float]]) -> float:
    """Return the rate expected of most pairs: the median of the type of path with the most
    samples."""
    if located.tiers:
        usual = max(located.tiers, key=lambda tier: tier.samples).median
        if math.isfinite(usual) and usual > 0:
            return usual
    return median([value for values in measured.values() for value in values.values()])


def _seen(
    located: Located,
    direction: Direction,
    values: Mapping[str, float],
    nodes: Sequence[str],
    usual: float,
) -> Iterator[_Seen]:
    accused = _accused(located, direction)
    for node in nodes:
        if node in values:
            expected, culprit = accused.get(node, (usual, 0))
            yield _Seen(node, direction, values[node], values[node] / expected, culprit)


class _Seen(NamedTuple):
    """One node in one direction. ``culprit``: its number in the list, 0 for none."""

    node: str
    direction: Direction
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
        f"The line is the expected rate ({quantity.megabytes(usual)} MB/s, or the culprit's "
        "expected rate). "
    )
    return note + (
        "In the order of their switches." if by_switch else "In the order of their names."
    )


def _by_node(run: JudgedRun, located: Located) -> dict[Direction, dict[str, float]]:
    """Return the median goodput that each node sends and receives, at the size that most pairs
    have. Partners that are culprits are left out if there are others.
    """
    streams = _streams(run)
    slow = {direction: set(_accused(located, direction)) for direction in DIRECTIONS}
    found: dict[Direction, dict[str, list[float]]] = {"tx": {}, "rx": {}}
    spoilt: dict[Direction, dict[str, list[float]]] = {"tx": {}, "rx": {}}
    for pair in streams:
        sent = spoilt if pair.target_host in slow["rx"] else found
        sent["tx"].setdefault(pair.origin_host, []).append(pair.value)
        received = spoilt if pair.origin_host in slow["tx"] else found
        received["rx"].setdefault(pair.target_host, []).append(pair.value)
    return {
        one: {node: median(values) for node, values in {**spoilt[one], **found[one]}.items()}
        for one in DIRECTIONS
    }


def _streams(run: JudgedRun) -> list[PairVerdict]:
    """Return the results of one direction between different hosts, at the size that most pairs
    have.
    """
    streams = [
        pair
        for pair in counted(run.judgement)
        if pair.pattern in _ONE_WAY and pair.unit == "bytes_per_s" and pair.value > 0
    ]
    sizes = Counter(pair.message_bytes for pair in streams)
    size = max(sizes, key=lambda one: (sizes[one], one), default=0)
    return [
        pair
        for pair in streams
        if pair.message_bytes == size and pair.origin_host != pair.target_host
    ]


def _accused(located: Located, direction: Direction) -> dict[str, tuple[float, int]]:
    """Return (expected value, number of its culprit) for each accused node in one direction."""
    found: dict[str, tuple[float, int]] = {}
    for number, blame in enumerate(located.blames, 1):
        if blame.direction in ("", direction) and blame.expected > 0:
            for node in _touched(blame):
                found.setdefault(node, (blame.expected, number))
    return found


def _touched(blame: Blame) -> list[str]:
    if blame.kind in ("node", "port"):
        return [blame.subject]
    return [] if blame.kind == "pair" else list(blame.nodes)


def _y(share: float) -> float:
    return _HIGH * (1.0 - min(_TOP, max(0.0, share)) / _TOP)


def _lane(direction: Direction, nodes: Sequence[str], seen: Iterable[_Seen]) -> str:
    """Return one direction: bars, marked bars of culprits, gaps for nodes that were not measured,
    and the line of the expected rate.
    """
    by_node = {one.node: one for one in seen}
    each = max(1, -(-len(nodes) // MOST_COLUMNS))
    step = _WIDE / -(-len(nodes) // each)
    width = max(0.35, step * (0.8 if step > 2.5 else 1.0))
    good, bad, gaps, marks = "", "", "", []
    for column, start in enumerate(range(0, len(nodes), each)):
        some = nodes[start : start + each]
        known = [by_node[node] for node in some if node in by_node]
        guilty = [one for one in known if one.culprit]
        left = column * step
        if guilty:
            bad += _bar(left, max(width, _LEAST_WIDTH), guilty)
            marks.append(_mark(left + width / 2, guilty))
        elif known:
            good += _bar(left, width, known)
        if len(known) < len(some):
            gaps += f"M{left:.4g} 3h{width:.3g}"
    return (
        f'<div class="lane"><span aria-hidden="true">{_VERBS[direction]}</span>'
        f'<svg viewBox="0 -16 1000 {_HIGH + 17:.0f}" preserveAspectRatio="none" aria-hidden="true">'
        f'<path class="good" d="{good}"/><path class="bad" d="{bad}"/>'
        f'<path class="gap" d="{gaps}"/><path class="level" d="M0 {_y(1.0):.1f}H1000"/></svg>'
        f'<div class="marks" aria-hidden="true">{"".join(marks[:MOST_MARKS])}</div></div>'
    )


def _bar(left: float, width: float, some: Iterable[_Seen]) -> str:
    top = _y(min(one.share for one in some))
    return f"M{left:.4g} {_HIGH:g}V{top:.3g}h{width:.3g}V{_HIGH:g}z"


def _mark(at: float, guilty: Sequence[_Seen]) -> str:
    """Return the number of a culprit above its bar; ``at``: position from the left, 0 to 1000."""
    numbers = "/".join(list(dict.fromkeys(str(one.culprit) for one in guilty))[:2])
    title = escape(", ".join(clean(one.node, 60) for one in guilty[:4]))
    return f'<b style="left:{at / 10:.2f}%" title="{title}">{numbers}▾</b>'


def _alt(count: int, rows: list[_Seen]) -> str:
    bad = [
        f"{clean(one.node, 60)} {_VERBS[one.direction]} {quantity.percent(one.share)}"
        for one in rows
        if one.culprit
    ]
    culprits = f"Culprits: {quantity.first_few(bad, 8)}" if bad else "No culprit"
    least = quantity.percent(min((one.share for one in rows), default=None))
    return (
        f"Strip of {count} nodes, two rows of bars: sends and receives. {culprits}. Lowest: "
        f"{least} of the expected rate."
    )
