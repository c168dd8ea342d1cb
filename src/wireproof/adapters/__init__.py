"""Adapters: they read the output of other benchmarks into Series, and build these benchmarks'
command lines. No processes, no files.

``registry`` defines adapters and lists the tools. ``read`` finds every result in a log, whichever
tool printed it: a file may contain several tools, banners and other output. Each tool has a module,
or a folder with its ``benchmarks`` (what each measures) and other modules. They share ``page`` (a
log as plain lines), ``rows`` (tables of numbers), ``documents`` (JSON) and ``options`` (command
lines). ``table`` reads a bare table without a tool's heading, ``headless`` rows without any
heading, ``context`` the software and the launch around a result.
"""

import re
from collections.abc import Iterator

import msgspec

from wireproof.adapters.context import with_context
from wireproof.adapters.headless import headless
from wireproof.adapters.page import Page, pages_of, without_commas
from wireproof.adapters.registry import Adapter, adapter, adapter_names, tool_of
from wireproof.adapters.table import tables
from wireproof.model.errors import BadInput, NoResult
from wireproof.model.quantity import counted
from wireproof.model.series import Series, SeriesPoint

__all__ = ["adapter", "adapter_names", "read"]


_MOST_LINES = 500_000
_MOST_SERIES = 20_000
_SPLIT = "cut out the part that holds the results, or split it into several files"
"""With both limits and one on the size, a log needs less than 1 GiB of memory."""
_FEWEST = 3  # sizes that rise before they begin again
# Tools that print their sizes several times under one heading, for each run or pair.
_REPEATING = ("nccl_tests", "mpigraph", "iperf3", "hpcc", "sockperf", "qperf")
_LINE = re.compile(r"\bline (\d{1,9})\b")


def _heads(page: Page) -> Iterator[tuple[int, Adapter]]:
    """Yield (line index, tool) of every line with a sign. Most lines are rows of numbers and need
    no search.
    """
    for index, line in enumerate(page.lines):
        if line and not line.replace(" ", "").replace(".", "").isdigit():
            tool = tool_of(line)
            if tool is not None:
                yield index, tool


def _honest(one: Series) -> Series:
    """Mark a table without points as incomplete."""
    if one.points or not one.complete:
        return one
    return msgspec.structs.replace(
        one, complete=False, incomplete=one.incomplete or "no row could be read"
    )


def _runs(one: Series) -> list[Series]:
    """Return the series, or only its first run if the sizes start again without a heading."""
    if one.tool in _REPEATING:
        return [one]
    points = sorted(one.points, key=lambda point: point.line)
    sizes = [point.message_bytes for point in points]
    rises = next((at for at in range(1, len(sizes)) if sizes[at] < sizes[at - 1]), len(sizes))
    if rises < _FEWEST or rises == len(sizes) or sizes[rises] > sizes[1]:
        return [one]
    first, rest = points[:rises], points[rises:]
    if len(set(sizes[:rises])) < _FEWEST:
        return [one]
    text = (
        f"line {rest[0].line}: the sizes start again without a heading: it is not known which"
        f" run and test the {counted(len(rest), 'row')} from there on belong to"
    )
    replaced = msgspec.structs.replace
    return [
        replaced(one, points=_by_size(first), last_line=first[-1].line),
        replaced(
            one,
            benchmark=f"{one.benchmark} (no heading)",
            traffic="other",
            points=_by_size(rest),
            complete=False,
            incomplete=text,
            first_line=rest[0].line,
        ),
    ]


def _by_size(points: list[SeriesPoint]) -> list[SeriesPoint]:
    return sorted(points, key=lambda point: point.message_bytes)


def _found(page: Page, source: str) -> list[Series]:
    found: list[Series] = []
    after, plain = 0, None
    for index, tool in _heads(page):
        if index >= after:
            if tool.csv and plain is None:
                plain = without_commas(page)
            parsed = tool.parse(plain if tool.csv and plain is not None else page, index)
            after = max(parsed.after, index + 1)
            found += [_honest(part) for one in parsed.series for part in _runs(one)]
            if len(found) > _MOST_SERIES:
                raise BadInput(f"{source}: more than {_MOST_SERIES} results in one log: {_SPLIT}.")
    return found


def read(data: bytes, source: str) -> list[Series]:
    """Return every series in a log, in printed order. Raise BadInput if it is empty, binary, or has
    none.

    ``source`` is the name used in errors and series.
    """
    if not data.strip():
        raise BadInput(f"{source}: the file is empty.")
    if data.count(b"\n") + data.count(b"\r") > _MOST_LINES:
        raise BadInput(f"{source}: more than {_MOST_LINES} lines in one log: {_SPLIT}.")
    pages = pages_of(data, source)
    found = [one for page in pages for one in _of_page(page, data, source)]
    if not found:
        known = ", ".join(adapter_names())
        raise NoResult(
            f"{source}: no result of a known benchmark is in it"
            f" ({sum(len(page.lines) for page in pages)} lines); known: {known}; a table"
            " of pairs is for `wireproof locate`."
        )
    return sorted(found, key=lambda one: one.first_line) if len(pages) > 1 else found


def _of_page(page: Page, data: bytes, source: str) -> list[Series]:
    found = _found(page, source) or [part for one in tables(page) for part in _runs(one)]
    rest = headless(page, found)
    if rest:
        found = sorted([*found, *rest], key=lambda one: one.first_line)
    found = with_context(found, page, data)
    return [_placed(one, page) for one in found] if page.indexes else found


def _placed(one: Series, page: Page) -> Series:
    """Return the series with the line numbers of the whole log, which has several labels, and with
    the label.
    """

    def line(number: int) -> int:
        return page.indexes[number - 1] + 1 if 0 < number <= len(page.indexes) else number

    def said(text: str) -> str:
        return _LINE.sub(lambda match: f"line {line(int(match.group(1)))}", text)

    points = [msgspec.structs.replace(point, line=line(point.line)) for point in one.points]
    return msgspec.structs.replace(
        one,
        points=points,
        first_line=line(one.first_line),
        last_line=line(one.last_line),
        incomplete=said(one.incomplete),
        notes=[*map(said, one.notes), *([f"printed by {page.label}"] if page.label else [])],
    )
