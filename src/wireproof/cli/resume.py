"""``wireproof resume FOLDER``: measure what is missing of a check that was broken off, and judge
the whole.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from wireproof.workflow.resume import StoredInvocation

__all__ = ["command"]


def _programs(asked: StoredInvocation, options: dict[str, str | None]) -> list[str]:
    """Options that name programs: from who resumes, and all that the first time had."""
    from wireproof.workflow.resume import told_again

    for name in asked.again:
        if not options[name]:
            raise told_again(name)
    return [word for name, value in options.items() if value for word in (f"--{name}", value)]


def _set_variables(asked: StoredInvocation) -> dict[str, str]:
    """The stored settings become ours; those of the measurement that the first time had not are
    taken away.
    """
    from wireproof.cli.console import say
    from wireproof.workflow.resume import allowed_variables

    stored = allowed_variables(asked.environment)
    for name in sorted(set(asked.environment) - set(stored)):
        say(
            f"{name} is stored with the run and is not used: a stored run chooses no program and no other variable"
        )
    for name in allowed_variables(dict(os.environ)):
        del os.environ[name]
    os.environ.update(stored)
    return stored


@click.command("resume")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--mpi", metavar="PATH|NAME", help="the MPI, where the check was begun with a path.")
@click.option(
    "--launcher",
    metavar="ssh|PATH",
    help="how hosts are reached, where it was begun with a program.",
)
@click.option(
    "--prefix",
    metavar="'CMD ARG...'",
    help="site command of every rank, where it was begun with one.",
)
@click.option("--json", "as_json", is_flag=True, help="one JSON document on stdout.")
@click.pass_context
def command(context: click.Context, /, folder: Path, as_json: bool, **programs: str | None) -> int:
    """Go on with the check in FOLDER: hosts that were lost are tried again, only what is missing is
    measured.

    The options, the seed and the settings of the first time count, and are shown. Programs are
    never taken from FOLDER: those that the first time had are given again. The whole is judged
    anew.
    """
    from wireproof.cli.console import say
    from wireproof.workflow.resume import recall, safe_words

    folder = folder.absolute()
    asked = recall(folder)
    group = context.find_root().command
    assert isinstance(group, click.Group)  # noqa: S101  the program's own
    words = [*safe_words(asked, group), *_programs(asked, programs)]
    words += [
        "--resume",
        "--out",
        str(folder),
        "--seed",
        str(asked.seed),
        *(["--json"] if as_json else []),
    ]
    variables = _set_variables(asked)
    shown = [f"{name}={value}" for name, value in sorted(variables.items())]
    say(" ".join([*shown, "wireproof", *words]))
    with group.make_context(
        "wireproof", list(words), obj={"argv": words, "resumed": True}
    ) as inner:
        return int(group.invoke(inner) or 0)
