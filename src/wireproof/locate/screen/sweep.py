"""The screen's analysis: which nodes and ports look slow, and who is known to be good."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from wireproof.locate.criteria import Criteria, as_log, as_slowdown
from wireproof.locate.routes.search import blame_paths
from wireproof.locate.routes.whole_leaves import whole_leaves
from wireproof.locate.samples import Samples
from wireproof.locate.screen.effects import Effects, explained, fine_strata
from wireproof.locate.screen.fit import Fit, fit, port_levels, shown, tier_levels
from wireproof.locate.screen.lone_pair import screen_two
from wireproof.locate.screen.strata import Kinds, one_kind
from wireproof.locate.screen.suspects import (
    Suspect,
    good_nodes,
    is_sure,
    screened_blame,
    suspected_nodes,
    suspected_pairs,
    ways_of,
    with_tail,
    with_unsteady,
)
from wireproof.locate.screen.unsteady import unsteady_ports
from wireproof.locate.significance import MEDIAN_FACTOR, Floats, detectable, loose, robust_scale
from wireproof.locate.slowness import check, log_slowness, rounding, value_of
from wireproof.locate.tiers import ONE_SWITCH, Places, places_of, tiers_of
from wireproof.model.fabric import Fabric
from wireproof.model.located import Blame, Located, Tier

__all__ = ["Screened", "Suspect", "least_found", "path_blames", "screen"]

# above, pairs are not measured each, and a lone slow sample is no more than the tail of the noise
_ALL_PAIRS = 64
_FEW_SAMPLES = 3
_OWN = ("node", "port", "switch")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Screened:
    """``suspects``: nodes and ports, the surest first, to be measured alone with partners of
    ``good`` (known-good nodes, the best first); ``pairs``: routes that were slow once between ports
    that are not, to be measured again.

    ``levels``: expected log slowness by kind of path and kind of node, ``level_errors`` their
    standard errors. ``expected``: the value (in the metric's unit) that each sample should have
    after paths, kinds and ports. ``sharp``: kinds of path on which a slow port shows. ``effects``
    is None when nothing was measured.
    """

    suspects: list[Suspect]
    pairs: list[Suspect]
    good: list[str]
    located: Located
    samples: Samples
    fabric: Fabric | None
    places: Places
    kinds: Kinds
    levels: dict[tuple[str, int], float]
    level_errors: dict[tuple[str, int], float]
    sharp: frozenset[str]
    expected: Floats
    effects: Effects | None
    criteria: Criteria


def screen(
    samples: Samples,
    fabric: Fabric | None = None,
    criteria: Criteria | None = None,
    *,
    reasons: Mapping[str, str] | None = None,
) -> Screened:
    """Suspects, known-good nodes and a first ``Located`` (stage ``screened``) of a screen's
    samples.

    ``reasons``: node to why it has no sample (``from_run.reasons_of``), used for those that have
    none. With two nodes only the direction of their pair can be named. Raises ValueError for
    samples that are none (``slowness.check``).
    """
    check(samples)
    criteria = _no_finer(criteria or Criteria(), samples)
    places = places_of(samples.nodes, fabric)
    frame = Screened(
        suspects=[],
        pairs=[],
        good=[],
        located=_frame(samples, criteria, reasons or {}),
        samples=samples,
        fabric=fabric,
        places=places,
        kinds=one_kind(len(samples.nodes)),
        levels={},
        level_errors={},
        sharp=frozenset(),
        expected=np.zeros(0),
        effects=None,
        criteria=criteria,
    )
    if len(samples) == 0:
        return frame
    tier, names = tiers_of(samples, places)
    model = fit(samples, places, tier, names, criteria)
    kinds, effects = model.kinds, model.effects
    if frame.located.measured == 2:
        return _two(frame, effects, names)
    levels = tier_levels(effects.level, kinds, names)
    suspects, pairs, expected = _suspects(samples, model, criteria)
    sign = -1.0 if samples.metric == "goodput" else 1.0
    practical = as_log(samples.metric, criteria.practical(samples.metric))
    good = _fastest_first(good_nodes(samples, effects, suspects, practical), samples, kinds)
    found = dataclasses.replace(
        frame,
        suspects=suspects,
        pairs=pairs,
        good=good,
        effects=effects,
        kinds=kinds,
        levels=levels,
        level_errors=tier_levels(effects.level_error, kinds, names),
        sharp=_sharp(effects, kinds, names),
        expected=np.asarray(np.exp(sign * expected), dtype=np.float64),
    )
    likely = port_levels(model.ports, effects.level)
    own = {one.nodes for one in suspected_nodes(samples, model.own, likely, criteria)}
    own |= {one.nodes for one in suspects if is_sure(one, criteria.alpha)}
    sure = [
        screened_blame(samples, one)
        for one in suspects
        if one.nodes in own and one.p <= criteria.alpha
    ]
    blames = whole_leaves(sure, fabric, samples.nodes)
    blames += path_blames(found, blames)
    located = _filled(
        found, blames, _tiers(samples, levels, tier, names), _notes(samples, model, levels)
    )
    return dataclasses.replace(found, located=located)


def _fastest_first(good: list[str], samples: Samples, kinds: Kinds) -> list[str]:
    """``good``, of the fastest kind of NIC first: a slower one hides what is wrong with a
    suspect.
    """
    kind = dict(zip(samples.nodes, kinds.kind.tolist(), strict=True))
    return sorted(good, key=lambda name: kind[name]) if kinds.count > 1 else good


def _no_finer(criteria: Criteria, samples: Samples) -> Criteria:
    """Rounded values do not tell ports apart that are less than half a step from each other,
    however many they are.
    """
    step = rounding(samples.value)
    return (
        dataclasses.replace(criteria, floor=max(criteria.floor, min(0.5, step / 2.0)))
        if step
        else criteria
    )


def _suspects(
    samples: Samples, model: Fit, criteria: Criteria
) -> tuple[list[Suspect], list[Suspect], Floats]:
    """(nodes and ports; pairs; the log slowness that each sample should have with those nodes and
    ports).
    """
    ports, effects = model.ports, model.effects
    practical = as_log(samples.metric, criteria.practical(samples.metric))
    likely = port_levels(ports, effects.level)
    suspects = suspected_nodes(samples, effects, likely, criteria)
    clean = effects.level[ports.stratum] + model.drift
    expected = clean + explained(
        ports, model.own, practical / 2.0, additive=samples.metric == "hrt"
    )
    leftover = log_slowness(samples) - expected - model.excess
    suspects = with_tail(samples, effects, suspects, leftover[shown(ports, effects)])
    unsteady = unsteady_ports(
        samples,
        log_slowness(samples) - clean - model.excess,
        effects.noise,
        practical,
        criteria.alpha,
        _slow_ports(samples, suspects, criteria.alpha),
    )
    suspects = with_unsteady(samples, suspects, unsteady, likely, effects.noise)
    if len(samples.nodes) > _ALL_PAIRS:
        return suspects, [], expected
    for one in unsteady:
        leftover[one.rows] = 0.0
    sigma = effects.sigma[ports.stratum]
    sure = [one for one in suspects if one.p <= criteria.alpha]
    return suspects, suspected_pairs(samples, leftover, sigma, clean, sure, criteria), expected


def _slow_ports(samples: Samples, suspects: Sequence[Suspect], alpha: float) -> dict[int, float]:
    """Number of each port that is beyond doubt slow, to its log slowness."""
    index = {name: number for number, name in enumerate(samples.nodes)}
    first = {"tx": 0, "rx": len(samples.nodes)}
    return {
        first[way] + index[one.nodes[0]]: as_log(samples.metric, one.slowdown)
        for one in suspects
        if one.p <= alpha
        for way in first
        if one.direction in ("", way)
    }


def path_blames(screened: Screened, blames: Sequence[Blame]) -> list[Blame]:
    """Links and switches that are slow, by the screen's samples, once the ports that ``blames``
    names are known.
    """
    if screened.effects is None:
        return []
    excluded = {(name, one.direction) for one in blames if one.kind in _OWN for name in one.nodes}
    sigma = float(np.nanmax(screened.effects.sigma))
    return blame_paths(
        screened.samples,
        screened.expected,
        sigma,
        excluded,
        screened.fabric,
        screened.criteria,
    )


def _sharp(effects: Effects, kinds: Kinds, names: Sequence[str]) -> frozenset[str]:
    """Kinds of path on which a slow port shows."""
    fine = fine_strata(effects.level, effects.sigma, np.tile(np.arange(kinds.count), len(names)))
    return frozenset(names[number // kinds.count] for number in np.nonzero(fine)[0].tolist())


def _two(frame: Screened, effects: Effects, names: Sequence[str]) -> Screened:
    """Two nodes: one direction of their pair against the other."""
    suspect, level, level_error = screen_two(frame.samples, frame.criteria)
    note = "two nodes: only the direction of their pair can be named, not which of them is slow"
    blames = (
        [screened_blame(frame.samples, suspect)]
        if suspect and suspect.p <= frame.criteria.alpha
        else []
    )
    tiers = [
        Tier(
            name=names[0], samples=len(frame.samples), median=value_of(frame.samples.metric, level)
        )
    ]
    found = dataclasses.replace(
        frame,
        pairs=[suspect] if suspect else [],
        levels={(names[0], 0): level},
        level_errors={(names[0], 0): level_error},
        effects=effects,
        expected=np.full(len(frame.samples), value_of(frame.samples.metric, level)),
    )
    return dataclasses.replace(found, located=_filled(found, blames, tiers, [note]))


def _tiers(
    samples: Samples,
    levels: dict[tuple[str, int], float],
    tier: NDArray[np.int32],
    names: Sequence[str],
) -> list[Tier]:
    """By kind of path, of the fastest kind of nodes that was measured on it."""
    fastest: dict[str, float] = {}
    for (name, _), level in levels.items():
        fastest[name] = min(level, fastest.get(name, level))
    # What crosses one switch crosses no link that is shared by design: slower than across leaves,
    # it is not by design.
    best = fastest.get(ONE_SWITCH, min(fastest.values()))
    counts = np.bincount(tier, minlength=len(names)).tolist()
    logs = log_slowness(samples)
    return [
        Tier(
            name=name,
            samples=counts[number],
            median=value_of(samples.metric, fastest[name]),
            oversubscription=float(np.exp(max(0.0, fastest[name] - best))),
            spread=robust_scale(logs[tier == number]),
        )
        for number, name in enumerate(names)
    ]


def _notes(samples: Samples, model: Fit, levels: dict[tuple[str, int], float]) -> list[str]:
    kinds, notes, parts = model.kinds, [], []
    if np.any(model.drift > 0.0):
        most = as_slowdown(samples.metric, float(model.drift.max()))
        notes.append(
            f"everybody became up to {100 * most:.0f} % slower for a part of the time: each sample is held against its"
            " own time"
        )
    if kinds.count < 2:
        return notes
    for number in range(kinds.count):
        own = [level for (_, kind), level in levels.items() if kind == number]
        if own:
            members = int(np.sum(kinds.kind == number))
            parts.append(f"{members} nodes at {value_of(samples.metric, min(own)) / 1e6:.4g} MB/s")
    return [*notes, f"mixed speeds: {', '.join(parts)}; each node is judged against its own kind"]


def _frame(samples: Samples, criteria: Criteria, reasons: Mapping[str, str]) -> Located:
    """The counts, and who is missing."""
    directed = samples.metric == "goodput"
    count = len(samples.nodes)
    sends, receives = (
        np.bincount(ends, minlength=count) for ends in (samples.origin, samples.target)
    )
    missing = {}
    for number, name in enumerate(samples.nodes):
        if not sends[number] and not receives[number]:
            missing[name] = "no sample"
        elif directed and not sends[number] and receives[number] >= _FEW_SAMPLES:
            missing[name] = "no sample of what it sends"
        elif directed and not receives[number] and sends[number] >= _FEW_SAMPLES:
            missing[name] = "no sample of what it receives"
    return Located(
        metric=samples.metric,
        nodes=count,
        measured=int(np.sum((sends > 0) | (receives > 0))),
        rounds=int(np.unique(samples.round).size),
        samples=len(samples),
        noise=0.0,
        alpha=criteria.alpha,
        practical=criteria.practical(samples.metric),
        detectable=1.0,
        missing={name: reasons.get(name, said) for name, said in missing.items()},
    )


def least_found(screened: Screened, *, again: bool) -> float:
    """The slowdown that is found with 95 % power: as a suspect who is measured ``again`` (or would
    be: nobody was suspected), else as the screen's own blame.
    """
    effects, located = screened.effects, screened.located
    if effects is None:
        return located.detectable
    ways = 3 if len(ways_of(screened.samples)) == 2 else 1
    hypotheses = ways * located.measured
    some = effects.samples > 0
    # A port is compared with the median of all ports, which few ports do not know well.
    error = float(
        np.median(effects.error[some]) * np.hypot(1.0, MEDIAN_FACTOR / np.sqrt(np.sum(some)))
    )
    practical = as_log(located.metric, located.practical)
    p = loose(hypotheses, located.alpha) if again else located.alpha / max(1, hypotheses)
    return as_slowdown(located.metric, detectable(error, p, practical, freedom=effects.freedom))


def _filled(
    screened: Screened, blames: list[Blame], tiers: list[Tier], notes: list[str]
) -> Located:
    """The located with what the analysis found."""
    effects, located = screened.effects, screened.located
    if effects is None:
        return located
    least = least_found(screened, again=not screened.suspects)
    return msgspec.structs.replace(
        located, noise=effects.noise, detectable=least, blames=blames, tiers=tiers, notes=notes
    )
