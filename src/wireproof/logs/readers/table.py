# pure
"""A bare table of results: CSV, or only the pasted numbers of an OSU or IMB run. The heading
contains the columns and their units. Only facts that the arithmetic of the numbers proves are
derived from them.
"""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from wireproof.logs.readers.osu.benchmarks import by_name
from wireproof.logs.readers.page import Page
from wireproof.logs.readers.registry import Benchmark
from wireproof.logs.readers.rows import Rows, as_count, number, read_rows, step_of
from wireproof.model.quantity import whole
from wireproof.model.series import Series, SeriesPoint

# --- The columns of a bare table of results: the quantity and unit in each heading.

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
# checked on every line of a log without a known result
_LIKELY = re.compile(r"(?:size|bytes|length)\b", re.IGNORECASE)
_BITS = re.compile(r"(?<![A-Za-z])([GM])b(?=/s)")
_UNCLEAR = re.compile(
    r"(?<![A-Za-z])[gm]b/s"
)  # a factor of eight: the case of the letters is the only clue
_BYTES_PS = re.compile(r"(?<![A-Za-z])([GM])Bps\b")
_LONGEST_HEADING = 400
_MOST_COLUMNS = 24
_LABELLED = re.compile(r"([^(\[]*?)_*[(\[]([^()\[\]]{1,40})[)\]]")
_SUFFIXED = re.compile(
    r"(.{1,40}?)_((?:latency|lat|time|t|bandwidth|bw|goodput|throughput)?[_(\[]*[a-zµ]{1,9}"
    r"(?:/(?:s|sec|second))?[)\]]?)"
)
# Statistics over many measurements are not separate measurements: they are kept beside their
# number.
_STATISTIC = re.compile(
    r"(?:^|_)(?:min|max|peak|st_?dev|std|sd|var|med|median|p\d{1,3}|\d{1,3}%|pct|percentiles?|err"
    r"|error|ci|overlap|overhead|total|sum|diff|delta)(?:_|$)"
)
# R puts "x." before a column's name that starts without a letter
_R = re.compile(r"\bx\.(?=[a-z])")
_R_UNIT = re.compile(r"\b(t|t_\w{1,8})\.(usec|us|nsec|ns|msec|ms)\.?$")
_R_RATE = re.compile(r"\b([kmg]?(?:bytes|b|bits?))\.(s|sec|second)\.?$")


@dataclass(frozen=True, slots=True)
class Column:
    """``role``: size, iterations, rate, time, goodput, or "" for a column that is kept under its
    name. ``label``: the program, library or test that the column belongs to, from its name.
    """

    role: str
    factor: float
    name: str
    label: str = ""


Places = tuple[tuple[int, Column], ...]
"""The columns of one of several tables side by side, with their positions in a row."""


def _plain_role(name: str) -> tuple[str, float] | None:
    for pattern, role in ((_SIZE, "size"), (_ITERATIONS, "iterations"), (_RATE, "rate")):
        if pattern.fullmatch(name):
            return role, 1.0
    time = _TIME.fullmatch(name)
    if time is not None:
        return "time", _NANOSECONDS[time.group(1)]
    goodput = _GOODPUT.fullmatch(name)
    if goodput is not None and (name not in _BYTES or name.endswith("ps")):
        return "goodput", _BYTES[goodput.group(1)]
    # "Gb/s" in one case does not distinguish bits from bytes: only the original spelling does.
    return None


def _column(word: str) -> Column:
    name = _R.sub("", word.strip("#\"' ").lower())
    name = _R_RATE.sub(r"\1/\2", _R_UNIT.sub(r"\1[\2]", name))
    found = _plain_role(name)
    if found is not None:
        return Column(*found, name)
    if _STATISTIC.search(re.sub(r"[^a-z0-9%]+", "_", name)):
        return Column("", 1.0, name[:40])
    return _labelled(name) or Column("", 1.0, name[:40])


