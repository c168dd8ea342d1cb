"""limits.d: how much memory a user may lock; without it RDMA cannot register buffers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wireproof.lint.files.fragments import Fragment, WrittenLine, at, fragments
from wireproof.lint.files.nearest import nearest
from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.tables import listed

__all__ = ["check"]


TYPES = ("soft", "hard", "-")
UNLIMITED = ("unlimited", "infinity", "-1")
NO_COUNT = ("nice", "priority", "chroot", "nonewprivs", "rtprio")
# 1 GiB: a round number well above what one rank's endpoint pins (about 50 MiB under PSM3)
ENOUGH_KIB = 1 << 20


@dataclass(frozen=True, slots=True)
class LimitsLine:
    """One line's four columns."""

    line: WrittenLine
    domain: str
    type: str
    item: str
    value: str


def check(recipe: Recipe) -> Iterator[Broken]:
    """All that is wrong in the limits of ``recipe``."""
    for fragment in fragments(recipe, "limits"):
        limits = []
        for line in fragment.lines:
            columns = [] if "$" in line.text else line.text.split("#", 1)[0].split()
            if len(columns) == 2 and columns[1] == "-":
                continue  # "user -" lifts all limits
            if len(columns) == 4:
                limit = LimitsLine(line, *columns)
                limits.append(limit)
                yield from mistyped(limit)
                yield from low(limit)
            elif columns:
                yield from count(line, columns)
        yield from half(fragment, limits)


def count(line: WrittenLine, columns: list[str]) -> Iterator[Broken]:
    """Too few or too many columns; the fix adds what can only be one thing."""
    fixed = None
    if len(columns) == 3 and columns[1] in listed("limits"):
        fixed = f"{columns[0]} - {columns[1]} {columns[2]}"
    elif len(columns) == 3 and columns[0] in TYPES[:2]:
        fixed = f"* {' '.join(columns)}"
    elif (
        len(columns) == 5
        and columns[3].isdigit()
        and columns[4].lower().startswith(("k", "m", "g"))
    ):
        fixed = None  # "64 GB": how much it was to be is the reader's
    yield at("limits-columns", line, 0, f"{len(columns)} columns: {' '.join(columns)[:80]}", fixed)


def mistyped(limit: LimitsLine) -> Iterator[Broken]:
    """Each column's word."""
    for wrong, right in replacements(limit):
        text = limit.line.text
        position = text.index(wrong)
        fixed = text[:position] + right + text[position + len(wrong) :] if right else None
        yield at("limits-word", limit.line, position, wrong, fixed)


def replacements(limit: LimitsLine) -> Iterator[tuple[str, str]]:
    """(wrong word, right word) of each column; "" when it is not clear what was meant."""
    if limit.type not in TYPES:
        yield limit.type, nearest(limit.type.lower(), TYPES, 0.6) or ""
    if limit.item not in listed("limits"):
        plain = limit.item.lower().replace("_", "")
        yield limit.item, nearest(plain, listed("limits"), 0.7) or exact(limit.item)
    counted = limit.value not in UNLIMITED and limit.item not in NO_COUNT
    if counted and not re.fullmatch(r"-?[0-9]{1,18}", limit.value):
        yield limit.value, nearest(limit.value.lower(), UNLIMITED, 0.7) or kibibytes(limit)


def exact(item: str) -> str:
    """The item when only case or underscores differ."""
    bare = item.lower().replace("_", "")
    return bare if bare in listed("limits") else ""


def kibibytes(limit: LimitsLine) -> str:
    """``64G`` of an item that is counted in KiB."""
    size = re.fullmatch(r"([0-9]{1,9})([kKmMgG])[iI]?[bB]?", limit.value)
    if not size or limit.item not in ("memlock", "stack", "data", "rss", "as"):
        return ""
    return str(int(size.group(1)) * {"k": 1, "m": 1 << 10, "g": 1 << 20}[size.group(2).lower()])


def low(limit: LimitsLine) -> Iterator[Broken]:
    """A memlock that is a small number."""
    if (
        limit.item == "memlock"
        and limit.value.isascii()
        and limit.value.isdigit()
        and int(limit.value[:18]) < ENOUGH_KIB
    ):
        position = limit.line.text.index("memlock")
        position = limit.line.text.index(limit.value, position)
        fixed = (
            limit.line.text[:position]
            + "unlimited"
            + limit.line.text[position + len(limit.value) :]
        )
        yield at("limits-memlock-low", limit.line, position, f"{limit.value} KiB", fixed)


def half(fragment: Fragment, limits: list[LimitsLine]) -> Iterator[Broken]:
    """soft without hard or hard without soft, for one domain. Lines quoted alone say nothing of the
    rest.
    """
    if fragment.quoted:
        return
    types: dict[str, dict[str, LimitsLine]] = {}
    for limit in limits:
        if limit.item == "memlock":
            types.setdefault(limit.domain, {})[limit.type] = limit
    general = types.get("*", {})
    for domain, given in types.items():
        if len(given) == 1 and "-" not in given:
            (kind, limit), other = next(iter(given.items())), ""
            other = "hard" if kind == "soft" else "soft"
            if kind not in TYPES or "-" in general or other in general:
                continue
            added = f"{domain} {other} memlock {limit.value}"
            seen = f"{domain}: {kind} without {other}"
            yield at("limits-memlock-half", limit.line, 0, seen, f"{limit.line.text}\n{added}")
