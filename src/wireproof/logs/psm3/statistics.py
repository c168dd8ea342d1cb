# pure
"""Statistics files of ``PSM3_PRINT_STATS`` (psm3 3.1 of libfabric 1.14 to 11.x), and the tables of
``PSM2_MQ_PRINT_STATS`` and ``PSM3_MQ_PRINT_STATS``.

psm_stats.c and psm_mq.c define the layouts: until 3.4 a file contains only blocks; since 3.5
(libfabric 1.20) the command line, the environment and the settings precede them. Counters are
totals; a block ends at the next line ``Time Delta``.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from msgspec import structs

from wireproof.logs.psm3 import LOOKED_AT, is_table
from wireproof.logs.psm3.identify import (
    StatisticsLine,
    identities_of,
    job_of,
    kept,
    settings_of,
)
from wireproof.logs.readers.page import Page, page_of
from wireproof.model.errors import BadInput
from wireproof.model.psm3 import CounterSection, Identity, Statistics

# --- The tables of ``PSM2_MQ_PRINT_STATS`` and ``PSM3_MQ_PRINT_STATS``: one row of totals per
# reading, in columns of 16 characters. No real file of PSM2 was seen; the columns follow psm_mq.c.

_MQ_FILE = re.compile(
    r"psm(?P<generation>[23])-perf-stat-ep-(?P<id>.{1,200})-pid-(?P<pid>\d{1,10})$", re.A
)
_WHOLE = re.compile(r"-?\d{1,20}", re.A)
_NO_RANK = 1 << 31


def _rows(page: Page, start: int, columns: int) -> tuple[list[list[int]], list[int], str]:
    """Return rows, their line indexes, and the fault of the last row ("" if it has none)."""
    rows: list[list[int]] = []
    places: list[int] = []
    for index in range(start, len(page.lines)):
        words = page.lines[index].split()
        if not words:
            continue
        if len(words) == columns and all(map(_WHOLE.fullmatch, words)):
            rows.append([int(word) for word in words])
            places.append(index)
        elif index == len(page.lines) - 1:
            return rows, places, f"line {index + 1}: the file is cut off here"
        else:
            raise BadInput(
                f"{page.source}: line {index + 1} is torn: expected {columns} numbers as the"
                f" heading has columns, found {len(words)} words."
            )
    return rows, places, ""


def of_table(page: Page) -> Statistics:
    """Return the last row as one section ``MQ``. Raise BadInput if there is none."""
    start = next(i for i, line in enumerate(page.lines) if line.split()[:1] == ["delta_t"])
    names = page.lines[start].split()
    rows, places, cut = _rows(page, start + 1, len(names))
    if not rows:
        raise BadInput(
            f"{page.source}: line {start + 2}: expected a row of {len(names)} numbers below the"
            " heading, but the file ends: the process has written no counters."
        )
    counters = dict(zip(names, rows[-1], strict=True))
    found = _MQ_FILE.search(page.source)
    rank = counters.get("comm_world_rank")
    known = rank is not None and 0 <= rank < _NO_RANK
    return Statistics(
        source=page.source,
        library="psm2" if found is not None and found["generation"] == "2" else "psm3",
        layout="table",
        host="",
        pid=int(found["pid"]) if found else None,
        identity=Identity(label="", rank=rank if known else None),
        settings=[],
        sections=[
            CounterSection(
                heading="MQ",
                endpoint=found["id"] if found else "",
                counters={name: value for name, value in counters.items() if value >= 0},
                line=places[-1] + 1,
            )
        ],
        blocks=len(rows),
        seconds=counters.get("delta_t"),
        complete=not cut,
        checked=False,
        zeros=True,
        doubts=[cut] if cut else [],
    )


_HEADING = re.compile(
    r" (?P<heading>[\w./-]+)(?: id (?P<id>\S+))?(?: (?P<info>(?!tid )\S+))?"
    r"(?: tid (?P<tid>-?\d{1,10}))?$",
    re.A,
)
_COUNTER = re.compile(
    r"    (?P<name>[A-Za-z]\S{0,79}(?: \(\*{1,2}\))?) (?P<value>\d{1,20})"
    r" \((?P<step>-?\d{1,20})\)$",
    re.A,
)
_TIME = re.compile(r"Time Delta (?P<seconds>\d{1,12}) seconds \S", re.A)
_NAME = re.compile(r"psm3-perf-stat-(?P<host>.{1,255})-pid-(?P<pid>\d{1,10})(?:\.\w{1,8})?$", re.A)
_SHOW_ZEROS = 0x100000
_REREGISTERED = "Fault_Injection"
_MOST_DOUBTS = 5
_HIGHEST = (1 << 64) - 1


_Key = tuple[str, str, str, int | None]
"""Heading, endpoint, NIC and thread of a group."""


@dataclass(slots=True)
class _StatisticsReader:
    """The blocks of one file. The last value of each counter is kept, whichever block contains it:
    later blocks omit closed endpoints.
    """

    source: str
    groups: dict[_Key, CounterSection] = field(default_factory=dict)
    in_block: dict[_Key, int] = field(default_factory=dict)
    now: CounterSection | None = None
    blocks: int = 0
    seconds: int | None = None
    last: str = ""
    doubts: list[str] = field(default_factory=list)
    torn: bool = False

    def doubt(self, number: int, text: str) -> None:
        if len(self.doubts) < _MOST_DOUBTS:
            self.doubts.append(f"line {number}: {text}")

    def take(self, line: StatisticsLine, *, final: bool) -> None:
        """Read one line; ``final``: the text ends within it."""
        done = {"time": self._time, "heading": self._heading, "counter": self._counter}
        if line.shape in ("setting", "identify", "environment", "warning"):
            return
        take = done.get(line.shape)
        if final:  # a line without its end is uncertain
            self.torn = True
            self.doubt(line.number, f"the file is cut off here; expected {self._expected()}")
        elif take is not None and take(line):
            self.last = line.shape
        elif self.blocks and line.text.startswith("cmdline:"):
            raise BadInput(
                f"{self.source}: line {line.number}: the file of another process begins here: give "
                "each process's file separately."
            )
        elif self.blocks:
            # The line may belong to the environment, so the message does not repeat it.
            raise BadInput(
                f"{self.source}: line {line.number} is torn: expected {self._expected()}: give the"
                " file as PSM3 wrote it."
            )

    def _expected(self) -> str:
        if self.now is None:
            return "the line `Time Delta SECONDS seconds DATE` or a group's heading"
        return "a counter as `name value (difference)`, a group's heading or `Time Delta`"

    def _time(self, line: StatisticsLine) -> bool:
        found = _TIME.match(line.text)
        if found is None:
            return False
        self.blocks += 1
        self.seconds, self.now = int(found["seconds"]), None
        return True

    def _heading(self, line: StatisticsLine) -> bool:
        found = _HEADING.match(line.text)
        if found is None or not self.blocks:
            return False
        thread = int(found["tid"]) if found["tid"] else None
        key = (found["heading"], found["id"] or "", found["info"] or "", thread)
        counters = self.groups[key].counters if key in self.groups else {}
        if self.in_block.get(key) == self.blocks:
            self.doubt(line.number, f"{found['heading']} appears twice in one block")
        self.in_block[key] = self.blocks
        heading, endpoint, nic, _ = key
        self.now = self.groups[key] = CounterSection(
            heading=heading,
            endpoint=endpoint,
            nic=nic,
            thread=thread,
            line=line.number,
            counters=counters,
        )
        return True

    def _counter(self, line: StatisticsLine) -> bool:
        found = _COUNTER.match(line.text)
        if found is None or self.now is None:
            return False
        name, value, step = found["name"], int(found["value"]), int(found["step"])
        if value > _HIGHEST:
            return False
        before = self.now.counters.get(name, 0)
        # a rank of -1 is printed as 2^64 - 1 with the difference -1
        if (value - before - step) % (1 << 64) and self.now.heading != _REREGISTERED:
            self.doubt(
                line.number,
                f"{name} is {value} with a difference of {step}, but the previous block has "
                f"{before}",
            )
        self.now.counters[name] = value
        return True


def _identity(
    lines: Iterable[StatisticsLine], reader: _StatisticsReader, host: str, pid: int | None
) -> Identity:
    """Return the process that wrote the file; its rank comes from the identify lines, otherwise
    from the counters.
    """
    found = identities_of(lines)
    mine = next((one for one in found if pid is None or one.pid in (pid, None)), None)
    one = mine or Identity(label=host, host=host)
    if one.rank is None:
        ranks = (group.counters.get("COMM_WORLD_Rank") for group in reader.groups.values())
        rank = next((rank for rank in ranks if rank is not None and rank < _HIGHEST // 2), None)
        return structs.replace(one, rank=rank)
    return one


def _named(source: str) -> tuple[str, int | None]:
    """Return the host and process id in a file name that the library made."""
    found = _NAME.search(source)
    return (found["host"].rpartition("/")[2], int(found["pid"])) if found else ("", None)


def _program(first: str) -> str:
    """Return the program's name without its path; its arguments are left out because they may
    contain anything.
    """
    words = first.removeprefix("cmdline:").split()
    return words[0].rpartition("/")[2][:80] if first.startswith("cmdline:") and words else ""


def statistics(data: bytes, source: str) -> Statistics:
    """Read one file. Raise BadInput, with file and line, if it is not a statistics file or is torn
    in the middle.

    ``source`` is the name used in errors; if the library made it, it also contains host and
    process.
    """
    page = page_of(data, source)
    if is_table(data[:LOOKED_AT]):
        return of_table(page)
    lines = list(kept(page.lines))
    reader = _StatisticsReader(source)
    final = lines[-1].number if lines and page.cut else 0
    for line in lines:
        reader.take(line, final=line.number == final)
    if not reader.blocks:
        raise BadInput(
            f"{source}: line {len(page.lines)}: the file ends without a line `Time Delta SECONDS"
            " seconds DATE`: PSM3 has written no counters into it (PSM3_PRINT_STATS=-1 writes them"
            " when the process ends)."
        )
    return _made(page.lines, lines, reader)


def _made(text: list[str], lines: list[StatisticsLine], reader: _StatisticsReader) -> Statistics:
    first = text[0]
    host, pid = _named(reader.source)
    found = list(settings_of(lines))
    values = {one.name: one.value for one in found}
    identity = _identity(lines, reader, host, pid)
    periodic = values.get("PSM3_PRINT_STATS", "").partition(":")[0]
    # With -1 the first endpoint that closes prints a block, and at exit the library prints another
    # block for endpoints that are still open: usually none.
    if identity.rails and not reader.groups:
        reader.doubt(
            lines[-1].number, "an endpoint was opened, but the file contains no counter for it"
        )
    ended = periodic != "-1" or reader.blocks > 1 or reader.last == "time"
    complete = not reader.torn and ended
    if not complete and not reader.torn:
        reader.doubts.append(
            f"line {lines[-1].number}: the file ends within a block; expected the closing line"
            " `Time Delta` of PSM3_PRINT_STATS=-1"
        )
    return Statistics(
        source=reader.source,
        library="psm3",
        layout="blocks with settings" if first.startswith("cmdline:") else "blocks",
        host=identity.host or host,
        pid=identity.pid if identity.pid is not None else pid,
        identity=identity,
        settings=found,
        sections=list(reader.groups.values()),
        blocks=reader.blocks,
        seconds=reader.seconds,
        complete=complete,
        checked=first.startswith("cmdline:"),
        zeros=_shows_zeros(values.get("PSM3_PRINT_STATSMASK", "")),
        program=_program(first),
        job=job_of(text),
        doubts=reader.doubts,
    )


def _shows_zeros(mask: str) -> bool:
    try:
        return bool(int(mask, 0) & _SHOW_ZEROS)
    except ValueError:
        return False
