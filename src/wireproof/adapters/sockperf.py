"""sockperf: what it prints and the options that it takes.

Latency is half of a round trip (``--full-rtt``: a whole one). Its MBps is 2^20 bytes, its GBps 1000
times that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from wireproof.adapters.adapter import Adapter, Parsed, Sign
from wireproof.adapters.options import refuse_others
from wireproof.adapters.page import Page
from wireproof.adapters.registry import starts_result
from wireproof.adapters.rows import PATIENCE, number, step_of
from wireproof.model.errors import BadInput
from wireproof.model.series import Series, SeriesPoint
from wireproof.model.tool import ToolRequest

__all__ = ["ADAPTER"]

_BEGIN = re.compile(r"sockperf: == version #?([\w.-]{1,40})")
_HEAD = re.compile(
    r"sockperf: (?:== version|\[Total Run\] RunTime=|Total of \d{1,18} messages sent)"
)
_LINE = re.compile(r"sockperf(?:\[CLIENT\])?: ?(.{0,300})")
_COMMAND = re.compile(
    r"(?:^|[\s/$])sockperf\s{1,4}(ping-pong|pp|under-load|ul|throughput|tp|playback"
    r"|pb)\b([^\n]{0,300})"
)
_SIZE = re.compile(r"(?:^|\s)(?:-m|--msg-size)[ =]?(\d{1,9})\b|msg-size=(\d{1,9})")
_NAMES = {"pp": "ping-pong", "ul": "under-load", "tp": "throughput", "pb": "playback"}
_AVERAGE = re.compile(
    r"Summary: (Latency|Round trip) (?:of burst of (\d{1,9}) messages )?is (\d{1,12}\.\d{1,9}) usec"
)
_SPREAD = re.compile(r"====> avg-\w{1,10}=[\d.]{1,20} \(([^)]{1,300})\)")
_SPREAD_FIELD = re.compile(r"(std-dev|mean-ad|median-ad|siqr|std-error)=(\d{1,12}\.\d{1,9})")
_PERCENTILE = re.compile(r"---> percentile +(\d{1,3}\.\d{1,5}) = +(\d{1,12}\.\d{3})$")
_EXTREME = re.compile(r"---> <?(MAX|MIN)>? observation = +(\d{1,12}\.\d{3})$")
_TOTAL = re.compile(r"Total (\d{1,15}) observations;")
_DROPPED = re.compile(
    r"# dropped messages = (\d{1,15}); # duplicated messages = (\d{1,15}); # out-of-order "
    r"messages = (\d{1,15})"
)
_COUNTS = re.compile(
    r"\[Total Run\] RunTime=[\d.]{1,20} sec;.{0,60} SentMessages=(\d{1,18}); "
    r"ReceivedMessages=(\d{1,18})"
)
_RATE = re.compile(r"Summary: Message Rate is (\d{1,15}) \[msg/sec\]")
_BAND = re.compile(
    r"Summary: BandWidth is (\d{1,12}\.\d{1,9}) ([MG])Bps \(\d{1,12}\.\d{1,9} [MG]bps\)"
)
_PEER = re.compile(r"\[ *\d{1,6}\] IP = (\S{1,60}) +PORT = +\d{1,5} # (TCP|UDP)")
_TROUBLE = re.compile(r"(?:ERROR|No messages were|Test end before|errno)[^\n]{0,120}")
_BEFORE = 12
_DEFAULT_SIZE = 14
_MOST_US = 1e9

Protocol = Literal["", "tcp", "udp"]


@dataclass(slots=True)
class _Run:
    """What one client printed."""

    version: str = ""
    command: str = ""
    size: int | None = None
    protocol: Protocol = ""
    hosts: list[str] = field(default_factory=list)
    average: tuple[str, str, str] | None = None
    rate: int | None = None
    band: tuple[str, str] | None = None
    percentiles: dict[str, float] = field(default_factory=dict)
    extremes: dict[str, float] = field(default_factory=dict)
    observations: int | None = None
    values: dict[str, float] = field(default_factory=dict)
    trouble: str = ""
    answered: bool = False
    server: bool = False
    last: int = 0
    after: int = 0


def _statistics(run: _Run, said: str) -> None:
    percentile, extreme = _PERCENTILE.search(said), _EXTREME.search(said)
    if percentile is not None:
        run.percentiles[f"p{float(percentile.group(1)):g}"] = float(percentile.group(2))
    elif extreme is not None:
        run.extremes[extreme.group(1)] = float(extreme.group(2))
    elif (total := _TOTAL.search(said)) is not None:
        run.observations = int(total.group(1))
    elif (dropped := _DROPPED.search(said)) is not None:
        for name, count in zip(
            ("dropped", "duplicated", "out_of_order"), dropped.groups(), strict=True
        ):
            run.values[name] = float(count)
    elif (spread := _SPREAD.search(said)) is not None:
        for name, value in _SPREAD_FIELD.findall(spread.group(1)):
            run.values[f"{name.replace('-', '_')}_ns"] = float(value) * 1e3
    elif (counts := _COUNTS.search(said)) is not None:
        run.answered = 0 <= int(counts.group(1)) - int(counts.group(2)) <= 1


def _take(run: _Run, said: str) -> None:
    _statistics(run, said)
    average, rate, band = _AVERAGE.search(said), _RATE.search(said), _BAND.search(said)
    if average is not None:
        run.average = (average.group(1), average.group(2) or "1", average.group(3))
    if rate is not None:
        run.rate = int(rate.group(1))
    if band is not None:
        run.band = (band.group(1), band.group(2))
    if run.size is None and "msg-size=" in said and "NOTE: test was performed" in said:
        size = _SIZE.search(said)
        run.size = int(size.group(2) or size.group(1)) if size else None
    run.server = run.server or "[SERVER]" in said
    trouble = _TROUBLE.search(said)
    if trouble is not None:
        run.trouble = "".join(char for char in trouble.group(0) if char.isprintable())


def _ask(run: _Run, page: Page, start: int) -> None:
    """The nearest sockperf command above, if the log has it: the test's name and its message
    size.
    """
    for index in range(start - 1, max(-1, start - _BEFORE), -1):
        command = _COMMAND.search(page.lines[index])
        if command is not None:
            run.command = _NAMES.get(command.group(1), command.group(1))
            size = _SIZE.search(command.group(2))
            run.size = int(size.group(1)) if size and size.group(1) else None
            return
        if "using the following parameters:" in page.lines[index]:  # the head of --full-log
            size = _SIZE.search(page.lines[index])
            run.size = int(size.group(1) or size.group(2)) if size else None
            return
        if _LINE.search(page.lines[index]):
            return


def _another(run: _Run, line: str, own: bool) -> bool:
    """True when another result begins: a new version line, or a second summary."""
    if not own:
        return starts_result(line)
    done = run.average is not None or run.rate is not None
    begins = _HEAD.search(line) is not None or (
        run.average is not None and _AVERAGE.search(line) is not None
    )
    return _BEGIN.search(line) is not None or (begins and done)


def _collect(page: Page, start: int) -> _Run:
    run, idle = _Run(last=start), 0
    version = _BEGIN.search(page.lines[start])
    run.version = version.group(1) if version else ""
    _ask(run, page, start)
    for index in range(start, len(page.lines)):
        line = page.lines[index]
        run.after = index
        match, peer = _LINE.search(line), _PEER.search(line)
        if index > start and _another(run, line, match is not None):
            return run
        if match is not None:
            _take(run, match.group(1))
            run.last, idle = index, 0
        elif peer is not None:
            run.hosts = run.hosts or [peer.group(1)]
            run.protocol = "tcp" if peer.group(2) == "TCP" else "udp"
        elif line.strip() and (idle := idle + 1) > PATIENCE:
            return run
    run.after = len(page.lines)
    return run


def _latency(run: _Run, line: int) -> SeriesPoint | None:
    if run.average is None:
        return None
    kind, _, text = run.average
    share = 2 if kind == "Round trip" else 1
    mean = number(text)
    times = [mean or 0.0, *run.percentiles.values(), *run.extremes.values()]
    if not mean or any(not 0 <= value < _MOST_US for value in times):
        return None
    scale = 1e3 / share
    halved = {
        name: value / share if name.endswith("_ns") else value for name, value in run.values.items()
    }
    return SeriesPoint(
        message_bytes=run.size if run.size is not None else _DEFAULT_SIZE,
        hrt_ns=mean * scale,
        time_min_ns=run.extremes["MIN"] * scale if "MIN" in run.extremes else None,
        time_max_ns=run.extremes["MAX"] * scale if "MAX" in run.extremes else None,
        iterations=run.observations,
        time_step_ns=step_of(text) * scale,
        percentiles={name: value * scale for name, value in run.percentiles.items()},
        values=halved,
        line=line,
    )


def _throughput(run: _Run, line: int) -> tuple[SeriesPoint | None, str]:
    """The message size is bandwidth / message rate where no line says it: both are printed."""
    if run.band is None or not run.rate:
        return None, ""
    factor = (1 << 20) * (1000 if run.band[1] == "G" else 1)
    goodput = (number(run.band[0]) or 0.0) * factor
    size, note = run.size, ""
    if size is None:
        size = round(goodput / run.rate)
        note = f"message size {size} = bandwidth / message rate"
    if not 0 < goodput < 1e15:
        return None, ""
    return SeriesPoint(
        message_bytes=size,
        goodput_bytes_per_s=goodput,
        messages_per_s=float(run.rate),
        goodput_step=step_of(run.band[0]) * factor,
        line=line,
    ), note


def _notes(run: _Run, point: SeriesPoint | None, streams: bool) -> list[str]:
    notes = []
    if point is not None and run.size is None and not streams:
        notes.append(
            f"the message size is not printed: {_DEFAULT_SIZE} bytes, sockperf's default, is taken"
        )
    if run.average is not None and run.average[0] == "Round trip":
        notes.append("whole round trips were printed: all times here are half of them")
    if run.average is not None and run.average[1] != "1":
        notes.append(f"bursts of {run.average[1]} messages: the time is that of a burst")
    if streams:
        notes.append("the sender's own count: nobody counted what arrived")
    return notes


def _state(run: _Run, point: SeriesPoint | None, streams: bool) -> str:
    if run.trouble and point is None:
        return run.trouble
    if point is None:
        return "no summary: the run did not finish or the log is cut"
    if not streams and "MIN" not in run.extremes:
        return "the table of percentiles is cut"
    return ""


def parse(page: Page, start: int) -> Parsed:
    """The run of a client that begins on line index ``start``; a server prints no result."""
    run = _collect(page, start)
    streams = run.band is not None or run.rate is not None or run.command == "throughput"
    point, note = _throughput(run, run.last + 1) if streams else (_latency(run, run.last + 1), "")
    if run.server and point is None:
        return Parsed([], max(run.after, start + 1))
    incomplete = _state(run, point, streams)
    series = Series(
        tool="sockperf",
        version=run.version,
        benchmark=run.command or ("throughput" if streams else "ping-pong"),
        metric="bandwidth" if streams else "half_round_trip",
        traffic="stream" if streams else "pingpong",
        points=[point] if point is not None else [],
        formula="messages x size / run time, as sent"
        if streams
        else "mean round trip / 2, after a warm-up of 0.4 s",
        unit="MBps = 2^20 bytes per second" if streams else "us",
        waits=run.answered and not streams,
        protocol=run.protocol,
        complete=not incomplete,
        incomplete=incomplete,
        hosts=run.hosts,
        notes=[*_notes(run, point, streams), *([note] if note else [])],
        source=page.source,
        first_line=start + 1,
        last_line=run.last + 1,
    )
    return Parsed([series], max(run.after, start + 1))


_ABLE = ("server", "port", "sizes", "seconds", "socket_buffer_bytes", "cpu")


def argv(request: ToolRequest) -> tuple[str, ...]:
    """``sockperf ping-pong -i SERVER -p 11111 -m 64 -t 10``; ``server`` is also the address that a
    server binds to.

    ``benchmark``: ping-pong (the default), under-load, throughput; TCP by ``extra`` (``--tcp``), on
    both ends.
    """
    refuse_others(request, "sockperf", *_ABLE)
    test = _NAMES.get(request.benchmark, request.benchmark) or "ping-pong"
    if test not in ("ping-pong", "under-load", "throughput"):
        raise BadInput(
            f"sockperf has no test {test!r} here: there are ping-pong, under-load, throughput."
        )
    if len(request.sizes) > 1:
        raise BadInput(
            f"sockperf measures one message size a run: {len(request.sizes)} sizes were asked for."
        )
    client = request.role == "client"
    if client and not request.server:
        raise BadInput("sockperf's client needs the server's address.")
    words = [request.program, test if client else "server"]
    if request.server:
        words += ["-i", request.server]
    if request.port is not None:
        words += ["-p", str(request.port)]
    if client and request.sizes:
        words += ["-m", str(request.sizes[0])]
    if client and request.seconds is not None:
        words += ["-t", f"{request.seconds:g}"]
    if request.socket_buffer_bytes is not None:
        words += ["--buffer-size", str(request.socket_buffer_bytes)]
    if request.cpu is not None:
        words += ["--sender-affinity" if client else "--cpu-affinity", str(request.cpu)]
    return (*words, *request.extra)


ADAPTER = Adapter(
    name="sockperf",
    signs=(
        Sign("sockperf:", r"sockperf: == version"),
        Sign("sockperf:", r"sockperf: \[Total Run\] RunTime="),
        Sign("sockperf:", r"sockperf: Total of \d{1,18} messages sent"),
        Sign("sockperf:", r"sockperf: Summary: (?:Latency|Round trip|Message Rate|BandWidth) "),
    ),
    parse=parse,
    argv=argv,
)
