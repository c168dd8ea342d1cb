# pure
"""Rows of numbers under a heading: the common part of the tables of all tools."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Literal

from wireproof.logs.readers.page import Page

PATIENCE = 60
"""A table has ended after this many lines that are not rows (warnings, banners between rows)."""

_APART = 3  # lines: numbers so far below the last row belong to the next program
_LONGEST_NUMBER = 32
_ABSURD = 1e18
_TINY = 1e-15
_ALIKE = 5
_STEPS = tuple(float(f"1e-{digits}") for digits in range(31))


def number(text: str) -> float | None:
    """Return a decimal number in the form that benchmarks print; None for anything else (``nan``,
    ``inf``, ``1_000``, ``0x1``, ``1e300``, ``1e-320``).
    """
    if len(text) > _LONGEST_NUMBER or not text.isascii() or "_" in text:
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    # Comparisons with nan are false. Values closer to zero than any clock or rate are refused, so
    # that no division uses them.
    return value if value == 0 or _TINY < abs(value) < _ABSURD else None


def step_of(text: str) -> float:
    """Return the value of one unit in the last printed digit: 0.01 for ``116.96``, 1 for ``28``."""
    if "e" in text or "E" in text:
        mantissa, _, exponent = text.lower().partition("e")
        power = number(exponent) or 0.0
        return float(10.0 ** max(-30.0, min(30.0, power - len(mantissa.partition(".")[2]))))
    point = text.find(".")
    return _STEPS[min(30, len(text) - 1 - point)] if point >= 0 else 1.0


def numbers(texts: Mapping[str, str], below: float = _ABSURD) -> dict[str, float] | None:
    """Return the number of each column; None if a text is not a number from 0 to ``below``."""
    values = {role: number(text) for role, text in texts.items()}
    found = {role: value for role, value in values.items() if value is not None}
    whole = len(found) == len(texts) and all(0 <= value < below for value in found.values())
    return found if whole else None


def printable(text: str) -> str:
    """Return a foreign text as one printable line."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def scaled(value: float | None, factor: float) -> float | None:
    """Return a printed number in base units; None stays None."""
    return None if value is None else value * factor


def as_count(value: float | None) -> int | None:
    """Return a printed count; None stays None."""
    return None if value is None else int(value)


def times(time_ns: float | None, half: bool) -> tuple[float | None, float | None]:
    """Return (half round trip, time of one operation), of which a tool prints only one."""
    return (time_ns, None) if half else (None, time_ns)


What = Literal["skipped", "foreign", "odd", "torn", "cut", "end"]
"""The kind of a line that is not a row. ``foreign``: a warning or a banner between rows; ``odd``: a
line that cannot be the first below a table; ``torn``: a row with too few columns; ``cut``: the
text ends inside the line; ``end``: the table ended before it.
"""


@dataclass(slots=True)
class Rows:
    """The rows of a table. ``fields[i]``: words of the row on line index ``lines[i]``. ``torn``:
    line indexes of rows with too few columns; ``cut``: the text ended inside a row. ``after``:
    index of the first unused line; ``idle``: number of foreign lines since the last row.
    """

    fields: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    torn: list[int] = field(default_factory=list)
    cut: bool = False
    after: int = 0
    idle: int = 0

    def __iter__(self) -> Iterator[tuple[list[str], int]]:
        """Yield the words and the line index of each row."""
        return zip(self.fields, self.lines, strict=True)

    @property
    def last_line(self) -> int:
        """The number of the line of the last row, from 1; 0 without rows."""
        return self.lines[-1] + 1 if self.lines else 0

    def add(self, words: list[str], line: int) -> None:
        """Add a row."""
        self.fields.append(words)
        self.lines.append(line)

    def state(self, page: Page, points: Sequence[object], after: str = " the heading") -> str:
        """Return why a table with these points is incomplete; "" if nothing indicates that."""
        missing = "" if any(points) else f"no readable row follows{after}"
        return self.fault(page) or missing

    def fault(self, page: Page) -> str:
        """Return why the rows are incomplete; "" if nothing indicates that."""
        if self.cut:
            return f"line {len(page.lines)}: the text ends inside a row"
        if self.torn:
            return f"line {self.torn[0] + 1}: a row is torn ({len(self.torn)} in all)"
        return ""


def scan_rows(
    page: Page,
    start: int,
    take: Callable[[Rows, int], list[str] | What],
    patience: int = PATIENCE,
) -> Rows:
    """Return the rows from line index ``start`` on, until ``take`` returns "end" or there are more
    than ``patience`` consecutive foreign lines. Torn rows far below the last row are the table's
    only if another row follows. A last line without a line end that begins like a row is cut.

    ``take(rows, index)`` returns the words of a row, or the kind of any other line.
    """
    rows = Rows(after=len(page.lines))
    apart: list[int] = []
    for index in range(start, len(page.lines)):
        what = take(rows, index)
        if isinstance(what, list):
            rows.add(what, index)
            rows.torn += apart
            apart.clear()
            rows.idle = 0
            continue
        if what == "torn":
            (apart if rows.lines and rows.idle >= _APART else rows.torn).append(index)
        rows.cut |= what == "cut" or (index == page.ragged and _begins_alike(page, rows))
        rows.idle += what in ("foreign", "odd")
        if what == "end" or (what == "foreign" and rows.idle > patience):
            rows.after = index
            break
    return rows


