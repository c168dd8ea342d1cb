"""What counters, sentinels and clocks of a run say about one node. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from wireproof.analysis.changes import WitnessChanges, counter_delta
from wireproof.analysis.crossed import crossed_at, others_than
from wireproof.analysis.ledger import HostPorts
from wireproof.locate.causes.properties import Properties
from wireproof.model.ledger import Direction
from wireproof.model.record import Host, Nic, PairResult, PointRecord, WitnessReading
from wireproof.model.run import Run

__all__ = ["Readings", "growth", "readings", "timing", "traffic"]

Readings = dict[str, list[tuple[PointRecord, WitnessReading]]]
_RDMA = ("rocev2", "iwarp", "infiniband", "omnipath", "truescale", "efa", "slingshot")
_SWITCHES_PER_BLOCK = 5
_STEAL_SHARE = 0.02
_LEAST_PAYLOAD = 1 << 20
_WAYS: tuple[Direction, Direction] = ("tx", "rx")
_LEAST_NS = 1e6


def readings(run: Run, node_of: Mapping[int, str]) -> Readings:
    """Node to its counters' readings; of a namespace that ranks share, that of the rank that read.
    Needs only the ranks that ``node_of`` names.
    """
    found: Readings = {}
    for point in run.points:
        for reading in point.witness:
            node = node_of.get(reading.rank)
            if node is not None and reading.shared_with is None:
                found.setdefault(node, []).append((point, reading))
    return found


def growth(seen: Sequence[tuple[PointRecord, WitnessReading]]) -> dict[str, int]:
    """Counter to how much it rose over all readings. A reset counts nothing."""
    total: dict[str, int] = {}
    for _, reading in seen:
        for name, (before, after) in reading.counters.items():
            delta, _ = counter_delta(before, after)
            if delta is not None and delta > 0:
                total[name] = total.get(name, 0) + delta
    return total


def traffic(
    run: Run,
    host: Host,
    nic: Nic | None,
    seen: Sequence[tuple[PointRecord, WitnessReading]],
    payload: int,
) -> Properties:
    """Shares of ``payload`` (bytes that the node sent and received): ``claimed_share``,
    ``other_share`` with ``other_nic``, and for RDMA ``kernel_share``. Absent when too little moved
    or no counter could be read.
    """
    if nic is None or payload < _LEAST_PAYLOAD or not seen:
        return {}
    idle = next((frame for frame in run.idle if frame.rank == host.rank), None)
    ports = HostPorts(host.host or host.hostname, host.nics)
    own, kernel, rdma, readable = 0.0, 0.0, 0.0, False
    others: dict[str, float] = {}
    for _, reading in seen:
        ledger = ports.ledger(WitnessChanges(reading, idle))
        for way in _WAYS:
            crossed = crossed_at(ledger, nic.name, way)
            readable |= crossed.bytes is not None
            own += crossed.bytes or 0.0
            kernel += crossed.carried("kernel") or 0.0
            rdma += crossed.carried("rdma") or 0.0
            for name, other in others_than(ledger, nic.name, way, crossed.bytes).items():
                others[name] = others.get(name, 0.0) + (other.bytes or 0.0)
    if not readable:
        return {}
    found: Properties = {"claimed_share": own / payload}
    if others:
        other_nic = max(others, key=lambda name: others[name])
        found |= {"other_share": others[other_nic] / payload, "other_nic": other_nic}
    protocol = run.claim.link.protocol if run.claim.link else None
    if protocol in _RDMA and nic.rdma is not None and rdma < kernel:
        found["kernel_share"] = kernel / payload
    return found


def timing(results: Sequence[tuple[PairResult, bool]]) -> Properties:
    """From (result, the node is its origin): ``busy_share`` (blocks in which the scheduler took the
    processor away), ``clock_read`` (ns, median), ``clock_apart`` (median relative difference of the
    two ends' clocks over one time).
    """
    marks = [(mark, pair) for pair, origin in results if origin for mark in pair.sentinels]
    found: Properties = {}
    if marks:
        busy = sum(
            mark.involuntary_switches > _SWITCHES_PER_BLOCK
            or mark.steal_ns > _STEAL_SHARE * _block_ns(pair)
            for mark, pair in marks
        )
        found["busy_share"] = busy / len(marks)
        found["steal"] = sum(mark.steal_ns for mark, _ in marks)
        found["clock_read"] = statistics.median(mark.clock_read_ns for mark, _ in marks)
    apart = [found_apart for pair, _ in results if (found_apart := _apart(pair)) is not None]
    if apart:
        found["clock_apart"] = statistics.median(apart)
    return found


def _block_ns(pair: PairResult) -> float:
    return max(1.0, sum(pair.batch_ns) / max(1, len(pair.sentinels)))


def _apart(pair: PairResult) -> float | None:
    own = sum(pair.batch_ns)
    if pair.target_elapsed_ns is None or own < _LEAST_NS or pair.target_elapsed_ns <= 0:
        return None
    return abs(pair.target_elapsed_ns / own - 1.0)
