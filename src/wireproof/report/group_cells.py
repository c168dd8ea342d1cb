"""The cells of a table of group points, as text that is safe to show: one list of columns for the
terminal and for the page.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from wireproof.model import quantity
from wireproof.model.record import Quantiles
from wireproof.report.columns import Head
from wireproof.report.group_rows import GroupRow, GroupTable
from wireproof.report.names import clean

__all__ = ["Cells", "cells_of"]


@dataclass(frozen=True)
class Cells:
    heads: list[Head]
    cells: list[list[str]]
    tones: list[str]


def cells_of(table: GroupTable) -> Cells:
    """Only columns that some row of the table has a value for. Rows that fail come first, then
    those that are open, and otherwise as in the table.
    """
    rows = sorted(table.rows, key=lambda row: _TONES.index(_tone(row)))
    columns = [
        (head, value) for head, value in _columns(table) if any(value(row) for row in table.rows)
    ]
    return Cells(
        [head for head, _ in columns],
        [[value(row) or quantity.UNKNOWN for _, value in columns] for row in rows],
        [_tone(row) for row in rows],
    )


_TONES = ("bad", "unsure", "")


def _tone(row: GroupRow) -> str:
    verdict = row.judged.verdict if row.judged is not None else "pass"
    broken = row.status != "ok" or row.integrity == "corrupt" or row.time_ns is None
    if broken or verdict == "fail":
        return "bad"
    return "unsure" if verdict == "inconclusive" else ""


def _efficiency(row: GroupRow) -> str:
    return (
        quantity.percent(row.judged.efficiency)
        if row.judged and row.judged.efficiency is not None
        else ""
    )


def _columns(table: GroupTable) -> list[tuple[Head, Callable[[GroupRow], str]]]:
    congestion = table.pattern == "congestion"
    return [
        (Head("size", 10), lambda row: quantity.size(row.message_bytes)),
        (Head("nodes", 7), lambda row: str(row.nodes)),
        (Head("ranks", 5), lambda row: str(row.members)),
        (Head("per node", 6), lambda row: row.ranks_per_node),
        (Head("window", 4), lambda row: str(row.window) if row.window > 1 else ""),
        (Head("loaded µs" if congestion else "µs", 10), lambda row: _time(row.time_ns)),
        (Head("±%", 8), _half_width),
        (Head("mean µs", 4), lambda row: _time(row.mean_ns)),
        (Head("max µs", 4), lambda row: _time(row.max_ns)),
        (
            Head("msg/s", 8),
            lambda row: quantity.messages(row.messages_per_s) if row.messages_per_s else "",
        ),
        (
            Head("MB/s", 8),
            lambda row: "" if not row.bytes_per_s else quantity.megabytes(row.bytes_per_s),
        ),
        (Head("by formula", 6, left=True), _formula),
        (
            Head("overlap", 7),
            lambda row: "" if row.overlap is None else quantity.percent(row.overlap),
        ),
        (Head("quiet p50/p95/p99", 7), lambda row: _quantiles(row.quiet)),
        (Head("loaded p50/p95/p99", 7), lambda row: _quantiles(row.loaded)),
        (Head("p99 ×", 6), _factor),
        (Head("label", 3, left=True), lambda row: clean(row.label, 20)),
        (Head("%limit", 5), lambda row: _efficiency(row).removesuffix(" %")),
        (Head("proof", 8, left=True), lambda row: row.judged.proof if row.judged else ""),
        (Head("verdict", 9, left=True), lambda row: row.judged.verdict if row.judged else ""),
        (Head("status", 9, left=True), _status),
    ]


def _time(ns: float | None) -> str:
    return "" if ns is None else quantity.microseconds(ns)


def _half_width(row: GroupRow) -> str:
    return (
        "" if row.half_width is None else quantity.plus_minus(row.half_width, "").removesuffix(" %")
    )


def _formula(row: GroupRow) -> str:
    return (
        f"{clean(row.formula, 20)} {quantity.microseconds(row.formula_ns)} µs"
        if row.formula_ns
        else ""
    )


def _quantiles(found: Quantiles | None) -> str:
    if found is None:
        return ""
    return " / ".join(
        quantity.microseconds(one) for one in (found.p50_ns, found.p95_ns, found.p99_ns)
    )


def _factor(row: GroupRow) -> str:
    """How many times longer the slow half round trips take under load."""
    if row.quiet is None or row.loaded is None or not row.quiet.p99_ns > 0:
        return ""
    return quantity.significant(row.loaded.p99_ns / row.quiet.p99_ns)


def _status(row: GroupRow) -> str:
    """Only what is not as it should be."""
    parts = [] if row.status == "ok" else [clean(row.status, 20)]
    parts += ["payload corrupt"] if row.integrity == "corrupt" else []
    parts += ["nothing timed"] if row.time_ns is None and row.status == "ok" else []
    return ", ".join(parts)
