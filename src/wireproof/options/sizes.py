"""Parse message sizes as people write them. MB = 10^6, MiB = 2^20."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from fractions import Fraction
from typing import TypeVar

from wireproof.model import quantity
from wireproof.model.errors import BadInput

_Unit = TypeVar("_Unit")


def matched(form: re.Pattern[str], text: str, why: str) -> re.Match[str]:
    """Return the match of a text, without the spaces around it. Raise ``BadInput`` with ``why`` if
    it has another form.
    """
    parts = form.fullmatch(text.strip())
    if parts is None:
        raise BadInput(why)
    return parts


def _split(
    form: re.Pattern[str], units: Mapping[str, _Unit], text: str, why: str
) -> tuple[str, _Unit]:
    """Return the number in a text, and its unit."""
    parts = matched(form, text, why)
    if parts[2] not in units:
        raise BadInput(why)
    return parts[1], units[parts[2]]


# --- Parse durations and dates as people write them.

_DAY_S = 86400.0
TIME_UNITS = {"ms": 1e-3, "s": 1.0, "": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": _DAY_S}
_CENTURY = 36525
LONGEST_S = 7 * 24 * 3600.0
_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*([a-z]*)", re.ASCII)


def parse_duration(text: str) -> float:
    """Return seconds for ``"500ms"``, ``"2s"``, ``"1.5"``, ``"10min"``, ``"1h"``; above zero, at
    most a week.

    Raises ``BadInput`` with the allowed forms.
    """
    forms = "give a number with ms, s, min, h or d, such as 500ms, 2s, 10min."
    why = f"duration {text[:40]!r} is not understood: {forms}"
    number, unit = _split(_DURATION, TIME_UNITS, text, why)
    seconds = float(number) * unit
    if not 0 < seconds <= LONGEST_S:
        raise BadInput(
            f"duration {text.strip()} is out of range: give more than 0 and at most"
            f" {LONGEST_S / 3600:.0f}h."
        )
    return seconds


def parse_days(text: str) -> float:
    """Return days for ``"90d"``, ``"36h"`` or ``"2.5"`` (days), up to a hundred years. Raise
    ``BadInput`` for other text.
    """
    why = f"duration {text[:40]!r} is not understood: give days or hours, such as 90d, 36h."
    number, unit = _split(_DURATION, TIME_UNITS | {"": _DAY_S}, text, why)
    days = float(number) * unit / _DAY_S
    if days > _CENTURY:
        raise BadInput(f"duration {text.strip()[:40]} is out of range: give at most {_CENTURY}d.")
    return days


_LIMIT = re.compile(r"(?:([0-9]{1,3})-)?([0-9]{1,6}(?::[0-9]{1,2}){0,2})", re.ASCII)


def time_limit_s(text: str) -> float:
    """Return seconds for a limit in schedulers' notation: ``30`` (minutes), ``30:00``, ``1:00:00``,
    ``1-12:00:00``.
    """
    forms = "write 30 (minutes), 30:00, 1:00:00 or 1-12:00:00."
    parts = matched(_LIMIT, text, f"--time {text[:40]!r} is not a time limit: {forms}")
    days, rest = parts[1], list(map(int, parts[2].split(":")))
    units = (3600, 60, 1) if days or len(rest) == 3 else (60, 1)
    clock = sum(value * unit for value, unit in zip(rest, units, strict=False))
    return int(days or 0) * _DAY_S + clock


def parse_moment(text: str) -> datetime:
    """Parse ``2019-03-04``, ``2019-03-04T12:00`` or, with a zone, ``2019-03-04T12:00+01:00``; the
    default zone is UTC. Raise ``BadInput`` for other text.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise BadInput(
            f"date {text[:40]!r} is not understood: give it as 2019-03-04 or 2019-03-04T12:00"
            " (UTC)."
        ) from error


LARGEST = 1 << 30
"""Largest message: 1 GiB. MPI counts have 32 bits, and the engine holds the buffers of both
directions.
"""

