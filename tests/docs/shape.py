"""Is this output the one that a page shows? ``...`` stands for what is left out."""

import re
from collections.abc import Sequence

_NUMBER = re.compile(r"(?<![\w.])[+-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?!\w)")
_ANY = "..."


def same(shown: str, printed: str, *, measured: bool = False) -> bool:
    """``...`` alone on a line is any number of lines, within a line any text. Blanks at the ends of
    lines and empty lines at both ends do not count. ``measured``: a number is any number, blanks
    are any blanks.
    """
    return _match(_lines(shown), _lines(printed), measured)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").split("\n")]


def _match(shown: Sequence[str], printed: Sequence[str], measured: bool) -> bool:
    """By the places in ``printed`` where the lines so far may end."""
    ends = {0}
    for line in shown:
        if line.strip() == _ANY:
            ends = set(range(min(ends), len(printed) + 1))
        else:
            form = re.compile(_form(line, measured))
            ends = {at + 1 for at in ends if at < len(printed) and form.fullmatch(printed[at])}
        if not ends:
            return False
    return len(printed) in ends


def _form(line: str, measured: bool) -> str:
    parts = [_literal(part, measured) for part in line.split(_ANY)]
    return ".*".join(parts)


def _literal(text: str, measured: bool) -> str:
    if not measured:
        return re.escape(text)
    pieces, at = [], 0
    for number in _NUMBER.finditer(text):
        pieces += [_blanks(text[at : number.start()]), _NUMBER.pattern]
        at = number.end()
    return "".join([*pieces, _blanks(text[at:])])


def _blanks(text: str) -> str:
    return r"\s+".join(re.escape(word) for word in re.split(r"\s+", text))
