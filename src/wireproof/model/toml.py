"""TOML that somebody else may have written: bounded in size and depth before the parser sees it.
Pure.

The parser of the standard library recurses into nested values and takes quadratic time for a long
dotted key.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from wireproof.model.errors import BadInput

__all__ = ["DEEPEST", "LARGEST", "read_toml"]

LARGEST = 1 << 20
"""Characters; no settings, limits, lab or world are longer. A topology of a large fabric may be
(``largest``).
"""
DEEPEST = 32
"""Nested brackets, and parts of one dotted key."""

_TOKEN = re.compile(
    r"""
      ["]{3} (?: [^"\\] | \\. | ["](?!["]{2}) )*+ ["]{3,5}
    | [']{3} (?: [^']   |       ['](?![']{2}) )*+ [']{3,5}
    | ["] (?: [^"\\\n] | \\. )*+ ["]  |  ['] [^'\n]*+ [']  |  \#[^\n]*+
    | [][{}.,=\n]
    | ["']  # one that never ends: the parser, too, gets no farther
    """,
    re.DOTALL | re.VERBOSE,
)


def read_toml(text: str, source: str, *, largest: int = LARGEST) -> dict[str, Any]:
    """The document that ``text`` holds. ``BadInput`` names ``source`` and says what is wrong.

    Refused are what is no TOML, is longer than ``largest`` characters, or is nested more than
    ``DEEPEST`` deep.
    """
    if len(text) > largest:
        raise BadInput(
            f"{source}: more than {largest / 1e6:.3g} million characters: that is too large for it."
        )
    if line := _too_deep(text):
        raise BadInput(
            f"{source}: line {line} is nested or dotted more than {DEEPEST} deep: nothing of ours "
            "is."
        )
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInput(f"{source}: not TOML: {str(error)[:200]}.") from error
    except ValueError as error:  # a number with more digits than Python reads
        raise BadInput(f"{source}: a value cannot be read: {str(error)[:200]}.") from error


def _too_deep(text: str) -> int:
    """The first line that goes too deep; 0 when none does. Strings and comments do not count."""
    depth = dots = 0
    for found in _TOKEN.finditer(text):
        match found.group():
            case "[" | "{":
                depth, dots = depth + 1, 0
            case "]" | "}":
                depth, dots = max(0, depth - 1), 0
            case ".":
                dots += 1
            case "\n" | "," | "=":
                dots = 0
            case '"' | "'":
                return 0
        if depth > DEEPEST or dots > DEEPEST:
            return text.count("\n", 0, found.start()) + 1
    return 0
