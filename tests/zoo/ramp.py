"""Counters over time: each file is a sum of ramps, read through its own refresh, width and end
stop.
"""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from tests.zoo.parts import File, Port

LOOPBACK = Port(
    "lo",
    "",
    (
        File("net/{nic}/tx_bytes", "tx", "bytes", frozenset({"loop"}), "stack"),
        File("net/{nic}/rx_bytes", "rx", "bytes", frozenset({"loop"}), "stack"),
    ),
    kind="loopback",
    mtu=65536,
)


@dataclass(frozen=True)
class Flow:
    """Traffic of one host in one direction from ``start_s`` to ``end_s``.

    ``shares``: port name -> share of it that the port's files see. ``reach``: ``wire``, or
    ``turned`` round inside the adapter, where files of the physical port stand still.
    """

    way: str
    start_s: float
    end_s: float
    payload: float
    packets: float
    carrier: str
    shares: Mapping[str, float]
    reach: str = "wire"


@dataclass(frozen=True)
class Accident:
    """What happens to a port of one host at ``at_s``. ``kind``: ``reset`` (its counters start at 0
    again), ``back`` (they fall by ``count``), ``renamed``, ``moves`` (its flows, and those of the
    port ``to``, change places: a bond fails over).
    """

    kind: str
    host: int
    port: str
    at_s: float
    count: int = 0
    to: str = ""


@dataclass
class Machine:
    """One host's ports with all their files.

    ``age_s``: everything is refreshed no more often than that (beside each file's own age).
    ``start``: how the values begin: ``anywhere``, ``near-end`` (of 32 or 64 bits),
    ``pegged`` or ``fresh`` (just booted).
    """

    ports: tuple[Port, ...]
    seed: int = 1
    age_s: float = 0.0
    start: str = "anywhere"
    hidden: frozenset[str] = frozenset()
    accidents: tuple[Accident, ...] = ()
    _files: dict[str, tuple[Port, File]] = field(default_factory=dict)
    _base: dict[str, int] = field(default_factory=dict)
    _ramps: dict[str, list[tuple[float, float, float]]] = field(default_factory=dict)
    _visible: list[str] = field(default_factory=list)
    _read: dict[float, dict[str, int]] = field(default_factory=dict)
    _phase: float = 0.0

    def __post_init__(self) -> None:
        rng = random.Random(self.seed)
        self._phase = rng.random()
        for port in (LOOPBACK, *self.ports):
            for file in port.files:
                name = port.spelled(file)
                self._files[name] = port, file
                self._base[name] = self._begin(file, rng)
                self._ramps[name] = []
                if not any(name.startswith(beginning) for beginning in self.hidden):
                    self._visible.append(name)

    def _begin(self, file: File, rng: random.Random) -> int:
        top = 1 << file.width
        if file.stuck:
            return 0
        if self.start == "pegged" and file.pegs:
            return top - 1
        if self.start == "fresh":
            return rng.randrange(1 << 20)
        if self.start == "near-end":
            return top - rng.randrange(1 << 16, 1 << 20)
        return rng.randrange(1 << 28) if file.width <= 32 else rng.randrange(1 << 40)

    def names(self) -> Iterable[str]:
        """Of all files that can be read."""
        return self._visible

    def add(self, flow: Flow) -> None:
        """Let a flow move the files that count it."""
        self._read.clear()
        for one in self.accidents:
            if one.kind == "moves" and flow.start_s < one.at_s:
                flow = self._moved(flow, one)
        for name, (port, file) in self._files.items():
            share = flow.shares.get(port.name, 0.0)
            if share and not file.stuck and _counts(file, flow):
                rise = file.rise(flow.payload * share, flow.packets * share, flow.carrier)
                self._ramps[name].append((flow.start_s, flow.end_s, rise))

    def _moved(self, flow: Flow, accident: Accident) -> Flow:
        """Add what goes the other way from then on; return what went before."""
        end_s = min(flow.end_s, accident.at_s)
        share = (end_s - flow.start_s) / (flow.end_s - flow.start_s)
        if share < 1:
            here, there = (flow.shares.get(name, 0.0) for name in (accident.port, accident.to))
            shares = {**flow.shares, accident.port: there, accident.to: here}
            self.add(replace(_part(flow, 1 - share), start_s=end_s, shares=shares))
        return replace(_part(flow, share), end_s=end_s)

    def value(self, name: str, t_s: float) -> int:
        """What a reader of the file sees at that time."""
        ramps = self._ramps[name]
        port, file = self._files[name]
        age = max(file.age_ms / 1e3, self.age_s)
        if age > 0:
            t_s = ((t_s + self._phase * age) // age - self._phase) * age
        raw = self._base[name] + round(_so_far(ramps, t_s))
        for one in self.accidents:
            if one.port == port.name and t_s >= one.at_s:
                before = self._base[name] + round(_so_far(ramps, one.at_s))
                raw -= {"reset": before, "back": min(before, one.count)}.get(one.kind, 0)
        top = 1 << file.width
        if file.pegs:
            return min(raw, top - 1)
        return raw % top

    def reading(self, t_s: float) -> Mapping[str, int]:
        """All readable files at one moment."""
        known = self._read.get(t_s)
        if known is None:
            still = not self.accidents
            known = self._read[t_s] = {
                self._named(name, t_s): self._base[name]
                if still and not self._ramps[name]
                else self.value(name, t_s)
                for name in self._visible
            }
            for one in self.accidents:
                if one.kind == "reset":  # a port that is reset loses its carrier for a moment
                    known[f"net/{one.port}/carrier_changes"] = 1 + 2 * (t_s >= one.at_s)
        return known

    def _named(self, name: str, t_s: float) -> str:
        for one in self.accidents:
            if one.kind == "renamed" and t_s >= one.at_s and f"/{one.port}/" in name:
                return name.replace(f"/{one.port}/", f"/{one.port}new/")
        return name


def _part(flow: Flow, share: float) -> Flow:
    return replace(flow, payload=flow.payload * share, packets=flow.packets * share)


def _counts(file: File, flow: Flow) -> bool:
    """Whether traffic of this direction, carrier and reach moves the file."""
    if file.way not in (flow.way, "both") or flow.carrier not in file.counts:
        return False
    still = {"wire": "turned", "turned": "wire"}.get(file.level)
    return flow.reach != still


def _so_far(ramps: Iterable[tuple[float, float, float]], t_s: float) -> float:
    total = 0.0
    for start, end, rise in ramps:
        if t_s >= end:
            total += rise
        elif t_s > start:
            total += rise * (t_s - start) / (end - start)
    return total
