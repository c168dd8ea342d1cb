"""The screen's analysis: which nodes and ports look slow, and who is known to be good."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wireproof.locate.criteria import Criteria, as_log, as_slowdown
from wireproof.locate.effects import Effects, Ports, polish
from wireproof.locate.samples import Samples
from wireproof.locate.significance import REACH, Floats, as_normal, detectable, holm, quantile, upper_tail
from wireproof.locate.tiers import Places, places_of, tiers_of
from wireproof.model.fabric import Fabric
from wireproof.model.located import Blame, Direction, Located, Tier

__all__ = ["Screened", "Suspect", "log_slowness", "screen"]

_SCREENED_AT_MOST = 0.95  # what was seen only among others is never surer than this


@dataclasses.dataclass(frozen=True, kw_only=True)
class Suspect:
    """``nodes``: one, or origin and target of a pair. ``slowdown``: relative; ``z``: standard errors above zero; ``p``:
    adjusted for all hypotheses of the sweep (Holm).
    """

    kind: Literal["node", "port", "pair"]
    nodes: tuple[str, ...]
    direction: Direction = ""
    slowdown: float
    z: float
    p: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class Screened:
    """``suspects``: the worst first; ``good``: known-good nodes, the best first. ``expected`` is the log slowness that
    each sample should have, node effects left out; ``effects`` is None when there was nothing to analyse.
    """

    suspects: list[Suspect]
    good: list[str]
    located: Located
    samples: Samples
    places: Places
    tiers: tuple[str, ...]
    tier: NDArray[np.int32]
    effects: Effects | None
    criteria: Criteria


def log_slowness(samples: Samples) -> Floats:
    """Logarithm of each value, turned so that larger is slower."""
    logs = np.log(samples.value)
    return np.asarray(-logs if samples.metric == "goodput" else logs, dtype=np.float64)


def screen(samples: Samples, fabric: Fabric | None = None, criteria: Criteria | None = None) -> Screened:
    """Suspects, known-good nodes and a first ``Located`` (stage ``screened``) of a screen's samples."""
    criteria = criteria or Criteria()
    places = places_of(samples.nodes, fabric)
    tier, names = tiers_of(samples, places)
    count = len(samples.nodes)
    if len(samples) == 0:
        empty = _located(samples, criteria, None, [], [], [], list(names))
        return Screened(
            suspects=[], good=[], located=empty, samples=samples, places=places, tiers=names, tier=tier, effects=None,
            criteria=criteria,
        )  # fmt: skip
    directed = samples.metric == "goodput"
    ports = Ports(
        count=2 * count if directed else count, own=samples.origin,
        far=(samples.target + count if directed else samples.target).astype(np.int32), stratum=tier, strata=len(names),
    )  # fmt: skip
    practical = as_log(samples.metric, criteria.practical(samples.metric))
    effects = polish(ports, log_slowness(samples), additive=not directed, threshold=practical, floor=criteria.floor)
    suspects = _suspects(samples, effects, criteria)
    good = _good(samples, effects, suspects, practical)
    blames = [_blame(samples, effects, one) for one in suspects if one.p <= criteria.alpha]
    tiers = _tiers(samples, effects, tier, names)
    located = _located(samples, criteria, effects, blames, tiers, suspects, list(names))
    return Screened(
        suspects=suspects, good=good, located=located, samples=samples, places=places, tiers=names, tier=tier,
        effects=effects, criteria=criteria,
    )  # fmt: skip


def _directions(samples: Samples, effects: Effects) -> list[tuple[Direction, slice]]:
    count = len(samples.nodes)
    if samples.metric == "goodput":
        return [("tx", slice(0, count)), ("rx", slice(count, 2 * count))]
    return [("", slice(0, count))]


def _scores(effects: Effects) -> Floats:
    """Standard errors above zero, by port, as normal deviates; -inf without samples."""
    t = effects.slowness / effects.error
    return np.where(np.isnan(t), -np.inf, as_normal(np.nan_to_num(t), effects.freedom))


def _suspects(samples: Samples, effects: Effects, criteria: Criteria) -> list[Suspect]:
    """Every node with a port, or both together, beyond the threshold. 3 N hypotheses (N for half round trips)."""
    ways = _directions(samples, effects)
    z = _scores(effects)
    columns = [z[part] for _, part in ways]
    if len(columns) == 2:
        both = (columns[0] + columns[1]) / np.sqrt(2.0)
        columns.append(np.where(np.isfinite(both), both, -np.inf))
    table = np.stack(columns, axis=1)
    hypotheses = int(np.sum(np.isfinite(table)))
    if hypotheses == 0:
        return []
    # A screen may suspect more than it may blame: about one false suspect in three sweeps of thousands of nodes.
    loose = max(criteria.alpha / hypotheses, min(1e-4, 1.0 / hypotheses))
    best = table.max(axis=1)
    chosen = np.nonzero(best >= quantile(loose))[0]
    adjusted = holm(upper_tail(best[chosen]), hypotheses)
    found = []
    for node, p in zip(chosen.tolist(), adjusted.tolist(), strict=True):
        one = _suspect(samples, effects, ways, node, p, float(best[node]), criteria)
        if one:
            found.append(one)
    return sorted(found, key=lambda one: (-one.z, one.nodes))


