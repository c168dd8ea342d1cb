"""Slow links and switches as blames, with the evidence in sentences."""

from __future__ import annotations

import numpy as np

from wireproof.locate.blame import UNKNOWN_END, kind_of
from wireproof.locate.criteria import as_slowdown
from wireproof.locate.routes.cover import Culprit
from wireproof.locate.routes.crossing import View
from wireproof.locate.routes.stains import Stain
from wireproof.model.located import Blame, Direction
from wireproof.model.quantity import percent
from wireproof.model.subject import Link, Switch

__all__ = ["blame_of_culprit", "blame_of_stain"]


_SUREST = 0.95  # seen among others; which up-link a number means is an assumption too
_LISTED = 12
_MEDIAN_FACTOR = 1.2533  # standard error of a median (see significance)
_READ_THE_PORTS = (
    "read the error counters of these ports, and measure the slow pairs alone: contention is gone"
    " then"
)
_SIDES = {"tx": "out of", "rx": "into", "": "out of and into"}


def blame_of_culprit(view: View, found: Culprit) -> Blame:
    """The blame of a set of samples that are slow together."""
    counted = f"{found.slow} of {int(np.sum(found.hit))} samples"
    rest = (
        f"are {_percent(view, found.slowness)} slower; of all samples across leaves"
        f" {percent(found.usual, 1)} are"
    )
    describe = {"leaf": _leaf, "spine": _spine, "link": _link}[found.kind]
    about, evidence = describe(view, found, counted, rest)
    direction: Direction = "" if found.kind == "spine" else found.direction
    return _blame(view, about, direction, found, evidence)


def blame_of_stain(view: View, stain: Stain) -> Blame:
    """One up-link that looks like its neighbours."""
    name, width = view.cross.leaves[stain.leaf], len(view.cross.up[stain.leaf])
    hit, own = int(np.sum(stain.hit)), int(np.sum(stain.own))
    counted = (
        f"{hit} of {own} samples {_SIDES[stain.direction]} {name} ({percent(hit / own)}) are"
        f" {_percent(view, stain.slowness)} slower; one of {width} up-links carries"
        f" {percent(1 / width)}; elsewhere {percent(stain.usual, 1)} are that slow"
    )
    unknown = (
        f"which of the {width} up-links it is end-to-end samples do not show: how flows are spread"
        " is not known"
    )
    evidence = [counted, unknown, _READ_THE_PORTS]
    return _blame(view, Link(name, UNKNOWN_END), stain.direction, stain, evidence)


def _leaf(view: View, found: Culprit, counted: str, rest: str) -> tuple[Link | Switch, list[str]]:
    """A whole leaf, or its link to the only leaf that its slow samples run to."""
    name = view.cross.leaves[found.leaf]
    evidence = [f"{counted} {_SIDES[found.direction]} {name} {rest}", _within(view, found)]
    other = _other_end(view, found)
    if other and found.direction and _is_fast_inside(view, found):
        return Link(name, other), [*evidence, _one_to_the_other(view, found, other)]
    return Switch(name), evidence


def _spine(view: View, found: Culprit, counted: str, rest: str) -> tuple[Switch, list[str]]:
    spine = view.cross.up[0][found.number]
    return Switch(spine), [f"{counted} through {spine}, of every leaf, {rest}", _rule(found)]


def _link(view: View, found: Culprit, counted: str, rest: str) -> tuple[Link, list[str]]:
    name, far, twins = _ends(view, found)
    evidence = [
        f"{counted} {_SIDES[found.direction]} {name} by up-link {found.number} {rest}",
        _rule(found),
    ]
    other = _other_end(view, found)
    if far == UNKNOWN_END and other and len(view.cross.up[found.leaf]) == 1:
        far = other  # the only link that it has, to the only neighbour
        evidence.append(_one_to_the_other(view, found, other))
    elif other:
        evidence.append(f"or its other end: all of these samples run between {name} and {other}")
    if twins > 1:
        evidence.append(f"one of {twins} parallel cables between {name} and {far}")
    return Link(name, far), evidence


def _rule(found: Culprit) -> str:
    rule = found.guess.rule if found.guess else "chance"
    return f"if routing is by {rule}, up-links in the order of the fabric"


def _ends(view: View, found: Culprit) -> tuple[str, str, int]:
    """(leaf, far end of the up-link or ?, how many parallel cables it may be)."""
    up = view.cross.up[found.leaf]
    exact = found.guess is not None and bool(found.guess.exact[found.leaf])
    far = up[found.number] if exact and found.number < len(up) else UNKNOWN_END
    return view.cross.leaves[found.leaf], far, up.count(far)


def _other_end(view: View, found: Culprit) -> str:
    """The leaf at the other end of all that a culprit explains, if that is one leaf."""
    far = {"tx": view.cross.into, "rx": view.cross.out}.get(found.direction)
    leaves = np.unique(far[found.hit]) if far is not None else np.zeros(0)
    return view.cross.leaves[int(leaves[0])] if leaves.size == 1 else ""


def _one_to_the_other(view: View, found: Culprit, other: str) -> str:
    """What it may be where a leaf has one neighbour only."""
    name = view.cross.leaves[found.leaf]
    first, last = (name, other) if found.direction == "tx" else (other, name)
    return (
        f"all of these samples run from one to the other: what leaves {first}, what reaches {last},"
        " or the link between them"
    )


def _is_fast_inside(view: View, found: Culprit) -> bool:
    """Whether the samples within a leaf are known to be fast."""
    inside = view.inside_leaf(found.leaf)
    return inside is not None and inside < 0.5 * found.slowness


def _within(view: View, found: Culprit) -> str:
    """What the samples within a slow leaf say."""
    name = view.cross.leaves[found.leaf]
    if _is_fast_inside(view, found):
        return (
            f"within {name} its nodes are fast: its up side, not the nodes; one that is fast when"
            " measured alone is oversubscribed, not faulty"
        )
    return f"within {name} its nodes are as slow: the switch itself, or what feeds it"


def _percent(view: View, slowness: float) -> str:
    return percent(as_slowdown(view.samples.metric, slowness))


def _blame(
    view: View,
    about: Link | Switch,
    direction: Direction,
    found: Culprit | Stain,
    evidence: list[str],
) -> Blame:
    metric, slowness = view.samples.metric, found.slowness
    rows = view.cross.rows[found.hit]
    error = _MEDIAN_FACTOR * view.noise / float(np.sqrt(rows.size))
    expected = float(np.median(view.expected[rows]))
    ends = np.unique(np.concatenate((view.cross.origin[found.hit], view.cross.target[found.hit])))
    return Blame(
        kind=kind_of(about),
        subject=str(about),
        about=about,
        direction=direction,
        metric=metric,
        slowdown=as_slowdown(metric, slowness),
        low=as_slowdown(metric, slowness - 1.96 * error),
        high=as_slowdown(metric, slowness + 1.96 * error),
        confidence=_SUREST * (1.0 - float(np.exp(min(0.0, found.log_p)))),
        stage="screened",
        value=expected * float(np.exp(-slowness if metric == "goodput" else slowness)),
        expected=expected,
        nodes=[view.samples.nodes[one] for one in ends[:_LISTED].tolist()],
        evidence=evidence,
    )
