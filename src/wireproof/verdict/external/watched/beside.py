"""What stands beside the proof of a watched command and does not decide: hosts that were not seen,
a peak that the link cannot have, troubles that ports and sockets counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wireproof.model.claim import LinkClaim
from wireproof.model.quantity import volume
from wireproof.model.series import Reason, Series
from wireproof.model.traffic import Traffic
from wireproof.verdict.external import judge_series
from wireproof.verdict.external.watched.ports import START_UP_BYTES, Carried, Ports
from wireproof.verdict.external.watched.reasons import reason

__all__ = ["beside", "troubles"]

RETRANSMIT_SHARE = 1e-3
"""Of the segments sent: above this, TCP's rate suffers (Mathis et al. 1997: rate ~
1/sqrt(loss)).
"""
_ABOVE = 1.05  # of the line rate: more is another link
_BURST = 1.5  # of the line rate: what queues of a software counter may add to one reading
_SHOWN = 8


def beside(
    traffic: Traffic, ports: Ports, claimed: Carried, attainable: float | None, line: float | None
) -> list[Reason]:
    """Hosts that were not seen, and a peak above ``line`` (bits/s of the claimed link)."""
    return [*_unwatched(traffic, ports, claimed), *_above(claimed, attainable, line)]


def _unwatched(traffic: Traffic, ports: Ports, claimed: Carried) -> Iterator[Reason]:
    for host in traffic.hosts:
        if host.error:
            text = f"{host.host} was not watched: {host.error}."
            yield reason("traffic-unwatched", text, {"host": host.host}, "warning")
    watched = [host.host for host in traffic.hosts if not host.error]
    if len(ports.hosts) < len(watched):
        names = ", ".join(watched[:_SHOWN])
        text = f"{names}: some of these names are one machine, whose ports are counted once."
        yield reason("traffic-one-end", text, {"hosts": names}, "warning")
    if traffic.unwatched:
        names = ", ".join(traffic.unwatched[:_SHOWN])
        text = f"the output names {names}, whose ports were not read: give them to --hosts."
        yield reason("traffic-unwatched", text, {"hosts": names}, "warning")
    if len(ports.hosts) == 1 and claimed.bytes > START_UP_BYTES:
        text = f"only {ports.hosts[0].host} was watched: the other end is inferred from it."
        yield reason("traffic-one-end", text, severity="note")


def _above(claimed: Carried, attainable: float | None, line: float | None) -> Iterator[Reason]:
    if line and claimed.peak > _ABOVE * line / 8:
        burst = claimed.level == "stack" and claimed.peak <= _BURST * line / 8
        why = (
            ": the kernel counts what it queues, which a short burst may exceed."
            if burst
            else ": this may be another link."
        )
        text = (
            f"{', '.join(claimed.names)} carried {volume(claimed.peak)}/s in one reading, above "
            f"the {volume(line / 8)}/s of the claimed link{why}"
        )
        seen = {"peak_bytes_per_s": claimed.peak, "attainable_bytes_per_s": attainable}
        yield reason("traffic-above-link", text, seen, "note" if burst else "warning")


def far_below(series: Sequence[Series], link: LinkClaim | None) -> list[Reason]:
    """The bytes crossed, and the printed numbers are not those of the claimed link. Of rails a
    command may use one alone: their shares are judged elsewhere.
    """
    if link is None or link.rails > 1:
        return []
    return [
        one
        for judged in (judge_series(table, link) for table in series)
        for one in judged.reasons
        if one.code == "below-expectation"
    ]


def troubles(traffic: Traffic) -> list[Reason]:
    """Retransmits, drops and pauses that were counted while the command ran; they never decide
    about the path.
    """
    found = []
    for host in traffic.hosts:
        if host.retransmits:
            found.append(_retransmits(host.host, host.retransmits, host.tcp_segments))
        if host.drops:
            text = f"{host.host} dropped: {_listed(host.drops)}."
            found.append(
                reason("traffic-drops", text, {"host": host.host, **host.drops}, "warning")
            )
        if host.pauses:
            text = f"{host.host} received or sent pause frames: {_listed(host.pauses)}."
            found.append(reason("traffic-pauses", text, {"host": host.host, **host.pauses}, "note"))
    return found


def _retransmits(host: str, counters: dict[str, int], segments: int | None) -> Reason:
    again = counters.get("ip/Tcp/RetransSegs", 0)
    share = again / segments if segments else None
    beyond = any(name != "ip/Tcp/RetransSegs" for name in counters)
    of = f" ({share:.2%} of {segments} segments)" if share is not None and again else ""
    grave = beyond or share is None or share > RETRANSMIT_SHARE
    text = f"{host} sent again: {_listed(counters)}{of}."
    return reason(
        "traffic-retransmits", text, {"host": host, **counters}, "warning" if grave else "note"
    )


def _listed(counters: dict[str, int]) -> str:
    names = sorted(counters.items(), key=lambda one: -one[1])
    text = ", ".join(f"{name.removeprefix('ip/')} {count}" for name, count in names[:5])
    return text + (f" and {len(names) - 5} more" if len(names) > 5 else "")
