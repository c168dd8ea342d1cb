"""The samples between leaves: where they leave and enter, and how slow they are."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from wireproof.locate.samples import Flags, Floats, Longs, Samples
from wireproof.locate.topology.uplinks import switch_of, uplinks
from wireproof.model.fabric import Fabric
from wireproof.model.finding import Node, Port, Switch
from wireproof.model.located import Blame, Direction, Stage

# --- Nodes of one leaf that are all slow: the switch is the simpler cause.

_WHOLE = 0.75


def whole_leaves(
    blames: Iterable[Blame], fabric: Fabric | None, measured: Iterable[str]
) -> list[Blame]:
    """``blames`` with the nodes of a leaf joined into one switch, where three quarters of its
    measured nodes (three at least) are blamed in one direction by about one factor: the switch, or
    what feeds it, is the simpler cause.
    """
    found = list(blames)
    leaf = switch_of(fabric)
    sizes = Counter(leaf[node] for node in dict.fromkeys(measured) if node in leaf)
    if len(sizes) < 2:
        return found
    for (switch, direction), own in _by_leaf(found, leaf).items():
        middle = float(np.median([blame.slowdown for blame in own]))
        alike = [blame for blame in own if abs(blame.slowdown - middle) <= 0.25 * middle + 0.02]
        if len(alike) >= max(3, _WHOLE * sizes[switch]):
            found = [blame for blame in found if blame not in alike]
            found.append(_joined(switch, direction, alike, middle, sizes[switch]))
    return found


def _by_leaf(
    blames: Iterable[Blame], leaf: Mapping[str, str]
) -> dict[tuple[str, Direction], list[Blame]]:
    """Leaf and direction to the nodes and ports that are blamed there."""
    groups: dict[tuple[str, Direction], list[Blame]] = {}
    for blame in blames:
        if isinstance(blame.about, Node | Port) and blame.subject in leaf:
            groups.setdefault((leaf[blame.subject], blame.direction), []).append(blame)
    return groups


def _joined(switch: str, direction: Direction, own: list[Blame], middle: float, size: int) -> Blame:
    stage: Stage = "confirmed" if any(blame.stage == "confirmed" for blame in own) else "screened"
    return Blame(
        kind="switch",
        subject=switch,
        about=Switch(switch),
        direction=direction,
        metric=own[0].metric,
        slowdown=middle,
        low=float(np.median([blame.low for blame in own])),
        high=float(np.median([blame.high for blame in own])),
        confidence=max(blame.confidence for blame in own),
        stage=stage,
        value=float(np.median([blame.value for blame in own])),
        expected=float(np.median([blame.expected for blame in own])),
        nodes=[blame.subject for blame in own],
        evidence=[
            f"{len(own)} of the {size} measured nodes of {switch} are slow by about one factor"
        ],
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Crossing:
    """The samples between leaves. ``rows``: indices of samples; ``out`` and ``into``: indices into
    ``leaves``.

    ``turn``: samples of one turn ran at the same time. ``up``: of each leaf, the far ends of its
    up-links.
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
    """What a search looks at. ``slowness``: log slowness of each sample against ``expected`` (in
    the metric's unit), NaN where it does not count; ``noise``: relative sigma of one sample;
    ``practical``: the least slowness that is called one.
    """

    samples: Samples
    cross: Crossing
    slowness: Floats
    expected: Floats
    noise: float
    practical: float

    def median_of(self, chosen: Flags) -> float | None:
        """Median log slowness of the samples ``chosen``; None when fewer than two count."""
        values = self.slowness[chosen & np.isfinite(self.slowness)]
        return float(np.median(values)) if values.size >= 2 else None

    def inside_leaf(self, number: int) -> float | None:
        """Median log slowness within a leaf; None when fewer than two samples say it."""
        leaf = self.cross.leaf
        own = (leaf[self.samples.origin] == number) & (leaf[self.samples.target] == number)
        return self.median_of(own)


def crossing(samples: Samples, fabric: Fabric) -> Crossing:
    """The samples whose ends hang on two different known leaves: all that ran, for they shared the
    links.
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
    """A number for each part of a round in which pairs ran together. The pairs of a round are
    streamed in one direction, then in the other: the schedule has the lower number first.
    """
    origin, target = samples.origin[rows].astype(np.int64), samples.target[rows].astype(np.int64)
    turn = samples.round[rows].astype(np.int64) * 2 + (origin > target)
    own = turn * len(samples.nodes) + origin
    # a node that sends twice at a time: these are no rounds (a table of pairs)
    if np.unique(own).size < own.size:
        return np.arange(rows.size, dtype=np.int64)
    return np.asarray(turn, dtype=np.int64)
