"""Select the samples between leaves: where they leave and enter, and how slow they are."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from wireproof.locate.samples import Flags, Floats, Longs, Samples
from wireproof.locate.topology.uplinks import switch_of, uplinks
from wireproof.model.fabric import Fabric
from wireproof.model.finding import Node, Port, Switch
from wireproof.model.located import Blame, Direction, Stage

# --- Leaves whose nodes are all slow: blame the switch.

_WHOLE = 0.75


def whole_leaves(
    blames: Iterable[Blame], fabric: Fabric | None, measured: Iterable[str]
) -> list[Blame]:
    """Replace the blamed nodes of a leaf by its switch if three quarters of its measured nodes (at
    least three) are blamed in the same direction with about the same slowdown. The switch, or its
    up side, is the simpler cause.
    """
    joined = list(blames)
    leaf = switch_of(fabric)
    sizes = Counter(leaf[node] for node in dict.fromkeys(measured) if node in leaf)
    if len(sizes) < 2:
        return joined
    for (switch, direction), members in _by_leaf(joined, leaf).items():
        middle = float(np.median([blame.slowdown for blame in members]))
        alike = [blame for blame in members if abs(blame.slowdown - middle) <= 0.25 * middle + 0.02]
        if len(alike) >= max(3, _WHOLE * sizes[switch]):
            joined = [blame for blame in joined if blame not in alike]
            joined.append(_joined(switch, direction, alike, middle, sizes[switch]))
    return joined


def _by_leaf(
    blames: Iterable[Blame], leaf: Mapping[str, str]
) -> dict[tuple[str, Direction], list[Blame]]:
    """Map (leaf, direction) to the blamed nodes and ports there."""
    groups: dict[tuple[str, Direction], list[Blame]] = {}
    for blame in blames:
        if isinstance(blame.about, Node | Port) and blame.subject in leaf:
            groups.setdefault((leaf[blame.subject], blame.direction), []).append(blame)
    return groups


def _joined(
    switch: str, direction: Direction, members: list[Blame], middle: float, size: int
) -> Blame:
    stage: Stage = (
        "confirmed" if any(blame.stage == "confirmed" for blame in members) else "screened"
    )
    return Blame(
        kind="switch",
        subject=switch,
        about=Switch(switch),
        direction=direction,
        metric=members[0].metric,
        slowdown=middle,
        low=float(np.median([blame.low for blame in members])),
        high=float(np.median([blame.high for blame in members])),
        confidence=max(blame.confidence for blame in members),
        stage=stage,
        value=float(np.median([blame.value for blame in members])),
        expected=float(np.median([blame.expected for blame in members])),
        nodes=[blame.subject for blame in members],
        evidence=[
            f"{len(members)} of the {size} measured nodes of {switch} are slow by about one factor"
        ],
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Crossing:
    """The samples between leaves. ``rows``: indices of samples. ``out`` and ``into``: indices into
    ``leaves``.

    ``turn``: samples of the same turn ran at the same time. ``up``: for each leaf, the far ends of
    its up-links.
    """

    rows: Longs
    out: Longs
    into: Longs
    origin: Longs
    target: Longs
    turn: Longs
    leaves: tuple[str, ...]
    leaf: Longs
    up: tuple[tuple[str, ...], ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class View:
    """Input of a search. ``slowness``: log slowness of each sample relative to ``expected`` (in the
    metric's unit), NaN if the sample does not count. ``noise``: relative sigma of one sample.
    ``practical``: smallest slowness that is reported.
    """

    samples: Samples
    cross: Crossing
    slowness: Floats
    expected: Floats
    noise: float
    practical: float

    def median_of(self, chosen: Flags) -> float | None:
        """Return the median log slowness of the ``chosen`` samples; None if fewer than
        two count.
        """
        values = self.slowness[chosen & np.isfinite(self.slowness)]
        return float(np.median(values)) if values.size >= 2 else None

    def inside_leaf(self, number: int) -> float | None:
        """Return the median log slowness within a leaf; None if fewer than two samples show it."""
        leaf = self.cross.leaf
        inside = (leaf[self.samples.origin] == number) & (leaf[self.samples.target] == number)
        return self.median_of(inside)


def crossing(samples: Samples, fabric: Fabric) -> Crossing:
    """Select the samples whose ends are attached to two different known leaves. Samples that do not
    count are included: they shared the links too.
    """
    first = switch_of(fabric)
    leaves = tuple(dict.fromkeys(first[node] for node in samples.nodes if node in first))
    number = {name: index for index, name in enumerate(leaves)}
    leaf = np.asarray(
        [number[first[node]] if node in first else -1 for node in samples.nodes], dtype=np.int64
    )
    out, into = leaf[samples.origin], leaf[samples.target]
    rows = np.nonzero((out >= 0) & (into >= 0) & (out != into))[0].astype(np.int64)
    up = uplinks(fabric)
    return Crossing(
        rows=rows,
        out=out[rows],
        into=into[rows],
        origin=samples.origin[rows].astype(np.int64),
        target=samples.target[rows].astype(np.int64),
        turn=_turns(samples, rows),
        leaves=leaves,
        leaf=leaf,
        up=tuple(tuple(up.get(name, ())) for name in leaves),
    )


def _turns(samples: Samples, rows: Longs) -> Longs:
    """Number the parts of rounds in which pairs ran together. The pairs of a round are streamed
    first from the lower to the higher node number, then back.
    """
    origin, target = samples.origin[rows].astype(np.int64), samples.target[rows].astype(np.int64)
    turn = samples.round[rows].astype(np.int64) * 2 + (origin > target)
    sender = turn * len(samples.nodes) + origin
    # a node that sends twice in a turn: the samples are a table of pairs without rounds
    if np.unique(sender).size < sender.size:
        return np.arange(rows.size, dtype=np.int64)
    return np.asarray(turn, dtype=np.int64)
