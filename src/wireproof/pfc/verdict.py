# pure
"""Judge all ports of all hosts for one priority. Pure: equal records give equal reports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from wireproof.model.finding import Evidence, Finding, Severity, Verdict, verdict_of
from wireproof.pfc import (
    Answer,
    Condition,
    Headroom,
    PauseRate,
    PfcPort,
    PfcReading,
    PfcRecord,
    PfcReport,
    PfcSettings,
)
from wireproof.pfc.conditions import JudgedPort, conditions, drops_of
from wireproof.pfc.counters import ports_of, readings_of
from wireproof.pfc.pauses import (
    NEAR,
    busiest,
    made,
    pause_findings,
    pause_rate,
    pressure_of,
)
from wireproof.verdict.issue import sorted_findings

LIMITS = (
    "host counters only: drops in a switch show only as RDMA retransmissions",
    "a pass is valid for this load only: more senders, or longer bursts, may need more headroom",
)


def read(record: PfcRecord) -> list[PfcReading]:
    """Return the port readings of every host whose readings are complete."""
    found = [
        reading
        for one in record.hosts
        if one.about is not None
        for reading in readings_of(one, ports_of(one.about.nics, record.nics.get(one.host, "")))
    ]
    rate = record.rate_bits_per_s
    if rate is None:
        return found
    return [replace(one, speed_bits_per_s=rate) for one in found]


def judge_pfc(
    record: PfcRecord,
    readings: list[PfcReading],
    asked: int | None,
    headroom: Mapping[tuple[float, int], Sequence[Headroom]],
) -> PfcReport:
    """Judge a record.

    ``readings``: those of the record. ``asked``: the priority; None: chosen by the settings or the
    pauses seen. ``headroom``: the headroom that ports need, by speed (Gb/s) and MTU.
    """
    priority, how = chosen(asked, record.settings, readings)
    claimed = how != _ONLY_PAUSED
    pressure, evidence = pressure_of(readings, record.load)
    settings = {(one.host, one.nic): one for one in record.settings}
    judged = PfcReport(
        verdict="inconclusive",
        priority=priority,
        priority_from=how,
        load=record.load,
        pressure=pressure,
        pressure_evidence=evidence,
        ports=[
            _port(JudgedPort(one, priority, settings.get((one.host, one.nic)), claimed), record)
            for one in readings
        ],
        findings=[],
        settings=record.settings,
        headroom=_needed(readings, priority, headroom),
        # counters with late refresh that wireproof did not wait for
        limits=[*LIMITS, *sorted({one.late for one in readings if one.late})],
    )
    found = findings(judged, record, readings)
    return replace(judged, findings=found, verdict=_verdict(found, judged, readings))


def _port(port: JudgedPort, record: PfcRecord) -> PfcPort:
    reading, answers = port.reading, conditions(port)
    own = None if port.priority is None else port.own
    dropped = [one.count.value for one in drops_of(reading, port.priority)]
    known = any(one.proves and one.count.value is not None for one in reading.drops)
    return PfcPort(
        host=reading.host,
        nic=reading.nic,
        driver=reading.driver,
        priority=port.priority,
        answer=_answer(answers),
        conditions=answers,
        tx=PauseRate() if own is None else pause_rate(own.tx, reading.seconds),
        rx=PauseRate() if own is None else pause_rate(own.rx, reading.seconds),
        dropped=max((one or 0 for one in dropped), default=0) if known or dropped else None,
        receives=reading.host in record.load.receivers,
    )


def _answer(answers: Sequence[Condition]) -> Answer:
    """Return the worst answer; quiet in one condition makes the whole port quiet."""
    given = {one.answer for one in answers}
    order: tuple[Answer, ...] = ("fail", "unproven", "quiet")
    return next((answer for answer in order if answer in given), "pass")


def _needed(
    readings: Sequence[PfcReading],
    priority: int | None,
    headroom: Mapping[tuple[float, int], Sequence[Headroom]],
) -> list[Headroom]:
    """Return the headroom that ports which lost packets need, once for each kind of port."""
    kinds = {
        (one.speed_bits_per_s / 1e9, one.mtu)
        for one in readings
        if one.speed_bits_per_s and one.mtu and drops_of(one, priority)
    }
    return [each for kind in sorted(kinds) for each in headroom.get(kind, ())]


def _verdict(
    found: Sequence[Finding], judged: PfcReport, readings: Sequence[PfcReading]
) -> Verdict:
    """Return the verdict. A pass requires pressure, a pause that the switch sent and ended, and
    each condition shown on at least one port.

    No condition may be unproven on any port.
    """
    worst = verdict_of(one.severity for one in found)
    if worst != "pass" or judged.priority is None or not judged.pressure:
        return worst if worst != "pass" else "inconclusive"
    answers = {one.answer for one in judged.ports}
    shown = "pass" in answers and answers <= {"pass", "quiet"}
    switched = any(one.of(judged.priority).rx.stopped for one in readings)
    return "pass" if shown and switched else "inconclusive"


# --- Which priority is lossless: given by the user, by the settings, or shown by the pauses.


_ONLY_PAUSED = "the only one that paused"
"""The source of a priority that neither the user nor the settings name: it proves nothing."""


def chosen(
    asked: int | None, settings: Sequence[PfcSettings], readings: Sequence[PfcReading]
) -> tuple[int | None, str]:
    """Return the priority from the first source that has one, with the source."""
    if asked is not None:
        return asked, "as asked"
    on = {tuple(one.lossless) for one in settings if one.lossless}
    if len(on) == 1 and len(one := on.pop()) == 1:
        return one[0], "the one with PFC"
    paused = {one.priority for each in readings for one in each.priorities if one.paused}
    return (paused.pop(), _ONLY_PAUSED) if len(paused) == 1 else (None, "not known")


# --- Findings: one for each code, with its hosts.

_WHOLE = ("pfc-adapter-unknown", "pfc-no-priority")
"""Codes for which several conditions of a port are unproven for the same reason."""


def findings(judged: PfcReport, record: PfcRecord, readings: Sequence[PfcReading]) -> list[Finding]:
    """Return all findings, worst first, then in the catalogue's order."""
    found = [
        *_of_conditions(judged, readings),
        *_of_settings(judged),
        *_of_load(judged, readings),
        *_one_way(judged, readings),
        *_unwatched(record, readings),
        *pause_findings(readings, judged.load, judged.priority),
    ]
    if busy := [one for one in readings if one.before]:
        # pauses that the load cannot have caused
        said = f"{busy[0].host} {busy[0].nic} paused or was paused before the load began"
        found.append(made("pfc-before-the-load", "note", said, [one.host for one in busy]))
    return sorted_findings(sorted(found, key=lambda one: one.message))


