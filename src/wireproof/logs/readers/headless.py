# pure
"""Rows of a sweep without a heading: read if their arithmetic or the command line above identifies
the columns, otherwise reported as unreadable.

Size, repetitions, time, bandwidth and rate form a row only if bandwidth x time = size and rate x
time = 1. Two columns alone do not suffice: the lines above must contain the program, which
determines the unit.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from wireproof.logs.readers.page import Page
from wireproof.logs.readers.registry import Benchmark
from wireproof.logs.readers.rows import Rows, nearest_above, number, step_of
from wireproof.model.quantity import counted
from wireproof.model.series import Series, SeriesPoint

_COMMAND = re.compile(r"\b(osu_[a-z_]{2,30})\b(?!\.)")
_OTHER_UNIT = re.compile(r"\b(?:Bandwidth|Latency) ?\((?!us|MB/s)", re.IGNORECASE)
_ABOVE = 40
_FEWEST = 4
_WIDTHS = (2, 3, 4, 5)
_AGREE = 0.03
_MEBI = 2.0**20 / 1e6
_OF_IMB = Benchmark(
    "PingPong",
    "half_round_trip",
    "pingpong",
    "t from the arithmetic of the row: bandwidth = size / t, rate = 1 / t",
    waits=True,
)


def _width(block: Rows) -> int:
    return len(block.fields[0])


def _numbers(line: str) -> list[str]:
    """Return the words of a line of numbers that begins with a size; [] for any other line."""
    if not line[:40].lstrip()[:1].isdigit():
        return []
    words = line.replace(",", " ").split()
    whole = words[:1] and words[0].isascii() and words[0].isdigit() and len(words[0]) < 16
    return words if whole and all(number(word) is not None for word in words) else []


def _blocks(page: Page, used: Iterable[range]) -> list[Rows]:
    taken = _taken(page, used)
    found: list[Rows] = []
    block = Rows()
    for index, line in enumerate(page.lines):
        words = [] if taken[index] else _numbers(line)
        same = len(words) - _width(block) if words and block.fields else 1
        if same == 0 and int(words[0]) >= int(block.fields[-1][0]):
            block.add(words, index)
        elif same < 0:
            block.torn.append(index)
        elif words or line.strip():
            found.append(block)
            torn = _torn_before(block, words)
            block = Rows([words], [index], torn) if words else Rows()
    return [one for one in (*found, block) if _is_sweep(one)]


def _taken(page: Page, used: Iterable[range]) -> bytearray:
    """Return 1 for each line that another reader has used, and for a line that is cut off."""
    taken = bytearray(len(page.lines))
    for lines in used:
        taken[lines.start : lines.stop] = b"\1" * len(taken[lines.start : lines.stop])
    if page.cut:
        taken[-1] = 1
    return taken


def _torn_before(block: Rows, words: Sequence[str]) -> list[int]:
    """Return the lines just above a row that contain fewer numbers, which are remains of rows."""
    if not words or not block.fields or _is_sweep(block) or _width(block) >= len(words):
        return []
    return [*block.torn, *block.lines][-_FEWEST:]


def _is_sweep(block: Rows) -> bool:
    if len(block.fields) < _FEWEST or _width(block) not in _WIDTHS:
        return False
    sizes = [int(words[0]) for words in block.fields]
    doubled = sum(later == max(1, 2 * one) for one, later in pairwise(sizes))
    return doubled >= 0.8 * (len(sizes) - 1)


def _near(value: float, true: float, step: float) -> bool:
    return abs(value - true) <= step + _AGREE * abs(true)


def _by_arithmetic(words: Sequence[str]) -> bool:
    """Return True if the words are size, repetitions, time in us, bandwidth and possibly rate, in
    this order.
    """
    size, repetitions, time, goodput, *rate = (float(word) for word in words)
    if time <= 0 or "." not in words[2] or "." not in words[3] or not repetitions.is_integer():
        return False
    hidden = size / time * (step_of(words[2]) / time) + step_of(words[3])
    if not any(_near(goodput * unit, size / time, hidden * unit) for unit in (1.0, _MEBI)):
        return False
    return not rate or _near(rate[0], 1e6 / time, 1 + 1e6 * step_of(words[2]) / time**2)


def _of_imb(block: Rows) -> bool:
    told = [words for words in block.fields if _width(block) >= 4 and float(words[0]) > 0]
    return len(told) >= _FEWEST - 1 and all(map(_by_arithmetic, told))


def _named(page: Page, block: Rows) -> Benchmark | None:
    """Return the test of the nearest command line above, if its rows have this width."""
    found = nearest_above(page, block.lines[0], _COMMAND, _ABOVE, lambda _: False)
    if found is None or _OTHER_UNIT.search(page.lines[block.lines[0] - 1]):
        return None
    from wireproof.logs.readers.osu.benchmarks import by_name

    test = by_name(found.group(1))
    rated = test is not None and test.metric == "message_rate"
    return test if _width(block) == (3 if rated else 2) else None


def _step_bytes(block: Rows) -> float:
    """Return the bytes of the table's MB/s: 10^6, or 2^20 as IMB before 2018 prints; the slowest
    row distinguishes them.
    """
    size, _, time, goodput = (float(word) for word in block.fields[-1][:4])
    return min((1e6, 2.0**20), key=lambda unit: abs(goodput * unit - size / time * 1e6))


def _imb_point(words: Sequence[str], line: int, step: float) -> SeriesPoint:
    time, goodput, rate = float(words[2]), float(words[3]), words[4:5]
    return SeriesPoint(
        message_bytes=int(words[0]),
        hrt_ns=time * 1e3,
        goodput_bytes_per_s=goodput * step or None,
        goodput_step=step_of(words[3]) * step,
        messages_per_s=float(rate[0]) if rate else None,
        iterations=int(float(words[1])),
        time_step_ns=step_of(words[2]) * 1e3,
        line=line + 1,
    )


def _osu_point(test: Benchmark, words: Sequence[str], line: int) -> SeriesPoint:
    value, step = float(words[1]), step_of(words[1])
    timed = test.metric in ("half_round_trip", "latency")
    rates = words[2:3]
    return SeriesPoint(
        message_bytes=int(words[0]),
        hrt_ns=value * 1e3 if timed and test.half_round_trip else None,
        time_ns=value * 1e3 if timed and not test.half_round_trip else None,
        goodput_bytes_per_s=None if timed else value * 1e6,
        messages_per_s=float(rates[0]) if rates else None,
        time_step_ns=step * 1e3 if timed else 0.0,
        goodput_step=0.0 if timed else step * 1e6,
        line=line + 1,
    )


def _series(block: Rows, tool: str, test: Benchmark, how: str) -> Series:
    step = _step_bytes(block) if tool == "imb" else 1e6
    points = [
        _imb_point(words, line, step) if tool == "imb" else _osu_point(test, words, line)
        for words, line in block
    ]
    torn = f"line {block.torn[0] + 1}: {counted(len(block.torn), 'row')} torn" if block.torn else ""
    return test.series(
        tool,
        points,
        unit=f"us; MB = {'10^6' if step == 1e6 else '2^20'} bytes",
        incomplete=torn,
        first_line=block.lines[0] + 1,
        last_line=block.last_line,
        notes=[how],
    )


def _unread(block: Rows) -> Series:
    first = block.lines[0] + 1
    return Benchmark("unknown", "other", "other", "not known: no heading").series(
        "table",
        [],
        unit="",
        incomplete=(
            f"line {first}: {counted(len(block.fields), 'row')} of {_width(block)} columns without"
            " a heading: the text does not show which program printed them, or in which unit"
        ),
        first_line=first,
        last_line=block.last_line,
    )


def headless(page: Page, found: Sequence[Series]) -> list[Series]:
    """Return the sweeps of a page that have no tool's heading above them; ``found``: the series
    that have one.
    """
    used = [range(one.first_line - 1, one.last_line) for one in found]
    read = []
    for block in _blocks(page, used):
        test = _named(page, block)
        if _of_imb(block):
            how = "no heading: the columns follow from their arithmetic"
            read.append(_series(block, "imb", _OF_IMB, how))
        elif test is not None:
            how = (
                "no heading: the command line above contains the program, which determines the unit"
            )
            read.append(_series(block, "osu", test, how))
        else:
            read.append(_unread(block))
    return read
