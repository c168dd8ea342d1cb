"""Finds every result in a log, whoever printed it: one file may hold several tools, banners and
noise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from wireproof.adapters.adapter import Adapter
from wireproof.adapters.bypass import with_bypass
from wireproof.adapters.headless import headless
from wireproof.adapters.page import Page, pages_of, without_commas
from wireproof.adapters.registry import adapter_names, tool_of
from wireproof.adapters.software import with_software
from wireproof.adapters.table import tables
from wireproof.model.errors import BadInput, NoResult
from wireproof.model.quantity import counted
from wireproof.model.series import Series, SeriesPoint

__all__ = ["read"]

_FEWEST = 3  # sizes that rise before they begin again
# Tools that print their sizes again below one heading, run after run or pair after pair.
_REPEATING = ("nccl_tests", "mpigraph", "iperf3", "hpcc", "sockperf", "qperf")
_LINE = re.compile(r"\bline (\d{1,9})\b")


def _heads(page: Page) -> Iterator[tuple[int, Adapter]]:
    """(line index, tool) of every line with a sign. Most lines are rows of nothing but numbers, and
    need no search.
    """
    for index, line in enumerate(page.lines):
        if line and not line.replace(" ", "").replace(".", "").isdigit():
            tool = tool_of(line)
            if tool is not None:
                yield index, tool


def _honest(one: Series) -> Series:
    """A table without a point is not complete, whatever its reader thinks."""
    if one.points or not one.complete:
        return one
    return msgspec.structs.replace(
        one, complete=False, incomplete=one.incomplete or "no row could be read"
    )


def _runs(one: Series) -> list[Series]:
    """The series; or the first run, and the rows below it whose sizes begin again without a
    heading.
    """
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
        f"line {rest[0].line}: the sizes begin again without a heading: of which run and test"
        f" the {counted(len(rest), 'row')} from there on are is not known"
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


def _found(page: Page) -> list[Series]:
    found: list[Series] = []
    after, plain = 0, None
    for index, tool in _heads(page):
        if index >= after:
            if tool.csv and plain is None:
                plain = without_commas(page)
            parsed = tool.parse(plain if tool.csv and plain is not None else page, index)
            after = max(parsed.after, index + 1)
            found += [_honest(part) for one in parsed.series for part in _runs(one)]
    return found


def read(data: bytes, source: str) -> list[Series]:
    """Every series in a log, in the order printed. Raises BadInput when it is empty, binary, or
    holds none.

    ``source`` is the name that errors and series carry.
    """
    if not data.strip():
        raise BadInput(f"{source}: the file is empty.")
    pages = pages_of(data, source)
    found = [one for page in pages for one in _of_page(page, data)]
    if not found:
        known = ", ".join(adapter_names())
        raise NoResult(
            f"{source}: no result of a known benchmark is in it"
            f" ({sum(len(page.lines) for page in pages)} lines); known: {known}."
        )
    return sorted(found, key=lambda one: one.first_line) if len(pages) > 1 else found


def _of_page(page: Page, data: bytes) -> list[Series]:
    found = _found(page) or [part for one in tables(page) for part in _runs(one)]
    rest = headless(page, found)
    if rest:
        found = sorted([*found, *rest], key=lambda one: one.first_line)
    found = with_software(with_bypass(found, page, data), page, data)
    return [_placed(one, page) for one in found] if page.indexes else found


def _placed(one: Series, page: Page) -> Series:
    """The series with the line numbers of the log that holds several labels, and the label."""

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
