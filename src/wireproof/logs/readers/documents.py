# pure
"""A JSON document inside a log: found by its first key, read to its closing brace, and rejected if
it is cut off.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from wireproof.logs.readers.page import Page
from wireproof.logs.readers.rows import printable

# for a line without escapes: linear time, even if a quote is never closed
_STRINGS = re.compile(r'"[^"]*"')
_MARKS = re.compile(r'"[^"]*"|[{}]')
_NAN = re.compile(r"(?<=[:,\[ ])[-+]?(?:nan|inf)(?:inity)?\b", re.IGNORECASE)
_BARE_KEY = re.compile(r"(?m)^ *(\w{1,40}) ?:")
_NESTS = re.compile(r'"\w{1,60}" ?: ?\{ *$')  # a document that contains another as a member
_DEEPEST = 40
_LONGEST = 1 << 26  # characters of one document
_MOST_AMOUNT = 1e18
_LEAST_AMOUNT = 1e-15
_WORDS = 80


@dataclass(frozen=True, slots=True)
class JsonText:
    """``value`` is None if the document is cut off or not JSON, for the reason in ``why``.
    ``after``: index of the first unused line.
    """

    value: dict[str, Any] | None
    after: int
    why: str = ""


def _loaded(source: str, first: int, after: int) -> JsonText:
    for words in (
        source,
        _BARE_KEY.sub(r'"\1":', _NAN.sub("null", source)),
    ):  # printed by hand: nan, keys without quotes
        try:
            value = json.loads(words, parse_constant=lambda _: None)
        except (ValueError, RecursionError):
            continue
        return JsonText(value if isinstance(value, dict) else None, after)
    return JsonText(None, after, f"line {first + 1}: the document is not JSON")


def document_at(page: Page, start: int, key: re.Pattern[str]) -> JsonText:
    """Return the object whose first member ``key`` finds on line index ``start``; its opening brace
    may be on a previous line.

    The document ends where its braces balance. If the key occurs before that, other than as a
    nested member, another document begins and this one is cut off.
    """
    first = key.search(page.lines[start])
    if first is None:
        return JsonText(None, start + 1, "")
    at = page.lines[start].index('"', first.start())
    parts, depth, length = ["{"], 1, 0
    for index in range(start, len(page.lines)):
        line = page.lines[index][at:] if index == start else page.lines[index]
        if index > start and key.search(line) and not _NESTS.search(page.lines[index - 1]):
            return JsonText(
                None, index, f"line {index}: the document is cut off, and another begins"
            )
        plain = _STRINGS.sub("", _unescaped(line)) if '"' in line else line
        opened, closed = plain.count("{"), plain.count("}")
        if closed >= depth:
            end = _closing(line, depth)
            if end >= 0:
                return _loaded("\n".join((*parts, line[:end])), start, index + 1)
        depth += opened - closed
        length += len(line)
        if depth > _DEEPEST or length > _LONGEST:
            return JsonText(
                None, index + 1, f"line {index + 1}: the document is too deep or too long"
            )
        parts.append(line)
    return JsonText(
        None, len(page.lines), f"line {len(page.lines)}: the text ends inside a document"
    )


def _unescaped(line: str) -> str:
    """Return the line with escaped quotes replaced, at the same length."""
    return line.replace("\\\\", "__").replace('\\"', "__") if "\\" in line else line


def _closing(line: str, depth: int) -> int:
    """Return the position after the brace that closes the document; -1 if it stays open."""
    for mark in _MARKS.finditer(_unescaped(line)):
        depth += (mark.group() == "{") - (mark.group() == "}")
        if depth == 0:
            return mark.end()
    return -1


def member(value: object, *path: str) -> dict[str, Any]:
    """Return the object at ``path``; {} if there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """Return a list's items; [] for anything else."""
    return value if isinstance(value, list) else []


def amount(value: object) -> float | None:
    """Return a number >= 0 that a benchmark may print; None for anything else (a string, nan,
    negative, 1e300).
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if value == 0 or _LEAST_AMOUNT < value < _MOST_AMOUNT else None


def text(value: object) -> str:
    """Return a foreign string as one short printable line; "" if it is not a string."""
    if not isinstance(value, str):
        return ""
    return printable(value[: 4 * _WORDS])[:_WORDS]
