"""Samples of a run: one per pair of hosts and point, the rounds numbered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from wireproof.analysis.measured import Measured, measure
from wireproof.locate.samples import Samples
from wireproof.model.located import Metric
from wireproof.model.record import PairResult, PointRecord
from wireproof.model.run import Run

__all__ = ["reasons_of", "samples_of"]

_SMALL_BYTES = 1024

Route = tuple[str, str]


def samples_of(run: Run, metric: Metric = "goodput") -> Samples | None:
    """The samples of ``run``, None when there are none. Nodes are the claim's hosts (those without
    samples too).

    Goodput: streams, or puts where nothing was streamed; half round trips: ping-pongs of at most 1
    KiB. Of several message sizes the largest that occurs in all rounds. Pairs of ranks of one host
    are left out; several pairs between the same two hosts in one point are one sample (their
    goodput together; the slowest half round trip).
    """
    hosts = {one.rank: one.host for one in run.claim.hosts}
    nodes = tuple(dict.fromkeys(hosts.values()))
    chosen = _points(run, metric)
    if not chosen:
        return None
    index = {name: number for number, name in enumerate(nodes)}
    numbers: dict[frozenset[frozenset[str]], int] = {}
    rows: list[tuple[int, int, int, float, float, float]] = []
    for point in chosen:
        key = frozenset(frozenset(route) for route in _routes(point, hosts))
        number = numbers.setdefault(key, len(numbers))
        for (origin, target), (value, half_width) in _values(point, hosts, metric).items():
            began = point.started_unix_ns * 1e-9
            rows.append((index[origin], index[target], number, value, half_width, began))
    if not rows:
        return None
    return Samples(
        metric=metric,
        nodes=nodes,
        origin=np.asarray([row[0] for row in rows], dtype=np.int32),
        target=np.asarray([row[1] for row in rows], dtype=np.int32),
        round=np.asarray([row[2] for row in rows], dtype=np.int32),
        value=np.asarray([row[3] for row in rows], dtype=np.float64),
        half_width=np.asarray([row[4] for row in rows], dtype=np.float64),
        when=np.asarray([row[5] for row in rows], dtype=np.float64),
    )


def _points(run: Run, metric: Metric) -> list[PointRecord]:
    """The points of one pattern and one size that ``metric`` is taken from, in their order."""
    hosts = {one.rank: one.host for one in run.claim.hosts}
    for pattern, form in (
        (("pingpong", ""),) if metric == "hrt" else (("stream", ""), ("put", "stream"))
    ):
        fitting = [
            point
            for point in run.points
            if point.pattern == pattern
            and form in ("", point.form)
            and point.group is None
            and _routes(point, hosts)
        ]
        if metric == "hrt":
            fitting = [point for point in fitting if point.message_bytes <= _SMALL_BYTES]
        size = _size(fitting, hosts)
        if size is not None:
            return [point for point in fitting if point.message_bytes == size]
    return []


def _size(points: list[PointRecord], hosts: dict[int, str]) -> int | None:
    """The largest size of those that the most rounds have."""
    rounds: dict[int, set[frozenset[frozenset[str]]]] = {}
    for point in points:
        key = frozenset(frozenset(route) for route in _routes(point, hosts))
        rounds.setdefault(point.message_bytes, set()).add(key)
    return max(rounds, key=lambda size: (len(rounds[size]), size), default=None)


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
    """(value, relative half-width) of each route that was measured soundly."""
    found: dict[Route, tuple[float, float]] = {}
    for route, pair in _pairs(point, hosts):
        measured = _sound(point, pair)
        if measured is None:
            continue
        value = measured.value if metric == "hrt" else measured.goodput_bytes_per_s
        if not (np.isfinite(value) and value > 0.0):
            continue
        before = found.get(route)
        if before is not None:
            value = max(value, before[0]) if metric == "hrt" else value + before[0]
        found[route] = (value, measured.half_width)
    return found


def _sound(point: PointRecord, pair: PairResult) -> Measured | None:
    """What was measured to its end, with data that arrived as it was sent."""
    return measure(point, pair) if pair.status == "ok" and pair.integrity != "corrupt" else None


def reasons_of(run: Run, metric: Metric = "goodput") -> dict[str, str]:
    """Why hosts have no samples (goodput: of what they send, or receive), in words: what became of
    their points.

    Such as ``nothing that it sends: 7 of 7 points ended with deadline``. Only hosts and directions
    without any sample.
    """
    hosts = {one.rank: one.host for one in run.claim.hosts}
    ends: dict[tuple[str, str], Counter[str]] = {}
    for point in _points(run, metric):
        for (origin, target), pair in _pairs(point, hosts):
            fate = "ok" if _sound(point, pair) else _fate(pair)
            for key in ((origin, "sends"), (target, "receives")):
                ends.setdefault(key, Counter())[fate] += 1
    found: dict[str, str] = {}
    for host in dict.fromkeys(hosts.values()):
        fates = {way: ends.get((host, way), Counter()) for way in ("sends", "receives")}
        silent = [way for way, fate in fates.items() if not fate["ok"]]
        if (metric == "hrt" and len(silent) < 2) or not silent:
            continue
        total = sum((fates[way] for way in silent), Counter[str]())
        what = "no sample" if len(silent) == 2 else f"no sample of what it {silent[0]}"
        points = ", ".join(
            f"{count} of {total.total()} points ended with {fate}"
            for fate, count in total.most_common()
        )
        found[host] = f"{what}: {points or 'none of its points was sealed'}"
    return found


def _fate(pair: PairResult) -> str:
    if pair.integrity == "corrupt":
        return "corrupt data"
    return "too few batches" if pair.status == "ok" else pair.status
