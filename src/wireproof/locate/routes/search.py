"""Which link or switch: what is left when nodes are blamed, explained by as few bad links as
possible.

Greedy: the set of samples (all that cross one up-link, one spine, one leaf's up side) that chance
explains least is blamed, what it explains is set aside, and so on, until chance explains the rest.
Which up-link a flow took is known only under a routing that is tried (`routes.guess`). Where none
fits, the leaf of a bad up-link can be told, and not which of its up-links it is (`routes.stains`).
"""

from __future__ import annotations

from collections.abc import Set

import numpy as np
from numpy.typing import NDArray

from wireproof.locate.blame import UNKNOWN_END, kind_of
from wireproof.locate.criteria import Criteria, as_log, as_slowdown
from wireproof.locate.routes.cover import Culprit, best_cover, cuts, name_of
from wireproof.locate.routes.guess import Crossing, crossing, guesses, settled, sharing
from wireproof.locate.routes.stains import Stain, stains
from wireproof.locate.samples import Samples
from wireproof.model.fabric import Fabric
from wireproof.model.located import Blame, Direction, Stage
from wireproof.model.subject import Link, Switch

__all__ = ["blame_paths"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_MOST = 16
_SUREST = 0.95  # seen among others; which up-link a number means is an assumption too
_LISTED = 12
_RESTLESS = 0.2
_COMMON = 0.25
_STRICTER = 0.2  # contention is no independent chance: a leaf's stain needs more than alpha


def blame_paths(
    samples: Samples,
    expected: Floats,
    noise: float,
    excluded: Set[tuple[str, Direction]],
    fabric: Fabric | None,
    criteria: Criteria | None = None,
    *,
    stage: Stage = "screened",
) -> list[Blame]:
    """The links and switches that explain what is slow between leaves, the surest first.

    ``expected``: of each sample, in the metric's unit, what it should be after tier and node
    effects (K); ``noise``: relative sigma of one sample; ``excluded``: (node, direction) already
    blamed, direction "" for both: their samples say nothing about links. Directions of a link or
    leaf: ``tx`` out of the leaf, ``rx`` into it. An up side that is slow because the leaf has fewer
    up-links than others is no fault. [] without a fabric of two leaves.
    """
    criteria = criteria or Criteria()
    if fabric is None or len(samples) == 0:
        return []
    use = _usable(samples, excluded) & np.isfinite(expected) & (expected > 0) & (samples.value > 0)
    cross = crossing(samples, fabric, np.ones(len(samples), dtype=np.bool_))
    if len(cross.leaves) < 2 or not np.any(use[cross.rows]):
        return []
    slowness = np.full(len(samples), np.nan)
    slowness[use] = np.log(expected[use] / samples.value[use]) * (
        1.0 if samples.metric == "goodput" else -1.0
    )
    return _Search(samples, fabric, cross, slowness, expected, noise, criteria, stage).run()


def _usable(samples: Samples, excluded: Set[tuple[str, Direction]]) -> Flags:
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
    """``slowness``: log slowness of each sample, NaN where it does not count; ``residual``: of
    those that cross.
    """

    def __init__(
        self,
        samples: Samples,
        fabric: Fabric,
        cross: Crossing,
        slowness: Floats,
        expected: Floats,
        noise: float,
        criteria: Criteria,
        stage: Stage,
    ) -> None:
        self.samples, self.cross, self.slowness, self.expected = samples, cross, slowness, expected
        self.noise = max(noise, criteria.floor)
        self.alpha, self.stage = criteria.alpha, stage
        self.practical = as_log(samples.metric, criteria.practical(samples.metric))
        # What does not count still had its share of the links.
        every = np.isfinite(slowness[cross.rows])
        tried = guesses(samples, fabric, cross)
        fits, self.residual = settled(slowness[cross.rows], tried, every)
        if fits is None:
            _, self.residual = settled(self.residual, [sharing(cross)], every)
        self.cuts = cuts(cross, [fits] if fits else [] if self._restless() else tried)
        self.active = np.isfinite(self.residual)

    def _restless(self) -> bool:
        """Contention that no routing explains: flows take other ways than any that is tried, so
        none is believed.
        """
        quiet = max(self.practical, 4.0 * self.noise)
        return float(np.mean(np.abs(self.residual[np.isfinite(self.residual)]) > quiet)) > _RESTLESS

    def run(self) -> list[Blame]:
        blames: list[Blame] = []
        refused: set[object] = set()
        for _ in range(4 * _MOST):
            found = best_cover(self.cuts, self.residual, self.active, self.practical, refused)
            if found is None or found.log_p > np.log(self.alpha) or len(blames) == _MOST:
                break
            if not self._is_path(found):
                refused.add(name_of(found))
                continue
            if not self._is_expected(found):
                blames.append(self._blame(found))
            self.active &= ~self._explained(found)
        strict = float(np.log(self.alpha * _STRICTER))
        rest = stains(self.cross, self.residual, self.active, self.practical, self.noise, strict)
        return blames + [self._one_of(stain) for stain in rest[:_MOST]]

    def _explained(self, found: Culprit) -> Flags:
        """All samples that cross the culprit, those too that were not counted."""
        cross, guess = self.cross, found.guess
        out, into = cross.out == found.leaf, cross.into == found.leaf
        if guess is not None:
            if found.kind == "spine":
                return np.asarray(guess.out == found.number, dtype=np.bool_)
            out, into = out & (guess.out == found.number), into & (guess.into == found.number)
        hit = out | into if found.direction == "" else (out if found.direction == "tx" else into)
        return np.asarray(hit, dtype=np.bool_)

    def _is_path(self, found: Culprit) -> bool:
        """Not what a single node's port explains as well, and not too little to matter."""
        if found.slowness < self.practical or self._elsewhere(found) > _COMMON:
            return False
        for ends, every in (
            (self.cross.origin, self.samples.origin),
            (self.cross.target, self.samples.target),
        ):
            own = np.unique(ends[found.hit])
            if own.size == 1 and not self._fast_inside(int(own[0]), every, found.slowness):
                return False
        if found.kind == "link":
            return self._is_only_link(found)
        return found.kind != "leaf" or self._inside_leaf(found.leaf) is not None

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
        own = (
            (self.cross.out == found.leaf)
            if found.direction != "rx"
            else np.zeros(found.hit.size, np.bool_)
        )
        own = own | (self.cross.into == found.leaf) if found.direction != "tx" else own
        rest = self.residual[own & ~self._explained(found) & self.active]
        return rest.size < 2 or float(np.median(rest)) < max(
            0.5 * self.practical, 0.25 * found.slowness
        )

    def _fast_inside(self, node: int, ends: NDArray[np.int32], slowness: float) -> bool:
        """Whether ``node``, as this end, is fast within its own leaf: two samples at least say
        so.
        """
        leaf = self.cross.leaf
        inside = (ends == node) & (leaf[self.samples.origin] == leaf[self.samples.target])
        values = self.slowness[inside & np.isfinite(self.slowness)]
        return values.size >= 2 and float(np.median(values)) < 0.5 * slowness

    def _inside_leaf(self, number: int) -> float | None:
        """Median log slowness within a leaf; None when fewer than two samples tell it."""
        leaf = self.cross.leaf
        inside = (leaf[self.samples.origin] == number) & (leaf[self.samples.target] == number)
        values = self.slowness[inside & np.isfinite(self.slowness)]
        return float(np.median(values)) if values.size >= 2 else None

    def _is_expected(self, found: Culprit) -> bool:
        """A leaf with fewer up-links than is usual shares them among as many nodes: slow, and no
        fault.
        """
        counts = [len(own) for own in self.cross.up]
        usual = float(np.median(counts))
        if found.kind != "leaf" or not 0 < counts[found.leaf] < usual:
            return False
        return float(np.log(usual / counts[found.leaf])) > 0.6 * found.slowness

    def _percent(self, slowness: float) -> str:
        return f"{100 * as_slowdown(self.samples.metric, slowness):.0f} %"

    def _blame(self, found: Culprit) -> Blame:
        counted = f"{found.slow} of {int(np.sum(found.hit))} samples"
        rest = f"are {self._percent(found.slowness)} slower; of all samples across leaves {100 * found.usual:.1f} % are"
        if found.kind == "leaf":
            name = self.cross.leaves[found.leaf]
            evidence = [f"{counted} {_ways(found.direction)} {name} {rest}", self._within(found)]
            other = self._other_end(found)
            if other and found.direction and self._is_fast_inside(found):
                evidence.append(
                    f"all of these samples run from one to the other: {self._either(found, other)}"
                )
                return self._told(
                    Link(name, other),
                    found.direction,
                    found.hit,
                    found.slowness,
                    found.log_p,
                    evidence,
                )
            return self._told(
                Switch(name), found.direction, found.hit, found.slowness, found.log_p, evidence
            )
        rule = f"if routing is by {found.guess.rule if found.guess else 'chance'}, up-links in the order of the fabric"
        if found.kind == "spine":
            spine = self.cross.up[0][found.number]
            evidence = [f"{counted} through {spine}, of every leaf, {rest}", rule]
            return self._told(Switch(spine), "", found.hit, found.slowness, found.log_p, evidence)
        name, far, twins = self._link(found)
        evidence = [
            f"{counted} {_ways(found.direction)} {name} by up-link {found.number} {rest}",
            rule,
        ]
        other = self._other_end(found)
        if far == UNKNOWN_END and other and len(self.cross.up[found.leaf]) == 1:
            far = other  # the only link that it has, to the only neighbour
            evidence.append(
                f"all of these samples run from one to the other: {self._either(found, other)}"
            )
        elif other:
            evidence.append(
                f"or its other end: all of these samples run between {name} and {other}"
            )
        if twins > 1:
            evidence.append(f"one of {twins} parallel cables between {name} and {far}")
        return self._told(
            Link(name, far), found.direction, found.hit, found.slowness, found.log_p, evidence
        )

    def _is_fast_inside(self, found: Culprit) -> bool:
        """Whether the samples within a leaf are known to be fast."""
        inside = self._inside_leaf(found.leaf)
        return inside is not None and inside < 0.5 * found.slowness

    def _either(self, found: Culprit, other: str) -> str:
        """What it may be where a leaf has one neighbour only."""
        name = self.cross.leaves[found.leaf]
        first, last = (name, other) if found.direction == "tx" else (other, name)
        return f"what leaves {first}, what reaches {last}, or the link between them"

    def _within(self, found: Culprit) -> str:
        """What the samples within a slow leaf say."""
        name = self.cross.leaves[found.leaf]
        if self._is_fast_inside(found):
            return (
                f"within {name} its nodes are fast: its up side, not the nodes; one that is fast when measured alone is"
                " oversubscribed, not faulty"
            )
        return f"within {name} its nodes are as slow: the switch itself, or what feeds it"

    def _link(self, found: Culprit) -> tuple[str, str, int]:
        """(leaf, far end of the up-link or ?, how many parallel cables it may be)."""
        up = self.cross.up[found.leaf]
        exact = found.guess is not None and bool(found.guess.exact[found.leaf])
        far = up[found.number] if exact and found.number < len(up) else UNKNOWN_END
        return self.cross.leaves[found.leaf], far, up.count(far)

    def _other_end(self, found: Culprit) -> str:
        """The leaf at the other end of all that a culprit explains, if that is one leaf."""
        far = {"tx": self.cross.into, "rx": self.cross.out}.get(found.direction)
        leaves = np.unique(far[found.hit]) if far is not None else np.zeros(0)
        return self.cross.leaves[int(leaves[0])] if leaves.size == 1 else ""

    def _one_of(self, stain: Stain) -> Blame:
        """One up-link that cannot be told from its neighbours."""
        name, width = self.cross.leaves[stain.leaf], len(self.cross.up[stain.leaf])
        hit, own = int(np.sum(stain.hit)), int(np.sum(stain.own))
        counted = (
            f"{hit} of {own} samples {_ways(stain.direction)} {name} ({100 * hit / own:.0f} %)"
        )
        usually = f"one of {width} up-links carries {100 / width:.0f} %; elsewhere {100 * stain.usual:.1f} % are that slow"
        evidence = [
            f"{counted} are {self._percent(stain.slowness)} slower; {usually}",
            f"which of the {width} up-links it is end-to-end samples do not tell: how flows are spread is not known",
            "read the error counters of these ports, and measure the slow pairs alone: contention is gone then",
        ]
        return self._told(
            Link(name, UNKNOWN_END),
            stain.direction,
            stain.hit,
            stain.slowness,
            stain.log_p,
            evidence,
        )

    def _told(
        self,
        about: Link | Switch,
        direction: Direction,
        hit: Flags,
        slowness: float,
        log_p: float,
        evidence: list[str],
    ) -> Blame:
        metric, rows = self.samples.metric, self.cross.rows[hit]
        error = 1.2533 * self.noise / float(np.sqrt(rows.size))  # of a median (see significance.py)
        expected = float(np.median(self.expected[rows]))
        ends = np.unique(np.concatenate((self.cross.origin[hit], self.cross.target[hit])))
        return Blame(
            kind=kind_of(about),
            subject=str(about),
            about=about,
            direction=direction,
            metric=metric,
            slowdown=as_slowdown(metric, slowness),
            low=as_slowdown(metric, slowness - 1.96 * error),
            high=as_slowdown(metric, slowness + 1.96 * error),
            confidence=_SUREST * (1.0 - float(np.exp(min(0.0, log_p)))),
            stage=self.stage,
            value=expected * float(np.exp(-slowness if metric == "goodput" else slowness)),
            expected=expected,
            nodes=[self.samples.nodes[one] for one in ends[:_LISTED].tolist()],
            evidence=evidence,
        )


def _ways(direction: Direction) -> str:
    return {"tx": "out of", "rx": "into", "": "out of and into"}[direction]
