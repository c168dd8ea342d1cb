"""Merge duplicate culprits, and drop those that another culprit explains."""

from collections.abc import Sequence

import msgspec

from wireproof.locate.blame import UNKNOWN_END, is_of_node
from wireproof.locate.confirm.expected import OTHER
from wireproof.locate.screen.screened import Screened
from wireproof.model.finding import Link, Subject, Switch
from wireproof.model.located import Blame

# largest difference between two slowdowns of the same cause: relative, and absolute for noise
_ALIKE, _APART = 0.25, 0.02


def distinct(blames: Sequence[Blame]) -> list[Blame]:
    """Merge blames of the same culprit; the nodes that a path slows are joined."""
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


def without_explained(screened: Screened, blames: Sequence[Blame]) -> list[Blame]:
    """Drop pairs that a blamed leaf, one of its links or one of their ports explains, and unnamed
    links that a named link explains.
    """
    leaves = screened.places.leaves
    named = {name for blame in blames for name in _switches(blame)}
    kept = []
    for blame in blames:
        if blame.kind == "pair":
            if not _is_behind(blame, screened, named) and not _is_of_an_end(blame, blames):
                kept.append(blame)
        elif _is_unnamed(blame):
            if not any(_covers(other, blame, leaves) for other in blames):
                kept.append(blame)
        else:
            kept.append(_with_paths(blame, blames, leaves))
    return kept


def _is_behind(pair: Blame, screened: Screened, named: set[str]) -> bool:
    """Return whether a pair spans two leaves and one of them is among the ``named`` switches."""
    places = screened.places
    number = {name: index for index, name in enumerate(screened.samples.nodes)}
    leaves = {int(places.leaf[number[name]]) for name in pair.nodes if name in number} - {-1}
    return len(leaves) > 1 and any(places.leaves[leaf] in named for leaf in leaves)


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
    """Confirm a link or switch of the screen by the paths through it that were slow alone too."""
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
    """Return the switches that a link or switch names."""
    match blame.about:
        case Link(near=near, far=far):
            return near, far
        case Switch(name=name):
            return (name,)
    return ()


def _is_unnamed(blame: Blame) -> bool:
    return isinstance(blame.about, Link) and blame.about.far == UNKNOWN_END


def _covers(named: Blame, path: Blame, leaves: Sequence[str]) -> bool:
    """Return whether a named link or switch explains a path that could not be named. A switch above
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
