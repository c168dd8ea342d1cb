# pure
"""Find the path of the messages from the counts of shared memory, of the process itself and of
NICs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

from wireproof.ledger.crossed import Crossed, crossed_at
from wireproof.ledger.relations import port_called
from wireproof.logs.psm3.counters import by_host
from wireproof.logs.psm3.counters import counted as counted_in
from wireproof.model.finding import Evidence, Node, Port, Proof, Severity, Subject, Whole
from wireproof.model.psm3 import Counted, CountedHost, NicCounted, Statistics
from wireproof.model.quantity import counted, first_few, percent, volume
from wireproof.model.traffic import Direction, HostTraffic, Traffic
from wireproof.verdict.issue import Issue

# --- Losses and retransmissions, waits for credits, and counters that must never rise.

SUSPICIOUS = 1e-6
BROKEN = 1e-4
"""Shares of the packets sent. A lossless fabric loses none; above the first value the loss needs
attention, above the second the fabric is not lossless. After each loss, the sender repeats up to
all packets in flight (128 by default) or waits PSM3_ERRCHK_TIMEOUT (160 ms). The values are
wireproof's choice.
"""
STALLED = 0.10
_SURE = 1.645
_NEVER = ("unknown_packets_(**)", "recv_wc_error", "send_wc_error", "rdma_wc_error")
_LINK = ("connections_lost", "drain_wc_error", "post_send_fail_(*)")


def lower_bound(count: int) -> float:
    """Return the lower 95 % confidence limit of the mean of which ``count`` is a Poisson sample.

    Wilson and Hilferty's cube root of chi square, 1931: 5 losses may occur by chance if the mean is
    2.
    """
    if count < 1:
        return 0.0
    return float(count * max(0.0, 1 - 1 / (9 * count) - _SURE / (3 * count**0.5)) ** 3)


def loss_issues(job: StatisticsJob) -> Iterator[Issue]:
    """Yield the findings of each NIC of each host."""
    for host in job.hosts:
        for nic in host.nics:
            yield from _again(job, host, nic)
            yield from _stalls(host, nic)
            yield from _errors(host, nic)


def _port(host: CountedHost, nic: NicCounted) -> Port:
    return Port(host.host, nic=nic.name)


def _again(job: StatisticsJob, host: CountedHost, nic: NicCounted) -> Iterator[Issue]:
    count = nic.again or nic.losses
    if not count:
        yield from _late(host, nic)
        return
    packets = max(nic.packets, count)
    lossless = job.hal == "verbs"
    rate, sure = count / packets, lower_bound(count) / packets
    severity: Severity = "note" if sure <= SUSPICIOUS else "warning"
    if lossless and sure > BROKEN:
        severity = "fail"
    paused = sum((job.pauses or {}).values())
    seen: Evidence = {
        "sent_again": nic.again,
        "gaps_named": nic.losses,
        "packets": packets,
        "at_least": sure,
        "pauses": paused if job.pauses is not None else None,
    }
    text = (
        f"{counted(nic.again, 'packet')} sent again, "
        f"{counted(nic.losses, 'reply', 'replies')} reported a gap, out of at least {packets} "
        f"packets (a share of at most {rate:.2g})"
    )
    if lossless and paused:
        text += f", while the ports counted {paused} pauses: PFC does not keep this fabric lossless"
        yield Issue("psm-pfc-not-lossless", severity, _port(host, nic), text, seen)
    else:
        yield Issue("psm-retransmits", severity, _port(host, nic), text, seen)


def _late(host: CountedHost, nic: NicCounted) -> Iterator[Issue]:
    if nic.late:
        yield Issue(
            "psm-late-answers",
            "note",
            _port(host, nic),
            (
                f"an acknowledgement was late {counted(nic.late, 'time')}, but nothing had to be "
                "sent again: a peer was busy, and no packet was lost"
            ),
            {"asked": nic.late},
        )


def _stalls(host: CountedHost, nic: NicCounted) -> Iterator[Issue]:
    if not nic.packets or nic.stalls <= STALLED * nic.packets:
        return
    lost = nic.again or nic.losses
    why = "packets were also lost" if lost else "nothing was lost"
    yield Issue(
        "psm-credit-stalls",
        "warning" if lost else "note",
        _port(host, nic),
        (
            f"sends waited {counted(nic.stalls, 'time')} for credits, out of at least "
            f"{nic.packets} packets; {why}"
        ),
        {"stalls": nic.stalls, "packets": nic.packets, "sent_again": lost},
    )


def _errors(host: CountedHost, nic: NicCounted) -> Iterator[Issue]:
    if not nic.errors:
        return
    grave = [name for name in nic.errors if name in (*_NEVER, *_LINK)]
    parts = ", ".join(f"{name} {count}" for name, count in nic.errors.items())
    yield Issue(
        "psm-errors",
        "fail" if grave else "warning",
        _port(host, nic),
        f"counted: {parts}",
        dict(nic.errors),
    )


_ABSENT = 0.05
"""Share of bytes below which a path does not count, as for ports (docs/prove.md)."""
_ENOUGH_BYTES = 1 << 20
_UNEVEN = 1.10
"""A rail may carry this factor of the mean: whole messages alternate between rails."""


def _bytes(job: StatisticsJob) -> tuple[int, int] | None:
    """Return bytes by NICs and within hosts; None if a layout does not count them."""
    nic = [one.nic_bytes for one in job.processes]
    near = [
        None if one.shm_bytes is None or one.self_bytes is None else one.shm_bytes + one.self_bytes
        for one in job.processes
    ]
    if any(one is None for one in (*nic, *near)):
        return None
    return sum(one or 0 for one in nic), sum(one or 0 for one in near)


def _messages(job: StatisticsJob) -> tuple[int, int]:
    nic = sum(one.nic_sent for one in job.processes)
    return nic, sum(one.shm_sent + one.self_sent for one in job.processes)


def _shares(job: StatisticsJob) -> tuple[float, float]:
    """Return the traffic of NICs and of memory: bytes, or messages if all were empty or their bytes
    are unknown.
    """
    found = _bytes(job)
    return _messages(job) if found is None or not any(found) else found


def path_proof(job: StatisticsJob) -> Proof:
    """Return ``off-wire`` if nothing left a host, ``mixed`` if a part stayed within hosts.

    These counters alone never prove that bytes crossed a port.
    """
    nic, near = _shares(job)
    if not nic + near:
        return "unproven"
    share = nic / (nic + near)
    if share < _ABSENT and near:
        return "off-wire"
    return "mixed" if share < 1 - _ABSENT else "unproven"


def path_issues(job: StatisticsJob) -> Iterator[Issue]:
    """Yield findings about the path and the rails."""
    nic, near = _shares(job)
    if nic + near:
        yield from _of_memory(job, nic, near)
    for file, one in zip(job.files, job.processes, strict=True):
        yield from _rails(job, file, one)


def _of_memory(job: StatisticsJob, nic: float, near: float) -> Iterator[Issue]:
    if not near or job.wire is False:
        return
    found = _bytes(job)
    known = found is not None and any(found)
    what = volume(near) if known else f"{int(near)} messages"
    seen: Evidence = {
        "within_hosts": near,
        "by_nics": nic,
        "unit": "bytes" if known else "messages",
    }
    proof = path_proof(job)
    share = percent(near / (nic + near))
    if proof == "off-wire":
        severity: Severity = "fail" if job.wire else "inconclusive"
        text = (
            f"{what} ({share}) used shared memory or stayed within a process: no wire was measured"
        )
        yield Issue("psm-shared-memory", severity, job.whole, text, seen)
        return
    severity = "warning" if job.wire and proof == "mixed" else "note"
    text = f"{what} ({share}) stayed within hosts"
    yield Issue("psm-partly-memory", severity, job.whole, text, seen)


def _carried(one: Counted, names: Sequence[str]) -> tuple[dict[str, int], str]:
    """Return the bytes of each NIC in the busier direction, and that direction in words."""
    sent = dict.fromkeys(names, 0) | {nic.name: nic.sent_bytes for nic in one.nics}
    taken = dict.fromkeys(names, 0) | {nic.name: nic.received_bytes for nic in one.nics}
    out = sum(sent.values()) >= sum(taken.values())
    return (sent, "sent") if out else (taken, "received")


def _rails(job: StatisticsJob, file: Statistics, one: Counted) -> Iterator[Issue]:
    carried, way = _carried(one, list(dict.fromkeys(rail.name for rail in file.identity.rails)))
    total = sum(carried.values())
    if len(carried) < 2 or total < _ENOUGH_BYTES:
        return
    mean = total / len(carried)
    parts = listed([f"{name} {volume(value)}" for name, value in carried.items()])
    seen: Evidence = dict(carried)
    idle = [name for name, value in carried.items() if value < _ABSENT * mean]
    if idle:
        text = f"{one.who} {way} {parts}: {listed(idle)} carried next to nothing"
        yield Issue("psm-rail-idle", "inconclusive", job.node(one.host), text, seen)
    elif max(carried.values()) > _UNEVEN * mean:
        text = f"{one.who} {way} {parts}: the rails' shares differ"
        yield Issue("psm-rails-unequal", "inconclusive", job.node(one.host), text, seen)


# --- The statistics of one job while they are judged.

_SHOWN = 5


@dataclass(frozen=True)
class StatisticsJob:
    """The statistics files of one job.

    ``wire``: True if a wire is claimed, False if memory is, None without a claim. ``pauses``: pause
    and PFC counters that rose at the ports of these hosts; None if nothing was read.
    """

    files: Sequence[Statistics]
    wire: bool | None = None
    pauses: Mapping[str, int] | None = None
    whole: Whole = field(default_factory=lambda: Whole("statistics"))

    @cached_property
    def processes(self) -> list[Counted]:
        return [counted_in(one) for one in self.files]

    @cached_property
    def hosts(self) -> list[CountedHost]:
        return by_host(self.processes)

    @property
    def hal(self) -> str:
        """``verbs`` or ``sockets``; "" if the files do not state it or disagree."""
        found = {one.identity.hal for one in self.files}
        return found.pop() if len(found) == 1 else ""

    def setting(self, one: Statistics, name: str) -> str:
        """Return the last value that the file states, or ""."""
        return next((found.value for found in reversed(one.settings) if found.name == name), "")

    def node(self, host: str) -> Subject:
        return Node(host) if host else self.whole


listed = partial(first_few, most=_SHOWN)


# --- Two witnesses of the same bytes: PSM3's own counters of each NIC, and the counters of its
# port.

_ON_WIRE = 0.98
"""Share of the payload that a port must show, as for wireproof's points."""
_START_UP_BYTES = 1 << 20
"""Traffic of launchers and libraries over the same port in addition to the messages, in bytes."""
_COMPARED_BYTES = 2 * _START_UP_BYTES
_FRAMED = 1.10
"""Headers of full packets: RoCE at 1024 bytes adds 8 %, TCP at 1500 bytes 5 % (docs/physics.md)."""
_ANSWERED = 0.10
"""Acknowledgements as a share of the bytes received: 66 bytes for each 1448 is 5 %."""
_PER_PACKET = 200
"""Bytes per packet that is not full: PSM's header of 56 bytes, headers of the lower layers and the
reply."""


