# pure
"""iperf3 and iperf 2: JSON (``-J``, ``--json-stream``), text, and the options.

In JSON the sums at the end are the result, and the intervals show its variation. The text of iperf
2 is also read. Transfers and byte rates count in powers of 1024, bit rates in powers of 1000.
"""

import re
from typing import Any

from wireproof.logs.readers.documents import JsonText, amount, document_at, items, member, text
from wireproof.logs.readers.iperf3.text_output import (
    IperfFlow,
    parse_text,
    series_of,
    spread,
)
from wireproof.logs.readers.page import Page
from wireproof.logs.readers.registry import (
    Adapter,
    Parsed,
    given,
    one_size,
    refuse_others,
    server_of,
    whole_seconds,
)
from wireproof.model.errors import BadInput
from wireproof.model.series import ToolRequest

DOCUMENT = re.compile(r'"start" ?: ?\{')
STREAM = re.compile(r'^ *\{ ?"event" ?: ?"start"')
_EVENT = re.compile(r'"event" ?: ?"(\w{1,20})"')


def _flow(end: dict[str, Any], suffix: str, *, client: bool) -> IperfFlow | None:
    """Return the received rate, or the sent rate if the other end did not report: a server that
    sends prints 0 for the client's received bytes. For UDP of old versions: sent x (1 - lost /
    all).
    """
    received, sent = member(end, f"sum_received{suffix}"), member(end, f"sum_sent{suffix}")
    plain = member(end, "sum") if not suffix else {}
    extra = _extra(sent, received, plain)
    rate = amount(received.get("bits_per_second"))
    if rate:
        return IperfFlow(rate / 8, "received", extra)
    arrived = _arrived(plain)
    if arrived is not None:
        return IperfFlow(arrived, "sent x (1 - lost / all)", extra)
    if client and rate is not None:
        return IperfFlow(rate, "received", extra)
    rate = amount(sent.get("bits_per_second"))
    if rate:
        return IperfFlow(rate / 8, "sent", extra)
    return _streams(end) if not suffix else None


def _arrived(plain: dict[str, Any]) -> float | None:
    rate = amount(plain.get("bits_per_second"))
    lost, packets = amount(plain.get("lost_packets")), amount(plain.get("packets"))
    if not rate or not packets or lost is None:
        return None
    return rate / 8 * max(0.0, 1 - lost / packets)


def _streams(end: dict[str, Any]) -> IperfFlow | None:
    """Return the flow from the streams' ends: the first versions have no sums for a single
    stream.
    """
    ends = [member(one, "receiver") for one in items(end.get("streams"))]
    rates = [amount(one.get("bits_per_second")) for one in ends]
    known = [rate for rate in rates if rate]
    if not known or len(known) < len(rates):
        return None
    return IperfFlow(sum(known) / 8, "received", _extra({}, ends[0], {}) if len(ends) == 1 else {})


def _extra(
    sent: dict[str, Any], received: dict[str, Any], plain: dict[str, Any]
) -> dict[str, float]:
    names = ("retransmits", "seconds", "bytes", "jitter_ms", "lost_packets", "packets")
    return {
        name: value
        for name in (*names, "lost_percent")
        for part in (sent, plain, received)  # the last of them counts
        if (value := amount(part.get(name))) is not None
    }


def _range(intervals: object) -> dict[str, float]:
    """Return the slowest and the fastest whole interval; a last interval shorter than half of the
    first is left out.
    """
    sums = [member(one, "sum") for one in items(intervals)]
    kept = [one for one in sums if one.get("omitted") is not True]
    length = amount(kept[0].get("seconds")) if kept else None
    if length is None:
        return {}
    read = ((amount(one.get("bits_per_second")), amount(one.get("seconds"))) for one in kept)
    whole = (rate for rate, seconds in read if seconds is not None and seconds >= length / 2)
    return spread([rate / 8 for rate in whole if rate is not None])


def _rtt(end: dict[str, Any]) -> dict[str, float]:
    senders = [member(one, "sender") for one in items(end.get("streams"))]
    found = {}
    for name, pick in (("min_rtt", min), ("mean_rtt", max), ("max_rtt", max)):
        values = [value for value in (amount(one.get(name)) for one in senders) if value]
        if values:
            found[f"{name}_ns"] = pick(values) * 1e3
    return found


def _hosts(start: dict[str, Any]) -> list[str]:
    first = member(next(iter(items(start.get("connected"))), None))
    return list(filter(None, (text(first.get(name)) for name in ("local_host", "remote_host"))))


def _notes(test: dict[str, Any]) -> list[str]:
    notes = [f"omitted: the first {test['omit']:g} s"] if amount(test.get("omit")) else []
    return notes + (["reverse: the server sends"] if amount(test.get("reverse")) else [])


