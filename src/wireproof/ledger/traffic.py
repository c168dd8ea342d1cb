# pure
"""Build the byte ledger of a host from readings of its counters, whatever the origin of the
traffic: for the points of wireproof's runs, and for a watched command with its peak rates and
troubles. Pure.
"""

import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from itertools import chain, pairwise

from wireproof.ledger.changes import (
    RETRANSMITTED,
    TCP_REPEATS,
    MarkedChanges,
    WitnessChanges,
    counter_delta,
    rate_between,
    trouble_counters,
)
from wireproof.ledger.crossed import crossed_at
from wireproof.ledger.ledger import HostPorts
from wireproof.model.record import Host, Idle, Nic, PointRecord, WitnessReading
from wireproof.model.run import Run
from wireproof.model.traffic import (
    Direction,
    DirectionTraffic,
    HostTraffic,
    Ledger,
    PortTraffic,
    Watched,
    WatchStart,
)

_RATE = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?) ?Gb/sec")

_BYTES = re.compile("bytes|octets|_data", re.IGNORECASE)
_SOCKET_DROPS = (
    *("ip/Udp/RcvbufErrors", "ip/Udp/SndbufErrors"),
    *("ip/Ip/InDiscards", "ip/Ip/OutDiscards"),
)
_CHATTER_PER_S = (50, 100_000)
"""Packets and bytes per second of logins and neighbour discovery."""


def speed_of(nic: Nic) -> float | None:
    """Return the line rate that the NIC reports in bits/s: the RDMA port's rate, else the
    interface's speed (drivers report -1 if it is unknown).
    """
    found = _RATE.match(nic.rdma.rate) if nic.rdma and not nic.rdma.in_software else None
    if found and float(found.group(1)) > 0:
        return float(found.group(1)) * 1e9
    return nic.speed_mbps * 1e6 if nic.speed_mbps and nic.speed_mbps > 0 else None


def host_traffic(watched: Watched) -> HostTraffic:
    """Return one host's traffic between ``before`` and ``after``; with ``error`` set if there are
    no readings.
    """
    about, start, before, after = watched.about, watched.start, watched.before, watched.after
    if watched.error or about is None or start is None or before is None or after is None:
        return HostTraffic(host=watched.host, error=watched.error or "there are no readings")
    changes = MarkedChanges(
        start,
        before,
        after,
        watched.peaks,
        watched.settled_s * 1e3,
        watched.fell,
        watched.aside,
    )
    moved = {name for name, count in start.counters.items() if before.counters.get(name) != count}
    ports = HostPorts(watched.host, about.nics, foreign=about.foreign_sysfs, moved=moved)
    ledger = ports.ledger(changes)
    rises = {name: count for name in after.counters if (count := changes.rise(name).count)}
    trouble = _trouble(rises)
    return HostTraffic(
        host=watched.host,
        machine=_machine(about),
        seconds=changes.interval_ns / 1e9,
        ports=[_port(ledger, name) for name in ledger.ports],
        tcp_segments=changes.rise("ip/Tcp/OutSegs").count,
        retransmits=trouble["retransmits"],
        drops=trouble["drops"],
        pauses=trouble.get("pauses", {}),
        gap_s=watched.gap_s,
        ledger=ledger,
    )


def goes_on(watched: Watched) -> bool:
    """Return whether a counter moved after the command but not in each part of the time before it.
    The counter is late, or another flow continues: only another reading shows which.
    """
    start, before, after = watched.start, watched.before, watched.after
    if not (start and before and after and watched.aside):
        return False
    idle = [start, *(one for one in watched.aside if start.t_ns < one.t_ns < before.t_ns), before]
    return any(
        rate_between(name, watched.aside[-1], after)
        > 2 * min(rate_between(name, *part) for part in pairwise(idle))
        + _CHATTER_PER_S[bool(_BYTES.search(name))]
        for name in after.counters
    )


def _machine(about: WatchStart) -> str:
    return f"{about.boot_id}/{about.netns}" if about.boot_id and about.netns else ""