def witness_issues(hosts: Sequence[CountedHost], traffic: Traffic) -> Iterator[Issue]:
    """Yield findings about each NIC for which PSM3 counted bytes, in both directions."""
    packets = sum(nic.packets for host in hosts for nic in host.nics)
    for host in hosts:
        watched = next((one for one in traffic.hosts if _same(one, host.host)), None)
        for nic in host.nics:
            if nic.sent_bytes or nic.received_bytes:
                yield from _of_nic(host.host, nic, watched, packets)


def _same(watched: HostTraffic, host: str) -> bool:
    """Return whether both names mean the same host: a process may know its host by the short or the
    full name."""
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
    if not compared and max(nic.sent_bytes, nic.received_bytes) < _COMPARED_BYTES:
        text = f"PSM3 counted {volume(nic.sent_bytes)} out, too little to compare with the port"
        yield Issue("psm-port-unread", "note", subject, text)


def _held(
    port: Port, way: Direction, here: int, back: int, packets: int, crossed: Crossed
) -> Issue | None:
    """Judge one direction; None if PSM3 counted too little."""
    if here < _COMPARED_BYTES:
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
            text += ", and some bytes may not have been counted"
            return Issue("psm-port-unread", "inconclusive", subject, text, seen)
        return Issue(
            "psm-port-disagrees", "fail", subject, f"{text}: a part is missing there", seen
        )
    if crossed.bytes > most + crossed.background:
        more = f"{text}: more than headers and acknowledgements explain ({volume(most)})"
        return Issue("psm-port-disagrees", "warning", subject, more, seen)
    return Issue("psm-port-agrees", "note", subject, text, seen)
