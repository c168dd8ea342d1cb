"""A bare table of results: CSV, or only the pasted numbers of an OSU or IMB run.

The heading names the columns and their units. Nothing is guessed from the numbers except what their
arithmetic proves.
"""

import re
from collections.abc import Sequence

from wireproof.adapters.columns import Column, ColumnGroup, columns_of, groups_of
from wireproof.adapters.osu.benchmarks import by_name
from wireproof.adapters.page import Page
from wireproof.adapters.registry import Benchmark
from wireproof.adapters.rows import Rows, number, read_rows, step_of
from wireproof.model.quantity import whole
from wireproof.model.series import Series, SeriesPoint

_HINT = re.compile(
    r"osu_[a-z_]{2,30}|imb[-_](?:mpi1|p2p|rma)|ping-?_?pong|ping-?_?ping|sendrecv|exchange",
    re.IGNORECASE,
)

_AGREE = 0.02
_BENCHMARKS = {
    "pingpong": "PingPong",
    "pingping": "PingPing",
    "sendrecv": "Sendrecv",
    "exchange": "Exchange",
}


def _point(words: Sequence[str], group: ColumnGroup, line: int) -> SeriesPoint | None:
    values: dict[str, float] = {}
    steps: dict[str, float] = {}
    others: dict[str, float] = {}
    for place, column in group.places:
        value = number(words[place])
        if value is None or value < 0:
            return None
        if column.role:
            values[column.role] = value * column.factor
            steps[column.role] = step_of(words[place]) * column.factor
        elif column.name:
            others[column.name] = value
    size = whole(words[next(at for at, column in group.places if column.role == "size")])
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


def _hint(page: Page, heading: int, label: str) -> tuple[str, str]:
    """Return (tool, benchmark) that the group's label, the lines just above the table, or the file
    name mention.
    """
    above = " ".join(page.lines[max(0, heading - 6) : heading])[-600:]
    name = page.source.rsplit("/", 1)[-1][-200:]
    texts = (label, above, name)
    found = [match.group(0).lower() for text in texts for match in _HINT.finditer(text)]
    suite = "imb" if any(word.startswith("imb") for word in found) else "table"
    for word in found:
        if word.startswith("osu_"):
            return "osu", word.rstrip("_")
        key = word.replace("-", "").replace("_", "")
        if key in _BENCHMARKS:
            return suite, _BENCHMARKS[key]
    return suite, ""


def _half_of_a_round_trip(points: Sequence[SeriesPoint]) -> bool:
    """Return True if time x goodput = size: the goodput in one direction of a ping-pong."""
    for point in reversed(points):
        if point.hrt_ns and point.goodput_bytes_per_s and point.message_bytes:
            product = point.hrt_ns * 1e-9 * point.goodput_bytes_per_s
            return abs(product / point.message_bytes - 1) < _AGREE
    return True


_TAKEN = "taken as half a round trip (the table does not say)"


def _test(benchmark: str, points: Sequence[SeriesPoint]) -> Benchmark:
    """Return the test; in a table named ping-pong, whatever its columns, each message waits for
    the previous one.
    """
    known = by_name(benchmark)
    if known is not None:
        return known
    if benchmark in ("Sendrecv", "Exchange"):
        ways = 2 if benchmark == "Sendrecv" else 4
        text = f"{ways} x size / time, as IMB prints it"
        return Benchmark(benchmark, "bidirectional_bandwidth", "exchange", text, directions=2)
    if benchmark == "PingPing":
        text = "size / time while both send, as IMB prints it"
        return Benchmark(benchmark, "bandwidth", "exchange", text)
    timed, waited = any(point.hrt_ns is not None for point in points), benchmark == "PingPong"
    if waited or (timed and _half_of_a_round_trip(points)):
        metric = "half_round_trip" if timed else "bandwidth"
        return Benchmark(benchmark or "ping-pong", metric, "pingpong", _TAKEN, waits=True)
    if timed:
        text = "time of one operation (the table does not say which)"
        return Benchmark(benchmark or "unknown", "latency", "other", text)
    text = "taken as one direction (the table does not say)"
    return Benchmark(benchmark or "bandwidth", "bandwidth", "stream", text)


def _plain(page: Page) -> Page:
    """Return the same lines with blanks in place of commas and semicolons."""
    lines = [line.replace(",", " ").replace(";", " ").replace('"', "") for line in page.lines]
    return Page(page.source, lines, page.cut)


def _incomplete(page: Page, rows: Rows, odd: int) -> str:
    if rows.cut:
        return f"line {len(page.lines)}: the text ends inside a row"
    if rows.torn or odd:
        return f"{len(rows.torn) + odd} rows are torn or have no number >= 0"
    return ""


def _series(page: Page, heading: int, rows: Rows, group: ColumnGroup, several: int) -> Series:
    points = [_point(words, group, line) for words, line in rows]
    good = sorted(filter(None, points), key=lambda point: point.message_bytes)
    tool, benchmark = _hint(page, heading, group.label)
    names = ", ".join(column.name for _, column in group.places if column.name)
    notes = [
        "a bare table: the text does not tell which program printed it and how it was measured"
    ]
    if several > 1:
        notes.append(f"one of {several} tables side by side: {group.label or names}"[:400])
    return _test(benchmark, good).series(
        tool,
        good,
        unit=names,
        incomplete=_incomplete(page, rows, points.count(None)),
        first_line=heading + 1,
        last_line=rows.last_line,
        notes=notes,
    )


def _with_row_names(page: Page, heading: int, columns: list[Column]) -> list[Column]:
    """Add a column for R's row numbers: R writes them in quotes in front of each row, without a
    heading.
    """
    line = page.lines[heading]
    below = next((one for one in page.lines[heading + 1 : heading + 3] if one.strip()), "")
    named = line.lstrip().startswith('"') and below.lstrip().startswith('"')
    if named and columns[0].name and len(below.split()) == len(columns) + 1:
        return [Column("", 1.0, ""), *columns]
    return columns


def tables(page: Page) -> list[Series]:
    """Return every table whose heading names a message size and a time, a bandwidth or a rate;
    tables side by side are returned separately.
    """
    found: list[Series] = []
    plain: Page | None = None
    index = 0
    while index < len(page.lines):
        columns = columns_of(page.lines[index])
        if not columns:
            index += 1
            continue
        plain = plain or _plain(page)
        columns = _with_row_names(page, index, columns)
        rows = read_rows(plain, index + 1, (len(columns),), lambda line: bool(columns_of(line)))
        groups = groups_of(columns)
        read = [_series(plain, index, rows, group, len(groups)) for group in groups]
        found += [series for series in read if series.points or rows.cut]
        index = max(rows.after, index + 1)
    return found
