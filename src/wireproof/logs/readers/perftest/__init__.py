# pure
"""perftest: ``ib_write_bw`` and its family."""

import re
from dataclasses import dataclass, field

import msgspec

from wireproof.logs.readers.page import Page
from wireproof.logs.readers.perftest.benchmarks import (
    COMMAND,
    DOCUMENT,
    HEADING,
    TITLE,
    argv,
    bandwidth_point,
    columns_of,
    parse_document,
    test_of,
    time_point,
    window_of,
)
from wireproof.logs.readers.registry import Adapter, Benchmark, Parsed, starts_result
from wireproof.logs.readers.rows import Rows, nearest_above, numbers, printable, read_rows, step_of
from wireproof.model.quantity import counted, whole
from wireproof.model.series import IN_GPU, SeriesPoint

# --- perftest (ib_write_bw and its family): output and options. MB is 2^20 bytes, whether a version
# labels the column MB/sec or MiB/sec; Gb is 10^9 bits.

# --- The output of a program before its table: the test, its parameters, both addresses, error
# messages.

RULE = re.compile(r"^\s*-{5,}\s*$")
ERROR = re.compile(
    r"Couldn't |Unable to |Failed |Completion with error|failed to |Did not detect|Can't "
    r"|Received \d{1,9} times"
    r"|[Ee]rror\b|Terminated\b|Killed\b"
)
_PARAMETER = re.compile(
    r"(Device|Number of qps|Number of qp's running|Connection type|Transport type|Using SRQ|TX "
    r"depth|Post List|Mtu|"
    r"Link type|rdma_cm QPs|Outstand reads|Dual-port)\s*:?\s{0,20}:?\s{0,20}([\w./-]{1,40})"
)
_ADDRESS = re.compile(r"(local|remote) address: +LID (?:0[xX])?([0-9a-fA-F]{1,6})\b")
_GID = re.compile(r"GID: ((?:\d{2,3}:){15}\d{2,3})\b")
_IPV4 = "00:00:00:00:00:00:00:00:00:00:255:255:"
_PATIENCE = 120  # lines that are not addresses: every queue pair prints four lines of these
# number of lines: if the title repeats this soon, it comes from the other end, which writes into
# the same log
_DOUBLED = 4
_MOST_ADDRESSES = 64


@dataclass(slots=True)
class Block:
    """``heading``: index of the line of column names, or None. ``ports``: addresses of each side's
    port. ``ruled``: a rule of dashes is between title and heading, as perftest prints.
    """

    title: re.Match[str] | None
    parameters: dict[str, str] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    ports: dict[str, set[str]] = field(default_factory=dict)
    heading: int | None = None
    ruled: bool = False
    after: int = 0

    def hosts(self) -> list[str]:
        """Return local and remote address; only one if both are the same port; [] if they are
        unknown.
        """
        sides = [sorted(self.ports.get(side, ())) for side in ("local", "remote")]
        if any(len(side) != 1 for side in sides):
            return []
        return [sides[0][0]] if sides[0] == sides[1] else [sides[0][0], sides[1][0]]


def _name_of(gid: str) -> str:
    """Return a GID as an address: IPv4 if it contains an IPv4 address."""
    parts = [int(part) for part in gid.split(":")]
    if gid.startswith(_IPV4):
        return ".".join(str(part) for part in parts[12:])
    return bytes(part & 255 for part in parts).hex(":", 2)


def _address(block: Block, line: str, side: str) -> str:
    """Record an address; return the side whose GID the next line contains. A GID identifies the
    port better than the LID before it.
    """
    address = _ADDRESS.search(line)
    if address is not None:
        side, lid = address.group(1), int(address.group(2), 16)
        known = block.ports.setdefault(side, set())
        if lid and len(known) < _MOST_ADDRESSES:
            known.add(f"LID {lid:#06x}")
        return side
    gid = _GID.search(line) if side else None
    if gid is not None:
        known = block.ports.setdefault(side, set())
        lids = {one for one in known if one.startswith("LID")}
        if len(known) < _MOST_ADDRESSES:
            block.ports[side] = (known - lids) | {_name_of(gid.group(1))}
    return side


