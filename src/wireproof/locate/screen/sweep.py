"""The screen's analysis: which nodes and ports look slow, and which are known to be good."""

import dataclasses
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from wireproof.locate.criteria import LocateCriteria, as_log, as_slowdown
from wireproof.locate.routes.crossing import whole_leaves
from wireproof.locate.samples import Floats, Samples, check, log_slowness, rounding, value_of
from wireproof.locate.screen.effects import Effects, explained, fine_strata
from wireproof.locate.screen.fit import Fit, fit, port_levels, shown, tier_levels
from wireproof.locate.screen.pairs import screen_two, suspected_pairs
from wireproof.locate.screen.screened import Screened, least_found, path_blames
from wireproof.locate.screen.strata import Kinds, one_kind
from wireproof.locate.screen.suspects import (
    Suspect,
    good_nodes,
    is_sure,
    screened_blame,
    suspected_nodes,
    with_tail,
    with_unsteady,
)
from wireproof.locate.screen.unsteady import unsteady_ports
from wireproof.locate.significance import robust_scale
from wireproof.locate.tiers import ONE_SWITCH, Paths, paths_of, places_of
from wireproof.model.fabric import Fabric
from wireproof.model.located import Blame, Located, Tier
from wireproof.model.quantity import percent, throughput

__all__ = ["Screened", "counts", "screen", "tiers"]

# --- What a screen says of all nodes together: which are missing, what each kind of path reaches,
# and what else is worth a note.

Levels = Mapping[tuple[str, int], float]
"""Log slowness by kind of path and kind of node."""

_FEW_SAMPLES = 3


def counts(samples: Samples, criteria: LocateCriteria, reasons: Mapping[str, str]) -> Located:
    """How much was measured, and which nodes are missing."""
    ends = (samples.origin, samples.target)
    sends, receives = (np.bincount(end, minlength=len(samples.nodes)) for end in ends)
    missing = {}
    for number, name in enumerate(samples.nodes):
        reason = _missing(int(sends[number]), int(receives[number]))
        if reason == "no sample" or (reason and samples.metric == "goodput"):
            missing[name] = reasons.get(name, reason)
    return Located(
        metric=samples.metric,
        nodes=len(samples.nodes),
        measured=int(np.sum((sends > 0) | (receives > 0))),
        rounds=int(np.unique(samples.round).size),
        samples=len(samples),
        noise=0.0,
        alpha=criteria.alpha,
        practical=criteria.practical(samples.metric),
        detectable=1.0,
        missing=missing,
    )


def _missing(sends: int, receives: int) -> str:
    """What is missing of a node with so many samples; "" when nothing is."""
    if not sends and not receives:
        return "no sample"
    if not sends and receives >= _FEW_SAMPLES:
        return "no sample of what it sends"
    if not receives and sends >= _FEW_SAMPLES:
        return "no sample of what it receives"
    return ""


def tiers(paths: Paths, levels: Levels) -> list[Tier]:
    """By kind of path, of the fastest kind of nodes that was measured on it."""
    metric = paths.samples.metric
    fastest: dict[str, float] = {}
    for (name, _), level in levels.items():
        fastest[name] = min(level, fastest.get(name, level))
    # What crosses one switch crosses no link that is shared by design: slower than across leaves,
    # it is not by design.
    best = fastest.get(ONE_SWITCH, min(fastest.values()))
    members = np.bincount(paths.tier, minlength=len(paths.names)).tolist()
    logs = log_slowness(paths.samples)
    return [
        Tier(
            name=name,
            samples=members[number],
            median=value_of(metric, fastest[name]),
            oversubscription=float(np.exp(max(0.0, fastest[name] - best))),
            spread=robust_scale(logs[paths.tier == number]),
        )
        for number, name in enumerate(paths.names)
    ]


def notes_of(samples: Samples, model: Fit, levels: Levels) -> list[str]:
    """Drift and mixed speeds."""
    notes = []
    if np.any(model.drift > 0.0):
        most = percent(as_slowdown(samples.metric, float(model.drift.max())))
        notes.append(
            f"all nodes became up to {most} slower for a part of the time: each sample is compared"
            " with others of its own time"
        )
    if model.kinds.count > 1:
        speeds = ", ".join(_speeds(samples, model, levels))
        notes.append(f"mixed speeds: {speeds}; each node is judged against its own kind")
    return notes


def _speeds(samples: Samples, model: Fit, levels: Levels) -> list[str]:
    """What the nodes of each kind reach at best."""
    found = []
    for number in range(model.kinds.count):
        own = [level for (_, kind), level in levels.items() if kind == number]
        if own:
            members = int(np.sum(model.kinds.kind == number))
            found.append(f"{members} nodes at {throughput(value_of(samples.metric, min(own)))}")
    return found


# above, pairs are not measured each, and a lone slow sample is no more than the tail of the noise
_ALL_PAIRS = 64
_TWO_NODES = "two nodes: only the direction of their pair can be named, not which of them is slow"


