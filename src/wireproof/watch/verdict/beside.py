# pure
"""Remarks on a watched command that do not affect its proof: hosts that were not watched, a peak
above the link's rate, and problems that ports and sockets counted.
"""

from collections.abc import Iterator, Sequence

from wireproof.ledger.changes import (
    RETRANSMITTED,
    TCP_REPEATS,
    are_reordered,
    duplicate_segments,
)
from wireproof.ledger.crossed import at_rails, crossed_at
from wireproof.logs.verdict import judge_series
from wireproof.model.claim import Claim, Criteria, LinkClaim, is_several
from wireproof.model.finding import Port, Proof, Severity
from wireproof.model.quantity import first_few, volume
from wireproof.model.series import Reason, Series
from wireproof.model.traffic import DIRECTIONS, Direction, HostTraffic, PortLedger, Traffic
from wireproof.physics.limits import limits
from wireproof.verdict.path import due_shares, state_of, used_by_others
from wireproof.verdict.path import other_protocol as contradicting
from wireproof.watch.verdict.carried import PLACES, START_UP_BYTES, Carried, reason
from wireproof.watch.verdict.ports import WatchedPorts

# --- How the claimed rails shared the bytes of a watched command. This decides nothing: only the
# command's author knows whether it should use all rails.

_BUSY = 0.5  # share of the busier direction: the opposite direction carries only acknowledgements


def rail_reasons(ports: WatchedPorts, link: LinkClaim | None, criteria: Criteria) -> list[Reason]:
    """Return a reason for each host with rails: for its busier direction, or for both if both are
    busy.
    """
    return [
        remark
        for host in ports.hosts
        if is_several(ports.claimed_name(host))
        for remark in _of_host(ports, host, link, criteria)
    ]


def _of_host(
    ports: WatchedPorts, host: HostTraffic, link: LinkClaim | None, criteria: Criteria
) -> Iterator[Reason]:
    ledger, name = ports.ledger(host), ports.claimed_name(host)
    if name not in ledger.ports:
        return
    rails = ledger.ports[name].nic.lower
    seen = {way: at_rails(ledger, rails, way) for way in DIRECTIONS}
    totals = {way: crossed_at(ledger, name, way).bytes or 0.0 for way in DIRECTIONS}
    for way, by_rail in seen.items():
        if totals[way] > max(START_UP_BYTES, _BUSY * max(totals.values())):
            yield _reason(host.host, way, by_rail, link, criteria)


def _reason(
    host: str,
    way: Direction,
    seen: dict[str, float | None],
    link: LinkClaim | None,
    criteria: Criteria,
) -> Reason:
    whole = sum(count or 0.0 for count in seen.values())
    due = due_shares(link, len(seen))
    shares = [count / whole if count is not None and whole else None for count in seen.values()]
    state = state_of(shares, due, criteria)
    listed = ", ".join(
        f"{rail} unknown"
        if share is None
        else f"{rail} {volume(share * whole)} ({share:.0%}; expected {wanted:.0%})"
        for rail, share, wanted in zip(seen, shares, due, strict=True)
    )
    code = {"one-rail": "one-rail", "unequal": "unequal-rails"}.get(state, "rails-shared")
    severity: Severity = "note" if code == "rails-shared" else "warning"
    summary = {
        "striped": "each rail carried its share",
        "one-rail": "one rail carried everything",
        "unequal": "the rails carried unequal shares",
    }.get(state, "the share of each rail is unknown")
    return reason(
        code,
        f"{host} {way}: {summary}: {listed}.",
        {"host": host, "direction": way, "striping": state},
        severity,
    )


# --- The claimed port carried a watched command's bytes: did it use the claimed protocol?


