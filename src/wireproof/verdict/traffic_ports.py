"""The ports of every watched host, sorted into the claimed, the others and loopback, and what each kind carried."""

from __future__ import annotations

import dataclasses
from typing import Literal

from wireproof.model.claim import Claim
from wireproof.model.traffic import HostTraffic, PortTraffic, Traffic

__all__ = ["Carried", "Ports"]

Kind = Literal["claimed", "other", "loopback"]


@dataclasses.dataclass(frozen=True)
class Carried:
    """Bytes in the busier direction over one kind of port; ``unsure``: the background that was subtracted."""

    bytes: float
    unsure: float
    peak: float
    trouble: str
    names: tuple[str, ...]

    def at_least(self, wanted: float) -> bool:
        return self.bytes - self.unsure >= wanted

    def below(self, wanted: float) -> bool:
        return self.bytes + self.unsure < wanted


class Ports:
    """The ports of every watched host, sorted into claimed, other and loopback."""

    def __init__(self, traffic: Traffic, claim: Claim) -> None:
        self.hosts = _distinct([host for host in traffic.hosts if not host.error])
        self._nics = {one.host: one.nic for one in claim.hosts}
        anywhere = {one.nic for one in claim.hosts if one.nic}
        self._common = anywhere.pop() if len(anywhere) == 1 else ""
        self.named = bool(self._common or any(self._nics.values()))

    def claimed_name(self, host: HostTraffic) -> str:
        return self._nics.get(host.host) or self._common

    def missing(self) -> tuple[HostTraffic, str] | None:
        """A host that has no port of the claimed name."""
        for host in self.hosts:
            name = self.claimed_name(host)
            if name and not any(_is_called(port, name) for port in host.ports):
                return host, name
        return None

    def of(self, host: HostTraffic, kind: Kind) -> list[PortTraffic]:
        name = self.claimed_name(host)
        found = []
        for port in host.ports:
            if port.kind == "loopback":
                mine: Kind = "loopback"
            elif name:
                mine = "claimed" if _is_called(port, name) else "other"
            else:
                # Beside a real port a virtual one leads to a container or a guest of the same host.
                mine = "other" if port.kind == "virtual" and _has_real_port(host) else "claimed"
            # What a bond or bridge carries its members carry too; only a claimed one is looked at itself.
            if mine == kind and not (port.stacked and not (name and mine == "claimed")):
                found.append(port)
        stacked = any(port.stacked and name and _is_called(port, name) for port in host.ports)
        return [] if kind == "other" and stacked else found

    def carried(self, kind: Kind) -> Carried:
        """The busiest sender and the busiest receiver must both have seen it; alone, one end speaks for both."""
        ends = [self._end(host, kind) for host in self.hosts]
        sent = max((end[0] for end in ends), key=lambda one: one.bytes, default=NOTHING)
        received = max((end[1] for end in ends), key=lambda one: one.bytes, default=NOTHING)
        pick = min if len(self.hosts) > 1 and kind != "loopback" else max
        chosen = pick(sent, received, key=lambda one: one.bytes)
        trouble = next((way.trouble for end in ends for way in end if way.trouble), "")
        peak = max((way.peak for end in ends for way in end), default=0.0)
        names = tuple(dict.fromkeys(name for end in ends for way in end for name in way.names))
        return Carried(chosen.bytes, chosen.unsure, peak, trouble, names)

    def _end(self, host: HostTraffic, kind: Kind) -> tuple[Carried, Carried]:
        ports = self.of(host, kind)
        return _sum(ports, "tx"), _sum(ports, "rx")


def _distinct(hosts: list[HostTraffic]) -> list[HostTraffic]:
    """Each machine once: its ports under a second name are no second end."""
    found: dict[str, HostTraffic] = {}
    for host in hosts:
        found.setdefault(host.machine or f"name {host.host}", host)
    return list(found.values())


NOTHING = Carried(0.0, 0.0, 0.0, "", ())


def _has_real_port(host: HostTraffic) -> bool:
    return any(port.kind in ("ethernet", "infiniband") and not port.stacked for port in host.ports)


def _is_called(port: PortTraffic, name: str) -> bool:
    return name in (port.nic, port.rdma, port.rdma.partition(":")[0] or port.nic)


def _sum(ports: list[PortTraffic], way: Literal["tx", "rx"]) -> Carried:
    ways = [(port, port.tx if way == "tx" else port.rx) for port in ports]
    return Carried(
        sum(one.bytes or 0.0 for _, one in ways),
        sum(one.background for _, one in ways),
        sum(one.peak_bytes_per_s or 0.0 for _, one in ways),
        next((one.trouble for port, one in ways if one.trouble and _matters(port)), ""),
        tuple(port.nic for port, one in ways if one.bytes),
    )


def _matters(port: PortTraffic) -> bool:
    return port.kind != "loopback"
