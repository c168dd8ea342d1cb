"""Did it use the wire? Payload held against the counters of both ends, both directions, every port.

Each end and direction is one sighting. ``need`` is the least that must have crossed: the payload, and for a ping-pong
one header per message because its messages cannot be merged. The most that may be seen adds a header allowance per
message and acknowledgements. Shares below are of ``need``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from wireproof.analysis.counters import Direction
from wireproof.analysis.witness import HostTraffic, PortTraffic, Seen, readers, watch
from wireproof.model.finding import Proof
from wireproof.model.pattern import answers
from wireproof.model.record import Nic, PairResult, PointRecord
from wireproof.verdict.context import Context

__all__ = ["PairProof", "Sighting", "Witnessed", "prove", "settle"]

_LEAST_HEADER = {"tcp": 54}  # Ethernet + IP + TCP without options
_LEAST_HEADER_RDMA = 20  # local route and transport headers as port counters count them
_HEADER_ALLOWANCE = 300  # bytes per message: Ethernet, IP, TCP, MPI envelope, delayed acknowledgement
_ACK_SHARE = 0.08  # a stream is acknowledged: 66 B against one or two segments, more for small RDMA packets
_CONTROL_BYTES = 262_144  # the tool's own control traffic during one point
_CONTROL_RATE = 500_000  # bytes/s of it in a long point
_LOUD_BACKGROUND = 0.2
_ELSEWHERE = 0.5  # share of the payload on other ports that makes them its carriers
_STRAY_BYTES = 8_000_000  # quieter than this is a launcher or a login, not the payload
_IDLE_CHATTER = 4096.0  # bytes that an idle port moves during a point: neighbour discovery, ARP


@dataclass(frozen=True)
class Sighting:
    """One end, one direction: ``kind`` is on-wire, off-wire, loopback, wrong-path, mixed, partly, blind, wrapped,
    background, small."""

    kind: str
    rank: int
    nic: str
    direction: Direction
    need: float
    seen: float | None
    others: Mapping[str, float]
    loopback: float
    counter: str = ""
    wrapped: bool = False
    stray: bool = False


@dataclass(frozen=True)
class PairProof:
    """The verdict on the path of one pair at one point. ``expected`` and ``seen``: the busier direction, the poorer
    end.
    """

    proof: Proof
    code: str
    sightings: tuple[Sighting, ...]
    expected: int | None
    seen: int | None


@dataclass(frozen=True)
class Witnessed:
    """A point's traffic by reader rank, and the path of each of its pairs, in their order."""

    traffic: dict[int, HostTraffic]
    pairs: list[PairProof]


def prove(ctx: Context, point: PointRecord) -> Witnessed:
    """Hold a point's payload against the counters."""
    reader_of = readers(point, ctx.hosts)
    protocol = ctx.link.protocol if ctx.link else None
    idle = {reader: ctx.idle[rank] for rank, reader in sorted(reader_of.items(), reverse=True) if rank in ctx.idle}
    idle.update({rank: ctx.idle[rank] for rank in set(reader_of.values()) if rank in ctx.idle})
    traffic = watch(point, ctx.hosts, idle, protocol, ctx.units)
    desk = _Desk(ctx, point, reader_of, traffic)
    return Witnessed(traffic, [desk.pair(pair) for pair in point.pairs])


