# pure
"""The lines above the rows of an IMB table: the run's title, the benchmark, the processes, the
column names.
"""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime

from wireproof.logs.readers.page import Page
from wireproof.logs.readers.registry import IMB_NAMES, SIGNS, starts_result
from wireproof.logs.readers.rows import Facts, above

_SIGN = re.compile("|".join(sign.pattern for sign in SIGNS["imb"]))
_TITLE = re.compile(r"^[\s#>*-]{0,24}(?:Intel ?(?:\(R\)|\u00ae)|Pallas) ?MPI Benchmark")
_TABLE = re.compile(
    rf"^[\s>*-]{{0,24}}# {{0,4}}Benchmarking {{1,4}}[A-Z]|^\s{{0,24}}Benchmarking {IMB_NAMES}|"
    r"^\s{0,40}\"?(?:Group[\s,;]{1,20})?#?bytes\"?[\s,;]{1,20}\"?#?repetitions"
)
_VERSION = re.compile(r"MPI Benchmarks?(?: Suite)? V?(\d[\w. ]{0,24})(?:,\s{0,4}(.{0,60}))?")
_WINDOW = re.compile(r"window_size (?:= )?(\d{1,7})\b")
_NAME = re.compile(
    r"Benchmarking {1,4}([A-Z]\w{1,40}(?:-\w{1,40})?(?: \(\d{1,6}(?: x \d{1,6}){1,2}\))?)"
)
_OF_RUN = {
    "largest": re.compile(r"Maximum message length in bytes: {0,20}(\d{1,18})\b"),
    "window": _WINDOW,
}
_TELLS = {
    "processes": re.compile(r"#processes = (\d{1,8})\b|\( ?\d{1,8} groups of (\d{1,8}) processes"),
    "threads": re.compile(r"threads: (\d{1,6})\)"),
    "waiting": re.compile(r"\( ?(\d{1,8}) additional process"),
    "window": _WINDOW,
    "groups": re.compile(r"\( ?(\d{1,8}) groups of \d{1,8} processes"),
    "mode": re.compile(r"MODE: (NON-AGGREGATE|AGGREGATE)"),
}
_HINT = re.compile(rf"(?i:\b(?:ping_?-?p[io]ng|sendrecv|uniband|biband)\b)|\b{IMB_NAMES}\w{{0,20}}")
_PLAIN = {
    "pingpong": "PingPong",
    "pingping": "PingPing",
    "sendrecv": "Sendrecv",
    "uniband": "Uniband",
    "biband": "Biband",
}

_COLUMNS = {
    "group": "group",
    "bytes": "bytes",
    "repetitions": "repetitions",
    "t[usec]": "t",
    "t_min[usec]": "t_min",
    "t_max[usec]": "t_max",
    "t_avg[usec]": "t_avg",
    "t_ovrl[usec]": "t_ovrl",
    "t_pure[usec]": "t_pure",
    "t_cpu[usec]": "t_cpu",
    "overlap[%]": "overlap",
    "mbytes/sec": "goodput",
    "msg/sec": "rate",
    "defects": "defects",
}
_BETWEEN = re.compile(r"[,;\"]")  # of CSV
_LEADING = ("group", "bytes", "repetitions")
_MOST_COLUMNS = 10
_PATIENCE = 40


@dataclass(slots=True)
class ImbRun:
    """The heading of a run; ``version`` is (0, 0) if a pasted table lacks it."""

    version_text: str = ""
    version: tuple[int, int] = (0, 0)
    part: str = ""
    hosts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    told: Facts = field(default_factory=lambda: Facts(_OF_RUN))


@dataclass(slots=True)
class Heading:
    """The heading of a table. ``line``: its number; ``first``: index of the first line below it.
    ``columns`` is empty if no line of column names was found.
    """

    name: str = ""
    line: int = 0
    told: Facts = field(default_factory=lambda: Facts(_TELLS))
    columns: list[str] = field(default_factory=list)
    first: int = 0
    hinted: bool = False

    @property
    def processes(self) -> int | None:
        """The number of processes of the table, or of each of its groups."""
        text = self.told.text("processes") or self.told.text("processes", group=2)
        return int(text) if text else None

    @property
    def groups(self) -> int:
        """The number of groups that run at the same time."""
        return self.told.number("groups") or 1


def is_own(line: str) -> bool:
    """Return True if the line contains one of IMB's signs."""
    return _SIGN.search(line) is not None


def is_table(line: str) -> bool:
    """Return True if a table's heading starts on this line."""
    return _TABLE.match(line) is not None


