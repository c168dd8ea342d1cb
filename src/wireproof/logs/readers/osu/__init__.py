# pure
"""The OSU micro-benchmarks."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, takewhile
from pathlib import PurePath

from msgspec.structs import replace

from wireproof.logs.readers.osu.benchmarks import by_title
from wireproof.logs.readers.page import Page
from wireproof.logs.readers.registry import Adapter, Benchmark, Parsed, given, starts_result
from wireproof.logs.readers.rows import (
    Facts,
    Rows,
    What,
    as_count,
    number,
    numbers,
    read_rows,
    scaled,
    scan_rows,
    step_of,
    times,
)
from wireproof.model.quantity import counted, whole
from wireproof.model.series import IN_GPU, Series, SeriesPoint, ToolRequest

# --- OSU Micro-Benchmarks 3.x to 7.x: output and options. MB = 10^6 bytes. Every table has a title
# (``# OSU MPI_Put Bandwidth Test v5.8``), a line of column names and rows that begin with the
# message size; widths and precision are build options, so rows are read by words, never by
# positions.

# --- A table of two columns with one cell per line, as in text from a PDF. The order of a size and
# its value may be lost, but the order within each column is not: if there are as many values as
# sizes, and sizes double from row to row, the columns are paired in order. Otherwise there are no
# rows.

_FEWEST_ROWS = 3
_MOST_CELLS = 1000


def rows_of_cells(page: Page, start: int) -> Rows | None:
    """Return the rows from line index ``start`` on; None if the cells do not pair up
    unambiguously.
    """
    sizes: list[tuple[str, int]] = []
    values: list[tuple[str, int]] = []

    def take(rows: Rows, index: int) -> list[str] | What:
        words = page.lines[index].split()
        many = len(sizes) + len(values) >= _MOST_CELLS
        if many or any(number(word) is None for word in words):
            return "end"
        for word in words if index != page.ragged else ():
            (values if "." in word else sizes).append((word, index))
        return "skipped"

    rows = scan_rows(page, start, take)
    if len(sizes) != len(values) or len(sizes) < _FEWEST_ROWS:
        return None
    if not all(word.isdigit() for word, _ in sizes):
        return None
    numbers = [int(word) for word, _ in sizes]
    if any(later != max(1, 2 * before) for before, later in pairwise(numbers)):
        return None
    for (size, line), (value, _) in zip(sizes, values, strict=True):
        rows.add([size, value], line)
    return rows


# OMB-Py, the tests in Python, prints the titles without a version; up to 2.3 it is in parentheses.
_TITLE = re.compile(
    r"(?:OSU|OMB-Py) ([A-Za-z_][\w /*()+.-]{2,80}?) Test"
    r"(?:[ ]+(?:v|\(Version )?([\w.+-]{1,20})\)?)?\s*$"
)
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
_IN_TITLE = re.compile(
    r"(?:MPI\w*-(?=CUDA|ROCM|OPENACC|SYCL))?(CUDA|ROCM|OPENACC|SYCL|NCCL|RCCL)\b"
)
_ON_HOSTS = re.compile(r"\bosu_\w{1,40} [^\n]{0,400}?\bH H *$")
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
    """Return the role of a column: time, time_min, time_max, goodput, rate, iterations, valid, pNN,
    or its name.
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
    """Return the column roles, whether rows begin with a size, and the index of the first line
    after the column names.
    """
    sized, columns, index = False, list[str](), start + 1
    for index in range(start + 1, min(len(page.lines), start + 1 + _HEADING_LINES)):
        line = page.lines[index]
        if _TITLE.search(line):
            return [], False, index
        words = line.replace("#", " ").replace(",", " ").split()
        sized = sized or words[:1] == ["Size"]
        if words and number(words[0]) is not None:
            break
        found = _COLUMN.findall(line)
        if found and " = " not in line:
            return [_column(name) for name in found], sized, index + 1
    return columns, sized, index


_KNOWN = {"time", "time_min", "time_max", "goodput", "rate", "iterations"}
_TAIL = re.compile(r"p\d+(\.\d+)?")


def _point(words: list[str], columns: list[str], test: Benchmark, line: int) -> SeriesPoint | None:
    """Return the point of the row; None if a value cannot have been measured (nan, a negative
    time).
    """
    size = whole(words[0])
    texts = dict(zip(columns, words[1:], strict=True))
    valid = texts.pop("valid", None)
    fields = numbers(texts)
    if size is None or not fields:
        return None
    hrt, time = times(scaled(fields.get("time"), 1e3), test.half_round_trip)
    tail_unit = 1e3 if "time" in fields else 1e6
    tails = {name for name in fields if _TAIL.fullmatch(name)}
    return SeriesPoint(
        message_bytes=size,
        hrt_ns=hrt,
        time_ns=time,
        time_min_ns=scaled(fields.get("time_min"), 1e3),
        time_max_ns=scaled(fields.get("time_max"), 1e3),
        goodput_bytes_per_s=scaled(fields.get("goodput"), 1e6),
        messages_per_s=fields.get("rate"),
        iterations=as_count(fields.get("iterations")),
        time_step_ns=step_of(texts["time"]) * 1e3 if "time" in texts else 0.0,
        goodput_step=step_of(texts["goodput"]) * 1e6 if "goodput" in texts else 0.0,
        percentiles={name: fields[name] * tail_unit for name in fields if name in tails},
        values={name: fields[name] for name in fields if name not in _KNOWN | tails},
        valid=None if valid is None else valid.lower() == "pass",
        line=line + 1,
    )