def other_protocol(ports: WatchedPorts, link: LinkClaim | None, wanted: float) -> list[Reason]:
    """Return a reason if a protocol other than the link's carried the ``wanted`` bytes. Empty if
    the link's protocol carried them or if the protocol is unknown.
    """
    ends = [(host.host, *ports.busiest(host)) for host in ports.hosts]
    seen = [(host, port, count) for host, port, count in ends if count is not None]
    if link is None or not seen:
        return []
    host, port, crossed = max(seen, key=lambda end: end[2].bytes or 0.0)
    contradiction = contradicting(link, dict(crossed.by), wanted, f"{port} of {host}")
    if contradiction is None:
        return []
    code, severity, text = contradiction
    return [
        reason(
            code,
            f"{text}.",
            {
                "host": host,
                "nic": port,
                **{str(name): count for name, count in crossed.by},
            },
            severity,
        )
    ]


RETRANSMIT_SHARE = 1e-3
"""Share of sent segments above which TCP slows down (Mathis et al. 1997: rate ~ 1/sqrt(loss))."""
_ABOVE = 1.05  # share of the line rate: a higher rate must come from another link
# share of the line rate: queues may add this much to one reading of a software counter
_BURST = 1.5
_SHOWN = 8


def beside(
    traffic: Traffic,
    ports: WatchedPorts,
    claimed: Carried,
    attainable: float | None,
    line: float | None,
) -> list[Reason]:
    """Return reasons for unwatched hosts and for a peak above ``line`` (bits/s of the claimed
    link).
    """
    return [*_unwatched(traffic, ports, claimed), *_above(claimed, attainable, line)]


def unread(traffic: Traffic, ports: WatchedPorts) -> str:
    """Return the hosts whose unread ports may have carried a command's bytes without using a
    watched port: at least two hosts, or one if pairs on several hosts share the bytes. "" if there
    are none.
    """
    names = [*(host.host for host in traffic.hosts if host.error), *traffic.unwatched]
    enough = len(names) >= (1 if ports.pairs > 1 else 2)
    return ", ".join(names[:_SHOWN]) if enough else ""


def _unwatched(traffic: Traffic, ports: WatchedPorts, claimed: Carried) -> Iterator[Reason]:
    for host in traffic.hosts:
        if host.error:
            text = f"{host.host} was not watched: {host.error}."
            yield reason("traffic-unwatched", text, {"host": host.host}, "warning")
    watched = [host.host for host in traffic.hosts if not host.error]
    if len(ports.hosts) < len(watched):
        names = ", ".join(watched[:_SHOWN])
        text = (
            f"{names}: some of these names belong to the same machine; its ports are counted once."
        )
        yield reason("traffic-one-end", text, {"hosts": names}, "warning")
    if traffic.unwatched:
        names = ", ".join(traffic.unwatched[:_SHOWN])
        text = f"the output names {names}, whose ports were not read: add them to --hosts."
        yield reason("traffic-unwatched", text, {"hosts": names}, "warning")
    if len(ports.hosts) == 1 and claimed.bytes > START_UP_BYTES:
        text = f"only {ports.hosts[0].host} was watched: the other end is inferred from it."
        yield reason("traffic-one-end", text, severity="note")


def one_place(ports: WatchedPorts, claimed: Carried) -> Iterator[Reason]:
    """Warn that the proof covers traffic between machines, not traffic between these hosts."""
    if claimed.level != "wire":
        for names, code in ports.mates().items():
            yield reason(
                code,
                f"{names}: {PLACES[code]}; their traffic with each other may not use a wire.",
                {"hosts": names},
                "warning",
            )


def _above(claimed: Carried, attainable: float | None, line: float | None) -> Iterator[Reason]:
    if line and claimed.peak > _ABOVE * line / 8:
        burst = claimed.level == "stack" and claimed.peak <= _BURST * line / 8
        why = (
            ": the kernel counts what it queues, which a short burst may exceed."
            if burst
            else ": this may be another link."
        )
        text = (
            f"{', '.join(claimed.names)} carried {volume(claimed.peak)}/s in one reading, "
            f"more than the {volume(line / 8)}/s of the claimed link{why}"
        )
        seen = {"peak_bytes_per_s": claimed.peak, "attainable_bytes_per_s": attainable}
        yield reason("traffic-above-link", text, seen, "note" if burst else "warning")


