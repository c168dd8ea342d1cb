"""Extract what a library reports about its settings from a run's output, by regular expressions.

Pure.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from wireproof.model.secrets import MASK, masked
from wireproof.model.study import Configuration, Knob, Library, Readback, ReadRule

LONGEST_LINE = 1000
LONGEST_VALUE = 200

Said = Mapping[str, Sequence[tuple[str, str, str]]]
"""By kind of line: (rank, name, value) in the order of the text; "" if a line lacks it."""


def said_in(text: str, library: Library) -> Said:
    """Return every line of a kind in the library's catalogue; one line may name several
    settings.
    """
    compiled = {kind: re.compile(pattern) for kind, pattern in library.says.items()}
    ranked = re.compile(library.rank or "(?!)")
    found: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for whole in text.splitlines():
        line = whole[:LONGEST_LINE]
        for kind, pattern in compiled.items():
            for match in pattern.finditer(line):
                rank = ranked.search(line)
                found[kind].append(_entry(match, rank["rank"] if rank else ""))
    return found


def _entry(match: re.Match[str], rank: str) -> tuple[str, str, str]:
    """Return rank, name (``owner/name`` if the line has both) and value."""
    groups = match.groupdict(default="")
    name = "/".join(part for part in (groups.get("owner", ""), groups.get("name", "")) if part)
    value = groups["value"].strip()[:LONGEST_VALUE]
    return groups.get("rank", "") or rank, name, _kept(name, value)


def _kept(name: str, value: str) -> str:
    """Return the value, masked if it or its name looks like a secret."""
    whole = f"{name or 'value'}={value}"
    return value if masked(whole) == whole else MASK


_FAILURE = r"(?i)^(?!\s*help:)(?P<value>.*\b(?:error|fatal|fail\w*|abort\w*|cannot|unable)\b.*)"
"""Excludes lines that begin with "Help:", in which libraries explain their variables."""


def complaint(text: str, library: Library) -> str:
    """Return the line in which the library says why it does not start, or "".

    By the catalogue's kinds, the most specific first; otherwise a line that mentions a failure.
    """
    lines = [line[:LONGEST_LINE] for line in text.splitlines()]
    for pattern in (*library.complaints, _FAILURE):
        match = next((found for line in lines if (found := re.search(pattern, line))), None)
        if match is not None:
            return masked((match.groupdict().get("value") or match[0]).strip()[:LONGEST_VALUE])
    return ""


def readbacks(said: Said, knob: Knob, asked: Configuration | None) -> list[Readback]:
    """Return what every rank reports about ``knob``, requested in this run or not (None).

    The last report of a rank counts: a library may change a value while it starts.
    """
    value = asked.value if asked is not None else None
    found: list[Readback] = []
    for reading in knob.read:
        for rank, seen in _by_rank(said, reading, reading.name or knob.name).items():
            found.append(
                Readback(
                    setting=knob.name,
                    asked=value,
                    seen=seen,
                    source=reading.of,
                    rank=rank,
                    agrees=None if value is None else _agrees(reading, value, seen),
                )
            )
    return found


def _by_rank(said: Said, reading: ReadRule, name: str) -> dict[str, str]:
    """Return the last value of each rank; lines of one rank that belong to no setting are
    joined.
    """
    found: dict[str, str] = {}
    joined: dict[str, list[str]] = defaultdict(list)
    for rank, of, value in said.get(reading.of, ()):
        if of == name:
            found[rank] = value
        elif not of and value not in joined[rank]:
            joined[rank].append(value)
    return found or {rank: ",".join(sorted(values)) for rank, values in joined.items() if values}


def _agrees(reading: ReadRule, asked: str, seen: str) -> bool | None:
    """Return whether the report fits the request; None if that is unclear."""
    expected = reading.expect.get(asked, reading.expect.get("*"))
    if expected is not None:
        wanted = expected.replace("{value}", re.escape(asked))
        return re.search(wanted, seen) is not None
    return _plain(asked) == _plain(seen) if reading.itself else None


_WORDS = {
    "yes": "1",
    "no": "0",
    "true": "1",
    "false": "0",
    "on": "1",
    "off": "0",
    "y": "1",
    "n": "0",
}
_SIZE = re.compile(r"([0-9]+)([kmg])i?b?", re.ASCII)
_POWER = {"k": 10, "m": 20, "g": 30}


def _plain(text: str) -> str:
    """Return a value in one spelling: 1 for YES and 0x1, 65536 for 64k; quotes are removed."""
    text = text.strip().strip("'\"").lower()
    text = _WORDS.get(text, text)
    if (size := _SIZE.fullmatch(text)) is not None:
        return str(int(size[1]) << _POWER[size[2]])
    if re.fullmatch(r"0x[0-9a-f]{1,32}", text):
        return str(int(text, 16))
    return str(int(text)) if re.fullmatch(r"[0-9]{1,32}", text) else text
