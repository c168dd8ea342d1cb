"""Extract the samples of a run: one per pair of hosts and point, with numbered rounds."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from wireproof.analysis.measured import Measured, measure
from wireproof.locate.samples import Samples
from wireproof.model.located import Metric
from wireproof.model.record import PairResult, PointRecord
from wireproof.model.run import Run

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
    hosts = _hosts(run)
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


def _hosts(run: Run) -> dict[int, str]:
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
    hosts = _hosts(run)
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
        values[route] = (value, measured.half_width)
    return values


def _sound(point: PointRecord, pair: PairResult) -> Measured | None:
    """Return the measurement if it completed and the data arrived unchanged."""
    return measure(point, pair) if pair.status == "ok" and pair.integrity != "corrupt" else None


def reasons_of(run: Run, metric: Metric = "goodput") -> dict[str, str]:
    """Return why hosts have no samples, such as ``no sample of what it sends: 7 of 7 points ended
    with deadline``. For goodput, each direction is looked at separately. Hosts with samples are
    left out.
    """
    hosts = _hosts(run)
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
        what, fates = "no sample of what it sends", sends
    else:
        what, fates = "no sample of what it receives", receives
    points = ", ".join(
        f"{count} of {fates.total()} points ended with {fate}"
        for fate, count in fates.most_common()
    )
    return f"{what}: {points or 'none of its points was sealed'}"


def _fate(pair: PairResult) -> str:
    if pair.integrity == "corrupt":
        return "corrupt data"
    return "too few batches" if pair.status == "ok" else pair.status
