"""What a code means, for people."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

__all__ = ["explanation_text"]

_WIDTH = 88
_INDENT = 10


def explanation_text(title: str, paragraphs: Iterable[tuple[str, str]]) -> str:
    """``paragraphs``: (heading, text); the headings stand left of the texts."""
    listed = list(paragraphs)
    indent = max([_INDENT, *(len(heading) + 2 for heading, _ in listed)])
    wrapped = [
        textwrap.fill(
            text,
            _WIDTH,
            initial_indent=f"{heading + ':':{indent}}",
            subsequent_indent=" " * indent,
        )
        for heading, text in listed
    ]
    return "\n\n".join([title, *wrapped]) + "\n"
