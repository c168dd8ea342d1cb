"""JSON output in ASCII only, so that a name from a host or a file cannot mislead a terminal."""

import math
import re
from typing import Any

import msgspec

_BEYOND = re.compile(r"[^\n -~]")


def json_text(value: object, *, indent: int = 0) -> str:
    """Return one JSON value as text. Values that are not finite become null; bytes that are not
    UTF-8 (in a file name) are escaped.
    """
    try:
        data = msgspec.json.encode(value, enc_hook=_number_or_text)
    except UnicodeEncodeError:
        builtins = msgspec.to_builtins(value, enc_hook=_number_or_text)
        data = msgspec.json.encode(_encodable(builtins))
    return escaped((msgspec.json.format(data, indent=indent) if indent else data).decode())


def escaped(text: str) -> str:
    r"""Return JSON with every character beyond printable ASCII as ``\uXXXX``; such characters occur
    only inside strings.
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
    """Return a numpy scalar as its number, and other types, such as paths, as text."""
    return value.item() if callable(getattr(value, "item", None)) else str(value)


def plain(value: Any) -> Any:
    """Return a struct as plain JSON types: dictionaries, lists and finite numbers."""
    return _finite(msgspec.to_builtins(value, enc_hook=_scalar))


def _scalar(value: Any) -> Any:
    """Return a numpy scalar as a Python number, because statistics may leave numpy scalars in
    evidence.
    """
    if callable(getattr(value, "item", None)):
        return value.item()
    raise TypeError(f"{type(value).__name__} has no place in a result")


def _finite(value: Any) -> Any:
    """Return the same tree with None for every NaN and infinity."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value
