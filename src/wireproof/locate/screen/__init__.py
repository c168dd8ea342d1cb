# pure
"""Analyse a screen: find nodes and ports that look slow, and nodes and ports that are known to be
good."""

import dataclasses
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from wireproof.locate.routes.crossing import whole_leaves
from wireproof.locate.samples import Floats, Samples, check, log_slowness, rounding, value_of
from wireproof.locate.screen.effects import Effects, explained, fine_strata
from wireproof.locate.screen.fit import Fit, fit, port_levels, shown, tier_levels
from wireproof.locate.screen.pairs import screen_two, suspected_pairs
from wireproof.locate.screen.screened import (
    Screened,
    Suspect,
    good_nodes,
    is_sure,
    least_found,
    path_blames,
    screened_blame,
    suspected_nodes,
    with_tail,
    with_unsteady,
)
from wireproof.locate.screen.strata import ONE_SWITCH, Kinds, Paths, one_kind, paths_of, places_of
from wireproof.locate.screen.unsteady import unsteady_ports
from wireproof.locate.significance import LocateCriteria, as_log, as_slowdown, robust_scale
from wireproof.model.located import Blame, Fabric, Located, Tier
from wireproof.model.quantity import percent, throughput

# --- Results for all nodes together: missing nodes, the level of each kind of path,
# and notes.

Levels = Mapping[tuple[str, int], float]
"""Log slowness by kind of path and kind of node."""

_FEW_SAMPLES = 3


def counts(samples: Samples, criteria: LocateCriteria, reasons: Mapping[str, str]) -> Located:
    """Return the numbers of measurements, and the missing nodes."""
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
    """Return the kind of samples that a node lacks, given these counts; "" if it lacks none."""
    if not sends and not receives:
        return "no sample"
    if not sends and receives >= _FEW_SAMPLES:
        return "no sample in its sending direction"
    if not receives and sends >= _FEW_SAMPLES:
        return "no sample in its receiving direction"
    return ""


def tiers(paths: Paths, levels: Levels) -> list[Tier]:
    """Return a tier for each kind of path, with the level of the fastest kind of nodes measured on
    it.
    """
    metric = paths.samples.metric
    fastest: dict[str, float] = {}
    for (name, _), level in levels.items():
        fastest[name] = min(level, fastest.get(name, level))
    # Traffic within a switch shares no link by design, so if it is slower than traffic across
    # leaves, that is a fault.
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
    """Return notes about drift and mixed speeds."""
    notes = []
    if np.any(model.drift > 0.0):
        most = percent(as_slowdown(samples.metric, float(model.drift.max())))
        notes.append(
            f"all nodes became up to {most} slower for some of the time: each sample is compared"
            " with others of the same time"
        )
    if model.kinds.count > 1:
        speeds = ", ".join(_speeds(samples, model, levels))
        notes.append(f"mixed speeds: {speeds}; each node is compared with nodes of the same speed")
    return notes


def _speeds(samples: Samples, model: Fit, levels: Levels) -> list[str]:
    """Return phrases with the best value of each kind of nodes."""
    speeds = []
    for number in range(model.kinds.count):
        of_kind = [level for (_, kind), level in levels.items() if kind == number]
        if of_kind:
            members = int(np.sum(model.kinds.kind == number))
            speeds.append(
                f"{members} nodes at {throughput(value_of(samples.metric, min(of_kind)))}"
            )
    return speeds


# with more nodes, pairs are not measured individually, and a lone slow sample is only the tail of
# the noise
_ALL_PAIRS = 64
_TWO_NODES = "with two nodes, only the slow direction can be found, not the slow node"


