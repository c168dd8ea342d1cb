"""What one client of sockperf printed, line by line."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from wireproof.adapters.page import Page
from wireproof.adapters.registry import starts_result
from wireproof.adapters.rows import PATIENCE

__all__ = ["NAMES", "Run", "collect"]

_BEGIN = re.compile(r"sockperf: == version #?([\w.-]{1,40})")
_HEAD = re.compile(
    r"sockperf: (?:== version|\[Total Run\] RunTime=|Total of \d{1,18} messages sent)"
)
_LINE = re.compile(r"sockperf(?:\[CLIENT\])?: ?(.{0,300})")
_COMMAND = re.compile(
    r"(?:^|[\s/$])sockperf\s{1,4}(ping-pong|pp|under-load|ul|throughput|tp|playback"
    r"|pb)\b([^\n]{0,300})"
)
_SIZE = re.compile(r"(?:^|\s)(?:-m|--msg-size)[ =]?(\d{1,9})\b|msg-size=(\d{1,9})")
NAMES = {"pp": "ping-pong", "ul": "under-load", "tp": "throughput", "pb": "playback"}
_AVERAGE = re.compile(
    r"Summary: (Latency|Round trip) (?:of burst of (\d{1,9}) messages )?is (\d{1,12}\.\d{1,9}) usec"
)
_SPREAD = re.compile(r"====> avg-\w{1,10}=[\d.]{1,20} \(([^)]{1,300})\)")
_SPREAD_FIELD = re.compile(r"(std-dev|mean-ad|median-ad|siqr|std-error)=(\d{1,12}\.\d{1,9})")
_PERCENTILE = re.compile(r"---> percentile +(\d{1,3}\.\d{1,5}) = +(\d{1,12}\.\d{3})$")
_EXTREME = re.compile(r"---> <?(MAX|MIN)>? observation = +(\d{1,12}\.\d{3})$")
_TOTAL = re.compile(r"Total (\d{1,15}) observations;")
_DROPPED = re.compile(
    r"# dropped messages = (\d{1,15}); # duplicated messages = (\d{1,15}); # out-of-order "
    r"messages = (\d{1,15})"
)
_COUNTS = re.compile(
    r"\[Total Run\] RunTime=[\d.]{1,20} sec;.{0,60} SentMessages=(\d{1,18}); "
    r"ReceivedMessages=(\d{1,18})"
)
_RATE = re.compile(r"Summary: Message Rate is (\d{1,15}) \[msg/sec\]")
_BAND = re.compile(
    r"Summary: BandWidth is (\d{1,12}\.\d{1,9}) ([MG])Bps \(\d{1,12}\.\d{1,9} [MG]bps\)"
)
_PEER = re.compile(r"\[ *\d{1,6}\] IP = (\S{1,60}) +PORT = +\d{1,5} # (TCP|UDP)")
_TROUBLE = re.compile(r"(?:ERROR|No messages were|Test end before|errno)[^\n]{0,120}")
_BEFORE = 12
Protocol = Literal["", "tcp", "udp"]


@dataclass(slots=True)
class Run:
    """What one client printed."""

    version: str = ""
    command: str = ""
    size: int | None = None
    protocol: Protocol = ""
    hosts: list[str] = field(default_factory=list)
    average: tuple[str, str, str] | None = None
    rate: int | None = None
    band: tuple[str, str] | None = None
    percentiles: dict[str, float] = field(default_factory=dict)
    extremes: dict[str, float] = field(default_factory=dict)
    observations: int | None = None
    values: dict[str, float] = field(default_factory=dict)
    trouble: str = ""
    answered: bool = False
    server: bool = False
    last: int = 0
    after: int = 0


def _take_average(run: Run, found: re.Match[str]) -> None:
    run.average = (found.group(1), found.group(2) or "1", found.group(3))


def _take_rate(run: Run, found: re.Match[str]) -> None:
    run.rate = int(found.group(1))


def _take_band(run: Run, found: re.Match[str]) -> None:
    run.band = (found.group(1), found.group(2))


def _take_percentile(run: Run, found: re.Match[str]) -> None:
    run.percentiles[f"p{float(found.group(1)):g}"] = float(found.group(2))


def _take_extreme(run: Run, found: re.Match[str]) -> None:
    run.extremes[found.group(1)] = float(found.group(2))


def _take_total(run: Run, found: re.Match[str]) -> None:
    run.observations = int(found.group(1))


def _take_dropped(run: Run, found: re.Match[str]) -> None:
    names = ("dropped", "duplicated", "out_of_order")
    run.values |= dict(zip(names, map(float, found.groups()), strict=True))


def _take_spread(run: Run, found: re.Match[str]) -> None:
    for name, value in _SPREAD_FIELD.findall(found.group(1)):
        run.values[f"{name.replace('-', '_')}_ns"] = float(value) * 1e3


def _take_counts(run: Run, found: re.Match[str]) -> None:
    run.answered = 0 <= int(found.group(1)) - int(found.group(2)) <= 1


def _take_trouble(run: Run, found: re.Match[str]) -> None:
    run.trouble = "".join(char for char in found.group(0) if char.isprintable())


_Handlers = tuple[tuple[re.Pattern[str], Callable[[Run, re.Match[str]], None]], ...]
_STATISTICS: _Handlers = (
    (_PERCENTILE, _take_percentile),
    (_EXTREME, _take_extreme),
    (_TOTAL, _take_total),
    (_DROPPED, _take_dropped),
    (_SPREAD, _take_spread),
    (_COUNTS, _take_counts),
)
"""Of these the first that fits takes the line."""
_SUMMARIES: _Handlers = (
    (_AVERAGE, _take_average),
    (_RATE, _take_rate),
    (_BAND, _take_band),
    (_TROUBLE, _take_trouble),
)


def _take(run: Run, said: str) -> None:
    for pattern, handle in _STATISTICS:
        found = pattern.search(said)
        if found is not None:
            handle(run, found)
            break
    for pattern, handle in _SUMMARIES:
        found = pattern.search(said)
        if found is not None:
            handle(run, found)
    if run.size is None and "msg-size=" in said and "NOTE: test was performed" in said:
        size = _SIZE.search(said)
        run.size = int(size.group(2) or size.group(1)) if size else None
    run.server = run.server or "[SERVER]" in said


def _ask(run: Run, page: Page, start: int) -> None:
    """The nearest sockperf command above, if the log has it: the test's name and its message
    size.
    """
    for index in range(start - 1, max(-1, start - _BEFORE), -1):
        command = _COMMAND.search(page.lines[index])
        if command is not None:
            run.command = NAMES.get(command.group(1), command.group(1))
            size = _SIZE.search(command.group(2))
            run.size = int(size.group(1)) if size and size.group(1) else None
            return
        if "using the following parameters:" in page.lines[index]:  # the head of --full-log
            size = _SIZE.search(page.lines[index])
            run.size = int(size.group(1) or size.group(2)) if size else None
            return
        if _LINE.search(page.lines[index]):
            return


def _another(run: Run, line: str, own: bool) -> bool:
    """True when another result begins: a new version line, or a second summary."""
    if not own:
        return starts_result(line)
    done = run.average is not None or run.rate is not None
    begins = _HEAD.search(line) is not None or (
        run.average is not None and _AVERAGE.search(line) is not None
    )
    return _BEGIN.search(line) is not None or (begins and done)


def collect(page: Page, start: int) -> Run:
    run, idle = Run(last=start), 0
    version = _BEGIN.search(page.lines[start])
    run.version = version.group(1) if version else ""
    _ask(run, page, start)
    for index in range(start, len(page.lines)):
        line = page.lines[index]
        run.after = index
        match = _LINE.search(line)
        if index > start and _another(run, line, match is not None):
            return run
        if match is not None:
            _take(run, match.group(1))
            run.last, idle = index, 0
        elif not _take_peer(run, line) and line.strip():
            idle += 1
            if idle > PATIENCE:
                return run
    run.after = len(page.lines)
    return run


def _take_peer(run: Run, line: str) -> bool:
    """Notes the address that a line of sockperf's head names; False when it names none."""
    peer = _PEER.search(line)
    if peer is None:
        return False
    run.hosts = run.hosts or [peer.group(1)]
    run.protocol = "tcp" if peer.group(2) == "TCP" else "udp"
    return True
