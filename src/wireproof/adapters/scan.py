"""Finds every result in a log, whoever printed it: one file may hold several tools, banners and noise."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module

from wireproof.adapters.adapter import Adapter
from wireproof.adapters.page import Page, page_of
from wireproof.adapters.table import tables
from wireproof.model.errors import BadInput
from wireproof.model.series import Series

__all__ = ["MODULES", "adapter", "adapter_names", "read", "starts_result"]

# One line per tool; the module's ADAPTER is loaded when a log is read.
MODULES: tuple[str, ...] = (
    "osu",
    "perftest",
    "imb",
    "hpcc",
    "fi_pingpong",
    "fabtests",
    "mpigraph",
    "ucx_perftest",
    "nccl_tests",
)  # fmt: skip


@cache
def _adapters() -> tuple[Adapter, ...]:
    return tuple(import_module(f"wireproof.adapters.{name}").ADAPTER for name in MODULES)


@cache
def _signs() -> re.Pattern[str]:
    """One pattern with a group per tool, tried on every line of every log."""
    groups = (f"(?P<t{i}>{'|'.join(one.signs)})" for i, one in enumerate(_adapters()))
    return re.compile("|".join(groups))


def starts_result(line: str) -> bool:
    """True when some tool's result may start on this line."""
    return _signs().search(line) is not None


def _heads(page: Page) -> list[tuple[int, int]]:
    """(line index, tool) of every line with a sign."""
    search = _signs().search
    found = []
    for index, line in enumerate(page.lines):
        match = search(line)
        if match is not None and match.lastgroup is not None:
            found.append((index, int(match.lastgroup[1:])))
    return found


def read(data: bytes, source: str) -> list[Series]:
    """Every series in a log, in the order printed. Raises BadInput when it is empty, binary, or holds none.

    ``source`` is the name that errors and series carry.
    """
    if not data.strip():
        raise BadInput(f"{source}: the file is empty.")
    page = page_of(data, source)
    found: list[Series] = []
    after = 0
    for index, tool in _heads(page):
        if index < after:
            continue
        parsed = _adapters()[tool].parse(page, index)
        after = max(parsed.after, index + 1)
        found += parsed.series
    if not found:
        found = tables(page)
    if not found:
        known = ", ".join(adapter_names())
        raise BadInput(f"{source}: no result of a known benchmark is in it ({len(page.lines)} lines); known: {known}.")
    return found


def adapter_names() -> tuple[str, ...]:
    """The names of the tools that are understood."""
    return tuple(one.name for one in _adapters())


def adapter(name: str) -> Adapter:
    """The adapter of a tool. Raises BadInput with the known names."""
    for one in _adapters():
        if one.name == name:
            return one
    raise BadInput(f"no adapter for {name!r}: there are {', '.join(adapter_names())}.")
