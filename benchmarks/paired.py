"""A B C A B C A: drift hits all. Ours runs before and after the rivals; only what lies between two
like runs counts.

The latency of a virtual machine has two plateaus (the distance of two virtual cores: factor 2.4)
that flip every few seconds. A rival whose two neighbours of ours differ was measured across such a
flip, or beside somebody's job; it says nothing about the ratio. The rule looks at our figures only,
so that it cannot favour either side. Launches during which others used the processors are left out
too (``quiet``), theirs and ours.

Inside one plateau launches of one and the same program still differ by 8 % (standard deviation, 8
B, shared memory), presumably because the queues get other memory each time. No longer loop averages
that away, only more launches do.
"""

from __future__ import annotations

import dataclasses
import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.quiet import DISTURBED, Meter, wait_for_quiet
from benchmarks.row import NotRun, Row, Sense
from wireproof.model.errors import WireproofError

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
    "middle_of",
    "ratio_interval",
]

DRIFT = 0.35
"""Our figure before and after may differ by this share: three standard deviations of launches, far
below a plateau.
"""
NEAR_NS = 120.0
"""Raw cache-line bounce (half round trip) below this: the two cores are near each other."""
LEAST = 6
"""Fewer ratios have no distribution-free 95 % interval."""
MANY = 20
"""From so many on the interquartile mean is used: it forgets outliers as the median does and needs
a third fewer.
"""
RESAMPLES = 4000


@dataclass(frozen=True)
class Sample:
    """One launch: a median for each metric, and the raw bounce that our engine found beside it
    (None: theirs).
    """

    values: Mapping[str, float]
    bounce_ns: float | None = None
    foreign: float | None = None
    """Cores that others used meanwhile."""

    @property
    def disturbed(self) -> bool:
        return self.foreign is not None and self.foreign > DISTURBED


@dataclass(frozen=True)
class Triple:
    """A rival's launch between two of ours."""

    before: Sample
    theirs: Sample
    after: Sample

    def ours(self, metric: str) -> float | None:
        """Geometric mean of the two, None when they have drifted apart, or one is missing or
        disturbed.
        """
        if any(sample.disturbed for sample in (self.before, self.theirs, self.after)):
            return None
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
    rounds: int,
    say: Callable[[str], None],
    until: float = math.inf,
    patience_s: float = 0.0,
) -> Interleaved:
    """``rounds`` times all rivals in turn between two of ours; no new round after ``until``
    (time.monotonic).

    ``patience_s``: so long is waited before a launch for others to leave the processors. Our own
    failure is the caller's to handle.
    """

    def measured(run: Callable[[], Sample]) -> Sample:
        if patience_s:
            wait_for_quiet(min(until, time.monotonic() + patience_s))
        with Meter() as meter:
            found = run()
        return dataclasses.replace(found, foreign=meter.foreign)

    result = Interleaved({name: [] for name in rivals})
    before = measured(ours)
    for number in range(rounds):
        if time.monotonic() > until:
            say(f"out of time after {number} of {rounds} rounds")
            break
        say(f"round {number + 1} of {rounds}")
        between: dict[str, Sample] = {}
        for name, rival in rivals.items():
            if name in result.failed:
                continue
            try:
                between[name] = measured(rival)
            except WireproofError as error:
                result.failed[name] = str(error)
        after = measured(ours)
        for name, theirs in between.items():
            result.triples[name].append(Triple(before, theirs, after))
        before = after
    return result


def interval_of(values: Sequence[float]) -> tuple[float, float] | None:
    """Distribution-free 95 % interval of the median (order statistics, widened for dependence);
    None below 6.
    """
    from wireproof.analysis.interval import estimate

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


def middle_of(values: Sequence[float]) -> float:
    """Interquartile mean, below 20 values the median."""
    if len(values) < MANY:
        return statistics.median(values)
    cut = len(values) // 4
    return statistics.fmean(sorted(values)[cut : len(values) - cut])


def ratio_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """95 % interval of ``middle_of``: order statistics below 20 values, else a bootstrap (Efron
    1979).

    Pairs of neighbours are drawn together, because neighbouring comparisons share a launch of ours.
    """
    import numpy as np

    if len(values) < MANY:
        return interval_of(values)
    x = np.asarray(values, dtype=np.float64)
    starts = np.random.default_rng(1).integers(0, x.size - 1, size=(RESAMPLES, (x.size + 1) // 2))
    drawn = np.sort(np.concatenate([x[starts], x[starts + 1]], axis=1), axis=1)
    cut = drawn.shape[1] // 4
    low, high = np.percentile(drawn[:, cut : drawn.shape[1] - cut].mean(axis=1), (2.5, 97.5))
    return float(low), float(high)


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


def compare(group: str, wish: Comparison, found: Interleaved) -> Row | NotRun:
    """The row of one comparison; ``NotRun`` when the rival did not answer."""
    title = wish.title
    if wish.rival in found.failed and len(found.triples[wish.rival]) < LEAST:
        return NotRun(
            group=group,
            title=title,
            reason=found.failed[wish.rival],
            required=wish.target is not None,
        )
    triples = found.triples[wish.rival]
    used: list[tuple[float, float]] = []
    for triple in triples:
        ours, theirs = triple.ours(wish.ours), triple.theirs.values.get(wish.theirs)
        if ours is not None and theirs is not None and theirs > 0:
            used.append((ours, theirs))
    return _row(
        group, wish, used, len(triples) - len(used), _states(triples) if wish.states else ""
    )


def _row(
    group: str, wish: Comparison, used: list[tuple[float, float]], dropped: int, state: str
) -> Row:
    ratios = [ours / theirs for ours, theirs in used]
    theirs = statistics.median(their for _, their in used) if used else None
    interval = ratio_interval(ratios)
    coarse = wish.resolution / theirs if theirs else 0.0
    few = "" if interval else f"only {len(used)} usable comparisons"
    return Row(
        group=group,
        title=wish.title,
        unit=wish.unit,
        value=middle_of(ratios) if ratios else None,
        low=interval[0] * (1 - coarse) if interval else None,
        high=interval[1] * (1 + coarse) if interval else None,
        ours=statistics.median(our for our, _ in used) if used else None,
        theirs=theirs,
        target=wish.target,
        sense=wish.sense,
        pairs=len(used),
        dropped=dropped,
        note="; ".join(filter(None, (few, wish.note, state))),
    )


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
    return _row(group, wish, used, len(triples) - len(used), _states(triples))
