# pure
"""Samples of a screen as columns (pair, round and result), and the medians of many groups of
samples at once.
"""

import dataclasses
import functools
import math
from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from wireproof.ledger.measured import Measured, measure
from wireproof.model.located import Metric
from wireproof.model.record import PairResult, PointRecord
from wireproof.model.run import Run

# --- Column types.

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Indices = NDArray[np.intp]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Samples:
    """The columns. ``nodes`` contains N names. All columns have the same length K: ``origin`` and
    ``target`` are indices into ``nodes`` (int32), ``round`` is the round number (int32; samples of
    the same round ran at the same time), ``value`` is the goodput in bytes/s from origin to target,
    or the half round trip in ns (float64, positive, finite).

    ``half_width``: relative half-width of each sample's interval, NaN if unknown. ``when``: start
    time of each sample in s since 1970 (or since the start of a synthetic sweep); has another
    length than K if times are unknown.
    """

    metric: Metric
    nodes: tuple[str, ...]
    origin: Ints
    target: Ints
    round: Ints
    value: Floats
    half_width: Floats
    when: Floats = dataclasses.field(default_factory=lambda: np.zeros(0))

    def __len__(self) -> int:
        return len(self.value)


# --- Values as slowness: a common scale for goodput (less is slow) and half round trips (more is
# slow).

_MANTISSAS = (10.0, 5.0, 2.5, 2.0, 1.25, 1.0)
_COARSE, _FINE = 0.1, 0.002
_LOOKED_AT = 2000
_MOST = 1e6
# share of a step: single precision resolves multiples of a 0.2 % step to this accuracy
_EXACT = 1e-3


def check(samples: Samples) -> None:
    """Raise ValueError with one sentence if columns differ in length, a node index is out of range,
    a node is paired with itself, or a value is not positive and finite.
    """
    columns = (samples.origin, samples.target, samples.round, samples.value, samples.half_width)
    if len({column.shape for column in columns}) != 1 or samples.value.ndim != 1:
        raise ValueError("the columns of the samples have different lengths")
    ends = np.concatenate((samples.origin, samples.target))
    if ends.size and not (int(ends.min()) >= 0 and int(ends.max()) < len(samples.nodes)):
        number, count = int(ends.max()), len(samples.nodes)
        raise ValueError(f"a sample contains node number {number}, but there are {count} nodes")
    if np.any(samples.origin == samples.target):
        raise ValueError("both ends of a sample are the same node")
    if not np.all(np.isfinite(samples.value) & (samples.value > 0.0)):
        raise ValueError("a sample's value is not positive and finite")


def log_slowness(samples: Samples) -> Floats:
    """Return the natural logarithm of each value, with the sign that makes larger mean slower."""
    logs = np.log(samples.value)
    return np.asarray(-logs if samples.metric == "goodput" else logs, dtype=np.float64)


def value_of(metric: Metric, slowness: float) -> float:
    """Convert a log slowness to a value in the unit of the metric."""
    return float(np.exp(-slowness if metric == "goodput" else slowness))


