"""Findings about priority flow control: one for each code, with its hosts. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from wireproof.model.finding import Evidence, Finding, Severity, rank
from wireproof.model.pfc import Condition, Headroom, PfcPort, PfcReading, PfcRecord, PfcSettings
from wireproof.verdict.catalogue import CATALOGUE
from wireproof.verdict.pfc.pauses import Pressure, busiest, made, pause_findings

__all__ = ["Chosen", "Judged", "chosen", "findings"]

# --- Which priority is the lossless one: said by the user, by the settings, or shown by the pauses.


class Chosen(NamedTuple):
    """``claimed``: somebody said so; what only moved proves nothing about where it should."""

    priority: int | None
    how: str
    claimed: bool


def chosen(
    asked: int | None, settings: Sequence[PfcSettings], readings: Sequence[PfcReading]
) -> Chosen:
    """The first of them that names one."""
    if asked is not None:
        return Chosen(asked, "as asked", claimed=True)
    on = {tuple(one.lossless) for one in settings if one.lossless}
    if len(on) == 1 and len(one := on.pop()) == 1:
        return Chosen(one[0], "the one that PFC is on for", claimed=True)
    paused = Counter(
        one.priority
        for reading in readings
        for one in reading.priorities
        if one.tx.stopped or one.rx.stopped
    )
    if len(paused) == 1:
        return Chosen(next(iter(paused)), "the only one that paused", claimed=False)
    return Chosen(None, "not known", claimed=False)


_NEAR = 0.9
_DROPS = ("pfc-dropped", "pfc-lost")
_WHOLE = ("pfc-adapter-unknown", "pfc-no-priority")
"""Several conditions of a port are open for one reason."""


class Judged(NamedTuple):
    """What findings are made of."""

    record: PfcRecord
    readings: list[PfcReading]
    ports: list[PfcPort]
    choice: Chosen
    pressure: Pressure
    headroom: list[Headroom]


def findings(judged: Judged) -> list[Finding]:
    """The worst first, then in the catalogue's order."""
    order = {code: place for place, code in enumerate(CATALOGUE)}
    found = [
        *_of_conditions(judged),
        *_of_settings(judged),
        *_of_load(judged),
        *_one_way(judged),
        *_unwatched(judged),
        *_before(judged),
        *pause_findings(judged.readings, judged.record.load, judged.choice.priority),
    ]
    return sorted(found, key=lambda one: (rank(one.severity), order[one.code], one.message))


def _of_conditions(judged: Judged) -> Iterator[Finding]:
    """One condition that fails, or is not proven, alike on many ports is one finding; the first
    port's sentence speaks for it.
    """
    groups: dict[tuple[str, str, Severity], list[tuple[PfcPort, Condition]]] = defaultdict(list)
    for port in judged.ports:
        for one in port.conditions:
            if one.code:
                severity: Severity = "fail" if one.answer == "fail" else "inconclusive"
                name = "" if one.code in _WHOLE else one.name
                groups[name, one.code, severity].append((port, one))
    for (_, code, severity), places in groups.items():
        port, first = places[0]
        hosts = list(dict.fromkeys(port.host for port, _ in places))
        ports = len({(port.host, port.nic) for port, _ in places})
        said = f"{port.host} {port.nic}: {first.because}"
        if ports > 1:
            said = f"on {ports} of {len(judged.ports)} ports; {said}"
        evidence: Evidence = {"conditions": list(dict.fromkeys(one.name for _, one in places))}
        if first.counters:
            evidence["counters"] = first.counters[:16]
        advice = _headroom(judged) if code in _DROPS else ""
        yield made(code, severity, said, hosts, evidence=evidence, advice=advice)


def _headroom(judged: Judged) -> str:
    """Drops although pauses moved: the headroom is too small; how much is needed."""
    paused = judged.choice.priority is not None and any(
        way.stopped
        for one in judged.readings
        for way in (
            one.of(judged.choice.priority).tx,
            one.of(judged.choice.priority).rx,
        )
    )
    if not paused:
        return ""
    needs = [
        f"{one.least_bytes:,} to {one.most_bytes:,} B per port and priority at"
        f" {one.speed_gbps:g} Gb/s, MTU {one.mtu}, {one.cable_m:g} m of cable"
        for one in judged.headroom
    ]
    shown = f" It needs {'; '.join(needs)}." if needs else ""
    return (
        "Pauses moved and packets were lost all the same: the headroom is too small for this speed,"
        f" MTU and cable, or a hop has no PFC.{shown} `wireproof plan pfc` computes it; compare"
        " with what the switch has, on every hop."
    )


