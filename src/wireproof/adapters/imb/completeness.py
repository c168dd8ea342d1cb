"""Why an IMB table is not complete."""

from __future__ import annotations

from wireproof.adapters.imb.benchmarks import ImbTest
from wireproof.adapters.imb.heading import Run, is_table
from wireproof.adapters.imb.numbers import Table
from wireproof.adapters.page import Page
from wireproof.adapters.rows import Rows, number

__all__ = ["why_incomplete"]

_FAILURES = {
    "time-out": "the time limit of the run was over (option -time)",
    "out-of-mem": "it would have needed more memory than allowed (option -mem)",
    "int-overflow": "size x processes does not fit the program's integers",
}


def _failure(page: Page, rows: Rows, first: int) -> str:
    """A row that is not there: the program says why (``4096 time-out.; ...``), or other output fell
    into its line.
    """
    measured = set(rows.lines)
    for index in range(first, min(rows.after, len(page.lines))):
        line = page.lines[index]
        words = line.split(None, 3)
        if index in measured or not words or not words[0].isdigit():
            continue
        for mark, why in _FAILURES.items():
            if mark in line:
                size = line[: line.index(mark)].split()[-1:] or words
                return f"line {index + 1}: {size[0][:20]} bytes were not measured: {why}"
        if _begins_as_row(words) and {index - 1, index + 1} & measured:
            return f"line {index + 1}: other output is mixed into a row"
    return ""


def _begins_as_row(words: list[str]) -> bool:
    return len(words) > 2 and words[1].isdigit() and number(words[2]) is not None


def _stopped(page: Page, rows: Rows, table: Table, run: Run, test: ImbTest) -> str:
    """Why a table that nothing of IMB's follows is short of what the run's head announced; "" when
    it is not.
    """
    size = table.column("bytes")
    if run.largest_bytes is None or size is None or test.one_size or not table.values:
        return ""
    if _goes_on(page.lines[rows.after].lstrip() if rows.after < len(page.lines) else ""):
        return ""
    largest = int(max(row[size] for row in table.values))
    if largest >= run.largest_bytes:
        return ""
    return (
        f"line {table.lines[-1] + 1}: the table stops at {largest} bytes, the run was to go to "
        f"{run.largest_bytes}"
    )


def _goes_on(line: str) -> bool:
    """True for what IMB prints behind a whole table."""
    return line.startswith("#-") or "MPI_Finalize" in line or is_table(line)


def why_incomplete(
    page: Page, rows: Rows, table: Table, run: Run, test: ImbTest, first: int
) -> str:
    if rows.cut:
        return f"line {len(page.lines)}: the text ends inside a row"
    if rows.torn:
        return f"line {rows.torn[0] + 1}: a row is torn ({len(rows.torn)} in all)"
    failure = _failure(page, rows, first)
    if failure:
        return failure
    if table.odd:
        return (
            f"line {table.odd[0] + 1}: a row holds what is no measured number ({len(table.odd)} "
            "in all)"
        )
    if not table.values:
        return "no row that can be read follows the heading"
    return _stopped(page, rows, table, run, test)
