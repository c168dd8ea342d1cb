"""perftest: ``ib_write_bw`` and its family."""

import re
from dataclasses import dataclass, field

import msgspec

from wireproof.adapters.page import Page
from wireproof.adapters.perftest.benchmarks import (
    COMMAND,
    HEADING,
    TITLE,
    argv,
    columns_of,
    test_of,
)
from wireproof.adapters.perftest.block import ERROR, RULE, Block, block_at, printable
from wireproof.adapters.perftest.json_output import DOCUMENT, parse_document
from wireproof.adapters.registry import Adapter, Benchmark, Parsed, starts_result
from wireproof.adapters.rows import (
    Rows,
    as_count,
    nearest_above,
    number,
    read_rows,
    scaled,
    step_of,
    times,
)
from wireproof.model.quantity import counted, whole
from wireproof.model.series import IN_GPU, Series, SeriesPoint

# --- perftest (ib_write_bw and its family): output and options. MB is 2^20 bytes, whether a version
# labels the column MB/sec or MiB/sec; Gb is 10^9 bits.

_BEFORE = 40
_OTHERS = re.compile(f"{HEADING.pattern}|{TITLE.pattern}")
_MOST = 1e15
_COLUMNS = frozenset(("size", "iterations", "goodput", "rate", "peak"))
_FACTORS = {
    "MB/sec": 1 << 20,
    "MiB/sec": 1 << 20,
    "Gb/sec": 125_000_000,
    "GB/sec": 1 << 30,
    "GiB/sec": 1 << 30,
}
_GRAVE = re.compile(
    r"Completion with error|Failed status|Terminated\b|Killed\b|Received \d{1,9} times"
)
_CLOCKS = ("Conflicting CPU frequency", "measured timestamp frequency")
_GPU = (" GPU buffer", "ROCm Device with ID")
_SAMPLE = re.compile(r"^\s*(?:\d{1,9}, [\d.e+-]{1,20}|#, \w{1,8}|-{5,}|)\s*$")
_COUNTER = re.compile(r"^\s*(\w{2,40})=(\d{1,20})\s*$")
_UNIT = {"": "us", "Gb/sec": "Gb = 10^9 bits", "MiB/sec": "MiB = 2^20 bytes"}


def _behind_samples(page: Page, heading: int) -> int:
    """Return the heading whose rows follow: ``-U`` and ``-H`` print all samples between two
    headings, and two ends that write into one log print the heading twice.
    """
    index, last = heading + 1, heading
    while index < len(page.lines) and (
        _SAMPLE.match(page.lines[index]) or HEADING.search(page.lines[index])
    ):
        last = index if HEADING.search(page.lines[index]) else last
        index += 1
    return last


def _numbers(words: list[str], roles: list[str]) -> dict[str, float] | None:
    """Return the number of each column; None if a text cannot be a measured number."""
    found = {}
    for role, word in zip(roles, words, strict=True):
        value = number(word)
        if value is None or not 0 <= value < _MOST:
            return None
        found[role] = value
    return found


def _bandwidth(words: list[str], roles: list[str], factor: int, line: int) -> SeriesPoint | None:
    """Return the point of one row. A bandwidth printed as 0.00 is below the last digit and omitted;
    its message rate stays.
    """
    known = _numbers(words, roles)
    if known is None or not (known.get("goodput") or known.get("rate")):
        return None
    goodput, rate = known.get("goodput"), known.get("rate")
    return SeriesPoint(
        message_bytes=int(words[0]),
        goodput_bytes_per_s=scaled(goodput or None, factor),
        messages_per_s=scaled(rate or None, 1e6),
        iterations=as_count(known.get("iterations")),
        goodput_step=step_of(words[roles.index("goodput")]) * factor if goodput else 0.0,
        values=_other_columns(known, factor),
        line=line + 1,
    )


