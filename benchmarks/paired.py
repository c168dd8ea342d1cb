"""A B C A B C A: drift hits all. Ours runs before and after the rivals; only what lies between two
like runs counts.

The latency of a virtual machine has two plateaus (the distance of two virtual cores: factor 2.4)
that flip every few seconds. A rival whose two neighbours of ours differ was measured across such a
flip; it says nothing about the ratio. The rule looks at our figures only, so that it cannot favour
either side.

Others who use the processors take them away for milliseconds. A launch consists of many rows of
less than that, and those that met such a gap are left out on both sides alike (``undisturbed``).
How much others used is told and decides nothing. Launches of one and the same program still differ
by 8 % (standard deviation, 8 B, shared memory), presumably because the queues get other memory each
time: only more launches average that away.
"""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.quiet import Meter
from benchmarks.row import NotRun, Row, Sense
from wireproof.model.errors import WireproofError
from wireproof.stats import shift

__all__ = [
    "DRIFT",
    "NEAR_NS",
    "Comparison",
    "Interleaved",
    "Sample",
    "Triple",
    "compare",
    "control",
    "interleave",
    "interval_of",
    "median_row",
    "ratio_interval",
    "undisturbed",
    "usable",
]

DRIFT = 0.35
"""Our figure before and after may differ by this share: three standard deviations of launches, far
below a plateau.
"""
NEAR_NS = 120.0
"""Raw cache-line bounce (half round trip) below this: the two cores are near each other."""
LEAST = 6
"""Fewer ratios have no distribution-free 95 % interval."""
GAP = 1.5
"""A row this much above the lower quartile of its launch met a gap: others had its processor."""
SHARED = math.sqrt(4 / 3)
"""Neighbouring comparisons share a launch of ours: their correlation is 1/6, and the interval of
independent ones is too narrow by this.
"""