class _Desk:
    """One point with its traffic at hand."""

    def __init__(
        self, ctx: Context, point: PointRecord, reader_of: Mapping[int, int], traffic: Mapping[int, HostTraffic]
    ) -> None:
        self.ctx, self.point, self.reader_of, self.traffic = ctx, point, reader_of, traffic
        self.protocol = ctx.link.protocol if ctx.link else "tcp"
        self.known_bounds: dict[tuple[int | None, str, Direction], tuple[float, float]] = {}

    def pair(self, pair: PairResult) -> PairProof:
        if self.ctx.run.open is not None and self.ctx.run.open.transport in ("null", "model"):
            return PairProof("unproven", "instrument-only", (), None, None)
        if self._together(pair):
            return self._on_one_machine(pair)
        o, t = pair.origin, pair.target
        views: tuple[tuple[int, Direction], ...] = ((o, "tx"), (t, "rx"), (t, "tx"), (o, "rx"))
        sightings = tuple(self._sighting(rank, pair, direction) for rank, direction in views)
        proof, code = conclude(sightings, self._believed_remote(pair))
        expected, seen = _busier(sightings)
        return PairProof(proof, code, sightings, expected, seen)

    def _together(self, pair: PairResult) -> bool:
        same = self.ctx.same_machine(pair.origin, pair.target)
        shared = self.reader_of.get(pair.origin, -1) == self.reader_of.get(pair.target, -2)
        return same is True or (shared and same is not False)

    def _on_one_machine(self, pair: PairResult) -> PairProof:
        """No counter can make a wire of it; the counters only tell shared memory from loopback."""
        sightings = tuple(self._sighting(rank, pair, "tx") for rank in (pair.origin, pair.target))
        need = max(s.need for s in sightings)
        code = "loopback" if any(s.loopback >= 0.5 * max(need, 1.0) for s in sightings) else "shared-memory-suspected"
        expected, seen = _busier(sightings)
        return PairProof("off-wire", code, sightings, expected, seen)

    def _believed_remote(self, pair: PairResult) -> bool | None:
        shared = [self.ctx.hosts[r].shared_ranks for r in (pair.origin, pair.target) if r in self.ctx.hosts]
        known = [count for count in shared if count is not None]
        return None if not known else max(known) <= 1

    def _sighting(self, rank: int, pair: PairResult, direction: Direction) -> Sighting:
        nic = self.ctx.claimed_nic(rank)
        host = self.traffic.get(self.reader_of.get(rank, -1))
        need, most = self._bounds(rank, direction)
        own = self._need(pair, rank, direction)
        small = own < self.ctx.criteria.min_payload_bytes
        name = nic.name if nic else ""
        if host is None or (nic is not None and name not in host.ports):
            return Sighting("small" if small else "blind", rank, name, direction, own, None, {}, 0.0)
        port = host.ports[name] if nic is not None else self._busiest(host, direction)
        if port is None:
            return Sighting("small" if small else "blind", rank, name, direction, own, None, {}, 0.0)
        return self._held(rank, port, host, direction, (own, need, most), small)

    def _held(
        self, rank: int, port: PortTraffic, host: HostTraffic, way: Direction, bounds: tuple[float, float, float],
        small: bool,
    ) -> Sighting:  # fmt: skip
        own, need, most = bounds
        seen = port.way(way)
        others = {p.nic: p.way(way).bytes or 0.0 for p in host.ports.values() if not p.loopback and p.nic != port.nic}
        loop = sum(p.way(way).bytes or 0.0 for p in host.ports.values() if p.loopback)
        stacked = port.stacked or any(host.ports[nic].stacked for nic, count in others.items() if count > 0.5 * need)
        stray = not stacked and sum(others.values()) + loop > max(0.5 * need, _STRAY_BYTES)
        if small:
            kind = "on-wire" if self._beyond_control(seen, own, most) else "small"
        elif seen.bytes is None:
            kind = "wrapped" if seen.trouble in ("reset", "saturated", "negative") else "blind"
        else:
            kind = self._kind(seen.bytes, seen.background, others, loop, (need, most), stray)
            # A counter that wrapped once may have wrapped twice: what is missing then is not known to be missing.
            kind = "wrapped" if seen.wrapped and kind in ("mixed", "partly", "off-wire") else kind
        share = own / need if need > 0 else 1.0  # several pairs of one host share its counters
        counted = None if seen.bytes is None else seen.bytes * share
        return Sighting(kind, rank, port.nic, way, own, counted, others, loop, seen.counter, seen.wrapped, stray)

    def _beyond_control(self, seen: Seen, own: float, most: float) -> bool:
        """Little payload in many messages: their headers show it, where they are more than control traffic makes."""
        if seen.bytes is None or own <= 0 or seen.background > _LOUD_BACKGROUND * seen.bytes:
            return False
        return self._control() < seen.bytes <= most and seen.bytes >= own

    def _control(self) -> float:
        return _CONTROL_BYTES + _CONTROL_RATE * self.point.elapsed_ns * 1e-9

    def _kind(
        self, seen: float | None, background: float, others: Mapping[str, float], loop: float,
        bounds: tuple[float, float], stray: bool,
    ) -> str:  # fmt: skip
        need, most = bounds
        if seen is None:
            return "blind"
        if background > _LOUD_BACKGROUND * need:
            return "background"
        if seen >= self.ctx.criteria.on_wire_min * need:
            return "background" if seen > most or stray else "on-wire"
        if seen + background >= self.ctx.criteria.on_wire_min * need:
            return "background"  # what is missing is no more than what was taken off for others
        # Neighbour discovery and the like alone move a few packets: a share of little payload must not count them.
        quiet = max(self.ctx.criteria.stray_share, min(_ELSEWHERE, _IDLE_CHATTER / need))
        return self._missing(seen / need, sum(others.values()) / need, loop / need, quiet)

    def _missing(self, here: float, elsewhere: float, loop: float, quiet: float) -> str:
        """The claimed port saw too little: where did the payload go? All in shares of what was needed."""
        if here < quiet:
            if loop >= _ELSEWHERE and loop > elsewhere:
                return "loopback"
            return "wrong-path" if elsewhere >= _ELSEWHERE else "off-wire"
        return "mixed" if elsewhere >= quiet else "partly"

    def _bounds(self, rank: int, direction: Direction) -> tuple[float, float]:
        """Least and most bytes through the claimed port of the rank's namespace, all pairs of the point together."""
        reader, nic = self.reader_of.get(rank), self.ctx.claimed_nic(rank)
        key = (reader, nic.name if nic else "", direction)
        if key not in self.known_bounds:
            self.known_bounds[key] = self._summed(reader, nic, direction)
        return self.known_bounds[key]

    def _summed(self, reader: int | None, nic: Nic | None, direction: Direction) -> tuple[float, float]:
        need = payload = both = 0.0
        messages = 0
        for pair in self.point.pairs:
            for end in (pair.origin, pair.target):
                if self.reader_of.get(end, -1) != reader or self.ctx.claimed_nic(end) != nic or self._together(pair):
                    continue
                need += self._need(pair, end, direction)
                payload += self._payload(pair, end, direction)
                both += pair.payload_forward_bytes + pair.payload_backward_bytes
                messages += pair.messages_forward + pair.messages_backward
        most = payload * self.ctx.criteria.on_wire_max + both * _ACK_SHARE + messages * _HEADER_ALLOWANCE
        return need, most + self._control()

    def _payload(self, pair: PairResult, rank: int, direction: Direction) -> int:
        forward = (rank == pair.origin) == (direction == "tx")
        return pair.payload_forward_bytes if forward else pair.payload_backward_bytes

    def _need(self, pair: PairResult, rank: int, direction: Direction) -> float:
        payload = float(self._payload(pair, rank, direction))
        if not answers(self.point.pattern, self.point.form):
            return payload
        forward = (rank == pair.origin) == (direction == "tx")
        messages = pair.messages_forward if forward else pair.messages_backward
        return payload + messages * _LEAST_HEADER.get(self.protocol, _LEAST_HEADER_RDMA)

    def _busiest(self, host: HostTraffic, direction: Direction) -> PortTraffic | None:
        """Without a claimed NIC the port that carried most speaks; others then show up as striping."""
        ports = [
            p for p in host.ports.values() if not p.loopback and not p.stacked and p.way(direction).bytes is not None
        ]
        return max(ports, key=lambda p: (p.way(direction).bytes or 0.0, p.nic), default=None)


