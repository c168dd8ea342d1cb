# pure
"""The lines of iperf3 and iperf 2: rows, addresses, and the end of a run."""

import re
from dataclasses import dataclass, field

from wireproof.logs.readers.page import Page
from wireproof.logs.readers.registry import sign, starts_result
from wireproof.logs.readers.rows import PATIENCE, Facts, number, step_of

ROW = re.compile(
    r"(?:\[ *(\d{1,6}|SUM) *\])?(?:\[ *([TR]X)-[CS]\])?\s{0,40}"
    r"(\d{1,9}\.\d{1,6})- *(\d{1,9}\.\d{1,6})"
    r" +sec +"
    r"(\d{1,9}(?:\.\d{1,3})?) ([KMGT]?)Bytes +(\d{1,9}(?:\.\d{1,3})?) ([KMGT]?)(bits"
    r"|Bytes)/sec\b(.*)$"
)
TAIL_UDP = re.compile(r"(\d{1,9}\.\d{1,6}) ms +(\d{1,15}) */ *(\d{1,15}) \(")
_TAIL_RETRANSMITS = re.compile(r"^\s+(\d{1,12})\s+(?:[\d.]+ [KMG]?Bytes\s+)?sender")
_ROLE = re.compile(r"\b(sender|receiver)\s*$")
_OWN = re.compile(
    r"\[ ID\]|^ *(?:Connecting to host|Accepted connection from) |^ *iperf3: (?:error|interrupt)"
)
_FINISH = re.compile(r"^ *iperf Done\.")
_BEGIN = re.compile(r"(?:Connecting to host|Accepted connection from) ([\w.:%-]{1,80})")
_PEER = re.compile(
    r"local ([\w.:%-]{1,60}) port \d{1,5} connected (?:to|with) ([\w.:%-]{1,60}) port"
)
_BLOCK = re.compile(r"(\d{1,9}) byte blocks|\s(?:-l|--len(?:gth)?)[ =]?(\d{1,9}[kKmM]?)\b")
_VERSION = re.compile(r"^ *iperf (3[\w.+-]{0,20})")
_TROUBLE = re.compile(r"iperf3?: (?:error|interrupt)[^\n]{0,120}")
_TELLS = {
    "peer": _PEER,
    "omit": re.compile(r"omitting ([1-9]\d{0,5}) seconds"),
    "sent": re.compile(r"Sent .*?datagrams"),
}
_BITS = {"": 1, "K": 1000, "M": 10**6, "G": 10**9, "T": 10**12}
_BYTES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_BEFORE = 12
WHOLE_S = (
    9.5  # a run lasts 10 s unless another time was requested; it ends a little earlier or later
)
_OPENINGS = (" con", " listening", "Connecting")
_UDP = ("Datagrams", "protocol: UDP", ", UDP port")
_OLD_ROW = sign("iperf3", "Bytes ")
_OLD = re.compile(r"^ *(?:Client connecting to \S{1,80}, |Server listening on )(TCP|UDP) port")


@dataclass(frozen=True, slots=True)
class IperfRow:
    """One row. ``stream``: an id, ``SUM``, or "" if a filter removed it; ``direction``: TX, RX or
    ""; ``role``: "" for an interval. Rates are in bytes per second.
    """

    stream: str
    direction: str
    start: float
    end: float
    transfer: float
    rate: float
    step: float
    role: str
    tail: str
    line: int


def row_of(line: str, index: int) -> IperfRow | None:
    """Return a printed row, or None."""
    match = ROW.search(line) if "ytes" in line and "/sec" in line else None
    if match is None:
        return None
    stream, direction, start, end, transfer, scale, rate, prefix, kind, tail = match.groups()
    factor = _BITS[prefix] / 8 if kind == "bits" else float(_BYTES[prefix])
    role = _ROLE.search(tail) if tail.endswith(("r", " ")) else None
    return IperfRow(
        stream=stream or "",
        direction=direction or "",
        start=float(start),
        end=float(end),
        transfer=(number(transfer) or 0.0) * _BYTES[scale],
        rate=(number(rate) or 0.0) * factor,
        step=step_of(rate) * factor,
        role=role.group(1) if role else "",
        tail=tail,
        line=index,
    )


@dataclass(slots=True)
class IperfRun:
    """One run, as far as its lines show. ``client``: it began with "Connecting to host"."""

    old: bool = False
    client: bool = False
    server: bool = False
    finished: bool = False
    rows: list[IperfRow] = field(default_factory=list)
    summary: list[IperfRow] = field(default_factory=list)
    intervals: set[tuple[str, str]] = field(default_factory=set)
    told: Facts = field(default_factory=lambda: Facts(_TELLS))
    report: int = 0
    version: str = ""
    block: int | None = None
    omit: int = 0
    udp: bool = False
    trouble: str = ""
    after: int = 0
    last: int = 0

    @property
    def hosts(self) -> list[str]:
        """Local and remote address."""
        return [address for peer in self.told["peer"][:1] for address in peer.groups()]


