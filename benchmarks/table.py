"""The result as text and as JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from benchmarks.row import NotRun, Row

__all__ = ["as_json", "as_text"]

SCHEMA = "wireproof.benchmarks"
VERSION = 1
SIGNS = {"at most": "<=", "at least": ">=", "within": "1 +/-"}


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    if value != 0 and (abs(value) >= 1e6 or abs(value) < 1e-3):
        return f"{value:.3e}"
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"


def _judged(row: Row) -> str:
    interval = (
        ""  # one reading has no interval
        if row.low is None or row.high is None or row.low == row.high
        else f" [{_number(row.low)}, {_number(row.high)}]"
    )
    return _number(row.value) + interval


def _cells(row: Row) -> tuple[str, ...]:
    limit = "" if row.target is None else f"{SIGNS[row.sense]} {_number(row.target)}"
    count = f"{row.pairs}" + (f" (-{row.dropped})" if row.dropped else "")
    judged = _judged(row) + ("" if row.quantity == "ratio" else f" {row.quantity}")
    both = (
        ""
        if row.theirs is None and row.ours is None
        else f"{_number(row.ours)} / {_number(row.theirs)} {row.unit}"
    )
    return (row.title, both, judged, limit, row.outcome if limit else "", count)


HEAD = ("comparison", "ours / theirs", "judged [95 % interval]", "target", "outcome", "pairs")


def _aligned(lines: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    for line in lines:
        yield "  ".join(
            cell.ljust(width) for cell, width in zip(line, widths, strict=True)
        ).rstrip()


def as_text(rows: Sequence[Row], not_run: Sequence[NotRun], machine: dict[str, object]) -> str:
    """The table by groups, the notes below each, what was not run and why, and what was decided."""
    lines = [f"{key}: {value}" for key, value in machine.items()]
    for group in dict.fromkeys(row.group for row in rows):
        members = [row for row in rows if row.group == group]
        lines += ["", group, *(f"  {line}" for line in _aligned([HEAD, *map(_cells, members)]))]
        lines += [f"    {row.title}: {row.note}" for row in members if row.note]
    if not_run:
        lines += ["", "not run", *(f"  {one.group}: {one.title}: {one.reason}" for one in not_run)]
    return "\n".join([*lines, "", *decisions(rows, not_run)]) + "\n"


def decisions(rows: Sequence[Row], not_run: Sequence[NotRun]) -> Iterator[str]:
    """One line of how many targets were decided, and the names of those that were not."""
    held = [row for row in rows if row.target is not None]
    counts = {
        outcome: sum(row.outcome == outcome for row in held) for outcome in ("reached", "missed")
    }
    undecided = [f"{row.group}: {row.title}" for row in held if row.outcome == "undecided"]
    undecided += [f"{one.group}: {one.title} (not run)" for one in not_run if one.required]
    decided = sum(counts.values())
    yield (
        f"decided: {decided} of {decided + len(undecided)} targets,"
        f" {counts['reached']} reached, {counts['missed']} missed"
    )
    yield from (f"  undecided: {one}" for one in undecided)


def as_json(rows: Sequence[Row], not_run: Sequence[NotRun], machine: dict[str, object]) -> bytes:
    """``rows`` with their ``outcome``, ``not_run``, ``machine``; times in the row's ``unit``."""
    document = {
        "schema": SCHEMA,
        "version": VERSION,
        "machine": machine,
        "rows": [{**msgspec.to_builtins(row), "outcome": row.outcome} for row in rows],
        "not_run": [msgspec.to_builtins(one) for one in not_run],
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"
