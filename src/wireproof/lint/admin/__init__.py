"""Rules for the commands that set up a cluster: addresses, networks, clocks, drivers, packages, the
fabric.
"""

from collections.abc import Callable, Iterator

from wireproof.lint.admin import addresses, machine, software
from wireproof.lint.rule import Broken, Check, Recipe
from wireproof.lint.shell import Command, commands

__all__ = ["CHECKS"]

JUDGES: dict[str, Callable[[Recipe, Command], Iterator[Broken]]] = {
    **addresses.JUDGES,
    **machine.JUDGES,
    **software.JUDGES,
}
"""The judge of each command, by its program."""


def each_command(recipe: Recipe) -> Iterator[Broken]:
    """Run the judge of each command whose program has one."""
    for command in commands(recipe):
        judge = JUDGES.get(command.program)
        if judge is not None:
            yield from judge(recipe, command)


CHECKS: tuple[Check, ...] = (each_command, *addresses.CHECKS, *software.CHECKS)
