"""Which nodes, ports and pairs a screen suspects: beyond chance in a whole sweep, and large enough
to matter.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal

import numpy as np

from wireproof.locate.blame import Estimate, blame_of, pair_of
from wireproof.locate.criteria import Criteria, as_log, as_slowdown
from wireproof.locate.groups import grouped_median
from wireproof.locate.samples import Samples
from wireproof.locate.screen.effects import Effects
from wireproof.locate.screen.unsteady import Unsteady
from wireproof.locate.significance import (
    REACH,
    Floats,
    as_normal,
    at_least_half,
    holm,
    loose,
    quantile,
    upper_tail,
)
from wireproof.model.located import Blame, Direction, Metric
from wireproof.model.subject import Node, Port, Subject

__all__ = [
    "Suspect",
    "good_nodes",
    "is_sure",
    "screened_blame",
    "suspected_nodes",
    "suspected_pairs",
    "ways_of",
    "with_tail",
    "with_unsteady",
]

_MOST_PAIRS = 16  # a long tail fills the first places of 64 nodes' 4,032 routes
_AS_SLOW, _FEW_ALIKE, _OFTEN = 0.7, 4, 0.10
_TAIL_REACH = 0.9
_CLEAN = 0.25
_EVERY_WAY = ("tx", "rx", "")
_STRICT = 0.02
# times the practical threshold: a lone sample has to be that slow, for the tail is long on its own
_PAIR_TAIL = 3.0


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


def ways_of(samples: Samples) -> list[tuple[Direction, slice]]:
    """The directions, and where their ports are in the columns of ``Effects``."""
    count = len(samples.nodes)
    if samples.metric == "goodput":
        return [("tx", slice(0, count)), ("rx", slice(count, 2 * count))]
    return [("", slice(0, count))]


def suspected_nodes(
    samples: Samples, effects: Effects, expected: Floats, criteria: Criteria
) -> list[Suspect]:
    """Every node with a port, or with both together, beyond the threshold; the surest first.

    3 N hypotheses (N for half round trips). ``expected``: log slowness of a good port, by port.
    """
    t = effects.slowness / effects.error
    z = np.where(np.isnan(t), -np.inf, as_normal(np.nan_to_num(t), effects.freedom))
    columns = [z[part] for _, part in ways_of(samples)]
    if len(columns) == 2:
        columns.append((np.maximum(columns[0], -1e9) + np.maximum(columns[1], -1e9)) / np.sqrt(2.0))
    table = np.stack(columns, axis=1)
    hypotheses = int(np.sum(table > -1e8))
    if hypotheses == 0:
        return []
    best = table.max(axis=1)
    chosen = np.nonzero(best >= quantile(loose(hypotheses, criteria.alpha)))[0]
    adjusted = holm(upper_tail(best[chosen]), hypotheses)
    drafts = [
        _suspect(samples, effects, expected, node, p, float(best[node]), criteria)
        for node, p in zip(chosen.tolist(), adjusted.tolist(), strict=True)
    ]
    return sorted((one for one in drafts if one), key=lambda one: (-one.z, one.nodes))


def _suspect(
    samples: Samples,
    effects: Effects,
    expected: Floats,
    node: int,
    p: float,
    z: float,
    criteria: Criteria,
) -> Suspect | None:
    """The node as a suspect; None when its slowdown cannot be as large as the practical
    threshold.
    """
    practical = as_log(samples.metric, criteria.practical(samples.metric))
    ways = ways_of(samples)
    slow = {
        way: (float(effects.slowness[part][node]), float(effects.error[part][node]))
        for way, part in ways
    }
    guilty = [
        way
        for way, (value, error) in slow.items()
        if np.isfinite(value) and value + REACH * error >= practical and value > 2.0 * error
    ]
    if not guilty:
        return None
    worst = max(guilty, key=lambda way: slow[way][0])
    whole = len(guilty) == len(ways)
    others = [value for way, (value, _) in slow.items() if way != worst]
    lone = all(value < min(_CLEAN * slow[worst][0], practical / 2.0) for value in others)
    return Suspect(
        kind="node" if whole else "port",
        nodes=(samples.nodes[node],),
        direction="" if whole else worst,
        slowdown=as_slowdown(samples.metric, slow[worst][0]),
        z=z,
        p=p,
        error=slow[worst][1],
        expected=float(expected[dict(ways)[worst]][node]),
        lone=bool(others) and lone and not whole,
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
    ways = ways_of(samples)
    found = []
    for one in suspects:
        chance = 1.0
        for way, part in ways:
            if one.direction in ("", way):
                node = number[one.nodes[0]]
                slowness = _TAIL_REACH * float(effects.slowness[part][node])
                beyond = ordered.size - int(np.searchsorted(ordered, slowness))
                chance *= at_least_half(
                    int(effects.samples[part][node]), (beyond + 1) / (ordered.size + 1)
                )
        hypotheses = (3 if len(ways) == 2 else 1) * len(samples.nodes)
        found.append(dataclasses.replace(one, p=min(1.0, max(one.p, hypotheses * chance))))
    return found


def good_nodes(
    samples: Samples, effects: Effects, suspects: Sequence[Suspect], practical: float
) -> list[str]:
    """Nodes that are no suspects, were measured in every direction and are not slow; the best
    first.
    """
    worst = np.stack([effects.slowness[part] for _, part in ways_of(samples)]).max(axis=0)
    names = {name for one in suspects if one.kind != "pair" for name in one.nodes}
    order = np.argsort(np.nan_to_num(worst, nan=np.inf), kind="stable")
    return [
        samples.nodes[node]
        for node in order.tolist()
        if np.isfinite(worst[node]) and worst[node] < practical and samples.nodes[node] not in names
    ]


def suspected_pairs(
    samples: Samples,
    leftover: Floats,
    sigma: Floats,
    expected: Floats,
    excluded: Sequence[Suspect],
    criteria: Criteria,
) -> list[Suspect]:
    """Ordered pairs of good ports that are far slower than both their ends explain; a few, the
    slowest first.

    ``leftover``: log slowness that nothing explains yet, ``sigma`` its noise, ``expected``, by
    sample. What one sample says of a pair may be the tail of the noise: a pair is a suspect, and
    never a blame before it was measured again.
    """
    count = len(samples.nodes)
    route, place = np.unique(
        samples.origin.astype(np.int64) * count + samples.target, return_inverse=True
    )
    slow, members = grouped_median(place, leftover, route.size)
    noise = np.zeros(route.size)
    np.maximum.at(noise, place, sigma)
    error = np.sqrt((1.2533 * noise) ** 2 / members + criteria.floor**2)
    practical = as_log(samples.metric, criteria.practical(samples.metric))
    slow_ends = {
        (one.nodes[0], way)
        for one in excluded
        for way in ((one.direction,) if one.direction else _EVERY_WAY)
    }
    adjusted = np.minimum(1.0, upper_tail(slow / error) * route.size)
    # As slow as many others: a kind of path that nobody told about, not a fault of one.
    alike = slow.size - np.searchsorted(np.sort(slow), _AS_SLOW * slow)
    lone = alike <= max(_FEW_ALIKE, _OFTEN * slow.size)
    chosen = np.nonzero((adjusted <= criteria.alpha) & (slow >= _PAIR_TAIL * practical) & lone)[0]
    found = []
    for index in chosen[np.argsort(-slow[chosen], kind="stable")].tolist():
        a, b = (samples.nodes[end] for end in divmod(int(route[index]), count))
        own, far = ("tx", "rx") if samples.metric == "goodput" else ("", "")
        if (a, own) in slow_ends or (b, far) in slow_ends:
            continue
        found.append(
            Suspect(
                kind="pair",
                nodes=(a, b),
                slowdown=as_slowdown(samples.metric, float(slow[index])),
                z=float(slow[index] / error[index]),
                p=float(adjusted[index]),
                error=float(error[index]),
                expected=float(np.median(expected[place == index])),
            )
        )
        if len(found) == _MOST_PAIRS:
            break
    return found


def screened_blame(samples: Samples, suspect: Suspect) -> Blame:
    """A suspect as the screen alone blames it."""
    return blame_of(
        suspect.about(samples.metric),
        samples.metric,
        Estimate(
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
    told = list(suspects)
    count = len(samples.nodes)
    for one in found:
        name, way = samples.nodes[one.port % count], _EVERY_WAY[one.port // count]
        place = next(
            (
                n
                for n, old in enumerate(told)
                if old.nodes == (name,) and old.direction in ("", way)
            ),
            None,
        )
        other = next((n for n, old in enumerate(told) if old.nodes == (name,) and old.moment), None)
        if place is not None:
            told[place] = dataclasses.replace(
                told[place], moment=told[place].moment or one.sentence
            )
        elif other is not None:
            told[other] = dataclasses.replace(told[other], kind="node", direction="", lone=False)
        else:
            error = max(noise, 1e-6) * 1.2533 / len(one.rows) ** 0.5
            told.append(
                Suspect(
                    kind="port",
                    nodes=(name,),
                    direction="tx" if one.port < count else "rx",
                    slowdown=as_slowdown(samples.metric, one.slowness),
                    z=one.slowness / error,
                    p=one.p,
                    error=error,
                    expected=float(expected[one.port]),
                    moment=one.sentence,
                )
            )
    return told
