"""Options, one line each: the flags as they are typed, then the name of the value if another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from wireproof.cli.completion import spelt
from wireproof.cli.context import Context

__all__ = ["FORM", "choice", "file", "flag", "number", "setting", "text"]


def text(flags: str, metavar: str, about: str, **more: Any) -> click.Option:
    """``text("-p --partition job_partition", "NAME", "partition of the job.")``: any text, "" or
    another ``default`` when it is not given.
    """
    filled = {"default": "", "shell_complete": spelt, **more}
    return click.Option(flags.split(), metavar=metavar, help=about, **filled)


def flag(flags: str, about: str, **more: Any) -> click.Option:
    """True when it is given."""
    if "--json" in flags.split():
        more = {"callback": _json_wanted, **more}
    return click.Option(flags.split(), is_flag=True, help=about, **more)


def _json_wanted(
    context: click.Context, _option: click.Parameter, given: bool | None
) -> bool | None:
    """Whoever asks for JSON gets a document, whatever happens."""
    known = context.find_root().obj
    if given and isinstance(known, Context):
        known.answer.wanted = True
    return given


def number(flags: str, low: int, high: int, about: str, **more: Any) -> click.Option:
    """A whole number from ``low`` to ``high``; None without a ``default``, which is shown."""
    shown = {"show_default": True} if "default" in more else {"metavar": "N"}
    return click.Option(flags.split(), type=click.IntRange(low, high), help=about, **shown | more)


def choice(flags: str, values: Sequence[str], about: str, **more: Any) -> click.Option:
    """One of ``values``; None without a ``default``, which is shown."""
    shown = "default" in more
    return click.Option(
        flags.split(), type=click.Choice(values), show_default=shown, help=about, **more
    )


def file(flags: str, about: str, *, must_exist: bool = False, **more: Any) -> click.Option:
    """The path of a file or folder."""
    path = click.Path(exists=must_exist, dir_okay=not must_exist, path_type=Path)
    return click.Option(flags.split(), type=path, help=about, **more)


def setting(name: str, metavar: str, about: str = "", **more: Any) -> click.Option:
    """A declared setting, with the help of the one table that declares it unless ``about`` says
    more; None when it is not given.
    """
    from wireproof.settings.resolve import DECLARED  # 15 ms that not every subcommand needs

    about = about or DECLARED[name].help + "."
    return text(f"--{name.replace('_', '-')} {name}", metavar, about, **{"default": None, **more})


FORM = choice(
    "--format form", ("text", "html", "markdown", "json"), "form of the result on stdout."
)
"""Of every verb whose result is a document; its value is for `print_document`."""
