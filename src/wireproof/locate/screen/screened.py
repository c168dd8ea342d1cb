# pure
"""Find the suspects of a screen: nodes and ports that are slow beyond chance in the whole sweep,
and by enough to matter; the result of a screen, and the smallest slowdown that it could detect.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from wireproof.locate.blame import SlownessEstimate, blame_of, pair_of
from wireproof.locate.routes import blame_paths
from wireproof.locate.samples import Floats, Samples
from wireproof.locate.screen.effects import Effects
from wireproof.locate.screen.strata import Kinds, Places
from wireproof.locate.screen.unsteady import Unsteady
from wireproof.locate.significance import (
    MEDIAN_FACTOR,
    REACH,
    LocateCriteria,
    as_log,
    as_normal,
    as_slowdown,
    at_least_half,
    detectable,
    holm,
    loose,
    quantile,
    upper_tail,
)
from wireproof.model.finding import Node, Port, Subject, Switch
from wireproof.model.located import Blame, Direction, Fabric, Located, Metric

_TAIL_REACH = 0.9
_CLEAN = 0.25
EVERY_DIRECTION: tuple[Direction, ...] = ("tx", "rx", "")
_STRICT = 0.02


@dataclasses.dataclass(frozen=True, kw_only=True)
class Suspect(SlownessEstimate):
    """``nodes``: a single node, or origin and target of a pair. ``z``: standard errors above zero.
    ``p``: adjusted for all hypotheses of the sweep (Holm). ``lone``: the other direction of the
    port is clean, that is, below a quarter of this slowness and below half the practical threshold.
    ``moment``: when the suspect was slow, if only for some of the time; else "".
    """

    kind: Literal["node", "port", "pair"]
    nodes: tuple[str, ...]
    direction: Direction = ""
    z: float
    lone: bool = False
    moment: str = ""

    def about(self, metric: Metric) -> Subject:
        """Return the subject that is suspected."""
        if self.kind == "pair":
            return pair_of(metric, *self.nodes)
        name = self.nodes[0]
        return Port(name, self.direction) if self.kind == "port" else Node(name)


def directions_of(samples: Samples) -> list[tuple[Direction, slice]]:
    """Return the directions, each with the slice of its ports in the columns of ``Effects``."""
    count = len(samples.nodes)
    if samples.metric == "goodput":
        return [("tx", slice(0, count)), ("rx", slice(count, 2 * count))]
    return [("", slice(0, count))]


def suspected_nodes(
    samples: Samples, effects: Effects, expected: Floats, criteria: LocateCriteria
) -> list[Suspect]:
    """Return every node with a port beyond the threshold, or with both ports together beyond it;
    the most certain first.

    There are 3 N hypotheses (N for half round trips). ``expected``: log slowness of a good port, by
    port.
    """
    t = effects.slowness / effects.error
    z = np.where(np.isnan(t), -np.inf, as_normal(np.nan_to_num(t), effects.freedom))
    columns = [z[part] for _, part in directions_of(samples)]
    if len(columns) == 2:
        columns.append((np.maximum(columns[0], -1e9) + np.maximum(columns[1], -1e9)) / np.sqrt(2.0))
    table = np.stack(columns, axis=1)
    hypotheses = int(np.sum(table > -1e8))
    if hypotheses == 0:
        return []
    best = table.max(axis=1)
    chosen = np.nonzero(best >= quantile(loose(hypotheses, criteria.alpha)))[0]
    adjusted = holm(upper_tail(best[chosen]), hypotheses)
    practical = as_log(samples.metric, criteria.practical(samples.metric))
    suspects = []
    for node, p in zip(chosen.tolist(), adjusted.tolist(), strict=True):
        suspect = _suspect(samples, _Port.of_node(samples, effects, expected, node), practical)
        if suspect is not None:
            suspects.append(dataclasses.replace(suspect, z=float(best[node]), p=p))
    return sorted(suspects, key=lambda suspect: (-suspect.z, suspect.nodes))


class _Port(NamedTuple):
    """A port as the screen sees it, in log slowness."""

    node: int
    direction: Direction
    slowness: float
    error: float
    expected: float

    @classmethod
    def of_node(
        cls, samples: Samples, effects: Effects, expected: Floats, node: int
    ) -> list[_Port]:
        return [
            cls(
                node,
                direction,
                float(effects.slowness[part][node]),
                float(effects.error[part][node]),
                float(expected[part][node]),
            )
            for direction, part in directions_of(samples)
        ]

    def is_slow(self, practical: float) -> bool:
        """Return whether the port is certainly slow, and may be as slow as ``practical``."""
        beyond = self.slowness + REACH * self.error >= practical
        return bool(np.isfinite(self.slowness) and beyond and self.slowness > 2.0 * self.error)


def _suspect(samples: Samples, ports: list[_Port], practical: float) -> Suspect | None:
    """Make a suspect from the ports of a node, without its p; None if its slowdown cannot reach the
    practical threshold.
    """
    guilty = [port for port in ports if port.is_slow(practical)]
    if not guilty:
        return None
    worst = max(guilty, key=lambda port: port.slowness)
    whole = len(guilty) == len(ports)
    clean = min(_CLEAN * worst.slowness, practical / 2.0)
    others = [port.slowness for port in ports if port is not worst]
    return Suspect(
        kind="node" if whole else "port",
        nodes=(samples.nodes[worst.node],),
        direction="" if whole else worst.direction,
        slowness=worst.slowness,
        z=0.0,
        p=1.0,
        error=worst.error,
        expected=worst.expected,
        lone=bool(others) and not whole and all(slowness < clean for slowness in others),
    )


def with_tail(
    samples: Samples, effects: Effects, suspects: Sequence[Suspect], leftover: Floats
) -> list[Suspect]:
    """Raise p of each suspect to the probability that only the tail of the noise caused it: that at
    least half of its samples lie that far out. ``leftover``: unexplained log slowness of each
    sample. Ports with few samples (one round, two nodes) are then suspects at most.
    """
    ordered = np.sort(leftover)
    number = {name: index for index, name in enumerate(samples.nodes)}
    directions = directions_of(samples)
    hypotheses = (3 if len(directions) == 2 else 1) * len(samples.nodes)
    adjusted = []
    for suspect in suspects:
        node, chance = number[suspect.nodes[0]], 1.0
        for direction, part in directions:
            if suspect.direction in ("", direction):
                slowness = _TAIL_REACH * float(effects.slowness[part][node])
                beyond = ordered.size - int(np.searchsorted(ordered, slowness))
                share = (beyond + 1) / (ordered.size + 1)
                chance *= at_least_half(int(effects.samples[part][node]), share)
        adjusted.append(
            dataclasses.replace(suspect, p=min(1.0, max(suspect.p, hypotheses * chance)))
        )
    return adjusted


def good_nodes(
    samples: Samples, effects: Effects, suspects: Sequence[Suspect], practical: float
) -> list[str]:
    """Return nodes that are not suspects, were measured in every direction and are not slow; the
    best first.
    """
    worst = np.stack([effects.slowness[part] for _, part in directions_of(samples)]).max(axis=0)
    names = {name for suspect in suspects if suspect.kind != "pair" for name in suspect.nodes}
    order = np.argsort(np.nan_to_num(worst, nan=np.inf), kind="stable")
    return [
        samples.nodes[node]
        for node in order.tolist()
        if np.isfinite(worst[node]) and worst[node] < practical and samples.nodes[node] not in names
    ]


def screened_blame(samples: Samples, suspect: Suspect) -> Blame:
    """Return the blame of a suspect from the screen alone."""
    return blame_of(
        suspect.about(samples.metric),
        samples.metric,
        suspect,
        stage="screened",
        nodes=suspect.nodes,
        evidence=[suspect.moment] if suspect.moment else [],
    )


def is_sure(suspect: Suspect, alpha: float) -> bool:
    """Return whether the screen alone may blame a suspect that is slow for some of the time. The
    limit is strict because there are many ways to divide the time, and a tail of the noise does not
    repeat.
    """
    return bool(suspect.moment) and suspect.p <= _STRICT * alpha


def with_unsteady(
    samples: Samples,
    suspects: Sequence[Suspect],
    found: Sequence[Unsteady],
    expected: Floats,
    noise: float,
) -> list[Suspect]:
    """Add the ports that are slow for some of the time to ``suspects``; existing suspects get the
    time.

    ``expected``: log slowness of a good port, by port.
    """
    joined = list(suspects)
    for unsteady in found:
        name = samples.nodes[unsteady.port % len(samples.nodes)]
        direction = EVERY_DIRECTION[unsteady.port // len(samples.nodes)]
        of_node = [n for n, old in enumerate(joined) if old.nodes == (name,)]
        same = [n for n in of_node if joined[n].direction in ("", direction)]
        passing = [n for n in of_node if joined[n].moment]
        if same:
            old = joined[same[0]]
            joined[same[0]] = dataclasses.replace(old, moment=old.moment or unsteady.sentence)
        elif passing:
            both = dataclasses.replace(joined[passing[0]], kind="node", direction="", lone=False)
            joined[passing[0]] = both
        else:
            likely = float(expected[unsteady.port])
            joined.append(_unsteady_suspect(unsteady, name, direction, likely, noise))
    return joined


def _unsteady_suspect(
    unsteady: Unsteady, name: str, direction: Direction, expected: float, noise: float
) -> Suspect:
    error = max(noise, 1e-6) * MEDIAN_FACTOR / len(unsteady.rows) ** 0.5
    return Suspect(
        kind="port",
        nodes=(name,),
        direction=direction,
        slowness=unsteady.slowness,
        z=unsteady.slowness / error,
        p=unsteady.p,
        error=error,
        expected=expected,
        moment=unsteady.sentence,
    )


# --- The result of a screen.


@dataclasses.dataclass(frozen=True, kw_only=True)
class Screened:
    """``suspects``: nodes and ports, the most certain first, to be measured alone with partners
    from ``good`` (known-good nodes, the best first). ``pairs``: routes that were slow once between
    good ports, to be measured again.

    ``levels``: expected log slowness by kind of path and kind of node, ``level_errors`` their
    standard errors. ``expected``: the value of each sample (in the metric's unit) that paths, kinds
    and ports predict. ``sharp``: kinds of path that reveal a slow port. ``effects``: None if
    nothing was measured.
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
    criteria: LocateCriteria


def path_blames(screened: Screened, blames: Sequence[Blame]) -> list[Blame]:
    """Return slow links and switches from the screen's samples, excluding the ports in
    ``blames``.
    """
    if screened.effects is None:
        return []
    excluded = {
        (name, blame.direction)
        for blame in blames
        if isinstance(blame.about, Node | Port | Switch)
        for name in blame.nodes
    }
    return blame_paths(
        screened.samples,
        screened.expected,
        float(np.nanmax(screened.effects.sigma)),
        excluded,
        screened.fabric,
        screened.criteria,
    )


def least_found(screened: Screened, *, again: bool) -> float:
    """Return the slowdown detected with 95 % power: as a suspect that is measured ``again`` (or
    would be, if there are no suspects), else as a blame of the screen.
    """
    effects, located = screened.effects, screened.located
    if effects is None:
        return located.detectable
    directions = 3 if len(directions_of(screened.samples)) == 2 else 1
    hypotheses = directions * located.measured
    measured = effects.samples > 0
    # A port is compared with the median of all ports, which is uncertain if there are few.
    error = float(
        np.median(effects.error[measured])
        * np.hypot(1.0, MEDIAN_FACTOR / np.sqrt(np.sum(measured)))
    )
    practical = as_log(located.metric, located.practical)
    p = loose(hypotheses, located.alpha) if again else located.alpha / max(1, hypotheses)
    return as_slowdown(located.metric, detectable(error, p, practical, freedom=effects.freedom))