def _incomplete(document: JsonText, forward: IperfFlow | None) -> str:
    why = document.why or text((document.value or {}).get("error"))
    if why or forward:
        return why
    return "the document has no sums at its end: the run did not finish"


def _parsed(page: Page, start: int, document: JsonText) -> Parsed:
    value = document.value or {}
    begin, end = member(value, "start"), member(value, "end")
    test = member(begin, "test_start")
    client = "connecting_to" in begin
    forward = _flow(end, "", client=client)
    back = _flow(end, "_bidir_reverse", client=client)
    protocol = text(test.get("protocol")).lower()
    block, streams = amount(test.get("blksize")), amount(test.get("num_streams"))
    intervals = _range(value.get("intervals")) if back is None else {}
    series = series_of(
        [flow for flow in (forward, back) if flow is not None],
        protocol or "tcp",
        first_line=start + 1,
        last_line=min(document.after, len(page.lines)),
        block=int(block) if block else None,
        protocol=protocol if protocol in ("tcp", "udp") else "",
        version=text(begin.get("version")).removeprefix("iperf").strip(" ."),
        pairs=max(1, int(streams or 1)),
        incomplete=_incomplete(document, forward),
        hosts=_hosts(begin),
        both=back is not None,
        values=intervals | _rtt(end),
        notes=_notes(test),
    )
    return Parsed([series], document.after)


def parse_stream(page: Page, start: int) -> Parsed:
    """Parse one event per line: start, intervals, end; combined into the document that ``-J``
    prints.
    """
    value: dict[str, Any] = {"intervals": []}
    after, whole = start, False
    for index in range(start, len(page.lines)):
        line = page.lines[index]
        kind = _kind_of(line)
        if index > start and (kind == "start" or (not kind and line.strip())):
            break
        after = index + 1
        if not kind:
            continue
        document = document_at(Page(page.source, [line], page.cut), 0, _EVENT).value
        _add_event(value, kind, (document or {}).get("data"))
        whole = kind == "end" and document is not None
        if whole:
            break
    why = "" if whole else "the end event is missing: the run did not finish"
    return _parsed(page, start, JsonText(value, after, why))


def _add_event(value: dict[str, Any], kind: str, data: object) -> None:
    if kind == "interval":
        value["intervals"].append(data)
    elif kind in ("start", "end", "error"):
        value[kind] = data


def _kind_of(line: str) -> str:
    """Return the kind of event on a line, such as ``start``; "" if there is none."""
    event = _EVENT.search(line) if line.lstrip().startswith("{") else None
    return event.group(1) if event else ""


# --- The options.

_BENCHMARKS = {"": (), "tcp": (), "udp": ("-u",), "reverse": ("-R",), "bidir": ("--bidir",)}


def parse(page: Page, start: int) -> Parsed:
    """Parse the run that begins on line index ``start``."""
    line = page.lines[start]
    if STREAM.search(line):
        return parse_stream(page, start)
    if DOCUMENT.search(line):
        return _parsed(page, start, document_at(page, start, DOCUMENT))
    return parse_text(page, start)


def _client(request: ToolRequest) -> list[str]:
    if request.seconds is not None and request.iterations is not None:
        raise BadInput("iperf3 runs for seconds or for a number of blocks, not both.")
    options = given(
        ("-t", whole_seconds(request.seconds, "iperf3")),
        ("-k", request.iterations),
        ("-O", whole_seconds(request.omit_seconds, "iperf3")),
        ("-l", one_size(request, "iperf3 measures one block length per run")),
        ("-w", request.socket_buffer_bytes),
    )
    return ["-c", server_of(request, "iperf3"), *_BENCHMARKS[request.benchmark], *options, "-J"]


def argv(request: ToolRequest) -> tuple[str, ...]:
    """Return ``iperf3 -c SERVER -t 12 -O 2 -l 1048576 -J -A 4``; the server serves one client and
    then exits (``-s -1``).

    ``benchmark``: tcp (default), udp, reverse, bidir. ``omit_seconds`` come before the measured
    ``seconds``.
    """
    refuse_others(
        request,
        "iperf3",
        "server",
        "port",
        "sizes",
        "iterations",
        "seconds",
        "omit_seconds",
        "socket_buffer_bytes",
        "cpu",
        "device",
    )
    if request.benchmark not in _BENCHMARKS:
        known = ", ".join(name for name in _BENCHMARKS if name)
        raise BadInput(f"iperf3 has no test {request.benchmark!r}: its tests are {known}.")
    own = _client(request) if request.role == "client" else ["-s", "-1"]
    options = given(("-p", request.port), ("-A", request.cpu), ("--bind-dev", request.device))
    return (request.program, *own, *options, *request.extra)


ADAPTER = Adapter(
    name="iperf3",
    parse=parse,
    argv=argv,
)