def settle(proofs: list[tuple[str, PairProof]]) -> list[PairProof]:
    """Let the points that moved much speak for those that moved little, route by route.

    A launcher's megabyte on the management port looks like the payload of a short ping-pong. Where the route's largest
    point shows that no port carried it, such a point went the same way.
    """
    largest: dict[str, PairProof] = {}
    for route, proof in proofs:
        if (proof.expected or 0) > (largest[route].expected or 0 if route in largest else -1):
            largest[route] = proof
    return [_like(proof, largest[route]) for route, proof in proofs]


def _like(proof: PairProof, largest: PairProof) -> PairProof:
    quiet = all(sum(sighting.others.values()) < _STRAY_BYTES for sighting in proof.sightings)
    if proof.proof == "wrong-path" and quiet and largest.proof in ("off-wire", "unproven"):
        return dataclasses.replace(proof, proof=largest.proof, code=largest.code)
    # Our own frames on their way home may look like a few kB of payload that went another way.
    few = (proof.expected or 0) < _CONTROL_BYTES
    if proof.proof == "on-wire" and few and largest.proof in ("off-wire", "wrong-path"):
        return dataclasses.replace(proof, proof="unproven", code="unproven-too-few-bytes")
    return proof


def conclude(sightings: tuple[Sighting, ...], believed_remote: bool | None) -> tuple[Proof, str]:
    """From sightings to one proof and the code of what is wrong ("" when nothing is): the worst sighting speaks."""
    kinds = {s.kind for s in sightings if s.kind != "small"}
    if not kinds:
        return "unproven", "unproven-too-few-bytes"
    for kind, code in (("wrong-path", "wrong-path"), ("mixed", "striped"), ("partly", "partly-off-wire")):
        if kind in kinds:
            return ("wrong-path", code) if kind == "wrong-path" else ("mixed", code)
    if "loopback" in kinds and "on-wire" not in kinds:
        return "off-wire", "loopback"
    if kinds <= {"off-wire"}:
        silent = {None: "off-wire", True: "nolocal-shm", False: "shared-memory-suspected"}
        return "off-wire", silent[believed_remote]
    if kinds & {"off-wire", "loopback"} and "on-wire" in kinds:
        return "unproven", "ends-disagree"
    if kinds & {"off-wire", "loopback"}:
        return "off-wire", "off-wire"
    for kind, code in (
        ("wrapped", "counter-wrapped"), ("blind", "unproven-no-counters"), ("background", "background-traffic"),
    ):  # fmt: skip
        if kind in kinds:
            return "unproven", code
    return "on-wire", ""


def _busier(sightings: tuple[Sighting, ...]) -> tuple[int | None, int | None]:
    if not sightings:
        return None, None
    need = max(s.need for s in sightings)
    known = [s.seen for s in sightings if s.need == need and s.seen is not None]
    return int(need), int(min(known)) if known else None