def _state(page: Page, rows: Rows, points: list[SeriesPoint | None]) -> str:
    """Return why the table is incomplete; "" if nothing indicates that."""
    odd = points.count(None)
    if odd and not rows.fault(page):
        return f"{counted(odd, 'row')} with a value that is not a number >= 0"
    return rows.state(page, points)


def _size_less(page: Page, start: int, columns: list[str]) -> Rows:
    """Return the only row of a barrier: as many numbers as columns, no size."""

    def take(rows: Rows, index: int) -> list[str] | What:
        words = page.lines[index].split()
        if index == start + 4 or rows.fields or rows.torn or rows.cut:
            return "end"
        if not words or any(number(word) is None for word in words):
            return "skipped"
        if index == page.ragged:
            return "cut"
        return ["0", *words] if len(words) == len(columns) else "torn"

    rows = scan_rows(page, start, take)
    if not (rows.fields or rows.torn or rows.cut):
        rows.after = start
    return rows


def _rows(page: Page, first: int, columns: list[str], sized: bool) -> Rows:
    if columns and not sized:
        rows = _size_less(page, first, columns)
    else:
        rows = read_rows(page, first, (len(columns) + 1,), starts_result)
    if rows.torn and not rows.fields and len(columns) == 1:
        return rows_of_cells(page, first) or rows
    return rows


def _notes(title: str, heading: str, above: list[str]) -> list[str]:
    """Return the heading's statements on windows, types and buffers. In version 7.5, which prints
    no line about buffers, only the title (``MPI-CUDA Latency``) shows that they are in a GPU,
    unless the command line ``above`` says ``H H``.
    """
    notes = [match.group(0) for match in _SAID.finditer(heading)]
    gpu = _IN_TITLE.match(title)
    if gpu is None or any(map(_ON_HOSTS.search, above)):
        return notes
    if not any("Buffer on" in note for note in notes):
        notes.append(f"{IN_GPU} according to the title, which contains {gpu.group(1)}")
    return notes


def parse(page: Page, start: int) -> Parsed:
    """Parse the table that begins with the title on line index ``start``."""
    title = _TITLE.search(page.lines[start])
    if title is None:
        return Parsed([], start + 1)
    columns, sized, first = _heading(page, start)
    heading = " ".join(page.lines[start:first])
    test = by_title(title.group(1), heading)
    again = _TITLE.search(page.lines[first]) if not columns and first < len(page.lines) else None
    if not columns and (test.metric == "other" or (again and again.groups() == title.groups())):
        return Parsed([], first)
    rows = _rows(page, first, columns, sized)
    points = [_point(words, columns, test, line) for words, line in rows]
    told = Facts({"pairs": _PAIRS, "window": _WINDOW}, page.lines[start:first])
    window = told.number("window", 0)
    series = test.series(
        "osu",
        points,
        version=title.group(2) or "",
        unit="us; MB = 10^6 bytes",
        pairs=told.number("pairs", 0) or 1,
        window=test.window if window is None else window,
        incomplete=_state(page, rows, points),
        notes=_notes(title.group(1), heading, page.lines[max(0, start - _HEADING_LINES) : start]),
        last_line=rows.last_line,
    )
    return Parsed([series], rows.after)


def argv(request: ToolRequest) -> tuple[str, ...]:
    """Return ``osu_bw -m 1048576:1048576 -i 1000``. OSU takes a range of doubling sizes, never a
    list.
    """
    sizes = f"{min(request.sizes)}:{max(request.sizes)}" if request.sizes else None
    return (request.program, *given(("-m", sizes), ("-i", request.iterations)), *request.extra)


_ITERATIONS = re.compile(r"(?:-i ?|--iterations[ =])(\d{1,9})")
_PROCESSES = re.compile(r"(?:-n ?|-np ?|--np[ =]|--ntasks[ =])(\d{1,7})")


def requested_iterations(command: Sequence[str]) -> int | None:
    """Return the iterations per size that a command requests from OSU's programs; None if it
    requests none, or different numbers.
    """
    asked = {_asked(_ITERATIONS, after) for _, after in _programs(command)}
    return asked.pop() if len(asked) == 1 else None


def requested_processes(command: Sequence[str]) -> int | None:
    """Return the number of processes of OSU's programs that a launcher is asked to start, or
    None."""
    asked = [_asked(_PROCESSES, before) for before, _ in _programs(command)]
    return None if None in asked else sum(count or 0 for count in asked) or None


def _programs(command: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Yield the words before and after each of OSU's programs, up to a launcher's colon."""
    begin = 0
    for at, word in enumerate(command):
        if word == ":":
            begin = at + 1
        elif PurePath(word).name.startswith("osu_"):
            yield command[begin:at], list(takewhile(lambda each: each != ":", command[at + 1 :]))


def _asked(option: re.Pattern[str], words: Sequence[str]) -> int | None:
    """Return the number that follows the first match of ``option``, in the same or the next
    word."""
    texts = (text for pair in pairwise([*words, ""]) for text in (pair[0], " ".join(pair)))
    found = (option.fullmatch(text) for text in texts)
    return next((int(each.group(1)) for each in found if each is not None), None)


def with_request(series: Iterable[Series], command: Sequence[str]) -> list[Series]:
    """Return the series; OSU's series get the iterations and processes of the command if they print
    none.
    """
    count, processes = requested_iterations(command), requested_processes(command)

    def asked(table: Series) -> Series:
        points = [replace(each, iterations=each.iterations or count) for each in table.points]
        return replace(table, points=points, processes=table.processes or processes)

    return [asked(table) if table.tool == "osu" else table for table in series]


ADAPTER = Adapter(
    name="osu",
    parse=parse,
    argv=argv,
    csv=True,
)
