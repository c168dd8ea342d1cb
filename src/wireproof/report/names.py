"""Make names from outside (hosts, NICs, libraries, counters, messages) safe to show.

Text from a node, a file or a counter may contain terminal escapes, line breaks or right-to-left
overrides. Every renderer passes each foreign string through :func:`clean` before a person sees it.
"""

import functools
import re
import unicodedata
from collections.abc import Iterable

from wireproof.model import gathered

_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_PLAIN = re.compile(r"[\t\n -~]*", re.ASCII)
_NUMBERED = re.compile(r"(.*?)([0-9]{1,18})([^0-9]*)", re.ASCII)
_MARKS = frozenset({"Mn", "Me"})


def clean(text: object, limit: int = 400) -> str:
    r"""Return ``text`` as one harmless line of at most ``limit`` characters.

    Control, format, surrogate and unassigned characters become visible escapes (``\\x1b``,
    ``\\u202e``); any white space becomes one space; more than two successive combining marks are
    dropped; a truncated text ends in ``…``.
    """
    whole = str(text)
    if len(whole) <= limit and _PLAIN.fullmatch(whole):
        return " ".join(whole.split())
    out: list[str] = []
    marks = 0
    for char in whole[: 4 * limit]:
        kind = unicodedata.category(char)
        marks = marks + 1 if kind in _MARKS else 0
        if marks > 2:
            continue
        if char in "\t\n\r\v\f" or kind == "Zs":
            out.append(" ")
        elif kind in _UNSAFE:
            out.append(char.encode("unicode_escape", "backslashreplace").decode("ascii"))
        else:
            out.append(char)
    line = " ".join("".join(out).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def harmless(text: str) -> str:
    """Return ``text`` unshortened and with its white space; characters that could mislead a reader
    become visible escapes.
    """
    if text.isascii() and _PLAIN.fullmatch(text):
        return text
    return "".join(
        char.encode("unicode_escape", "backslashreplace").decode("ascii")
        if unicodedata.category(char) in _UNSAFE and char not in "\t\n"
        else char
        for char in text
    )


def one_harmless_line(text: str) -> str:
    r"""Return ``text`` as `harmless` does, with visible line breaks (``\\n``)."""
    return harmless(text).replace("\n", "\\n")


def fold(names: Iterable[str], limit: int = 400) -> str:
    """Return host names folded into a node set (``n[1-4]``); names that ClusterShell cannot fold
    are listed.

    >>> fold(["n1", "n2", "n4"])
    'n[1-2,4]'
    """
    return _folded(tuple(names), limit)


@functools.lru_cache(maxsize=256)
def _folded(names: tuple[str, ...], limit: int) -> str:
    """Return names folded; cached, because a report contains the same hosts many times."""
    shown = sorted({clean(name, 80) for name in names if name})
    if not shown:
        return ""
    if len(shown) == 1 or not all(_plain(name) for name in shown):
        return clean(", ".join(shown), limit)
    from ClusterShell.NodeSet import NodeSet, NodeSetException

    try:
        return clean(str(NodeSet(_ranges(shown), resolver=None)), limit)
    except NodeSetException:
        return clean(", ".join(shown), limit)


def _ranges(names: Iterable[str]) -> str:
    """Return names that differ in one number as one range, so that a thousand names are parsed at
    once.
    """
    numbered = ((name, _NUMBERED.fullmatch(name)) for name in names)
    ranges = gathered(
        ((found[1], found[3]), found[2]) if found else ((name, ""), "") for name, found in numbered
    )
    return ",".join(
        f"{before}[{','.join(numbers)}]{after}" if numbers[0] else before
        for (before, after), numbers in ranges.items()
    )


def natural(name: str) -> list[tuple[int, int, str]]:
    """Return a sort key that puts n2 before n10."""
    parts: list[tuple[int, int, str]] = []
    digits = ""
    for char in [*name, ""]:
        if char.isascii() and char.isdigit() and len(digits) < 18:
            digits += char
            continue
        if digits:
            parts.append((0, int(digits), ""))
            digits = ""
        parts.append((1, 0, char))
    return parts


def _plain(name: str) -> bool:
    """Return True if the name has only letters, digits, dots, dashes and underscores; other
    characters have a meaning in the node-set grammar.
    """
    return name.isascii() and all(char.isalnum() or char in ".-_" for char in name)