def _begins_alike(page: Page, rows: Rows) -> bool:
    """Return whether the last line has numbers and words in the order of the last row's begin."""
    last, *above = (_shape(page.lines[index]) for index in (-1, *rows.lines[-1:]))
    return "9" in last and any(row.startswith(last) for row in above)


def _shape(line: str) -> str:
    return re.sub(r"[A-Za-z]+", "a", re.sub(r"\d+", "9", " ".join(line.split())))


def rows_below(
    page: Page,
    first: int,
    row: Callable[[str], list[str] | What | None],
    ends: Callable[[str], bool],
) -> Rows:
    """Return the rows from line index ``first`` on, as ``row(line)`` reads them. It returns the
    words of a row, the kind of a line that is not a row, or None for a line outside the table.

    A row on a last line without a line end may have lost digits: it is cut. ``ends(line)`` returns
    True if the table ended before a line that is not the table's.
    """

    def take(rows: Rows, index: int) -> list[str] | What:
        line = page.lines[index]
        read = row(line) if line.strip() else "skipped"
        if read is None:
            return "end" if ends(line) else "foreign"
        cut = index == page.ragged and read != "skipped"
        return "cut" if cut else read

    return scan_rows(page, first, take)


def read_rows(page: Page, start: int, columns: Sequence[int], ends: Callable[[str], bool]) -> Rows:
    """Return the rows from line index ``start`` on whose number of words is in ``columns`` and
    whose first word is an integer.

    ``ends(line)`` returns True if the table ended before that line. Lines that are not rows are
    skipped; a line of numbers with a different number of columns is torn.
    """
    allowed, lines, ragged = frozenset(columns), page.lines, page.ragged

    def take(rows: Rows, index: int) -> list[str] | What:
        line = lines[index]
        words = line.split()
        if not words:
            return "skipped"
        if not (words[0].isdigit() and words[0].isascii()):
            return "end" if ends(line) else "foreign"
        if index == ragged and not is_padded(line, rows, page):
            return "cut"
        if len(words) in allowed:
            return words
        return "torn" if all(number(word) is not None for word in words) else "odd"

    rows = scan_rows(page, start, take)
    rows.after = max(rows.after, start + 1)
    return rows


def above(
    page: Page, start: int, limit: int, ends: Callable[[str], object] = lambda _: False
) -> Iterator[str]:
    """Yield fewer than ``limit`` lines above line index ``start``, the nearest first, up to a line
    for which ``ends`` is true.
    """
    lines = reversed(page.lines[max(0, start - limit + 1) : start])
    return takewhile(lambda line: not ends(line), lines)


def nearest_above(
    page: Page, start: int, sought: re.Pattern[str], limit: int, ends: Callable[[str], object]
) -> re.Match[str] | None:
    """Return the first match above line index ``start``, not beyond ``limit`` lines or a line for
    which ``ends`` is true; None if there is none.
    """
    for line in above(page, start, limit):
        found = sought.search(line)
        if found is not None or ends(line):
            return found
    return None


class Facts(dict[str, list[re.Match[str]]]):
    """The facts in lines: the matches of each form, in order."""

    def __init__(self, forms: Mapping[str, re.Pattern[str]], lines: Iterable[str] = ()) -> None:
        super().__init__((name, []) for name in forms)
        self.forms = forms
        for line in lines:
            self.take(line)

    def take(self, line: str) -> bool:
        """Add the matches on a line; return False if there are none."""
        found = [(name, match) for name, form in self.forms.items() if (match := form.search(line))]
        for name, match in found:
            self[name].append(match)
        return bool(found)

    def text(self, name: str, at: int = -1, group: int = 1) -> str:
        """Return a group of the last match (``at`` 0: of the first); "" without a match."""
        return self[name][at][group] or "" if self[name] else ""

    def groups(self, name: str) -> list[str]:
        """Return the first group of each match."""
        return [match[1] for match in self[name]]

    def number(self, name: str, at: int = -1, group: int = 1) -> int | None:
        """Return the digits of a group as a number; None without a match."""
        return int(text) if (text := self.text(name, at, group)) else None


def is_padded(last: str, rows: Rows, page: Page) -> bool:
    """Return True if the last line, which has no line end, has the same length and decimals as all
    rows of a padded table.
    """
    line = last.rstrip()
    before = [page.lines[index].rstrip() for index in rows.lines[-_ALIKE:]]
    if not before or "  " not in line or line != last:
        return False
    digits = len(line.rpartition(".")[2])
    return all(len(row) == len(line) and len(row.rpartition(".")[2]) == digits for row in before)
