"""Rules for the Intel MPI Benchmarks and the OSU Micro-Benchmarks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.script.job import jobs
from wireproof.lint.script.launch import Launch
from wireproof.lint.script.variables import distance
from wireproof.lint.shell import Command, Word, at_word, commands, corrected
from wireproof.lint.tables import listed

__all__ = ["CHECKS"]


_SUITES = ("IMB-MPI1", "IMB-P2P", "IMB-RMA", "IMB-EXT", "IMB-MT", "IMB-NBC")
_TWO = re.compile(
    r"osu_(latency|bw|bibw|(put|get|acc|cas|fop|get_acc)_(latency|bw|bibw)|(latency|bw"
    r"|bibw)_persistent)\Z"
)
_EVEN = ("osu_mbw_mr", "osu_multi_lat")


def misspelt(recipe: Recipe) -> Iterator[Broken]:
    """``osu_latancy``."""
    for command in commands(recipe):
        name = command.program
        if re.fullmatch(r"osu_[a-z_]{2,40}", name) and name not in listed("osu"):
            yield from _misspelt_osu(recipe, command)


def _misspelt_osu(recipe: Recipe, command: Command) -> Iterator[Broken]:
    name, word = command.program, command.words[0]
    long = (known for known in sorted(listed("osu")) if len(known) > 8)
    near = [known for known in long if distance(name, known, 2) <= 2]
    if len(near) == 1:
        fix = corrected(recipe, [(word, word.raw.replace(name, near[0]))], word.line)
        yield at_word("benchmark-misspelt", word, f"{name}, not {near[0]}", fix)


def unknown(recipe: Recipe) -> Iterator[Broken]:
    """``IMB-RMA PingPong``."""
    for command in commands(recipe):
        if command.program not in _SUITES:
            continue
        known = listed(command.program)
        for word in command.words[1:]:
            if word.text.startswith("-") or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]+", word.text):
                break
            broken = _unknown(recipe, command.program, word, known)
            if broken:
                yield broken


def _unknown(recipe: Recipe, program: str, word: Word, known: frozenset[str]) -> Broken | None:
    name = word.text.lower()
    if name in known:
        return None
    elsewhere = [other for other in _SUITES if name in listed(other)]
    if elsewhere:
        return at_word(
            "imb-unknown-benchmark",
            word,
            f"{word.text} is in {', '.join(elsewhere)}",
        )
    near = sorted(each for each in known if distance(name, each, 2) <= 2 and len(each) > 5)
    if len(near) == 1:
        return at_word(
            "imb-unknown-benchmark",
            word,
            f"{word.text} for {program}; {near[0]} is meant?",
        )
    return None


def ranks(recipe: Recipe) -> Iterator[Broken]:
    """The number of ranks of OSU benchmarks."""
    for job in jobs(recipe):
        for launch in job.launches:
            count = launch.ranks
            if count is None or _mixed(launch):
                continue
            place = launch.command.words[0]
            if _TWO.match(launch.benchmark) and count != 2:
                yield at_word("osu-needs-two", place, f"{launch.benchmark} with {count}")
            elif launch.benchmark in _EVEN and count % 2:
                yield at_word("osu-needs-even", place, f"{launch.benchmark} with {count}")


def _mixed(launch: Launch) -> bool:
    """Several programs in one line (``prog1 : -n 1 prog2``): the ranks add up."""
    return any(word.text == ":" for word in launch.command.words)


CHECKS = (misspelt, unknown, ranks)