def _take(run: IperfRun, line: str, index: int) -> None:
    row = row_of(line, index)
    if row is not None:
        _take_row(run, row)
        return
    run.told.take(line)
    run.block = run.block or _length(line)
    run.udp |= any(sign in line for sign in _UDP)
    run.report = index if "Server Report:" in line else run.report
    trouble = _TROUBLE.search(line)
    if trouble is not None and not (run.server and run.summary):
        run.trouble = "".join(filter(str.isprintable, trouble.group(0)))


def _take_row(run: IperfRun, row: IperfRow) -> None:
    run.udp = run.udp or (" ms " in row.tail and TAIL_UDP.search(row.tail) is not None)
    if "(omitted)" in row.tail:
        run.omit = max(run.omit, int(row.end))
    elif row.role:
        run.summary.append(row)
    else:
        run.rows.append(row)
        run.intervals.add((row.stream, row.direction))
    run.last = row.line


def _length(line: str) -> int | None:
    match = _BLOCK.search(line)
    if match is None:
        return None
    digits = (match.group(1) or match.group(2)).lower()
    scale = {"k": 1 << 10, "m": 1 << 20}.get(digits[-1], 1)
    return int(digits.rstrip("km")) * scale or None


def _ends(run: IperfRun, line: str, index: int) -> bool:
    if _TROUBLE.search(line):
        return False
    if _OWN.search(line):
        return _begins_another(run, line, index)
    if run.old and run.rows and _PEER.search(line):
        return True
    return starts_result(line) or "Server listening on" in line


def _begins_another(run: IperfRun, line: str, index: int) -> bool:
    """Return True if a line that iperf prints at the beginning comes too late to belong to this
    run.
    """
    begins = _BEGIN.search(line) is not None
    if run.old:
        return begins or (bool(run.rows) and run.report < index - 1)
    begun = run.client or run.server or bool(run.rows)
    return bool(run.summary or run.told["sent"]) or (begins and begun)


def _sums_up_again(run: IperfRun, row: IperfRow | None) -> bool:
    """Return True if the run already has the row that sums up this stream, so that ``row`` belongs
    to another run, as if only the last rows were copied.
    """
    if row is None or not row.stream:
        return False
    alone = [] if run.udp or not run.old else [one for one in run.rows[-1:] if one.end >= WHOLE_S]
    return any(
        (one.stream, one.direction, one.role, one.start)
        == (row.stream, row.direction, row.role, row.start)
        and (bool(row.role) or one.transfer != row.transfer)
        for one in (run.summary if row.role else alone)
    )


def _closed(run: IperfRun, line: str) -> bool:
    """Return True if the last line, which has no line end, is complete: it ends with a word that
    only ends such lines.
    """
    if _ROLE.search(line) or _FINISH.match(line):
        return True
    return run.old and line.endswith("/sec")


def _open(run: IperfRun, line: str) -> None:
    """Record the program that prints: iperf3's client or server, or iperf 2."""
    if not any(sign in line for sign in _OPENINGS):
        return
    begun = _BEGIN.search(line) is not None
    run.client |= (begun and "Connecting" in line) or line.startswith("Client connecting")
    run.server |= begun and "Accepted" in line
    run.old = run.old or _OLD.search(line) is not None


def _take_above(run: IperfRun, lines: list[str]) -> None:
    """Read the version and the last command above the first line of a run."""
    run.version = Facts({"version": _VERSION}, lines).text("version")
    run.block = next((_length(line) for line in reversed(lines) if "iperf3 " in line), None)


def collect(page: Page, start: int) -> IperfRun:
    """Return the run that begins on line index ``start``."""
    run, idle = IperfRun(after=start + 1, old=_OLD_ROW.search(page.lines[start]) is not None), 0
    _take_above(run, page.lines[max(0, start - _BEFORE) : start])
    last = len(page.lines) - 1
    for index in range(start, last + 1):
        line = page.lines[index]
        row = row_of(line, index)
        if _sums_up_again(run, row) or (index > start and not row and _ends(run, line, index)):
            break
        run.after = index + 1
        _open(run, line)
        if index == last and page.cut and not _closed(run, line):
            break
        before = run.last
        _take(run, line, index)
        run.finished = row is None and _FINISH.match(line) is not None
        idle = 0 if run.last != before or not line.strip() else idle + 1
        if run.finished or idle > PATIENCE:
            break
    return run


def extra(rows: list[IperfRow], chosen: IperfRow) -> dict[str, float]:
    values = {"seconds": chosen.end - chosen.start, "bytes": chosen.transfer}
    for row in rows:
        udp, again = TAIL_UDP.search(row.tail), _TAIL_RETRANSMITS.search(row.tail)
        if again is not None:
            values["retransmits"] = float(again.group(1))
        if udp is not None and row.role != "sender":
            values |= {
                "jitter_ms": float(udp.group(1)),
                "lost_packets": float(udp.group(2)),
                "packets": float(udp.group(3)),
            }
    return values


def datagram(run: IperfRun) -> int | None:
    """Return the bytes of a datagram: transfer / datagrams of the summary, limited by the printed
    digits.
    """
    for row in reversed(run.summary or run.rows):
        udp = TAIL_UDP.search(row.tail)
        if udp is not None and int(udp.group(3)) > 0 and row.transfer > 0:
            return round(row.transfer / int(udp.group(3)))
    return None
