"""``wireproof resume FOLDER``: measures what is missing of an interrupted check, and judges the
whole.
"""

import os
from pathlib import Path

import click
from click.core import ParameterSource

from wireproof.cli.console import (
    CallContext,
    Console,
    chosen_form,
    current_context,
    is_quiet,
    remark,
)
from wireproof.cli.declare import JSON, text
from wireproof.cli.options import settings_file
from wireproof.settings.resolve import PREFIX
from wireproof.workflow.resume import (
    STORABLE,
    GivenOption,
    Invocation,
    StoredInvocation,
    programs_again,
    recall,
    stored_variables,
    stored_words,
    without_settings,
)


def invocation_of(context: click.Context) -> Invocation:
    """Return how the subcommand of ``context`` was called, in words that mean the same in any
    folder.
    """
    variables = {PREFIX + name.upper(): text for name, (text, _) in settings_file().items()}
    environment = current_context().environment
    variables |= {name: text for name, text in environment.items() if name.startswith(PREFIX)}
    return Invocation.of(context.info_name or "", _storable(context), variables)


def _chosen(context: click.Context) -> list[str]:
    """Return the names of the options and arguments on the command line."""
    names = (parameter.name or "" for parameter in context.command.params)
    source = context.get_parameter_source
    return [name for name in names if source(name) is ParameterSource.COMMANDLINE]


def _storable(context: click.Context) -> list[GivenOption]:
    """Return every option of the command line, except those that each call sets anew."""
    flags = {parameter.name: parameter.opts[-1] for parameter in context.command.params}
    return [
        GivenOption(name=name, flag=flags[name], value=context.params[name])
        for name in _chosen(context)
        if name in STORABLE
    ]


def safe_words(asked: StoredInvocation, group: click.Group) -> list[str]:
    """Parse the stored words as a command line, and rebuild it from allowed options."""
    verb = asked.argv[0]
    command = group.commands.get(verb) or group.get_command(click.Context(group), verb)
    assert command is not None  # noqa: S101  one of RESUMABLE
    context = command.make_context(verb, list(asked.argv[1:]), resilient_parsing=False)
    return stored_words(verb, _chosen(context), _storable(context))


OPTIONS: tuple[click.Parameter, ...] = (
    click.Argument(["folder"], type=click.Path(path_type=Path)),
    text("--mpi", "PATH|NAME", "the MPI, if the check was started with a path."),
    text(
        "--launcher",
        "ssh|PATH",
        "how hosts are reached, if it was started with a program.",
    ),
    text(
        "--prefix", "'CMD ARG...'", "site command of every rank, if it was started with a command."
    ),
    JSON,
)


@click.command("resume", params=[*OPTIONS])
@click.pass_context
def command(context: click.Context, /, folder: Path, **programs: str) -> int:
    """Continue the check in FOLDER: lost hosts are tried again, and only what is missing is
    measured.

    The options, the seed and the settings of the first call apply, and are shown. Programs are
    never taken from FOLDER: give those of the first call again. The whole is judged again.
    """
    folder = folder.absolute()
    asked = recall(folder)
    group = context.find_root().command
    assert isinstance(group, click.Group)  # noqa: S101  the program's own
    again = programs_again(asked, programs)
    words = [*safe_words(asked, group), *again]
    words += ["--resume", "--out", str(folder), "--seed", str(asked.seed)]
    words += ["--json"] if chosen_form() == "json" else []
    variables = stored_variables(asked, Console())
    shown = [f"{name}={value}" for name, value in sorted(variables.items())]
    remark(" ".join([*shown, "wireproof", *words]))
    resumed = CallContext(
        argv=tuple(words),
        environment={**without_settings(os.environ), **variables},
        signals=current_context().signals,
        resumed=True,
        answer=current_context().answer,
    )
    before = ["--quiet"] if is_quiet() else []
    with group.make_context("wireproof", [*before, *words], obj=resumed) as inner:
        return int(group.invoke(inner) or 0)