def _other_columns(known: dict[str, float], factor: int) -> dict[str, float]:
    """Return the other columns of a bandwidth test, with bandwidths in bytes per second."""
    values = {role: value for role, value in known.items() if value and role not in _COLUMNS}
    if known.get("peak"):
        values["peak_bytes_per_s"] = known["peak"] * factor
    for role in [role for role in values if role.startswith("bw_")]:
        values[f"{role}_bytes_per_s"] = values.pop(role) * factor
    return values


def _time(words: list[str], roles: list[str], half: bool, line: int) -> SeriesPoint | None:
    """Return the point of one row. Its time is the median (t_typical), or the mean, which is all
    that a run of given duration prints.
    """
    known = _numbers(words, roles)
    main = "typical" if "typical" in roles else "avg"
    if known is None or not known.get(main):
        return None
    hrt, time = times(known[main] * 1e3, half)
    percentiles = {role: value * 1e3 for role, value in known.items() if role.startswith("p99")}
    if main == "typical":
        percentiles["p50"] = known[main] * 1e3
    return SeriesPoint(
        message_bytes=int(words[0]),
        hrt_ns=hrt,
        time_ns=time,
        time_min_ns=scaled(known.get("min"), 1e3),
        time_max_ns=scaled(known.get("max"), 1e3),
        iterations=as_count(known.get("iterations")),
        time_step_ns=step_of(words[roles.index(main)]) * 1e3,
        percentiles=percentiles,
        values={f"{role}_ns": known[role] * 1e3 for role in ("avg", "stdev") if role in known},
        line=line + 1,
    )


def _counters(page: Page, rows: Rows, index: int) -> dict[str, float]:
    """Return the port counters that ``-W`` prints below a row, each with its increase."""
    end = rows.lines[index + 1] if index + 1 < len(rows.lines) else rows.after
    found = {}
    for at in range(rows.lines[index] + 1, min(end, rows.lines[index] + 30)):
        match = _COUNTER.match(page.lines[at])
        if match is not None and not (page.cut and at == len(page.lines) - 1):
            found[match.group(1)] = float(match.group(2))
    return found


def _points(
    page: Page, rows: Rows, roles: list[str], test: Benchmark, unit: str
) -> tuple[list[SeriesPoint], int]:
    """Return points by size (repeated runs keep their order), and the number of rows without a
    measured number.
    """
    good = []
    factor = _FACTORS.get(unit, 1 << 20)
    timed = "avg" in roles or "typical" in roles
    for index, (words, line) in enumerate(zip(rows.fields, rows.lines, strict=True)):
        point = (
            _time(words, roles, test.half_round_trip, line)
            if timed
            else _bandwidth(words, roles, factor, line)
        )
        if point is None or not 0 < point.message_bytes < 1 << 40:
            continue
        counters = _counters(page, rows, index)
        if counters:
            point = msgspec.structs.replace(point, values=point.values | counters)
        good.append(point)
    return sorted(good, key=lambda point: point.message_bytes), len(rows.fields) - len(good)


def _state(page: Page, rows: Rows, block: Block, closed: bool, troubles: list[str]) -> str:
    """Return why the table is incomplete; "" if nothing indicates that."""
    if rows.fault(page):
        return rows.fault(page)
    if troubles:
        return troubles[0]
    if not rows.fields:
        return "no row that can be read follows the heading"
    endless = len(rows.fields) > 1 and len({words[0] for words in rows.fields}) == 1
    if block.title is not None and not closed and not endless:  # --run_infinitely prints no end
        return "the line that closes the table is missing: the run was cut"
    return ""