def screen(
    samples: Samples,
    fabric: Fabric | None = None,
    criteria: LocateCriteria | None = None,
    *,
    reasons: Mapping[str, str] | None = None,
) -> Screened:
    """Return suspects, known-good nodes and a first ``Located`` (stage ``screened``) from a
    screen's samples. ``reasons``: for each node without samples, the reason
    (``from_run.reasons_of``). With two nodes, only the slow direction of their pair can be found.
    Raises ValueError for invalid samples (``samples.check``).
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
    screened = dataclasses.replace(
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
    notes = notes_of(samples, model, screened.levels)
    return _filled(screened, _blames(screened, model), tiers(paths, screened.levels), notes)


def _no_finer(criteria: LocateCriteria, samples: Samples) -> LocateCriteria:
    """Raise the floor for rounded values: they cannot distinguish ports that differ by less than
    half a step, however many samples there are.
    """
    step = rounding(samples.value)
    if not step:
        return criteria
    return dataclasses.replace(criteria, floor=max(criteria.floor, min(0.5, step / 2.0)))


def _frame(
    samples: Samples, fabric: Fabric | None, criteria: LocateCriteria, reasons: Mapping[str, str]
) -> Screened:
    """Return the result for a screen without measurements."""
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
    """Compare the two directions of the only pair of nodes."""
    samples = frame.samples
    suspect, level, level_error = screen_two(samples, frame.criteria)
    result = dataclasses.replace(
        frame,
        pairs=[suspect] if suspect else [],
        levels={(names[0], 0): level},
        level_errors={(names[0], 0): level_error},
        effects=effects,
        expected=np.full(len(samples), value_of(samples.metric, level)),
    )
    sure = [pair for pair in result.pairs if pair.p <= frame.criteria.alpha]
    blames = [screened_blame(samples, pair) for pair in sure]
    tier = Tier(name=names[0], samples=len(samples), median=value_of(samples.metric, level))
    return _filled(result, blames, [tier], [_TWO_NODES])


def _suspects(
    samples: Samples, model: Fit, criteria: LocateCriteria
) -> tuple[list[Suspect], list[Suspect], Floats]:
    """Return (suspected nodes and ports; suspected pairs; the log slowness of each sample that
    those nodes and ports predict).
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
    for item in unsteady:
        leftover[item.rows] = 0.0
    sigma = effects.sigma[ports.stratum]
    sure = [item for item in suspects if item.p <= criteria.alpha]
    return suspects, suspected_pairs(samples, leftover, sigma, clean, sure, criteria), expected


def _slow_ports(samples: Samples, suspects: Sequence[Suspect], alpha: float) -> dict[int, float]:
    """Map the number of each certainly slow port to its log slowness."""
    index = {name: number for number, name in enumerate(samples.nodes)}
    first = {"tx": 0, "rx": len(samples.nodes)}
    return {
        first[direction] + index[suspect.nodes[0]]: suspect.slowness
        for suspect in suspects
        if suspect.p <= alpha
        for direction in first
        if suspect.direction in ("", direction)
    }


def _good(
    samples: Samples, model: Fit, suspects: Sequence[Suspect], criteria: LocateCriteria
) -> list[str]:
    """Return known-good nodes, the fastest kind of NIC first: a slower NIC would hide a suspect's
    fault.
    """
    practical = as_log(samples.metric, criteria.practical(samples.metric))
    good = good_nodes(samples, model.effects, suspects, practical)
    kind = dict(zip(samples.nodes, model.kinds.kind.tolist(), strict=True))
    return sorted(good, key=lambda name: kind[name])


def _sharp(effects: Effects, kinds: Kinds, names: Sequence[str]) -> frozenset[str]:
    """Return the kinds of path that reveal a slow port."""
    fine = fine_strata(effects.level, effects.sigma, np.tile(np.arange(kinds.count), len(names)))
    return frozenset(names[number // kinds.count] for number in np.nonzero(fine)[0].tolist())


def _blames(screened: Screened, model: Fit) -> list[Blame]:
    """Return the culprits by the screen alone: nodes and ports that are slow themselves, then links
    and switches that explain the rest.
    """
    samples, alpha = screened.samples, screened.criteria.alpha
    likely = port_levels(model.ports, model.effects.level)
    own = {
        suspect.nodes for suspect in suspected_nodes(samples, model.own, likely, screened.criteria)
    }
    own |= {suspect.nodes for suspect in screened.suspects if is_sure(suspect, alpha)}
    sure = [suspect for suspect in screened.suspects if suspect.nodes in own and suspect.p <= alpha]
    nodes = [screened_blame(samples, suspect) for suspect in sure]
    blames = whole_leaves(nodes, screened.fabric, samples.nodes)
    return blames + path_blames(screened, blames)


def _filled(
    screened: Screened, blames: list[Blame], tiers: list[Tier], notes: list[str]
) -> Screened:
    located: Located = msgspec.structs.replace(
        screened.located,
        noise=screened.effects.noise if screened.effects else 0.0,
        detectable=least_found(screened, again=not screened.suspects),
        blames=blames,
        tiers=tiers,
        notes=notes,
    )
    return dataclasses.replace(screened, located=located)
