"""A bare table of results: CSV, or what is left when only the numbers of an OSU or IMB run are
pasted.

The heading names the columns and their units; nothing is guessed from the numbers but what their
own arithmetic says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from wireproof.adapters.benchmark import Benchmark
from wireproof.adapters.osu.benchmarks import by_name
from wireproof.adapters.page import Page
from wireproof.adapters.rows import Rows, integer, number, read_rows, step_of
from wireproof.model.series import Series, SeriesPoint

__all__ = ["tables"]

_SIZE = re.compile(r"#?(?:message|msg)?[_-]?(?:size|bytes|nbytes|length)(?:[\[(](?:b|bytes)[\])])?")
_ITERATIONS = re.compile(r"#?(?:repetitions|iterations|iters|reps)")
_RATE = re.compile(r"(?:msg|msgs|messages?)(?:/|_per_)(?:s|sec)|msg_rate")
_TIME = re.compile(
    r"(?:t|time|lat|latency|hrt|t_avg|avg|avg_latency|t_typical)?[_\[(]*(us|usec|µs|ns|nsec|ms"
    r"|msec)[\])]?"
)
_GOODPUT = re.compile(
    r"(?:avg_|max_|peak_|bi-?)?(?:bandwidth|bw|goodput|throughput)?[_\[(]*"
    r"(b|kb|mb|mib|gb|gib|bytes|mbytes|gbytes|gbit|gbits|mbit|mbits|gbps|mbps)(?:(?:/|_per_)?(?:s"
    r"|sec|second))?[\])]?"
)
_PREFIX = re.compile(r"\b(avg|min|max|peak|message|msg)[ ]+(?=[a-z])")
_SPACED_UNIT = re.compile(r"[ ]+(?=[\[(])")
_DELIMITERS = re.compile(r"[\s,;]+")
_HINT = re.compile(
    r"osu_[a-z_]{2,30}|imb[-_](?:mpi1|p2p|rma)|ping-?_?pong|ping-?_?ping|sendrecv|exchange",
    re.IGNORECASE,
)

_NANOSECONDS = {"us": 1e3, "usec": 1e3, "µs": 1e3, "ns": 1.0, "nsec": 1.0, "ms": 1e6, "msec": 1e6}
_BYTES = {
    "b": 1.0,
    "bytes": 1.0,
    "kb": 1e3,
    "mb": 1e6,
    "mbytes": 1e6,
    "mib": 2.0**20,
    "gb": 1e9,
    "gbytes": 1e9,
    "gib": 2.0**30,
    "gbit": 1.25e8,
    "gbits": 1.25e8,
    "gbps": 1.25e8,
    "mbit": 1.25e5,
    "mbits": 1.25e5,
    "mbps": 1.25e5,
}
# asked of every line of a log without a known result
_LIKELY = re.compile(r"(?:size|bytes|length)\b", re.IGNORECASE)
_BITS = re.compile(r"(?<![A-Za-z])([GM])b(?=/s)")
_UNCLEAR = re.compile(r"(?<![A-Za-z])[gm]b/s")  # eight times more or less: nobody can tell
_BYTES_PS = re.compile(r"(?<![A-Za-z])([GM])Bps\b")
_LONGEST_HEADING = 400
_MOST_COLUMNS = 24
_AGREE = 0.02


@dataclass(frozen=True, slots=True)
class _Column:
    """``role``: size, iterations, rate, time, goodput, or "" for a column that is kept by its
    name.
    """

    role: str
    factor: float
    name: str


def _column(word: str) -> _Column:
    name = word.strip("#\"'").lower()
    if _SIZE.fullmatch(name):
        return _Column("size", 1.0, name)
    if _ITERATIONS.fullmatch(name):
        return _Column("iterations", 1.0, name)
    if _RATE.fullmatch(name):
        return _Column("rate", 1.0, name)
    time = _TIME.fullmatch(name)
    if time is not None:
        return _Column("time", _NANOSECONDS[time.group(1)], name)
    goodput = _GOODPUT.fullmatch(name)
    if goodput is not None and (name not in _BYTES or name.endswith("ps")):
        return _Column("goodput", _BYTES[goodput.group(1)], name)
    # "Gb/s" in words of one case cannot tell bits from bytes: only the original writing can.
    return _Column("", 1.0, name[:40])


def _columns(line: str) -> list[_Column]:
    """The columns that a heading names; empty when it is none."""
    if len(line) > _LONGEST_HEADING or _LIKELY.search(line) is None:
        return []
    # Case tells bits from bytes: Gb/s and Gbit/s are bits, GB/s is bytes.
    text = (
        _BITS.sub(r"\1bit", _BYTES_PS.sub(r"\1B/s", _UNCLEAR.sub("unclear", line)))
        .lower()
        .replace("# ", " ")
    )
    words = [
        word for word in _DELIMITERS.split(_SPACED_UNIT.sub("", _PREFIX.sub(r"\1_", text))) if word
    ]
    if not 2 <= len(words) <= _MOST_COLUMNS:
        return []
    columns = [_column(word) for word in words]
    roles = [column.role for column in columns]
    if (
        columns[0].role != "size"
        or roles.count("size") != 1
        or not {"time", "goodput", "rate"} & set(roles)
    ):
        return []
    return columns


def _point(words: Sequence[str], columns: Sequence[_Column], line: int) -> SeriesPoint | None:
    values: dict[str, float] = {}
    steps: dict[str, float] = {}
    others: dict[str, float] = {}
    for word, column in zip(words, columns, strict=True):
        value = number(word)
        if value is None or value < 0:
            return None
        if column.role and column.role not in values:
            values[column.role] = value * column.factor
            steps[column.role] = step_of(word) * column.factor
        else:
            others[column.name] = value
    size = integer(words[0])
    if size is None:
        return None
    iterations = values.get("iterations")
    return SeriesPoint(
        message_bytes=size,
        hrt_ns=values.get("time"),
        goodput_bytes_per_s=values.get("goodput"),
        messages_per_s=values.get("rate"),
        iterations=None if iterations is None else int(iterations),
        time_step_ns=steps.get("time", 0.0),
        goodput_step=steps.get("goodput", 0.0),
        values=others,
        line=line + 1,
    )


def _hint(page: Page, heading: int) -> tuple[str, str]:
    """(tool, benchmark) that the lines just above the table, or the file's name, speak of."""
    above = " ".join(page.lines[max(0, heading - 6) : heading])[-600:]
    name = page.source.rsplit("/", 1)[-1][-200:]
    found = [match.group(0).lower() for text in (above, name) for match in _HINT.finditer(text)]
    for word in found:
        if word.startswith("osu_"):
            return "osu", word.rstrip("_")
    suite = "imb" if any(word.startswith("imb") for word in found) else "table"
    plain = {word.replace("-", "").replace("_", "") for word in found}
    for key, benchmark in (
        ("pingpong", "PingPong"),
        ("pingping", "PingPing"),
        ("sendrecv", "Sendrecv"),
        ("exchange", "Exchange"),
    ):
        if key in plain:
            return suite, benchmark
    return suite, ""


