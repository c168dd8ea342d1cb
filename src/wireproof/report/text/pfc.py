"""Priority flow control, for people: the verdict, who pauses whom, and why."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Iterable, Sequence

from wireproof.model.finding import Finding
from wireproof.model.pfc import (
    CONDITIONS,
    Answer,
    PauseRate,
    PfcLoad,
    PfcPort,
    PfcReport,
    PfcSettings,
)
from wireproof.report.columns import Head, fitting
from wireproof.report.names import clean, fold, natural
from wireproof.report.text.look import Look

__all__ = ["pfc_lines"]

_WORDS = {"pass": "PASS", "fail": "FAIL", "inconclusive": "INCONCLUSIVE"}
_MARKS: dict[Answer, str] = {"pass": "ok", "fail": "FAIL", "unproven": "?", "quiet": "-"}
_WORST: tuple[Answer, ...] = ("fail", "unproven", "quiet", "pass")
_MOST_ROWS = 40
_LOUDEST = 5
_LOADS = {
    "incast": "our own incast",
    "command": "the command",
    "none": "what ran there",
    "stored": "stored readings",
}
_HEADS = (
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
_Key = tuple[str, str, tuple[Answer, ...], int, int, int]


def pfc_lines(report: PfcReport, look: Look) -> list[str]:
    """The verdict first; hosts that are alike share a row."""
    verdict = f"priority flow control: {_WORDS[report.verdict]}"
    lines = _wrapped([f"{verdict} ({_priority(report)}; {_load(report.load)})"], look, "")
    lines += _wrapped((f"pressure: {one}" for one in report.pressure_evidence), look, "  ")
    lines += ["", *_table(report.ports, look), *_loudest(report.ports, look)]
    lines += ["", *_conditions(report.ports, look), *_settings(report, look)]
    for one in report.findings:
        lines += ["", *_finding(one, look)]
    lines += ["", *_wrapped(report.limits, look, "  limit: ")]
    return lines


def _priority(report: PfcReport) -> str:
    if report.priority is None:
        return "priority not known"
    return f"priority {report.priority}, {report.priority_from}"


def _load(load: PfcLoad) -> str:
    said = _LOADS[load.kind]
    if load.senders:
        said += f", {load.senders} senders at once"
    return f"{said}, {load.seconds:.3g} s" if load.seconds else said


def _table(ports: Sequence[PfcPort], look: Look) -> list[str]:
    groups: dict[_Key, list[PfcPort]] = defaultdict(list)
    for port in ports:
        groups[_key(port)].append(port)
    ordered = sorted(groups.values(), key=lambda group: (_rank(group[0]), _order(group[0])))
    cells = [_row(group) for group in ordered[:_MOST_ROWS]]
    if not cells:
        return ["  no port was read"]
    wide = [[clean(cell, 60) for cell in row] for row in cells]
    kept, gap, dropped = fitting(_HEADS, wide, look.width - 2)
    rows = [[head.title for head in _HEADS], *wide]
    widths = [max(len(row[index]) for row in rows) for index in range(len(_HEADS))]
    lines = ["  " + _joined(row, kept, widths, gap) for row in rows]
    if dropped:
        shown = ", ".join(dict.fromkeys(dropped))
        lines += _wrapped([f"(not shown for want of room: {shown}; --json has them)"], look, "  ")
    if len(ordered) > _MOST_ROWS:
        lines.append(f"  ... and {len(ordered) - _MOST_ROWS} more kinds of ports (--json has all)")
    return lines


def _joined(row: Sequence[str], kept: Iterable[int], widths: Sequence[int], gap: int) -> str:
    shown = [
        row[index].ljust(widths[index]) if _HEADS[index].left else row[index].rjust(widths[index])
        for index in kept
    ]
    return (" " * gap).join(shown).rstrip()


def _key(port: PfcPort) -> _Key:
    """Ports with the same answers and about as many pauses are alike."""
    answers = tuple(one.answer for one in port.conditions)
    return (
        port.nic,
        port.driver,
        answers,
        _decade(port.tx.frames),
        _decade(port.rx.frames),
        _decade(port.dropped),
    )


def _decade(count: int | None) -> int:
    return -1 if count is None else len(str(count)) if count else 0


def _rank(port: PfcPort) -> int:
    return _WORST.index(port.answer)


def _order(port: PfcPort) -> tuple[int, list[tuple[int, int, str]]]:
    return -(port.tx.frames or 0), natural(port.host)


def _row(group: Sequence[PfcPort]) -> list[str]:
    first = group[0]
    return [
        fold([one.host for one in group], 40),
        first.nic,
        *_pauses([one.tx for one in group]),
        *_pauses([one.rx for one in group]),
        _span([one.dropped for one in group]),
        *(_MARKS[one.answer] for one in first.conditions),
    ]


def _pauses(rates: Sequence[PauseRate]) -> list[str]:
    least = ">=" if any(rate.least for rate in rates) else ""
    shares = [rate.paused_share for rate in rates if rate.paused_share is not None]
    return [
        least + _span([rate.frames for rate in rates]),
        _span([rate.xon for rate in rates]),
        f"{100 * max(shares):.0f}" if shares else "?",
    ]


def _span(counts: Iterable[int | None]) -> str:
    """The least and the most of them; ``?`` where none is known."""
    known = sorted(count for count in counts if count is not None)
    if not known:
        return "?"
    return _short(known[0]) if known[0] == known[-1] else f"{_short(known[0])}-{_short(known[-1])}"


def _short(count: int) -> str:
    """At most six characters: 244,655,362 is 245M."""
    for size, unit in ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**4, "k")):
        if count >= size:
            scale = 10**3 if unit == "k" else size
            return f"{count / scale:.3g}{unit}"
    return str(count)


def _loudest(ports: Sequence[PfcPort], look: Look) -> list[str]:
    """Who pauses whom: the hosts that stop their switch ports, beside what switches stop."""
    sent = sum(port.tx.frames or 0 for port in ports)
    got = sum(port.rx.frames or 0 for port in ports)
    if not sent and not got:
        return []
    said = f"hosts sent {sent:,} pauses to their switch ports and got {got:,} from them"
    lines = ["", *_wrapped([said], look, "  ")]
    loud = sorted(ports, key=lambda port: -(port.tx.frames or 0))[:_LOUDEST]
    for port in loud:
        if not port.tx.frames:
            break
        rate = f", {port.tx.per_second:,.0f}/s" if port.tx.per_second else ""
        share = f", {port.tx.frames / sent:.1%} of all"
        said = f"{port.host} {port.nic} -> its switch port: {port.tx.frames:,}{rate}{share}"
        lines += _wrapped([said], look, "    ")
    return lines


def _conditions(ports: Sequence[PfcPort], look: Look) -> list[str]:
    """What 1 to 4 are, and on how many ports each holds."""
    lines = []
    for number, (name, meaning) in enumerate(CONDITIONS.items(), start=1):
        answers = [one.answer for port in ports for one in port.conditions if one.name == name]
        counts = [
            f"{answers.count(answer)} {_MARKS[answer]}"
            for answer in ("pass", "fail", "unproven", "quiet")
            if answers.count(answer)
        ]
        said = f"{meaning}: {', '.join(counts) or 'nothing read'}"
        lines += _wrapped([said], look, f"  {number} ")
    said = (
        "(out: the host stops its switch port; in: that stops the host; %: of the time. ? unproven:"
        " no counter shows it; - quiet: nothing moved that could show it)"
    )
    return lines + _wrapped([said], look, "  ")


def _settings(report: PfcReport, look: Look) -> list[str]:
    """What was read of the ports' settings, hosts that are alike together."""
    groups: dict[str, list[str]] = defaultdict(list)
    looked_at = {(port.host, port.nic) for port in report.ports}
    for one in report.settings:
        said = _set(one)
        if said and (one.host, one.nic) in looked_at:
            groups[said].append(one.host)
    shown = sorted(groups.items(), key=lambda each: -len(each[1]))
    texts = [f"{fold(hosts, 60)}: {said}" for said, hosts in shown[:_LOUDEST]]
    if len(shown) > _LOUDEST:
        texts.append(f"... and {len(shown) - _LOUDEST} more kinds (--json has all)")
    return _wrapped(texts, look, "  settings of ")


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


def _finding(one: Finding, look: Look) -> list[str]:
    hosts = one.evidence.get("hosts")
    where = f" [{fold(hosts, 60)}]" if isinstance(hosts, list) and len(hosts) > 1 else ""
    said = f"{one.severity}: {clean(one.message, 600)}{where} [{one.code}]"
    return [*_wrapped([said], look, "  "), *_wrapped([one.advice], look, "    next: ")]


def _wrapped(texts: Iterable[str], look: Look, lead: str) -> list[str]:
    return [
        line
        for text in texts
        for line in textwrap.wrap(
            clean(text, 1200),
            max(40, look.width),
            initial_indent=lead,
            subsequent_indent=" " * len(lead),
            break_on_hyphens=False,
        )
    ]