def _of_settings(judged: Judged) -> Iterator[Finding]:
    looked_at = {(port.host, port.nic) for port in judged.ports}
    known = [
        (one, tuple(one.lossless))
        for one in judged.record.settings
        if one.lossless is not None and (one.host, one.nic) in looked_at
    ]
    priority = judged.choice.priority
    off = [(one, on) for one, on in known if priority is not None and priority not in on]
    if off:
        first, on = off[0]
        said = f"PFC is not on for priority {priority}: {first.host} {first.nic} has it for"
        yield made("pfc-off", "fail", f"{said} {_listed(on)}", [one.host for one, _ in off])
    kinds = sorted({on for _, on in known})
    if len(kinds) > 1:
        shown = "; ".join(map(_listed, kinds[:4]))
        said = f"hosts differ in the priorities that PFC is on for: {shown}"
        yield made("pfc-settings-differ", "warning", said, [one.host for one, _ in known])


def _listed(priorities: Sequence[int]) -> str:
    return ", ".join(map(str, priorities)) or "none"


def _of_load(judged: Judged) -> Iterator[Finding]:
    load, pressure = judged.record.load, judged.pressure
    if load.exit_status or load.trouble:
        said = (
            f"the load ended with status {load.exit_status}" if load.exit_status else load.trouble
        )
        yield made("pfc-load-failed", "inconclusive", said)
    if load.proof in ("off-wire", "wrong-path", "mixed"):
        said = f"the load did not go through the claimed port alone: its path is {load.proof}"
        yield made("pfc-load-elsewhere", "inconclusive", said)
    if judged.readings and pressure.there is False:
        yield made("pfc-no-pressure", "inconclusive", _too_little(judged), advice=_more(judged))


def _one_way(judged: Judged) -> Iterator[Finding]:
    """There was pressure, and nothing shows that the switch met it."""
    priority = judged.choice.priority
    if priority is None or not judged.pressure.there:
        return
    own = [one.of(priority) for one in judged.readings]
    if any(one.tx.stopped for one in own) and all(one.rx.stopped is False for one in own):
        said = f"hosts paused their switch in priority {priority}, and it never paused one of them"
        yield made("pfc-one-way", "inconclusive", said)
    elif not any(one.tx.stopped or one.rx.stopped for one in own) and not any(
        one.code == "pfc-no-xoff" for port in judged.ports for one in port.conditions
    ):
        said = f"there was pressure, and no pause in priority {priority} shows that PFC met it"
        yield made("pfc-one-way", "inconclusive", said)


def _too_little(judged: Judged) -> str:
    said = "; ".join(judged.pressure.evidence)
    return "no port was paused and nothing was dropped: the load made no pressure" + (
        f" ({said})" if said else ""
    )


def _more(judged: Judged) -> str:
    found = busiest(judged.readings)
    marked = any(count.moved for one in judged.readings for count in one.marks)
    if marked or (found is not None and found[1] >= _NEAR):
        return (
            "The receiver was at its limit, or packets were marked, and no host was paused:"
            " congestion control (ECN with DCQCN, or TCP's) kept the queues short, or the switch"
            " sends no PFC. Try it without ECN, or with a transport that has no congestion control."
        )
    return ""


def _before(judged: Judged) -> Iterator[Finding]:
    """What the load cannot have caused."""
    busy = [one for one in judged.readings if one.before]
    if busy:
        first = busy[0]
        said = f"{first.host} {first.nic} paused, or was paused, before the load began"
        yield made("pfc-before-the-load", "note", said, [one.host for one in busy])


def _unwatched(judged: Judged) -> Iterator[Finding]:
    read = {one.host for one in judged.readings}
    lost = [one for one in judged.record.hosts if one.host not in read]
    if lost:
        first = lost[0]
        why = first.error or "its port is not there, or a reading is missing"
        said = f"{len(lost)} of {len(judged.record.hosts)} hosts were not read; {first.host}: {why}"
        yield made("pfc-unwatched", "inconclusive", said, [one.host for one in lost])
