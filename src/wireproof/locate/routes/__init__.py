# pure
"""Explain the slowness that remains after nodes are blamed, with as few bad links or switches as
possible.

Greedy: blame the set of samples (all that cross one up-link, one spine, or one leaf's up side) that
is least likely slow by chance, set aside what it explains, and repeat until chance explains the
rest. The up-link of a flow is known only under a routing rule (`routes.crossing`). If no rule fits,
only the leaf of a bad up-link can be found (`cover.stains`).
"""

from collections.abc import Set

import numpy as np

from wireproof.locate.blame import UNKNOWN_END, kind_of
from wireproof.locate.routes.cover import Culprit, Cut, Key, best_cover, cuts, key_of, stains
from wireproof.locate.routes.crossing import View, crossing, guesses, settled, sharing
from wireproof.locate.samples import Flags, Floats, Ints, Samples
from wireproof.locate.significance import MEDIAN_FACTOR, LocateCriteria, as_log, as_slowdown
from wireproof.model.finding import Link, Switch
from wireproof.model.located import Blame, Direction, Fabric
from wireproof.model.quantity import percent

# --- Blames of slow links and switches, with evidence sentences.

_SUREST = (
    0.95  # measured while other pairs ran, and the meaning of an up-link number is an assumption
)
_LISTED = 12
_READ_THE_PORTS = (
    "read the error counters of these ports, and measure the slow pairs alone, without contention"
)
_SIDES = {"tx": "out of", "rx": "into", "": "out of and into"}


def blame_of_culprit(view: View, culprit: Culprit) -> Blame:
    """Return the blame of a set of samples that are slow together."""
    counted = f"{culprit.slow} of {int(np.sum(culprit.hit))} samples"
    rest = (
        f"are {_percent(view, culprit.slowness)} slower; of all samples across leaves"
        f" {percent(culprit.usual, 1)} are"
    )
    describe = {"leaf": _leaf, "spine": _spine, "link": _link, "stain": _stain}[culprit.kind]
    about, evidence = describe(view, culprit, counted, rest)
    direction: Direction = "" if culprit.kind == "spine" else culprit.direction
    return _blame(view, about, direction, culprit, evidence)


def _leaf(view: View, culprit: Culprit, counted: str, rest: str) -> tuple[Link | Switch, list[str]]:
    """Blame a whole leaf, or its link if all its slow samples run to one other leaf."""
    name = view.cross.leaves[culprit.leaf]
    evidence = [f"{counted} {_SIDES[culprit.direction]} {name} {rest}", _within(view, culprit)]
    other = _other_end(view, culprit)
    if other and culprit.direction and _is_fast_inside(view, culprit):
        return Link(name, other), [*evidence, _one_to_the_other(view, culprit, other)]
    return Switch(name), evidence


def _spine(view: View, culprit: Culprit, counted: str, rest: str) -> tuple[Switch, list[str]]:
    spine = view.cross.up[0][culprit.number]
    return Switch(spine), [f"{counted} through {spine}, of every leaf, {rest}", _rule(culprit)]


def _link(view: View, culprit: Culprit, counted: str, rest: str) -> tuple[Link, list[str]]:
    name, far, twins = _ends(view, culprit)
    evidence = [
        f"{counted} {_SIDES[culprit.direction]} {name} by up-link {culprit.number} {rest}",
        _rule(culprit),
    ]
    other = _other_end(view, culprit)
    if far == UNKNOWN_END and other and len(view.cross.up[culprit.leaf]) == 1:
        far = other  # its only link leads to its only neighbour
        evidence.append(_one_to_the_other(view, culprit, other))
    elif other:
        evidence.append(f"or its other end: all of these samples run between {name} and {other}")
    if twins > 1:
        evidence.append(f"one of {twins} parallel cables between {name} and {far}")
    return Link(name, far), evidence


def _stain(view: View, culprit: Culprit, _counted: str, _rest: str) -> tuple[Link, list[str]]:
    """Blame an up-link that cannot be distinguished from its neighbours."""
    name, width = view.cross.leaves[culprit.leaf], len(view.cross.up[culprit.leaf])
    counted = (
        f"{culprit.slow} of {culprit.total} samples {_SIDES[culprit.direction]} {name} "
        f"({percent(culprit.slow / culprit.total)}) are {_percent(view, culprit.slowness)} "
        f"slower; one of {width} up-links carries {percent(1 / width)}; elsewhere "
        f"{percent(culprit.usual, 1)} are that slow"
    )
    unknown = (
        f"end-to-end samples do not show which of the {width} up-links it is, because the "
        "routing is unknown"
    )
    return Link(name, UNKNOWN_END), [counted, unknown, _READ_THE_PORTS]


def _rule(culprit: Culprit) -> str:
    rule = culprit.guess.rule if culprit.guess else "chance"
    return f"assuming routing by {rule}, with up-links in the order of the fabric"


