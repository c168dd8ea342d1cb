"""Check whether the numbers in a frame or a run.json are possible. Pure.

A folder, or a host's answer, may come from anybody: 5e-324 ns, -1 messages or 2^64 ranks have the
right types, and every formula would have to expect them. They are refused here, where the line is
still known.
"""

import math
from collections.abc import Sequence
from typing import Any

import msgspec

from wireproof.model.record import Estimate, Idle, QuietWindows

LARGEST_COUNTER = (1 << 64) - 1
LARGEST_COUNT = (1 << 63) - 1
LARGEST_MESSAGE = 1 << 50
"""Floating point does not represent larger sizes exactly, and no memory holds them."""
MOST_RANKS = 1 << 20
LARGEST = 1e21
"""Upper bound for any float: a rate of 10^15 bit/s and a time of 30,000 years are below it, and
products of two such numbers stay finite.
"""
LEAST_NS = 1e-6
"""A time is 0 (not measured) or at least this: no clock has a finer resolution, and dividing by
less gives no usable number.
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
"""Limit for one flow, because every number of rails has separate limits."""
_ABOVE_ZERO = {"rate_bits_per_s", "rates"}
"""A line rate is above 0, because transfer times are divided by it."""
_TEXT = {bool, str}
_MAY_BE_NEGATIVE = {"autocorrelation", "share"}


def unsound(value: object) -> str:
    """Return what is wrong, such as ``pairs[0].batch_ns[3] is 5e-324``; "" if nothing is."""
    return _of(value, "").removeprefix(".")


# Each function returns the rest of the path and the value. The path is built on the way back,
# because a check of ten thousand nodes has millions of numbers and nearly all are sound.
def _of(value: object, name: str) -> str:
    if value is None or type(value) in _TEXT or (_common(value) and name != "rails"):
        return ""
    match value:
        case int():
            return _int(value, name)
        case float():
            return _float(value, name)
        case list() | tuple():
            return _sequence(value, name)
        case dict():
            return _mapping(value, name)
        case msgspec.Struct():
            return _struct(value)
    return ""


def _common(value: object) -> bool:
    """Return True for a number that is valid for any field except a number of rails."""
    return (type(value) is int and 1 <= value <= MOST_RANKS) or (
        type(value) is float and 1.0 <= value <= LARGEST
    )


def _int(value: int, name: str) -> str:
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
    return "" if least <= value <= most else f" is {_shown(value)}"


def _float(value: float, name: str) -> str:
    size = abs(value)
    if not (math.isfinite(value) and size <= LARGEST) or (
        value < 0 and name not in _MAY_BE_NEGATIVE
    ):
        return f" is {value!r}"
    if name in _ABOVE_ZERO and value < 1:
        return f" is {value!r}"
    return f" is {value!r}" if name.endswith("_ns") and 0 < size < LEAST_NS else ""


def _sequence(value: Sequence[Any], name: str) -> str:
    if name == "rates" and len(value) > MOST_RAILS:
        return f" has {len(value)} rates"
    if value and all(type(one) is float for one in value):
        if name == "batch_ns" and not max(value):
            return ": all took 0 s"
        # Raw batches are thousands of numbers, so only the extremes are checked.
        extremes = (min(value), max(value), min((one for one in value if one > 0), default=0.0))
        return next((why for one in extremes if (why := _float(one, name))), "")
    for index, one in enumerate(value):
        if why := _of(one, name):
            return f"[{index}]{why}"
    return ""


def _mapping(value: dict[Any, Any], name: str) -> str:
    if name in ("counters", "standing"):
        return ""  # looked at with the frame that they are in
    for key, one in value.items():
        if why := _of(key, name):
            return why
        if why := _of(one, name):
            return f"[{key!r:.60}]{why}"
    return ""


def _struct(value: msgspec.Struct) -> str:
    for name in value.__struct_fields__:
        one = getattr(value, name)
        kind = type(one)
        if kind is str or (kind is float and 1.0 <= one <= LARGEST):
            continue  # most of them, without a call
        if why := _of(one, name):
            return f".{name}{why}"
    if isinstance(value, Idle) and (why := _counters(value.standing or {}, 0)):
        return f".standing{why}"
    counters = getattr(value, "counters", None)
    if isinstance(counters, dict):
        why = _counters(counters, -LARGEST_COUNTER if isinstance(value, Idle | QuietWindows) else 0)
        return why and f".counters{why}"
    if isinstance(value, Estimate) and not value.low_ns <= value.median_ns <= value.high_ns:
        return (
            f" has a median of {value.median_ns!r} outside of {value.low_ns!r} to {value.high_ns!r}"
        )
    return ""


def _counters(counters: dict[str, Any], least: int) -> str:
    for name, values in counters.items():
        for one in values if isinstance(values, tuple) else (values,):
            if not least <= one <= LARGEST_COUNTER:
                return f"[{name!r:.60}] is {_shown(one)}"
    return ""


def _shown(value: int) -> str:
    return str(value) if abs(value) < 1 << 70 else f"a number of {value.bit_length()} bits"