def run_of(line: str) -> ImbRun | None:
    """Return the run that a title such as ``# Intel(R) MPI Benchmarks 2021.11, MPI-1 part``
    starts.
    """
    if "MPI Benchmark" not in line or _TITLE.match(line) is None:
        return None
    found = _VERSION.search(line)
    if found is None:
        return ImbRun()
    numbers = [int(one) for one in re.findall(r"\d{1,4}", found.group(1))[:2]]
    part = (found.group(2) or "").strip()
    return ImbRun(found.group(1).strip(), (numbers[0], numbers[1] if len(numbers) > 1 else 0), part)


def ends_table(line: str) -> bool:
    """Return True for a line below a table's last row: the rule above the next table, the final
    message, or another result.
    """
    return line.lstrip().startswith("#-") or "MPI_Finalize" in line or starts_result(line)


def _columns(line: str) -> list[str]:
    """Return the roles of a line of column names; unknown names are kept. Empty for any other
    line.
    """
    words = _BETWEEN.sub(" ", line).split()
    if not 2 <= len(words) <= _MOST_COLUMNS:
        return []
    roles = [_COLUMNS.get(word.lstrip("#").lower(), "") for word in words]
    known = sum(map(bool, roles))
    if known < 2 or (known < len(words) and (known < 3 or "repetitions" not in roles)):
        return []
    return [role or word[:40] for role, word in zip(roles, words, strict=True)]


def _sorted(columns: list[str]) -> list[str]:
    """Return column names from two lines in the order of the rows: size and repetitions come
    first.
    """
    return [one for one in _LEADING if one in columns] + [
        one for one in columns if one not in _LEADING
    ]


def _hint(page: Page, start: int) -> str:
    """Return a benchmark's name from the lines just above bare column names."""
    for line in above(page, start, 5):
        found = _HINT.search(line[:200])
        if found is not None:
            name = found.group(0)
            return _PLAIN.get(name.lower().replace("-", "").replace("_", ""), name)
    return ""


def _second_line(page: Page, heading: Heading) -> None:
    """Add column names that are continued on a second line."""
    for index in range(heading.first, min(heading.first + 3, len(page.lines))):
        more = _columns(page.lines[index])
        if more and not set(more) & set(heading.columns):
            heading.columns = _sorted(heading.columns + more)
            heading.first = index + 1
            return
        if page.lines[index].strip():
            return


def _begins_another(line: str, columns: list[str]) -> bool:
    """Return True for the heading of another table, and for a title."""
    return (is_table(line) and not columns) or _TITLE.match(line) is not None


def _may_tell(line: str, below: int, named: bool) -> bool:
    """Return True for IMB's lines: comments, and lines just below a benchmark's name."""
    return line.lstrip().startswith("#") or (named and below <= 4)


def read_heading(page: Page, start: int) -> Heading:
    """Read the heading that begins on line index ``start``, with ``# Benchmarking`` or with bare
    column names.
    """
    lines, heading, idle = page.lines, Heading(line=start + 1, first=start + 1), 0
    last = len(lines) - 1
    named = _NAME.search(lines[start])
    if named is not None and not (start == last and page.cut):
        heading.name = named.group(1)
    for index in range(start, last + 1):
        line = lines[index]
        columns = _columns(line)
        if index > start and _begins_another(line, columns):
            break
        if columns:
            heading.columns, heading.first = columns, index + 1
            _second_line(page, heading)
            break
        if _may_tell(line, index - start, named is not None):
            if index < last or not page.cut:
                heading.told.take(line)
        elif line.strip():
            idle += 1
            if idle > _PATIENCE or starts_result(line):
                break
        heading.first = index + 1
    if named is None:
        heading.name, heading.hinted = _hint(page, start), True
    return heading


_DATE = re.compile(
    r"^# Date {1,40}: ([A-Z][a-z]{2} [A-Z][a-z]{2} [0-9 ][0-9] [0-9:]{8} [0-9]{4})\s*$"
)


def date_of(text: str) -> datetime | None:
    """Return the first date such as ``# Date : Fri Nov 20 19:48:53 2026``, read as UTC because it
    has no time zone; None if there is none.
    """
    for line in text.splitlines():
        if line.startswith("# Date ") and (found := _DATE.match(line)):
            try:
                when = datetime.strptime(found.group(1), "%a %b %d %H:%M:%S %Y")
            except ValueError:
                continue
            return when.replace(tzinfo=UTC)
    return None
