"""Traffic of each NIC compared with the traffic expected from the payload: the data for the picture
of the proof.

It covers points whose messages are large enough that headers add little to the payload. The ledger
interprets the counters and subtracts the background; this module only adds them up over the points
of a run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal

import msgspec

from wireproof.model.claim import joined, rails_of
from wireproof.model.record import Host, Idle, PointRecord
from wireproof.model.run import Run
from wireproof.model.traffic import DIRECTIONS, LEVELS, QUALITIES, Direction, Level, Quality
from wireproof.report.names import natural

if TYPE_CHECKING:
    from wireproof.ledger.ledger import HostPorts
    from wireproof.model.traffic import Ledger


SMALL_BYTES = 1024
"""Smaller messages are not part of the picture, because their frames are mostly headers. The
judgement still covers them.
"""

STRAY_BYTES = 10_000
"""NICs outside the claim are shown if they carried at least this many bytes."""


class NicTraffic(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes that had to pass one NIC in one direction, and bytes that its counters show (null: not
    readable). ``level``, ``quality``: the weakest of the summed entries.
    """

    host: str
    nic: str
    direction: Literal["out", "in"]
    claimed: bool
    expected_bytes: float
    seen_bytes: float | None
    level: Level = "wire"
    quality: Quality = "unreadable"


class _Namespace(msgspec.Struct):
    """One network namespace and the ranks in it: expected and counted bytes of each NIC and
    direction, with level and quality.
    """

    ranks: set[int] = set()
    expected: dict[tuple[str, Direction], float] = {}
    seen: dict[tuple[str, Direction], float | None] = {}
    counted: dict[tuple[str, Direction], tuple[Level, Quality]] = {}


def flows(run: Run) -> list[NicTraffic]:
    """Return expected and counted bytes per host, NIC and direction: claimed NICs first, then
    others with traffic.
    """
    # Only the judgement knows how much of a group's traffic leaves a host, because ranks of one
    # host communicate inside it.
    paired = [point for point in run.points if point.group is None]
    points = [point for point in paired if point.message_bytes >= SMALL_BYTES] or paired
    namespaces: dict[int, _Namespace] = {}
    known = _Known.of(run)
    for point in points:
        _add_point(known, point, namespaces)
    found = [flow for reader, one in namespaces.items() for flow in _flows_of(known, reader, one)]
    return sorted(
        found,
        key=lambda flow: (natural(flow.host), not flow.claimed, flow.nic, flow.direction == "in"),
    )


def _flows_of(known: _Known, reader: int, namespace: _Namespace) -> Iterator[NicTraffic]:
    claims = [claim for claim in known.run.claim.hosts if claim.rank in namespace.ranks]
    host = ", ".join(sorted({claim.host for claim in claims})) or f"rank {reader}"
    claimed = {nic for claim in claims for nic in rails_of(known.claimed[claim.rank])}
    for (nic, direction), seen in namespace.seen.items():
        if nic in claimed or (seen or 0.0) >= STRAY_BYTES:
            expected = namespace.expected.get((nic, direction), 0.0)
            level, quality = namespace.counted.get((nic, direction), ("wire", "unreadable"))
            yield NicTraffic(
                host=host,
                nic=nic,
                direction="out" if direction == "tx" else "in",
                claimed=nic in claimed,
                expected_bytes=expected,
                seen_bytes=seen,
                level=level,
                quality=quality,
            )