def undisturbed(times: Sequence[float]) -> float:
    """Median of the rows of a launch that met no gap. ValueError when there is none."""
    if not times:
        raise ValueError("a launch without a row")
    ordered = sorted(times)
    limit = GAP * ordered[(len(ordered) - 1) // 4]
    return statistics.median(time for time in ordered if time <= limit)


@dataclass(frozen=True)
class Sample:
    """One launch: a median for each metric, and the raw bounce that our engine found beside it
    (None: theirs).
    """

    values: Mapping[str, float]
    bounce_ns: float | None = None
    foreign: float | None = None
    """Cores that others used meanwhile."""


@dataclass(frozen=True)
class Triple:
    """A rival's launch between two of ours."""

    before: Sample
    theirs: Sample
    after: Sample

    def ours(self, metric: str) -> float | None:
        """Geometric mean of the two, None when they have drifted apart, or one is missing."""
        one, two = (sample.values.get(metric, 0.0) for sample in (self.before, self.after))
        if min(one, two) <= 0 or max(one, two) > (1 + DRIFT) * min(one, two):
            return None
        return math.sqrt(one * two)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Our ``metric`` over the rival's; ``resolution``: half the last digit that the rival prints,
    in the unit.
    """

    title: str
    rival: str
    ours: str
    theirs: str
    unit: str
    target: float | None = None
    sense: Sense = "at most"
    resolution: float = 0.0
    note: str = ""
    states: bool = True
    """Tell in which state the cores were: where both ranks are on one host."""


@dataclass
class Interleaved:
    """What came of it. A rival that failed is in ``failed`` with what was seen."""

    triples: dict[str, list[Triple]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)


def interleave(
    ours: Callable[[], Sample],
    rivals: Mapping[str, Callable[[], Sample]],
    found: Interleaved,
    before: Sample | None = None,
) -> Sample:
    """One round: all rivals in turn between two of ours, added to ``found``. ``before``: ours of
    the round that has just ended. Returns ours of the end.

    Our own failure is the caller's to handle.
    """

    def measured(run: Callable[[], Sample]) -> Sample:
        with Meter() as meter:
            sample = run()
        return dataclasses.replace(sample, foreign=meter.foreign)

    before = before or measured(ours)
    between: dict[str, Sample] = {}
    for name, rival in rivals.items():
        try:
            between[name] = measured(rival)
        except WireproofError as error:
            found.failed[name] = str(error)
    after = measured(ours)
    for name, theirs in between.items():
        found.triples.setdefault(name, []).append(Triple(before, theirs, after))
    return after


def interval_of(values: Sequence[float]) -> tuple[float, float] | None:
    """Distribution-free 95 % interval of the median (order statistics, widened for dependence);
    None below 6.
    """
    from wireproof.stats import estimate

    if len(values) < LEAST:
        return None
    found = estimate(list(values))
    return found.low_ns, found.high_ns


def median_row(
    group: str, title: str, unit: str, values: Sequence[float], target: float | None, note: str = ""
) -> Row:
    """A figure of our own: the median with its interval."""
    interval = interval_of(values)
    return Row(
        group=group,
        title=title,
        unit=unit,
        quantity=unit,
        value=statistics.median(values),
        pairs=len(values),
        low=interval[0] if interval else None,
        high=interval[1] if interval else None,
        target=target,
        note=note,
    )


def ratio_interval(
    values: Sequence[float], alpha: float = 0.05
) -> tuple[float, float, float] | None:
    """Hodges and Lehmann's centre of the ratios with the signed-rank interval at ``alpha``, both of
    the logarithms; None where there are too few for one.
    """
    if len(values) < LEAST:
        return None
    found = shift([math.log(value) for value in values], alpha)
    if found.low is None or found.high is None:
        return None
    low, high = (found.value + SHARED * (end - found.value) for end in (found.least, found.most))
    return math.exp(low), math.exp(found.value), math.exp(high)


def _states(triples: Sequence[Triple]) -> str:
    """How many comparisons lie in which state of the cores, as our bounce saw it."""
    seen = [
        sample.bounce_ns
        for triple in triples
        for sample in (triple.before, triple.after)
        if sample.bounce_ns
    ]
    if not seen:
        return "bounce not measured"
    near = sum(1 for value in seen if value < NEAR_NS)
    return f"cores near in {near}, far in {len(seen) - near} of our launches"


def usable(wish: Comparison, found: Interleaved) -> list[tuple[float, float]]:
    """(ours, theirs) of the comparisons that count."""
    pairs: list[tuple[float, float]] = []
    for triple in found.triples.get(wish.rival, []):
        ours, theirs = triple.ours(wish.ours), triple.theirs.values.get(wish.theirs)
        if ours is not None and theirs is not None and theirs > 0:
            pairs.append((ours, theirs))
    return pairs


def compare(group: str, wish: Comparison, found: Interleaved, alpha: float = 0.05) -> Row | NotRun:
    """The row of one comparison; ``NotRun`` when the rival did not answer."""
    triples = found.triples.get(wish.rival, [])
    if wish.rival in found.failed and len(triples) < LEAST:
        return NotRun(
            group=group,
            title=wish.title,
            reason=found.failed[wish.rival],
            required=wish.target is not None,
        )
    used = usable(wish, found)
    return _row(group, wish, used, triples, alpha)


def _row(
    group: str,
    wish: Comparison,
    used: list[tuple[float, float]],
    triples: Sequence[Triple],
    alpha: float,
) -> Row:
    ratios = [ours / theirs for ours, theirs in used]
    theirs = statistics.median(their for _, their in used) if used else None
    interval = ratio_interval(ratios, alpha)
    coarse = wish.resolution / theirs if theirs else 0.0
    few = "" if interval else f"only {len(used)} usable comparisons"
    state = _states(triples) if wish.states else ""
    return Row(
        group=group,
        title=wish.title,
        unit=wish.unit,
        value=interval[1] if interval else statistics.median(ratios) if ratios else None,
        low=interval[0] * (1 - coarse) if interval else None,
        high=interval[2] * (1 + coarse) if interval else None,
        ours=statistics.median(our for our, _ in used) if used else None,
        theirs=theirs,
        target=wish.target,
        sense=wish.sense,
        pairs=len(used),
        dropped=len(triples) - len(used),
        note="; ".join(filter(None, (few, wish.note, state, _others(triples)))),
    )


def _others(triples: Sequence[Triple]) -> str:
    """How much of the machine others used meanwhile: told, and nothing is left out for it."""
    seen = [one.foreign for triple in triples for one in (triple.before, triple.theirs)]
    known = [value for value in seen if value is not None]
    return f"others used {statistics.median(known):.1f} cores" if known else ""


def control(group: str, metric: str, unit: str, found: Interleaved) -> Row:
    """Ours against ours, the launch after over the launch before: what the method reads where the
    truth is 1.
    """
    triples = max(found.triples.values(), key=len, default=[])
    used = [
        (triple.after.values[metric], triple.before.values[metric])
        for triple in triples
        if triple.ours(metric) is not None
    ]
    wish = Comparison(
        title=f"control: ours / ours ({metric})", rival="", ours=metric, theirs=metric, unit=unit
    )
    return _row(group, wish, used, triples, 0.05)
