"""JSON as it is printed: ASCII only, so that no terminal can be fooled by a name that a host or a
file gave.
"""

import math
import re
from typing import Any

import msgspec

_BEYOND = re.compile(r"[^\n -~]")


def json_text(value: object, *, indent: int = 0) -> str:
    """One JSON value as text. What is not finite becomes null; a byte that is no UTF-8 (a file's
    name) is spelled.
    """
    try:
        data = msgspec.json.encode(value, enc_hook=_number_or_text)
    except UnicodeEncodeError:
        builtins = msgspec.to_builtins(value, enc_hook=_number_or_text)
        data = msgspec.json.encode(_encodable(builtins))
    return escaped((msgspec.json.format(data, indent=indent) if indent else data).decode())


def escaped(text: str) -> str:
    r"""JSON with every character beyond printable ASCII as ``\uXXXX``; such characters stand inside
    of strings only.
    """
    return text if text.isascii() and "\x7f" not in text else _BEYOND.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code < 1 << 16:
        return f"\\u{code:04x}"
    code -= 1 << 16
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def _encodable(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case list() | tuple():
            return [_encodable(one) for one in value]
        case dict():
            return {_encodable(key): _encodable(one) for key, one in value.items()}
    return value


def _number_or_text(value: Any) -> Any:
    """A numpy scalar as its number, a path and the like as text."""
    return value.item() if callable(getattr(value, "item", None)) else str(value)


def plain(value: Any) -> Any:
    """A struct as what JSON knows: dictionaries, lists and finite numbers."""
    return _finite(msgspec.to_builtins(value, enc_hook=_scalar))


def _scalar(value: Any) -> Any:
    """A numpy scalar as the Python number that it holds: statistics may leave one in evidence."""
    if callable(getattr(value, "item", None)):
        return value.item()
    raise TypeError(f"{type(value).__name__} has no place in a result")


def _finite(value: Any) -> Any:
    """The same tree with None for every NaN and infinity."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value
