# pure
"""The numbers of an IMB table: columns, units, and rows whose layout is lost (with one cell per
line, as in text from a PDF, or with a remark at the end).

``Mbytes/sec`` is 2^20 bytes before IMB 2018 and 10^6 since; the arithmetic of the rows decides.
Five numbers are a row of size, repetitions, t, bandwidth and rate only if bandwidth x t = size and
rate x t = 1. Their order may have been lost, so the only order that fits is used, and none if
several fit.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice, permutations

from wireproof.logs.readers.imb.benchmarks import ImbTest
from wireproof.logs.readers.page import Page
from wireproof.logs.readers.rows import Rows, What, number, scan_rows

MEGA = 1e6
MEBI = 2.0**20

_AGREE = 0.012
_ROUNDING = 0.006
"""A row whose rounding may hide more than this share is not used: 10^6 and 2^20 are 4.9 % apart."""


def ratio(size: float, microseconds: float, mbytes: float, messages: int) -> float | None:
    """Return (printed bandwidth with MB = 10^6) x time / (messages x size): 1 for 10^6, 0.954 for
    2^20.

    None if there are too few printed digits to distinguish them.
    """
    if size <= 0 or microseconds <= 0 or mbytes <= 0 or messages <= 0:
        return None
    if 0.005 / microseconds + 0.005 / mbytes > _ROUNDING:
        return None
    return microseconds * mbytes / (messages * size)


def _votes(ratios: Iterable[float | None]) -> tuple[int, int, int]:
    """Return the numbers of rows that support 10^6, 2^20, and neither."""
    mega = mebi = neither = 0
    for value in ratios:
        if value is None:
            continue
        if abs(value - 1.0) < _AGREE:
            mega += 1
        elif abs(value * MEBI / MEGA - 1.0) < _AGREE:
            mebi += 1
        else:
            neither += 1
    return mega, mebi, neither


def megabyte(
    version: tuple[int, int], ratios: Iterable[float | None]
) -> tuple[float | None, str, bool]:
    """Return the bytes of a printed MB (None: unknown), the evidence against them ("": none), and
    whether ``version``, that of the program ((0, 0): unknown), determines them. If it does, they
    also apply to rows with too few digits; otherwise only the arithmetic of the rows shows them.
    """
    mega, mebi, neither = _votes(ratios)
    said = (MEBI if version[0] < 2018 else MEGA) if version[0] else None
    if mega + mebi > 2 * neither and max(mega, mebi) > 3 * min(mega, mebi):
        computed = MEGA if mega > mebi else MEBI
    elif said is not None:
        return said, "", True
    else:
        doubt = "neither the version nor the rows show whether MB is 10^6 or 2^20 bytes"
        return MEGA if neither else None, doubt, False
    if said is None or said == computed:
        return computed, "", said is not None
    number = ".".join(map(str, version))
    doubt = (
        f"IMB {number} counts MB = {'10^6' if said == MEGA else '2^20'} bytes, but size / "
        f"time of {max(mega, mebi)} rows shows {'10^6' if computed == MEGA else '2^20'}"
    )
    return computed, doubt, False


_NEEDED = {"bytes", "t", "goodput"}
_KNOWN = _NEEDED | {"repetitions", "rate"}
_FEWEST_ROWS = 3
_MOST_CELLS = 20_000
_TOLERANCE = 0.02
_MEBI = 2.0**20 / 1e6


def _near(value: float, true: float, rounding: float) -> bool:
    return abs(value - true) <= rounding + _TOLERANCE * abs(true)


def _fits(columns: Sequence[str], words: Sequence[str]) -> bool:
    """Return True if the words, in this order, are a row: their kinds of numbers and both relations
    fit, for one pair of processes.
    """
    row = dict(zip(columns, words, strict=True))
    if not all(row[name].isdigit() for name in ("bytes", "repetitions", "rate") if name in row):
        return False
    if "." not in row["t"] or "." not in row["goodput"]:
        return False
    size, time, goodput = (float(row[name]) for name in ("bytes", "t", "goodput"))
    if time <= 0 or (size > 0 and goodput <= 0):
        return False
    # half a digit of t and of the bandwidth
    rounding = 0.006 + size / time * 0.006 / time
    if not (_near(goodput, size / time, rounding) or _near(goodput * _MEBI, size / time, rounding)):
        return False
    return "rate" not in row or _near(float(row["rate"]), 1e6 / time, 1.0 + 1e6 * 0.006 / time**2)


def _row(columns: Sequence[str], words: Sequence[str]) -> list[str] | None:
    """Return the words in the order of the columns; None if no order fits, or more than one."""
    if _fits(columns, words):
        return list(words)
    orders = (order for order in permutations(words) if _fits(columns, order))
    found = list(islice(dict.fromkeys(orders), 2))
    return list(found[0]) if len(found) == 1 else None


def _cells(page: Page, start: int) -> tuple[list[tuple[str, int]], int]:
    """Return (word, line index) for the lines that contain one number each, and the index of the
    line that ends them.
    """

    def take(rows: Rows, index: int) -> list[str] | What:
        word = page.lines[index].strip()
        if len(rows.lines) >= _MOST_CELLS or (word and number(word) is None):
            return "end"
        return [word] if word and index != page.ragged else "skipped"

    rows = scan_rows(page, start, take)
    return [(words[0], line) for words, line in rows], rows.after


def rows_of_cells(page: Page, start: int, columns: Sequence[str]) -> Rows | None:
    """Return the rows from line index ``start`` on; None if there are no such cells. Cells that do
    not fit are ``torn``.
    """
    if not _NEEDED <= set(columns) <= _KNOWN:
        return None
    cells, after = _cells(page, start)
    width = len(columns)
    if len(cells) < _FEWEST_ROWS * width:
        return None
    rows, place, largest = Rows(after=after), columns.index("bytes"), -1
    for at in range(0, len(cells), width):
        some = cells[at : at + width]
        words = _row(columns, [word for word, _ in some]) if len(some) == width else None
        if words is None or int(words[place]) <= largest:
            rows.torn.append(some[0][1])
            break
        largest = int(words[place])
        rows.add(words, some[0][1])
    return rows if len(rows.fields) >= _FEWEST_ROWS else None


def with_remarks(page: Page, rows: Rows, first: int, width: int) -> Rows:
    """Return the rows, including those with a remark after the last number (``97.62 <-- drops
    here``).

    A space must separate them: other output that was mixed into a row follows a number directly and
    may have shortened it. A row with a remark must be next to another row, since numbers followed
    by words elsewhere are not rows.
    """
    measured = set(rows.lines)
    for index in range(first, min(rows.after, len(page.lines) - page.cut)):
        line = page.lines[index]
        if (
            index in measured
            or not line.lstrip()[:1].isdigit()
            or not {index - 1, index + 1} & measured
        ):
            continue
        words = line.split(None, width)
        remark = words[width] if len(words) > width else ""
        if (
            remark
            and not remark[0].isdigit()
            and all(number(word) is not None for word in words[:width])
        ):
            rows.add(words[:width], index)
            measured.add(index)
    return rows


_MOST = 1e15
_LARGEST_BYTES = 1 << 50


@dataclass(slots=True)
class CellTable:
    """``rows``: for each row its numbers by column, its words by column, and its line index.
    ``odd``: line indexes of rows with text in place of numbers.
    """

    columns: list[str]
    rows: list[tuple[dict[str, float], dict[str, str], int]] = field(default_factory=list)
    odd: list[int] = field(default_factory=list)


def _numbers(words: list[str], line: str) -> list[float] | None:
    """Return the numbers of the row; None if a word is not a finite number >= 0 in plain digits."""
    # cheaper than checking the words; only a remark may contain both
    if not line.isascii() or "_" in line:
        text = "".join(words)
        if not text.isascii() or "_" in text:
            return None
    try:
        values = list(map(float, words))
    except ValueError:
        return None
    # comparisons with NaN are false
    return values if min(values) >= 0.0 and sum(values) < _MOST else None


def table_of(page: Page, columns: list[str], rows: Rows) -> CellTable:
    table = CellTable(columns)
    whole = slice(0, sum(name in ("group", "bytes", "repetitions") for name in columns))
    names = columns[::-1]  # if two columns have the same name, the first counts
    for words, line in rows:
        values = _numbers(words, page.lines[line])
        cells = dict(zip(names, reversed(values or ()), strict=False))
        size = cells.get("bytes", values[0] if values else 0.0)
        if values is None or not "".join(words[whole]).isdigit() or size >= _LARGEST_BYTES:
            table.odd.append(line)
        else:
            table.rows.append((cells, dict(zip(names, reversed(words), strict=True)), line))
    return table


def clock_of(table: CellTable, test: ImbTest) -> str:
    """Return the column with the time of the row, "" if there is none; depending on the mode, a
    benchmark prints one time or three.
    """
    names = (test.clock, "t", "t_max", "t_avg") if test.clock else ()
    return next((name for name in names if name in table.columns), "")


def ratios_of(table: CellTable, test: ImbTest, pairs: int) -> list[float | None]:
    """Return for each row the ratio of the printed bandwidth to size / time (or rate x size), for
    MB = 10^6; None if unclear.
    """
    clock = clock_of(table, test)

    def of(row: dict[str, float]) -> float | None:
        if not {"bytes", "goodput"} <= row.keys():
            return None
        if "rate" not in row:
            messages = test.messages * pairs
            return ratio(row["bytes"], row[clock], row["goodput"], messages) if clock else None
        rate = row["rate"]
        return ratio(row["bytes"], 1e6 / rate, row["goodput"], 1) if rate >= 100 else None

    return [of(row) for row, _, _ in table.rows]