UNITS = {
    "": 1,
    "B": 1,
    "kB": 10**3,
    "KB": 10**3,
    "KiB": 1 << 10,
    "MB": 10**6,
    "MiB": 1 << 20,
    "GB": 10**9,
    "GiB": 1 << 30,
}
_LARGER = {"TB": 10**12, "TiB": 1 << 40, "byte": 1, "bytes": 1}
"""Units of memory and buffers, in addition to those of messages."""
ALLOWED = (
    "a whole number with one of B, kB, KiB, MB, MiB, GB, GiB or nothing (bytes), such as 8, 64KiB,"
    " 4MiB"
)
_FORM = re.compile(r"([0-9]{1,18})\s*([A-Za-z]*)", re.ASCII)
_WRITTEN = re.compile(
    r"((?:[1-9][0-9]{0,2}(?:,[0-9]{3}){1,5}|[0-9]{1,18})(?:\.[0-9]{1,9})?)\s*([A-Za-z]*)"
)
_MOST_SIZES = 1000


def parse_bytes(text: str) -> int:
    """Return bytes for ``"18560"``, ``"18,560 bytes"``, ``"495GB"``, ``"1.5TB"``, for memory and
    buffers. Raise ``BadInput`` with the allowed forms.
    """
    why = (
        f"size {text[:40]!r} is not understood: give whole bytes, or a number with one of"
        f" {', '.join(filter(None, (*UNITS, 'TB', 'TiB')))}, such as 18560, 48.8kB, 1.5TB."
    )
    number, unit = _split(_WRITTEN, UNITS | _LARGER, text, why)
    size = Fraction(number.replace(",", "")) * unit
    if size.denominator != 1:
        raise BadInput(why)
    return int(size)


def parse_size(text: str) -> int:
    """Return bytes for ``"8"``, ``"1KiB"``, ``"1MB"``. Raise ``BadInput`` with the
    allowed forms.
    """
    why = f"message size {text[:40]!r} is not understood: give {ALLOWED}."
    number, unit = _split(_FORM, UNITS, text, why)
    size = int(number) * unit
    if size > LARGEST:
        raise BadInput(
            f"message size {text.strip()[:40]} is above the largest, {format_size(LARGEST)}."
        )
    return size


def _parse_range(text: str) -> list[int]:
    """Return sizes for ``"0:4MiB"``, doubling from the first to the last: 0, 1, 2, 4, ... 4MiB."""
    first_text, _, last_text = text.partition(":")
    first, last = parse_size(first_text), parse_size(last_text)
    if first > last:
        raise BadInput(f"size range {text[:80]!r} goes down: write the smaller size first.")
    sizes, size = [], first
    while size <= last:
        sizes.append(size)
        size = size * 2 if size else 1
    return sizes


def parse_sizes(text: str) -> tuple[int, ...]:
    """Return sizes in the given order, each once: ``"0,8,64KiB"``, ``"0:4MiB"`` (doubling), or
    both.

    Raises ``BadInput`` for an empty list, an empty item, or more than 1000 sizes.
    """
    sizes: dict[int, None] = {}
    for item in text.split(","):
        if not item.strip():
            raise BadInput(
                f"the size list {text[:80]!r} has an empty item: give sizes such as 0,8,64KiB or"
                " 0:4MiB."
            )
        for size in _parse_range(item) if ":" in item else [parse_size(item)]:
            sizes[size] = None
        if len(sizes) > _MOST_SIZES:
            raise BadInput(
                f"the size list has more than {_MOST_SIZES} sizes: give fewer, or a doubling range"
                " 0:4MiB."
            )
    return tuple(sizes)


def format_size(size: int) -> str:
    """Return ``1048576`` as ``1MiB``; sizes that are not a multiple of a binary unit in bytes."""
    return quantity.size(size).replace(" ", "")


def parse_counts(text: str) -> tuple[int, ...]:
    """Return ``2,4,8`` as node counts; () for "". Raise ``BadInput`` for other text."""
    words = [word.strip() for word in text.split(",")] if text else []
    plain = all(word.isascii() and word.isdigit() and len(word) < 8 for word in words)
    if not plain or not all(map(int, words)):
        raise BadInput(f"{text[:40]!r} is not a list of node counts such as 2,4,8.")
    return tuple(map(int, words))
