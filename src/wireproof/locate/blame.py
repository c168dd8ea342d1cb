# pure
"""Build blames in the form that reports use, merge duplicates, and drop those that another culprit
explains.
"""

import dataclasses
from collections.abc import Mapping, Sequence

import msgspec

from wireproof.locate.samples import Ints, value_of
from wireproof.locate.significance import as_slowdown
from wireproof.model.finding import Both, Link, Node, Port, Route, Subject, Switch
from wireproof.model.located import Blame, BlameKind, Direction, Metric, Stage, name_of

# highest confidence of a culprit that was confirmed alone, and of a culprit found only in the
# screen
_SURE, _UNSURE = 0.999, 0.95
OTHER: dict[Direction, Direction] = {"tx": "rx", "rx": "tx"}
UNKNOWN_END = "?"
"""The far end of a link if only its leaf switch is known."""


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class SlownessEstimate:
    """``slowness`` and its standard ``error`` are natural logarithms relative to ``expected`` (a
    log slowness). ``p`` is adjusted for the number of hypotheses tested.
    """

    slowness: float
    error: float
    p: float
    expected: float


_KINDS: dict[type[Subject], BlameKind] = {
    Node: "node",
    Port: "port",
    Link: "link",
    Switch: "switch",
    Route: "pair",
    Both: "pair",
}


def kind_of(about: Subject) -> BlameKind:
    """Return the kind of culprit that ``about`` is. Raise ValueError for a subject that cannot be a
    culprit.
    """
    if type(about) not in _KINDS:
        raise ValueError(f"{about} is not a culprit")
    return _KINDS[type(about)]


def is_of_node(blame: Blame, node: str) -> bool:
    """Return whether the culprit is ``node`` or one of its ports."""
    return isinstance(blame.about, Node | Port) and blame.subject == node


def pair_of(metric: Metric, origin: str, target: str) -> Route | Both:
    """Return the pair as a culprit: a route for goodput, both directions for half round trips."""
    return Route(origin, target) if metric == "goodput" else Both(origin, target)


def blame_of(
    about: Subject,
    metric: Metric,
    estimate: SlownessEstimate,
    *,
    stage: Stage,
    nodes: Sequence[str],
    evidence: Sequence[str] = (),
    direction: Direction = "",
) -> Blame:
    """Build a blame from an estimate. The interval is the estimate +/- 1.96 standard errors.

    ``direction`` applies to links and switches; a port already has a direction.
    """
    slowness, error = estimate.slowness, estimate.error
    most = _SURE if stage == "confirmed" else _UNSURE
    return Blame(
        kind=kind_of(about),
        subject=name_of(about),
        about=about,
        direction=about.direction if isinstance(about, Port) else direction,
        metric=metric,
        slowdown=as_slowdown(metric, slowness),
        low=as_slowdown(metric, slowness - 1.96 * error),
        high=as_slowdown(metric, slowness + 1.96 * error),
        confidence=max(0.0, min(most, 1.0 - estimate.p)),
        stage=stage,
        value=value_of(metric, estimate.expected + slowness),
        expected=value_of(metric, estimate.expected),
        nodes=list(nodes),
        evidence=list(evidence),
    )


# --- Duplicates, and culprits that another culprit explains.

# largest difference between two slowdowns of the same cause: relative, and absolute for noise
_ALIKE, _APART = 0.25, 0.02


def distinct(blames: Sequence[Blame]) -> list[Blame]:
    """Merge blames of the same culprit, and the nodes that a path slows down."""
    blame_of: dict[tuple[Subject | None, str], Blame] = {}
    for blame in blames:
        key = (blame.about, blame.direction)
        blame_of[key] = _joined(blame_of[key], blame) if key in blame_of else blame
    return list(blame_of.values())


def _joined(one: Blame, other: Blame) -> Blame:
    better = max(one, other, key=lambda blame: (blame.stage == "confirmed", blame.confidence))
    return msgspec.structs.replace(
        better,
        nodes=list(dict.fromkeys([*one.nodes, *other.nodes])),
        evidence=list(dict.fromkeys([*one.evidence, *other.evidence])),
    )


