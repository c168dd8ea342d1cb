"""``wireproof resume FOLDER``: measure what is missing of a check that was broken off, and judge
the whole.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click
from click.core import ParameterSource

from wireproof.cli.context import Context, current_context
from wireproof.cli.declare import flag, text
from wireproof.cli.options import settings_file
from wireproof.model.errors import BadInput
from wireproof.settings.resolve import PREFIX
from wireproof.workflow.resume import (
    ASKED,
    EACH_TIME,
    STORABLE,
    Invocation,
    StoredInvocation,
    given_again,
    names_program,
    recall,
    stored_variables,
    without_settings,
)

__all__ = ["command", "invocation_of", "safe_words"]


def invocation_of(context: click.Context) -> Invocation:
    """How the subcommand of ``context`` was asked for, in words that mean the same from
    everywhere.
    """
    variables = {PREFIX + name.upper(): text for name, (text, _) in settings_file().items()}
    environment = current_context().environment
    variables |= {name: text for name, text in environment.items() if name.startswith(PREFIX)}
    options = list(_given(context))
    words = [
        word for one in options if not names_program(one[0].name, one[1]) for word in _words(*one)
    ]
    return Invocation(
        argv=(context.info_name or "", *words),
        environment=variables,
        again=tuple(
            parameter.name or ""
            for parameter, value in options
            if names_program(parameter.name, value)
        ),
    )


def _given(context: click.Context) -> Iterator[tuple[click.Parameter, object]]:
    """Every option of the command line with its value, but those that each time has its own of."""
    for parameter in context.command.params:
        name = parameter.name or ""
        chosen = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if chosen and name in STORABLE:
            yield parameter, context.params[name]


def _words(parameter: click.Parameter, value: object) -> Iterator[str]:
    """The option as it is typed; paths are absolute, to mean the same from everywhere."""
    for one in value if isinstance(value, tuple) else (value,):
        yield parameter.opts[-1]
        if isinstance(one, Path):
            yield str(one.absolute())
        elif one is not True:
            yield _absolute(str(one)) if parameter.name == "hosts" else str(one)


def _absolute(hosts: str) -> str:
    """A list of hosts in a file, wherever it is read from."""
    return (
        f"file:{os.path.abspath(hosts.removeprefix('file:'))}"
        if hosts.startswith("file:")
        else hosts
    )


def safe_words(asked: StoredInvocation, group: click.Group) -> list[str]:
    """The stored words, parsed as a command line and written anew from what is allowed.

    Raises ``BadInput`` for an option that a stored run may not choose, and for a program that is to
    be named again.
    """
    verb = asked.argv[0]
    command = group.commands.get(verb) or group.get_command(click.Context(group), verb)
    assert command is not None  # noqa: S101  one of RESUMABLE
    context = command.make_context(verb, list(asked.argv[1:]), resilient_parsing=False)
    for name in sorted(parameter.name or "" for parameter in command.params):
        chosen = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if chosen and name not in STORABLE | EACH_TIME:
            raise BadInput(
                f"{ASKED} asks for {name}, which a stored run may not choose: repeat the command"
                " yourself."
            )
    for parameter, value in _given(context):
        if names_program(parameter.name, value):
            raise given_again(parameter.name or "", str(value))
    return [verb, *(word for one in _given(context) for word in _words(*one))]


OPTIONS: tuple[click.Parameter, ...] = (
    click.Argument(["folder"], type=click.Path(path_type=Path)),
    text("--mpi", "PATH|NAME", "the MPI, where the check was begun with a path."),
    text(
        "--launcher",
        "ssh|PATH",
        "how hosts are reached, where it was begun with a program.",
    ),
    text("--prefix", "'CMD ARG...'", "site command of every rank, where it was begun with one."),
    flag("--json as_json", "one JSON document on stdout."),
)


@click.command("resume", params=[*OPTIONS])
@click.pass_context
def command(context: click.Context, /, folder: Path, as_json: bool, **programs: str) -> int:
    """Go on with the check in FOLDER: hosts that were lost are tried again, only what is missing is
    measured.

    The options, the seed and the settings of the first time count, and are shown. Programs are
    never taken from FOLDER: those that the first time had are given again. The whole is judged
    anew.
    """
    from wireproof.cli.console import Console, say

    folder = folder.absolute()
    asked = recall(folder)
    group = context.find_root().command
    assert isinstance(group, click.Group)  # noqa: S101  the program's own
    for name in asked.again:
        if not programs[name]:
            raise given_again(name)
    words = safe_words(asked, group)
    words += [word for name, value in programs.items() if value for word in (f"--{name}", value)]
    words += ["--resume", "--out", str(folder), "--seed", str(asked.seed)]
    words += ["--json"] if as_json else []
    variables = stored_variables(asked, Console())
    shown = [f"{name}={value}" for name, value in sorted(variables.items())]
    say(" ".join([*shown, "wireproof", *words]))
    resumed = Context(
        argv=tuple(words),
        environment={**without_settings(os.environ), **variables},
        signals=current_context().signals,
        resumed=True,
    )
    with group.make_context("wireproof", list(words), obj=resumed) as inner:
        return int(group.invoke(inner) or 0)
