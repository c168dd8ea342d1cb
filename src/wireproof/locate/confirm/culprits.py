"""One of each culprit, and none that another one explains."""

from collections.abc import Sequence

import msgspec

from wireproof.locate.blame import UNKNOWN_END, is_of_node
from wireproof.locate.confirm.expected import OTHER
from wireproof.locate.screen.screened import Screened
from wireproof.model.finding import Link, Subject, Switch
from wireproof.model.located import Blame

_ALIKE, _APART = 0.25, 0.02  # two slowdowns of one cause: relative, and what noise adds


def distinct(blames: Sequence[Blame]) -> list[Blame]:
    """One of each culprit; the nodes that a path slows are joined."""
    found: dict[tuple[Subject | None, str], Blame] = {}
    for one in blames:
        key = (one.about, one.direction)
        found[key] = _joined(found[key], one) if key in found else one
    return list(found.values())


def _joined(one: Blame, other: Blame) -> Blame:
    better = max(one, other, key=lambda blame: (blame.stage == "confirmed", blame.confidence))
    return msgspec.structs.replace(
        better,
        nodes=list(dict.fromkeys([*one.nodes, *other.nodes])),
        evidence=list(dict.fromkeys([*one.evidence, *other.evidence])),
    )


def ordered(blames: Sequence[Blame]) -> list[Blame]:
    """Confirmed first, then the slowest."""
    return sorted(
        distinct(blames), key=lambda one: (one.stage != "confirmed", -one.slowdown, one.subject)
    )


def without_explained(screened: Screened, blames: Sequence[Blame]) -> list[Blame]:
    """``blames`` without pairs that a blamed leaf, one of its links or one of their own ports
    explains, and without unnamed links that a named one explains.
    """
    leaves = screened.places.leaves
    named = {name for one in blames for name in _switches(one)}
    found = []
    for one in blames:
        if one.kind == "pair":
            if not _is_behind(one, screened, named) and not _is_of_an_end(one, blames):
                found.append(one)
        elif _is_unnamed(one):
            if not any(_covers(other, one, leaves) for other in blames):
                found.append(one)
        else:
            found.append(_with_paths(one, blames, leaves))
    return found


def _is_behind(pair: Blame, screened: Screened, named: set[str]) -> bool:
    """Whether a pair is of two leaves, and one of them is among the ``named`` switches."""
    places = screened.places
    number = {name: index for index, name in enumerate(screened.samples.nodes)}
    leaves = {int(places.leaf[number[name]]) for name in pair.nodes if name in number} - {-1}
    return len(leaves) > 1 and any(places.leaves[leaf] in named for leaf in leaves)


def _is_of_an_end(pair: Blame, blames: Sequence[Blame]) -> bool:
    """Whether a pair is slow because one of its ends is, by its own port's blame, at least about as
    slow.
    """
    directions = ("tx", "rx") if pair.metric == "goodput" else ("", "")
    ends = list(zip(pair.nodes, directions, strict=False))
    return any(
        is_of_node(one, name)
        and one.direction in ("", direction)
        and pair.slowdown <= one.slowdown * (1.0 + _ALIKE) + _APART
        for one in blames
        for name, direction in ends
    )


def _with_paths(one: Blame, blames: Sequence[Blame], leaves: Sequence[str]) -> Blame:
    """A link or switch of the screen, confirmed by the paths through it that were slow alone
    too.
    """
    paths = [path for path in blames if path.stage == "confirmed" and _covers(one, path, leaves)]
    if not paths:
        return one
    seen = [line for path in paths for line in path.evidence]
    return msgspec.structs.replace(
        one,
        stage="confirmed",
        evidence=list(dict.fromkeys([*one.evidence, *seen])),
        confidence=max(one.confidence, *(path.confidence for path in paths)),
    )


def _switches(blame: Blame) -> tuple[str, ...]:
    """The switches that a link or switch names."""
    match blame.about:
        case Link(near=near, far=far):
            return near, far
        case Switch(name=name):
            return (name,)
    return ()


def _is_unnamed(blame: Blame) -> bool:
    return isinstance(blame.about, Link) and blame.about.far == UNKNOWN_END


def _covers(named: Blame, path: Blame, leaves: Sequence[str]) -> bool:
    """Whether a link or switch that is named explains a path that could not be named. One above the
    leaves explains what is about as slow on any leaf.
    """
    if not isinstance(path.about, Link) or not _is_unnamed(path) or _is_unnamed(named):
        return False
    leaf, alike = path.about.near, named.direction in ("", path.direction)
    # What leaves the near end reaches the far one.
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