def block_at(page: Page, start: int) -> Block:
    """Return the block from the title, the heading or the error message on line index ``start`` to
    the line of column names.
    """
    head = page.lines[start]
    block = Block(TITLE.search(head), after=start + 1)
    if HEADING.search(head):
        block.heading = start
    elif block.title is None:
        block.errors.append(printable(head[:200])[:120])
    else:
        _read(page, start, block)
    return block


def _read(page: Page, start: int, block: Block) -> None:
    side, idle = "", 0
    for index in range(start + 1, len(page.lines)):
        line = page.lines[index]
        block.after = index
        if "address:" in line or "GID:" in line:
            side = _address(block, line, side)
            continue
        if HEADING.search(line):
            block.heading = index
            return
        if not _belongs(page, start, index):
            return
        if ERROR.search(line):
            block.errors.append(printable(line[:200])[:120])
        for name, value in _PARAMETER.findall(line):
            block.parameters.setdefault(name, value)
        block.ruled |= RULE.match(line) is not None
        idle += 1
        if idle > _PATIENCE:
            return
    block.after = max(len(page.lines), start + 1)


def _belongs(page: Page, start: int, index: int) -> bool:
    """Return False for the start of another result; the same title this soon comes from the other
    end.
    """
    line = page.lines[index]
    if ERROR.search(line) or not starts_result(line):
        return True
    return index < start + _DOUBLED and line == page.lines[start]


# --- The table.

_BEFORE = 40
_GOES_ON = re.compile(rf"{TITLE.pattern}|^\s*\d{{1,18}}\s+\d{{1,18}}\s")
_OTHERS = re.compile(f"{HEADING.pattern}|{TITLE.pattern}")
_MOST = 1e15
_FACTORS = {
    "MB/sec": 1 << 20,
    "MiB/sec": 1 << 20,
    "Gb/sec": 125_000_000,
    "GB/sec": 1 << 30,
    "GiB/sec": 1 << 30,
}
_GRAVE = re.compile(
    r"Completion with error|Failed status|Terminated\b|Killed\b|Received \d{1,9} times"
)
_CLOCKS = ("Conflicting CPU frequency", "measured timestamp frequency")
_GPU = (" GPU buffer", "ROCm Device with ID")
_SAMPLE = re.compile(r"^\s*(?:\d{1,9}, [\d.e+-]{1,20}|#, \w{1,8}|-{5,}|)\s*$")
_COUNTER = re.compile(r"^\s*(\w{2,40})=(\d{1,20})\s*$")
_UNIT = {"": "us", "Gb/sec": "Gb = 10^9 bits", "MiB/sec": "MiB = 2^20 bytes"}


def _behind_samples(page: Page, heading: int) -> int:
    """Return the heading whose rows follow: ``-U`` and ``-H`` print all samples between two
    headings, and two ends that write into one log print the heading twice.
    """
    index, last = heading + 1, heading
    while index < len(page.lines) and (
        _SAMPLE.match(page.lines[index]) or HEADING.search(page.lines[index])
    ):
        last = index if HEADING.search(page.lines[index]) else last
        index += 1
    return last


def _counters(page: Page, rows: Rows, index: int) -> dict[str, float]:
    """Return the port counters that ``-W`` prints below a row, each with its increase."""
    end = rows.lines[index + 1] if index + 1 < len(rows.lines) else rows.after
    found = {}
    for at in range(rows.lines[index] + 1, min(end, rows.lines[index] + 30)):
        match = _COUNTER.match(page.lines[at])
        if match is not None and not (page.cut and at == len(page.lines) - 1):
            found[match.group(1)] = float(match.group(2))
    return found


def _points(
    page: Page, rows: Rows, roles: list[str], test: Benchmark, unit: str
) -> tuple[list[SeriesPoint], int]:
    """Return points by size (repeated runs keep their order), and the number of rows without a
    measured number.
    """
    good = []
    factor = _FACTORS.get(unit, 1 << 20)
    main = next((role for role in ("typical", "avg") if role in roles), "")
    place = next((roles.index(role) for role in (main, "goodput") if role in roles), 0)
    for index, (words, line) in enumerate(rows):
        known, step = numbers(dict(zip(roles, words, strict=True)), _MOST), step_of(words[place])
        if known is None or not 0 < (size := int(words[0])) < 1 << 40:
            continue
        point = (
            time_point(known, main, size, test.half_round_trip, step, line + 1)
            if main
            else bandwidth_point(known, factor, size, step, line + 1)
        )
        if point is not None:
            values = point.values | _counters(page, rows, index)
            good.append(msgspec.structs.replace(point, values=values))
    return good, len(rows.fields) - len(good)


