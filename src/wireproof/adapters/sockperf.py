"""sockperf."""

import re
from dataclasses import dataclass, field
from typing import Literal

from wireproof.adapters.options import given, one_size, refuse_others, server_of
from wireproof.adapters.page import Page
from wireproof.adapters.registry import Adapter, Benchmark, Parsed, starts_result
from wireproof.adapters.rows import PATIENCE, nearest_above, number, scaled, step_of
from wireproof.model.errors import BadInput
from wireproof.model.series import Series, SeriesPoint, ToolRequest

# --- sockperf: output and options. Latency is half of a round trip (``--full-rtt``: a whole one).
# MBps is 2^20 bytes per second, GBps 1000 times that.

# --- The output of one sockperf client, line by line.

_BEGIN = re.compile(r"sockperf: == version #?([\w.-]{1,40})")
_HEAD = re.compile(
    r"sockperf: (?:== version|\[Total Run\] RunTime=|Total of \d{1,18} messages sent)"
)
_LINE = re.compile(r"sockperf(?:\[CLIENT\])?: ?(.{0,300})")
_ASKED = re.compile(
    r"(?:^|[\s/$])sockperf\s{1,4}(ping-pong|pp|under-load|ul|throughput|tp|playback"
    r"|pb)\b([^\n]{0,300})|using the following parameters:"
)
_SIZE = re.compile(r"(?:^|\s)(?:-m|--msg-size)[ =]?(\d{1,9})\b|msg-size=(\d{1,9})")
NAMES = {"pp": "ping-pong", "ul": "under-load", "tp": "throughput", "pb": "playback"}
_AVERAGE = re.compile(
    r"Summary: (Latency|Round trip) (?:of burst of (\d{1,9}) messages )?is (\d{1,12}\.\d{1,9}) usec"
)
_SPREAD = re.compile(r"====> avg-(\w{1,10})= ?(\d{1,12}\.\d{1,9}) \(([^)]{1,300})\)")
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
Protocol = Literal["", "tcp", "udp"]


@dataclass(slots=True)
class SockperfRun:
    """The output of one client. ``said``: the last line of each form; ``times``: percentiles (p50),
    MIN and MAX as printed.
    """

    version: str = ""
    command: str = ""
    size: int | None = None
    protocol: Protocol = ""
    hosts: list[str] = field(default_factory=list)
    said: dict[str, re.Match[str]] = field(default_factory=dict)
    times: dict[str, float] = field(default_factory=dict)
    server: bool = False
    last: int = 0
    after: int = 0

    @property
    def average(self) -> tuple[bool, str | None, str] | None:
        """Whether it is a whole round trip, messages per burst, and the time; from the statistics
        if the file of ``--full-log`` is all there is.
        """
        if "average" in self.said:
            name, burst, time = self.said["average"].groups()
            return name == "Round trip", burst, time
        if "spread" in self.said:
            return self.said["spread"].group(1) == "rtt", None, self.said["spread"].group(2)
        return None

    @property
    def rate(self) -> int | None:
        """Messages per second."""
        return int(self.said["rate"].group(1)) if "rate" in self.said else None

    @property
    def trouble(self) -> str:
        """The last error message of the program."""
        text = self.said["trouble"].group(0) if "trouble" in self.said else ""
        return "".join(char for char in text if char.isprintable())


_FORMS = {
    "percentile": _PERCENTILE,
    "extreme": _EXTREME,
    "total": _TOTAL,
    "dropped": _DROPPED,
    "spread": _SPREAD,
    "counts": _COUNTS,
    "average": _AVERAGE,
    "rate": _RATE,
    "band": _BAND,
    "trouble": _TROUBLE,
}


def _take(run: SockperfRun, said: str) -> None:
    for name, pattern in _FORMS.items():
        match = pattern.search(said)
        if match is not None and name in ("percentile", "extreme"):
            label, time = match.groups()
            run.times[f"p{float(label):g}" if name == "percentile" else label] = float(time)
        elif match is not None:
            run.said[name] = match
    if run.size is None and "msg-size=" in said and "NOTE: test was performed" in said:
        size = _SIZE.search(said)
        run.size = int(size.group(2) or size.group(1)) if size else None
    run.server = run.server or "[SERVER]" in said


def _values(run: SockperfRun, share: int) -> dict[str, float]:
    """Return the other statistics; times are divided by ``share``."""
    values: dict[str, float] = {}
    if "spread" in run.said:
        for name, value in _SPREAD_FIELD.findall(run.said["spread"].group(3)):
            values[f"{name.replace('-', '_')}_ns"] = float(value) * 1e3 / share
    if "dropped" in run.said:
        names = ("dropped", "duplicated", "out_of_order")
        values |= dict(zip(names, map(float, run.said["dropped"].groups()), strict=True))
    return values


def _answered(run: SockperfRun) -> bool:
    counts = run.said.get("counts")
    return counts is not None and 0 <= int(counts.group(1)) - int(counts.group(2)) <= 1


