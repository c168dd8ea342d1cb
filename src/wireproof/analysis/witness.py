"""What the port counters saw during one point: bytes per network namespace, NIC and direction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from wireproof.analysis.counters import Direction, Source, every_source, is_stacked, sources
from wireproof.model.claim import Protocol
from wireproof.model.record import Host, Idle, Nic, PointRecord, WitnessReading

__all__ = ["HostTraffic", "PortTraffic", "Seen", "Units", "counter_delta", "readers", "watch"]

_32 = 1 << 32
_64 = 1 << 64

Units = Mapping[str, int]
"""Calibrated bytes per count, by driver and device family."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Bytes in one direction of one port, less the idle background; ``None`` with the trouble that made it unknown."""

    bytes: float | None
    raw: int = 0
    background: float = 0.0
    counter: str = ""
    trouble: str = ""
    wrapped: bool = False


@dataclass(frozen=True, slots=True)
class PortTraffic:
    nic: str
    loopback: bool
    stacked: bool
    tx: Seen
    rx: Seen

    def way(self, direction: Direction) -> Seen:
        return self.tx if direction == "tx" else self.rx


@dataclass(frozen=True, slots=True)
class HostTraffic:
    """One network namespace. ``deltas`` are raw counter differences, background not subtracted."""

    reader: int
    interval_ns: float
    ports: Mapping[str, PortTraffic]
    deltas: Mapping[str, int]


def readers(point: PointRecord, hosts: Mapping[int, Host]) -> dict[int, int]:
    """rank -> rank whose reading covers it (itself, or the one that it shares a network namespace with)."""
    own = {reading.rank for reading in point.witness if reading.shared_with is None}
    found = {rank: rank for rank in own}
    for reading in point.witness:
        if reading.shared_with in own:
            found[reading.rank] = int(reading.shared_with)
    for rank, host in hosts.items():
        if rank not in found and host.boot_id and host.netns:
            same = [r for r in own if r in hosts and _namespace(hosts[r]) == _namespace(host)]
            if same:
                found[rank] = min(same)
    return found


def _namespace(host: Host) -> tuple[str, int]:
    return host.boot_id, host.netns


def counter_delta(before: int, after: int) -> tuple[int | None, str]:
    """Difference and remark: ``wrapped`` (32 or 64 bit, once); or None with ``reset``, ``saturated``, ``negative``."""
    if before < 0 or after < 0:
        return None, "negative"
    if after >= before:
        return (None, "saturated") if after == _32 - 1 else (after - before, "")
    if before < _32 and before >= _32 // 2 and after < _32 // 2:
        return after + _32 - before, "wrapped"
    if before >= _64 // 2 and after < _64 // 2:
        return after + _64 - before, "wrapped"
    return None, "reset"


def watch(
    point: PointRecord,
    hosts: Mapping[int, Host],
    idle: Mapping[int, Idle],
    protocol: Protocol | None,
    units: Units | None = None,
) -> dict[int, HostTraffic]:
    """Traffic by reader rank. ``idle`` is by reader rank too; its rate is subtracted for the time of the reading."""
    found = {}
    for reading in point.witness:
        host = hosts.get(reading.rank)
        if reading.shared_with is None and host is not None:
            found[reading.rank] = _host_traffic(reading, host, idle.get(reading.rank), protocol, units or {})
    return found


def _host_traffic(
    reading: WitnessReading, host: Host, idle: Idle | None, protocol: Protocol | None, units: Units
) -> HostTraffic:
    deltas = {name: counter_delta(*pair) for name, pair in reading.counters.items()}
    look = _Reader(reading, deltas, idle, units)
    ports = {}
    for nic in host.nics:
        tx, rx = (look.seen(nic, sources(nic, protocol, way), way) for way in ("tx", "rx"))
        ports[nic.name] = PortTraffic(nic.name, nic.kind == "loopback", is_stacked(nic), tx, rx)
    plain = {name: delta for name, (delta, _) in deltas.items() if delta is not None}
    return HostTraffic(reading.rank, reading.interval_ns, ports, plain)


class _Reader:
    """One reading with its idle window and units at hand."""

    def __init__(
        self, reading: WitnessReading, deltas: Mapping[str, tuple[int | None, str]], idle: Idle | None, units: Units
    ) -> None:
        self.reading, self.deltas, self.units = reading, deltas, units
        self.idle = idle.counters if idle else {}
        self.scale = reading.interval_ns / idle.interval_ns if idle and idle.interval_ns > 0 else 0.0

    def seen(self, nic: Nic, listed: list[Source], direction: Direction) -> Seen:
        """Bytes by the first source that moved; 0 when a source is known to be readable and did not move."""
        for source in listed:
            if any(name in self.deltas for name in source.names):
                return self._sum(nic, source)
        readable = [s for s in listed if not any(self._unreadable(name) for name in s.names)]
        if not readable:
            return Seen(None, counter=listed[0].names[0], trouble="unreadable")
        # A silent counter of an unknown driver may simply not exist: silence is no evidence there.
        if readable[0].unit is None:
            return self._fallback(nic, direction, readable[0])
        return Seen(0.0, counter=readable[0].names[0])

    def _fallback(self, nic: Nic, direction: Direction, source: Source) -> Seen:
        moved = [s for s in every_source(nic, direction) if s.unit and any(n in self.deltas for n in s.names)]
        return self._sum(nic, moved[0]) if moved else Seen(None, counter=source.names[0], trouble="silent")

    def _unreadable(self, name: str) -> bool:
        return any(name == lost or name.startswith(lost.rstrip("*/") + "/") for lost in self.reading.unreadable)

    def _sum(self, nic: Nic, source: Source) -> Seen:
        raw, background, wrapped = 0, 0.0, False
        for name in source.names:
            delta, remark = self.deltas.get(name, (0, ""))
            if delta is None:
                return Seen(None, counter=name, trouble=remark)
            raw, wrapped = raw + delta, wrapped or remark == "wrapped"
            background += self.idle.get(name, 0) * self.scale
        unit = source.unit or self.units.get(nic.driver)
        counter = source.names[0]
        if unit is None:
            return Seen(None, raw=raw, counter=counter, trouble="unit")
        quiet = background * unit
        return Seen(max(0.0, raw * unit - quiet), raw, quiet, counter, "", wrapped)