def _labelled(name: str) -> Column | None:
    """Return the column for ``openmpi(us)``, ``mbytes/sec(pingpong)``, ``mpich_latency_us``: a
    measured column with a label.
    """
    match = _LABELLED.fullmatch(name)
    if match is not None:
        base, inner = match.groups()
        found = _measured(base)
        if found is not None:
            return Column(*found, name[:40], inner[:40])
        found = _measured(f"({inner})")
        if found is not None and base:
            return Column(*found, name[:40], base.strip("_ ")[:40])
    match = _SUFFIXED.fullmatch(name)
    if match is not None and (found := _measured(match.group(2))) is not None:
        return Column(*found, name[:40], match.group(1)[:40])
    return None


def _measured(name: str) -> tuple[str, float] | None:
    found = _plain_role(name)
    return found if found is not None and found[0] in ("time", "goodput", "rate") else None


def fields_of(line: str) -> list[str]:
    """Return the cells of a CSV line, or the words of any other line."""
    for between in (",", ";"):
        if between in line:
            try:
                (cells,) = csv.reader([line], delimiter=between, skipinitialspace=True)
            except (csv.Error, ValueError):
                return []
            cells = [cell.strip() for cell in cells]
            return cells[:-1] if cells and not cells[-1] else cells
    return line.split()


def _clear(line: str) -> str:
    """Return the heading in lower case, with bits and bytes still distinguishable."""
    text = _BITS.sub(r"\1bit", _BYTES_PS.sub(r"\1B/s", _UNCLEAR.sub("unclear", line)))
    return text.lower().replace("# ", " ")


def _joined(text: str) -> str:
    return _SPACED_UNIT.sub("", _PREFIX.sub(r"\1_", text))


def columns_of(line: str) -> list[Column]:
    """Return the columns of a heading; empty if the line is not a heading."""
    if len(line) > _LONGEST_HEADING or _LIKELY.search(line) is None:
        return []
    text = _clear(line)
    if "," in text or ";" in text:
        written = [[re.sub(r"[ ]+", "_", _joined(cell)) for cell in fields_of(text)]]
    else:
        cells = [re.sub(r"[ ]+", "_", _joined(cell)) for cell in re.split(r" {2,}", text.strip())]
        written = [_joined(text).split(), cells]
    known = [columns for words in written if (columns := _known(words))]
    return max(known, key=_told, default=[])


def _told(columns: list[Column]) -> tuple[bool, int]:
    """Return a sort key that prefers a heading with only known columns."""
    return all(column.role for column in columns), sum(bool(column.role) for column in columns)


def _known(words: list[str]) -> list[Column]:
    if not 2 <= len(words) <= _MOST_COLUMNS:
        return []
    columns = [_column(word) for word in words]
    roles = [column.role for column in columns]
    # R writes the row number first, without a column name.
    first = 1 if not columns[0].name else 0
    if roles[first : first + 1] != ["size"] or not {"time", "goodput", "rate"} & set(roles):
        return []
    return columns


def groups_of(columns: list[Column]) -> list[tuple[Places, str]]:
    """Return the tables of a heading, one or several side by side, each with its label."""
    sizes = [place for place, column in enumerate(columns) if column.role == "size"]
    ends = [*sizes[1:], len(columns)]
    beside = (list(enumerate(columns))[begin:end] for begin, end in zip(sizes, ends, strict=True))
    return [group for places in beside for group in _beside(places)]


def _beside(places: list[tuple[int, Column]]) -> list[tuple[Places, str]]:
    """Return a group for each label, or for each column with the same name, that share a size
    column.
    """
    shared = [one for one in places if one[1].role in ("size", "iterations", "")]
    measured = [one for one in places if one not in shared]
    labels = list(dict.fromkeys(column.label for _, column in measured))
    if len(labels) > 1:
        return [
            ((*shared, *(one for one in measured if one[1].label == label)), label)
            for label in labels
        ]
    times: dict[str, int] = {}
    groups: dict[int, list[tuple[int, Column]]] = {}
    for place, column in measured:
        times[column.name] = times.get(column.name, 0) + 1
        groups.setdefault(times[column.name], []).append((place, column))
    return [((*shared, *_first(own)), labels[0]) for own in groups.values()]


def _first(measured: list[tuple[int, Column]]) -> list[tuple[int, Column]]:
    """Keep the first column of a role as the number; further ones are kept by name."""
    first = {column.role: place for place, column in reversed(measured)}
    return [
        (place, column if first[column.role] == place else replace(column, role=""))
        for place, column in measured
    ]