def _state(page: Page, rows: Rows, block: Block, closed: bool, troubles: list[str]) -> str:
    """Return why the table is incomplete; "" if nothing indicates that."""
    if rows.fault(page):
        return rows.fault(page)
    if troubles:
        return troubles[0]
    if not rows.fields:
        return "no readable row follows the heading"
    endless = len(rows.fields) > 1 and len({words[0] for words in rows.fields}) == 1
    # --run_infinitely prints no end; a web page may have lost all rules.
    if block.ruled and not closed and not endless:
        return "the line that closes the table is missing: the run was interrupted"
    return ""


def _notes(page: Page, start: int, block: Block, unit: str, odd: int, after: int) -> list[str]:
    notes = [f"{name}: {value}" for name, value in block.parameters.items()]
    if unit == "MB/sec":
        notes.append("the heading is MB/sec, but the program uses 2^20 bytes")
    if len(block.hosts()) == 1:
        notes.append(f"local and remote address are the same: both ranks are on {block.hosts()[0]}")
    if odd:
        notes.append(f"{counted(odd, 'row')} left out: zero, or an impossible number")
    around = page.lines[max(0, start - 10) : after]
    if any(said in line for line in around for said in _GPU):
        notes.append(IN_GPU)
    if any(said in line for line in around for said in _CLOCKS):
        notes.append(
            "the program found conflicting processor frequencies: all its times may be off by "
            "their ratio"
        )
    return notes


def _closed(page: Page, index: int) -> bool:
    """Return True for the rule below a table; a rule above the next title, or above more rows,
    closes nothing.
    """
    if index >= len(page.lines) or RULE.match(page.lines[index]) is None:
        return False
    return index + 1 >= len(page.lines) or _GOES_ON.search(page.lines[index + 1]) is None


def _rows(page: Page, block: Block, columns: int) -> tuple[Rows, bool, str]:
    """Return the rows of the block (none without a line of column names), whether a rule closes the
    table, and the reason if it is incomplete.
    """
    if block.heading is None:
        why = block.errors[0] if block.errors else "no table follows the title"
        return Rows(after=block.after), False, why
    first = _behind_samples(page, block.heading) + 1
    rows = read_rows(page, first, (columns,), _ends)
    closed = _closed(page, rows.after)
    grave = _GRAVE if closed else ERROR
    lines = page.lines[first : rows.after]
    troubles = [
        printable(line[:200])[:120] for line in lines if "=" not in line and grave.search(line)
    ]
    return rows, closed, _state(page, rows, block, closed, troubles)


def parse(page: Page, start: int) -> Parsed:
    """Parse the run that begins with the title, the table or the error message on line index
    ``start``.
    """
    if DOCUMENT.search(page.lines[start]):
        return parse_document(page, start)
    block = block_at(page, start)
    named = None if block.title else nearest_above(page, start, COMMAND, _BEFORE, _OTHERS.search)
    command, rest = named.groups() if named is not None else ("", "")
    roles, unit = columns_of("" if block.heading is None else page.lines[block.heading])
    rows, closed, incomplete = _rows(page, block, len(roles))
    test = test_of(block.title, command, rest, roles)
    points, odd = _points(page, rows, roles, test, unit)
    raw = command.startswith("raw_") or block.parameters.get("Connection type") == "RawEth"
    depth, pairs = (whole(block.parameters.get(name, "")) for name in ("TX depth", "Number of qps"))
    series = test.series(
        "perftest",
        points,
        unit=_UNIT.get(unit, "MB = 2^20 bytes") if roles else "",
        window=window_of(depth, pairs) if test.metric.endswith("bandwidth") else None,
        protocol="" if raw else "rdma",
        incomplete=incomplete,
        hosts=block.hosts(),
        notes=_notes(page, start, block, unit, odd, max(rows.after, block.after)),
        last_line=rows.last_line,
    )
    return Parsed([series], max(start + 1, rows.after + closed))


def _ends(line: str) -> bool:
    """Return True for the rule below a table, and for a line that starts another result."""
    return bool(RULE.match(line)) or (starts_result(line) and not ERROR.search(line))


ADAPTER = Adapter(
    name="perftest",
    parse=parse,
    argv=argv,
)
