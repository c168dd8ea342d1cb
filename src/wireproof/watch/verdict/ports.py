# pure
"""Add up the traffic of the claimed port, the other ports and loopback of every watched host.
Pure."""

import dataclasses
import math

from wireproof.ledger.crossed import (
    Crossed,
    claimed_at,
    crossed_at,
    everywhere,
    inside,
    others_than,
)
from wireproof.ledger.functions import is_real, shows_presence
from wireproof.ledger.places import may_lead_out
from wireproof.ledger.relations import ledger_with_rails, port_called, rail_nics
from wireproof.model.claim import Claim, joined, rails_of
from wireproof.model.traffic import (
    DIRECTIONS,
    Direction,
    HostTraffic,
    Ledger,
    PortLedger,
    Traffic,
)
from wireproof.verdict.path import (
    Identity,
    adapters_of,
    apart,
    busiest,
    kernel_of,
    looped,
    refresh_ms,
    restarted,
    sharing,
    uncounted,
    unplaced,
)
from wireproof.watch.verdict.carried import (
    HARDLY,
    NOTHING,
    START_UP_BYTES,
    Carried,
    Key,
    Kind,
    bytes_of,
    most_of,
    peak_of,
    summed,
    total,
)


class WatchedPorts:
    """The ports of every watched host: the claimed port, the others and loopback.

    ``both_ways``: the command sends as much in each direction, so only bytes that a port carried in
    both directions can be the command's. ``pairs``: the number of hosts that may share its bytes;
    the ends of more than two hosts are added up.
    """

    def __init__(
        self, traffic: Traffic, claim: Claim, *, both_ways: bool = False, pairs: int = 1
    ) -> None:
        read = [host for host in traffic.hosts if host.ledger is not None]
        # each machine once: its ports under a second name are not a second end
        machines = sharing((_itself(host), host) for host in read)
        self.hosts = [mates[0] for mates in machines]
        self.both_ways, self._virtual = both_ways, claim.virtual
        self._idle_s = traffic.idle_s
        self.pairs, self.shared = pairs, pairs > 1 and len(self.hosts) > 2
        self._nics = {host.host: host.nic for host in claim.hosts}
        anywhere = {host.nic for host in claim.hosts if host.nic}
        self._common = anywhere.pop() if len(anywhere) == 1 else ""
        self._ledgers = {
            host.host: ledger_with_rails(host.ledger, self._claim(host))
            for host in self.hosts
            if host.ledger is not None
        }

    def ledger(self, host: HostTraffic) -> Ledger:
        """Return the ledger of a host."""
        return self._ledgers[host.host]

    def _claim(self, host: HostTraffic) -> str:
        return self._nics.get(host.host) or self._common

    def claimed_name(self, host: HostTraffic) -> str:
        """Return the claimed port by its name on the host, or as claimed if the host has no such
        port; "" without a claim.
        """
        name = self._claim(host)
        port = port_called((ledger.nic for ledger in self.ledger(host).ports.values()), name)
        return port.name if port is not None else name

    def missing(self) -> tuple[HostTraffic, str] | None:
        """Return a host that lacks a port with a claimed name, and the missing names."""
        for host in self.hosts:
            name = self.claimed_name(host)
            if name and name not in self.ledger(host).ports:
                there = [port.nic for port in self.ledger(host).ports.values()]
                lacking = [rail for rail in rails_of(name) if not rail_nics(there, rail)]
                return host, joined(lacking) or name
        return None

    def unknown(self) -> tuple[HostTraffic, PortLedger] | None:
        """Return a claimed port whose adapter is not in the catalogue and may do RDMA.

        Without a claim, return a host that has no other port.
        """
        for host in self.hosts:
            ports = self.ledger(host).ports
            name = self.claimed_name(host)
            if name and not shows_presence(ports[name]):
                return host, ports[name]
            real = [port for port in ports.values() if is_real(port)]
            if not name and real and not any(map(shows_presence, real)):
                return host, real[0]
        return None

    def dark(self) -> str:
        """Return the name of a port other than the claimed one that may carry uncounted bytes, or
        "".
        """
        for host in self.hosts:
            ledger, name = self.ledger(host), self.claimed_name(host)
            for way in DIRECTIONS:
                around = others_than(ledger, name, way) if name else everywhere(ledger, way)
                if uncounted_port := uncounted(ledger, around):
                    return f"{uncounted_port} of {host.host}"
        return ""

    def unplaced(self, least: float) -> str:
        """Return a port with at least ``least`` bytes that may be stacked on an unknown port, or ""
        if there is none.
        """
        for host in self.hosts:
            ledger = self.ledger(host)
            for way in DIRECTIONS:
                seen = {port: crossed_at(ledger, port, way).bytes or 0.0 for port in ledger.ports}
                if hidden := unplaced(ledger, seen, least):
                    return f"{hidden} of {host.host}"
        return ""

    def carried(self, kind: Kind) -> Carried:
        """Return the traffic of ports of one kind: the busiest sender and receiver must both have
        counted it. If only one end was read, it counts for both. With ``both_ways``, each of two
        hosts counts in its quieter direction. If pairs share the bytes, all senders and all
        receivers count together.
        """
        ends = [(self._end(host, kind, "tx"), self._end(host, kind, "rx")) for host in self.hosts]
        return self._of_ends(kind, ends)

    def _of_ends(self, kind: Kind, ends: list[tuple[Carried, Carried]]) -> Carried:
        both = [end for pair in ends for end in pair]
        alone = len(self.hosts) < 2 or kind == "loopback"
        if self.both_ways and kind != "loopback":
            counted = self._quieter(ends)[: 1 if alone else 2] or [NOTHING]
            chosen, most = counted[-1], self._quieter(ends, most_of)[: 1 if alone else 2][-1:]
        else:
            counted, chosen = both, self._poorer(ends, bytes_of, alone=alone)
            if kind == "other" and not alone and not self.shared:
                chosen = _across(ends)  # others may send and receive as much on one host
            most = [self._poorer(ends, most_of, alone=alone)]
        return dataclasses.replace(
            chosen,
            most=max([most_of(chosen), *map(most_of, most)]),
            peak=peak_of(counted, 0.0 if chosen.together else chosen.bytes),
            trouble=next((end.trouble for end in both if end.trouble), self.restarted()),
            names=_names(both),
        )

    def restarted(self) -> str:
        """Return a remark if a claimed port restarted; else ""."""
        again = any(restarted(self.ledger(host), self.claimed_name(host)) for host in self.hosts)
        return "the port was reset or renamed, or its link went down" if again else ""

    def _poorer(self, ends: list[tuple[Carried, Carried]], by: Key, *, alone: bool) -> Carried:
        """Return senders or receivers, whichever counted less; the busier end if both are on one
        host.
        """
        if alone:
            return max(self._busiest(ends, by), key=by)
        return min((self._together if self.shared else self._busiest)(ends, by), key=by)

    def _quieter(self, ends: list[tuple[Carried, Carried]], by: Key = bytes_of) -> list[Carried]:
        """Return the quieter direction of each host, the busiest host first."""
        return sorted((min(pair, key=by) for pair in ends), key=by, reverse=True)

    def _busiest(
        self, ends: list[tuple[Carried, Carried]], by: Key = bytes_of
    ) -> tuple[Carried, Carried]:
        """Return the busiest sender and the busiest receiver."""
        sent = max((end for end, _ in ends), key=by, default=NOTHING)
        return sent, max((end for _, end in ends), key=by, default=NOTHING)

    def _together(
        self, ends: list[tuple[Carried, Carried]], by: Key = bytes_of
    ) -> tuple[Carried, Carried]:
        """Return all senders and all receivers, each added up."""
        sent, received = (summed([pair[way] for pair in ends], by) for way in (0, 1))
        return sent, received

    def sent_and_received(self, kind: Kind) -> tuple[Carried, Carried]:
        """Return the busiest sender and the busiest receiver, each separately."""
        return self._busiest(
            [(self._end(host, kind, "tx"), self._end(host, kind, "rx")) for host in self.hosts]
        )

    def busiest(self, host: HostTraffic) -> tuple[str, Crossed | None]:
        """Return a host's claimed port, or its busiest egress port, in the busier direction."""
        return busiest(self.ledger(host), DIRECTIONS, self.claimed_name(host))

    def own_peak(self, carried: Carried) -> float:
        """Return a peak (bytes/s) less the steady background before the command."""
        seconds = max((host.seconds for host in self.hosts), default=0.0)
        return max(0.0, carried.rate - (carried.unsure / seconds if seconds else 0.0))

    def refresh_s(self) -> float:
        """Return how late the byte counters of the claimed ports may be; of the busiest egress
        ports if there is no claim.
        """
        ends = [(self.ledger(host), self.busiest(host)[0]) for host in self.hosts]
        return max((refresh_ms(*end) for end in ends if end[1] in end[0].ports), default=0.0) / 1e3

    def late_share(self) -> float:
        """Return the largest share of the background that one more refresh may add."""
        refresh_s = self.refresh_s()
        return refresh_s / (refresh_s + self._idle_s) if refresh_s else 0.0

    def places(self) -> list[list[HostTraffic]]:
        """Group hosts that reach each other without a wire.

        They share a kernel, regardless of their network namespaces (namespaces of a virtual lab
        count as separate hosts), or use functions of one adapter.
        """
        return sharing((self.adapters(host) | self._kernel(host), host) for host in self.hosts)

    def _kernel(self, host: HostTraffic) -> set[Identity]:
        """Return the identities of its kernel; a clone of a running machine keeps the identity of
        the original. A container beside clones may run on either of them, so it shares the identity
        of both.
        """
        mates = [one.machine for one in self.hosts if _boot_id(one) == _boot_id(host)]
        cloned = len(mates) > 1 == len(set(mates))
        return set() if self._virtual or cloned else kernel_of(_boot_id(host))

    def mates(self) -> dict[str, str]:
        """Return the host names of each place that has several hosts, with a code of ``PLACES``."""
        codes = {}
        for mates in (mates for mates in self.places() if len(mates) > 1):
            alone = sharing((self._kernel(mate), mate) for mate in mates)
            codes[", ".join(host.host for host in mates)] = (
                "traffic-one-adapter" if len(alone) == len(mates) else "traffic-one-kernel"
            )
        return codes

    def adapters(self, host: HostTraffic) -> set[Identity]:
        """Return the adapter identities behind the claimed port or the busiest egress port."""
        nics = [port.nic for port in self.ledger(host).ports.values()]
        return adapters_of(nics, self.busiest(host)[0])

    def left(self) -> Carried:
        """Return the bytes that the claimed ports of a place certainly exchanged with other
        places."""
        ends = [(self._left(mates, "tx"), self._left(mates, "rx")) for mates in self.places()]
        if self.both_ways or len(ends) < 2:
            return self._of_ends("claimed", ends)
        return _across(ends)

    def answered(self) -> tuple[str, float]:
        """Return (host whose claimed port has the most traffic, bytes beyond the background of all
        others in one direction). For several hosts.
        """

        def busiest(host: HostTraffic) -> float:
            return max(self._end(host, "claimed", way).bytes for way in DIRECTIONS)

        host = max(self.hosts, key=busiest)
        others = [other for other in self.hosts if other is not host]
        return host.host, max(self._moved(others, way) for way in DIRECTIONS)

    def _left(self, mates: list[HostTraffic], direction: Direction) -> Carried:
        """Return the bytes that ``mates`` cannot have sent each other: those beyond the total of
        the other mates. Bytes that a host elsewhere received may belong to another job.
        """
        ends = {host.host: self._end(host, "claimed", direction) for host in mates}
        if len(mates) == 1:
            return ends[mates[0].host]
        back: Direction = "rx" if direction == "tx" else "tx"
        beyond = 0.0
        for host in mates:
            others = [mate for mate in mates if mate is not host]
            beyond += max(0.0, ends[host.host].bytes - self._moved(others, back))
        most = sum(map(most_of, ends.values()))
        return dataclasses.replace(max(ends.values(), key=bytes_of), bytes=beyond, most=most)

    def _moved(self, hosts: list[HostTraffic], direction: Direction) -> float:
        """Return the bytes that these hosts moved beyond their background; infinite if a port is in
        doubt.
        """
        kinds: tuple[Kind, Kind] = ("claimed", "other")
        ends = [self._end(host, kind, direction) for host in hosts for kind in kinds]
        return math.inf if any(end.trouble for end in ends) else sum(map(bytes_of, ends))

    def _end(self, host: HostTraffic, kind: Kind, direction: Direction) -> Carried:
        ledger, name = self.ledger(host), self.claimed_name(host)
        if kind == "loopback":
            return total(looped(ledger, direction))
        if kind == "claimed":
            return total(
                {name: claimed_at(ledger, name, direction)}
                if name
                else self._ways_out(ledger, direction)
            )
        if not name:
            return total(inside(ledger, direction))
        return total(others_than(ledger, name, direction))

    def _ways_out(self, ledger: Ledger, direction: Direction) -> dict[str, Crossed]:
        """Return the traffic of each egress port. A virtual port beside real ports leads out of a
        container or into one: only a second machine at its other end shows which.
        """
        ways = apart(ledger, everywhere(ledger, direction))
        if not any(port.known for port in ledger.ports.values() if is_real(port)):
            ways = {name: dataclasses.replace(seen, complete=False) for name, seen in ways.items()}
        machines = set(map(_boot_id, self.hosts))
        if "" not in machines and len(machines) > 1:
            return ways
        inside = [name for name in ways if may_lead_out(ledger.ports[name])]
        real = len(inside) < len(ways)
        unclear = [name for name in inside if real and (ways[name].bytes or 0.0) > START_UP_BYTES]
        remark = "the other end of {} may be on this machine"
        return ways | {name: Crossed(None, remark=remark.format(name)) for name in unclear}