def _half_of_a_round_trip(points: Sequence[SeriesPoint]) -> bool:
    """True when time x goodput = size: the goodput of one direction of a ping-pong."""
    for point in reversed(points):
        if point.hrt_ns and point.goodput_bytes_per_s and point.message_bytes:
            product = point.hrt_ns * 1e-9 * point.goodput_bytes_per_s
            return abs(product / point.message_bytes - 1) < _AGREE
    return True


def _test(benchmark: str, points: Sequence[SeriesPoint]) -> Benchmark:
    known = by_name(benchmark)
    if known is not None:
        return known
    if benchmark in ("Sendrecv", "Exchange"):
        ways = 2 if benchmark == "Sendrecv" else 4
        text = f"{ways} x size / time, as IMB prints it"
        return Benchmark(benchmark, "bidirectional_bandwidth", "exchange", text, directions=2)
    timed = any(point.hrt_ns is not None for point in points)
    if timed and _half_of_a_round_trip(points):
        text = "taken as half a round trip (the table does not say)"
        return Benchmark(
            benchmark or "ping-pong",
            "half_round_trip",
            "pingpong",
            text,
            waits=True,
        )
    if timed:
        return Benchmark(
            benchmark or "unknown",
            "latency",
            "other",
            "time of one operation (the table does not say which)",
        )
    return Benchmark(
        benchmark or "bandwidth",
        "bandwidth",
        "stream",
        "taken as one direction (the table does not say)",
    )


def _plain(page: Page, start: int) -> Page:
    """The same lines with commas and semicolons as blanks, as CSV has them."""
    return Page(
        page.source, [line.replace(",", " ").replace(";", " ") for line in page.lines], page.cut
    )


def _series(page: Page, heading: int, columns: list[_Column]) -> tuple[Series, Rows]:
    rows = read_rows(page, heading + 1, (len(columns),), lambda line: bool(_columns(line)))
    points = [
        _point(words, columns, line) for words, line in zip(rows.fields, rows.lines, strict=True)
    ]
    good = sorted(
        (point for point in points if point is not None), key=lambda point: point.message_bytes
    )
    tool, benchmark = _hint(page, heading)
    test = _test(benchmark, good)
    incomplete = ""
    if rows.cut:
        incomplete = f"line {len(page.lines)}: the text ends inside a row"
    elif rows.torn or len(good) < len(points):
        incomplete = (
            f"{len(rows.torn) + len(points) - len(good)} rows are torn or hold no number >= 0"
        )
    series = Series(
        tool=tool,
        benchmark=test.name,
        metric=test.metric,
        traffic=test.traffic,
        points=good,
        formula=test.formula,
        unit=", ".join(column.name for column in columns),
        directions=test.directions,
        waits=test.waits,
        window=test.window,
        complete=not incomplete,
        incomplete=incomplete,
        source=page.source,
        first_line=heading + 1,
        last_line=rows.lines[-1] + 1 if rows.lines else heading + 1,
        notes=[
            "a bare table: which program printed it, and how it was measured, is not in the text"
        ],
    )
    return series, rows


def tables(page: Page) -> list[Series]:
    """Every table whose heading names a message size and a time, a bandwidth or a rate."""
    found: list[Series] = []
    plain: Page | None = None
    index = 0
    while index < len(page.lines):
        columns = _columns(page.lines[index])
        if not columns:
            index += 1
            continue
        plain = plain or _plain(page, index)
        series, rows = _series(plain, index, columns)
        if series.points or rows.cut:
            found.append(series)
        index = max(rows.after, index + 1)
    return found