def _of_conditions(judged: PfcReport, readings: Sequence[PfcReading]) -> Iterator[Finding]:
    """Merge a condition that fails, or is unproven, for the same reason on many ports into one
    finding with an example.
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
        advice = _headroom(judged, readings) if code in ("pfc-dropped", "pfc-lost") else ""
        yield made(code, severity, said, hosts, evidence=evidence, advice=advice)


def _headroom(judged: PfcReport, readings: Sequence[PfcReading]) -> str:
    """Return advice on the headroom that is needed if packets were dropped although pauses
    moved."""
    priority = judged.priority
    if priority is None or not any(one.of(priority).paused for one in readings):
        return ""
    needs = [
        f"{one.least_bytes:,} to {one.most_bytes:,} B per port and priority at"
        f" {one.speed_gbps:g} Gb/s, MTU {one.mtu}, {one.cable_m:g} m of cable"
        for one in judged.headroom
    ]
    shown = f" It needs {'; '.join(needs)}." if needs else ""
    return (
        "Pauses were sent, but packets were still lost: the headroom is too small for this speed,"
        f" MTU and cable, or a hop has no PFC.{shown} `wireproof plan pfc` computes the headroom; "
        "compare it with the switch configuration on every hop."
    )


def _of_settings(judged: PfcReport) -> Iterator[Finding]:
    looked_at = {(port.host, port.nic) for port in judged.ports}
    known = [
        (one, tuple(one.lossless))
        for one in judged.settings
        if one.lossless is not None and (one.host, one.nic) in looked_at
    ]
    priority = judged.priority
    off = [(one, on) for one, on in known if priority is not None and priority not in on]
    if off:
        first, on = off[0]
        said = f"PFC is off for priority {priority}; {first.host} {first.nic} has it on for"
        yield made("pfc-off", "fail", f"{said} {_listed(on)}", [one.host for one, _ in off])
    kinds = sorted({on for _, on in known})
    if len(kinds) > 1:
        shown = "; ".join(map(_listed, kinds[:4]))
        said = f"hosts enable PFC for different priorities: {shown}"
        yield made("pfc-settings-differ", "warning", said, [one.host for one, _ in known])


def _listed(priorities: Sequence[int]) -> str:
    return ", ".join(map(str, priorities)) or "none"


def _of_load(judged: PfcReport, readings: Sequence[PfcReading]) -> Iterator[Finding]:
    load = judged.load
    if load.exit_status or load.trouble:
        said = (
            f"the load ended with status {load.exit_status}" if load.exit_status else load.trouble
        )
        yield made("pfc-load-failed", "inconclusive", said)
    if load.proof in ("off-wire", "wrong-path", "mixed"):
        said = f"the load did not use only the claimed port: its path is {load.proof}"
        yield made("pfc-load-elsewhere", "inconclusive", said)
    if readings and judged.pressure is False:
        evidence = "; ".join(judged.pressure_evidence)
        said = "no port was paused and nothing was dropped: the load caused no congestion"
        said += f" ({evidence})" if evidence else ""
        yield made("pfc-no-pressure", "inconclusive", said, advice=_more(readings))


def _one_way(judged: PfcReport, readings: Sequence[PfcReading]) -> Iterator[Finding]:
    """Report pressure to which the switch did not visibly respond."""
    priority = judged.priority
    if priority is None or not judged.pressure:
        return
    own = [one.of(priority) for one in readings]
    if any(one.tx.stopped for one in own) and all(one.rx.stopped is False for one in own):
        said = f"hosts paused their switch in priority {priority}, but it never paused any of them"
        yield made("pfc-one-way", "inconclusive", said)
    elif not any(one.paused for one in own) and not any(
        one.code == "pfc-no-xoff" for port in judged.ports for one in port.conditions
    ):
        said = (
            f"the load caused congestion, but no pause in priority {priority} shows that PFC "
            "reacted"
        )
        yield made("pfc-one-way", "inconclusive", said)


def _more(readings: Sequence[PfcReading]) -> str:
    found = busiest(readings)
    marked = any(count.moved for one in readings for count in one.marks)
    if marked or (found is not None and found[1] >= NEAR):
        return (
            "The receiver was at its limit, or packets were marked, and no host was paused:"
            " congestion control (ECN with DCQCN, or TCP's) kept the queues short, or the switch"
            " sends no PFC. Try it without ECN, or with a transport without congestion control."
        )
    return ""


def _unwatched(record: PfcRecord, readings: Sequence[PfcReading]) -> Iterator[Finding]:
    read = {one.host for one in readings}
    if lost := [one for one in record.hosts if one.host not in read]:
        why = lost[0].error or "its port or one of its readings is missing"
        said = f"{len(lost)} of {len(record.hosts)} hosts were not read; {lost[0].host}: {why}"
        yield made("pfc-unwatched", "inconclusive", said, [one.host for one in lost])
