"""Commands that set the processor's clock: cpupower, tuned-adm."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wireproof.lint.admin.by_program import by_program, on
from wireproof.lint.files.nearest import nearest
from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.shell import Command, Edit, Word
from wireproof.lint.tables import listed

__all__ = ["CHECKS"]

FREQUENCY = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)([kKmMgGtT]?)(?:[hH][zZ])?$")
SCALE = {"": 1.0, "k": 1.0, "m": 1e3, "g": 1e6, "t": 1e9}  # in kHz: the unit that cpupower assumes


def cpupower(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """One cpupower command. All corrections of its options go into one fix; typographic dashes
    alone have a rule of their own.
    """
    rights = [(word, option(word.text)) for word in command.words[1:]]
    wrong: list[Edit] = [(word, right) for word, right in rights if right != word.text]
    governor = governor_of(command)
    edits = list(wrong)
    if governor is not None:
        lower = governor.text.lower()
        meant = nearest(lower, listed("governors"), 0.7) or lower
        edits.append((governor, meant if meant in listed("governors") else governor.raw))
    wrong = [edit for edit in wrong if edit[0] is not governor and edit[0].text.startswith("-")]
    if wrong:
        seen = " ".join(word.text for word, _ in wrong)
        yield on("cpupower-option", recipe, command, wrong[0][0], seen, edits)
    if governor is not None:
        fix = edits if edits[-1][1] in listed("governors") else None
        yield on("cpupower-governor", recipe, command, governor, "", fix)
    yield from order(recipe, command)
    yield from limits(recipe, command)


def option(text: str) -> str:
    """An option as cpupower wants it: ``–min`` and ``-min`` are ``--min``, ``–c`` is ``-c``."""
    found = re.match(r"([-–—−]+)([A-Za-z][\w-]*)(=.*)?$", text)
    if found is None:
        return text
    name = found.group(2)
    if len(name) == 1:
        return f"-{name}{found.group(3) or ''}"
    long = name in listed("cpupower-options") or found.group(1)[0] != "-"
    return f"--{name}{found.group(3) or ''}" if long else text


def governor_of(command: Command) -> Word | None:
    """The governor's word when it is none that exists."""
    for at, word in enumerate(command.words[:-1]):
        value = command.words[at + 1]
        if option(word.text) in ("-g", "--governor"):
            known = value.text in listed("governors") or not re.match(r"[A-Za-z]+$", value.text)
            return None if known else value
    return None


def order(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """``frequency-set -c all``, and a subcommand that is misspelt."""
    texts = command.texts
    at = next((at for at, text in enumerate(texts) if text in listed("cpupower-subcommands")), None)
    if at is None:
        yield from subcommand(recipe, command)
    elif texts[at].startswith("frequency"):
        cpu = (place for place in range(at + 1, len(texts) - 1) if is_cpu(texts[place]))
        place = next(cpu, None)
        if place is not None:
            flag, cpus = command.words[place], command.words[place + 1]
            edits = [(command.words[at], f"-c {cpus.raw} {texts[at]}"), (flag, ""), (cpus, "")]
            yield on("cpupower-order", recipe, command, flag, f"{texts[at]} -c {cpus.text}", edits)


def is_cpu(text: str) -> bool:
    """The option that chooses processors, however its dashes are written."""
    return option(text) in ("-c", "--cpu")


def subcommand(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """``frequency_set``: the first word that resembles a subcommand."""
    for word in command.words[1:]:
        name, known = word.text.replace("_", "-"), listed("cpupower-subcommands")
        meant = name if name in known else nearest(name, known, 0.85)
        if meant and not word.text.startswith("-"):
            yield on("cpupower-option", recipe, command, word, "", [(word, meant)])
            return


def limits(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """--min above --max."""
    values: dict[str, Word] = {}
    for at, word in enumerate(command.words[:-1]):
        name = {"-d": "--min", "-u": "--max"}.get(option(word.text), option(word.text))
        values.setdefault(name, command.words[at + 1])
    low, high = (
        kilohertz(values[name].text) if name in values else None for name in ("--min", "--max")
    )
    if low is not None and high is not None and low > high:
        word = values["--min"]
        yield on(
            "cpupower-frequency", recipe, command, word, f"{word.text} > {values['--max'].text}"
        )


def kilohertz(text: str) -> float | None:
    """A frequency in kHz, None when it is none."""
    found = FREQUENCY.match(text)
    return float(found.group(1)) * SCALE[found.group(2).lower()] if found else None


def tuned(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """One tuned-adm command."""
    if len(command.words) < 2:
        return
    first = command.words[1]
    if first.text in listed("tuned-profiles"):
        yield on("tuned-profile", recipe, command, first, "", [(first, f"profile {first.raw}")])
    elif first.text == "profile":
        for word in command.words[2:]:
            meant = nearest(word.text, listed("tuned-profiles"), 0.85)
            if (
                meant
                and "-" in meant
                and not meant.startswith(word.text)
                and not word.text.startswith(meant)
            ):
                yield on(
                    "tuned-profile",
                    recipe,
                    command,
                    word,
                    f"{word.text}; nearest is {meant}",
                    [(word, meant)],
                )


CHECKS = (by_program({"cpupower": cpupower, "tuned-adm": tuned}),)