def _notes(page: Page, start: int, block: Block, unit: str, odd: int, after: int) -> list[str]:
    notes = [f"{name}: {value}" for name, value in block.parameters.items()]
    if unit == "MB/sec":
        notes.append("the heading is MB/sec, but the program counts 2^20 bytes")
    if len(block.hosts()) == 1:
        notes.append(f"local and remote address are one: both ranks are on {block.hosts()[0]}")
    if odd:
        notes.append(f"{counted(odd, 'row')} left out: zero, or not a possible number")
    around = page.lines[max(0, start - 10) : after]
    if any(said in line for line in around for said in _GPU):
        notes.append(IN_GPU)
    if any(said in line for line in around for said in _CLOCKS):
        notes.append(
            "the program found conflicting processor frequencies: all its times may be off by "
            "their ratio"
        )
    return notes


def _closed(page: Page, index: int) -> bool:
    """Return True for the rule below a table; a rule above the next title closes nothing."""
    if index >= len(page.lines) or RULE.match(page.lines[index]) is None:
        return False
    return index + 1 >= len(page.lines) or TITLE.search(page.lines[index + 1]) is None


def _window(block: Block) -> int | None:
    """Return the messages in flight: the depth of the send queue times the number of queue
    pairs.
    """
    depth, pairs = (whole(block.parameters.get(name, "")) for name in ("TX depth", "Number of qps"))
    return depth * (pairs or 1) if depth else None


@dataclass(slots=True)
class _PerftestTable:
    """The content below a line of column names. ``incomplete``: why the table is incomplete."""

    rows: Rows
    roles: list[str] = field(default_factory=list)
    unit: str = ""
    closed: bool = False
    incomplete: str = ""


def _table(page: Page, block: Block) -> _PerftestTable:
    """Return the table of the block; without rows if it has no line of column names."""
    if block.heading is None:
        why = block.errors[0] if block.errors else "no table follows the title"
        return _PerftestTable(Rows(after=block.after), incomplete=why)
    roles, unit = columns_of(page.lines[block.heading])
    block.heading = _behind_samples(page, block.heading)
    first = block.heading + 1
    rows = read_rows(page, first, (len(roles),), _ends)
    closed = _closed(page, rows.after)
    grave = _GRAVE if closed else ERROR
    lines = page.lines[first : rows.after]
    troubles = [printable(line) for line in lines if "=" not in line and grave.search(line)]
    return _PerftestTable(rows, roles, unit, closed, _state(page, rows, block, closed, troubles))


def parse(page: Page, start: int) -> Parsed:
    """Parse the run that begins with the title, the table or the error message on line index
    ``start``.
    """
    if DOCUMENT.search(page.lines[start]):
        return parse_document(page, start)
    block = block_at(page, start)
    named = None if block.title else nearest_above(page, start, COMMAND, _BEFORE, _OTHERS.search)
    command, rest = named.groups() if named is not None else ("", "")
    table = _table(page, block)
    rows, roles, unit = table.rows, table.roles, table.unit
    test = test_of(block.title, command, rest, roles)
    points, odd = _points(page, rows, roles, test, unit)
    raw = command.startswith("raw_") or block.parameters.get("Connection type") == "RawEth"
    series = Series(
        tool="perftest",
        benchmark=test.name,
        metric=test.metric,
        traffic=test.traffic,
        points=points,
        formula=test.formula,
        unit=_UNIT.get(unit, "MB = 2^20 bytes") if roles else "",
        directions=test.directions,
        waits=test.metric in ("half_round_trip", "latency"),
        window=_window(block) if test.metric.endswith("bandwidth") else None,
        protocol="" if raw else "rdma",
        complete=not table.incomplete,
        incomplete=table.incomplete,
        hosts=block.hosts(),
        notes=_notes(page, start, block, unit, odd, max(rows.after, block.after)),
        source=page.source,
        first_line=start + 1,
        last_line=(rows.lines or [start])[-1] + 1,
    )
    return Parsed([series], max(start + 1, rows.after + table.closed))


def _ends(line: str) -> bool:
    """Return True for the rule below a table, and for a line that starts another result."""
    return bool(RULE.match(line)) or (starts_result(line) and not ERROR.search(line))


ADAPTER = Adapter(
    name="perftest",
    parse=parse,
    argv=argv,
)
