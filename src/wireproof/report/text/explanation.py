"""What a code means, for people."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

__all__ = ["explanation_text"]

_WIDTH = 88
_INDENT = 10


def explanation_text(title: str, paragraphs: Iterable[tuple[str, str]]) -> str:
    """``paragraphs``: (heading, text); the headings stand left of the texts."""
    wrapped = [
        textwrap.fill(
            text,
            _WIDTH,
            initial_indent=f"{heading + ':':{_INDENT}}",
            subsequent_indent=" " * _INDENT,
        )
        for heading, text in paragraphs
    ]
    return "\n\n".join([title, *wrapped]) + "\n"