def _ends(view: View, culprit: Culprit) -> tuple[str, str, int]:
    """Return (leaf, far end of the up-link or ?, number of parallel cables)."""
    up = view.cross.up[culprit.leaf]
    exact = culprit.guess is not None and bool(culprit.guess.exact[culprit.leaf])
    far = up[culprit.number] if exact and culprit.number < len(up) else UNKNOWN_END
    return view.cross.leaves[culprit.leaf], far, up.count(far)


def _other_end(view: View, culprit: Culprit) -> str:
    """Return the leaf at the other end of all samples of a culprit; "" if there are several."""
    far = {"tx": view.cross.into, "rx": view.cross.out}.get(culprit.direction)
    leaves = np.unique(far[culprit.hit]) if far is not None else np.zeros(0)
    return view.cross.leaves[int(leaves[0])] if leaves.size == 1 else ""


def _one_to_the_other(view: View, culprit: Culprit, other: str) -> str:
    """Return a sentence on the possible places of the fault if a leaf has only one neighbour."""
    name = view.cross.leaves[culprit.leaf]
    first, last = (name, other) if culprit.direction == "tx" else (other, name)
    return (
        "all of these samples run from one to the other: the fault is where traffic leaves "
        f"{first}, where it enters {last}, or in the link between them"
    )


def _is_fast_inside(view: View, culprit: Culprit) -> bool:
    """Return whether the samples within a leaf are known to be fast."""
    inside = view.inside_leaf(culprit.leaf)
    return inside is not None and inside < 0.5 * culprit.slowness


def _within(view: View, culprit: Culprit) -> str:
    """Describe the samples within a slow leaf."""
    name = view.cross.leaves[culprit.leaf]
    if _is_fast_inside(view, culprit):
        return (
            f"within {name} its nodes are fast, so its up side is slow; if it is fast when "
            "measured alone, it is oversubscribed, not faulty"
        )
    return (
        f"within {name} its nodes are as slow: the switch itself is slow, or the link that feeds it"
    )


def _percent(view: View, slowness: float) -> str:
    return percent(as_slowdown(view.samples.metric, slowness))


def _blame(
    view: View,
    about: Link | Switch,
    direction: Direction,
    culprit: Culprit,
    evidence: list[str],
) -> Blame:
    metric, slowness = view.samples.metric, culprit.slowness
    rows = view.cross.rows[culprit.hit]
    error = MEDIAN_FACTOR * view.noise / float(np.sqrt(rows.size))
    expected = float(np.median(view.expected[rows]))
    ends = np.unique(
        np.concatenate((view.cross.origin[culprit.hit], view.cross.target[culprit.hit]))
    )
    return Blame(
        kind=kind_of(about),
        subject=str(about),
        about=about,
        direction=direction,
        metric=metric,
        slowdown=as_slowdown(metric, slowness),
        low=as_slowdown(metric, slowness - 1.96 * error),
        high=as_slowdown(metric, slowness + 1.96 * error),
        confidence=_SUREST * (1.0 - float(np.exp(min(0.0, culprit.log_p)))),
        stage="screened",
        value=expected * float(np.exp(-slowness if metric == "goodput" else slowness)),
        expected=expected,
        nodes=[view.samples.nodes[end] for end in ends[:_LISTED].tolist()],
        evidence=evidence,
    )


_MOST = 16
_RESTLESS = 0.2
_COMMON = 0.25
_STRICTER = 0.2  # factor on alpha for the stain of a leaf, because contention is not independent