def _ask(run: SockperfRun, page: Page, start: int) -> None:
    """Read the nearest sockperf command above, or the head of ``--full-log``: name of the test and
    message size.
    """
    asked = nearest_above(page, start, _ASKED, _BEFORE, _LINE.search)
    if asked is not None:
        run.command = NAMES.get(asked.group(1), asked.group(1) or "")
        size = _SIZE.search(asked.group(2) or asked.string)
        run.size = int(size.group(1) or size.group(2)) if size else None


def _another(run: SockperfRun, line: str, own: bool) -> bool:
    """Return True if another result begins: a new version line, or a second summary."""
    if not own:
        return starts_result(line)
    done = run.average is not None or run.rate is not None
    begins = _HEAD.search(line) is not None or (
        "average" in run.said and _AVERAGE.search(line) is not None
    )
    return _BEGIN.search(line) is not None or (begins and done)


def collect(page: Page, start: int) -> SockperfRun:
    run, idle = SockperfRun(last=start), 0
    version = _BEGIN.search(page.lines[start])
    run.version = version.group(1) if version else ""
    _ask(run, page, start)
    for index in range(start, len(page.lines)):
        line = page.lines[index]
        run.after = index
        match = _LINE.search(line)
        if index > start and _another(run, line, match is not None):
            return run
        if match is not None:
            _take(run, match.group(1))
            run.last, idle = index, 0
        elif not _take_peer(run, line) and line.strip():
            idle += 1
            if idle > PATIENCE:
                return run
    run.after = len(page.lines)
    return run


def _take_peer(run: SockperfRun, line: str) -> bool:
    """Record the address on a line of sockperf's head; return False if the line has none."""
    peer = _PEER.search(line)
    if peer is None:
        return False
    run.hosts = run.hosts or [peer.group(1)]
    run.protocol = "tcp" if peer.group(2) == "TCP" else "udp"
    return True


_DEFAULT_SIZE = 14
_MOST_US = 1e9


def _latency(run: SockperfRun, line: int) -> SeriesPoint | None:
    if run.average is None:
        return None
    whole, _, text = run.average
    share = 2 if whole else 1
    mean, scale = number(text), 1e3 / share
    if not mean or any(not 0 <= value < _MOST_US for value in (mean, *run.times.values())):
        return None
    tails = {name: value * scale for name, value in run.times.items() if name.startswith("p")}
    return SeriesPoint(
        message_bytes=run.size if run.size is not None else _DEFAULT_SIZE,
        hrt_ns=mean * scale,
        time_min_ns=scaled(run.times.get("MIN"), scale),
        time_max_ns=scaled(run.times.get("MAX"), scale),
        iterations=int(run.said["total"].group(1)) if "total" in run.said else None,
        time_step_ns=step_of(text) * scale,
        percentiles=tails,
        values=_values(run, share),
        line=line,
    )


def _throughput(run: SockperfRun, line: int) -> tuple[SeriesPoint | None, str]:
    """Return the point of a throughput test. If no line gives the message size, it is bandwidth /
    message rate, which are both printed.
    """
    if "band" not in run.said or not run.rate:
        return None, ""
    text, unit = run.said["band"].groups()
    factor = (1 << 20) * (1000 if unit == "G" else 1)
    goodput = (number(text) or 0.0) * factor
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
        goodput_step=step_of(text) * factor,
        line=line,
    ), note


def _notes(run: SockperfRun, point: SeriesPoint | None, streams: bool) -> list[str]:
    notes = []
    if point is not None and run.size is None and not streams:
        notes.append(
            f"the message size is not printed: {_DEFAULT_SIZE} bytes, sockperf's default, is taken"
        )
    if run.average is not None and run.average[0]:
        notes.append("whole round trips were printed: all times listed are half of them")
    if run.average is not None and run.average[1] not in (None, "1"):
        notes.append(f"bursts of {run.average[1]} messages: the time is that of a burst")
    if streams:
        notes.append("the sender's count: arrived messages were not counted")
    return notes


def _state(run: SockperfRun, point: SeriesPoint | None, streams: bool) -> str:
    if run.trouble and point is None:
        return run.trouble
    if point is None:
        return "no summary: the run did not finish or the log is cut"
    if not streams and "MIN" not in run.times:
        return "the table of percentiles is cut"
    return ""


_STREAM = Benchmark("throughput", "bandwidth", "stream", "messages x size / run time, as sent")
_ANSWERED = Benchmark(
    "ping-pong", "half_round_trip", "pingpong", "mean round trip / 2, after a warm-up of 0.4 s"
)


def parse(page: Page, start: int) -> Parsed:
    """Parse the run of a client that begins on line index ``start``; a server prints no result."""
    run = collect(page, start)
    after, line = max(run.after, start + 1), run.last + 1
    streams = not {"band", "rate"}.isdisjoint(run.said) or run.command == "throughput"
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
        waits=_answered(run) and not streams,
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
    """Return ``sockperf ping-pong -i SERVER -p 11111 -m 64 -t 10``; ``server`` is also the address
    that a server binds to.

    ``benchmark``: ping-pong (default), under-load, throughput. For TCP, ``extra`` needs ``--tcp``
    on both ends.
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
    parse=parse,
    argv=argv,
)
