"""Judged results as tables, with the same columns in text, on a page and in Markdown."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from wireproof.model import quantity
from wireproof.model.finding import Finding, Verdict
from wireproof.model.record import Quantiles
from wireproof.model.run import Conclusion
from wireproof.report.document import Cell, Head, Row, Table, Tone, Value
from wireproof.report.json.result import positive
from wireproof.report.names import clean
from wireproof.report.rows import GroupRow, GroupTable, chosen, folded
from wireproof.report.rows import ResultRow as Result
from wireproof.report.rows import ResultTable as Results

MOST_ROWS = 400
"""Rows of one table on a page."""
BRIEF_ROWS = 24
_LEGEND = (
    "±%: half of the 95 % interval; %att: share of attainable goodput; %nom: share of the line "
    "rate; MB = 10^6 bytes, MiB = 2^20"
)
_AGAIN = (
    "n: measurements in this row (--json has each of them); the row shows the median of "
    "those with the worst verdict"
)
_GROUPS = (
    "µs per operation of the slowest rank in each batch; mean and max of the means of the "
    "ranks; msg/s and MB/s over all ranks"
)
_TONES: dict[str, Tone] = {"fail": "fail", "inconclusive": "inconclusive", "pass": ""}
_ORDER: tuple[Tone, ...] = ("fail", "inconclusive", "")
_Column: TypeAlias = tuple[Head, Callable[[Result], Cell]]
_GroupColumn: TypeAlias = tuple[Head, Callable[[GroupRow], str]]


def number(value: float | None, text: str, digits: int = 6) -> Value:
    """Return a cell with its raw value, which is empty if unknown."""
    known = value is not None and math.isfinite(value)
    return Value(text, f"{value:.{digits}g}" if known else "")


def result_table(
    results: Results, findings: Iterable[Finding] = (), name: str = "", *, brief: bool = False
) -> Table:
    """Return the results of one pattern, those that do not pass first; if there are very many, the
    most relevant.

    ``brief``: few rows, each for repeated measurements.
    """
    most = BRIEF_ROWS if brief else MOST_ROWS
    rows = folded(results.rows) if brief and len(results.rows) > most else list(results.rows)
    shown = chosen(rows, findings, most)
    repeated = any(row.times > 1 for row in shown)
    columns = _columns(results, repeated)
    between = f": {' → '.join(results.rows[0].between)}" if results.pairs == 1 else ""
    return Table(
        tuple(head for head, _ in columns),
        tuple(
            Row(tuple(value(row) for _, value in columns), _TONES[row.pair.verdict])
            for row in shown
        ),
        clean(f"{results.title}{between}", 400),
        _note(_AGAIN if repeated else _LEGEND, len(rows) - len(shown)),
        most,
        name,
    )


def _note(words: str, left_out: int) -> str:
    left = f"{left_out} more rows are in the report and in --json. " if left_out else ""
    return f"{left}{words}"


def _columns(results: Results, repeated: bool) -> list[_Column]:
    timed = results.unit == "ns"
    what = "half_round_trip_us" if results.halved else "time_per_message_us"
    time: _Column = (Head("µs", 9 if timed else 1, name=what), _time)
    interval: _Column = (Head("±%", 8, name="half_width_share"), _interval)
    rates: list[_Column] = [
        (Head("MB/s", 4 if timed else 9, name="goodput_MB_per_s"), _rate),
        (Head("Gb/s", 2 if timed else 6, name="goodput_Gb_per_s"), _gigabits),
    ]
    columns: list[_Column] = [(Head("size", 10, name="message_bytes"), _size)]
    if results.pairs > 1:
        columns.append((Head("from → to", 9, left=True, name="from_to"), _between))
    columns += [time, interval, *rates] if timed else [*rates, interval, time]
    columns += [
        (Head("%att", 3 if timed else 7, name="efficiency_share"), _efficiency),
        (Head("%nom", 1 if timed else 2, name="line_rate_share"), _nominal),
        (Head("proof", 8, left=True), lambda row: row.pair.proof),
        (Head("label", 5, left=True), lambda row: clean(row.pair.label, 20)),
        (Head("verdict", 9, left=True), lambda row: row.pair.verdict),
    ]
    return [*columns, (Head("n", 6), lambda row: str(row.times))] if repeated else columns


def _size(row: Result) -> Value:
    return Value(quantity.size(row.pair.message_bytes), str(row.pair.message_bytes))


def _between(row: Result) -> str:
    return " → ".join(clean(name, 40) for name in row.between)


def _time(row: Result) -> Value:
    return number(row.time_ns and row.time_ns / 1e3, quantity.microseconds(row.time_ns))


def _interval(row: Result) -> Value:
    half = row.pair.half_width
    return number(half, quantity.plus_minus(half, "").removesuffix(" %"), 3)


def _rate(row: Result) -> Value:
    return number(row.goodput and row.goodput / 1e6, quantity.megabytes(row.goodput))


def _gigabits(row: Result) -> Value:
    return number(row.goodput and row.goodput * 8 / 1e9, quantity.gigabits(row.goodput))


def _efficiency(row: Result) -> Value:
    return number(row.efficiency, quantity.percent(row.efficiency).removesuffix(" %"), 4)


def _nominal(row: Result) -> Value:
    return number(row.nominal, quantity.percent(row.nominal).removesuffix(" %"), 4)


def group_table(found: GroupTable, name: str = "", *, brief: bool = False) -> Table:
    """Return the points that many ranks measured together, with only the columns that have values:
    failures first, then inconclusive rows.
    """
    rows = sorted(found.rows, key=lambda row: _ORDER.index(_tone(row)))
    columns = [each for each in _group_columns(found) if any(each[1](row) for row in rows)]
    most = BRIEF_ROWS if brief else MOST_ROWS
    shown = (
        Row(tuple(value(row) or quantity.UNKNOWN for _, value in columns), _tone(row))
        for row in rows[:most]
    )
    heads = tuple(head for head, _ in columns)
    note = _note(_GROUPS, len(rows) - most if len(rows) > most else 0)
    return Table(heads, tuple(shown), found.title, note, most, name)


def _tone(row: GroupRow) -> Tone:
    if _status(row):
        return "fail"
    return _TONES[row.judged.verdict] if row.judged is not None else ""


def _group_columns(found: GroupTable) -> Sequence[_GroupColumn]:
    congestion = found.pattern == "congestion"
    return (
        (Head("size", 10), lambda row: quantity.size(row.sample.message_bytes)),
        (Head("nodes", 7), lambda row: str(row.sample.nodes)),
        (Head("ranks", 5), lambda row: str(len(row.sample.members))),
        (Head("per node", 6), lambda row: row.sample.ranks_per_node),
        (Head("window", 4), _window),
        (Head("loaded µs" if congestion else "µs", 10), lambda row: _micro(row.time_ns)),
        (Head("±%", 8), _group_interval),
        (Head("mean µs", 4), lambda row: _micro(row.sample.mean_ns)),
        (Head("max µs", 4), lambda row: _micro(row.sample.max_ns)),
        (Head("msg/s", 8), lambda row: _known(row.sample.messages_per_s, quantity.messages)),
        (Head("MB/s", 8), lambda row: _known(row.sample.bytes_per_s, quantity.megabytes)),
        (Head("by formula", 6, left=True), _formula),
        (Head("overlap", 7), _overlap),
        (Head("quiet p50/p95/p99", 7), lambda row: _quantiles(row.sample.quiet)),
        (Head("loaded p50/p95/p99", 7), lambda row: _quantiles(row.sample.loaded)),
        (Head("p99 ×", 6), _factor),
        (Head("label", 3, left=True), _label),
        (Head("%limit", 5), _limit),
        (Head("proof", 8, left=True), lambda row: row.judged.proof if row.judged else ""),
        (Head("verdict", 9, left=True), lambda row: row.judged.verdict if row.judged else ""),
        (Head("status", 9, left=True), _status),
    )


def _known(value: float | None, shown: Callable[[float], str]) -> str:
    return "" if value is None else shown(value)


def _micro(ns: float | None) -> str:
    return _known(ns, quantity.microseconds)


def _group_interval(row: GroupRow) -> str:
    estimate = row.sample.estimate
    return quantity.plus_minus(estimate.half_width, "").removesuffix(" %") if estimate else ""


def _window(row: GroupRow) -> str:
    return str(row.sample.window_used) if row.sample.window_used > 1 else ""


def _overlap(row: GroupRow) -> str:
    return quantity.percent(row.sample.overlap.share) if row.sample.overlap else ""


def _label(row: GroupRow) -> str:
    return clean(row.sample.estimate.label, 20) if row.sample.estimate else ""


def _limit(row: GroupRow) -> str:
    share = row.judged.efficiency if row.judged else None
    return _known(share, quantity.percent).removesuffix(" %")


def _formula(row: GroupRow) -> str:
    time_ns = positive(row.sample.formula_value_ns) if row.formula else None
    return f"{clean(row.formula, 20)} {_micro(time_ns)} µs" if time_ns else ""


def _quantiles(found: Quantiles | None) -> str:
    if found is None:
        return ""
    return " / ".join(map(_micro, (found.p50_ns, found.p95_ns, found.p99_ns)))


def _factor(row: GroupRow) -> str:
    """Return the factor by which the slow half round trips take longer under load."""
    quiet, loaded = row.sample.quiet, row.sample.loaded
    if quiet is None or loaded is None or not quiet.p99_ns > 0:
        return ""
    return quantity.significant(loaded.p99_ns / quiet.p99_ns)


def _status(row: GroupRow) -> str:
    """Return only deviations from the normal state."""
    status = row.sample.status
    parts = [] if status == "ok" else [clean(status, 20)]
    parts += ["payload corrupt"] if row.sample.integrity == "corrupt" else []
    parts += ["nothing timed"] if row.time_ns is None and status == "ok" else []
    return ", ".join(parts)


_MOST_CONCLUSIONS = 10


def change_lines(
    by: str,
    before: Verdict | None,
    now: Verdict,
    gone: Sequence[Conclusion],
    new: Sequence[Conclusion],
) -> list[str]:
    """Return a line on the verdict, then the conclusions that only one of the judgements has.
    ``by``: the version that judged before, "" if unknown.
    """
    if before is None:
        return ["judged now; this result does not contain its earlier verdict"]
    verdict = (
        f"{now}, as by wireproof {clean(by)}"
        if before == now
        else f"{now} now; wireproof {clean(by)} said {before}"
    )
    same = not gone and not new
    head = f"{verdict}; {'the same findings' if same else 'the findings differ'}"
    return [head, *_listed("no longer", gone), *_listed("new", new)]


def _listed(title: str, found: Sequence[Conclusion]) -> list[str]:
    lines = [
        f"  {title}: {one.severity} {clean(one.code)}"
        + (f" ({clean(one.subject)})" if one.subject else "")
        for one in found[:_MOST_CONCLUSIONS]
    ]
    if len(found) > _MOST_CONCLUSIONS:
        lines.append(f"  {title}: {len(found) - _MOST_CONCLUSIONS} more")
    return lines
