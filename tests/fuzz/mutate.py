"""Inputs for the parsers: pieces of the golden logs, damaged in the ways that logs are, and in ways
that no log is.
"""

import random
from collections.abc import Callable
from pathlib import Path

from wireproof.logs.readers import read
from wireproof.model.errors import BadInput

GOLDEN = Path(__file__).parents[1] / "golden"
_PIECE = 3000
_MOST = 1 << 17

_ABSURD = [
    b"nan",
    b"inf",
    b"-1",
    b"1e300",
    b"-0.0",
    b"1e-400",
    b"1e-320",
    b"5e-324",
    b"1e-14",
    b"1e17",
    b"9" * 40,
    b"9" * 5000,
    b"0x10",
    b"1_000",
    b"1,000,000",
    b"1.2.3",
    b"N/A",
    b"",
    b"-",
    b"+5",
    b"1e",
    b".5",
    b"5.",
    "٣٤".encode(),
    "１２".encode(),
    b"=10",
    b"1.5k",
    b"0",
    b"00000000001",
]
_FILLERS = [
    b" ",
    b"9",
    b"#",
    b"(",
    b"[",
    b"{",
    b"a_",
    b"-",
    b"=",
    b"\t",
    b"|",
    b"1 ",
    b"0.",
    b"\x1b[",
    b'"',
    b"<td>",
    b"x:",
    b"\n",
]
_LINES = [
    b"WARNING: no device",
    "警告 接続".encode(),
    b"[1,0]<stdout>:",
    b"> ",
    b"\xff\xfe\xfd",
    b"\x1b]0;title\x07",
    b"---",
    b"}",
    b"{",
    b"# OSU MPI Latency Test v7.4",
    b"#bytes #repetitions t[usec] Mbytes/sec",
    b"START mpiGraph v1.5",
    b"bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec",
    b"# Benchmarking PingPong",
    b"#       size         count      type   redop    root     time   algbw   busbw #wrong",
    b"Final:  1 2 3",
    (
        b"| Stage | # iterations | 50.0%ile | average | overall | average | overall | average | "
        b"overall |"
    ),
]

Mutation = Callable[[random.Random, list[bytes]], None]


def _at(choice: random.Random, lines: list[bytes]) -> int:
    return choice.randrange(len(lines))


def _drop(choice: random.Random, lines: list[bytes]) -> None:
    start = _at(choice, lines)
    del lines[start : start + choice.randint(1, 4)]


def _repeat(choice: random.Random, lines: list[bytes]) -> None:
    start = _at(choice, lines)
    lines[start:start] = lines[start : start + 3] * choice.choice((1, 2, 30))


def _swap(choice: random.Random, lines: list[bytes]) -> None:
    one, other = _at(choice, lines), _at(choice, lines)
    lines[one], lines[other] = lines[other], lines[one]


def _tear(choice: random.Random, lines: list[bytes]) -> None:
    at = _at(choice, lines)
    lines[at] = lines[at][: choice.randint(0, len(lines[at]))]


def _join(choice: random.Random, lines: list[bytes]) -> None:
    at = _at(choice, lines)
    lines[at : at + 2] = [b"".join(lines[at : at + 2])]


def _word(choice: random.Random, lines: list[bytes]) -> None:
    at = _at(choice, lines)
    words = lines[at].split(b" ")
    words[choice.randrange(len(words))] = choice.choice(_ABSURD)
    lines[at] = b" ".join(words)


def _flip(choice: random.Random, lines: list[bytes]) -> None:
    at = _at(choice, lines)
    text = bytearray(lines[at])
    for _ in range(min(len(text), choice.randint(1, 4))):
        text[choice.randrange(len(text))] = choice.choice(
            b"0123456789 .-:,#|/\x00\x1b\x80\xff\r\n(){}[]"
        )
    lines[at] = bytes(text)


def _fill(choice: random.Random, lines: list[bytes]) -> None:
    at = _at(choice, lines)
    where = choice.randint(0, len(lines[at]))
    run = choice.choice(_FILLERS) * choice.choice((3, 40, 700))
    lines[at] = lines[at][:where] + run + lines[at][where:]


def _strange(choice: random.Random, lines: list[bytes]) -> None:
    lines.insert(_at(choice, lines), choice.choice(_LINES))


MUTATIONS: tuple[Mutation, ...] = (
    _drop,
    _repeat,
    _swap,
    _tear,
    _join,
    _word,
    _word,
    _word,
    _flip,
    _flip,
    _fill,
    _strange,
)


def seeds_of(tool: str) -> list[bytes]:
    """Pieces of the golden logs that hold results of a tool."""
    found = []
    for path in sorted((GOLDEN / "logs").iterdir()):
        data = path.read_bytes()
        try:
            series = read(data, path.name)
        except BadInput:
            continue
        mine = [one for one in series if one.tool == tool]
        lines = data.splitlines(keepends=True)
        for one in mine[:4]:
            begin = sum(map(len, lines[: max(0, one.first_line - 8)]))
            found.append(data[begin : begin + _PIECE])
    return found


def damaged(choice: random.Random, seeds: list[bytes]) -> bytes:
    """One input: a seed with some damage; now and then repeated to 100 kB, so that what is not
    linear shows.
    """
    lines = choice.choice(seeds).split(b"\n")
    for _ in range(choice.choice((1, 1, 2, 3, 5, 9))):
        if lines:
            choice.choice(MUTATIONS)(choice, lines)
    if choice.random() < 0.05:
        lines += choice.choice(seeds).split(b"\n")
    data = b"\n".join(lines)
    if choice.random() < 0.002:
        data *= max(1, _MOST // max(1, len(data)))
    if choice.random() < 0.1:
        data = data[: choice.randint(0, len(data))]
    return data[: _MOST + _PIECE]
