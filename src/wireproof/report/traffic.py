"""What each NIC carried beside what it should have carried: the picture of the proof.

Sums over points whose messages are big enough that headers do not drown the payload. Counters are taken per network
namespace (ranks that share one share its counters); traffic of the idle window is taken off in proportion to time.
"""

from __future__ import annotations

from dataclasses import dataclass

from wireproof.model.record import PointRecord, WitnessReading
from wireproof.model.run import Run

__all__ = ["SMALL_BYTES", "Flow", "flows"]

SMALL_BYTES = 1024
"""Smaller messages are left out of the picture: their frames are mostly header (the judge still weighs them)."""

_HOST_COUNTERS = {"tx_bytes": "out", "rx_bytes": "in"}
_FABRIC_COUNTERS = {"port_xmit_data": "out", "port_rcv_data": "in"}


@dataclass(frozen=True)
class Flow:
    """Bytes through one NIC in one direction. ``seen`` None: no counter could be read."""

    host: str
    nic: str
    direction: str
    claimed: bool
    expected_bytes: float
    seen_bytes: float | None


def flows(run: Run) -> list[Flow]:
    """Expected and seen bytes per host, NIC and direction; the claimed NIC first, silent unclaimed ones left out."""
    leaders = _leaders(run)
    points = [point for point in run.points if point.message_bytes >= SMALL_BYTES] or run.points
    expected = _expected(points, leaders)
    seen = _seen(run, points, leaders)
    out: list[Flow] = []
    for leader in sorted(set(leaders.values())):
        host, claimed = _claimed(run, leaders, leader)
        names = sorted({nic for (rank, nic, _) in seen if rank == leader} - set(claimed))
        for nic in [*claimed, *names]:
            for direction in ("out", "in"):
                due = expected.get((leader, direction), 0.0) if nic in claimed else 0.0
                got = seen.get((leader, nic, direction))
                if got is None and nic in claimed and _readable(points, leader):
                    got = 0.0
                if nic in claimed or (got or 0.0) >= 1000:
                    out.append(Flow(host, nic or "any NIC", direction, nic in claimed, due, got))
    return out


def _leaders(run: Run) -> dict[int, int]:
    """Rank -> rank that reads the counters of its network namespace."""
    leaders = {host.rank: host.rank for host in run.hosts} or {claim.rank: claim.rank for claim in run.claim.hosts}
    told = [(idle.rank, idle.shared_with) for idle in run.idle]
    told += [(reading.rank, reading.shared_with) for point in run.points for reading in point.witness]
    for rank, shared_with in told:
        if shared_with is not None:
            leaders[rank] = shared_with
        else:
            leaders.setdefault(rank, rank)
    return leaders


def _claimed(run: Run, leaders: dict[int, int], leader: int) -> tuple[str, list[str]]:
    mine = [claim for claim in run.claim.hosts if leaders.get(claim.rank, claim.rank) == leader]
    host = ", ".join(dict.fromkeys(claim.host for claim in mine)) or f"rank {leader}"
    return host, list(dict.fromkeys(claim.nic for claim in mine if claim.nic))


def _expected(points: list[PointRecord], leaders: dict[int, int]) -> dict[tuple[int, str], float]:
    """Payload that had to leave and to enter each namespace, had all of it crossed a wire."""
    total: dict[tuple[int, str], float] = {}
    for point in points:
        for pair in point.pairs:
            moves = (
                (pair.origin, "out", pair.payload_forward_bytes),
                (pair.target, "in", pair.payload_forward_bytes),
                (pair.target, "out", pair.payload_backward_bytes),
                (pair.origin, "in", pair.payload_backward_bytes),
            )
            for rank, direction, count in moves:
                key = (leaders.get(rank, rank), direction)
                total[key] = total.get(key, 0.0) + count
    return total


def _seen(run: Run, points: list[PointRecord], leaders: dict[int, int]) -> dict[tuple[int, str, str], float]:
    units = _units(run)
    background = _background(run)
    total: dict[tuple[int, str, str], float] = {}
    for point in points:
        for reading in point.witness:
            if reading.shared_with is not None:
                continue
            for name, (before, after) in reading.counters.items():
                found = _split(name)
                if found is None or after < before:
                    continue
                quiet = background.get((reading.rank, name), 0.0) * reading.interval_ns
                moved = max(0.0, after - before - quiet) * units.get((reading.rank, found[0]), found[2])
                key = (leaders.get(reading.rank, reading.rank), found[0], found[1])
                total[key] = total.get(key, 0.0) + moved
    return total


def _split(counter: str) -> tuple[str, str, float] | None:
    """``net/eth0/tx_bytes`` -> (eth0, out, 1 B); ``ib/mlx5_0/1/counters/port_xmit_data`` -> (mlx5_0:1, out, 4 B)."""
    parts = counter.split("/")
    if len(parts) == 3 and parts[0] == "net" and parts[2] in _HOST_COUNTERS:
        return parts[1], _HOST_COUNTERS[parts[2]], 1.0
    if len(parts) == 5 and parts[0] == "ib" and parts[3] == "counters" and parts[4] in _FABRIC_COUNTERS:
        return f"{parts[1]}:{parts[2]}", _FABRIC_COUNTERS[parts[4]], 4.0
    return None


def _units(run: Run) -> dict[tuple[int, str], float]:
    """Bytes per count where the driver does not follow the standard: hfi1 counts 8-byte flits."""
    units: dict[tuple[int, str], float] = {}
    for host in run.hosts:
        for nic in host.nics:
            if nic.rdma is not None and nic.driver.startswith("hfi1"):
                units[host.rank, f"{nic.rdma.device}:{nic.rdma.port}"] = 8.0
    return units


def _background(run: Run) -> dict[tuple[int, str], float]:
    """Counts per nanosecond while nothing was sent."""
    return {
        (idle.rank, name): change / idle.interval_ns
        for idle in run.idle
        if idle.interval_ns > 0
        for name, change in idle.counters.items()
        if change > 0
    }


def _readable(points: list[PointRecord], leader: int) -> bool:
    """True if the leader's counters were read at all: then a counter that is absent did not move."""
    mine: list[WitnessReading] = [reading for point in points for reading in point.witness if reading.rank == leader]
    return any(reading.shared_with is None and not reading.unreadable for reading in mine)
