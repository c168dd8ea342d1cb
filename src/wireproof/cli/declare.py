"""Options, one line each: the flags as they are typed, then the name of the value if another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from wireproof.cli import completion
from wireproof.cli.completion import spelt
from wireproof.cli.context import CallContext
from wireproof.model.errors import BadInput

__all__ = ["FORM", "checked", "choice", "file", "flag", "number", "rows", "setting", "text"]


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
    if given and isinstance(known, CallContext):
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


def setting(name: str, metavar: str = "", about: str = "", **more: Any) -> click.Option:
    """The option of a row of the table; ``metavar`` and ``about`` replace the row's where the
    subcommand needs others. A row with a parser is None when it is not given.
    """
    from wireproof.settings.options import ROWS  # 15 ms that not every subcommand needs

    row = ROWS[name]
    flags = f"{row.flags or row.typed(name)} {name}"
    about = about or row.help + "." * (not row.help.endswith("..."))
    default = None if row.parse else row.default
    if isinstance(row.default, bool):
        return flag(flags, about, default=default, **more)
    if row.between:
        more = {"metavar": row.metavar} | more
        return number(flags, *row.between, about, **more)
    if row.choices:
        return choice(flags, row.choices, about, default=default, **more)
    if row.path:
        more |= {"metavar": row.metavar} if row.metavar else {}
        return file(flags, about, must_exist=row.path == "must exist", **more)
    if row.complete:
        more = {"shell_complete": getattr(completion, row.complete)} | more
    if row.check:
        more = {"callback": checked(row.check)} | more
    many = isinstance(row.default, tuple) and not row.parse
    return text(flags, metavar or row.metavar, about, default=default, multiple=many, **more)


def rows(group: str) -> tuple[click.Option, ...]:
    """The options of a group of the table, in its order."""
    from wireproof.settings.options import ROWS

    return tuple(setting(name) for name, row in ROWS.items() if row.group == group)


def checked(check: Callable[[str], str]) -> Callable[[click.Context, click.Parameter, str], str]:
    """A callback that refuses what ``check`` refuses."""

    def refuse(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
        try:
            return check(value)
        except BadInput as error:
            raise click.BadParameter(str(error)) from error

    return refuse


FORM = choice(
    "--format form", ("text", "html", "markdown", "json"), "form of the result on stdout."
)
"""Of every verb whose result is a document; its value is for `print_document`."""
