"""Finds every result in a log, whoever printed it: one file may hold several tools, banners and
noise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module

import msgspec

from wireproof.adapters.adapter import Adapter
from wireproof.adapters.bypass import with_bypass
from wireproof.adapters.page import Page, page_of
from wireproof.adapters.table import tables
from wireproof.model.errors import BadInput
from wireproof.model.series import Series

__all__ = ["MODULES", "adapter", "adapter_names", "read", "starts_result"]

# One line per tool; the module's ADAPTER is loaded when a log is read.
MODULES: tuple[str, ...] = (
    "osu",
    "perftest",
    "iperf3",
    "qperf",
    "sockperf",
    "imb",
    "hpcc",
    "fi_pingpong",
    "fabtests",
    "mpigraph",
    "ucx_perftest",
    "nccl_tests",
)

_SIGN_WITHIN = 4096
"""A sign stands in the first characters of its line; only JSON without line breaks has longer
lines.
"""


@cache
def _adapters() -> tuple[Adapter, ...]:
    return tuple(import_module(f"wireproof.adapters.{name}").ADAPTER for name in MODULES)


@cache
def _signs() -> tuple[tuple[str, int, Callable[[str], re.Match[str] | None]], ...]:
    """(word, tool, search) of every sign of every tool."""
    tools = enumerate(_adapters())
    return tuple(
        (sign.word, tool, re.compile(sign.pattern).search)
        for tool, one in tools
        for sign in one.signs
    )


def _tool_of(line: str) -> int | None:
    """The tool whose sign is in the line, the leftmost if there are several; None without."""
    found, at = None, len(line) + 1
    for word, tool, search in _signs():
        if word in line and (match := search(line)) is not None and match.start() < at:
            found, at = tool, match.start()
    return found


def starts_result(line: str) -> bool:
    """True when some tool's result may start on this line."""
    return _tool_of(line[:_SIGN_WITHIN]) is not None


def _heads(page: Page) -> Iterator[tuple[int, int]]:
    """(line index, tool) of every line with a sign. Most lines are rows of nothing but numbers, and
    need no search.
    """
    for index, line in enumerate(page.lines):
        if line and not line.replace(" ", "").replace(".", "").isdigit():
            tool = _tool_of(line[:_SIGN_WITHIN])
            if tool is not None:
                yield index, tool


def _honest(one: Series) -> Series:
    """A table without a point is not complete, whatever its reader thinks."""
    if one.points or not one.complete:
        return one
    return msgspec.structs.replace(
        one, complete=False, incomplete=one.incomplete or "no row could be read"
    )


def _found(page: Page) -> list[Series]:
    found: list[Series] = []
    after = 0
    for index, tool in _heads(page):
        if index >= after:
            parsed = _adapters()[tool].parse(page, index)
            after = max(parsed.after, index + 1)
            found += [_honest(one) for one in parsed.series]
    return found


def read(data: bytes, source: str) -> list[Series]:
    """Every series in a log, in the order printed. Raises BadInput when it is empty, binary, or
    holds none.

    ``source`` is the name that errors and series carry.
    """
    if not data.strip():
        raise BadInput(f"{source}: the file is empty.")
    page = page_of(data, source)
    found = _found(page) or tables(page)
    if not found:
        known = ", ".join(adapter_names())
        raise BadInput(
            f"{source}: no result of a known benchmark is in it ({len(page.lines)} lines); known: {known}."
        )
    return with_bypass(found, page, data)


def adapter_names() -> tuple[str, ...]:
    """The names of the tools that are understood."""
    return tuple(one.name for one in _adapters())


def adapter(name: str) -> Adapter:
    """The adapter of a tool. Raises BadInput with the known names."""
    for one in _adapters():
        if one.name == name:
            return one
    raise BadInput(f"no adapter for {name!r}: there are {', '.join(adapter_names())}.")
