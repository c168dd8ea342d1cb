"""iperf3's JSON (``-J``, ``--json-stream``): the sums at its end are the result, the intervals say
how even it was.
"""

from __future__ import annotations

import re
from typing import Any, Literal

from wireproof.adapters.adapter import Parsed
from wireproof.adapters.documents import Document, amount, document_at, member, text
from wireproof.adapters.iperf3.results import Flow, Said, series_of
from wireproof.adapters.page import Page

__all__ = ["DOCUMENT", "STREAM", "parse_document", "parse_stream"]

DOCUMENT = re.compile(r'"start" ?: ?\{')
STREAM = re.compile(r'^ *\{ ?"event" ?: ?"start"')
_EVENT = re.compile(r'"event" ?: ?"(\w{1,20})"')


def _flow(end: dict[str, Any], suffix: str) -> Flow | None:
    """What arrived; what was sent, if the other end did not tell. UDP of old versions: sent x (1 -
    lost / all).
    """
    received, sent = member(end, f"sum_received{suffix}"), member(end, f"sum_sent{suffix}")
    plain = member(end, "sum") if not suffix else {}
    rate = amount(received.get("bits_per_second"))
    if rate:
        return Flow(rate / 8, "received", _extra(sent, received, plain))
    rate = amount(plain.get("bits_per_second"))
    lost, packets = amount(plain.get("lost_packets")), amount(plain.get("packets"))
    if rate and packets and lost is not None:
        return Flow(
            rate / 8 * max(0.0, 1 - lost / packets),
            "sent x (1 - lost / all)",
            _extra(sent, received, plain),
        )
    rate = amount(sent.get("bits_per_second"))
    if rate:
        return Flow(rate / 8, "sent", _extra(sent, received, plain))
    return _streams(end) if not suffix else None


def _streams(end: dict[str, Any]) -> Flow | None:
    """The first versions have no sums for one stream, only what each stream's ends counted."""
    streams = end.get("streams")
    ends = (
        [member(one, "receiver") for one in streams if isinstance(one, dict)]
        if isinstance(streams, list)
        else []
    )
    rates = [amount(one.get("bits_per_second")) for one in ends]
    known = [rate for rate in rates if rate]
    if not known or len(known) < len(rates):
        return None
    return Flow(sum(known) / 8, "received", _extra({}, ends[0], {}) if len(ends) == 1 else {})


def _extra(
    sent: dict[str, Any], received: dict[str, Any], plain: dict[str, Any]
) -> dict[str, float]:
    found = {}
    for name in (
        "retransmits",
        "seconds",
        "bytes",
        "jitter_ms",
        "lost_packets",
        "packets",
        "lost_percent",
    ):
        for part in (received, plain, sent):
            value = amount(part.get(name))
            if value is not None:
                found[name] = value
                break
    return found


def _range(intervals: object, name: str) -> dict[str, float]:
    """Slowest and fastest whole interval; a last one that is shorter than half of the first is left
    out.
    """
    sums = (
        [member(one, name) for one in intervals if isinstance(one, dict)]
        if isinstance(intervals, list)
        else []
    )
    kept = [one for one in sums if one.get("omitted") is not True]
    length = amount(kept[0].get("seconds")) if kept else None
    rates = []
    for one in kept:
        rate, seconds = amount(one.get("bits_per_second")), amount(one.get("seconds"))
        if (
            rate is not None
            and seconds is not None
            and length is not None
            and seconds >= length / 2
        ):
            rates.append(rate / 8)
    if len(rates) < 2:
        return {}
    return {
        "interval_min_bytes_per_s": min(rates),
        "interval_max_bytes_per_s": max(rates),
        "intervals": len(rates),
    }


def _rtt(end: dict[str, Any]) -> dict[str, float]:
    streams = end.get("streams")
    senders = (
        [member(one, "sender") for one in streams if isinstance(one, dict)]
        if isinstance(streams, list)
        else []
    )
    found = {}
    for name, pick in (("min_rtt", min), ("mean_rtt", max), ("max_rtt", max)):
        values = [value for value in (amount(one.get(name)) for one in senders) if value]
        if values:
            found[f"{name}_ns"] = pick(values) * 1e3
    return found


def _hosts(start: dict[str, Any]) -> list[str]:
    connected = start.get("connected")
    first = (
        connected[0]
        if isinstance(connected, list) and connected and isinstance(connected[0], dict)
        else {}
    )
    named = [text(first.get("local_host")), text(first.get("remote_host"))]
    return [host for host in named if host]


def _parsed(page: Page, start: int, document: Document) -> Parsed:
    value = document.value or {}
    begin, end = member(value, "start"), member(value, "end")
    test = member(begin, "test_start")
    forward = _flow(end, "")
    back = _flow(end, "_bidir_reverse")
    why = document.why or text(value.get("error"))
    protocol = text(test.get("protocol")).lower()
    block, streams = amount(test.get("blksize")), amount(test.get("num_streams"))
    values = (_range(value.get("intervals"), "sum") if back is None else {}) | _rtt(end)
    reverse = amount(test.get("reverse"))
    known: Literal["", "tcp", "udp"] = (
        "udp" if protocol == "udp" else "tcp" if protocol == "tcp" else ""
    )
    notes = [f"omitted: the first {test['omit']:g} s"] if amount(test.get("omit")) else []
    notes += ["reverse: the server sends"] if reverse else []
    said = Said(
        lines=(start + 1, min(document.after, len(page.lines))),
        message_bytes=int(block) if block else None,
        protocol=known,
        benchmark=protocol or "tcp",
        version=text(begin.get("version")).removeprefix("iperf").strip(" ."),
        streams=int(streams) if streams else 1,
        incomplete=why
        or ("" if forward else "the document has no sums at its end: the run did not finish"),
        hosts=_hosts(begin),
        both=back is not None,
        values=values,
        notes=notes,
    )
    series = series_of(page, [flow for flow in (forward, back) if flow is not None], said)
    return Parsed([series], document.after)


def parse_document(page: Page, start: int) -> Parsed:
    """The document whose ``"start": {`` is on line index ``start``."""
    return _parsed(page, start, document_at(page, start, DOCUMENT))


def parse_stream(page: Page, start: int) -> Parsed:
    """One event a line: start, intervals, end."""
    value: dict[str, Any] = {"intervals": []}
    index, why = start, "the events end without the end's own: the run did not finish"
    for index in range(start, len(page.lines)):
        line = page.lines[index]
        event = _EVENT.search(line) if line.lstrip().startswith("{") else None
        if event is None or (index > start and event.group(1) == "start"):
            if index > start and line.strip():
                index -= 1
                break
            continue
        document = document_at(Page(page.source, [line], page.cut), 0, _EVENT)
        data = document.value or {}
        kind = event.group(1)
        if kind == "interval":
            value["intervals"].append(data.get("data"))
        elif kind in ("start", "end"):
            value[kind] = data.get("data")
        elif kind == "error":
            value["error"] = data.get("data")
        if kind == "end" and document.value is not None:
            why = ""
            break
    return _parsed(page, start, Document(value, index + 1, why))