# --- The table below a heading.

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


def _point(words: Sequence[str], places: Places, line: int) -> SeriesPoint | None:
    values: dict[str, float] = {}
    steps: dict[str, float] = {}
    others: dict[str, float] = {}
    for place, column in places:
        value = number(words[place])
        if value is None or value < 0:
            return None
        if column.role:
            values[column.role] = value * column.factor
            steps[column.role] = step_of(words[place]) * column.factor
        elif column.name:
            others[column.name] = value
    size = whole(words[next(at for at, column in places if column.role == "size")])
    if size is None:
        return None
    return SeriesPoint(
        message_bytes=size,
        hrt_ns=values.get("time"),
        goodput_bytes_per_s=values.get("goodput"),
        messages_per_s=values.get("rate"),
        iterations=as_count(values.get("iterations")),
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
    texts = (label, above, page.source.rsplit("/", 1)[-1][-200:])
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


def _test(benchmark: str, points: Sequence[SeriesPoint]) -> Benchmark:
    """Return the test; in a table named ping-pong, each message waits for the previous one,
    whatever the columns are.
    """
    known = by_name(benchmark)
    if known is not None:
        return known
    if benchmark in ("Sendrecv", "Exchange"):
        ways = 2 if benchmark == "Sendrecv" else 4
        text = f"{ways} x size / time, as IMB prints it"
        return Benchmark(benchmark, "bidirectional_bandwidth", "exchange", text, directions=2)
    if benchmark == "PingPing":
        text = "size / time while both ends send, as IMB prints it"
        return Benchmark(benchmark, "bandwidth", "exchange", text)
    timed, waited = any(point.hrt_ns is not None for point in points), benchmark == "PingPong"
    if waited or (timed and _half_of_a_round_trip(points)):
        metric = "half_round_trip" if timed else "bandwidth"
        return Benchmark(
            benchmark or "ping-pong",
            metric,
            "pingpong",
            "assumed to be half a round trip (the table does not show this)",
            waits=True,
        )
    if timed:
        text = "time of one operation (the table does not show which)"
        return Benchmark(benchmark or "unknown", "latency", "other", text)
    text = "assumed to be one direction (the table does not show this)"
    return Benchmark(benchmark or "bandwidth", "bandwidth", "stream", text)


def _plain(page: Page) -> Page:
    """Return the same lines with spaces in place of commas and semicolons."""
    lines = [line.replace(",", " ").replace(";", " ").replace('"', "") for line in page.lines]
    return Page(page.source, lines, page.cut)


def _incomplete(page: Page, rows: Rows, odd: int) -> str:
    if rows.cut:
        return rows.fault(page)
    if rows.torn or odd:
        return f"{len(rows.torn) + odd} rows are torn or contain no number >= 0"
    return ""


def _series(
    page: Page, heading: int, rows: Rows, places: Places, label: str, several: int
) -> Series:
    points = [_point(words, places, line) for words, line in rows]
    good = sorted(filter(None, points), key=lambda point: point.message_bytes)
    tool, benchmark = _hint(page, heading, label)
    names = ", ".join(column.name for _, column in places if column.name)
    notes = ["a bare table: the text does not show which program printed it or how it was measured"]
    if several > 1:
        notes.append(f"one of {several} tables side by side: {label or names}"[:400])
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
    """Add a column for R's row numbers: R writes them in quotes at the start of each row, without a
    heading.
    """
    line = page.lines[heading]
    below = next((one for one in page.lines[heading + 1 : heading + 3] if one.strip()), "")
    named = line.lstrip().startswith('"') and below.lstrip().startswith('"')
    if named and columns[0].name and len(below.split()) == len(columns) + 1:
        return [Column("", 1.0, ""), *columns]
    return columns


def tables(page: Page) -> list[Series]:
    """Return every table whose heading contains a message size and a time, a bandwidth or a rate;
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
        read = [_series(plain, index, rows, *group, len(groups)) for group in groups]
        found += [series for series in read if series.points or rows.cut]
        index = max(rows.after, index + 1)
    return found