class _Known(msgspec.Struct, frozen=True):
    """Data shared by all points of a run: hosts, prepared ports, idle traffic, and the claimed NICs
    by rank.
    """

    run: Run
    hosts: dict[int, Host]
    ports: dict[int, HostPorts]
    idle: dict[int, Idle]
    claimed: dict[int, str]

    @classmethod
    def of(cls, run: Run) -> _Known:
        # importing the analysis package would load numpy
        from wireproof.ledger.traffic import ports_of

        hosts = {host.rank: host for host in run.hosts}
        read = {
            one.rank for point in run.points for one in point.witness if one.shared_with is None
        }
        ports = ports_of({rank: host for rank, host in hosts.items() if rank in read})
        idle = {frame.rank: frame for frame in run.idle if frame.shared_with is None}
        claimed = {
            claim.rank: _as_ports(hosts[claim.rank], claim.nic)
            if claim.rank in hosts
            else claim.nic
            for claim in run.claim.hosts
        }
        return cls(run, hosts, ports, idle, claimed)


def _as_ports(host: Host, claim: str) -> str:
    """Return the claim with the names of the host's ports, because a user may name an RDMA
    device.
    """
    from wireproof.ledger.relations import port_called

    found = [(name, port_called(host.nics, name)) for name in rails_of(claim)]
    return joined([port.name if port is not None else name for name, port in found])


def _add_point(known: _Known, point: PointRecord, namespaces: dict[int, _Namespace]) -> None:
    from wireproof.ledger.traffic import readers, watch

    reader_of = readers(point, known.hosts)
    for rank, reader in reader_of.items():
        namespaces.setdefault(reader, _Namespace()).ranks.add(rank)
    due = _payload(point, reader_of)
    for reader, ledger in watch(point, known.ports, known.idle).items():
        namespace = namespaces.setdefault(reader, _Namespace())
        claims = {known.claimed.get(rank, "") for rank in namespace.ranks}
        nics = _due_shares(known.run, claims)
        for direction in DIRECTIONS:
            _add(namespace, ledger, direction, nics, due.get((reader, direction), 0.0))


def _due_shares(run: Run, claims: set[str]) -> dict[str, float]:
    """Return the share of the due bytes of each claimed NIC: 1, or a rail's part of the line
    rates.
    """
    found: dict[str, float] = {}
    for claim in claims:
        names, link = rails_of(claim), run.claim.link
        shares = link.shares if link is not None else ()
        shares = shares if len(shares) == len(names) > 1 else (1.0,) * len(names)
        found |= {name: share / sum(shares) for name, share in zip(names, shares, strict=True)}
    return found


def _add(
    namespace: _Namespace,
    ledger: Ledger,
    direction: Direction,
    claimed: Mapping[str, float],
    due: float,
) -> None:
    """Add the bytes of one point. Expected bytes count only if the counter could be read, so that
    both sums stay comparable.
    """
    from wireproof.ledger.crossed import crossed_at
    from wireproof.ledger.places import one_place

    for nic in {*ledger.ports.keys() - one_place(ledger, claimed.keys() - {""}), *claimed}:
        key = (nic, direction)
        before = namespace.seen.setdefault(key, None)
        found = crossed_at(ledger, nic, direction) if nic in ledger.ports else None
        if found is not None and found.bytes is not None:
            namespace.seen[key] = (before or 0.0) + found.bytes
            level, quality = namespace.counted.get(key, (found.level, found.quality))
            namespace.counted[key] = (
                max(level, found.level, key=LEVELS.index),
                max(quality, found.quality, key=QUALITIES.index),
            )
            namespace.expected[key] = namespace.expected.get(key, 0.0) + due * claimed.get(nic, 0.0)


def _payload(point: PointRecord, reader_of: dict[int, int]) -> Counter[tuple[int, Direction]]:
    """Return the payload that each namespace would send and receive if all of it crossed a wire."""
    total: Counter[tuple[int, Direction]] = Counter()
    for pair in point.pairs:
        moves: tuple[tuple[int, Direction, int], ...] = (
            (pair.origin, "tx", pair.payload_forward_bytes),
            (pair.target, "rx", pair.payload_forward_bytes),
            (pair.target, "tx", pair.payload_backward_bytes),
            (pair.origin, "rx", pair.payload_backward_bytes),
        )
        for rank, direction, count in moves:
            total[reader_of.get(rank, rank), direction] += count
    return total
