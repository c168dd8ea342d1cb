"""Two witnesses of the same bytes: PSM3's own counters of each NIC, and those of its port."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wireproof.analysis.crossed import Crossed, crossed_at
from wireproof.analysis.relations import port_called
from wireproof.model.finding import Evidence, Port
from wireproof.model.ledger import Direction
from wireproof.model.psm3 import CountedHost, NicCounted
from wireproof.model.quantity import volume
from wireproof.model.traffic import HostTraffic, Traffic
from wireproof.verdict.issue import Issue

__all__ = ["witness_issues"]

_ON_WIRE = 0.98
"""As for the payload of our own points: what a port may lack of it."""
_START_UP_BYTES = 1 << 20
"""What launchers and libraries say beside the messages, over the same port."""
_ENOUGH_BYTES = 2 * _START_UP_BYTES
_FRAMED = 1.10
"""Headers of full packets: RoCE at 1024 bytes adds 8 %, TCP at 1500 bytes 5 % (docs/physics.md)."""
_ANSWERED = 0.10
"""Acknowledgements of what came in, of its bytes: one of 66 bytes for each 1448 is 5 %."""
_PER_PACKET = 200
"""PSM's header of 56 bytes, those below it, and the answer, of a packet that is not full."""


def witness_issues(hosts: Sequence[CountedHost], traffic: Traffic) -> Iterator[Issue]:
    """Findings about each NIC that PSM3 counted bytes at, in both directions."""
    packets = sum(nic.packets for host in hosts for nic in host.nics)
    for host in hosts:
        watched = next((one for one in traffic.hosts if _same(one, host.host)), None)
        for nic in host.nics:
            if nic.sent_bytes or nic.received_bytes:
                yield from _of_nic(host.host, nic, watched, packets)


def _same(watched: HostTraffic, host: str) -> bool:
    """A process knows its host by its short name, or by the full one."""
    return watched.host.partition(".")[0] == host.partition(".")[0] and not watched.error


def _of_nic(
    host: str, nic: NicCounted, watched: HostTraffic | None, packets: int
) -> Iterator[Issue]:
    subject = Port(host, nic=nic.name)
    ledger = watched.ledger if watched is not None else None
    ports = ledger.ports if ledger is not None else {}
    port = port_called((one.nic for one in ports.values()), nic.name)
    name = port.name if port is not None else ""
    if ledger is None or not name:
        why = "the host was not watched" if ledger is None else f"it has no port {nic.name}"
        text = (
            f"PSM3 counted {volume(nic.sent_bytes)} out and {volume(nic.received_bytes)} in; {why}"
        )
        yield Issue("psm-port-unread", "inconclusive", subject, text)
        return
    compared = 0
    for way, here, back in (
        ("tx", nic.sent_bytes, nic.received_bytes),
        ("rx", nic.received_bytes, nic.sent_bytes),
    ):
        direction: Direction = "tx" if way == "tx" else "rx"
        found = _held(subject, direction, here, back, packets, crossed_at(ledger, name, direction))
        compared += found is not None and found.severity == "note"
        if found is not None:
            yield found
    if not compared and max(nic.sent_bytes, nic.received_bytes) < _ENOUGH_BYTES:
        text = f"PSM3 counted {volume(nic.sent_bytes)} out, too little to be held against the port"
        yield Issue("psm-port-unread", "note", subject, text)


def _held(
    port: Port, way: Direction, here: int, back: int, packets: int, crossed: Crossed
) -> Issue | None:
    """One direction; None where PSM3 counted too little."""
    if here < _ENOUGH_BYTES:
        return None
    subject = Port(port.node, way, port.nic)
    if crossed.bytes is None:
        text = f"PSM3 counted {volume(here)}, and the port's counter cannot be read"
        return Issue("psm-port-unread", "inconclusive", subject, text)
    most = _FRAMED * here + _ANSWERED * back + _PER_PACKET * packets + _START_UP_BYTES
    seen: Evidence = {
        "psm_bytes": here,
        "port_bytes": crossed.bytes,
        "most_bytes": most,
        "background_bytes": crossed.background,
    }
    text = f"PSM3 counted {volume(here)} of payload, the port {volume(crossed.bytes)}"
    if crossed.bytes + crossed.background < _ON_WIRE * here:
        if not crossed.complete:
            text += ", and some of it may have passed uncounted"
            return Issue("psm-port-unread", "inconclusive", subject, text, seen)
        return Issue("psm-port-disagrees", "fail", subject, f"{text}: it lacks a part", seen)
    if crossed.bytes > most + crossed.background:
        more = f"{text}: more than headers and answers explain ({volume(most)})"
        return Issue("psm-port-disagrees", "warning", subject, more, seen)
    return Issue("psm-port-agrees", "note", subject, text, seen)
