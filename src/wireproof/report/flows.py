"""What each NIC carried beside what it should have carried: the picture of the proof.

Sums over points whose messages are big enough that headers do not drown the payload. The ledger has
the counters' meaning and the background; this module only adds them up over the points of a run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from wireproof.model.record import PointRecord
from wireproof.model.run import Run
from wireproof.report.names import natural

if TYPE_CHECKING:
    from wireproof.model.ledger import Ledger

__all__ = ["SMALL_BYTES", "Flow", "flows"]

SMALL_BYTES = 1024
"""Smaller messages are left out of the picture: their frames are mostly header (the judge still
weighs them).
"""

STRAY_BYTES = 10_000
"""NICs that nobody claimed are shown when they carried at least this much."""

Way = Literal["out", "in"]
_WAYS: tuple[tuple[Way, Literal["tx", "rx"]], ...] = (("out", "tx"), ("in", "rx"))


@dataclass(frozen=True)
class Flow:
    """Bytes through one NIC in one direction. ``seen_bytes`` None: no counter of it could be
    read.
    """

    host: str
    nic: str
    direction: Way
    claimed: bool
    expected_bytes: float
    seen_bytes: float | None


def flows(run: Run) -> list[Flow]:
    """Expected and seen bytes per host, NIC and direction: claimed NICs first, then others that
    carried traffic.
    """
    # How much of a group's traffic has to leave a host is the judge's to say: ranks of one host
    # talk inside it.
    paired = [point for point in run.points if point.group is None]
    points = [point for point in paired if point.message_bytes >= SMALL_BYTES] or paired
    sums: dict[tuple[int, str, Way], list[float | None]] = {}
    members: dict[int, set[int]] = {}
    for point in points:
        _add_point(run, point, sums, members)
    claims = {claim.rank: claim for claim in run.claim.hosts}
    out: list[Flow] = []
    for (reader, nic, way), (expected, seen) in sums.items():
        host = (
            ", ".join(sorted({claims[rank].host for rank in members[reader] if rank in claims}))
            or f"rank {reader}"
        )
        claimed = any(claims[rank].nic == nic for rank in members[reader] if rank in claims)
        if claimed or (seen or 0.0) >= STRAY_BYTES:
            out.append(Flow(host, nic, way, claimed, expected or 0.0, seen))
    return sorted(
        out,
        key=lambda flow: (natural(flow.host), not flow.claimed, flow.nic, flow.direction == "in"),
    )


def _add_point(
    run: Run,
    point: PointRecord,
    sums: dict[tuple[int, str, Way], list[float | None]],
    members: dict[int, set[int]],
) -> None:
    """Add one point: expected bytes count only where the counter could be read, so that the two
    stay comparable.
    """
    # the analysis package loads numpy
    from wireproof.analysis.witness import ports_of, readers, watch

    hosts = {host.rank: host for host in run.hosts}
    idle = {frame.rank: frame for frame in run.idle if frame.shared_with is None}
    reader_of = readers(point, hosts)
    traffic = watch(point, ports_of(hosts), idle)
    claimed = {claim.rank: claim.nic for claim in run.claim.hosts}
    due = _payload(point, reader_of)
    for rank, reader in reader_of.items():
        members.setdefault(reader, set()).add(rank)
    for reader, host in traffic.items():
        nics = {claimed[rank] for rank in members.get(reader, set()) if claimed.get(rank)}
        _add_host(sums, reader, host, nics, due)


def _add_host(
    sums: dict[tuple[int, str, Way], list[float | None]],
    reader: int,
    host: Ledger,
    claimed: set[str],
    due: dict[tuple[int, Way], float],
) -> None:
    from wireproof.analysis.crossed import crossed_at

    for nic in {*host.ports, *claimed}:
        for way, direction in _WAYS:
            total = sums.setdefault((reader, nic, way), [0.0, None])
            seen = crossed_at(host, nic, direction).bytes if nic in host.ports else None
            if seen is None:
                continue
            expected = due.get((reader, way), 0.0) if nic in claimed else 0.0
            total[0] = (total[0] or 0.0) + expected
            total[1] = (total[1] or 0.0) + seen


def _payload(point: PointRecord, reader_of: dict[int, int]) -> dict[tuple[int, Way], float]:
    """Payload that had to leave and to enter each namespace, had all of it crossed a wire."""
    total: dict[tuple[int, Way], float] = {}
    for pair in point.pairs:
        moves: tuple[tuple[int, Way, int], ...] = (
            (pair.origin, "out", pair.payload_forward_bytes),
            (pair.target, "in", pair.payload_forward_bytes),
            (pair.target, "out", pair.payload_backward_bytes),
            (pair.origin, "in", pair.payload_backward_bytes),
        )
        for rank, way, count in moves:
            key = (reader_of.get(rank, rank), way)
            total[key] = total.get(key, 0.0) + count
    return total
