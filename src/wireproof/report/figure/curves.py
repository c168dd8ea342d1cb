"""The two curves of a sweep: time and goodput against message size, with the physical limits."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median

from wireproof.model import gathered, quantity
from wireproof.model.claim import Limits
from wireproof.report.figure import (
    Axis,
    Chart,
    Labelled,
    Limit,
    Line,
    Mark,
    decades,
    plain,
    sizes,
)
from wireproof.report.judged_run import JudgedRun
from wireproof.report.names import clean
from wireproof.report.rows import ResultRow, ResultTable

MOST_SERIES = 6
LEAST_SIZES = 3
ZERO_AT = 0.5
"""Position of a message of 0 bytes on the logarithmic axis; its tick is labelled 0."""
_READ = (
    "Bands are 95 % intervals; the dashed line is the physical limit. Point at a mark, or select "
    "it with the arrow keys, to read its numbers."
)
_Series = tuple[str, list[ResultRow]]


def latency(section: JudgedRun, tables: Sequence[ResultTable], name: str) -> Chart | None:
    """Return half round trip (for put and get, time per operation) against message size on
    logarithmic axes, with the floor.
    """
    series, left_out = _series([table for table in tables if table.unit == "ns"])
    if not series:
        return None
    limits = section.limits
    floor = limits.floor_ns if limits else None
    lines = tuple(_line(one, "ns", 1e-3) for one in series)
    low, high = _reach(lines)
    x = _size_axis(row.pair.message_bytes for _, rows in series for row in rows)
    words = f"floor {quantity.microseconds(floor)} µs" if floor else ""
    y = _log_axis("half round trip (µs)", min(low, floor / 1e3) if floor else low, high)
    return Chart(
        id=name,
        title="Latency: half round trip against message size",
        note=f"{_READ} {left_out}".strip(),
        alt=f"Curve of time against message size. {_in_words(series, 'µs')}; "
        f"{words or 'no floor known'}.",
        x=x,
        y=y,
        lines=lines,
        limits=(Limit(words, tuple(_floor(limits, x))),) if limits and floor else (),
        steps=_switches(section),
    )


def bandwidth(section: JudgedRun, tables: Sequence[ResultTable], name: str) -> Chart | None:
    """Return goodput against message size (logarithmic), with the ceiling; the vertical axis is
    logarithmic if values are far above the ceiling.
    """
    chosen = [table for table in tables if table.unit != "ns" or table.halved]
    series, left_out = _series(chosen, rates=True)
    if not series:
        return None
    limits = section.limits
    ceiling = limits.attainable_bytes_per_s if limits else None
    lines = tuple(_line(one, "bytes_per_s", 1e-6) for one in series)
    x = _size_axis(row.pair.message_bytes for _, rows in series for row in rows)
    words = f"attainable {quantity.megabytes(ceiling)} MB/s" if ceiling else ""
    most = ceiling / 1e6 if ceiling else None
    return Chart(
        id=name,
        title="Bandwidth: goodput against message size",
        note=f"{_READ} {_not_held(limits)} {left_out}".replace("  ", " ").strip(),
        alt=f"Curve of goodput against message size. {_in_words(series, 'MB/s')}; "
        f"{words or 'no ceiling known'}.",
        x=x,
        y=_goodput_axis(lines, most),
        lines=lines,
        limits=(Limit(words, ((x.low, most), (x.high, most))),) if most else (),
        zones=_unheld(limits, x),
        steps=_switches(section),
    )


def printed_times(
    name: str, what: str, times: Mapping[int, float], rate: float | None, floor: float
) -> Chart | None:
    """Return the times in ns by size that another program printed, with the bounds from ``rate``
    and ``floor`` (ns); None below three sizes.
    """
    if len(times) < LEAST_SIZES:
        return None
    line, x = _printed(name, times, 1e-3, "µs")
    low, high = _reach([line])
    least = list(_least_times(x, floor, rate)) if rate else []
    high = max([high, *(time for _, time in least)])
    y = _log_axis(f"{what} (µs)", min(low, floor / 1e3) if floor else low, high)
    bound = [one for one in least if one[1] >= y.low]
    words = f"{quantity.megabytes(rate)} MB/s{' and floor' if floor else ''}"
    limits = (Limit(words, tuple(bound)),) if bound else ()
    return _foreign(f"{what} against message size", x, y, line, limits)


def printed_rates(name: str, rates: Mapping[int, float], most: float | None) -> Chart | None:
    """Return the goodput in bytes/s by size that another program printed; ``most``: attainable
    goodput. None below three sizes.
    """
    if len(rates) < LEAST_SIZES:
        return None
    line, x = _printed(name, rates, 1e-6, "MB/s")
    top = most / 1e6 if most else None
    words = f"attainable {quantity.megabytes(most)} MB/s"
    limits = (Limit(words, ((x.low, top), (x.high, top))),) if top else ()
    return _foreign("goodput against message size", x, _goodput_axis([line], top), line, limits)


def _printed(name: str, values: Mapping[int, float], scale: float, unit: str) -> tuple[Line, Axis]:
    marks = []
    for size, value in sorted(values.items()):
        tip = f"{quantity.size(size)}, {value * scale:.4g} {unit}"
        marks.append(Mark(size or ZERO_AT, *(value * scale,) * 3, tip))
    return Line(name, tuple(marks)), _size_axis(values)


def _foreign(title: str, x: Axis, y: Axis, line: Line, limits: tuple[Limit, ...]) -> Chart:
    bounds = "; ".join(limit.words for limit in limits) or "no bound known"
    seen = f"{title}: {line.marks[0].tip} to {line.marks[-1].tip}; {bounds}."
    note = "The dashed line is the bound." if limits else ""
    return Chart("", f"{title[0].upper()}{title[1:]}", note, seen, x, y, (line,), limits)


def _floor(limits: Limits, x: Axis) -> Iterator[tuple[float, float]]:
    rate, credit = limits.attainable_bytes_per_s, limits.credit_bytes
    return _least_times(x, limits.floor_ns or 0.0, rate, credit)


def _least_times(
    x: Axis, floor: float, rate: float | None, credit: float = 0.0
) -> Iterator[tuple[float, float]]:
    """Yield the shortest time in µs by size: the protocol's floor plus the bytes at the ceiling,
    minus the burst that a shaped link lets through.
    """
    steps = 60
    for step in range(steps + 1):
        size = x.low * (x.high / x.low) ** (step / steps)
        moved = max(0.0, size - credit) / rate * 1e9 if rate else 0.0
        yield size, (floor + moved) / 1e3


def _unheld(limits: Limits | None, x: Axis) -> tuple[Labelled, ...]:
    if limits is None or limits.judged_from_bytes <= x.low:
        return ()
    return ((_not_held(limits), limits.judged_from_bytes),)


def _not_held(limits: Limits | None) -> str:
    """Return a note on bursts; "" for a link without bursts."""
    if limits is None or not limits.judged_from_bytes:
        return ""
    return (
        f"This link lets bursts through: messages below {quantity.size(limits.judged_from_bytes)} "
        "(shaded) are not compared with the ceiling."
    )


def _switches(section: JudgedRun) -> tuple[Labelled, ...]:
    """Return the sizes at which the library changes its protocol according to the findings, each
    once.
    """
    found: dict[float, Labelled] = {}
    for finding in section.judgement.findings:
        at = finding.evidence.get("eager_limit_bytes")
        if finding.code == "protocol-switch" and isinstance(at, (int, float)) and at > 0:
            words = f"switch above {quantity.size(int(at))}"
            found.setdefault(float(at), (words, float(at)))
    return tuple(found[at] for at in sorted(found))[:3]


def _series(tables: Sequence[ResultTable], rates: bool = False) -> tuple[list[_Series], str]:
    """Return the lines with at least three sizes. If there are too many, keep the slowest and the
    fastest; the note contains the number of omitted curves.
    """
    lines = [line for table in tables for line in _lines(table, rates)]
    if len(lines) <= MOST_SERIES:
        return lines, ""
    lines.sort(key=lambda line: median(row.goodput or 0.0 for row in line[1]))
    note = (
        f"{len(lines) - MOST_SERIES} of {len(lines)} curves are not drawn; the tables contain them."
    )
    half = MOST_SERIES // 2
    return [*lines[:half], *lines[-(MOST_SERIES - half) :]], note


def _lines(table: ResultTable, rates: bool) -> Iterator[_Series]:
    if len({row.pair.message_bytes for row in table.rows}) < LEAST_SIZES:
        return
    found = gathered(
        ((row.pair.origin, row.pair.target), row)
        for row in table.rows
        if (row.goodput if rates else row.time_ns) is not None
    )
    for rows in found.values():
        if len(rows) < LEAST_SIZES:
            continue
        merged = _merged(rows)
        if len(merged) >= LEAST_SIZES:
            between = " → ".join(clean(name, 40) for name in rows[0].between)
            yield f"{_short(table)} {between}", merged


def _short(table: ResultTable) -> str:
    form = f" {table.form}" if table.pattern not in ("pingpong", "stream", "exchange") else ""
    return f"{table.pattern}{form}" + ("" if table.formula == "robust" else f" ({table.formula})")


def _merged(rows: Sequence[ResultRow]) -> list[ResultRow]:
    """Return one row per size, in order; of several repetitions, the median."""
    found = gathered((row.pair.message_bytes, row) for row in rows)
    return [
        sorted(same, key=lambda row: row.pair.value)[(len(same) - 1) // 2]
        for _, same in sorted(found.items())
    ]


def _line(series: _Series, unit: str, factor: float) -> Line:
    name, rows = series
    return Line(name, tuple(_mark(name, row, unit, factor) for row in rows))


def _mark(name: str, row: ResultRow, unit: str, factor: float) -> Mark:
    """Return a result in the unit of the chart. If a ping-pong is drawn as goodput, the ends of its
    interval are swapped.
    """
    pair = row.pair
    at = pair.message_bytes or ZERO_AT
    if pair.unit == unit:
        value, low, high = (one * factor for one in (pair.value, pair.low, pair.high))
    else:
        turn = pair.message_bytes * 1e9 * factor
        value = turn / pair.value
        low = turn / pair.high if pair.high > 0 else value
        high = turn / pair.low if pair.low > 0 else value
    return Mark(at, value, low, high, f"{name}: {_tip(row)}")


def _tip(row: ResultRow) -> str:
    """Return the text with all numbers of one result."""
    pair = row.pair
    parts = [quantity.size(pair.message_bytes), f"{quantity.microseconds(row.time_ns)} µs"]
    if row.goodput:
        rate = f"{quantity.megabytes(row.goodput)} MB/s = {quantity.gigabits(row.goodput)} Gb/s"
        parts.append(rate)
    parts.append(f"{quantity.plus_minus(pair.half_width)} (95 %)")
    if row.efficiency is not None:
        parts.append(f"{quantity.percent(row.efficiency)} of attainable")
    return ", ".join([*parts, pair.proof, clean(pair.label, 20), pair.verdict])


def _reach(lines: Sequence[Line]) -> tuple[float, float]:
    values = [one.y for line in lines for one in line.marks if math.isfinite(one.y) and one.y > 0]
    return min(values, default=1.0), max(values, default=1.0)


def _size_axis(drawn: Iterable[int]) -> Axis:
    known = [size or ZERO_AT for size in drawn]
    low, high = min(known), max(known)
    return Axis("message size", True, low / 1.5, high * 1.5, sizes(low, high, ZERO_AT))


def _log_axis(label: str, low: float, high: float) -> Axis:
    low, high = low / 1.6, high * 1.6
    return Axis(label, True, low, high, decades(low, high))


def _goodput_axis(lines: Sequence[Line], ceiling: float | None) -> Axis:
    label = "goodput (MB/s)"
    low, high = _reach(lines)
    if ceiling and high > 4 * ceiling:
        return _log_axis(label, low, high)
    top = max(high, ceiling or 0.0) * 1.14
    return Axis(label, False, 0.0, top, plain(0.0, top))


def _in_words(series: Sequence[_Series], unit: str) -> str:
    parts = []
    for name, rows in series:
        said = [
            quantity.microseconds(row.time_ns) if unit == "µs" else quantity.megabytes(row.goodput)
            for row in (rows[0], rows[-1])
        ]
        ends = [quantity.size(row.pair.message_bytes) for row in (rows[0], rows[-1])]
        parts.append(f"{name}: {said[0]} {unit} at {ends[0]} to {said[1]} {unit} at {ends[1]}")
    return "; ".join(parts)
