"""Finds every result in a log, whoever printed it: one file may hold several tools, banners and
noise.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from wireproof.adapters.adapter import Adapter
from wireproof.adapters.bypass import with_bypass
from wireproof.adapters.page import Page, page_of
from wireproof.adapters.registry import adapter_names, tool_of
from wireproof.adapters.table import tables
from wireproof.model.errors import BadInput, NoResult
from wireproof.model.series import Series

__all__ = ["read"]


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


def _found(page: Page) -> list[Series]:
    found: list[Series] = []
    after = 0
    for index, tool in _heads(page):
        if index >= after:
            parsed = tool.parse(page, index)
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
        raise NoResult(
            f"{source}: no result of a known benchmark is in it ({len(page.lines)} lines); known: "
            f"{known}."
        )
    return with_bypass(found, page, data)
