"""ucc_perftest of UCC: the time of a collective, its mean, minimum and maximum over the ranks.

Ranks may share a node, and the number of ranks is not printed. GB = 10^9 bytes.
"""

import re

from wireproof.adapters.page import Page
from wireproof.adapters.registry import Adapter, Parsed, sign, starts_result
from wireproof.adapters.rows import What, number, rows_below, step_of
from wireproof.model.quantity import whole
from wireproof.model.series import IN_GPU, Series, SeriesPoint

_HEADING = sign("ucc_perftest", "Time, us")
_FACT = re.compile(r"^ *(Collective|Memory type|Datatype|Data type|Inplace): +(\S{1,40})\s*$")
_BEFORE = 30
_WIDTHS = (5, 8)  # without and with the bandwidth (-F)
_FORMULA = (
    "mean, minimum and maximum over the ranks of their mean time of a collective; bus bandwidth"
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
    facts = {
        found.group(1): found.group(2)
        for line in page.lines[max(0, start - _BEFORE) : start]
        if (found := _FACT.match(line))
    }
    rows = rows_below(page, start + 1, _row, starts_result)
    read = (_point(words, at) for words, at in zip(rows.fields, rows.lines, strict=True))
    points = sorted(filter(None, read), key=lambda point: point.message_bytes)
    incomplete = rows.fault(page) or ("" if points else "no row that can be read follows")
    memory = facts.get("Memory type", "host")
    series = Series(
        tool="ucc_perftest",
        benchmark=facts.get("Collective", "ucc_perftest").lower(),
        metric="time",
        traffic="collective",
        points=points,
        formula=_FORMULA,
        unit="us; GB = 10^9 bytes",
        complete=not incomplete,
        incomplete=incomplete,
        notes=[] if memory == "host" else [f"{IN_GPU} ({memory})"],
        source=page.source,
        first_line=start + 1,
        last_line=(rows.lines or [start])[-1] + 1,
    )
    return Parsed([series], max(rows.after, start + 1))


ADAPTER = Adapter(
    name="ucc_perftest",
    parse=parse,
)
