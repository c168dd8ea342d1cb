"""Which link or switch: what is left when nodes are blamed, explained by as few bad links as
possible.

Greedy: the set of samples (all that cross one up-link, one spine, one leaf's up side) that chance
explains least is blamed, what it explains is set aside, and so on, until chance explains the rest.
Which up-link a flow took is known only under a routing that is tried (`routes.guess`). Where none
fits, the leaf of a bad up-link can be named, and not which of its up-links it is (`routes.stains`).
"""

from collections.abc import Set

import numpy as np

from wireproof.locate.blame import UNKNOWN_END, kind_of
from wireproof.locate.criteria import LocateCriteria, as_log, as_slowdown
from wireproof.locate.routes.cover import Culprit, Cut, Key, best_cover, cuts, key_of
from wireproof.locate.routes.crossing import View, crossing
from wireproof.locate.routes.guess import guesses, settled, sharing
from wireproof.locate.routes.stains import Stain, stains
from wireproof.locate.samples import Flags, Floats, Ints, Samples
from wireproof.model.fabric import Fabric
from wireproof.model.finding import Link, Switch
from wireproof.model.located import Blame, Direction
from wireproof.model.quantity import percent

# --- Slow links and switches as blames, with the evidence in sentences.

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


_MOST = 16
_RESTLESS = 0.2
_COMMON = 0.25
_STRICTER = 0.2  # contention is no independent chance: a leaf's stain needs more than alpha


def blame_paths(
    samples: Samples,
    expected: Floats,
    noise: float,
    excluded: Set[tuple[str, Direction]],
    fabric: Fabric | None,
    criteria: LocateCriteria | None = None,
) -> list[Blame]:
    """The links and switches that explain what is slow between leaves, the surest first.

    ``expected``: of each sample, in the metric's unit, what it should be after tier and node
    effects (K); ``noise``: relative sigma of one sample; ``excluded``: (node, direction) already
    blamed, direction "" for both: their samples say nothing about links. Directions of a link or
    leaf: ``tx`` out of the leaf, ``rx`` into it. An up side that is slow because the leaf has fewer
    up-links than others is no fault. [] without a fabric of two leaves.
    """
    criteria = criteria or LocateCriteria()
    if fabric is None or len(samples) == 0:
        return []
    use = _usable(samples, excluded) & np.isfinite(expected) & (expected > 0) & (samples.value > 0)
    cross = crossing(samples, fabric)
    if len(cross.leaves) < 2 or not np.any(use[cross.rows]):
        return []
    slowness = np.full(len(samples), np.nan)
    ratio = np.log(expected[use] / samples.value[use])
    slowness[use] = ratio if samples.metric == "goodput" else -ratio
    view = View(
        samples=samples,
        cross=cross,
        slowness=slowness,
        expected=expected,
        noise=max(noise, criteria.floor),
        practical=as_log(samples.metric, criteria.practical(samples.metric)),
    )
    return _Search(view, fabric, criteria.alpha).run()


def _usable(samples: Samples, excluded: Set[tuple[str, Direction]]) -> Flags:
    """Samples of which neither end is excluded."""
    number = {name: index for index, name in enumerate(samples.nodes)}
    bad = {each: np.zeros(len(samples.nodes), dtype=np.bool_) for each in ("tx", "rx")}
    for node, direction in excluded:
        for each in ("tx", "rx") if direction == "" else (direction,):
            if node in number:
                bad[each][number[node]] = True
    if samples.metric == "hrt":
        bad["tx"] = bad["rx"] = bad["tx"] | bad["rx"]
    return np.asarray(~bad["tx"][samples.origin] & ~bad["rx"][samples.target], dtype=np.bool_)


