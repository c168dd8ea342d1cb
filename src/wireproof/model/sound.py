"""Whether the numbers of a frame or a run.json can be what they are said to be. Pure.

A folder, and what a host answers, may be made by anybody: 5e-324 ns, -1 messages or 2^64 ranks have
types that fit, and every formula behind would have to expect them. They are refused here, where the
line is still known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import msgspec

from wireproof.model.record import Estimate, Idle, Quiet

__all__ = ["unsound"]

LARGEST_COUNTER = (1 << 64) - 1
LARGEST_COUNT = (1 << 63) - 1
LARGEST_MESSAGE = 1 << 50
"""Larger sizes are not exact as floating point, and no memory holds them."""
MOST_RANKS = 1 << 20
LARGEST = 1e21
"""Of any float: a rate of 10^15 bit/s and a time of 30,000 years are below it, and products of two
stay finite.
"""
LEAST_NS = 1e-6
"""A time is 0 (not measured) or at least this: no clock tells less, and to divide by less gives no
number.
"""
_SIGNED = {
    "exit_status",
    "numa_node",
    "nic_numa_node",
    "speed_mbps",
    "core",
    "pinned",
    "origin_core",
    "target_core",
}
_RANKS = {"rank", "origin", "target", "members", "shared_with", "ranks", "pairs", "load", "index"}
_AT_LEAST_ONE = {"partitions", "threads", "rails"}
MOST_RAILS = 1024
"""Of one flow: every number of them is a limit of its own."""
_ABOVE_ZERO = {"rate_bits_per_s", "rates"}
"""Less than 1 bit/s is no line: what takes time there is divided by it."""
_MAY_BE_NEGATIVE = {"autocorrelation", "share"}


def unsound(value: object) -> str:
    """What is wrong, such as ``pairs[0].batch_ns[3] is 5e-324``; "" when nothing is."""
    return _of(value, "", "")


def _of(value: object, name: str, path: str) -> str:
    match value:
        case bool() | str() | None:
            return ""
        case int():
            return _int(value, name, path)
        case float():
            return _float(value, name, path)
        case list() | tuple():
            return _sequence(value, name, path)
        case dict():
            return _mapping(value, name, path)
        case msgspec.Struct():
            return _struct(value, path)
    return ""


def _int(value: int, name: str, path: str) -> str:
    least = -(1 << 31) if name in _SIGNED else 0
    most = (
        MOST_RANKS
        if name in _RANKS
        else MOST_RAILS
        if name == "rails"
        else LARGEST_MESSAGE
        if name == "message_bytes"
        else LARGEST_COUNT
    )
    least = 1 if name in _AT_LEAST_ONE else least
    return "" if least <= value <= most else f"{path} is {_shown(value)}"


def _float(value: float, name: str, path: str) -> str:
    size = abs(value)
    if not (math.isfinite(value) and size <= LARGEST) or (
        value < 0 and name not in _MAY_BE_NEGATIVE
    ):
        return f"{path} is {value!r}"
    if name in _ABOVE_ZERO and value < 1:
        return f"{path} is {value!r}"
    return f"{path} is {value!r}" if name.endswith("_ns") and 0 < size < LEAST_NS else ""


def _sequence(value: Sequence[Any], name: str, path: str) -> str:
    if name == "rates" and len(value) > MOST_RAILS:
        return f"{path} has {len(value)} rates"
    if value and all(type(one) is float for one in value):
        if name == "batch_ns" and not max(value):
            return f"{path}: all of them took no time"
        # Raw batches are thousands: the extremes speak for all of them.
        extremes = (min(value), max(value), min((one for one in value if one > 0), default=0.0))
        return next((why for one in extremes if (why := _float(one, name, path))), "")
    return next(
        (why for index, one in enumerate(value) if (why := _of(one, name, f"{path}[{index}]"))), ""
    )


def _mapping(value: dict[Any, Any], name: str, path: str) -> str:
    if name in ("counters", "standing"):
        return ""  # looked at with the frame that they are in
    return next(
        (
            why
            for key, one in value.items()
            if (why := _of(key, name, path) or _of(one, name, f"{path}[{key!r:.60}]"))
        ),
        "",
    )


def _struct(value: msgspec.Struct, path: str) -> str:
    before = f"{path}." if path else ""
    for name in value.__struct_fields__:
        if why := _of(getattr(value, name), name, before + name):
            return why
    if isinstance(value, Idle) and (why := _counters(value.standing or {}, f"{before}standing", 0)):
        return why
    counters = getattr(value, "counters", None)
    if isinstance(counters, dict):
        return _counters(
            counters,
            f"{before}counters",
            -LARGEST_COUNTER if isinstance(value, Idle | Quiet) else 0,
        )
    if isinstance(value, Estimate) and not value.low_ns <= value.median_ns <= value.high_ns:
        return (
            f"{path} has a median of {value.median_ns!r} outside of {value.low_ns!r} to "
            f"{value.high_ns!r}"
        )
    return ""


def _counters(counters: dict[str, Any], path: str, least: int) -> str:
    for name, values in counters.items():
        for one in values if isinstance(values, tuple) else (values,):
            if not least <= one <= LARGEST_COUNTER:
                return f"{path}[{name!r:.60}] is {_shown(one)}"
    return ""


def _shown(value: int) -> str:
    return str(value) if abs(value) < 1 << 70 else f"a number of {value.bit_length()} bits"
