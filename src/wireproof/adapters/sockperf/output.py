"""sockperf: what it prints and the options that it takes.

Latency is half of a round trip (``--full-rtt``: a whole one). Its MBps is 2^20 bytes, its GBps 1000
times that.
"""

from __future__ import annotations

from wireproof.adapters.adapter import Adapter, Parsed, Sign
from wireproof.adapters.benchmark import Benchmark
from wireproof.adapters.options import given, one_size, refuse_others, server_of
from wireproof.adapters.page import Page
from wireproof.adapters.rows import number, scaled, step_of
from wireproof.adapters.sockperf.run import NAMES, Run, collect
from wireproof.model.errors import BadInput
from wireproof.model.series import Series, SeriesPoint
from wireproof.model.tool import ToolRequest

__all__ = ["ADAPTER"]

_DEFAULT_SIZE = 14
_MOST_US = 1e9


def _latency(run: Run, line: int) -> SeriesPoint | None:
    if run.average is None:
        return None
    kind, _, text = run.average
    share = 2 if kind == "Round trip" else 1
    mean = number(text)
    times = [mean or 0.0, *run.percentiles.values(), *run.extremes.values()]
    if not mean or any(not 0 <= value < _MOST_US for value in times):
        return None
    scale = 1e3 / share
    return SeriesPoint(
        message_bytes=run.size if run.size is not None else _DEFAULT_SIZE,
        hrt_ns=mean * scale,
        time_min_ns=scaled(run.extremes.get("MIN"), scale),
        time_max_ns=scaled(run.extremes.get("MAX"), scale),
        iterations=run.observations,
        time_step_ns=step_of(text) * scale,
        percentiles={name: value * scale for name, value in run.percentiles.items()},
        values=_shared(run.values, share),
        line=line,
    )


def _shared(values: dict[str, float], share: int) -> dict[str, float]:
    """``values`` with their times divided by ``share``."""
    return {
        name: value / share if name.endswith("_ns") else value for name, value in values.items()
    }


def _throughput(run: Run, line: int) -> tuple[SeriesPoint | None, str]:
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


def _notes(run: Run, point: SeriesPoint | None, streams: bool) -> list[str]:
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
        notes.append("the sender's own count: what arrived was not counted")
    return notes


def _state(run: Run, point: SeriesPoint | None, streams: bool) -> str:
    if run.trouble and point is None:
        return run.trouble
    if point is None:
        return "no summary: the run did not finish or the log is cut"
    if not streams and "MIN" not in run.extremes:
        return "the table of percentiles is cut"
    return ""


_STREAM = Benchmark("throughput", "bandwidth", "stream", "messages x size / run time, as sent")
_ANSWERED = Benchmark(
    "ping-pong", "half_round_trip", "pingpong", "mean round trip / 2, after a warm-up of 0.4 s"
)


def parse(page: Page, start: int) -> Parsed:
    """The run of a client that begins on line index ``start``; a server prints no result."""
    run = collect(page, start)
    after, line = max(run.after, start + 1), run.last + 1
    streams = run.band is not None or run.rate is not None or run.command == "throughput"
    point, note = _throughput(run, line) if streams else (_latency(run, line), "")
    if run.server and point is None:
        return Parsed([], after)
    kind = _STREAM if streams else _ANSWERED
    incomplete = _state(run, point, streams)
    series = Series(
        tool="sockperf",
        version=run.version,
        benchmark=run.command or kind.name,
        metric=kind.metric,
        traffic=kind.traffic,
        points=[point] if point is not None else [],
        formula=kind.formula,
        unit="MBps = 2^20 bytes per second" if streams else "us",
        waits=run.answered and not streams,
        protocol=run.protocol,
        complete=not incomplete,
        incomplete=incomplete,
        hosts=run.hosts,
        notes=[*_notes(run, point, streams), *([note] if note else [])],
        source=page.source,
        first_line=start + 1,
        last_line=line,
    )
    return Parsed([series], after)


_ABLE = ("server", "port", "sizes", "seconds", "socket_buffer_bytes", "cpu")


def argv(request: ToolRequest) -> tuple[str, ...]:
    """``sockperf ping-pong -i SERVER -p 11111 -m 64 -t 10``; ``server`` is also the address that a
    server binds to.

    ``benchmark``: ping-pong (the default), under-load, throughput; TCP by ``extra`` (``--tcp``), on
    both ends.
    """
    refuse_others(request, "sockperf", *_ABLE)
    test = NAMES.get(request.benchmark, request.benchmark) or "ping-pong"
    if test not in ("ping-pong", "under-load", "throughput"):
        raise BadInput(
            f"sockperf has no test {test!r} here: there are ping-pong, under-load, throughput."
        )
    size = one_size(request, "sockperf measures one message size a run")
    server_of(request, "sockperf")
    client = request.role == "client"
    options = given(
        ("-i", request.server),
        ("-p", request.port),
        ("-m", size if client else None),
        ("-t", request.seconds if client else None),
        ("--buffer-size", request.socket_buffer_bytes),
        ("--sender-affinity" if client else "--cpu-affinity", request.cpu),
    )
    return (request.program, test if client else "server", *options, *request.extra)


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
