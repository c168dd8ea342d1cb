# pure
"""Fit the model of a screen: kinds of path and node, effects of whole leaves and of time, and then
the slowness of each port.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from wireproof.locate.samples import (
    Flags,
    Floats,
    Groups,
    Indices,
    Ints,
    Samples,
    log_slowness,
)
from wireproof.locate.screen.effects import (
    Effects,
    Polishing,
    PolishStart,
    Ports,
    explained,
    fine_strata,
)
from wireproof.locate.screen.strata import (
    ONE_SWITCH,
    Kinds,
    Paths,
    Places,
    kinds_of,
    one_kind,
    ports_of,
)
from wireproof.locate.significance import REACH, LocateCriteria, as_log, median_error, robust_scale

# --- Slow leaves: a leaf that is also slow inside, and a leaf that is slow only across
# leaves.

_FEW_LEAVES = 8  # with more leaves, medians are robust against the nodes of a single leaf
_LEAF_NODES = 3
_FEWEST_NODES = 2
_LEAF_SHARE = 0.5
_WHOLE = 0.75


def _by_leaf(paths: Paths, logs: Floats, ends: Ints, chosen: Flags) -> tuple[Floats, Indices]:
    """Return (median over nodes of their medians, nodes) of each leaf, by this end of the
    ``chosen`` samples. ``logs``: log slowness of each sample.
    """
    leaf = paths.places.leaf
    by_node, members = Groups(ends[chosen], leaf.size).median(logs[chosen])
    placed = (members > 0) & (leaf >= 0)
    median, nodes = Groups(leaf[placed], len(paths.places.leaves)).median(by_node[placed])
    return median, nodes.astype(np.intp)


def _share_beyond(paths: Paths, logs: Floats, ends: Ints, leaf: int, least: float) -> float:
    """Return the share of nodes of ``leaf`` at this end that are slower than ``least`` with most
    others.
    """
    chosen = paths.across & (paths.places.leaf[ends] == leaf)
    best, members = Groups(ends[chosen], paths.places.leaf.size).best(logs[chosen])
    return float(np.mean(best[members > 0] > least)) if np.any(members > 0) else 0.0


def slow_inside(paths: Paths, logs: Floats, ports: Ports, threshold: float) -> PolishStart | None:
    """Return a start for the polish if a leaf is slow among its own nodes and, by about as much,
    across leaves; else None.

    With two leaves, its ports are half of all ports, and no median tells which half is bad. But no
    path is faster than the switches that it crosses. So the leaf that is fast inside shows the rate
    of a port, and the slow directions across show the bad ports of the slow leaf.
    """
    few = paths.places.known and 1 < len(paths.places.leaves) <= _FEW_LEAVES
    if not few or paths.samples.metric != "goodput":
        return None
    inner, nodes = _by_leaf(paths, logs, paths.samples.origin, paths.within)
    known = np.nonzero(nodes >= _FEWEST_NODES)[0]
    if known.size < 2 or not np.any(paths.across):
        return None
    base = float(np.sort(inner[known])[(known.size - 1) // 2])
    bad = np.zeros(ports.count, dtype=np.bool_)
    for leaf in known.tolist():
        excess = float(inner[leaf]) - base
        if excess > threshold:
            bad |= _bad_ports(paths, logs, ports, leaf, base + _LEAF_SHARE * excess)
    return PolishStart(bad=bad, level=_levels(logs, ports, bad, base)) if np.any(bad) else None


def _bad_ports(paths: Paths, logs: Floats, ports: Ports, leaf: int, least: float) -> Flags:
    """Flag the ports of ``leaf`` in each direction in which most are slower than ``least`` across
    leaves.
    """
    bad = np.zeros(ports.count, dtype=np.bool_)
    nodes = np.nonzero(paths.places.leaf == leaf)[0]
    for ends, first in (
        (paths.samples.origin, 0),
        (paths.samples.target, len(paths.samples.nodes)),
    ):
        if _share_beyond(paths, logs, ends, leaf, least) >= _WHOLE:
            bad[first + nodes] = True
    return bad


def _levels(logs: Floats, ports: Ports, bad: Flags, base: float) -> Floats:
    """Return the median of each stratum over samples without bad ports, else the level within a
    switch.
    """
    clean = ~bad[ports.own] & ~bad[ports.far]
    median, members = Groups(ports.stratum[clean], ports.strata).median(logs[clean])
    return np.where(members > 0, median, base)


def leaf_excess(paths: Paths, residual: Floats, threshold: float) -> Floats | None:
    """Return the part of each sample's slowness that is due to a whole leaf, most of whose nodes
    are slow across leaves but not within. Log slowness, 0 if no leaf affects the sample; None if no
    leaf is slow in this way. This slowness is no evidence about nodes. Samples with a port that is
    slow within its leaf are ignored, because they are no evidence about the paths across.
    """
    samples, places = paths.samples, paths.places
    if not places.known or len(places.leaves) < 2:
        return None
    sound = (
        paths.across
        & _fast_inside(paths, residual, samples.origin, threshold)
        & _fast_inside(paths, residual, samples.target, threshold)
    )
    excess = np.zeros(len(samples))
    for ends in (samples.origin, samples.target):
        inner, inner_nodes = _by_leaf(paths, residual, ends, paths.within)
        outer, outer_nodes = _by_leaf(paths, residual, ends, sound)
        known = np.where(inner_nodes >= _LEAF_NODES, inner, 0.0)
        slow = (outer_nodes >= _LEAF_NODES) & (outer > threshold) & ~(known > _LEAF_SHARE * outer)
        level = np.where(slow, outer, 0.0)
        excess[paths.across] = np.maximum(
            excess[paths.across], level[places.leaf[ends[paths.across]]]
        )
    return excess if bool(np.any(excess > 0.0)) else None


def _fast_inside(paths: Paths, logs: Floats, ends: Ints, threshold: float) -> Flags:
    """Flag samples whose port at this end is not known to be slow within its leaf."""
    inside = paths.within
    median, members = Groups(ends[inside], len(paths.samples.nodes)).median(logs[inside])
    slow = (members > 0) & (np.nan_to_num(median) > threshold)
    return np.asarray(~slow[ends], dtype=np.bool_)


_PARTS = 8
_FASTER = 0.25
_QUARTILE_FACTOR = 1.3626  # standard error of a normal quartile relative to that of the mean
_FEWEST = 12  # minimum number of samples in a period
_SURE = 5.0  # standard errors between the fastest and the slowest period


def drift_of(samples: Samples, residual: Floats, use: Flags, least: float) -> Floats | None:
    """Return the log slowness of each sample that its time explains, 0 in the fastest period; None
    if there is no drift.

    ``residual``: log slowness relative to paths and ports. ``use``: samples on paths that show a
    port. The time is divided into up to eight periods with equal numbers of samples; between their
    midpoints the drift is linear.
    """
    rows = np.nonzero(use)[0]
    parts = min(_PARTS, rows.size // _FEWEST)
    if samples.when.size != len(samples) or parts < 2:
        return None
    rows = rows[np.argsort(samples.when[rows], kind="stable")]
    pieces = np.array_split(rows, parts)
    middle = np.asarray([float(np.median(samples.when[piece])) for piece in pieces])
    # Use the faster quarter: if one of four nodes becomes slow, it affects half of the samples
    # although no other node has changed.
    level = np.asarray([float(np.quantile(residual[piece], _FASTER)) for piece in pieces])
    noise = float(np.median([robust_scale(residual[piece]) for piece in pieces]))
    # standard error of the difference between two periods
    error = _QUARTILE_FACTOR * noise * (2.0 * parts / rows.size) ** 0.5
    if float(np.ptp(level)) < max(least, _SURE * error):
        return None
    drift = np.interp(samples.when, middle, level)
    return np.asarray(drift - drift.min(), dtype=np.float64)


_INNER = 2  # samples within the leaf needed to clear a port of slowness across leaves


@dataclasses.dataclass(frozen=True, kw_only=True)
class Fit:
    """The fitted model. ``effects`` determine suspects; ``own`` (without effects of paths) explains
    samples. ``excess``: log slowness of each sample that its leaf explains. ``drift``: log slowness
    that its time explains, for all nodes.
    """

    kinds: Kinds
    ports: Ports
    effects: Effects
    own: Effects
    excess: Floats
    drift: Floats


def fit(paths: Paths, criteria: LocateCriteria) -> Fit:
    """Fit the effects, and if all nodes drift over time, fit again without the drift."""
    samples = paths.samples
    logs = log_slowness(samples)
    practical = as_log(samples.metric, criteria.practical(samples.metric))
    first = _fit(paths, logs, criteria)
    ports, effects = first.ports, first.effects
    by_ports = explained(ports, first.own, practical / 2.0, additive=samples.metric == "hrt")
    rest = effects.residual - by_ports - first.excess
    drift = drift_of(samples, rest, shown(ports, effects), practical)
    if drift is None:
        return first
    return dataclasses.replace(_fit(paths, logs - drift, criteria), drift=drift)


def _fit(paths: Paths, logs: Floats, criteria: LocateCriteria) -> Fit:
    """Fit kinds of nodes, then effects, then again without the slowness of whole leaves."""
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
        # No path is faster than the fastest sample, whatever its leaf explains.
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
    """If a port is fast within its leaf, the path beyond the leaf is slow: replace the slowness of
    the port by its slowness within.
    """
    if ONE_SWITCH not in paths.names or len(paths.names) == 1:
        return effects
    inner, members = ports.by_port.median(
        np.concatenate((effects.residual, effects.residual)), np.concatenate((paths.within,) * 2)
    )
    error = median_error(effects.noise, members, effects.spread)
    slow = np.nan_to_num(effects.slowness)
    with np.errstate(invalid="ignore"):
        behind = (members >= _INNER) & (inner < 0.5 * slow) & (inner + REACH * error < slow)
    return dataclasses.replace(effects, slowness=np.where(behind, inner, effects.slowness))


def _fast_with_some(ports: Ports, effects: Effects, places: Places) -> Effects | None:
    """For ports that are fast with some partners, use the slowness measured with these partners.
    Without a topology, a node on the smaller of two switches is slow with most partners and fast
    with a few. None if no port is fast with some partners, if a topology defines kinds of path, or
    if there are several kinds of NIC (compared with a slow NIC, any port looks fast).
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
    """Flag samples on kinds of path that reveal a port; on other paths, collisions hide it."""
    fine = fine_strata(effects.level, effects.sigma, ports.family)
    return np.asarray(fine[ports.stratum], dtype=np.bool_)


def tier_levels(level: Floats, kinds: Kinds, names: Sequence[str]) -> dict[tuple[str, int], float]:
    """Map (kind of path, the slower end's kind of node) to its level, only for what was
    measured.
    """
    table = level.reshape(len(names), kinds.count).tolist()
    return {
        (name, kind): value
        for name, row in zip(names, table, strict=True)
        for kind, value in enumerate(row)
        if value == value  # not NaN
    }


def port_levels(ports: Ports, level: Floats) -> Floats:
    """Return the expected log slowness of each port among its own kind, on the fastest kind of
    path.
    """
    lowest = np.full(int(ports.family.max()) + 1, np.inf)
    np.fmin.at(lowest, ports.family, level)
    lowest = np.where(np.isfinite(lowest), lowest, np.nanmin(level))
    return np.asarray(lowest[ports.kind], dtype=np.float64)
