"""All ports of all hosts, judged for one priority. Pure: the same record gives the same report,
whoever took it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from wireproof.analysis.pfc import ports_of, readings_of
from wireproof.model.finding import Finding, Verdict, verdict_of
from wireproof.model.pfc import (
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
from wireproof.model.traffic import Watched
from wireproof.verdict.pfc.conditions import conditions
from wireproof.verdict.pfc.drops import drops_of
from wireproof.verdict.pfc.findings import Chosen, Judged, chosen, findings
from wireproof.verdict.pfc.pauses import Pressure, pause_rate, pressure_of

__all__ = ["judge_pfc", "read"]

_ORDER: tuple[Answer, ...] = ("fail", "unproven", "pass", "quiet")
LIMITS = (
    "hosts' counters alone: what a switch dropped shows only in packets that RDMA sent again",
    "a pass holds for this load: more senders, or longer, may need more headroom",
)


def read(record: PfcRecord) -> list[PfcReading]:
    """The ports of every host whose readings are complete."""
    found = [
        reading
        for one in record.hosts
        for reading in readings_of(one, _ports(one, record.nics.get(one.host, "")))
    ]
    rate = record.rate_bits_per_s
    if rate is None:
        return found
    return [msgspec.structs.replace(one, speed_bits_per_s=rate) for one in found]


def _ports(watched: Watched, named: str) -> list[str]:
    return ports_of(watched.about.nics, named) if watched.about is not None else []


def judge_pfc(
    record: PfcRecord,
    readings: list[PfcReading],
    asked: int | None,
    headroom: Mapping[tuple[float, int], Sequence[Headroom]],
) -> PfcReport:
    """``readings``: of the record. ``asked``: the priority, None: by the settings or by what moved.
    ``headroom``: what ports need, by speed (Gb/s) and MTU.
    """
    choice = chosen(asked, record.settings, readings)
    pressure = pressure_of(readings, record.load)
    settings = {(one.host, one.nic): one for one in record.settings}
    ports = [_port(one, choice, settings.get((one.host, one.nic)), record) for one in readings]
    needed = _needed(readings, choice, headroom)
    judged = Judged(record, readings, ports, choice, pressure, needed)
    found = findings(judged)
    return PfcReport(
        verdict=_verdict(found, ports, readings, choice, pressure),
        priority=choice.priority,
        priority_from=choice.how,
        load=record.load,
        pressure=pressure.there,
        pressure_evidence=pressure.evidence,
        ports=ports,
        findings=found,
        settings=record.settings,
        headroom=needed,
        limits=[*LIMITS, *_late(readings)],
    )


def _port(
    reading: PfcReading, choice: Chosen, settings: PfcSettings | None, record: PfcRecord
) -> PfcPort:
    answers = conditions(reading, choice.priority, settings, claimed=choice.claimed)
    own = None if choice.priority is None else reading.of(choice.priority)
    dropped = [one.count.value for one in drops_of(reading, choice.priority)]
    known = any(one.proves and one.count.value is not None for one in reading.drops)
    return PfcPort(
        host=reading.host,
        nic=reading.nic,
        driver=reading.driver,
        priority=choice.priority,
        answer=_answer(answers),
        conditions=answers,
        tx=PauseRate() if own is None else pause_rate(own.tx, reading.seconds),
        rx=PauseRate() if own is None else pause_rate(own.rx, reading.seconds),
        dropped=max((one or 0 for one in dropped), default=0) if known or dropped else None,
        receives=reading.host in record.load.receivers,
    )


def _answer(answers: Sequence[Condition]) -> Answer:
    """The worst; what is quiet in one condition is quiet as a whole."""
    given = {one.answer for one in answers}
    for answer in ("fail", "unproven", "quiet"):
        if answer in given:
            return answer
    return "pass"


def _needed(
    readings: Sequence[PfcReading],
    choice: Chosen,
    headroom: Mapping[tuple[float, int], Sequence[Headroom]],
) -> list[Headroom]:
    """Of the ports that lost packets although pauses moved, each kind once."""
    kinds = {
        (one.speed_bits_per_s / 1e9, one.mtu)
        for one in readings
        if one.speed_bits_per_s and one.mtu and drops_of(one, choice.priority)
    }
    return [each for kind in sorted(kinds) for each in headroom.get(kind, ())]


def _late(readings: Sequence[PfcReading]) -> list[str]:
    """Where nobody waited for counters that are refreshed late."""
    return sorted({one.late for one in readings if one.late})


def _verdict(
    found: Sequence[Finding],
    ports: Sequence[PfcPort],
    readings: Sequence[PfcReading],
    choice: Chosen,
    pressure: Pressure,
) -> Verdict:
    """A pass needs more than that nothing speaks against it: pressure, a pause that the switch sent
    and took back, and each condition shown on some port and unproven on none.
    """
    worst = verdict_of(one.severity for one in found)
    if worst != "pass" or choice.priority is None or not pressure.there:
        return worst if worst != "pass" else "inconclusive"
    if any(one.answer not in ("pass", "quiet") for one in ports):
        return "inconclusive"
    whole = any(one.answer == "pass" for one in ports)
    switched = any(one.of(choice.priority).rx.stopped for one in readings)
    return "pass" if whole and switched else "inconclusive"