def ordered(blames: Sequence[Blame]) -> list[Blame]:
    """Sort blames: confirmed first, then the slowest."""
    return sorted(
        distinct(blames),
        key=lambda blame: (blame.stage != "confirmed", -blame.slowdown, blame.subject),
    )


def without_explained(
    blames: Sequence[Blame], nodes: Sequence[str], leaf: Ints, leaves: Sequence[str]
) -> list[Blame]:
    """Drop pairs that a blamed leaf, one of its links or one of their ports explains, and unnamed
    links that a named link explains. ``leaf``: for each node, an index into ``leaves``, -1 if it is
    unknown.
    """
    leaf_of = {name: leaves[at] for name, at in zip(nodes, leaf.tolist(), strict=True) if at >= 0}
    named = {name for blame in blames for name in _switches(blame)}
    kept = []
    for blame in blames:
        if blame.kind == "pair":
            gone = _is_behind(blame, leaf_of, named) or _is_of_an_end(blame, blames)
        else:
            gone = any(_covers(other, blame, leaves) for other in blames)
        kept += [] if gone else [_with_paths(blame, blames, leaves)]
    return kept


def _is_behind(pair: Blame, leaf_of: Mapping[str, str], named: set[str]) -> bool:
    """Return whether a pair spans two leaves and one of them is among the ``named`` switches."""
    leaves = {leaf_of[name] for name in pair.nodes if name in leaf_of}
    return len(leaves) > 1 and bool(leaves & named)


def _is_of_an_end(pair: Blame, blames: Sequence[Blame]) -> bool:
    """Return whether a blamed port of the pair is about as slow as the pair, or slower."""
    directions = ("tx", "rx") if pair.metric == "goodput" else ("", "")
    ends = list(zip(pair.nodes, directions, strict=False))
    return any(
        is_of_node(blame, name)
        and blame.direction in ("", direction)
        and pair.slowdown <= blame.slowdown * (1.0 + _ALIKE) + _APART
        for blame in blames
        for name, direction in ends
    )


def _with_paths(named: Blame, blames: Sequence[Blame], leaves: Sequence[str]) -> Blame:
    """Confirm a link or switch suspected by the screen if paths through it were also slow when
    measured alone.
    """
    paths = [path for path in blames if path.stage == "confirmed" and _covers(named, path, leaves)]
    if not paths:
        return named
    seen = [line for path in paths for line in path.evidence]
    return msgspec.structs.replace(
        named,
        stage="confirmed",
        evidence=list(dict.fromkeys([*named.evidence, *seen])),
        confidence=max(named.confidence, *(path.confidence for path in paths)),
    )


def _switches(blame: Blame) -> tuple[str, ...]:
    """Return the switches that are part of a link or switch culprit."""
    match blame.about:
        case Link(near=near, far=far):
            return near, far
        case Switch(name=name):
            return (name,)
    return ()


def _is_unnamed(blame: Blame) -> bool:
    return isinstance(blame.about, Link) and blame.about.far == UNKNOWN_END


def _covers(named: Blame, path: Blame, leaves: Sequence[str]) -> bool:
    """Return whether a known link or switch explains a path whose link is unknown. A switch above
    the leaves explains paths of about the same slowdown on any leaf.
    """
    if not isinstance(path.about, Link) or not _is_unnamed(path) or _is_unnamed(named):
        return False
    leaf, alike = path.about.near, named.direction in ("", path.direction)
    # Traffic that leaves the near end enters the far end.
    opposite = named.direction in ("", OTHER.get(path.direction, ""))
    match named.about:
        case Link(near=near, far=far):
            return (leaf == near and alike) or (leaf == far and opposite)
        case Switch(name=name) if name in leaves:
            return leaf == name and alike
        case Switch():
            apart = abs(named.slowdown - path.slowdown)
            return alike and apart <= _ALIKE * named.slowdown + _APART
    return False
