"""What a perftest program prints before its table: the test, its parameters, both addresses, error
messages.
"""

import re
from dataclasses import dataclass, field

from wireproof.adapters.page import Page
from wireproof.adapters.perftest.benchmarks import HEADING, TITLE
from wireproof.adapters.registry import starts_result

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
# lines: if the title repeats this soon, it comes from the other end, which writes into the same log
_DOUBLED = 4
_MOST_ADDRESSES = 64


@dataclass(slots=True)
class Block:
    """``heading``: index of the line of column names, or None. ``ports``: addresses of each side's
    port.
    """

    title: re.Match[str] | None
    parameters: dict[str, str] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    ports: dict[str, set[str]] = field(default_factory=dict)
    heading: int | None = None
    after: int = 0

    def hosts(self) -> list[str]:
        """Return local and remote address; only one if both are the same port; [] if the log does
        not tell.
        """
        sides = [sorted(self.ports.get(side, ())) for side in ("local", "remote")]
        if any(len(side) != 1 for side in sides):
            return []
        return [sides[0][0]] if sides[0] == sides[1] else [sides[0][0], sides[1][0]]


def printable(line: str) -> str:
    """Return a foreign line as one short printable sentence."""
    shown = "".join(char if char.isprintable() else " " for char in line[:200])
    return " ".join(shown.split())[:120]


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
        block.errors.append(printable(head))
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
            block.errors.append(printable(line))
        for name, value in _PARAMETER.findall(line):
            block.parameters.setdefault(name, value)
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
