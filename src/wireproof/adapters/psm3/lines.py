"""The lines of a PSM3 output that may be looked at. A statistics file begins with the command line
and the whole environment of its process: nothing of these passes here.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from wireproof.model.secrets import MASK, masked

__all__ = ["Shape", "StatisticsLine", "job_of", "kept", "masked_setting"]

Shape = Literal[
    "setting", "environment", "identify", "warning", "time", "heading", "counter", "odd"
]
_DASHES = "-" * 79
"""What ends the environment (psm_stats.c prints 79 of them)."""
_LABEL = r"(?:^|\s)[^\s:]{1,255}(?::[^\s:]{1,64})?"
_SETTING = re.compile(
    r"^(?:FI_)?PSM[23]_[A-Z0-9_]{1,64}=|^HFI_[A-Z0-9_]{1,64}=|^FI_PROVIDER=", re.A
)
_ENVIRONMENT = re.compile(rf"{_LABEL}: env [ *]?(?:Invalid value for )?(?:FI_)?PSM[23]_[A-Z]", re.A)
_IDENTIFY = re.compile(rf"{_LABEL} PSM[23]_IDENTIFY ", re.A)
_WARNING = re.compile(r"WARNING: PSM built without ")
_TIME = re.compile(r"^Time Delta [0-9]{1,12} seconds ", re.A)
_HEADING = re.compile(
    r" [A-Za-z][\w./-]{2,79}(?: id \S{1,200}(?: \S{1,80})?)?(?: tid -?\d+)?$", re.A
)
_HEADING_INFO = re.compile(r" [A-Z][\w./-]{2,79} \S{1,80}$", re.A)
_COUNTER = re.compile(r"    [A-Za-z]", re.A)
_LONGEST = 4096
_JOB = "FI_PSM3_UUID="
_PRIVATE = re.compile(r"(FI_PSM3_UUID\s{0,40}=>? ?).*$", re.A)
"""The job's key: who knows it can speak to its endpoints."""


class StatisticsLine(NamedTuple):
    """One line: ``number`` counts from 1."""

    number: int
    shape: Shape
    text: str


def shape_of(text: str) -> Shape:
    """What kind of line it is; ``odd`` is none of PSM3's."""
    if text.startswith("    "):
        return "counter" if _COUNTER.match(text) else "odd"
    if text.startswith(" "):
        return "heading" if _HEADING.match(text) or _HEADING_INFO.match(text) else "odd"
    shapes: tuple[tuple[Shape, re.Pattern[str]], ...] = (
        ("time", _TIME),
        ("setting", _SETTING),
        ("identify", _IDENTIFY),
        ("environment", _ENVIRONMENT),
        ("warning", _WARNING),
    )
    return next((name for name, form in shapes if form.search(text[:_LONGEST])), "odd")


def _begin(lines: list[str]) -> int:
    """Index of the first line behind the environment; 0 where the text has none.

    A variable may hold a line of dashes itself: the last one before the first block counts. Without
    such a line the file ends within the environment, and nothing of it may be seen.
    """
    if not lines or not lines[0].startswith("cmdline:"):
        return 0
    end = next((i for i, line in enumerate(lines) if _TIME.match(line)), len(lines))
    dashes = [i for i in range(end) if lines[i] == _DASHES]
    return dashes[-1] + 1 if dashes else len(lines)


def kept(lines: list[str]) -> Iterator[StatisticsLine]:
    """The lines behind the environment that are not empty, settings with their values masked."""
    start = _begin(lines)
    for index in range(start, len(lines)):
        text = lines[index].rstrip("\r")
        if text.strip():
            shape = shape_of(text)
            shown = masked_setting(text) if shape in ("setting", "environment") else text
            yield StatisticsLine(index + 1, shape, shown)


def masked_setting(text: str) -> str:
    """The line with ``***`` for what looks secret, and for the job's key."""
    hidden = _PRIVATE.sub(rf"\1{MASK}", text)
    return hidden if hidden != text else masked(text)


def job_of(lines: list[str]) -> str:
    """A digest of the job's key, "" where none is told: it says which files belong together, and
    nobody can speak to the job by it.
    """
    for line in lines[_begin(lines) :]:
        if line.startswith(_JOB):
            key = line.removeprefix(_JOB).strip().encode("utf-8", "replace")
            return hashlib.sha256(key).hexdigest()[:12]
    return ""
