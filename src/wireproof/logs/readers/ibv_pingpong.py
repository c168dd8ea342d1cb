# pure
"""ibv_rc_pingpong and its family (libibverbs' examples): two lines of text after the addresses.

An iteration is a message and its answer: bytes count both directions, and half of its time is a
half round trip.
"""

import re

from wireproof.logs.readers.page import Page
from wireproof.logs.readers.registry import Adapter, Benchmark, Parsed, sign, starts_result
from wireproof.logs.readers.rows import step_of
from wireproof.model.series import SeriesPoint

_BYTES = sign("ibv_pingpong", " Mbit/sec")
_ITERATIONS = re.compile(
    r"^\s*(\d{1,12}) iters in (\d{1,9}\.\d{1,6}) seconds = (\d{1,12}\.\d{1,6}) usec/iter(\s*)$"
)
_ADDRESS = re.compile(r"^\s*(local|remote) address: +LID 0x([0-9a-f]{1,6}), .{0,60}?GID (\S{0,60})")
_PROGRAM = re.compile(r"\b(ibv_(?:rc|uc|ud|srq|xsrq)_pingpong)\b")
_BEFORE = 12
_LINES = 80


def _hosts(lines: list[str]) -> list[str]:
    """Return local and remote address; only one if both are the same port."""
    sides: dict[str, str] = {}
    for line in lines:
        found = _ADDRESS.match(line)
        if found is not None:
            lid = int(found.group(2), 16)
            gid = found.group(3).strip(":")
            sides[found.group(1)] = gid or (f"LID {lid:#06x}" if lid else "")
    names = [sides.get(side, "") for side in ("local", "remote")]
    return list(dict.fromkeys(names)) if all(names) else []


def _ends(page: Page, start: int) -> tuple[re.Match[str] | None, re.Match[str] | None, int]:
    """Return the line with the bytes, the line with the iterations, and the index of the last line
    read.
    """
    moved: re.Match[str] | None = None
    index = start
    for index in range(start, min(len(page.lines), start + _LINES)):
        line = page.lines[index]
        whole = moved is not None and index != page.ragged
        turned = _ITERATIONS.match(line) if whole else None
        if turned is not None:
            return moved, turned, index
        found = _BYTES.match(line)
        if (found and moved) or not (found or _ADDRESS.match(line) or not starts_result(line)):
            return moved, None, index - 1
        moved = found or moved
    return moved, None, index


def _point(moved: re.Match[str], turned: re.Match[str], line: int) -> SeriesPoint | None:
    count, time = int(turned.group(1)), float(turned.group(3)) * 1e3
    size, left = divmod(int(moved.group(1)), 2 * count) if count else (0, 1)
    if left or not time > 0:
        return None
    return SeriesPoint(
        message_bytes=size,
        hrt_ns=time / 2,
        iterations=count,
        time_step_ns=step_of(turned.group(3)) * 1e3 / 2,
        line=line + 1,
    )


def parse(page: Page, start: int) -> Parsed:
    """Parse the result whose first address, or line of bytes, is on line index ``start``."""
    moved, turned, index = _ends(page, start)
    point = _point(moved, turned, index) if moved is not None and turned is not None else None
    above = " ".join(page.lines[max(0, start - _BEFORE) : start])
    named = _PROGRAM.findall(above) or ["ibv_pingpong"]
    hosts = _hosts(page.lines[start:index])
    notes = [f"local and remote address are the same: both ranks are on {one}" for one in hosts]
    test = Benchmark(
        named[-1],
        "half_round_trip",
        "pingpong",
        "time of one iteration / 2: a message and a reply of the same size",
        waits=True,
    )
    series = test.series(
        "ibv_pingpong",
        [point],
        unit="us; Mbit = 10^6 bits, both directions",
        protocol="rdma",
        incomplete="" if point is not None else f"line {start + 1}: no result follows",
        hosts=hosts,
        notes=notes if len(hosts) == 1 else [],
        last_line=index + 1,
    )
    return Parsed([series], index + 1)


ADAPTER = Adapter(
    name="ibv_pingpong",
    parse=parse,
)
