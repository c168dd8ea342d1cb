"""The model of a screen: kinds of path and of node, what leaves and time do to all, then how slow
each port is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from wireproof.locate.arrays import Flags, Floats
from wireproof.locate.criteria import Criteria, as_log
from wireproof.locate.samples import Samples
from wireproof.locate.screen.effects import Effects, Polishing, Ports, explained, fine_strata
from wireproof.locate.screen.leaves import leaf_excess, slow_inside
from wireproof.locate.screen.strata import Kinds, kinds_of, one_kind, ports_of
from wireproof.locate.significance import REACH, median_error, robust_scale
from wireproof.locate.slowness import log_slowness
from wireproof.locate.tiers import ONE_SWITCH, Paths, Places

__all__ = ["Fit", "fit", "port_levels", "shown", "tier_levels"]

_PARTS = 8
_FASTER = 0.25
_QUARTILE_FACTOR = 1.3626  # standard error of a normal variable's quartile over that of its mean
_FEWEST = 12  # samples of a part of the time, to know its median
_SURE = 5.0  # standard errors between the fastest part and the slowest


def drift_of(samples: Samples, residual: Floats, use: Flags, least: float) -> Floats | None:
    """Log slowness of each sample that its time explains, the fastest part of the time 0; None
    where there is none.

    ``residual``: log slowness against paths and ports; ``use``: samples on paths that show a port.
    The time is cut into up to eight parts of as many samples; between their middles the drift is a
    straight line.
    """
    rows = np.nonzero(use)[0]
    parts = min(_PARTS, rows.size // _FEWEST)
    if samples.when.size != len(samples) or parts < 2:
        return None
    rows = rows[np.argsort(samples.when[rows], kind="stable")]
    pieces = np.array_split(rows, parts)
    middle = np.asarray([float(np.median(samples.when[piece])) for piece in pieces])
    # The faster quarter: one node of four that became slow is in half of the samples, and no
    # other became slow.
    level = np.asarray([float(np.quantile(residual[piece], _FASTER)) for piece in pieces])
    noise = float(np.median([robust_scale(residual[piece]) for piece in pieces]))
    # of the difference of two parts
    error = _QUARTILE_FACTOR * noise * (2.0 * parts / rows.size) ** 0.5
    if float(np.ptp(level)) < max(least, _SURE * error):
        return None
    found = np.interp(samples.when, middle, level)
    return np.asarray(found - found.min(), dtype=np.float64)


_INNER = 2  # samples within the leaf that acquit a port of what is slow across leaves


@dataclasses.dataclass(frozen=True, kw_only=True)
class Fit:
    """``effects`` make suspects, ``own`` (without what paths do) explain samples. ``excess``: log
    slowness of each sample that its leaf explains; ``drift``: that its time explains, for all
    nodes.
    """

    kinds: Kinds
    ports: Ports
    effects: Effects
    own: Effects
    excess: Floats
    drift: Floats


def fit(paths: Paths, criteria: Criteria) -> Fit:
    """Effects, and once more without what all suffer as time goes by."""
    samples = paths.samples
    logs = log_slowness(samples)
    practical = as_log(samples.metric, criteria.practical(samples.metric))
    found = _fit(paths, logs, criteria)
    ports, effects = found.ports, found.effects
    own = explained(ports, found.own, practical / 2.0, additive=samples.metric == "hrt")
    rest = effects.residual - own - found.excess
    drift = drift_of(samples, rest, shown(ports, effects), practical)
    if drift is None:
        return found
    return dataclasses.replace(_fit(paths, logs - drift, criteria), drift=drift)


def _fit(paths: Paths, logs: Floats, criteria: Criteria) -> Fit:
    """Kinds of nodes, then effects, then once more without what whole leaves suffer."""
    samples, places = paths.samples, paths.places
    practical = as_log(samples.metric, criteria.practical(samples.metric))
    alike = ports_of(paths, one_kind(len(samples.nodes)))
    start = slow_inside(paths, logs, alike, practical)
    kinds = one_kind(len(samples.nodes)) if start else kinds_of(samples, logs, alike, places)
    ports = ports_of(paths, kinds)
    polishing = Polishing(
        ports=ports,
        additive=samples.metric == "hrt",
        threshold=practical,
        floor=criteria.floor,
        start=start,
    )
    effects = polishing.polish(logs)
    excess = leaf_excess(paths, effects.residual, practical / 2.0)
    if excess is not None:
        # No path is faster than the fastest sample, whatever its leaf is said to suffer.
        effects = polishing.polish(np.maximum(logs - excess, np.min(logs)))
    some_fast = _fast_with_some(ports, effects, places)
    nothing = np.zeros(logs.size)
    return Fit(
        kinds=kinds,
        ports=ports,
        effects=some_fast or effects,
        own=some_fast or _without_paths(ports, effects, paths),
        excess=nothing if excess is None else excess,
        drift=nothing,
    )


def _without_paths(ports: Ports, effects: Effects, paths: Paths) -> Effects:
    """A port that is fast within its leaf is slow because of what lies behind the leaf: its
    slowness is that within.
    """
    if ONE_SWITCH not in paths.names or len(paths.names) == 1:
        return effects
    within = np.concatenate((paths.within,) * 2)
    inner, members = ports.by_port.median(
        np.concatenate((effects.residual, effects.residual)), within
    )
    error = median_error(effects.noise, members, effects.spread)
    slow = np.nan_to_num(effects.slowness)
    with np.errstate(invalid="ignore"):
        behind = (members >= _INNER) & (inner < 0.5 * slow) & (inner + REACH * error < slow)
    return dataclasses.replace(effects, slowness=np.where(behind, inner, effects.slowness))


def _fast_with_some(ports: Ports, effects: Effects, places: Places) -> Effects | None:
    """Without a topology a node of the smaller of two switches is slow with most partners, and fast
    with a few: its slowness is what it has with those. None where there is no such port, or a
    topology (it has kinds of path), or kinds of NIC (with a slow one any port is fast).
    """
    if places.known or int(ports.family.max()) > 0:
        return None
    best, _ = ports.by_port.best(np.concatenate((effects.residual, effects.residual)))
    usual = float(np.nanmedian(best))
    slow = np.nan_to_num(effects.slowness)
    fast = (slow > 3.0 * np.nan_to_num(effects.error)) & (
        np.nan_to_num(best - usual) < 0.5 * slow - effects.noise
    )
    if not np.any(fast):
        return None
    return dataclasses.replace(
        effects, slowness=np.where(fast, np.minimum(best - usual, slow), effects.slowness)
    )


def shown(ports: Ports, effects: Effects) -> Flags:
    """Samples on the kinds of path that show a port: the collisions on others are not what a port
    is judged by.
    """
    fine = fine_strata(effects.level, effects.sigma, ports.family)
    return np.asarray(fine[ports.stratum], dtype=np.bool_)


def tier_levels(level: Floats, kinds: Kinds, names: Sequence[str]) -> dict[tuple[str, int], float]:
    """By kind of path and the slower end's kind of node; only what was measured."""
    table = level.reshape(len(names), kinds.count).tolist()
    return {
        (name, kind): value
        for name, row in zip(names, table, strict=True)
        for kind, value in enumerate(row)
        if value == value  # not NaN
    }


def port_levels(ports: Ports, level: Floats) -> Floats:
    """Expected log slowness of each port among its own kind, on the fastest kind of path."""
    lowest = np.full(int(ports.family.max()) + 1, np.inf)
    np.fmin.at(lowest, ports.family, level)
    lowest = np.where(np.isfinite(lowest), lowest, np.nanmin(level))
    return np.asarray(lowest[ports.kind], dtype=np.float64)
