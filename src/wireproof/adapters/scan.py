"""Finds every result in a log, whoever printed it: one file may hold several tools, banners and noise."""

from __future__ import annotations

from collections.abc import Iterator
from contextvars import ContextVar
from functools import cache
from importlib import import_module

import msgspec

from wireproof.adapters.adapter import Adapter
from wireproof.adapters.page import Page, page_of
from wireproof.adapters.signs import Sign, signs_of, tool_of
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
)  # fmt: skip

_SIGN_WITHIN = 4096
"""A sign stands in the first characters of its line; only JSON without line breaks has longer lines."""

_PIECE_LINES = 20_000


@cache
def _adapters() -> tuple[Adapter, ...]:
    return tuple(import_module(f"wireproof.adapters.{name}").ADAPTER for name in MODULES)


@cache
def _signs() -> tuple[Sign, ...]:
    return tuple(signs_of(one.signs for one in _adapters()))


# The signs that can be in the page being read: the others' words are nowhere in it.
_possible: ContextVar[tuple[Sign, ...] | None] = ContextVar("possible signs", default=None)


def _now() -> tuple[Sign, ...]:
    possible = _possible.get()
    return _signs() if possible is None else possible


def starts_result(line: str) -> bool:
    """True when some tool's result may start on this line."""
    return tool_of(line[:_SIGN_WITHIN], _now()) is not None


def _heads(page: Page) -> Iterator[tuple[int, int]]:
    """(line index, tool) of every line with a sign."""
    signs = _now()
    for index, line in enumerate(page.lines):
        tool = tool_of(line[:_SIGN_WITHIN], signs) if line else None
        if tool is not None:
            yield index, tool


def _honest(one: Series) -> Series:
    """A table without a point is not complete, whatever its reader thinks."""
    if one.points or not one.complete:
        return one
    return msgspec.structs.replace(one, complete=False, incomplete=one.incomplete or "no row could be read")


def _possible_in(page: Page) -> tuple[Sign, ...]:
    """The signs whose words are in the page; its lines are joined piece by piece, so that no second copy is held."""
    open_signs, kept = [sign for sign in _signs() if sign.needle], {id(sign) for sign in _signs() if not sign.needle}
    for begin in range(0, len(page.lines), _PIECE_LINES):
        piece = "\n".join(page.lines[begin : begin + _PIECE_LINES])
        kept |= {id(sign) for sign in open_signs if sign.needle in piece}
        open_signs = [sign for sign in open_signs if id(sign) not in kept]
    return tuple(sign for sign in _signs() if id(sign) in kept)


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
    """Every series in a log, in the order printed. Raises BadInput when it is empty, binary, or holds none.

    ``source`` is the name that errors and series carry.
    """
    if not data.strip():
        raise BadInput(f"{source}: the file is empty.")
    page = page_of(data, source)
    token = _possible.set(_possible_in(page))
    try:
        found = _found(page)
    finally:
        _possible.reset(token)
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
