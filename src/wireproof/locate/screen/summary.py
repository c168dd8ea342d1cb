"""What a screen says of all nodes together: which are missing, what each kind of path reaches, and
what else is worth a note.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from wireproof.locate.criteria import Criteria, as_slowdown
from wireproof.locate.samples import Samples
from wireproof.locate.screen.fit import Fit
from wireproof.locate.significance import robust_scale
from wireproof.locate.slowness import log_slowness, value_of
from wireproof.locate.tiers import ONE_SWITCH, Paths
from wireproof.model.located import Located, Tier
from wireproof.model.quantity import percent, throughput

__all__ = ["Levels", "counts", "notes_of", "tiers"]

Levels = Mapping[tuple[str, int], float]
"""Log slowness by kind of path and kind of node."""

_FEW_SAMPLES = 3


def counts(samples: Samples, criteria: Criteria, reasons: Mapping[str, str]) -> Located:
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
