"""What launchers, libraries and ranks say on standard error, made safe to print. Pure."""

import re

_ESCAPES = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[@-Z\\-_])")


def clean_text(data: bytes, limit: int = 400) -> str:
    """Talk made safe to print: terminal escapes and control characters away, one line, bounded."""
    text = _ESCAPES.sub("", data.decode("utf-8", "replace"))
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(text.split())[:limit]
