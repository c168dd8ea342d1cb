"""What launchers and tools for many hosts put in front of each line, taken off: rank and host
labels, time stamps, quotes, list marks.

Lines of several ranks or hosts that are mixed up are told apart by their labels: each label's lines
are a log of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

__all__ = ["streams"]

_STAMP = re.compile(
    r"^[ ]*(?:>[ ]|"  # an e-mail's quote; the time stamps of build servers and container logs
    r"\[?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?(?:[ ]|$))"
)
# the items of a list in YAML, and of one in JSON, as Ansible prints what a command has printed
_ITEM = re.compile(r"^[ ]*-(?:[ ]|$)")
_QUOTED = re.compile(r"""^[ ]*(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'),?[ ]*$""")
# srun -l, mpirun --tag-output, Intel's -l; pdsh, clush and dsh; Fabric and parallel-ssh
_PROGRAMS = r"(?:iperf3?|[a-z]*perf|ib_\w{1,20}|mpi\w{1,10}|s?run|slurmstepd|WARNING|ERROR|Error)"
_LABEL = re.compile(
    r"^[ ]*(?:(\d{1,7}):(?:[ ]|$)|\[(\d{1,5}(?:,\d{1,7})?)\](?:<std(?:out|err)>:?)?[ ]?|"
    rf"(?!{_PROGRAMS}:)([A-Za-z0-9][A-Za-z0-9._-]{{0,62}}):(?:[ ]|$)|"
    r"\[([A-Za-z0-9][A-Za-z0-9._-]{0,62})\](?: (?:out|err):|:)[ ]?)"
)
_SHARE = 0.6
_SAMPLE = 200
_LAYERS = 4
_REPEATS = 3  # lines a label has at least, on average: "Device: mlx5_0" is none


def streams(lines: list[str]) -> list[tuple[str, list[int], list[str]]]:
    """(label, indexes, lines) of each label, in the order of their first lines; one with the label
    "" where the lines have none, or all the same.
    """
    keys: list[str] | None = None
    for _ in range(_LAYERS):
        sample = [line for line in lines[: 4 * _SAMPLE] if line.strip()][:_SAMPLE]
        if not sample:
            break
        undecorated = _undecorated(lines, sample)
        if undecorated is not None:
            lines = undecorated
        elif _labelled(sample):
            lines, keys = _unlabelled(lines, keys)
        else:
            break
    return _apart(lines, keys)


def _most(pattern: re.Pattern[str], sample: Sequence[str]) -> bool:
    return sum(pattern.match(line) is not None for line in sample) >= _SHARE * len(sample)


def _undecorated(lines: list[str], sample: Sequence[str]) -> list[str] | None:
    """The lines without what most of them have in front; None if most have nothing."""
    if _most(_STAMP, sample):
        return [_STAMP.sub("", line, count=1) for line in lines]
    if _most(_ITEM, sample):
        return [_unquoted(_ITEM.sub("", line, count=1)) for line in lines]
    if _most(_QUOTED, sample):
        return [_unquoted(line) for line in lines]
    return None


def _unquoted(line: str) -> str:
    match = _QUOTED.match(line)
    if match is None:
        return line
    double, single = match.groups()
    return single.replace("''", "'") if double is None else double.replace('\\"', '"')


def _name(match: re.Match[str]) -> str:
    return next(filter(None, match.groups()), "")


def _labelled(sample: Sequence[str]) -> bool:
    """Most lines begin with a label, and the labels come again."""
    found = [(match, line) for line in sample if (match := _LABEL.match(line)) is not None]
    names = Counter(_name(match) for match, _ in found)
    count = len(found)
    if 2 * sum(match.end() < len(line) for match, line in found) <= count:
        return False  # headings that stand alone in their lines
    least = min(_REPEATS, len(sample)) * len(names)
    ranks = all(name.replace(",", "").isdigit() for name in names)
    return count >= _SHARE * len(sample) and (ranks or count >= least)


def _unlabelled(lines: list[str], keys: list[str] | None) -> tuple[list[str], list[str]]:
    """The lines without their labels, and the labels, behind those that were taken off before."""
    bare, names = [], []
    for index, line in enumerate(lines):
        match = _LABEL.match(line)
        name = _name(match) if match is not None else ""
        bare.append(line[match.end() :] if match is not None else line)
        names.append(f"{keys[index]} {name}".strip() if keys is not None else name)
    return bare, names


def _apart(lines: list[str], keys: list[str] | None) -> list[tuple[str, list[int], list[str]]]:
    names = dict.fromkeys(key for key in keys or () if key)
    if keys is None or len(names) < 2:
        return [("", list(range(len(lines))), lines)]
    found: dict[str, tuple[list[int], list[str]]] = {}
    for index, (key, line) in enumerate(zip(keys, lines, strict=True)):
        indexes, own = found.setdefault(key, ([], []))
        indexes.append(index)
        own.append(line)
    return [(key, indexes, own) for key, (indexes, own) in found.items()]