def far_below(series: Sequence[Series], link: LinkClaim | None) -> list[Reason]:
    """Return reasons if the bytes crossed but the printed numbers are below those of the claimed
    link.

    Links of several rails are skipped: a command may use one of them, and their shares are judged
    elsewhere.
    """
    if link is None or link.rails > 1:
        return []
    return [
        remark
        for judged in (judge_series(table, link) for table in series)
        for remark in judged.reasons
        if remark.code == "below-expectation"
    ]


def troubles(traffic: Traffic) -> list[Reason]:
    """Return retransmits, drops and pauses counted while the command ran; they never decide the
    path.
    """
    remarks = []
    for host in traffic.hosts:
        if host.retransmits:
            remarks.append(_retransmits(host.host, host.retransmits, host.tcp_segments))
        if host.drops:
            text = f"{host.host} dropped: {_listed(host.drops)}."
            remarks.append(
                reason("traffic-drops", text, {"host": host.host, **host.drops}, "warning")
            )
        if host.pauses:
            text = f"{host.host} received or sent pause frames: {_listed(host.pauses)}."
            remarks.append(
                reason("traffic-pauses", text, {"host": host.host, **host.pauses}, "note")
            )
    return remarks


def _retransmits(host: str, counters: dict[str, int], new: int | None) -> Reason:
    again, known = counters.get(RETRANSMITTED, 0), duplicate_segments(counters)
    segments = new + again if new else None
    share = again / segments if segments else None
    shown = {name: n for name, n in counters.items() if name not in TCP_REPEATS[1:]}
    of = f" ({share:.2%} of {segments} segments)" if share is not None and again else ""
    had = f"; the receivers had {known} of them already" if known else ""
    serious = len(shown) > bool(again) or share is None or share > RETRANSMIT_SHARE
    overtaken = are_reordered(counters)
    why = ", because packets overtake each other" if overtaken else ""
    return reason(
        "reordering" if overtaken else "traffic-retransmits",
        f"{host} retransmitted{why}: {_listed(shown)}{of}{had}.",
        {"host": host, **counters},
        "warning" if serious else "note",
    )


def _listed(counters: dict[str, int]) -> str:
    names = sorted(counters.items(), key=lambda item: -item[1])
    return first_few([f"{name.removeprefix('ip/')} {count}" for name, count in names], 5)


def unknown_adapter(host: HostTraffic, port: PortLedger) -> Reason:
    driver = port.nic.driver or (port.nic.rdma.driver if port.nic.rdma else "") or "(none stated)"
    text = (
        f"{port.nic.name} of {host.host} has the driver {driver!r}, whose counters are not in the "
        "catalogue."
    )
    return reason(
        "traffic-adapter-unknown", text, {"host": host.host, "nic": port.nic.name, "driver": driver}
    )


def limit(claim: Claim) -> tuple[float | None, list[str]]:
    if claim.link is None:
        return None, []
    bounds = limits(claim.link, "stream", "stream", 4 << 20)
    return bounds.attainable_bytes_per_s, bounds.derivation[:-1]  # the last line is about latency


def undecided(ports: WatchedPorts, carried: Carried) -> tuple[Proof, str, str]:
    """Return the proof, the code and the sentence for bytes that the background hides."""
    rates = {
        Port(host.host, way, port.nic): beyond / host.seconds
        for host in ports.hosts
        for port in host.ports
        for way in DIRECTIONS
        if host.seconds > 0
        and 0 < (beyond := (port.tx if way == "tx" else port.rx).background) <= carried.unsure
    }
    what = f", and {volume(carried.unsure)} of background traffic leaves this undecided"
    if rates:
        place, rate = max(rates.items(), key=lambda one: one[1])
        what += f": {used_by_others(place, place.nic, rate, 'the command')}"
    return "unproven", "traffic-background", what
