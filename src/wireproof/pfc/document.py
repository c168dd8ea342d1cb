"""Priority flow control as a document: problems, ports, the origin of pauses, settings."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from wireproof.model.quantity import counted, duration
from wireproof.pfc import (
    CONDITIONS,
    Answer,
    PauseRate,
    PfcPort,
    PfcReport,
    PfcSettings,
)
from wireproof.report.document import (
    Bar,
    Document,
    Facts,
    Findings,
    Head,
    Part,
    Row,
    Section,
    Table,
    Text,
    Tone,
    items_of,
)
from wireproof.report.names import fold, natural

_MARKS: dict[Answer, str] = {"pass": "ok", "fail": "FAIL", "unproven": "?", "quiet": "-"}
_TONES: dict[Answer, Tone] = {"pass": "", "fail": "fail", "unproven": "inconclusive", "quiet": ""}
_WORST: tuple[Answer, ...] = ("fail", "unproven", "quiet", "pass")
_LOUDEST = 5
_LOADS = {
    "incast": "an incast of wireproof",
    "command": "the command",
    "none": "the running jobs",
    "stored": "stored readings",
}
_PORTS = (
    Head("hosts", 9, left=True),
    Head("port", 8, left=True),
    Head("Xoff out", 7),
    Head("Xon out", 4),
    Head("out %", 3),
    Head("Xoff in", 6),
    Head("Xon in", 4),
    Head("in %", 3),
    Head("drops", 5),
    *(Head(str(number), 9) for number in range(1, len(CONDITIONS) + 1)),
)
_CONDITIONS = (Head("", 9), Head("condition", 9, left=True), Head("ports", 9, left=True))
_LOUD = (
    Head("host", 9, left=True),
    Head("port", 8, left=True),
    Head("Xoff out", 7),
    Head("per second", 6),
    Head("of all", 6),
    Head("", 5, left=True),
)
_SIGNS = (
    "out: the host pauses its switch port; in: the port pauses the host; %: share of the time;"
    " ?: unproven, not shown by a counter; -: quiet, no counter moved"
)
_Key = tuple[str, str, tuple[Answer, ...], int, int, int]


def pfc_document(report: PfcReport) -> Document:
    """Return the report. Similar hosts share a row."""
    parts: list[Part] = []
    if report.findings:
        parts.append(Findings(items_of(report.findings)))
    ports = Table(_PORTS, tuple(map(_row, _alike(report.ports))), note=_SIGNS)
    four = Table(_CONDITIONS, tuple(_conditions(report.ports)))
    shown = (ports, four) if report.ports else (Text("no port was read", "inconclusive"),)
    parts.append(Section("Ports and the four conditions", shown))
    parts += _loudest(report.ports)
    if settings := _settings(report):
        parts.append(Section("Settings", (Facts(settings),)))
    notes = [_method(report), *(f"pressure: {each}" for each in report.pressure_evidence)]
    notes += [f"limit: {each}" for each in report.limits]
    parts += [Text(each, "note") for each in notes]
    return Document("Priority flow control", _answer(report), tuple(parts), report.verdict)


def _answer(report: PfcReport) -> str:
    priority = _priority(report)
    if report.verdict == "pass":
        ports = counted(len(report.ports), "port")
        return f"{priority} is lossless under this load: the four conditions are shown on {ports}"
    codes = [each.code for each in report.findings if each.severity == report.verdict]
    names = ", ".join(dict.fromkeys(codes))
    if report.verdict == "inconclusive":
        return f"{priority} is not proven lossless: {names}"
    failed = sum(port.answer == "fail" for port in report.ports)
    ports = f"; ports that fail a condition: {failed} of {len(report.ports)}" if failed else ""
    return f"{priority} fails: {names}{ports}"


def _priority(report: PfcReport) -> str:
    return "the priority" if report.priority is None else f"priority {report.priority}"


def _method(report: PfcReport) -> str:
    load = report.load
    senders = f", {load.senders} simultaneous senders" if load.senders else ""
    seconds = f", {duration(load.seconds)}" if load.seconds else ""
    source = report.priority_from or "not known"
    return f"load: {_LOADS[load.kind]}{senders}{seconds}; {_priority(report)}: {source}"


def _alike(ports: Sequence[PfcPort]) -> list[list[PfcPort]]:
    """Group ports that share a row, worst first."""
    groups: dict[_Key, list[PfcPort]] = defaultdict(list)
    for port in ports:
        groups[_key(port)].append(port)
    return sorted(groups.values(), key=lambda group: _order(group[0]))


def _key(port: PfcPort) -> _Key:
    """Return a key that is equal for ports with the same answers and similar numbers of pauses."""
    return (
        port.nic,
        port.driver,
        tuple(one.answer for one in port.conditions),
        _decade(port.tx.frames),
        _decade(port.rx.frames),
        _decade(port.dropped),
    )


def _decade(count: int | None) -> int:
    return -1 if count is None else len(str(count)) if count else 0


def _order(port: PfcPort) -> tuple[int, int, list[tuple[int, int, str]]]:
    return _WORST.index(port.answer), -(port.tx.frames or 0), natural(port.host)


def _row(group: Sequence[PfcPort]) -> Row:
    first = group[0]
    cells = (
        fold([port.host for port in group], 40),
        first.nic,
        *_pauses([port.tx for port in group]),
        *_pauses([port.rx for port in group]),
        _span([port.dropped for port in group]),
        *(_MARKS[each.answer] for each in first.conditions),
    )
    return Row(cells, _TONES[first.answer])


def _pauses(rates: Sequence[PauseRate]) -> list[str]:
    least = ">=" if any(rate.least for rate in rates) else ""
    shares = [rate.paused_share for rate in rates if rate.paused_share is not None]
    return [
        least + _span([rate.frames for rate in rates]),
        _span([rate.xon for rate in rates]),
        f"{100 * max(shares):.0f}" if shares else "?",
    ]


def _span(counts: Iterable[int | None]) -> str:
    """Return the lowest and the highest count; ``?`` if none is known."""
    known = sorted(count for count in counts if count is not None)
    if not known:
        return "?"
    return _short(known[0]) if known[0] == known[-1] else f"{_short(known[0])}-{_short(known[-1])}"


def _short(count: int) -> str:
    """Return a count in at most six characters: 244,655,362 becomes 245M."""
    for size, unit in ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**4, "k")):
        if count >= size:
            scale = 10**3 if unit == "k" else size
            return f"{count / scale:.3g}{unit}"
    return str(count)


def _loudest(ports: Sequence[PfcPort]) -> list[Part]:
    """Return the hosts that pause their switch ports, compared with the pauses that switches
    send.
    """
    sent = sum(port.tx.frames or 0 for port in ports)
    got = sum(port.rx.frames or 0 for port in ports)
    if not sent and not got:
        return []
    loud = sorted(ports, key=lambda port: -(port.tx.frames or 0))[:_LOUDEST]
    rows = [_loud(port, port.tx.frames, sent) for port in loud if port.tx.frames]
    total = Text(
        f"Hosts sent {sent:,} pauses to their switch ports and received {got:,} from them."
    )
    return [
        Section("Origin of the pauses", (total, Table(_LOUD, tuple(rows))) if rows else (total,))
    ]


def _loud(port: PfcPort, frames: int, all_sent: int) -> Row:
    rate = f"{port.tx.per_second:,.0f}" if port.tx.per_second else "-"
    share = f"{frames / all_sent:.1%}"
    return Row((port.host, port.nic, f"{frames:,}", rate, share, Bar(float(frames))))


def _conditions(ports: Sequence[PfcPort]) -> Iterable[Row]:
    """Yield the number of ports that meet each of the four conditions."""
    for number, (name, meaning) in enumerate(CONDITIONS.items(), start=1):
        answers = [each.answer for port in ports for each in port.conditions if each.name == name]
        counts = {each: answers.count(each) for each in ("pass", *_WORST[:-1])}
        words = [f"{count} {_MARKS[each]}" for each, count in counts.items() if count]
        yield Row((str(number), meaning, ", ".join(words) or "nothing read"))


def _settings(report: PfcReport) -> tuple[tuple[str, str], ...]:
    """Return the settings that were read from the ports, grouped by equal settings."""
    groups: dict[str, list[str]] = defaultdict(list)
    looked_at = {(port.host, port.nic) for port in report.ports}
    for each in report.settings:
        words = _set(each)
        if words and (each.host, each.nic) in looked_at:
            groups[words].append(each.host)
    shown = sorted(groups.items(), key=lambda each: -len(each[1]))
    rows = [(fold(hosts, 60), words) for words, hosts in shown[:_LOUDEST]]
    if len(shown) > _LOUDEST:
        rows.append(("others", f"{len(shown) - _LOUDEST} more kinds (--json has all)"))
    return tuple(rows)


def _set(one: PfcSettings) -> str:
    parts = []
    if one.lossless is not None:
        on = ", ".join(map(str, one.lossless)) or "no priority"
        source = f" ({', '.join(one.sources)})" if one.sources else ""
        parts.append(f"PFC on for {on}{source}")
    if one.link_rx is not None and one.link_tx is not None:
        ways = [way for way, on in (("RX", one.link_rx), ("TX", one.link_tx)) if on]
        parts.append(f"link flow control {' and '.join(ways) + ' on' if ways else 'off'}")
    if one.trust:
        parts.append(f"trust {one.trust}")
    if one.traffic_class is not None:
        parts.append(f"traffic class {one.traffic_class} (DSCP {one.traffic_class >> 2})")
    if one.willing is not None:
        parts.append("willing" if one.willing else "not willing")
    return ", ".join(parts)
