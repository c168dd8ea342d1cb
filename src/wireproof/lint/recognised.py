"""Whether a text is a recipe at all: something in it must be what a rule could look at."""

from __future__ import annotations

from wireproof.lint.kinds import detected, kind_of_line
from wireproof.lint.rule import Recipe
from wireproof.lint.script.job import jobs
from wireproof.lint.script.launch import BENCHMARK
from wireproof.lint.shell import commands
from wireproof.lint.shell.wrap import LAUNCHERS
from wireproof.lint.tables import libraries, listed

__all__ = ["is_recipe"]

_BATCH = ("#SBATCH", "#PBS", "#BSUB", "#flux:")


def is_recipe(text: str, name: str) -> bool:
    """Whether the path tells what the file is, or a line is a batch option, a line of a
    configuration file, a variable or a command that rules are about. A log, a table or a list of
    users has none: "no problems found" would be a judgement of nothing.
    """
    lines = tuple(line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n"))
    kind = detected(name, lines)
    if kind != "unknown":
        return True
    if any(line.startswith(_BATCH) or kind_of_line(line) for line in lines):
        return True
    recipe = Recipe(name, "script", lines)
    if any(_is_known(command.program) for command in commands(recipe)):
        return True
    return any(_is_variable(each.name) for job in jobs(recipe) for each in job.settings)


def _is_known(program: str) -> bool:
    return program in LAUNCHERS | listed("programs") or BENCHMARK.match(program) is not None


def _is_variable(name: str) -> bool:
    return any(name.startswith(library.prefix) for library in libraries())
