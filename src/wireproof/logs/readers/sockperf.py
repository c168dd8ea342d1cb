# pure
"""sockperf."""

import re
from dataclasses import dataclass, field

from wireproof.logs.readers.page import Page
from wireproof.logs.readers.registry import (
    Adapter,
    Benchmark,
    Parsed,
    given,
    one_size,
    refuse_others,
    server_of,
    starts_result,
)
from wireproof.logs.readers.rows import PATIENCE, Facts, nearest_above, number, scaled, step_of
from wireproof.model.errors import BadInput
from wireproof.model.series import SeriesPoint, ToolRequest

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
_SPREAD_FIELD = re.compile(r"(std-dev|mean-ad|median-ad|siqr|std-error)=(\d{1,12}\.\d{1,9})")
_BEFORE = 12


_FORMS = {
    "begin": _BEGIN,
    "percentile": re.compile(r"---> percentile +(\d{1,3}\.\d{1,5}) = +(\d{1,12}\.\d{3})$"),
    "extreme": re.compile(r"---> <?(MAX|MIN)>? observation = +(\d{1,12}\.\d{3})$"),
    "total": re.compile(r"Total (\d{1,15}) observations;"),
    "dropped": re.compile(
        r"# dropped messages = (\d{1,15}); # duplicated messages = (\d{1,15}); # out-of-order "
        r"messages = (\d{1,15})"
    ),
    "spread": re.compile(r"====> avg-(\w{1,10})= ?(\d{1,12}\.\d{1,9}) \(([^)]{1,300})\)"),
    "counts": re.compile(
        r"\[Total Run\] RunTime=[\d.]{1,20} sec;.{0,60} SentMessages=(\d{1,18}); "
        r"ReceivedMessages=(\d{1,18})"
    ),
    "average": _AVERAGE,
    "rate": re.compile(r"Summary: Message Rate is (\d{1,15}) \[msg/sec\]"),
    "band": re.compile(
        r"Summary: BandWidth is (\d{1,12}\.\d{1,9}) ([MG])Bps \(\d{1,12}\.\d{1,9} [MG]bps\)"
    ),
    "trouble": re.compile(r"(?:ERROR|No messages were|Test end before|errno)[^\n]{0,120}"),
    "size": re.compile(r"NOTE: test was performed.{0,200}?msg-size=(\d{1,9})"),
    "server": re.compile(r"\[SERVER\]"),
}
_PEER = {"peer": re.compile(r"\[ *\d{1,6}\] IP = (\S{1,60}) +PORT = +\d{1,5} # (TCP|UDP)")}


@dataclass(slots=True)
class SockperfRun:
    """The output of one client. ``size``: message size; ``said``: the facts in its lines."""

    command: str = ""
    size: int | None = None
    said: Facts = field(default_factory=lambda: Facts(_FORMS))
    head: Facts = field(default_factory=lambda: Facts(_PEER))
    last: int = 0
    after: int = 0

    @property
    def average(self) -> tuple[bool, str, str] | None:
        """(True for a whole round trip, messages per burst, time); from the statistics if only the
        file of ``--full-log`` exists.
        """
        if self.said["average"]:
            name, burst, time = self.said["average"][-1].groups("")
            return name == "Round trip", burst, time
        spread = self.said["spread"]
        return (spread[-1][1] == "rtt", "", spread[-1][2]) if spread else None

    @property
    def times(self) -> dict[str, float]:
        """Percentiles (p50), MIN and MAX as printed."""
        tails = {f"p{float(one[1]):g}": float(one[2]) for one in self.said["percentile"]}
        return tails | {one[1]: float(one[2]) for one in self.said["extreme"]}


def _values(said: Facts, share: int) -> dict[str, float]:
    """Return the other statistics; times are divided by ``share``."""
    values = {
        f"{name.replace('-', '_')}_ns": float(value) * 1e3 / share
        for name, value in _SPREAD_FIELD.findall(said.text("spread", group=3))
    }
    if said["dropped"]:
        names = ("dropped", "duplicated", "out_of_order")
        values |= dict(zip(names, map(float, said["dropped"][-1].groups()), strict=True))
    return values


def _answered(said: Facts) -> bool:
    sent, received = said.number("counts"), said.number("counts", group=2)
    return sent is not None and received is not None and 0 <= sent - received <= 1