def rounding(values: Floats) -> float:
    """Return the step that ``values`` were rounded to, relative to their median; 0 if there is none
    or it is below 0.2 %.

    Steps are 1, 1.25, 2, 2.5 or 5 times a power of ten (so that MB/s and Gb/s are recognized in
    bytes/s), or that times 1.048576 (MiB/s). All values are multiples of the step. The two closest
    values are one step apart, at most a tenth of the median.
    """
    some = np.unique(values[:: max(1, values.size // _LOOKED_AT)])
    if some.size < 2:
        return 0.0
    step, middle = float(np.min(np.diff(some))), float(some[some.size // 2])
    if not _FINE * middle <= step <= _COARSE * middle or float(some[-1]) > _MOST * step:
        return 0.0
    mismatches = [
        10.0 ** (math.log10(step / unit) % 1.0) / mantissa
        for unit in (1.0, 1.048576)
        for mantissa in _MANTISSAS
    ]
    parts = some / step
    if (
        min(abs(mismatch - 1.0) for mismatch in mismatches) > _EXACT
        or float(np.max(np.abs(parts - np.round(parts)))) > _EXACT
    ):
        return 0.0
    return step / middle


# --- Medians of many groups at once: each group fills one row of a table, and all rows are sorted
# together.

_WASTE = 16  # do not build a table that would be this many times larger than its values


class Groups:
    """``group``: the group number of each value, 0 to ``count`` - 1. The order is computed once and
    reused for many columns.
    """

    def __init__(self, group: NDArray[np.integer], count: int) -> None:
        self.group, self.count = group, count

    @functools.cached_property
    def _members(self) -> Indices:
        return np.bincount(self.group, minlength=self.count)

    @functools.cached_property
    def _order(self) -> Indices:
        return np.argsort(self.group, kind="stable")

    @functools.cached_property
    def _slot(self) -> Indices:
        """Index of each value in the flattened table, in the order of ``_order``."""
        group = self.group[self._order].astype(np.intp)
        first = np.cumsum(self._members) - self._members
        return np.asarray(group * self._width + np.arange(group.size) - first[group], dtype=np.intp)

    @functools.cached_property
    def _width(self) -> int:
        return int(self._members.max(initial=0))

    def _sorted(self, values: Floats, use: Flags | None) -> tuple[Floats, Indices, Indices]:
        """Return (values ordered by group and size, first index of each group, members of each
        group). Unused values come last.
        """
        chosen = values if use is None else np.where(use, values, np.inf)
        members = (
            self._members if use is None else np.bincount(self.group[use], minlength=self.count)
        )
        if self.count * self._width > _WASTE * (values.size + 1024):
            order = np.lexsort((chosen, self.group))
            return chosen[order], np.cumsum(self._members) - self._members, members
        table = np.full(self.count * self._width, np.inf)
        table[self._slot] = chosen[self._order]
        rows = np.sort(table.reshape(self.count, self._width), axis=1)
        return rows.ravel(), np.arange(self.count) * self._width, members

    def median(
        self, values: Floats, use: Flags | None = None, *, early: bool = False
    ) -> tuple[Floats, Ints]:
        """Return (median, members) of each group over the values of ``use``; NaN if a group has
        none.

        For two members the smaller (faster) value is taken, so that one slow partner of two does
        not make a port slow. ``early`` takes the lower quartile, for the time before slow ports are
        known.
        """
        ordered, first, members = self._sorted(values, use)
        above = np.maximum(members - 1, 0)
        lower = first + (above // 4 if early else above // 2)
        upper = lower if early else np.where(members == 2, lower, first + members // 2)
        some = members > 0
        median = np.full(self.count, np.nan)
        median[some] = (ordered[lower[some]] + ordered[upper[some]]) / 2.0
        return median, members.astype(np.int32)

    def best(self, values: Floats) -> tuple[Floats, Ints]:
        """Return (best, members) of each group: the rate that it reaches with several partners. The
        third smallest value of eight or more, the second of three or more, else the smallest; NaN
        if a group has no value.
        """
        ordered, first, members = self._sorted(values, None)
        place = first + np.where(members >= 8, 2, np.where(members >= 3, 1, 0))
        best = np.full(self.count, np.nan)
        best[members > 0] = ordered[place[members > 0]]
        return best, members.astype(np.int32)


# --- The samples of a run: a sample per pair of hosts and point, with numbered rounds.


_SMALL_BYTES = 1024

Route = tuple[str, str]
_Round = frozenset[frozenset[str]]
# (pattern, form) in order of preference; "" accepts every form
_GOODPUT = (("stream", ""), ("put", "stream"))
_HRT = (("pingpong", ""),)


def samples_of(run: Run, metric: Metric = "goodput") -> Samples | None:
    """Return the samples of ``run``, or None if it has none. Nodes are all hosts of the claim, with
    or without samples.

    Goodput comes from streams, or from puts if no stream was measured. Half round trips come from
    ping-pongs of at most 1 KiB. If several message sizes were measured, the size that occurs in
    most rounds is used (the largest in case of a tie). Pairs of ranks on the same host are left
    out. Several pairs between the same two hosts in one point become one sample: their total
    goodput, or their slowest half round trip.
    """
    hosts = hosts_of(run)
    nodes = tuple(dict.fromkeys(hosts.values()))
    index = {name: number for number, name in enumerate(nodes)}
    rounds: dict[_Round, int] = {}
    rows: list[tuple[int, int, int, float, float, float]] = []
    for point in _points(run, metric):
        number = rounds.setdefault(_round_of(point, hosts), len(rounds))
        for (origin, target), (value, half_width) in _values(point, hosts, metric).items():
            began = point.started_unix_ns * 1e-9
            rows.append((index[origin], index[target], number, value, half_width, began))
    if not rows:
        return None
    origins, targets, numbers, values, half_widths, when = zip(*rows, strict=True)
    return Samples(
        metric=metric,
        nodes=nodes,
        origin=np.asarray(origins, dtype=np.int32),
        target=np.asarray(targets, dtype=np.int32),
        round=np.asarray(numbers, dtype=np.int32),
        value=np.asarray(values, dtype=np.float64),
        half_width=np.asarray(half_widths, dtype=np.float64),
        when=np.asarray(when, dtype=np.float64),
    )


def hosts_of(run: Run) -> dict[int, str]:
    """Return the host of each rank. Two names of the same machine count as one host, because
    traffic between them stays in memory. Hosts of a lab or of the model transport may share a
    machine on purpose.
    """
    may_share = run.claim.virtual or (run.open is not None and run.open.transport == "model")
    kernels = {} if may_share else {host.rank: host.boot_id for host in run.hosts}
    first: dict[str, str] = {}
    host_of_rank = {}
    for claim in run.claim.hosts:
        kernel = kernels.get(claim.rank) or f"host {claim.host}"
        host_of_rank[claim.rank] = first.setdefault(kernel, claim.host)
    return host_of_rank


def _points(run: Run, metric: Metric) -> list[PointRecord]:
    """Return the points that supply ``metric``, in order: all have the same pattern and size."""
    hosts = hosts_of(run)
    for pattern, form in _HRT if metric == "hrt" else _GOODPUT:
        fitting = [
            point
            for point in run.points
            if point.pattern == pattern
            and form in ("", point.form)
            and point.group is None
            and (metric == "goodput" or point.message_bytes <= _SMALL_BYTES)
            and _routes(point, hosts)
        ]
        if fitting:
            size = _size(fitting, hosts)
            return [point for point in fitting if point.message_bytes == size]
    return []


def _round_of(point: PointRecord, hosts: dict[int, str]) -> _Round:
    """Return the pairs of a point, without direction."""
    return frozenset(frozenset(route) for route in _routes(point, hosts))


def _size(points: list[PointRecord], hosts: dict[int, str]) -> int:
    """Return the size that occurs in most rounds, the largest in case of a tie."""
    rounds: dict[int, set[_Round]] = {}
    for point in points:
        rounds.setdefault(point.message_bytes, set()).add(_round_of(point, hosts))
    return max(rounds, key=lambda size: (len(rounds[size]), size))


def _routes(point: PointRecord, hosts: dict[int, str]) -> list[Route]:
    return [route for route, _ in _pairs(point, hosts)]


def _pairs(point: PointRecord, hosts: dict[int, str]) -> Iterator[tuple[Route, PairResult]]:
    for pair in point.pairs:
        origin, target = hosts.get(pair.origin), hosts.get(pair.target)
        if origin is not None and target is not None and origin != target:
            yield (origin, target), pair


def _values(
    point: PointRecord, hosts: dict[int, str], metric: Metric
) -> dict[Route, tuple[float, float]]:
    """Return (value, relative half-width) of each route with a valid measurement."""
    values: dict[Route, tuple[float, float]] = {}
    for route, pair in _pairs(point, hosts):
        measured = _sound(point, pair)
        if measured is None:
            continue
        value = measured.value if metric == "hrt" else measured.goodput_bytes_per_s
        if not (np.isfinite(value) and value > 0.0):
            continue
        before = values.get(route)
        if before is not None:
            value = max(value, before[0]) if metric == "hrt" else value + before[0]
        values[route] = (value, measured.time.half_width)
    return values


def _sound(point: PointRecord, pair: PairResult) -> Measured | None:
    """Return the measurement if it completed and the data arrived unchanged."""
    return measure(point, pair) if pair.status == "ok" and pair.integrity != "corrupt" else None


def reasons_of(run: Run, metric: Metric = "goodput") -> dict[str, str]:
    """Return why hosts have no samples, such as ``no sample in its sending direction: 7 of 7 points
    ended with deadline``. For goodput, each direction is checked separately. Hosts with samples are
    left out.
    """
    hosts = hosts_of(run)
    sends: dict[str, Counter[str]] = {host: Counter() for host in hosts.values()}
    receives: dict[str, Counter[str]] = {host: Counter() for host in hosts.values()}
    for point in _points(run, metric):
        for (origin, target), pair in _pairs(point, hosts):
            fate = "ok" if _sound(point, pair) else _fate(pair)
            sends[origin][fate] += 1
            receives[target][fate] += 1
    reasons = {host: _reason(metric, sends[host], receives[host]) for host in sends}
    return {host: reason for host, reason in reasons.items() if reason}


def _reason(metric: Metric, sends: Counter[str], receives: Counter[str]) -> str:
    """Return why a host has no samples in one or both directions; "" if it has."""
    if sends["ok"] and receives["ok"]:
        return ""
    if not sends["ok"] and not receives["ok"]:
        what, fates = "no sample", sends + receives
    elif metric == "hrt":
        return ""
    elif not sends["ok"]:
        what, fates = "no sample in its sending direction", sends
    else:
        what, fates = "no sample in its receiving direction", receives
    points = ", ".join(
        f"{count} of {fates.total()} points ended with {fate}"
        for fate, count in fates.most_common()
    )
    return f"{what}: {points or 'none of its points was sealed'}"


def _fate(pair: PairResult) -> str:
    if pair.integrity == "corrupt":
        return "corrupt data"
    return "too few batches" if pair.status == "ok" else pair.status