def _trouble(rises: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Return the trouble counters of the ports that rose, with those of TCP and of sockets."""
    apart = ("ip/", "net/lo/")
    found = trouble_counters({name: n for name, n in rises.items() if not name.startswith(apart)})
    repeats = TCP_REPEATS if rises.get(RETRANSMITTED) else ()
    retransmits = {**_named(rises, repeats), **found.get("retransmits", {})}
    drops = {**_named(rises, _SOCKET_DROPS), **found.get("drops", {})}
    return {**found, "retransmits": retransmits, "drops": drops}


def _named(rises: Mapping[str, int], names: Iterable[str]) -> dict[str, int]:
    return {name: rises[name] for name in names if rises.get(name, 0) > 0}


def _port(ledger: Ledger, name: str) -> PortTraffic:
    """Summarise one port for display."""
    nic = ledger.ports[name].nic
    return PortTraffic(
        nic=nic.name,
        kind=nic.kind,
        driver=nic.driver or (nic.rdma.driver if nic.rdma else ""),
        rdma=f"{nic.rdma.device}:{nic.rdma.port}" if nic.rdma else "",
        stacked=bool(nic.lower),
        speed_bits_per_s=speed_of(nic),
        tx=_direction(ledger, name, "tx"),
        rx=_direction(ledger, name, "rx"),
    )


def _direction(ledger: Ledger, name: str, direction: Direction) -> DirectionTraffic:
    seen = crossed_at(ledger, name, direction)
    trouble = seen.remark if seen.bytes is None or not seen.complete else ""
    if not ledger.ports[name].known:
        trouble = "the adapter is not in the catalogue"
    return DirectionTraffic(
        bytes=seen.bytes,
        background=seen.background,
        peak_bytes_per_s=seen.peak_bytes_per_s,
        counters=list(seen.counters),
        trouble=trouble,
    )


def not_watched(named: Iterable[str], watched: Iterable[Watched]) -> list[str]:
    """Return hosts in a program's output that are not the host, hostname or address of any
    watch.
    """
    known = {"localhost", "127.0.0.1", "::1", ""}
    for one in watched:
        about = one.about
        known |= {
            one.host,
            *(
                ()
                if about is None
                else (about.hostname, *chain.from_iterable(nic.address for nic in about.nics))
            ),
        }
    short = {name.split(".")[0] for name in known if not name.replace(".", "").isdigit()}
    return sorted({name for name in named if name not in known and not _is_alias(name, short)})


def _is_alias(name: str, short: set[str]) -> bool:
    """Return True for names such as ``n1.cluster`` and ``n1-ib0``, which commonly mean n1."""
    return any(one and (name == one or name.startswith((f"{one}.", f"{one}-"))) for one in short)


# --- The readings of wireproof's engine: every participating network namespace, for one point.

Ports = Mapping[int, HostPorts]
"""Ports by rank."""


def ports_of(
    hosts: Mapping[int, Host],
    foreign: Mapping[int, bool] | None = None,
    moved: Mapping[int, AbstractSet[str]] | None = None,
) -> dict[int, HostPorts]:
    """Return the ports of every rank's host, with their counters.

    ``foreign``: ranks whose /sys shows another namespace. ``moved``: counters that moved during the
    run.
    """
    known, alive = foreign or {}, moved or {}
    return {
        rank: HostPorts(
            host.host or host.hostname,
            host.nics,
            foreign=known.get(rank, False),
            moved=alive.get(rank),
        )
        for rank, host in hosts.items()
    }


def moved_in(run: Run) -> dict[int, set[str]]:
    """Return the counters that moved between the idle reading before the run and its end, by reader
    rank.

    Ranks without readings of the whole run are left out.
    """
    found = {
        total.rank: {name for name, (first, last) in total.counters.items() if first != last}
        for total in run.totals
    }
    for idle in run.idle:
        if idle.rank in found:
            found[idle.rank].update(name for name, count in idle.counters.items() if count)
    return found


def readers(point: PointRecord, hosts: Mapping[int, Host]) -> dict[int, int]:
    """Return rank -> rank whose reading covers it: itself or one that shares its network
    namespace.
    """
    own = {reading.rank for reading in point.witness if reading.shared_with is None}
    found = {rank: rank for rank in own}
    for reading in point.witness:
        if reading.shared_with in own:
            found[reading.rank] = int(reading.shared_with)
    reader_of = {_namespace(hosts[rank]): rank for rank in sorted(own & hosts.keys(), reverse=True)}
    for rank, host in hosts.items():
        if host.boot_id and host.netns and _namespace(host) in reader_of:
            found.setdefault(rank, reader_of[_namespace(host)])
    return found


def _namespace(host: Host) -> tuple[str, int]:
    return host.boot_id, host.netns


def watch(point: PointRecord, ports: Ports, idle: Mapping[int, Idle]) -> dict[int, Ledger]:
    """Return the ledger by reader rank.

    ``idle``, also by reader rank, contains the rate of other traffic.
    """
    return {
        reading.rank: ports[reading.rank].ledger(WitnessChanges(reading, idle.get(reading.rank)))
        for reading in point.witness
        if reading.shared_with is None and reading.rank in ports
    }


def rises(reading: WitnessReading) -> dict[str, int]:
    """Return the known raw counter differences; background is not subtracted."""
    found = {name: counter_delta(*pair)[0] for name, pair in reading.counters.items()}
    return {name: count for name, count in found.items() if count is not None}