class _Search:
    """``residual``: log slowness of the crossing samples beyond what sharing of links explains;
    ``active``: those that no culprit explains yet.
    """

    def __init__(self, view: View, fabric: Fabric, alpha: float) -> None:
        self.view, self.cross, self.alpha = view, view.cross, alpha
        slowness = view.slowness[view.cross.rows]
        # What does not count still had its share of the links.
        every = np.isfinite(slowness)
        tried = guesses(view.samples, fabric, view.cross)
        fits, self.residual = settled(slowness, tried, every)
        if fits is None:
            _, self.residual = settled(self.residual, [sharing(view.cross)], every)
            tried = [] if self._is_restless() else tried
        self.cuts: list[Cut] = cuts(view.cross, [fits] if fits else tried)
        self.active = np.isfinite(self.residual)

    def _is_restless(self) -> bool:
        """Contention that no routing explains: flows take other routes than any that is tried, so
        none is believed.
        """
        quiet = max(self.view.practical, 4.0 * self.view.noise)
        known = self.residual[np.isfinite(self.residual)]
        return float(np.mean(np.abs(known) > quiet)) > _RESTLESS

    def run(self) -> list[Blame]:
        blames: list[Blame] = []
        refused: set[Key] = set()
        for _ in range(4 * _MOST):
            found = best_cover(self.cuts, self.residual, self.active, self.view.practical, refused)
            if found is None or found.log_p > np.log(self.alpha) or len(blames) == _MOST:
                break
            if not self._is_path(found):
                refused.add(key_of(found))
                continue
            if not self._is_expected(found):
                blames.append(blame_of_culprit(self.view, found))
            self.active &= ~self._explained(found)
        strict = float(np.log(self.alpha * _STRICTER))
        rest = stains(self.view, self.residual, self.active, strict)
        return blames + [blame_of_stain(self.view, stain) for stain in rest[:_MOST]]

    def _explained(self, found: Culprit) -> Flags:
        """All samples that cross the culprit, those too that were not counted."""
        cross, guess = self.cross, found.guess
        out, into = cross.out == found.leaf, cross.into == found.leaf
        if guess is not None:
            if found.kind == "spine":
                return np.asarray(guess.out == found.number, dtype=np.bool_)
            out, into = out & (guess.out == found.number), into & (guess.into == found.number)
        hit = {"tx": out, "rx": into, "": out | into}[found.direction]
        return np.asarray(hit, dtype=np.bool_)

    def _is_path(self, found: Culprit) -> bool:
        """Not what a single node's port explains as well, and not too little to matter."""
        if found.slowness < self.view.practical or self._elsewhere(found) > _COMMON:
            return False
        if self._is_one_port(found):
            return False
        if found.kind == "link":
            return self._is_only_link(found)
        return found.kind != "leaf" or self.view.inside_leaf(found.leaf) is not None

    def _is_one_port(self, found: Culprit) -> bool:
        """Whether all samples have one end in common, which is not known to be fast in its leaf."""
        for ends, every in (
            (self.cross.origin, self.view.samples.origin),
            (self.cross.target, self.view.samples.target),
        ):
            own = np.unique(ends[found.hit])
            if own.size == 1 and not self._is_fast_inside(int(own[0]), every, found.slowness):
                return True
        return False

    def _elsewhere(self, found: Culprit) -> float:
        """Share of the other samples that are as slow: where contention is so common it also
        gathers by itself.
        """
        every, own = float(np.sum(self.active)), float(np.sum(found.hit))
        return max(0.0, found.usual * every - found.slow) / max(1.0, every - own)

    def _is_only_link(self, found: Culprit) -> bool:
        """Whether what else leaves (or reaches) the leaf is fast: else it is the leaf, or nothing
        that is known.
        """
        out, into = self.cross.out == found.leaf, self.cross.into == found.leaf
        own = {"tx": out, "rx": into, "": out | into}[found.direction]
        rest = self.residual[own & ~self._explained(found) & self.active]
        most = max(0.5 * self.view.practical, 0.25 * found.slowness)
        return rest.size < 2 or float(np.median(rest)) < most

    def _is_fast_inside(self, node: int, ends: Ints, slowness: float) -> bool:
        """Whether ``node``, as this end, is fast within its own leaf: two samples at least say
        so.
        """
        leaf, samples = self.cross.leaf, self.view.samples
        inside = (ends == node) & (leaf[samples.origin] == leaf[samples.target])
        median = self.view.median_of(inside)
        return median is not None and median < 0.5 * slowness

    def _is_expected(self, found: Culprit) -> bool:
        """A leaf with fewer up-links than is usual shares them among as many nodes: slow, and no
        fault.
        """
        counts = [len(own) for own in self.cross.up]
        usual = float(np.median(counts))
        if found.kind != "leaf" or not 0 < counts[found.leaf] < usual:
            return False
        return float(np.log(usual / counts[found.leaf])) > 0.6 * found.slowness
