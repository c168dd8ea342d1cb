"""Bytes per count of a counter whose driver is not in the table.

Large messages alone cannot tell a unit of 4 from a quarter of the traffic. So a unit out of {1, 4, 8} is believed
only when it fits large messages of two sizes or more at both ends, nothing moved on other ports, and ping-pongs of
short messages fit it too while the port's packets, which have no unit, show that every one of those messages crossed
this port.
"""

from __future__ import annotations

import dataclasses

from wireproof.analysis.counters import Direction, sources
from wireproof.analysis.witness import HostTraffic, readers, watch
from wireproof.model.record import Nic, PairResult, PointRecord
from wireproof.verdict.context import Context

__all__ = ["calibrated"]

_UNITS = (1, 4, 8)
_LEAST, _MOST = 0.98, 1.10
_MIN_SIZES = 2
_STRAY = 0.05
_LARGE_BYTES, _LARGE_PAYLOAD = 4096, 1 << 20
_SHORT_BYTES = (128, 256)  # fits one packet of any MTU
_SHORT_HEADERS = (20, 120)  # least and most header bytes of such a packet
_SHORT_MESSAGES = 500
_PACKETS = {"port_xmit_data": "port_xmit_packets", "port_rcv_data": "port_rcv_packets"}


@dataclasses.dataclass(frozen=True)
class _Vote:
    """Units that fit one end of one point; ``size`` is its message size."""

    driver: str
    size: int
    short: bool
    fits: frozenset[int]


def calibrated(ctx: Context) -> Context:
    """The context with the units that the run itself proves; the same context when none is needed or proven."""
    nics = [ctx.claimed_nic(rank) for rank in ctx.hosts]
    protocol = ctx.link.protocol if ctx.link else None
    if all(source.unit is not None for nic in nics if nic for source in sources(nic, protocol, "tx")):
        return ctx
    votes = [vote for point in ctx.run.points if len(point.pairs) == 1 for vote in _votes(ctx, point)]
    found = {driver: _agreed([vote for vote in votes if vote.driver == driver]) for driver in {v.driver for v in votes}}
    units = {driver: unit for driver, unit in found.items() if unit is not None}
    return dataclasses.replace(ctx, units={**ctx.units, **units}) if units else ctx


def _agreed(votes: list[_Vote]) -> int | None:
    """The one unit that fits every end of every point, when there are enough of both kinds of points."""
    if len({v.size for v in votes if not v.short}) < _MIN_SIZES or not any(v.short for v in votes):
        return None
    common = frozenset(_UNITS).intersection(*(vote.fits for vote in votes))
    return next(iter(common)) if len(common) == 1 else None


def _votes(ctx: Context, point: PointRecord) -> list[_Vote]:
    """Two votes, sender's tx and receiver's rx of the busier direction, from points that can tell."""
    pair = point.pairs[0]
    payload = max(pair.payload_forward_bytes, pair.payload_backward_bytes)
    messages = max(pair.messages_forward, pair.messages_backward)
    short = point.pattern == "pingpong" and _SHORT_BYTES[0] <= point.message_bytes <= _SHORT_BYTES[1]
    large = point.message_bytes >= _LARGE_BYTES and payload >= _LARGE_PAYLOAD
    if not large and not (short and messages >= _SHORT_MESSAGES):
        return []
    ends = _ends(ctx, point, pair)
    if any(host.ports[nic.name].way(way).trouble != "unit" for nic, host, way in ends):
        return []
    return [
        _Vote(nic.driver, point.message_bytes, short, _fitting(nic, host, way, payload, messages, short))
        for nic, host, way in ends
    ]


def _ends(ctx: Context, point: PointRecord, pair: PairResult) -> list[tuple[Nic, HostTraffic, Direction]]:
    """Sender's tx and receiver's rx of the busier direction; empty unless both ends have a port of their own to look
    at.
    """
    traffic = watch(point, ctx.hosts, {}, ctx.link.protocol if ctx.link else None)
    reader_of = readers(point, ctx.hosts)
    forward = pair.payload_forward_bytes >= pair.payload_backward_bytes
    sender, receiver = (pair.origin, pair.target) if forward else (pair.target, pair.origin)
    ways: tuple[tuple[int, Direction], ...] = ((sender, "tx"), (receiver, "rx"))
    found: list[tuple[Nic, HostTraffic, Direction]] = []
    for rank, way in ways:
        nic, host = ctx.claimed_nic(rank), traffic.get(reader_of.get(rank, -1))
        if nic is None or host is None or nic.name not in host.ports:
            return []
        found.append((nic, host, way))
    return found if found[0][1].reader != found[1][1].reader else []


def _fitting(nic: Nic, host: HostTraffic, way: Direction, payload: int, messages: int, short: bool) -> frozenset[int]:
    seen = host.ports[nic.name].way(way)
    if not short:
        # Other ports matter here only: of the short messages the packets tell that all of them came this way.
        strays = sum(float(port.way(way).raw) for port in host.ports.values() if port.nic != nic.name)
        quiet = strays <= _STRAY * payload
        return frozenset(unit for unit in _UNITS if quiet and _LEAST <= seen.raw * unit / payload <= _MOST)
    head, _, leaf = seen.counter.rpartition("/")
    if host.deltas.get(f"{head}/{_PACKETS.get(leaf, '')}", 0) < _LEAST * messages:
        return frozenset()
    least, most = (payload + messages * header for header in _SHORT_HEADERS)
    return frozenset(unit for unit in _UNITS if least <= seen.raw * unit <= most)