def _across(ends: list[tuple[Carried, Carried]]) -> Carried:
    """Return the traffic of the busiest way from one host to another: the poorer of its ends."""
    senders = sorted(ends, key=lambda end: end[0].bytes)[-2:]
    receivers = sorted(ends, key=lambda end: end[1].bytes)[-2:]
    pairs = ((a[0], b[1]) for a in senders for b in receivers if a is not b)
    return max((min(pair, key=bytes_of) for pair in pairs), key=bytes_of)


def _names(ends: list[Carried]) -> tuple[str, ...]:
    """Return the ports that carried a relevant share at any end."""
    least = HARDLY * max((end.bytes for end in ends), default=0.0)
    return tuple(dict.fromkeys(name for end in ends if end.bytes > least for name in end.names))


_OUTWARD = ("", "bond", "team", "vlan", "macvlan", "ipvlan", "ipoib")
"""Kinds of interfaces whose addresses differ between machines; a container bridge has the same
everywhere.
"""


def _itself(host: HostTraffic) -> set[Identity]:
    """Return the identities that two names of one machine share; a clone has other addresses."""
    ports = host.ledger.ports.values() if host.ledger else ()
    nics = [port.nic for port in ports if port.nic.kind != "loopback"]
    addresses = {one for nic in nics if nic.link_kind in _OUTWARD for one in nic.address} or {""}
    name = host.machine or f"name {host.host}"
    return {("machine", f"{name} {address}") for address in addresses}


def _boot_id(host: HostTraffic) -> str:
    return host.machine.partition("/")[0]
