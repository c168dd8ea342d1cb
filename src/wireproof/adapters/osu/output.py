"""OSU Micro-Benchmarks 3.x to 7.x: what they print and the options that they take.

MB = 10^6 bytes. Every table has a title (``# OSU MPI_Put Bandwidth Test v5.8``), a line of column
names and rows that begin with the message size; widths and precision are build options, so rows are
read by words, never by columns.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from wireproof.adapters.adapter import Adapter, Parsed, Sign
from wireproof.adapters.osu.benchmarks import OsuTest, by_title
from wireproof.adapters.osu.cells import rows_of_cells
from wireproof.adapters.page import Page
from wireproof.adapters.registry import starts_result
from wireproof.adapters.rows import Rows, integer, number, read_rows, step_of
from wireproof.model.errors import BadInput
from wireproof.model.series import Series, SeriesPoint
from wireproof.model.tool import ToolRequest

__all__ = ["ADAPTER"]

_TITLE = re.compile(r"OSU ([A-Za-z_][\w /*()+.-]{2,80}?) Test(?:[ ]+v?([\w.+-]{1,20}))?\s*$")
_COLUMN = re.compile(
    r"P\d{1,2}(?:\.\d+)? Tail (?:Lat|BW) ?\((?:us|MB/s)\)|(?:Avg|Min|Max) (?:Latency|Bandwidth)"
    r" ?\((?:us|MB/s)\)|"
    r"(?:Latency|Bandwidth|Bi-Bandwidth|Bidirectional Bandwidth) ?\((?:us|MB/s)\)|MB/s|Messages/s|"
    r"Iterations|Validation|Overlap ?\(%\)|Transmit Size|"
    r"(?:Overall|Compute|Coll\. ?Init|MPI_Test|MPI_Wait|(?:Pure|Min|Max|Avg) Comm\.) ?\(us\)"
)
_SAID = re.compile(
    r"(?:Window creation|Synchronization|Datatype): MPI_[\w/]{1,60}|Buffer on (?:DEVICE|HOST) "
    r"\([DHM]{1,2}\)"
)
_PAIRS = re.compile(r"pairs: (\d{1,7}) \]")
_WINDOW = re.compile(r"window size: (\d{1,7}) \]")
_HEADING_LINES = 14

_TIMES = {
    "Avg Latency": "time",
    "Latency": "time",
    "Min Latency": "time_min",
    "Max Latency": "time_max",
}


def _column(name: str) -> str:
    """The role of a column: time, time_min, time_max, goodput, rate, iterations, valid, pNN, or its
    own name.
    """
    plain = name.partition("(")[0].strip()
    if plain in _TIMES and "us" in name:
        return _TIMES[plain]
    if plain.startswith("P") and "Tail" in plain:
        return plain.split()[0].lower()
    if "MB/s" in name and not plain.startswith(("Min", "Max")):
        return "goodput"
    known = {
        "Messages/s": "rate",
        "Iterations": "iterations",
        "Validation": "valid",
        "Pure Comm.": "time",
    }
    return known.get(plain, plain.lower().replace(" ", "_").replace(".", ""))


def _heading(page: Page, start: int) -> tuple[list[str], bool, int]:
    """Column roles, whether rows begin with a size, and the index of the first line after the
    column names.
    """
    sized, columns, index = False, list[str](), start + 1
    for index in range(start + 1, min(len(page.lines), start + 1 + _HEADING_LINES)):
        line = page.lines[index]
        if _TITLE.search(line):
            return [], False, index
        words = line.replace("#", " ").split()
        sized = sized or words[:1] == ["Size"]
        if words and number(words[0]) is not None:
            break
        found = _COLUMN.findall(line)
        if found and " = " not in line:
            return [_column(name) for name in found], sized, index + 1
    return columns, sized, index


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where each number of a row stands; worked out once per table. ``tails`` and ``others`` are
    kept by name.
    """

    columns: tuple[str, ...]
    tails: tuple[str, ...]
    others: tuple[str, ...]
    test: OsuTest


def _layout(columns: list[str], test: OsuTest) -> _Layout:
    tails = tuple(name for name in columns if re.fullmatch(r"p\d+(\.\d+)?", name))
    known = {"time", "time_min", "time_max", "goodput", "rate", "iterations", "valid", *tails}
    return _Layout(
        tuple(columns), tails, tuple(name for name in columns if name not in known), test
    )


