"""What follows from a pattern's name and form: what one operation is, and which way its payload
goes.

The engine's engine/plan/pattern_kind.hpp says the same; docs/reference/engine-interface.md defines
the patterns.
"""

from __future__ import annotations

from wireproof.model.record import Form

__all__ = [
    "FORMS",
    "answers",
    "crossings",
    "is_rate",
    "is_round_trip",
    "is_word_atomic",
    "one_way",
    "waits_for_each",
]

_EITHER: tuple[Form, ...] = ("latency", "stream")
FORMS: dict[str, tuple[Form, ...]] = {
    "pingpong": ("latency",),
    "stream": ("stream",),
    "exchange": ("stream",),
    "put": _EITHER,
    "get": _EITHER,
    "accumulate": _EITHER,
    "fetch_and_op": ("latency",),
    "compare_and_swap": ("latency",),
    "persistent": _EITHER,
    "partitioned": _EITHER,
    "threads": _EITHER,
}
"""The forms that each pair pattern has; the first is the default."""

_TWO_SIDED_VARIANTS = ("persistent", "partitioned", "threads")
_REMOTE = ("put", "get", "accumulate", "fetch_and_op", "compare_and_swap")
_FORWARD_ONLY = ("put", *_TWO_SIDED_VARIANTS)


def is_round_trip(pattern: str, form: str) -> bool:
    """One operation is a message there and one back, and the number is half of that."""
    return pattern == "pingpong" or (pattern in _TWO_SIDED_VARIANTS and form == "latency")


def is_word_atomic(pattern: str) -> bool:
    """A word goes there and the old one comes back: no operation is shorter than a whole round
    trip.
    """
    return pattern in ("fetch_and_op", "compare_and_swap")


def waits_for_each(pattern: str, form: str) -> bool:
    """True when the origin waits for the answer to each operation, so that latency bounds the time
    from below.
    """
    return is_round_trip(pattern, form) or (pattern in _REMOTE and form == "latency")


def crossings(pattern: str, form: str) -> int:
    """How often the link is crossed, one after the other, before an operation is done; 0 where none
    waits.
    """
    return 0 if not waits_for_each(pattern, form) else 2 if is_word_atomic(pattern) else 1


def answers(pattern: str, form: str) -> bool:
    """Every message is answered by another before the next, so that no two of them share a
    packet.
    """
    return is_round_trip(pattern, form) or is_word_atomic(pattern)


def is_rate(pattern: str, form: str) -> bool:
    """Judged as goodput: several operations are under way at a time."""
    return pattern in ("stream", "exchange") or (
        form == "stream" and "stream" in FORMS.get(pattern, ())
    )


def one_way(pattern: str, form: str) -> bool:
    """A rate of one direction of the link. Not ``accumulate``: its pace may be that of the adding
    processor.
    """
    return pattern == "stream" or (form == "stream" and pattern in _FORWARD_ONLY)
