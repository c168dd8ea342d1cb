"""Which nodes and ports a screen suspects: beyond chance in a whole sweep, and large enough to
matter.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from wireproof.locate.blame import SlownessEstimate, blame_of, pair_of
from wireproof.locate.criteria import LocateCriteria, as_log, as_slowdown
from wireproof.locate.samples import Floats, Samples
from wireproof.locate.screen.effects import Effects
from wireproof.locate.screen.unsteady import Unsteady
from wireproof.locate.significance import (
    REACH,
    as_normal,
    at_least_half,
    holm,
    loose,
    quantile,
    upper_tail,
)
from wireproof.model.finding import Node, Port, Subject
from wireproof.model.located import Blame, Direction, Metric

_TAIL_REACH = 0.9
_CLEAN = 0.25
_EVERY_DIRECTION: tuple[Direction, ...] = ("tx", "rx", "")
_MEDIAN_FACTOR = 1.2533  # standard error of a median (see significance)
_STRICT = 0.02


@dataclasses.dataclass(frozen=True, kw_only=True)
class Suspect:
    """``nodes``: one, or origin and target of a pair. ``slowdown``: relative; ``z``: standard
    errors above zero; ``p``: adjusted for all hypotheses of the sweep (Holm). ``error`` and
    ``expected``: log slowness. ``lone``: the other direction of the port is clean, with less than a
    quarter of this slowness and half the practical threshold. ``moment``: of one that is slow for a
    part of the time, when; "" for all others.
    """

    kind: Literal["node", "port", "pair"]
    nodes: tuple[str, ...]
    direction: Direction = ""
    slowdown: float
    z: float
    p: float
    error: float
    expected: float
    lone: bool = False
    moment: str = ""

    def about(self, metric: Metric) -> Subject:
        """What is suspected."""
        if self.kind == "pair":
            return pair_of(metric, *self.nodes)
        name = self.nodes[0]
        return Port(name, self.direction) if self.kind == "port" else Node(name)


def directions_of(samples: Samples) -> list[tuple[Direction, slice]]:
    """The directions, and where their ports are in the columns of ``Effects``."""
    count = len(samples.nodes)
    if samples.metric == "goodput":
        return [("tx", slice(0, count)), ("rx", slice(count, 2 * count))]
    return [("", slice(0, count))]


def suspected_nodes(
    samples: Samples, effects: Effects, expected: Floats, criteria: LocateCriteria
) -> list[Suspect]:
    """Every node with a port, or with both together, beyond the threshold; the surest first.

    3 N hypotheses (N for half round trips). ``expected``: log slowness of a good port, by port.
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
    found = []
    for node, p in zip(chosen.tolist(), adjusted.tolist(), strict=True):
        one = _suspect(samples, _Port.of_node(samples, effects, expected, node), practical)
        if one is not None:
            found.append(dataclasses.replace(one, z=float(best[node]), p=p))
    return sorted(found, key=lambda one: (-one.z, one.nodes))


class _Port(NamedTuple):
    """A port as the screen sees it, in log slownesses."""

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
        """Whether it is slow beyond doubt, and may be as slow as ``practical``."""
        beyond = self.slowness + REACH * self.error >= practical
        return bool(np.isfinite(self.slowness) and beyond and self.slowness > 2.0 * self.error)