def _point(words: list[str], layout: _Layout, line: int) -> SeriesPoint | None:
    size = integer(words[0])
    texts = dict(zip(layout.columns, words[1:], strict=True))
    valid = texts.pop("valid", None)
    fields: dict[str, float] = {}
    for role, text in texts.items():
        value = number(text)
        if value is None or value < 0:
            return None
        fields[role] = value
    if size is None or not fields:
        return None
    time, goodput, iterations = fields.get("time"), fields.get("goodput"), fields.get("iterations")
    scaled = None if time is None else time * 1e3
    half, unit = layout.test.half_round_trip, 1e6 if time is None else 1e3
    return SeriesPoint(
        message_bytes=size,
        hrt_ns=scaled if half else None,
        time_ns=None if half else scaled,
        time_min_ns=fields["time_min"] * 1e3 if "time_min" in fields else None,
        time_max_ns=fields["time_max"] * 1e3 if "time_max" in fields else None,
        goodput_bytes_per_s=None if goodput is None else goodput * 1e6,
        messages_per_s=fields.get("rate"),
        iterations=None if iterations is None else int(iterations),
        time_step_ns=step_of(texts["time"]) * 1e3 if time is not None else 0.0,
        goodput_step=step_of(texts["goodput"]) * 1e6 if goodput is not None else 0.0,
        percentiles={name: fields[name] * unit for name in layout.tails if name in fields},
        values={name: fields[name] for name in layout.others if name in fields},
        valid=None if valid is None else valid.lower() == "pass",
        line=line + 1,
    )


def _points(rows: Rows, columns: list[str], test: OsuTest) -> tuple[list[SeriesPoint], int]:
    """Points by size, and how many rows held what is no measured number (nan, a negative time)."""
    layout = _layout(columns, test)
    points = [
        _point(words, layout, line) for words, line in zip(rows.fields, rows.lines, strict=True)
    ]
    good = [point for point in points if point is not None]
    good.sort(key=lambda point: point.message_bytes)
    return good, len(points) - len(good)


def _state(page: Page, rows: Rows, points: list[SeriesPoint], odd: int) -> str:
    """Why the table is incomplete; "" when nothing says so."""
    if rows.cut:
        return f"line {len(page.lines)}: the text ends inside a row"
    if rows.torn:
        return f"line {rows.torn[0] + 1}: a row is torn ({len(rows.torn)} in all)"
    if odd:
        return f"{odd} rows hold what is not a number >= 0"
    return "" if points else "no row follows the heading"


def _size_less(page: Page, start: int, columns: list[str]) -> Rows:
    """The one row of a barrier: as many numbers as columns, no size."""
    rows = Rows(after=start)
    for index in range(start, min(start + 4, len(page.lines))):
        words = page.lines[index].split()
        if words and all(number(word) is not None for word in words):
            rows.after = index + 1
            if index == len(page.lines) - 1 and page.cut:
                rows.cut = True
            elif len(words) == len(columns):
                rows.fields, rows.lines = [["0", *words]], [index]
            else:
                rows.torn = [index]
            break
    return rows


def parse(page: Page, start: int) -> Parsed:
    """The table that begins with the title on line index ``start``."""
    title = _TITLE.search(page.lines[start])
    if title is None:
        return Parsed([], start + 1)
    columns, sized, first = _heading(page, start)
    heading = " ".join(page.lines[start:first])
    test = by_title(title.group(1), heading)
    if not columns and test.metric == "other":
        return Parsed([], first)
    whole = sized or not columns
    rows = (
        read_rows(page, first, (len(columns) + 1,), starts_result)
        if whole
        else _size_less(page, first, columns)
    )
    if rows.torn and not rows.fields and len(columns) == 1:
        rows = rows_of_cells(page, first) or rows
    points, odd = _points(rows, columns, test)
    incomplete = _state(page, rows, points, odd)
    said = [match.group(0) for match in _SAID.finditer(heading)]
    window, pairs = _WINDOW.search(heading), _PAIRS.search(heading)
    series = Series(
        tool="osu",
        version=title.group(2) or "",
        benchmark=test.name,
        metric=test.metric,
        traffic=test.traffic,
        points=points,
        formula=test.formula,
        unit="us; MB = 10^6 bytes",
        directions=test.directions,
        waits=test.waits,
        pairs=int(pairs.group(1)) if pairs else 1,
        window=int(window.group(1)) if window else test.window,
        complete=not incomplete,
        incomplete=incomplete,
        notes=said,
        source=page.source,
        first_line=start + 1,
        last_line=rows.lines[-1] + 1 if rows.lines else start + 1,
    )
    return Parsed([series], rows.after)


def argv(request: ToolRequest) -> tuple[str, ...]:
    """``osu_bw -m 1048576:1048576 -i 1000``. OSU takes a range of doubling sizes, never a list."""
    words = [request.program]
    if request.sizes:
        words += ["-m", f"{min(request.sizes)}:{max(request.sizes)}"]
    if request.iterations is not None:
        words += ["-i", str(request.iterations)]
    if request.window is not None:
        if "bw" not in request.benchmark:
            raise BadInput(
                f"{request.benchmark or request.program} has no window: only the bandwidth tests "
                "have one."
            )
        words += ["-W", str(request.window)]
    return (*words, *request.extra)


ADAPTER = Adapter(
    name="osu",
    signs=(Sign(" Test", r"OSU [A-Z][\w /*()+.-]{2,80} Test\b"),),
    parse=parse,
    argv=argv,
)
