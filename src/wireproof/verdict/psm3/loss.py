"""What was lost and sent again, what waited for credits, and what must never be counted at all."""

from __future__ import annotations

from collections.abc import Iterator

from wireproof.model.finding import Evidence, Severity
from wireproof.model.psm3 import CountedHost, NicCounted
from wireproof.model.quantity import counted
from wireproof.model.subject import Port
from wireproof.verdict.issue import Issue
from wireproof.verdict.psm3.job import Job

__all__ = ["loss_issues", "lower_bound"]

SUSPICIOUS = 1e-6
BROKEN = 1e-4
"""Of the packets sent. A lossless fabric loses none; above the first somebody has to look, above
the second it is not lossless: each loss makes the sender repeat up to all packets under way (128 by
default), or wait PSM3_ERRCHK_TIMEOUT (160 ms). Our own judgement.
"""
STALLED = 0.10
_SURE = 1.645
_NEVER = ("unknown_packets_(**)", "recv_wc_error", "send_wc_error", "rdma_wc_error")
_LINK = ("connections_lost", "drain_wc_error", "post_send_fail_(*)")


def lower_bound(count: int) -> float:
    """The mean of a Poisson count that is exceeded with 95 % confidence (Wilson and Hilferty's cube
    root of chi square, 1931): 5 losses may be the luck of a mean of 2.
    """
    if count < 1:
        return 0.0
    return float(count * max(0.0, 1 - 1 / (9 * count) - _SURE / (3 * count**0.5)) ** 3)


def loss_issues(job: Job) -> Iterator[Issue]:
    """Findings of each NIC of each host."""
    for host in job.hosts:
        for nic in host.nics:
            yield from _again(job, host, nic)
            yield from _stalls(host, nic)
            yield from _errors(host, nic)


def _port(host: CountedHost, nic: NicCounted) -> Port:
    return Port(host.host, nic=nic.name)


def _again(job: Job, host: CountedHost, nic: NicCounted) -> Iterator[Issue]:
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
        f"{counted(nic.again, 'packet')} sent again, {counted(nic.losses, 'reply', 'replies')}"
        " named a gap, of"
        f" {packets} packets or more ({rate:.2g} of them at most)"
    )
    if lossless and paused:
        text += f", while ports counted {paused} pauses: PFC does not keep this fabric lossless"
        yield Issue("psm-pfc-not-lossless", severity, _port(host, nic), text, seen)
    else:
        yield Issue("psm-retransmits", severity, _port(host, nic), text, seen)


def _late(host: CountedHost, nic: NicCounted) -> Iterator[Issue]:
    if nic.late:
        text = (
            f"an acknowledgement was late {counted(nic.late, 'time')}, and nothing had to be sent"
            " again: a peer was busy, no packet was lost"
        )
        yield Issue("psm-late-answers", "note", _port(host, nic), text, {"asked": nic.late})


def _stalls(host: CountedHost, nic: NicCounted) -> Iterator[Issue]:
    if not nic.packets or nic.stalls <= STALLED * nic.packets:
        return
    lost = nic.again or nic.losses
    why = "packets are lost too" if lost else "nothing was lost"
    text = (
        f"sending waited {counted(nic.stalls, 'time')} for credits, at {nic.packets} packets"
        f" or more; {why}"
    )
    seen: Evidence = {"stalls": nic.stalls, "packets": nic.packets, "sent_again": lost}
    severity: Severity = "warning" if lost else "note"
    yield Issue("psm-credit-stalls", severity, _port(host, nic), text, seen)


def _errors(host: CountedHost, nic: NicCounted) -> Iterator[Issue]:
    if not nic.errors:
        return
    grave = [name for name in nic.errors if name in (*_NEVER, *_LINK)]
    parts = ", ".join(f"{name} {count}" for name, count in nic.errors.items())
    seen: Evidence = dict(nic.errors)
    severity: Severity = "fail" if grave else "warning"
    yield Issue("psm-errors", severity, _port(host, nic), f"counted: {parts}", seen)
