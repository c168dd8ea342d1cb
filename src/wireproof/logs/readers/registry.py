# pure
"""The interface of adapters, and the list of supported tools; a tool's module is loaded when a log
is read. An adapter handles the output of a tool and its options.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from wireproof.logs.readers.page import Page
from wireproof.model.errors import BadInput
from wireproof.model.series import Series, SeriesPoint, ToolRequest, Traffic

# --- Command lines of other programs: the requested options, and an error for requests without
# an option.

# field of ToolRequest: its content
_NAMES = {
    "server": "a server's address",
    "port": "a port",
    "sizes": "message sizes",
    "iterations": "a number of iterations",
    "seconds": "a duration",
    "omit_seconds": "seconds to leave out",
    "socket_buffer_bytes": "a socket buffer's size",
    "cpu": "a core to run on",
    "device": "a device",
    "rdma_cm": "rdma_cm",
}


def refuse_others(request: ToolRequest, tool: str, *able: str) -> None:
    """Raise BadInput for the first request that is not in ``able`` (names of ToolRequest's
    fields).
    """
    for name, what in _NAMES.items():
        value = getattr(request, name)
        asked = value is not None and value is not False and value not in ("", ())
        if asked and name not in able:
            raise BadInput(f"{tool} has no option for {what}: leave it out.")


def given(*options: tuple[str, str | int | float | None]) -> list[str]:
    """Return ``-n 100`` for each (option, value). Omit the option if the value is None, "" or
    False; for True, add the option without a value.
    """
    words: list[str] = []
    for option, value in options:
        if value is None or value is False or value == "":
            continue
        words.append(option)
        if value is not True:
            words.append(f"{value:g}" if isinstance(value, float) else str(value))
    return words


def option_of(rest: str, letter: str) -> str:
    """Return the value of ``-p psm3`` or ``-ppsm3`` in the rest of a command line; "" if it is
    absent.
    """
    match = re.search(rf"(?:^|\s)-{letter} ?([^\s-]\S{{0,63}})", rest)
    return match.group(1).strip("'\":") if match else ""


def one_size(request: ToolRequest, rule: str) -> int | None:
    """Return the requested size, None if there is none. Raise BadInput, which begins with ``rule``,
    if there are several.
    """
    if len(request.sizes) > 1:
        raise BadInput(f"{rule}: {len(request.sizes)} sizes were requested.")
    return request.sizes[0] if request.sizes else None


def whole_seconds(seconds: float | None, tool: str) -> int | None:
    """Return a duration in whole seconds for ``tool``; None stays None. Raise BadInput for parts of
    a second.
    """
    if seconds is not None and (seconds % 1 or seconds < 0):
        raise BadInput(f"{tool} accepts whole seconds, not {seconds:g}.")
    return None if seconds is None else int(seconds)


def server_of(request: ToolRequest, tool: str) -> str:
    """Return the address that a client connects to, "" for another role. Raise BadInput if it is
    missing.
    """
    if request.role != "client":
        return ""
    if not request.server:
        raise BadInput(f"{tool}'s client needs the server's address.")
    return request.server


def command(
    request: ToolRequest, tool: str, flags: Mapping[str, str], *first: tuple[str, str]
) -> tuple[str, ...]:
    """Return ``PROGRAM -s 64 -n 100 SERVER``: the options ``first``, those of ``flags`` (field of
    ToolRequest: option) in order, at most one size, and for a client the server.

    Raises BadInput for any other request.
    """
    refuse_others(request, tool, "server", *flags)
    size = one_size(request, f"{tool} measures one size per run, or its default list")
    asked = {**{name: getattr(request, name) for name in flags}, "sizes": size}
    options = given(*first, *((flag, asked[name]) for name, flag in flags.items()))
    server = server_of(request, tool)
    return (request.program, *options, *request.extra, *([server] if server else []))


# --- Benchmarks, adapters, and the signs that identify a tool in a log.


@dataclass(frozen=True, slots=True)
class Benchmark:
    """``name``: the program's name for the benchmark; ``metric``, ``traffic``, ``formula``,
    ``directions``, ``waits`` and ``window`` as in a Series.
    """

    name: str
    metric: str
    traffic: Traffic
    formula: str
    directions: int = 1
    waits: bool = False
    window: int | None = None

    @property
    def half_round_trip(self) -> bool:
        """True if the printed time is half of a round trip, not the time of a whole operation."""
        return self.metric == "half_round_trip"

    def series(self, tool: str, points: Iterable[SeriesPoint | None], **about: Any) -> Series:
        """Return a Series of the benchmark: ``points`` without None; ``about``: other fields, which
        override the benchmark's.
        """
        fields: dict[str, Any] = {
            "benchmark": self.name,
            "metric": self.metric,
            "traffic": self.traffic,
            "formula": self.formula,
            "directions": self.directions,
            "waits": self.waits,
            "window": self.window,
        }
        return Series(tool=tool, points=list(filter(None, points)), **fields | about)


@dataclass(frozen=True, slots=True)
class Parsed:
    """``after``: index of the first line that was not used; always greater than the start."""

    series: list[Series]
    after: int


class Sign(NamedTuple):
    """A line that matches the regular expression ``pattern`` may start a result. Every such line
    contains ``word``, which is searched for first because that is much cheaper.
    """

    word: str
    pattern: str


@dataclass(frozen=True, slots=True)
class Adapter:
    """The adapter of one tool.

    ``parse(page, index)`` reads from a line with a sign of the tool (and may look back at earlier
    lines). It never raises on any text, never returns a row
    that the program did not print, and reports in ``incomplete`` why a table that was cut off is
    not complete. It stops before a line that starts another result. ``read`` orders the points, and
    fills ``source``, ``complete`` and an empty ``first_line``. ``csv``: its rows also occur with
    commas between the numbers, and ``parse`` then gets spaces instead. ``argv`` builds the command
    line of a program that a recipe starts; it raises BadInput for an unknown benchmark.
    """

    name: str
    parse: Callable[[Page, int], Parsed]
    csv: bool = False
    argv: Callable[[ToolRequest], tuple[str, ...]] = lambda one: (one.program, *one.extra)


IMB_NAMES = (
    r"(?:Multi-)?(?:PingP[io]ng|Send[Rr]ecv|Exchange|Uniband|Biband|Unidir_|Bidir_|Put_|Get_|One_"
    r"|All_|Accumulate|"
    r"Fetch_and|Compare_and|I?[Aa]ll(?:reduce|gather|toall)|I?[Rr]educe|I?[Gg]ather|I?[Ss]catter"
    r"|I?[Bb]cast|I?[Bb]arrier)"
)
_NCCL_ROW = (
    r"^ *(?:\d{1,7}: +)?\d{1,18}[ ,]+\d{1,18}[ ,]+[a-z]?%s[a-z0-9_]{0,10}[ ,]+"
    r"(?:sum|prod|max|min|avg|none|all|mulsum)[ ,]+-?\d{1,7}(?:[ ,]+\d[\d.]{0,15}){3}[ ,]"
)
_IPERF_END = (
    r"^ *\[(?:SUM| {{0,3}}\d{{1,4}})\](?:\[[RT]X-[CS]\])? .{{0,60}}\d {{1,4}}sec .{{0,60}}/sec"
    r".{{0,60}} {0}$"
)
SIGNS: dict[str, tuple[Sign, ...]] = {
    "osu": (Sign(" Test", r"(?:OSU|OMB-Py) [A-Z][\w /*()+.-]{2,80} Test\b"),),
    "perftest": (
        Sign(
            "Test",
            r"\b(?:RDMA_Write|RDMA_Read|Send|Atomic)(?:_imm)? (?:[A-Za-z_]+ ){0,5}?(?:BW|Latency)"
            r" (?:\w+ ){0,2}Test\b",
        ),
        Sign("bytes ", r"#?\bbytes +#?(?:iterations|sl)\b"),
        Sign(
            "device",
            r"Unable to find the Infiniband/RoCE device|Couldn't get device attributes"
            r"|IB device \S{1,40} not found",
        ),
        Sign("test_info", r'"test_info" ?: ?\{'),
    ),
    "iperf3": (
        Sign("Connecting to host", r"^ *Connecting to host \S{1,80}, port"),
        Sign("Accepted connection", r"^ *Accepted connection from \S"),
        Sign("Client connecting", r"^ *Client connecting to \S{1,80}, (?:TCP|UDP) port"),
        Sign("Server listening", r"^ *Server listening on (?:TCP|UDP) port"),
        Sign("Interval", r"\[ ID\](?:\[Role\])? +Interval +Transfer +B(?:itrate|andwidth)\b"),
        Sign("receiver", _IPERF_END.format("receiver")),  # only the last lines, which people quote
        Sign("sender", _IPERF_END.format("sender")),
        # A row of iperf 2, which prints one or four decimals of the seconds; iperf3 prints two.
        Sign(
            "Bytes ",
            r"^ *\[(?:SUM| {0,3}\d{1,4})\] {1,4}0\.0(?:000)?- {0,3}\d{1,6}\.(?:\d|\d{4}) sec"
            r" .{0,40}Bytes .{0,40}s/sec *$",
        ),
        Sign("iperf3:", r"^iperf3: (?:error|interrupt)"),
        Sign('"start"', r'"start" ?: ?\{ *(?:$|"connected|"version)'),
        Sign('"event"', r'^ *\{ ?"event" ?: ?"start"'),
    ),
    "qperf": (
        Sign("lat:", r"^ *(?:tcp|udp|sctp|sdp|rds|rc|uc|ud|xrc)_(?:[a-z]{2,8}_){0,3}lat: *$"),
        Sign("bw:", r"^ *(?:tcp|udp|sctp|sdp|rds|rc|uc|ud|xrc)_(?:[a-z]{2,8}_){0,3}bw: *$"),
        Sign("mr:", r"^ *rc_(?:[a-z]{2,8}_){1,3}mr: *$"),
    ),
    "sockperf": (
        Sign("sockperf:", r"sockperf: == version"),
        Sign(
            "sockperf:", r"sockperf: (?:\[(?:Total Run|Valid Duration)\] RunTime=|={3,20} Printing)"
        ),
        Sign("sockperf:", r"sockperf: Total of \d{1,18} messages sent"),
        Sign("sockperf:", r"sockperf: Summary: (?:Latency|Round trip|Message Rate|BandWidth) "),
    ),
    "imb": (
        Sign("MPI Benchmark", r"MPI Benchmark"),
        Sign("Benchmarking", rf"# {{0,4}}Benchmarking {{1,4}}[A-Z]|Benchmarking {IMB_NAMES}"),
        Sign("repetitions", r"#?\bbytes\"?[\s,;]{1,20}\"?#?repetitions"),
    ),
    "hpcc": (
        Sign("HPC Challenge", r"This is the DARPA/DOE HPC Challenge Benchmark"),
        Sign("Bandwidth-Benchmark", r"Latency-Bandwidth-Benchmark R\d"),
        Sign("Begin of", r"Begin of (?:LatencyBandwidth|Summary) section"),
        Sign("PingPong", r"PingPong(?:Latency_usec|Bandwidth_GBytes) ?="),
        Sign("OrderedRing", r"OrderedRing(?:Latency_usec|Bandwidth_GBytes) ?="),
    ),
    "fi_pingpong": (Sign("#sent", r"\bbytes +#sent +#ack +total\b"),),
    "fabtests": (
        Sign("iters", r"\bbytes +(?:xfers +)?iters +total +time +[MG][Bb]/sec"),
        Sign("xfer_size:", r"\bxfer_size: ?\d"),
    ),
    "mpigraph": (
        Sign("START mpiGraph", r"\bSTART mpiGraph\b"),
        Sign("MsgSize", r"^ *MsgSize +\d"),
    ),
    "ucx_perftest": (
        Sign("# iterations", r"# iterations +(?:typical|\d{1,3}\.\d%ile) +average"),
        Sign("iterations,", r"\biterations,(?:typical|\d{1,3}\.\d_percentile)_lat,"),
    ),
    "nccl_tests": (
        Sign("algbw", r"\bsize[ ,]+count[ ,]+type\b[ ,\w]{0,60}time[ ,]+algbw[ ,]+busbw\b"),
        # A row of the current columns: size, count, type, operation, root, numbers of each place.
        *(Sign(word, _NCCL_ROW % word) for word in ("float", "half", "double", "int")),
        # the document of -J, with all on a line or indented
        Sign(
            "start_time",
            r'(?:"version" ?: ?\d{1,3}, *|^ *)"start_time" ?: ?"\d{4}-\d\d-\d\d \d\d:',
        ),
    ),
    "netperf": (
        Sign(" TEST from ", r"\b(?:TCP|UDP) (?:STREAM|MAERTS|SENDFILE|REQUEST/RESPONSE) TEST "),
        Sign(" TEST from ", r"\bOMNI(?: [\w|]{1,14})? TEST from "),
    ),
    "ibv_pingpong": (
        Sign("local address:", r"^\s*local address: +LID 0x[0-9a-f]{1,6}, QPN"),
        Sign(
            " Mbit/sec",
            r"^\s*(\d{1,18}) bytes in (\d{1,9}\.\d{1,6}) seconds"
            r" = (\d{1,12}\.\d{1,6}) Mbit/sec\s*$",
        ),
    ),
    "netpipe": (
        Sign("Now starting the main loop", r"\bNow starting the main loop\b"),
        Sign("trials for each message size", r"\bStart testing with \d{1,6} trials for each\b"),
    ),
    "ucc_perftest": (
        Sign("Time, us", r"\bCount +Size +Time, us(?: +(?:Bus )?Bandwidth, GB/s)?\s*$"),
    ),
}
"""The tools and their signs. ``wireproof.logs.readers.NAME`` is loaded when a log has a sign of the
tool.
"""

_SIGN_WITHIN = 4096
"""A sign is within the first characters of its line; only JSON without line breaks has longer
lines.
"""


def sign(tool: str, word: str) -> re.Pattern[str]:
    """Return the sign of ``tool`` whose lines contain ``word``."""
    return re.compile(next(sign.pattern for sign in SIGNS[tool] if sign.word == word))


def _tool_named(line: str) -> str:
    head = line[:_SIGN_WITHIN]
    found, at = "", len(head) + 1
    for tool, signs in SIGNS.items():
        for word, pattern in signs:
            if word in head and (match := re.search(pattern, head)) and match.start() < at:
                found, at = tool, match.start()
    return found


def tool_of(line: str) -> Adapter | None:
    """Return the tool whose sign is in the line, the leftmost if there are several; None if there
    is none.
    """
    name = _tool_named(line)
    return adapter(name) if name else None


def starts_result(line: str) -> bool:
    """Return True if a result of any tool may start on this line."""
    return bool(_tool_named(line))


def adapter_names() -> tuple[str, ...]:
    """Return the names of the supported tools."""
    return tuple(SIGNS)


@cache
def adapter(name: str) -> Adapter:
    """Return the adapter of a tool. Raise BadInput, with the known names, if there is none."""
    if name not in SIGNS:
        raise BadInput(f"no adapter for {name!r}: the adapters are {', '.join(SIGNS)}.")
    found: Adapter = import_module(f"wireproof.logs.readers.{name}").ADAPTER
    return found
