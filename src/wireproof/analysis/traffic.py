"""From raw readings of one host to bytes per port and direction, peak rates and troubles, whoever made the traffic.

The witness of our own measurements knows which protocol carries the bytes and takes one counter. Here a NIC may carry
sockets and RDMA at once: what does not show in one counter is added from the other, what shows in both is counted once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from wireproof.analysis.counters import SOFT_RDMA, Direction, Source, every_source, is_stacked, trouble_counters
from wireproof.analysis.witness import counter_delta
from wireproof.model.record import Nic, Rdma
from wireproof.model.traffic import HostTraffic, Mark, PortTraffic, Watched, Way

__all__ = ["carriers", "host_traffic", "not_watched", "speed_of"]

_RATE = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?) ?Gb/sec")
_DARK = ("cxi", "enic")
"""Drivers whose RDMA shows in none of the counters that are read (Slingshot's telemetry, usNIC)."""
_RDMA_DATA = re.compile(r"ib/([^/]{1,64})/([0-9]{1,3})/(counters/port_xmit_data|hw_counters/tx_bytes)")


def carriers(nic: Nic, direction: Direction, there: Callable[[Source], bool]) -> list[list[Source]]:
    """Groups of counters to add up; in each group the first that is ``there`` is to be taken.

    InfiniBand and Omni-Path ports count IPoIB too: the port counter alone. A RoCE NIC's ``_phy`` counter has all that
    passed the port; else its sockets (netdev) and its RDMA (port or hardware counters) are two parts of the whole.
    """
    netdev, *rdma = every_source(nic, direction)
    if nic.rdma is None or not rdma or nic.rdma.device.startswith(SOFT_RDMA):
        return [[netdev]]
    if not _is_ethernet(nic):
        return [[*rdma, netdev]]
    phy = [source for source in rdma if source.names[0].endswith("_bytes_phy")]
    if phy and there(phy[0]):
        return [phy]
    return [[netdev], [source for source in rdma if source not in phy]]


def _is_ethernet(nic: Nic) -> bool:
    layer = nic.rdma.link_layer.lower() if nic.rdma else ""
    return layer == "ethernet" or (not layer and nic.kind == "ethernet")


def speed_of(nic: Nic) -> float | None:
    """Line rate that the NIC itself claims, bits/s: the RDMA port's words, else the interface's speed."""
    found = _RATE.match(nic.rdma.rate) if nic.rdma else None
    if found and float(found.group(1)) > 0:
        return float(found.group(1)) * 1e9
    return nic.speed_mbps * 1e6 if nic.speed_mbps else None


def host_traffic(watched: Watched) -> HostTraffic:
    """What one host's readings say about the time between ``before`` and ``after``; ``error`` when they say nothing."""
    about, start, before, after = watched.about, watched.start, watched.before, watched.after
    if watched.error or about is None or start is None or before is None or after is None:
        return HostTraffic(host=watched.host, error=watched.error or "there are no readings")
    look = _Look(start, before, after, watched.peaks, foreign=about.foreign_sysfs)
    nics = [*about.nics, *_ports_without_interface(about.nics, after.counters)]
    rises = {name: rise for name, rise in look.rises() if not name.startswith("net/lo/")}
    trouble = trouble_counters({name: rise for name, rise in rises.items() if not name.startswith("ip/")})
    return HostTraffic(
        host=watched.host,
        machine=f"{about.boot_id}/{about.netns}" if about.boot_id and about.netns else "",
        seconds=look.seconds,
        ports=[look.port(nic) for nic in nics],
        tcp_segments=look.rise("ip/Tcp/OutSegs"),
        retransmits={**_named(rises, "ip/Tcp/RetransSegs"), **trouble.get("retransmits", {})},
        drops={**_dropped_by_sockets(rises), **trouble.get("drops", {})},
        pauses=trouble.get("pauses", {}),
    )


def _named(rises: Mapping[str, int], *names: str) -> dict[str, int]:
    return {name: rises[name] for name in names if rises.get(name, 0) > 0}


def _dropped_by_sockets(rises: Mapping[str, int]) -> dict[str, int]:
    return _named(rises, "ip/Udp/RcvbufErrors", "ip/Udp/SndbufErrors", "ip/Ip/InDiscards", "ip/Ip/OutDiscards")


def _ports_without_interface(nics: list[Nic], counters: Mapping[str, int]) -> Iterator[Nic]:
    """RDMA ports that no network interface belongs to (EFA, InfiniBand without IPoIB).

    A device that has counters, but none of bytes, is a port that cannot be read: what it carries is unknown.
    """
    known = {nic.rdma.device: {nic.rdma.port} for nic in nics if nic.rdma}
    for name in sorted(counters):
        found = _RDMA_DATA.fullmatch(name)
        if found is None or int(found.group(2)) in known.get(found.group(1), ()):
            continue
        known.setdefault(found.group(1), set()).add(int(found.group(2)))
        yield _bare(found.group(1), int(found.group(2)), "efa" if found.group(3).startswith("hw_") else "")
    devices = {name.split("/")[1] for name in counters if name.startswith("ib/") and name.count("/") > 2}
    for device in sorted(devices - known.keys()):
        if not device.startswith(SOFT_RDMA):
            yield _bare(device, 1, "")


def _bare(device: str, port: int, driver: str) -> Nic:
    rdma = Rdma(device=device, port=port, link_layer="InfiniBand")
    return Nic(name=f"{device}:{port}", driver=driver, kind="infiniband", rdma=rdma)


class _Look:
    """The three marks of one host with what is asked of them."""

    def __init__(self, start: Mark, before: Mark, after: Mark, peaks: Mapping[str, float], *, foreign: bool) -> None:
        self._foreign = foreign
        self._before, self._after, self._start, self._peaks = before, after, start, peaks
        self.seconds = (after.t_ns - before.t_ns) / 1e9
        idle = (before.t_ns - start.t_ns) / 1e9
        self._scale = self.seconds / idle if idle > 0 else 0.0

    def rise(self, name: str) -> int | None:
        """How much a counter rose while the command ran; None when it is not known at both ends."""
        if name not in self._before.counters or name not in self._after.counters:
            return None
        return counter_delta(self._before.counters[name], self._after.counters[name])[0]

    def rises(self) -> Iterator[tuple[str, int]]:
        for name in self._after.counters:
            rise = self.rise(name)
            if rise:
                yield name, rise

    def port(self, nic: Nic) -> PortTraffic:
        return PortTraffic(
            nic=nic.name,
            kind=nic.kind,
            driver=nic.driver,
            rdma=f"{nic.rdma.device}:{nic.rdma.port}" if nic.rdma else "",
            stacked=is_stacked(nic),
            speed_bits_per_s=speed_of(nic),
            tx=self._way(nic, "tx"),
            rx=self._way(nic, "rx"),
        )

    def _way(self, nic: Nic, direction: Direction) -> Way:
        groups = carriers(nic, direction, self._there)
        way = self._added([self._part(group) for group in groups])
        if nic.kind != "loopback" and not way.trouble and (self._foreign or nic.driver.startswith(_DARK)):
            # Sockets are counted; RDMA through the same port would not be.
            way = msgspec.structs.replace(way, trouble="foreign /sys" if self._foreign else "RDMA unread")
        if all(name.startswith("ethtool/") for name in way.counters):
            # The driver's statistics are too costly to be read many times a second: the peak is that of their parts.
            parts = carriers(nic, direction, lambda source: False)
            way = msgspec.structs.replace(
                way, peak_bytes_per_s=self._added([self._part(group) for group in parts]).peak_bytes_per_s
            )
        return way

    def _added(self, parts: list[Way]) -> Way:
        known = [part for part in parts if part.bytes is not None]
        if not known:
            return parts[0]
        peaks = [part.peak_bytes_per_s for part in known if part.peak_bytes_per_s]
        return Way(
            bytes=sum(part.bytes for part in known if part.bytes is not None),
            background=sum(part.background for part in known),
            peak_bytes_per_s=sum(peaks),
            counters=[name for part in known for name in part.counters],
            # A part that cannot be read, or that moved in a unit that nobody knows, is missing in the sum.
            trouble=next((part.trouble for part in parts if part.trouble), ""),
        )

    def _there(self, source: Source) -> bool:
        return all(name in self._after.counters for name in source.names)

    def _part(self, group: list[Source]) -> Way:
        """One group: the first source whose counters are there."""
        for source in group:
            if self._there(source):
                return self._source(source)
        return Way(bytes=None, counters=list(group[0].names), trouble="unreadable")

    def _source(self, source: Source) -> Way:
        rose = 0
        for name in source.names:
            before = self._before.counters.get(name)
            rise, remark = (None, "new") if before is None else counter_delta(before, self._after.counters[name])
            if rise is None:
                return Way(bytes=None, counters=list(source.names), trouble=remark)
            rose += rise
        if source.unit is None:
            return Way(bytes=0.0 if rose == 0 else None, counters=list(source.names), trouble="unit" if rose else "")
        quiet = sum(self._idle(name) for name in source.names) * self._scale * source.unit
        peaks = [self._peaks.get(name, 0.0) for name in source.names]
        return Way(
            bytes=max(0.0, rose * source.unit - quiet),
            background=quiet,
            peak_bytes_per_s=sum(peaks) * source.unit,
            counters=list(source.names),
        )

    def _idle(self, name: str) -> int:
        first, second = self._start.counters.get(name), self._before.counters.get(name)
        if first is None or second is None:
            return 0
        return counter_delta(first, second)[0] or 0


def not_watched(named: Iterable[str], watched: Iterable[Watched]) -> list[str]:
    """Hosts that a program's output names and that no watch has as its host, its own name or an address of it."""
    known = {"localhost", "127.0.0.1", "::1", ""}
    for one in watched:
        about = one.about
        known |= {one.host, *(() if about is None else (about.hostname, *_addresses(about.nics)))}
    short = {name.split(".")[0] for name in known if not name.replace(".", "").isdigit()}
    return sorted({name for name in named if name not in known and not _is_alias(name, short)})


def _addresses(nics: Iterable[Nic]) -> Iterator[str]:
    for nic in nics:
        yield from nic.address


def _is_alias(name: str, short: set[str]) -> bool:
    """``n1.cluster`` and ``n1-ib0`` are n1, as sites name their interfaces."""
    return any(one and (name == one or name.startswith((f"{one}.", f"{one}-"))) for one in short)
