"""Expand sets of names as schedulers write them (``tux[0-3,12]``, ``rack[1-2]n[01-36]``); they are
counted before they are expanded.
"""

import itertools
import math
import re
from collections.abc import Iterator

from wireproof.model.errors import BadInput

MOST_NAMES = 200_000
"""More nodes or switches than any machine has. A larger set is a typing error (``n[0-9999999]``)
and is refused before it is expanded.
"""
_ITEM = re.compile(r"[^\s\[\],]*(?:\[[0-9,-]{1,20000}\][^\s\[\],]*){0,4}")
_PART = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")


def short(text: str, most: int = 60) -> str:
    """Return the beginning of ``text`` for an error message, with unprintable characters
    escaped.
    """
    return ascii(text[:most])[1:-1] + ("..." if len(text) > most else "")


def _items(text: str, where: str) -> Iterator[str]:
    """Split at commas outside brackets."""
    depth = start = 0
    for index, letter in enumerate(text):
        if letter == "[":
            depth += 1
        elif letter == "]":
            depth -= 1
        if depth not in (0, 1):
            raise BadInput(
                f"{where}: the brackets of {short(text)} do not match; write sets like n[1-4,7]."
            )
        if letter == "," and depth == 0:
            yield text[start:index]
            start = index + 1
    if depth:
        raise BadInput(
            f"{where}: the brackets of {short(text)} do not match; write sets like n[1-4,7]."
        )
    yield text[start:]


def _ranges(item: str, where: str) -> list[list[tuple[str, int]]]:
    """Return (first number as written, count) for each part of each bracket."""
    brackets: list[list[tuple[str, int]]] = []
    for inside in re.findall(r"\[([^\]]*)\]", item):
        parts: list[tuple[str, int]] = []
        for part in inside.split(","):
            parsed = _PART.fullmatch(part)
            if parsed is None or int(parsed.group(2) or parsed.group(1)) < int(parsed.group(1)):
                raise BadInput(
                    f"{where}: {short(item)} is not a set of names; write sets like n[1-4,7]."
                )
            parts.append(
                (
                    parsed.group(1),
                    int(parsed.group(2) or parsed.group(1)) - int(parsed.group(1)) + 1,
                )
            )
        brackets.append(parts)
    return brackets


def expand(text: str, where: str) -> list[str]:
    """Return the names of ``text`` in order, without repeats. Raise BadInput, starting with
    ``where``, if it is not a set of names.
    """
    total = 0
    planned: list[tuple[str, list[list[tuple[str, int]]]]] = []
    for item in filter(None, map(str.strip, _items(text.strip(), where))):
        if _ITEM.fullmatch(item) is None or len(item) > 40_000 or not item.isprintable():
            raise BadInput(
                f"{where}: {short(item)} is not a set of names; write sets like n[1-4,7]."
            )
        brackets = _ranges(item, where)
        total += math.prod(sum(count for _, count in parts) for parts in brackets)
        if total > MOST_NAMES:
            raise BadInput(
                f"{where}: {short(text)} expands to more than {MOST_NAMES} names; give a smaller"
                " set."
            )
        planned.append((item, brackets))
    names = (name for item, brackets in planned for name in _written(item, brackets))
    return list(dict.fromkeys(names))


def _written(item: str, brackets: list[list[tuple[str, int]]]) -> Iterator[str]:
    """Yield every name of one item; numbers keep the width of the first number of their range."""
    between = re.split(r"\[[^\]]*\]", item)
    numbers = [
        [f"{int(first) + step:0{len(first)}d}" for first, count in parts for step in range(count)]
        for parts in brackets
    ]
    for chosen in itertools.product(*numbers):
        yield between[0] + "".join(
            number + text for number, text in zip(chosen, between[1:], strict=True)
        )