def _ask(run: SockperfRun, page: Page, start: int) -> None:
    """Read the nearest sockperf command above, or the heading of ``--full-log``: name of the test
    and message size.
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
    again = run.said["average"] and _AVERAGE.search(line)
    done = (again or _HEAD.search(line)) and (run.average is not None or run.said["rate"])
    return bool(done or _BEGIN.search(line))


def collect(page: Page, start: int) -> SockperfRun:
    run, idle = SockperfRun(last=start, after=len(page.lines)), 0
    _ask(run, page, start)
    for index in range(start, len(page.lines)):
        line = page.lines[index]
        match = _LINE.search(line)
        if index > start and _another(run, line, match is not None):
            run.after = index
            break
        if match is not None:
            run.said.take(match.group())
            run.last, idle = index, 0
        elif not run.head.take(line) and line.strip():
            idle += 1
            if idle > PATIENCE:
                run.after = index
                break
    run.size = run.said.number("size", 0) if run.size is None else run.size
    return run


_DEFAULT_SIZE = 14
_MOST_US = 1e9


def _latency(run: SockperfRun, line: int) -> SeriesPoint | None:
    if run.average is None:
        return None
    whole, _, text = run.average
    share = 2 if whole else 1
    mean, scale, printed = number(text), 1e3 / share, run.times
    if not mean or any(not 0 <= value < _MOST_US for value in (mean, *printed.values())):
        return None
    return SeriesPoint(
        message_bytes=run.size if run.size is not None else _DEFAULT_SIZE,
        hrt_ns=mean * scale,
        time_min_ns=scaled(printed.get("MIN"), scale),
        time_max_ns=scaled(printed.get("MAX"), scale),
        iterations=run.said.number("total"),
        time_step_ns=step_of(text) * scale,
        percentiles={name: printed[name] * scale for name in printed if name.startswith("p")},
        values=_values(run.said, share),
        line=line,
    )


def _throughput(run: SockperfRun, line: int) -> tuple[SeriesPoint | None, str]:
    """Return the point of a throughput test. If no line contains the message size, it is bandwidth
    / message rate, which are both printed.
    """
    rate, text = run.said.number("rate"), run.said.text("band")
    factor = (1 << 20) * (1000 if run.said.text("band", group=2) == "G" else 1)
    goodput = (number(text) or 0.0) * factor
    if not rate or not 0 < goodput < 1e15:
        return None, ""
    size = round(goodput / rate) if run.size is None else run.size
    return SeriesPoint(
        message_bytes=size,
        goodput_bytes_per_s=goodput,
        messages_per_s=float(rate),
        goodput_step=step_of(text) * factor,
        line=line,
    ), f"message size {size} = bandwidth / message rate" if run.size is None else ""


def _notes(run: SockperfRun, point: SeriesPoint | None, streams: bool) -> list[str]:
    notes = []
    if point is not None and run.size is None and not streams:
        notes.append(
            f"the message size is not printed: sockperf's default of {_DEFAULT_SIZE} bytes is "
            "assumed"
        )
    if run.average is not None and run.average[0]:
        notes.append("whole round trips were printed: all times listed are half of them")
    if run.average is not None and run.average[1] not in ("", "1"):
        notes.append(f"bursts of {run.average[1]} messages: the time is for a whole burst")
    if streams:
        notes.append("the sender's count: arrived messages were not counted")
    return notes


def _state(run: SockperfRun, point: SeriesPoint | None, streams: bool) -> str:
    if point is None:
        trouble = "".join(filter(str.isprintable, run.said.text("trouble", group=0)))
        return trouble or "no summary: the run did not finish or the log is cut off"
    return "" if streams or "MIN" in run.times else "the table of percentiles is cut off"


_STREAM = Benchmark("throughput", "bandwidth", "stream", "messages x size / run time, as sent")
_ANSWERED = Benchmark(
    "ping-pong", "half_round_trip", "pingpong", "mean round trip / 2, after a warm-up of 0.4 s"
)


def parse(page: Page, start: int) -> Parsed:
    """Parse the run of a client that begins on line index ``start``; a server prints no result."""
    run = collect(page, start)
    after, line = max(run.after, start + 1), run.last + 1
    streams = bool(run.said["band"] or run.said["rate"]) or run.command == "throughput"
    point, note = _throughput(run, line) if streams else (_latency(run, line), "")
    if run.said["server"] and point is None:
        return Parsed([], after)
    kind = _STREAM if streams else _ANSWERED
    series = kind.series(
        "sockperf",
        [point],
        version=run.said.text("begin"),
        benchmark=run.command or kind.name,
        unit="MBps = 2^20 bytes per second" if streams else "us",
        waits=_answered(run.said) and not streams,
        protocol=run.head.text("peer", group=2).lower(),
        incomplete=_state(run, point, streams),
        hosts=[one[1] for one in run.head["peer"][:1]],
        notes=[*_notes(run, point, streams), *([note] if note else [])],
        last_line=line,
    )
    return Parsed([series], after)


def argv(request: ToolRequest) -> tuple[str, ...]:
    """Return ``sockperf ping-pong -i SERVER -p 11111 -m 64 -t 10``; ``server`` is also the address
    that a server binds to.

    ``benchmark``: ping-pong (default), under-load, throughput. For TCP, ``extra`` needs ``--tcp``
    on both ends.
    """
    refuse_others(
        request, "sockperf", "server", "port", "sizes", "seconds", "socket_buffer_bytes", "cpu"
    )
    test = NAMES.get(request.benchmark, request.benchmark) or "ping-pong"
    if test not in ("ping-pong", "under-load", "throughput"):
        raise BadInput(
            f"sockperf has no test {test!r} here: the tests are ping-pong, under-load, throughput."
        )
    size = one_size(request, "sockperf measures one message size per run")
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
