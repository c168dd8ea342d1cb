"""The numbers of an IMB table by columns, and what size, time and bandwidth say of each other."""

from __future__ import annotations

from dataclasses import dataclass, field

from wireproof.adapters.imb.benchmarks import ImbTest
from wireproof.adapters.imb.units import ratio
from wireproof.adapters.page import Page
from wireproof.adapters.rows import Rows, step_of

__all__ = ["Table", "clock_of", "ratios_of", "step_of_word", "table_of"]

_MOST = 1e15
_LARGEST_BYTES = 1 << 50


@dataclass(slots=True)
class Table:
    """``values[i]``: the numbers of the row on line index ``lines[i]``, by column; ``words`` as
    they were printed.

    ``megabytes[i]``: bytes of an MB in that row, 0 where neither a version nor the row itself can
    tell.
    """

    columns: list[str]
    values: list[list[float]] = field(default_factory=list)
    words: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    odd: list[int] = field(default_factory=list)
    megabytes: list[float] = field(default_factory=list)

    def column(self, name: str) -> int | None:
        return self.columns.index(name) if name in self.columns else None


def _numbers(words: list[str], line: str) -> list[float] | None:
    """The row's numbers; None when one is no finite number >= 0 in plain digits."""
    # cheaper than to look at the words; a remark may have both
    if not line.isascii() or "_" in line:
        text = "".join(words)
        if not text.isascii() or "_" in text:
            return None
    try:
        values = list(map(float, words))
    except ValueError:
        return None
    # a sum with a NaN in it is below nothing
    return values if min(values) >= 0.0 and sum(values) < _MOST else None


def table_of(page: Page, columns: list[str], rows: Rows) -> Table:
    table = Table(columns)
    whole = slice(0, sum(name in ("group", "bytes", "repetitions") for name in columns))
    size = table.column("bytes") or 0
    for words, line in zip(rows.fields, rows.lines, strict=True):
        values = _numbers(words, page.lines[line])
        if values is None or not "".join(words[whole]).isdigit() or values[size] >= _LARGEST_BYTES:
            table.odd.append(line)
            continue
        table.values.append(values)
        table.words.append(words)
        table.lines.append(line)
    return table


def clock_of(table: Table, test: ImbTest) -> int | None:
    """The column of the time that stands for the row: the same benchmark prints one time or three,
    by mode.
    """
    names = (test.clock, "t", "t_max", "t_avg") if test.clock else ()
    return next((place for name in names if (place := table.column(name)) is not None), None)


def ratios_of(table: Table, test: ImbTest, pairs: int) -> list[float | None]:
    """Per row: the printed bandwidth against what size and time (or rate) make of it, for MB =
    10^6; None: unclear.
    """
    size, goodput = table.column("bytes"), table.column("goodput")
    time, rate = clock_of(table, test), table.column("rate")
    if size is None or goodput is None:
        return [None] * len(table.values)
    if rate is not None:
        return [
            ratio(row[size], 1e6 / row[rate], row[goodput], 1) if row[rate] >= 100 else None
            for row in table.values
        ]
    if time is None:
        return [None] * len(table.values)
    messages = test.messages * pairs
    return [ratio(row[size], row[time], row[goodput], messages) for row in table.values]


def step_of_word(word: str) -> float:
    """``step_of``, at once for what IMB prints: whole numbers and two decimals."""
    if word[-3:-2] == ".":
        return 0.01
    return 1.0 if word.isdigit() else step_of(word)
