"""Make the messages of launchers, libraries and ranks on standard error safe to print. Pure."""

import re

_ESCAPES = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[@-Z\\-_])")


def clean_text(data: bytes, limit: int = 400) -> str:
    """Return text that is safe to print: without terminal escapes and control characters, on one
    line, bounded.
    """
    text = _ESCAPES.sub("", data.decode("utf-8", "replace"))
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(text.split())[:limit]
