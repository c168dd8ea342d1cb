# pure
"""fi_pingpong of libfabric: its output and its options.

Ten round trips by default, no warm-up, a clock of whole microseconds. MB = 10^6 bytes.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from wireproof.logs.readers.page import Page
from wireproof.logs.readers.registry import (
    Adapter,
    Benchmark,
    Parsed,
    command,
    option_of,
    starts_result,
)
from wireproof.logs.readers.rows import Rows, What, number, scan_rows, times
from wireproof.model.quantity import counted
from wireproof.model.series import SeriesPoint, ToolRequest

# --- The rows that fi_pingpong and the fabtests share: sizes such as ``1.5k``, a time such as
# ``0.12s``, rates with two decimals.

_SIZE_FORM, _COUNT_FORM, _RATE_FORM = (
    r"(\d{1,15}(?:\.\d)?[kmgt]?)",
    r"(\d{1,15}[kmb]?)",
    r"(\d{1,15}\.\d\d|inf|-?nan)",
)
_FORMS = {
    "bytes": _SIZE_FORM,
    "count": _COUNT_FORM,
    "xfers": _COUNT_FORM,
    "ack": r"([=+-]\w{1,15})",
    "total": _SIZE_FORM,
    "time": r"(\d{1,9}\.\d\d)s",
    "rate": _RATE_FORM,
    "usec": _RATE_FORM,
    "mxfers": _RATE_FORM,
}
_SIZE = re.compile(_SIZE_FORM)
_CELL = re.compile(r"[=+-]?\d{1,19}(?:\.\d{0,9})?[kmgtbs]?")
_BINARY = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_DECIMAL = {"k": 10**3, "m": 10**6, "b": 10**9}
_STEP = 0.01  # both are printed with two decimals
_LOOK_BACK = 60
_LONGEST_LINE = 400
_PATIENCE = 500  # with -v the programs report every message between the rows


@dataclass(frozen=True, slots=True)
class FabricRow:
    """One row. ``total_bytes`` is rounded down as printed. ``acknowledged``: "" if there is no such
    column.
    """

    name: str
    size: int
    rounded: bool
    iterations: int
    acknowledged: str
    total_bytes: int
    rate: str
    time: str
    messages: str
    line: int


def _bytes_of(text: str) -> int:
    """Return bytes for ``64``, ``1.5k`` or ``12m`` (1024-based); digits lost by rounding stay
    lost.
    """
    if text.isdigit():
        return int(text)
    unit = _BINARY.get(text[-1], 1)
    whole, _, tenth = text.rstrip("kmgt").partition(".")
    return int(whole) * unit + int(tenth or 0) * unit // 10


def _count_of(text: str) -> int:
    """Return the count for ``10``, ``20k`` (1000-based, rounded down)."""
    return int(text) if text.isdigit() else int(text[:-1]) * _DECIMAL[text[-1]]


@cache
def _form(columns: tuple[str, ...], named: bool) -> re.Pattern[str]:
    """Return the pattern of a whole row, each column in the program's format. A host label may
    precede a row without a name.
    """
    before = r"(\S.{0,79}?) +" if named else r"(\S{1,60}: +)?"
    return re.compile(rf" *{before}" + " +".join(_FORMS[name] for name in columns) + " *")


def _row(match: re.Match[str], columns: Sequence[str], named: bool, line: int) -> FabricRow:
    name, *cells = match.groups()
    texts = dict(zip(columns, cells, strict=True))
    return FabricRow(
        name=" ".join(name.split()) if named else "",
        size=_bytes_of(texts["bytes"]),
        rounded=not texts["bytes"].isdigit(),
        iterations=_count_of(texts["count"]),
        acknowledged=texts.get("ack", ""),
        total_bytes=_bytes_of(texts["total"]),
        rate=texts["rate"],
        time=texts["usec"],
        messages=texts.get("mxfers", ""),
        line=line,
    )


def read_fabric_rows(
    page: Page, start: int, columns: Sequence[str], named: bool
) -> tuple[Rows, list[FabricRow]]:
    """Return the rows from line index ``start`` on. ``columns``: bytes, count, [ack], total, time,
    rate, usec, [mxfers].

    The number of decimals is fixed, so a row cut off in its last number is recognised.
    """
    form, found = _form(tuple(columns), named), list[FabricRow]()

    def take(rows: Rows, index: int) -> list[str] | What:
        line = page.lines[index][:_LONGEST_LINE]
        match = form.fullmatch(line)
        if match is not None:
            found.append(_row(match, columns, named, index))
            return [line]
        words = line.split()
        if not words:
            return "skipped"
        if starts_result(line):
            return "end"
        if index == page.ragged and (words[0][0].isdigit() or named):
            return "cut"
        # it begins like a row and has only cells of the same kinds
        begins = len(words) > 1 and _SIZE.fullmatch(words[0]) is not None
        return "torn" if begins and all(map(_CELL.fullmatch, words)) else "foreign"

    return scan_rows(page, start, take, _PATIENCE), found


def points_of(
    rows: Sequence[FabricRow], transfers: int, rate_unit: float = 1e6
) -> tuple[list[SeriesPoint], list[str]]:
    """Return the points, and notes on rows that are rounded or unusable."""
    points = list(filter(None, (point_of(row, transfers, rate_unit) for row in rows)))
    notes = []
    if any(row.rounded for row in rows):
        notes.append("sizes are printed as 1.5k, so they are rounded")
    if len(points) < len(rows):
        left_out = counted(len(rows) - len(points), "row")
        notes.append(f"{left_out} left out: time zero or not a number")
    return points, notes


def point_of(row: FabricRow, transfers: int, rate_unit: float = 1e6) -> SeriesPoint | None:
    """Return the point of a row; None if a number is invalid (``inf`` for a run shorter than 1 us).

    ``transfers`` per iteration: 2 for a ping-pong, whose time is half a round trip; 1 for a stream.
    The program truncates the elapsed time to whole microseconds, so the step of the time is at
    least 1 us divided by all transfers. ``rate_unit``: bytes per second for one unit of the rate
    column.
    """
    time, rate, messages = number(row.time), number(row.rate), number(row.messages or "0")
    if time is None or rate is None or messages is None or time <= 0:
        return None
    hrt, whole = times(time * 1e3, transfers == 2)
    step = max(_STEP * 1e3, 1e3 / max(1, row.iterations * transfers))
    return SeriesPoint(
        message_bytes=row.size,
        hrt_ns=hrt,
        time_ns=whole,
        goodput_bytes_per_s=rate * rate_unit,
        # below that, two decimals are too coarse
        messages_per_s=messages * 1e6 if messages >= 1.0 else None,
        iterations=row.iterations,
        time_step_ns=step,
        goodput_step=_STEP * rate_unit,
        line=row.line + 1,
    )


def command_before(page: Page, start: int, program: re.Pattern[str]) -> tuple[str, str]:
    """Return (program, rest of its line) of the nearest command before line index ``start``,
    searching back to the previous result.
    """
    for index in range(start, max(-1, start - _LOOK_BACK), -1):
        line = page.lines[index]
        match = program.search(line[:_LONGEST_LINE])
        if match is not None:
            return match.group(1), line[match.end(1) : match.end(1) + _LONGEST_LINE]
        if index != start and starts_result(line):
            break
    return "", ""


# --- fi_pingpong itself.

_HEADING = re.compile(
    r"^\s*(?:\S{1,60}:\s+)?(name\s+)?bytes\s+#sent\s+#ack\s+total\s+time\s+MB/sec\s+usec/xfer"
)
_PROGRAM = re.compile(r"(?:^|[\s/'\"$])(fi_pingpong)(?=\s|$)")
_COLUMNS = ["bytes", "count", "ack", "total", "time", "rate", "usec", "mxfers"]
_TEST = Benchmark(
    "fi_pingpong",
    "half_round_trip",
    "pingpong",
    "elapsed whole microseconds / (2 x iterations): half of a mean round trip; MB/sec = 2 x "
    "iterations x size / elapsed",
    waits=True,
)
_PROTOCOLS = {"tcp": "tcp", "sockets": "tcp", "net": "tcp", "udp": "udp", "verbs": "rdma"}


def parse(page: Page, start: int) -> Parsed:
    """Parse the table whose heading is on line index ``start``."""
    heading = _HEADING.search(page.lines[start])
    if heading is None:
        return Parsed([], start + 1)
    found, rows = read_fabric_rows(page, start + 1, _COLUMNS, heading.group(1) is not None)
    points, notes = points_of(rows, 2)
    provider = option_of(command_before(page, start, _PROGRAM)[1], "p")
    if provider:
        notes.insert(0, f"provider {provider} (from the command line)")
    odd = [row.line + 1 for row in rows if not row.acknowledged.startswith("=")]
    if odd:
        notes.append(
            f"{len(odd)} rows (line {odd[0]}) have different counts of replies and messages sent"
        )
    series = _TEST.series(
        "fi_pingpong",
        points,
        unit="us; MB = 10^6 bytes; sizes 1k = 1024 bytes, two digits",
        protocol=_PROTOCOLS.get(provider.partition(";")[0], ""),
        incomplete=found.state(page, points),
        notes=notes,
        last_line=found.last_line,
    )
    return Parsed([series], found.after)


def argv(request: ToolRequest) -> tuple[str, ...]:
    """Return ``fi_pingpong -p psm3 -I 1000 -S 1024 SERVER``. It measures one size, or its list of
    sizes without ``-S``.

    ``benchmark``: the provider. The server takes the same options without an address.
    """
    provider = "" if request.benchmark == "fi_pingpong" else request.benchmark
    port = "-P" if request.role == "client" else "-B"
    flags = {"device": "-d", "port": port, "iterations": "-I", "sizes": "-S"}
    return command(request, "fi_pingpong", flags, ("-p", provider))


ADAPTER = Adapter(
    name="fi_pingpong",
    parse=parse,
    argv=argv,
)
