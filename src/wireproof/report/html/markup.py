"""Text that the page may show as it is."""

from __future__ import annotations

from typing import Any

__all__ = ["in_script", "trusted"]


def trusted(text: str) -> Any:
    """Our own markup, or text made safe, which the template must not escape again."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704


def in_script(text: str) -> Any:
    """JSON that cannot leave its script element: no ``<``, ``>``, ``&`` or line separators, as JSON
    escapes instead.
    """
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return trusted(text)
