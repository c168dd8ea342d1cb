"""Build the byte ledger of every participating network namespace for one point."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from wireproof.analysis.changes import WitnessChanges, counter_delta
from wireproof.analysis.ledger import HostPorts
from wireproof.model.ledger import Ledger
from wireproof.model.record import Host, Idle, PointRecord, WitnessReading
from wireproof.model.run import Run

Ports = Mapping[int, HostPorts]
"""Ports by rank."""


def ports_of(
    hosts: Mapping[int, Host],
    foreign: Mapping[int, bool] | None = None,
    moved: Mapping[int, AbstractSet[str]] | None = None,
) -> dict[int, HostPorts]:
    """Return the ports of every rank's host, ready to be read.

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

    Ranks whose whole run was not read are left out.
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

    ``idle``, also by reader rank, gives the rate of other traffic.
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
