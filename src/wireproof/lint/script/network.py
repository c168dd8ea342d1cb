"""Rules for the tools that measure a network without MPI: perftest, iperf3, qperf; and for binding
with taskset.
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
_MTUS = ("256", "512", "1024", "2048", "4096", "9000", "1500")
_CM = re.compile(r"[-–—−]R|--rdma_cm")
_OPA_MTU = 8192
_LONGEST = 4000
_OMNI_PATH = re.compile(r"\b(?:hfi1|hfi1_\d|opainfo|opafm|opaconfig)\b|\bOmni-Path\b")
_CLIENT_TEXT = """-t -O -P -u -n -R -w -l -Z -M -N -k -T -b -C --time --omit --parallel --udp
--bytes --reverse --window --len --length --zerocopy --set-mss --no-delay --bidir --bitrate
--bandwidth --congestion"""
_CLIENT_ONLY = frozenset(_CLIENT_TEXT.split())
_SERVER_ONLY = frozenset(("-1", "--one-off", "-D", "--daemon"))
_TESTS = re.compile(
    r"(tcp|udp|sdp|sctp|rds)_(bw|lat)|(rc|uc|ud|xrc)_(bi_bw|bw|lat|rdma_\w+|compare_swap_mr"
    r"|fetch_add_mr)|ver_\w+|conf|quit\Z"
)


def perftest(recipe: Recipe) -> Iterator[Broken]:
    """MTUs that perftest does not know; sides that do not match."""
    servers: dict[str, Command] = {}
    for command in commands(recipe):
        if not _PERFTEST.match(command.program):
            continue
        mtu = _value(command, "-m") or _value(command, "--mtu")
        if mtu is not None and mtu.text.isdigit() and mtu.text not in _MTUS:
            yield at_word("perftest-mtu", mtu, f"{command.program} -m {mtu.text}")
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


def iperf(recipe: Recipe) -> Iterator[Broken]:
    """Options on the wrong side."""
    for command in commands(recipe):
        if command.program == "iperf3":
            yield from _wrong_side(command)


def _wrong_side(command: Command) -> Iterator[Broken]:
    texts = command.texts[1:]
    server = "-s" in texts or "--server" in texts
    client = any(text == "-c" or text.startswith("--client") for text in texts)
    if server and client:
        yield Broken("iperf3-both-sides", command.line, command.words[0].column, command.text)
    elif server or client:
        code = "iperf3-client-option" if server else "iperf3-server-option"
        wrong = _CLIENT_ONLY if server else _SERVER_ONLY
        for word in command.words[1:]:
            if word.text.partition("=")[0] in wrong:
                yield at_word(code, word, word.text)


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


_PINS = {"qperf": ("-ca", "-lca", "-rca", "--affinity"), "iperf3": ("-A", "--affinity")}
_BY_TASKSET = frozenset(("qperf", "iperf3", "iperf", "netperf", "netserver", "sockperf"))


def first_core(recipe: Recipe) -> Iterator[Broken]:
    """Core 0 for what measures the kernel's sockets."""
    for command in commands(recipe):
        if command.program in _PINS:
            for option in _PINS[command.program]:
                yield from _is_first(_value(command, option), command)
        if command.program in _BY_TASKSET and "taskset" in [each.text for each in command.outer]:
            mask = [word for word in command.outer if re.fullmatch(r"0x0*1|0", word.text)]
            yield from _is_first(mask[0] if mask else None, command)


def _is_first(word: Word | None, command: Command) -> Iterator[Broken]:
    if word is not None and re.fullmatch(r"0(,0)?|0x0*1", word.text):
        yield at_word("pinned-to-core-0", word, command.text)


def taskset(recipe: Recipe) -> Iterator[Broken]:
    """``taskset 0-3 prog``."""
    for command in commands(recipe):
        words = command.words
        if (
            command.program == "taskset"
            and len(words) > 2
            and re.fullmatch(r"\d{1,4}([-,]\d{1,4})+", words[1].text)
        ):
            fix = corrected(recipe, [(words[1], f"-c {words[1].raw}")], words[1].line)
            yield at_word("taskset-list", words[1], command.text, fix)


CHECKS = (perftest, iperf, qperf, first_core, taskset)