def blame_paths(
    samples: Samples,
    expected: Floats,
    noise: float,
    excluded: Set[tuple[str, Direction]],
    fabric: Fabric | None,
    criteria: LocateCriteria | None = None,
) -> list[Blame]:
    """Return the links and switches that explain slow samples between leaves, the most certain
    first.

    ``expected``: for each sample, in the metric's unit, the value after tier and node effects (K).
    ``noise``: relative sigma of one sample. ``excluded``: (node, direction) already blamed,
    direction "" for both; their samples are not evidence about links. The direction of a link or
    leaf is ``tx`` for traffic that leaves the leaf, ``rx`` for traffic that enters it. An up side
    that is slow because the leaf has fewer up-links than others is not blamed. Returns [] unless
    the fabric has two leaves.
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
    """Flag samples with neither end excluded."""
    number = {name: index for index, name in enumerate(samples.nodes)}
    bad = {way: np.zeros(len(samples.nodes), dtype=np.bool_) for way in ("tx", "rx")}
    for node, direction in excluded:
        for way in ("tx", "rx") if direction == "" else (direction,):
            if node in number:
                bad[way][number[node]] = True
    if samples.metric == "hrt":
        bad["tx"] = bad["rx"] = bad["tx"] | bad["rx"]
    return np.asarray(~bad["tx"][samples.origin] & ~bad["rx"][samples.target], dtype=np.bool_)


class _Search:
    """The state of the search. ``residual``: log slowness of the crossing samples that sharing of
    links does not explain. ``active``: samples that no culprit explains yet.
    """

    def __init__(self, view: View, fabric: Fabric, alpha: float) -> None:
        self.view, self.cross, self.alpha = view, view.cross, alpha
        slowness = view.slowness[view.cross.rows]
        # Samples that do not count have also used the links.
        every = np.isfinite(slowness)
        tried = guesses(view.samples, fabric, view.cross)
        fits, self.residual = settled(slowness, tried, every)
        if fits is None:
            _, self.residual = settled(self.residual, [sharing(view.cross)], every)
            tried = [] if self._is_restless() else tried
        self.cuts: list[Cut] = cuts(view.cross, [fits] if fits else tried)
        self.active = np.isfinite(self.residual)

    def _is_restless(self) -> bool:
        """Return whether much contention remains that no routing rule explains: then flows take
        other routes, and no rule is trusted.
        """
        quiet = max(self.view.practical, 4.0 * self.view.noise)
        known = self.residual[np.isfinite(self.residual)]
        return float(np.mean(np.abs(known) > quiet)) > _RESTLESS

    def run(self) -> list[Blame]:
        blames: list[Blame] = []
        refused: set[Key] = set()
        for _ in range(4 * _MOST):
            culprit = best_cover(
                self.cuts, self.residual, self.active, self.view.practical, refused
            )
            if culprit is None or culprit.log_p > np.log(self.alpha) or len(blames) == _MOST:
                break
            if not self._is_path(culprit):
                refused.add(key_of(culprit))
                continue
            if not self._is_expected(culprit):
                blames.append(blame_of_culprit(self.view, culprit))
            self.active &= ~self._explained(culprit)
        strict = float(np.log(self.alpha * _STRICTER))
        rest = stains(self.view, self.residual, self.active, strict)
        return blames + [blame_of_culprit(self.view, stain) for stain in rest[:_MOST]]

    def _explained(self, culprit: Culprit) -> Flags:
        """Flag all samples that cross the culprit, including those that did not count."""
        cross, guess = self.cross, culprit.guess
        out, into = cross.out == culprit.leaf, cross.into == culprit.leaf
        if guess is not None:
            if culprit.kind == "spine":
                return np.asarray(guess.out == culprit.number, dtype=np.bool_)
            out, into = out & (guess.out == culprit.number), into & (guess.into == culprit.number)
        hit = {"tx": out, "rx": into, "": out | into}[culprit.direction]
        return np.asarray(hit, dtype=np.bool_)

    def _is_path(self, culprit: Culprit) -> bool:
        """Return whether the culprit matters and a single node's port does not explain it equally
        well.
        """
        if culprit.slowness < self.view.practical or self._elsewhere(culprit) > _COMMON:
            return False
        if self._is_one_port(culprit):
            return False
        if culprit.kind == "link":
            return self._is_only_link(culprit)
        return culprit.kind != "leaf" or self.view.inside_leaf(culprit.leaf) is not None

    def _is_one_port(self, culprit: Culprit) -> bool:
        """Return whether all samples share an end that is not known to be fast within its leaf."""
        for ends, every in (
            (self.cross.origin, self.view.samples.origin),
            (self.cross.target, self.view.samples.target),
        ):
            shared = np.unique(ends[culprit.hit])
            if shared.size == 1 and not self._is_fast_inside(
                int(shared[0]), every, culprit.slowness
            ):
                return True
        return False

    def _elsewhere(self, culprit: Culprit) -> float:
        """Return the share of the other samples that are as slow. If contention is this common, it
        also clusters by chance.
        """
        every, hit = float(np.sum(self.active)), float(np.sum(culprit.hit))
        return max(0.0, culprit.usual * every - culprit.slow) / max(1.0, every - hit)

    def _is_only_link(self, culprit: Culprit) -> bool:
        """Return whether other traffic in that direction of the leaf is fast; if not, the leaf is
        slow or the cause is unknown.
        """
        out, into = self.cross.out == culprit.leaf, self.cross.into == culprit.leaf
        side = {"tx": out, "rx": into, "": out | into}[culprit.direction]
        rest = self.residual[side & ~self._explained(culprit) & self.active]
        most = max(0.5 * self.view.practical, 0.25 * culprit.slowness)
        return rest.size < 2 or float(np.median(rest)) < most

    def _is_fast_inside(self, node: int, ends: Ints, slowness: float) -> bool:
        """Return whether ``node``, as this end, is fast within its leaf, by at least two
        samples.
        """
        leaf, samples = self.cross.leaf, self.view.samples
        inside = (ends == node) & (leaf[samples.origin] == leaf[samples.target])
        median = self.view.median_of(inside)
        return median is not None and median < 0.5 * slowness

    def _is_expected(self, culprit: Culprit) -> bool:
        """Return whether the leaf is slow because it has fewer up-links than usual: expected, not a
        fault.
        """
        counts = [len(far_ends) for far_ends in self.cross.up]
        usual = float(np.median(counts))
        if culprit.kind != "leaf" or not 0 < counts[culprit.leaf] < usual:
            return False
        return float(np.log(usual / counts[culprit.leaf])) > 0.6 * culprit.slowness
