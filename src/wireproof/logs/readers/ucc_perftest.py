# pure
"""ucc_perftest of UCC: the time of a collective, its mean, minimum and maximum over the ranks.

Ranks may share a node, and the number of ranks is not printed. GB = 10^9 bytes.
"""

import re

from wireproof.logs.readers.page import Page
from wireproof.logs.readers.registry import Adapter, Benchmark, Parsed, starts_result
from wireproof.logs.readers.rows import What, number, rows_below, step_of
from wireproof.model.quantity import whole
from wireproof.model.series import IN_GPU, SeriesPoint

_FACT = re.compile(r"^ *(Collective|Memory type|Datatype|Data type|Inplace): +(\S{1,40})\s*$")
_BEFORE = 30
_WIDTHS = (5, 8)  # without and with the bandwidth (-F)
_FORMULA = (
    "mean, minimum and maximum over the ranks of their mean time per collective; bus bandwidth"
    " (values) as in nccl-tests"
)


def _row(line: str) -> list[str] | What | None:
    words = line.split()
    if words[0] == "avg":  # the second line of the heading
        return "skipped"
    if not words[0].isdigit() and words[0] != "N/A":
        return None
    return words if len(words) in _WIDTHS else "torn"


def _point(words: list[str], line: int) -> SeriesPoint | None:
    """Return a row; a barrier's count and size are ``N/A``."""
    size = 0 if words[1] == "N/A" else whole(words[1])
    mean, least, most = (number(word) for word in words[2:5])
    if size is None or not mean or least is None or most is None or min(mean, least, most) < 0:
        return None
    bus = number(words[5]) if len(words) > _WIDTHS[0] else None
    return SeriesPoint(
        message_bytes=size,
        time_ns=mean * 1e3,
        time_min_ns=least * 1e3,
        time_max_ns=most * 1e3,
        time_step_ns=step_of(words[2]) * 1e3,
        values={} if bus is None else {"bus_bytes_per_s": bus * 1e9},
        line=line + 1,
    )


def parse(page: Page, start: int) -> Parsed:
    """Parse the table whose heading is on line index ``start``."""
    above = filter(None, map(_FACT.match, page.lines[max(0, start - _BEFORE) : start]))
    facts = {found.group(1): found.group(2) for found in above}
    rows = rows_below(page, start + 1, _row, starts_result)
    points = [_point(words, at) for words, at in rows]
    name, memory = facts.get("Collective", "ucc_perftest"), facts.get("Memory type", "host")
    series = Benchmark(name.lower(), "time", "collective", _FORMULA).series(
        "ucc_perftest",
        points,
        unit="us; GB = 10^9 bytes",
        incomplete=rows.state(page, points, ""),
        notes=[] if memory == "host" else [f"{IN_GPU} ({memory})"],
        last_line=rows.last_line,
    )
    return Parsed([series], max(rows.after, start + 1))


ADAPTER = Adapter(
    name="ucc_perftest",
    parse=parse,
)