def _suspect(
    samples: Samples, effects: Effects, ways: Sequence[tuple[Direction, slice]], node: int, p: float, z: float,
    criteria: Criteria,
) -> Suspect | None:  # fmt: skip
    """The node as a suspect; None when its slowdown cannot be as large as the practical threshold."""
    practical = as_log(samples.metric, criteria.practical(samples.metric))
    slow = {way: (float(effects.slowness[part][node]), float(effects.error[part][node])) for way, part in ways}
    slow = {way: pair for way, pair in slow.items() if np.isfinite(pair[0])}
    guilty = [way for way, (value, error) in slow.items() if value + REACH * error >= practical and value > 2.0 * error]
    if not guilty:
        return None
    worst = max(guilty, key=lambda way: slow[way][0])
    kind: Literal["node", "port"] = "node" if len(guilty) == len(ways) else "port"
    return Suspect(
        kind=kind, nodes=(samples.nodes[node],), direction="" if kind == "node" else worst,
        slowdown=as_slowdown(samples.metric, slow[worst][0]), z=z, p=p,
    )  # fmt: skip


def _good(samples: Samples, effects: Effects, suspects: Sequence[Suspect], practical: float) -> list[str]:
    """Nodes that are no suspects, measured both ways, and less than half the practical threshold slow."""
    worst = np.stack([effects.slowness[part] for _, part in _directions(samples, effects)]).max(axis=0)
    names = {name for one in suspects for name in one.nodes}
    order = np.argsort(np.nan_to_num(worst, nan=np.inf), kind="stable")
    return [
        samples.nodes[node]
        for node in order.tolist()
        if np.isfinite(worst[node]) and worst[node] < practical and samples.nodes[node] not in names
    ]


def _blame(samples: Samples, effects: Effects, suspect: Suspect) -> Blame:
    """A suspect as a blame of the screen alone."""
    name = suspect.nodes[0]
    node = samples.nodes.index(name)
    ways = dict(_directions(samples, effects))
    part = ways.get(suspect.direction)
    if part is None:
        part = max(ways.values(), key=lambda one: float(effects.slowness[one][node]))
    slowness, error = float(effects.slowness[part][node]), float(effects.error[part][node])
    metric = samples.metric
    sign = -1.0 if metric == "goodput" else 1.0
    best = float(np.nanmin(effects.level))
    return Blame(
        kind="node" if suspect.kind == "node" else "port", subject=name, direction=suspect.direction, metric=metric,
        slowdown=suspect.slowdown, low=as_slowdown(metric, slowness - 1.96 * error),
        high=as_slowdown(metric, slowness + 1.96 * error), confidence=min(_SCREENED_AT_MOST, 1.0 - suspect.p),
        stage="screened", value=float(np.exp(sign * (best + slowness))), expected=float(np.exp(sign * best)),
        nodes=[name],
    )  # fmt: skip


def _tiers(samples: Samples, effects: Effects, tier: NDArray[np.int32], names: Sequence[str]) -> list[Tier]:
    sign = -1.0 if samples.metric == "goodput" else 1.0
    best = float(np.nanmin(effects.level))
    counts = np.bincount(tier, minlength=len(names))
    return [
        Tier(
            name=name, samples=int(counts[number]), median=float(np.exp(sign * effects.level[number])),
            oversubscription=float(np.exp(effects.level[number] - best)),
        )
        for number, name in enumerate(names)
        if counts[number]
    ]  # fmt: skip


def _located(
    samples: Samples, criteria: Criteria, effects: Effects | None, blames: list[Blame], tiers: list[Tier],
    suspects: Sequence[Suspect], names: list[str],
) -> Located:  # fmt: skip
    seen = np.zeros(len(samples.nodes), dtype=np.bool_)
    seen[samples.origin] = True
    seen[samples.target] = True
    practical = criteria.practical(samples.metric)
    least = 1.0
    if effects is not None:
        error = float(np.median(effects.error[effects.samples > 0]))
        hypotheses = int(np.sum(effects.samples > 0))
        least = as_slowdown(
            samples.metric,
            detectable(error, hypotheses, criteria.alpha, as_log(samples.metric, practical)),
        )
    return Located(
        metric=samples.metric, nodes=len(samples.nodes), measured=int(np.sum(seen)),
        rounds=int(np.unique(samples.round).size), samples=len(samples), noise=effects.noise if effects else 0.0,
        alpha=criteria.alpha, practical=practical, detectable=least, blames=blames, tiers=tiers,
        missing={name: "no sample" for name, has in zip(samples.nodes, seen.tolist(), strict=True) if not has},
    )  # fmt: skip