def _suspect(samples: Samples, ports: list[_Port], practical: float) -> Suspect | None:
    """A node by its ports, its p not known yet; None when its slowdown cannot be as large as the
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
        slowdown=as_slowdown(samples.metric, worst.slowness),
        z=0.0,
        p=1.0,
        error=worst.error,
        expected=worst.expected,
        lone=bool(others) and not whole and all(slowness < clean for slowness in others),
    )


def with_tail(
    samples: Samples, effects: Effects, suspects: Sequence[Suspect], leftover: Floats
) -> list[Suspect]:
    """``suspects`` with the chance that the tail of the noise alone made them: half of a port's
    samples or more lie as far out as it does. ``leftover``: log slowness of each sample that
    nothing explains. Few samples a port (one round, two nodes) are thereby suspicious at most.
    """
    ordered = np.sort(leftover)
    number = {name: index for index, name in enumerate(samples.nodes)}
    directions = directions_of(samples)
    hypotheses = (3 if len(directions) == 2 else 1) * len(samples.nodes)
    found = []
    for one in suspects:
        node, chance = number[one.nodes[0]], 1.0
        for direction, part in directions:
            if one.direction in ("", direction):
                slowness = _TAIL_REACH * float(effects.slowness[part][node])
                beyond = ordered.size - int(np.searchsorted(ordered, slowness))
                share = (beyond + 1) / (ordered.size + 1)
                chance *= at_least_half(int(effects.samples[part][node]), share)
        found.append(dataclasses.replace(one, p=min(1.0, max(one.p, hypotheses * chance))))
    return found


def good_nodes(
    samples: Samples, effects: Effects, suspects: Sequence[Suspect], practical: float
) -> list[str]:
    """Nodes that are no suspects, were measured in every direction and are not slow; the best
    first.
    """
    worst = np.stack([effects.slowness[part] for _, part in directions_of(samples)]).max(axis=0)
    names = {name for one in suspects if one.kind != "pair" for name in one.nodes}
    order = np.argsort(np.nan_to_num(worst, nan=np.inf), kind="stable")
    return [
        samples.nodes[node]
        for node in order.tolist()
        if np.isfinite(worst[node]) and worst[node] < practical and samples.nodes[node] not in names
    ]


def screened_blame(samples: Samples, suspect: Suspect) -> Blame:
    """A suspect as the screen alone blames it."""
    return blame_of(
        suspect.about(samples.metric),
        samples.metric,
        SlownessEstimate(
            slowness=as_log(samples.metric, suspect.slowdown),
            error=suspect.error,
            p=suspect.p,
            expected=suspect.expected,
        ),
        stage="screened",
        nodes=suspect.nodes,
        evidence=[suspect.moment] if suspect.moment else [],
    )


def is_sure(suspect: Suspect, alpha: float) -> bool:
    """Whether one that is slow for a part of the time may be blamed by the screen alone: there are
    many ways to divide the time, and what the tail of the noise did is not measured again.
    """
    return bool(suspect.moment) and suspect.p <= _STRICT * alpha


def with_unsteady(
    samples: Samples,
    suspects: Sequence[Suspect],
    found: Sequence[Unsteady],
    expected: Floats,
    noise: float,
) -> list[Suspect]:
    """``suspects`` with the ports that are slow for a part of the time; those that were suspects
    anyway say when.

    ``expected``: log slowness of a good port, by port.
    """
    joined = list(suspects)
    for one in found:
        name = samples.nodes[one.port % len(samples.nodes)]
        direction = _EVERY_DIRECTION[one.port // len(samples.nodes)]
        own = [n for n, old in enumerate(joined) if old.nodes == (name,)]
        same = [n for n in own if joined[n].direction in ("", direction)]
        passing = [n for n in own if joined[n].moment]
        if same:
            old = joined[same[0]]
            joined[same[0]] = dataclasses.replace(old, moment=old.moment or one.sentence)
        elif passing:
            both = dataclasses.replace(joined[passing[0]], kind="node", direction="", lone=False)
            joined[passing[0]] = both
        else:
            likely = float(expected[one.port])
            joined.append(_unsteady_suspect(samples.metric, one, name, direction, likely, noise))
    return joined


def _unsteady_suspect(
    metric: Metric, one: Unsteady, name: str, direction: Direction, expected: float, noise: float
) -> Suspect:
    error = max(noise, 1e-6) * _MEDIAN_FACTOR / len(one.rows) ** 0.5
    return Suspect(
        kind="port",
        nodes=(name,),
        direction=direction,
        slowdown=as_slowdown(metric, one.slowness),
        z=one.slowness / error,
        p=one.p,
        error=error,
        expected=expected,
        moment=one.sentence,
    )
