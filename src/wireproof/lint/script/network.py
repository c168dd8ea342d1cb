"""Rules for the tools that measure a network without MPI: perftest and qperf. Those that are rows
are in ``rules/benchmarks.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.shell import Command, Word, at_word, commands, corrected

__all__ = ["CHECKS"]


_PERFTEST = re.compile(r"(ib|raw_ethernet)_(write|read|send|atomic|burst)_(bw|lat)\Z")
# Options of perftest without a value; all others of one letter take one.
_FLAGS = frozenset(f"-{letter}" for letter in "abeFghHNORUVzXWPEKj")
_CM = re.compile(r"[-–—−]R|--rdma_cm")
_OPA_MTU = 8192
_LONGEST = 4000
_OMNI_PATH = re.compile(r"\b(?:hfi1|hfi1_\d|opainfo|opafm|opaconfig)\b|\bOmni-Path\b")
_TESTS = re.compile(
    r"(tcp|udp|sdp|sctp|rds)_(bw|lat)|(rc|uc|ud|xrc)_(bi_bw|bw|lat|rdma_\w+|compare_swap_mr"
    r"|fetch_add_mr)|ver_\w+|conf|quit\Z"
)


def perftest(recipe: Recipe) -> Iterator[Broken]:
    """MTUs that are not chosen; sides that do not match."""
    servers: dict[str, Command] = {}
    for command in commands(recipe):
        if not _PERFTEST.match(command.program):
            continue
        if not any(_CM.fullmatch(text) for text in command.texts):
            yield from _small_mtu(recipe, command)
        if not _host(command):
            servers[command.program] = command
        elif command.program in servers:
            yield from _sides(servers.pop(command.program), command)


def _sides(server: Command, client: Command) -> Iterator[Broken]:
    """Options that both ends must have."""
    differ = [
        flag for flag in ("-R", "-a", "-b") if (flag in server.texts) != (flag in client.texts)
    ]
    if differ and client.line - server.line <= 20:
        lines = f"lines {server.line} and {client.line}"
        seen = f"{', '.join(differ)} on one side only ({lines})"
        yield Broken("perftest-sides-differ", client.line, client.words[0].column, seen)


def _small_mtu(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """A bandwidth over Omni-Path whose queue pair keeps an MTU of InfiniBand."""
    size = _value(command, "-s") or _value(command, "--size")
    small = size is not None and (not size.text.isdigit() or int(size.text[:9]) < _OPA_MTU)
    shown = any(text in ("-h", "--help", "-V", "--version") for text in command.texts)
    device = _value(command, "-d") or _value(command, "--ib-dev")
    fits = device.text.startswith("hfi1") if device is not None else omni_path(recipe)
    if fits and command.program.endswith("_bw") and not small and not shown:
        word = command.words[0]
        fix = corrected(recipe, [(word, f"{word.raw} -R")], word.line)
        yield at_word("perftest-without-cm", word, command.text, fix)


@lru_cache(maxsize=4)
def omni_path(recipe: Recipe) -> bool:
    """Whether the text is about Omni-Path's adapters, and about no other InfiniBand."""
    texts = [line[:_LONGEST] for line in recipe.lines]
    return any(_OMNI_PATH.search(line) for line in texts) and not any(
        "mlx" in line or "mthca" in line for line in texts
    )


def _value(command: Command, option: str) -> Word | None:
    for at, word in enumerate(command.words[:-1]):
        if word.text == option:
            return command.words[at + 1]
    return None


def _host(command: Command) -> bool:
    """A word that is neither option nor value: the server's name."""
    at = 1
    while at < len(command.words):
        text = command.words[at].text
        if not text.startswith(("-", "–")):
            return True
        at += 1 if text.startswith("--") or "-" + text[1:] in _FLAGS else 2
    return False


def qperf(recipe: Recipe) -> Iterator[Broken]:
    """Options behind the tests."""
    for command in commands(recipe):
        if command.program == "qperf":
            tests = [at for at, text in enumerate(command.texts) if _TESTS.match(text)]
            if tests:
                yield from _late(recipe, command, tests[0], tests[-1])


def _late(recipe: Recipe, command: Command, first: int, last: int) -> Iterator[Broken]:
    """Options behind the tests, which are the words ``first`` to ``last``."""
    words, behind = command.words, command.words[last + 1 :]
    if any(text in ("-lp", "--listen_port") for text in command.texts[last:]):
        return
    late = [word for word in behind if re.match(r"[-–]{1,2}[a-z]", word.text)]
    if late:
        moved = [*words[:first], *behind, *words[first : last + 1]]
        edits = [(old, new.raw) for old, new in zip(words, moved, strict=True)]
        fix = corrected(recipe, edits, command.line) if command.line == command.last else None
        yield at_word("qperf-option-order", late[0], command.text, fix)


CHECKS = (perftest, qperf)
