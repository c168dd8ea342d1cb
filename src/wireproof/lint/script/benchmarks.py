# pure
"""Rules for the programs that measure a network: the Intel MPI Benchmarks, the OSU
Micro-Benchmarks, perftest and qperf. Rules that are rows are in ``rules/benchmarks.toml``.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.script import launched
from wireproof.lint.script.variables import distance
from wireproof.lint.shell import Command, at_word, commands, corrected, edited
from wireproof.lint.tables import listed

_SUITES = ("IMB-MPI1", "IMB-P2P", "IMB-RMA", "IMB-EXT", "IMB-MT", "IMB-NBC")
_TWO = re.compile(
    r"osu_(latency|bw|bibw|(put|get|acc|cas|fop|get_acc)_(latency|bw|bibw)|(latency|bw"
    r"|bibw)_persistent)\Z"
)
_EVEN = ("osu_mbw_mr", "osu_multi_lat")


def misspelt(recipe: Recipe) -> Iterator[Broken]:
    """Find misspelt programs, such as ``osu_latancy``."""
    for command in commands(recipe):
        name = command.program
        if not re.fullmatch(r"osu_[a-z_]{2,40}", name) or name in listed("osu"):
            continue
        long = (known for known in sorted(listed("osu")) if len(known) > 8)
        near = [known for known in long if distance(name, known, 2) <= 2]
        if len(near) == 1:
            word, seen = command.words[0], f"{name}; did you mean {near[0]}?"
            new = word.raw.replace(name, near[0])
            yield edited("benchmark-misspelt", recipe, word, new, seen)


def unknown(recipe: Recipe) -> Iterator[Broken]:
    """Find benchmarks that a program does not have, such as ``IMB-RMA PingPong``."""
    for command in commands(recipe):
        for word in command.words[1:] if command.program in _SUITES else ():
            if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]+", word.text):
                break
            seen = _unknown(command.program, word.text)
            if seen:
                yield at_word("imb-unknown-benchmark", word, seen)


def _unknown(program: str, name: str) -> str:
    """Return what is wrong with a benchmark of a suite; "" if the suite has it, or may have it."""
    known, lower = listed(program), name.lower()
    elsewhere = [other for other in _SUITES if lower in listed(other)]
    if lower in known:
        return ""
    if elsewhere:
        return f"{name} is in {', '.join(elsewhere)}"
    near = sorted(each for each in known if distance(lower, each, 2) <= 2 and len(each) > 5)
    return f"{name} for {program}; {near[0]} is meant?" if len(near) == 1 else ""


def ranks(recipe: Recipe) -> Iterator[Broken]:
    """Check the number of ranks of OSU benchmarks. The ranks of several programs in a line (``prog1
    : -n 1 prog2``) add up.
    """
    for _, launch in launched(recipe):
        words, name, count = launch.command.words, launch.benchmark, launch.ranks
        if count is None or any(word.text == ":" for word in words):
            continue
        if _TWO.match(name) and count != 2:
            yield at_word("osu-needs-two", words[0], f"{name} with {count}")
        elif name in _EVEN and count % 2:
            yield at_word("osu-needs-even", words[0], f"{name} with {count}")


# --- perftest and qperf.

_PERFTEST = re.compile(r"(ib|raw_ethernet)_(write|read|send|atomic|burst)_(bw|lat)\Z")
# Options of perftest without a value; all other one-letter options take a value.
_FLAGS = frozenset(f"-{letter}" for letter in "abeFghHNORUVzXWPEKj")
_LONG = ("--ib-dev", "--connection", "--bind_source_ip")
_CM = re.compile(r"[-–—−]R|--rdma_cm")
_OPA_MTU = 8192
_LONGEST = 4000
_OMNI_PATH = re.compile(r"\b(?:hfi1|hfi1_\d|opainfo|opafm|opaconfig)\b|\bOmni-Path\b")
_TESTS = re.compile(
    r"(tcp|udp|sdp|sctp|rds)_(bw|lat)|(rc|uc|ud|xrc)_(bi_bw|bw|lat|rdma_\w+|compare_swap_mr"
    r"|fetch_add_mr)|ver_\w+|conf|quit\Z"
)


def perftest(recipe: Recipe) -> Iterator[Broken]:
    """Find impossible MTUs, and sides that do not match."""
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
    """Find options that both ends must share."""
    both = sorted(each.split(",") for each in listed("perftest-both"))
    pairs = [(names, _given(server, names), _given(client, names)) for names in both]
    differ = [names[0] for names, *sides in pairs if sides[0] != sides[1] and "$" not in sides]
    if differ and client.line - server.line <= 20:
        lines = f"lines {server.line} and {client.line}"
        seen = f"{', '.join(differ)} on one side only, or with another value ({lines})"
        yield Broken("perftest-sides-differ", client.line, client.words[0].column, seen)


def _given(command: Command, names: Sequence[str]) -> str | None:
    """Return the value of an option, by its short name and its long name; "" for a flag, "$" for a
    value that the shell inserts, None if the command does not have the option.
    """
    for option, value in pairwise((*command.texts, "")):
        name, equals, inside = option.partition("=")
        if name in names:
            text = inside if equals else "" if names[0] in _FLAGS else value
            return "$" if "$" in text else text
    return None


def clients(recipe: Recipe) -> Iterator[Broken]:
    """Find clients of a program or port for which the recipe starts no server on another host,
    although it starts others there.
    """
    every = commands(recipe)
    tools = [one for one in every if one.program == "iperf3" or _PERFTEST.match(one.program)]
    servers = [one for one in tools if _serves(one)]
    for client in tools:
        if not _serves(client) and _unserved(client, servers):
            yield at_word("client-without-server", client.words[0], client.text)


def _unserved(client: Command, servers: list[Command]) -> bool:
    """Return whether servers of the tool are started on other hosts, but none for the client."""
    alike = [one for one in servers if (one.program == "iperf3") == (client.program == "iperf3")]
    ports = {(one.program, _port(one)) for one in alike}
    program, port = client.program, _port(client)
    unknown = "$" in (port, *(each for _, each in ports))
    return any(one.outer for one in alike) and not unknown and (program, port) not in ports


def _port(command: Command) -> str:
    return _given(command, ("-p", "--port")) or ("5201" if command.program == "iperf3" else "18515")


def _serves(command: Command) -> bool:
    if command.program == "iperf3":
        return not {"-c", "--client"} & {text.partition("=")[0] for text in command.texts}
    return not _host(command)


def _small_mtu(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """Find a bandwidth test over Omni-Path whose queue pair keeps an InfiniBand MTU."""
    size = command.value("-s") or command.value("--size")
    small = size is not None and (not size.text.isdigit() or int(size.text[:9]) < _OPA_MTU)
    shown = any(text in ("-h", "--help", "-V", "--version") for text in command.texts)
    device = command.value("-d") or command.value("--ib-dev")
    fits = device.text.startswith("hfi1") if device is not None else omni_path(recipe)
    if fits and command.program.endswith("_bw") and not small and not shown:
        word = command.words[0]
        yield edited("perftest-without-cm", recipe, word, f"{word.raw} -R", command.text)


@lru_cache(maxsize=4)
def omni_path(recipe: Recipe) -> bool:
    """Return whether the text is about Omni-Path adapters and no other InfiniBand."""
    texts = [line[:_LONGEST] for line in recipe.lines]
    return any(_OMNI_PATH.search(line) for line in texts) and not any(
        "mlx" in line or "mthca" in line for line in texts
    )


def _host(command: Command) -> bool:
    words = iter(command.texts[1:])
    for text in words:
        if not text.startswith(("-", "–")) and not text.isdigit():
            return True
        if text in _LONG or not (text.startswith("--") or "-" + text[1:] in _FLAGS):
            next(words, None)  # the value of the option
    return False


def qperf(recipe: Recipe) -> Iterator[Broken]:
    """Find options after the tests."""
    for command in commands(recipe):
        if command.program == "qperf":
            tests = [at for at, text in enumerate(command.texts) if _TESTS.match(text)]
            if tests:
                yield from _late(recipe, command, tests[0], tests[-1])


def _late(recipe: Recipe, command: Command, first: int, last: int) -> Iterator[Broken]:
    words, behind = command.words, command.words[last + 1 :]
    if any(text in ("-lp", "--listen_port") for text in command.texts[last:]):
        return
    late = [word for word in behind if re.match(r"[-–]{1,2}[a-z]", word.text)]
    if late:
        moved = [*words[:first], *behind, *words[first : last + 1]]
        edits = [(old, new.raw) for old, new in zip(words, moved, strict=True)]
        fix = corrected(recipe, edits, command.line) if command.line == command.last else None
        yield at_word("qperf-option-order", late[0], command.text, fix)


CHECKS = (misspelt, unknown, ranks, perftest, clients, qperf)
