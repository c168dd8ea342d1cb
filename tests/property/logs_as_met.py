"""Logs as they are met in life: cut, quoted, indented, labelled, with noise between the rows; and
how to compare.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path

import msgspec

from wireproof.logs.readers import read
from wireproof.model.errors import BadInput
from wireproof.model.series import Series, SeriesPoint

LOGS = sorted(
    path
    for path in (Path(__file__).parents[1] / "golden" / "logs").iterdir()
    if path.suffix in (".txt", ".out", ".json", ".log")
)
STEP = 97

NOISE = (
    "WARNING: Open MPI accepted a TCP connection from a peer that it does not know.",
    "警告: ノード間の接続が遅い (节点 一)",
    "slurmstepd: Überlauf auf Gerät eth0 — вероятно, кабель",
    "",
)


@lru_cache(maxsize=1024)  # each log as it is beside every change to it
def series_of(data: bytes) -> list[Series]:
    """What a log holds; nothing when it is refused in one sentence."""
    try:
        return read(data, "log")
    except BadInput:
        return []


def plain(point: SeriesPoint) -> SeriesPoint:
    return msgspec.structs.replace(point, line=0)


def by_line(points: list[SeriesPoint]) -> list[SeriesPoint]:
    return [plain(point) for point in sorted(points, key=lambda point: point.line)]


def shape(found: list[Series]) -> list[tuple[object, ...]]:
    """What must not change with the decoration: all but line numbers and sentences."""
    return [
        (
            one.tool,
            one.benchmark,
            one.metric,
            one.traffic,
            one.complete,
            [plain(point) for point in one.points],
        )
        for one in found
    ]


def cuts(data: bytes) -> Iterator[bytes]:
    """The log up to each line's end, and up to each 97th byte."""
    at = data.find(b"\n")
    while at >= 0:
        yield data[: at + 1]
        at = data.find(b"\n", at + 1)
    for end in range(STEP, len(data), STEP):
        yield data[:end]


def poorer(got: SeriesPoint, right: SeriesPoint) -> bool:
    """``got`` says nothing that ``right`` does not say: what came later in a log that was cut may
    be missing in it.
    """
    for name in SeriesPoint.__struct_fields__:
        mine, theirs = getattr(got, name), getattr(right, name)
        if isinstance(mine, dict):
            if not mine.items() <= theirs.items():
                return False
        elif mine not in (None, theirs) and not ("_step" in name and not mine):
            return False
    return True


def broken(whole: list[Series], part: list[Series]) -> str:
    """Why ``part``, read from a cut log, is not a beginning of ``whole``; "" when it is one."""
    for index, one in enumerate(part):
        if not one.points:
            if one.complete:
                return f"series {index} has no point and calls itself complete"
            continue
        if index >= len(whole) or whole[index].tool != one.tool:
            return f"series {index} ({one.tool} {one.benchmark}) is not in the whole log"
        right = by_line(whole[index].points)
        got = by_line(one.points)
        wrong = [
            a
            for a, b in zip(got, right, strict=False)
            if not (poorer(a, b) if a is got[-1] else a == b)
        ]
        if wrong or len(got) > len(right):
            return (
                f"series {index} ({one.tool} {one.benchmark}) has another record: "
                f"{wrong[:1] or got[-1]}"
            )
    return ""


def _each(data: bytes, change: Callable[[str], str]) -> bytes:
    lines = data.decode("utf-8", "replace").splitlines()
    return ("\n".join(change(line) for line in lines) + "\n").encode()


def _barred(line: str) -> str:
    """Cells of a table between bars; a ``name = value`` is no row of cells."""
    return "| " + (line if " = " in line else re.sub(r"[ \t]{2,}", " | ", line)) + " |"


DECORATIONS: dict[str, Callable[[bytes], bytes]] = {
    "carriage returns": lambda data: data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
    "indented by blanks": lambda data: _each(data, lambda line: "      " + line),
    "indented by a tab": lambda data: _each(data, lambda line: "\t" + line),
    "trailing blanks": lambda data: _each(data, lambda line: line + "   "),
    "table bars": lambda data: _each(data, _barred),
    "quoted": lambda data: _each(data, lambda line: "> " + line),
    "srun labels": lambda data: _each(data, lambda line: "0: " + line),
    "pdsh labels": lambda data: _each(data, lambda line: "node01: " + line),
    "padded srun labels": lambda data: _each(data, lambda line: " 00: " + line),
    "tagged output": lambda data: _each(data, lambda line: "[1,0]<stdout>: " + line),
    "a list in YAML": lambda data: _each(data, lambda line: "  - " + line),
    "stamped and labelled": lambda data: _each(
        data, lambda line: "2026-03-01T10:00:00Z cn-07.ib0: " + line
    ),
    "coloured": lambda data: _each(data, lambda line: f"\x1b[32m{line}\x1b[0m"),
    "empty lines": lambda data: _each(data, lambda line: line + "\n"),
    "cells of a web page": lambda data: _each(data, lambda line: f"<tr><td>{line}</td></tr>"),
    "a web page": lambda data: (
        "<html>Начало\n<pre>\n".encode() + data + "</pre>作业 – fertig</html>\n".encode()
    ),
    "byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "utf-16": lambda data: data.decode("utf-8", "replace").encode("utf-16"),
}


def quoted_list(data: bytes) -> bytes:
    """As Ansible prints ``stdout_lines``."""
    return _each(data, lambda line: '        "' + line.replace('"', '\\"') + '",')


def mixed(first: bytes, second: bytes) -> bytes:
    """The lines of two hosts by turns, each behind its host's name."""
    lines = [part.decode("utf-8", "replace").splitlines() for part in (first, second)]
    turns = zip_longest(*lines)
    named = [
        f"{host}: {line}"
        for pair in turns
        for host, line in zip(("cn01", "cn02"), pair, strict=True)
        if line is not None
    ]
    return ("\n".join(named) + "\n").encode()


def with_noise(data: bytes) -> bytes:
    """Lines that are none of the program's between its rows."""
    rows = {point.line for one in series_of(data) for point in one.points}
    lines: list[str] = []
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        lines.append(line)
        if number in rows:
            lines.append(NOISE[number % len(NOISE)])
    return ("\n".join(lines) + "\n").encode()
