"""Convert the text of a place to a value. Pure. The text is hostile: what cannot be parsed is
UNKNOWN.
"""

import re
from collections.abc import Callable

from wireproof.audit.expression import UNKNOWN, Value
from wireproof.model.setting import Form, Read

MOST_CPUS = 8192
_YES = {"y", "yes", "1", "on", "enabled", "true", "always"}
_NO = {"n", "no", "0", "off", "disabled", "false", "never"}
_SIZE = re.compile(r"(\d{1,18})\s*(?:([kKMGT])i?)?B?\b", re.ASCII)
_SCALE = {"": 1, "k": 1 << 10, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_NUMBER = re.compile(r"[-+]?\d{1,18}(?:\.\d{1,9})?(?![\w.])", re.ASCII)
_HEX = re.compile(r"0[xX][0-9a-fA-F]{1,16}\b")
_LONGEST = 4096


def part_of(text: str, read: Read) -> str | None:
    """Return the part of ``text`` that ``read`` selects; None if its section or key is missing."""
    if read.section:
        at = re.search(rf"^[ \t]*{re.escape(read.section)}(?!\w)", text, re.MULTILINE)
        if at is None:
            return None
        text = _indented(text[at.end() :], len(at.group()) - len(at.group().lstrip()))
    return _behind(text, read.key) if read.key else text


def _indented(text: str, indent: int) -> str:
    """Return the rest of a heading's line and the deeper indented lines below. Without such lines,
    return the rest of the line, or all following lines if it is empty, as ethtool prints rings.
    """
    lines = text.split("\n")
    deeper = [len(line) - len(line.lstrip()) > indent for line in lines[1:] if line.strip()]
    if not deeper or not deeper[0]:
        return lines[0] if lines[0].strip(" \t:") else text
    end = deeper.index(False) if False in deeper else len(deeper)
    kept = [line for line in lines[1:] if line.strip()][:end]
    return "\n".join((lines[0], *kept))


def _behind(text: str, key: str) -> str | None:
    """Return the text after ``key`` and a colon, an equals sign or a blank, up to the end of the
    line. Of names separated by ``|`` the first that exists counts. Lines that start with ``#`` are
    comments.
    """
    for name in map(re.escape, key.split("|")):
        for match in re.finditer(
            rf"(?:^|(?<=[\s,])){name}(?:[ \t]*[:=][ \t]*|[ \t]+)(.*)$", text, re.MULTILINE
        ):
            line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
            if not line.lstrip().startswith("#"):
                return match.group(1)
    return None


def typed(text: str, form: Form) -> Value:
    """Convert ``text`` to the given form, or UNKNOWN. Text longer than any setting's is
    truncated.
    """
    return _READERS[form](text.strip()[:_LONGEST])


def _word(text: str) -> Value:
    words = text.split(maxsplit=1)
    return words[0] if words and words[0].isprintable() else UNKNOWN


def _number(text: str) -> Value:
    if match := _HEX.match(text):
        return int(match.group(), 16)
    match = _NUMBER.match(text)
    if match is None:
        return UNKNOWN
    return float(match.group()) if "." in match.group() else int(match.group())


def _flag(text: str) -> Value:
    word = text.split(maxsplit=1)[0].lower().rstrip(",;.") if text else ""
    return True if word in _YES else False if word in _NO else UNKNOWN


def _choice(text: str) -> Value:
    match = re.search(r"\[([^\[\]\s]{1,64})\]", text)
    return match.group(1) if match else UNKNOWN


def _list(text: str) -> Value:
    words = re.split(r"[,\s]+", text.strip(", "))
    return [_one(word) for word in words if word]


def _one(word: str) -> int | float | str:
    number = _number(word)
    return number if isinstance(number, (int, float)) and _NUMBER.fullmatch(word) else word


def _size(text: str) -> Value:
    match = _SIZE.match(text)
    return int(match.group(1)) * _SCALE[match.group(2) or ""] if match else UNKNOWN


def cpu_list(text: str) -> Value:
    """Return ``0-3,8`` as [0, 1, 2, 3, 8]; "" is the empty list."""
    cpus: list[int] = []
    for part in filter(None, re.split(r"[,\s]+", text.strip())):
        bounds = re.fullmatch(r"(\d{1,5})(?:-(\d{1,5}))?", part, re.ASCII)
        if bounds is None:
            return UNKNOWN
        first, last = int(bounds.group(1)), int(bounds.group(2) or bounds.group(1))
        if last < first or last >= MOST_CPUS:
            return UNKNOWN
        cpus += range(first, last + 1)
    return cpus


_READERS: dict[Form, Callable[[str], Value]] = {
    "text": lambda text: text,
    "word": _word,
    "number": _number,
    "flag": _flag,
    "choice": _choice,
    "list": _list,
    "cpus": cpu_list,
    "size": _size,
    "present": lambda _text: True,
}
