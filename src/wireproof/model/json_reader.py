"""Decode JSON from untrusted sources, if the decoded form fits into memory. Pure.

Three bytes, ``{},``, can become 250 bytes in memory, and a few bytes with one letter outside the
first plane of Unicode make a text four times as long. So the items are counted before they are
created.
"""

from typing import TypeVar

import msgspec

LARGEST_DECODED = 896 << 20
"""Bytes in memory. A result of 10,000 hosts with two adapters each takes half of that."""
_SMALL = 1 << 20
_COSTS = ((b"{", 250), (b"[", 70), (b",", 60), (b":", 100))
"""Bytes for each character, at most, measured with CPython 3.11: the largest struct without a
value, an empty list, a number or short text, and a key of a dictionary.
"""
_WIDE = tuple(bytes([lead]) for lead in range(0xF0, 0xF5))
T = TypeVar("T")


def decode_json(data: bytes | str, type_: type[T], *, times: int = 1) -> T:
    """Decode ``data`` as ``type_``. In a text, characters that UTF-8 cannot express become question
    marks.

    ``times``: number of copies in memory, as when the value is converted afterwards. Raises
    ``msgspec.DecodeError``, with a message that continues "... is damaged: ", also for invalid
    UTF-8, too deep nesting, and data that would take more than ``LARGEST_DECODED``.
    """
    if isinstance(data, str):
        data = data.encode("utf-8", "replace")
    refuse_large(data, times=times)
    try:
        return msgspec.json.decode(data, type=type_)
    except UnicodeDecodeError as error:
        raise msgspec.DecodeError(f"it is no UTF-8: {error.reason}") from error
    except RecursionError as error:
        raise msgspec.DecodeError("it is nested too deeply") from error


def refuse_large(data: bytes, *, times: int = 1) -> None:
    """Raise ``msgspec.DecodeError`` if ``decode_json`` refuses ``data`` for its size."""
    if len(data) > _SMALL and times * memory_of(data) > LARGEST_DECODED:
        raise msgspec.DecodeError(
            f"decoded, it would take more than {LARGEST_DECODED >> 20} MiB of memory"
        )


def memory_of(data: bytes) -> int:
    """Return an upper bound of the memory in bytes that ``data`` and its decoded form take."""
    items = sum(cost * data.count(letter) for letter, cost in _COSTS)
    return items + len(data) * (1 + _width(data))


def _width(data: bytes) -> int:
    """Return the bytes per character that Python needs for the widest character of the text."""
    if b"\\u" in data or any(lead in data for lead in _WIDE):
        return 4
    return 1 if data.isascii() else 2
