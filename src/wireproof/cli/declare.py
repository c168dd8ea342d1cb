"""Declare options in one line each (flags as typed, then the name of the value if it differs), and
verbs, whose help shows their options in sections with examples.
"""

import contextlib
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from wireproof.cli import completion
from wireproof.cli.completion import spelt
from wireproof.cli.console import print_result, want_form, want_json
from wireproof.model.errors import BadInput, real, suggestion
from wireproof.options.sizes import matched


class PathName(click.Path):
    """A path. An empty text, as from a variable that is not set, is refused: it would mean the
    current folder.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("it is empty: check that the variable in it is set.", param, ctx)
        return super().convert(value, param, ctx)


class OneOf(click.Choice[str]):
    """One of several words. The error for another word suggests the nearest, or the help."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        with contextlib.suppress(click.BadParameter):
            return super().convert(value, param, ctx)
        known = list(map(str, self.choices))
        rest = "" if len(known) <= _MOST_NAMED else "the help lists the values."
        self.fail(f"{value!r} is not known; {suggestion(value, known, rest)}", param, ctx)


_MOST_NAMED = 8


class WholeNumber(click.IntRange):
    """A whole number between two limits. The error for any other text names both."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        with contextlib.suppress(click.BadParameter):
            return super().convert(value, param, ctx)
        self.fail(f"{value} is not a whole number from {self.min} to {self.max}.", param, ctx)


_METRES = re.compile(r"(-?[0-9]{1,9}(?:\.[0-9]{1,9})?)\s*m?", re.ASCII)


def metres(text: str) -> float:
    """Parse ``5``, ``5m`` or ``5 m``."""
    why = f"the length {text[:40]!r} is invalid: give metres, such as 5 or 5m."
    return real("--cable", float(matched(_METRES, text, why)[1]), 0, 100_000, "m")


def text(flags: str, metavar: str, about: str, **more: Any) -> click.Option:
    """Declare an option with any text; the default is "" or ``default``: ``text("-p
    --partition job_partition", "NAME", "partition of the job.")``.
    """
    filled = {"default": "", "shell_complete": spelt, **more}
    return click.Option(flags.split(), metavar=metavar, help=about, **filled)


def flag(flags: str, about: str, **more: Any) -> click.Option:
    """Declare an option that is True if given."""
    return click.Option(flags.split(), is_flag=True, help=about, **more)


def number(flags: str, low: int, high: int, about: str, **more: Any) -> click.Option:
    """Declare a whole number from ``low`` to ``high``; default None. The help shows any other
    ``default``.
    """
    shown = {"show_default": True} if "default" in more else {"metavar": "N"}
    return click.Option(flags.split(), type=WholeNumber(low, high), help=about, **shown | more)


def choice(flags: str, values: Sequence[str], about: str, **more: Any) -> click.Option:
    """Declare one of ``values``; default None. The help shows any other ``default``."""
    shown = "default" in more
    return click.Option(flags.split(), type=OneOf(values), show_default=shown, help=about, **more)


def file(flags: str, about: str, *, must_exist: bool = False, **more: Any) -> click.Option:
    """Declare the path of a file or folder."""
    path = PathName(exists=must_exist, dir_okay=not must_exist, path_type=Path)
    return click.Option(flags.split(), type=path, help=about, **more)


def setting(name: str, metavar: str = "", about: str = "", **more: Any) -> click.Option:
    """Declare the option of a row of the table; ``metavar`` and ``about`` replace those of the row.

    The value of a row with a parser is None if the option is not given.
    """
    from wireproof.options.table import ROWS  # takes 15 ms, and not every subcommand needs it

    row = ROWS[name]
    flags = f"{row.flags or row.typed(name)} {name}"
    about = about or row.help + "." * (not row.help.endswith(("...", "?")))
    default = None if row.parse else row.default
    if isinstance(row.default, bool):
        return flag(flags, about, default=default, **more)
    if row.between:
        shown = {"metavar": row.metavar} if row.default is None else {"default": row.default}
        return number(flags, *row.between, about, **shown | more)
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
    """Declare the options of a group of the table, in its order."""
    from wireproof.options.table import ROWS

    return tuple(setting(name) for name, row in ROWS.items() if row.group == group)


def link_claim(about: str) -> tuple[click.Parameter, ...]:
    """Declare a link of any kind and rate to compare results with; ``about``: its help."""
    return (
        text("--link", "[Nx]KIND[:GBPS]", about, default=None, shell_complete=completion.links),
        number("--mtu", 68, 65535, "MTU of the link.", metavar="BYTES"),
        text("--pcie", "GENxLANES", "slot of the NIC, such as gen3x16."),
    )


def checked(check: Callable[[str], str]) -> Callable[[click.Context, click.Parameter, str], str]:
    """Return a callback that refuses values for which ``check`` raises an error."""

    def refuse(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
        try:
            return check(value)
        except BadInput as error:
            raise click.BadParameter(str(error)) from error

    return refuse


def json_as(about: str, **more: Any) -> click.Option:
    """Declare ``--json``.

    The command itself does not receive it; the functions that print the result read it.
    """

    def want(context: click.Context, _option: click.Parameter, given: bool | None) -> bool | None:
        if given:
            want_json(context)
        return given

    return flag("--json as_json", about, callback=want, **{"expose_value": False, **more})


def form_of(*forms: str, name: str = "form") -> click.Option:
    """Declare ``--format``, which works like ``--json``. ``name``: of the parameter."""

    def want(context: click.Context, _option: click.Parameter, form: str | None) -> None:
        if form:
            want_form(context, form)

    about = "format of the result on stdout."
    return choice(f"--format {name}", forms, about, expose_value=False, callback=want)


JSON = json_as("one JSON document on stdout.")
FORM = form_of("text", "html", "markdown", "json")
"""The output forms of every subcommand whose result is a document."""


# --- Verbs.

Section = tuple[str, Sequence[click.Parameter]]


class Verb(click.Command):
    """A subcommand: options, a function that turns them into a result, and the document of that
    result. The verb prints the result in the requested form and returns its exit status; a function
    that returns a number has already printed its result.

    ``document``: the function that builds the document, as ``PACKAGE.MODULE.FUNCTION``; it
    is loaded only if the document is printed. ``sections``: the options by title, in order, instead
    of ``params``; ``examples``: command lines as typed; ``first``: names of options that ``--help``
    shows in addition to those marked in the table; None: it shows all.
    """

    def __init__(
        self,
        *args: Any,
        document: str = "",
        sections: Sequence[Section] = (),
        examples: Sequence[str] = (),
        first: str | None = None,
        **more: Any,
    ) -> None:
        if sections:
            more["params"] = [option for _, group in sections for option in group]
        if first is not None:
            more["params"].append(help_all())
        super().__init__(*args, **more)
        self.document, self.sections, self.examples = document, sections, examples
        self._first = None if first is None else {*first.split(), *_first()}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments. The error for an option or hosts in another form shows the form."""
        typed = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            flags = {flag for option in self.params for flag in option.opts}
            text = error.format_message().rstrip(".")
            for word in typed:
                if f"-{word.partition('=')[0]}" in flags:
                    raise click.UsageError(
                        f"{text}. Write -{word} with two hyphens.", ctx
                    ) from None
            if text.startswith("Got unexpected extra argument") and "--hosts" in flags:
                form = "Give hosts as --hosts n1,n2 or --hosts 'n[1-4]'."
                raise click.UsageError(f"{text}. {form}", ctx) from None
            raise

    def invoke(self, ctx: click.Context) -> int:
        result = super().invoke(ctx)
        return result if isinstance(result, int) else print_result(result)

    def titled(self, ctx: click.Context) -> list[Section]:
        """Return the options of each section, with the options of all subcommands last."""
        known = {option for _, group in self.sections for option in group}
        return [
            *self.sections,
            ("Help and messages", [p for p in self.get_params(ctx) if p not in known]),
        ]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if not self.sections:
            super().format_options(ctx, formatter)
            return
        left = 0
        for title, group in self.titled(ctx):
            records = {option: option.get_help_record(ctx) for option in group}
            shown = [
                record
                for option, record in records.items()
                if record and self._is_shown(option, ctx)
            ]
            left += sum(map(bool, records.values())) - len(shown)
            if shown:
                with formatter.section(title):
                    formatter.write_dl(shown)
        if left:
            formatter.write(f"\n{left} more options: {ctx.command_path} --help-all\n")

    def _is_shown(self, option: click.Parameter, ctx: click.Context) -> bool:
        return self._first is None or ALL in ctx.meta or option.name in self._first

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples:
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")
        super().format_epilog(ctx, formatter)


ALL = "wireproof.help-all"
"""Key in a context's ``meta`` that makes its help show everything."""


def _first() -> set[str]:
    from wireproof.options.table import ROWS

    return {"help", "help_all", "quiet"} | {name for name, row in ROWS.items() if row.first}


def help_all(*, hidden: bool = False) -> click.Option:
    """Declare ``--help-all``, which ends the program like ``--help``."""

    def show(ctx: click.Context, _option: click.Parameter, given: bool) -> None:
        if given and not ctx.resilient_parsing:
            ctx.meta[ALL] = True
            click.echo(ctx.get_help())
            ctx.exit()

    return click.Option(
        ["--help-all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        hidden=hidden,
        help="Show all options and exit.",
    )


def sections(
    first: Sequence[click.Parameter], title: str, **groups: Sequence[click.Parameter]
) -> list[Section]:
    """Return the command's options under ``title``, then the groups that it shares with other
    commands, by title.
    """
    return [(title, first), *((_TITLES[name], group) for name, group in groups.items())]


_TITLES = {
    "target": "Hosts and transport",
    "job": "A job that wireproof requests (--slurm)",
    "link": "Claimed link",
    "output": "Result and time",
}