def screen(
    samples: Samples,
    fabric: Fabric | None = None,
    criteria: LocateCriteria | None = None,
    *,
    reasons: Mapping[str, str] | None = None,
) -> Screened:
    """Suspects, known-good nodes and a first ``Located`` (stage ``screened``) of a screen's
    samples.

    ``reasons``: node to why it has no sample (``from_run.reasons_of``), used for those that have
    none. With two nodes only the direction of their pair can be named. Raises ValueError for
    samples that are none (``samples.check``).
    """
    check(samples)
    criteria = _no_finer(criteria or LocateCriteria(), samples)
    frame = _frame(samples, fabric, criteria, reasons or {})
    if len(samples) == 0:
        return frame
    paths = paths_of(samples, frame.places)
    model = fit(paths, criteria)
    if frame.located.measured == 2:
        return _two(frame, model.effects, paths.names)
    suspects, pairs, expected = _suspects(samples, model, criteria)
    kinds, effects = model.kinds, model.effects
    found = dataclasses.replace(
        frame,
        suspects=suspects,
        pairs=pairs,
        good=_good(samples, model, suspects, criteria),
        effects=effects,
        kinds=kinds,
        levels=tier_levels(effects.level, kinds, paths.names),
        level_errors=tier_levels(effects.level_error, kinds, paths.names),
        sharp=_sharp(effects, kinds, paths.names),
        expected=np.exp(-expected if samples.metric == "goodput" else expected),
    )
    notes = notes_of(samples, model, found.levels)
    return _filled(found, _blames(found, model), tiers(paths, found.levels), notes)


def _no_finer(criteria: LocateCriteria, samples: Samples) -> LocateCriteria:
    """Rounded values do not tell ports apart that are less than half a step from each other,
    however many they are.
    """
    step = rounding(samples.value)
    if not step:
        return criteria
    return dataclasses.replace(criteria, floor=max(criteria.floor, min(0.5, step / 2.0)))


def _frame(
    samples: Samples, fabric: Fabric | None, criteria: LocateCriteria, reasons: Mapping[str, str]
) -> Screened:
    """The answer when nothing was measured."""
    return Screened(
        suspects=[],
        pairs=[],
        good=[],
        located=counts(samples, criteria, reasons),
        samples=samples,
        fabric=fabric,
        places=places_of(samples.nodes, fabric),
        kinds=one_kind(len(samples.nodes)),
        levels={},
        level_errors={},
        sharp=frozenset(),
        expected=np.zeros(0),
        effects=None,
        criteria=criteria,
    )


def _two(frame: Screened, effects: Effects, names: Sequence[str]) -> Screened:
    """Two nodes: one direction of their pair against the other."""
    samples = frame.samples
    suspect, level, level_error = screen_two(samples, frame.criteria)
    found = dataclasses.replace(
        frame,
        pairs=[suspect] if suspect else [],
        levels={(names[0], 0): level},
        level_errors={(names[0], 0): level_error},
        effects=effects,
        expected=np.full(len(samples), value_of(samples.metric, level)),
    )
    sure = [one for one in found.pairs if one.p <= frame.criteria.alpha]
    blames = [screened_blame(samples, one) for one in sure]
    tier = Tier(name=names[0], samples=len(samples), median=value_of(samples.metric, level))
    return _filled(found, blames, [tier], [_TWO_NODES])


def _suspects(
    samples: Samples, model: Fit, criteria: LocateCriteria
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
    logs = log_slowness(samples)
    leftover = logs - expected - model.excess
    suspects = with_tail(samples, effects, suspects, leftover[shown(ports, effects)])
    steady = _slow_ports(samples, suspects, criteria.alpha)
    beyond = logs - clean - model.excess
    unsteady = unsteady_ports(samples, beyond, effects.noise, practical, criteria.alpha, steady)
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
        first[direction] + index[one.nodes[0]]: as_log(samples.metric, one.slowdown)
        for one in suspects
        if one.p <= alpha
        for direction in first
        if one.direction in ("", direction)
    }


def _good(
    samples: Samples, model: Fit, suspects: Sequence[Suspect], criteria: LocateCriteria
) -> list[str]:
    """Known-good nodes, of the fastest kind of NIC first: a slower one hides what is wrong with a
    suspect.
    """
    practical = as_log(samples.metric, criteria.practical(samples.metric))
    good = good_nodes(samples, model.effects, suspects, practical)
    kind = dict(zip(samples.nodes, model.kinds.kind.tolist(), strict=True))
    return sorted(good, key=lambda name: kind[name])


def _sharp(effects: Effects, kinds: Kinds, names: Sequence[str]) -> frozenset[str]:
    """Kinds of path on which a slow port shows."""
    fine = fine_strata(effects.level, effects.sigma, np.tile(np.arange(kinds.count), len(names)))
    return frozenset(names[number // kinds.count] for number in np.nonzero(fine)[0].tolist())


def _blames(found: Screened, model: Fit) -> list[Blame]:
    """Culprits by the screen alone: nodes and ports that are slow on their own account, then what
    is left for links and switches.
    """
    samples, alpha = found.samples, found.criteria.alpha
    likely = port_levels(model.ports, model.effects.level)
    own = {one.nodes for one in suspected_nodes(samples, model.own, likely, found.criteria)}
    own |= {one.nodes for one in found.suspects if is_sure(one, alpha)}
    sure = [one for one in found.suspects if one.nodes in own and one.p <= alpha]
    nodes = [screened_blame(samples, one) for one in sure]
    blames = whole_leaves(nodes, found.fabric, samples.nodes)
    return blames + path_blames(found, blames)


def _filled(
    screened: Screened, blames: list[Blame], tiers: list[Tier], notes: list[str]
) -> Screened:
    """The screen with what the analysis found."""
    located: Located = msgspec.structs.replace(
        screened.located,
        noise=screened.effects.noise if screened.effects else 0.0,
        detectable=least_found(screened, again=not screened.suspects),
        blames=blames,
        tiers=tiers,
        notes=notes,
    )
    return dataclasses.replace(screened, located=located)
