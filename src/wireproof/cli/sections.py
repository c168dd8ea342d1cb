"""Commands with many options: the help shows them in sections, and examples below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from wireproof.settings.options import ROWS

__all__ = ["Sectioned", "sections"]

Section = tuple[str, Sequence[click.Parameter]]


class Sectioned(click.Command):
    """``sections``: the options by title, in order; ``examples``: command lines as people type
    them; ``first``: names of the options that ``--help`` shows beside the first of the table of
    options; None: it shows all.
    """

    def __init__(
        self,
        *args: Any,
        sections: Sequence[Section],
        examples: Sequence[str] = (),
        first: str | None = None,
        **more: Any,
    ) -> None:
        more["params"] = [one for _, group in sections for one in group]
        if first is not None:
            more["params"].append(_help_all())
        super().__init__(*args, **more)
        self._sections, self.examples = sections, examples
        self._first = None if first is None else {*first.split(), *_FIRST}

    def titled(self, ctx: click.Context) -> list[Section]:
        """The options of each section; what every subcommand has comes last."""
        known = {one for _, group in self._sections for one in group}
        return [
            *self._sections,
            ("Help and messages", [p for p in self.get_params(ctx) if p not in known]),
        ]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        left = 0
        for title, group in self.titled(ctx):
            records = {one: one.get_help_record(ctx) for one in group}
            shown = [
                record for one, record in records.items() if record and self._is_shown(one, ctx)
            ]
            left += sum(map(bool, records.values())) - len(shown)
            if shown:
                with formatter.section(title):
                    formatter.write_dl(shown)
        if left:
            formatter.write(f"\n{left} more options: {ctx.command_path} --help-all\n")

    def _is_shown(self, option: click.Parameter, ctx: click.Context) -> bool:
        return self._first is None or _ALL in ctx.meta or option.name in self._first

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples:
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")
        super().format_epilog(ctx, formatter)


_ALL = "wireproof.help-all"
_FIRST = {"help", "help_all", "quiet"} | {name for name, row in ROWS.items() if row.first}


def _help_all() -> click.Option:
    """``--help-all``: ends the program as ``--help`` does."""

    def show(ctx: click.Context, _option: click.Parameter, given: bool) -> None:
        if given and not ctx.resilient_parsing:
            ctx.meta[_ALL] = True
            click.echo(ctx.get_help())
            ctx.exit()

    return click.Option(
        ["--help-all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help="Show all options and exit.",
    )


def sections(
    first: Sequence[click.Parameter], title: str, **groups: Sequence[click.Parameter]
) -> list[Section]:
    """The command's own options under ``title``, then the groups that it shares with others, by
    the names of their titles.
    """
    return [(title, first), *((_TITLES[name], group) for name, group in groups.items())]


_TITLES = {
    "target": "Hosts, and what carries the messages",
    "job": "A job of our own (--slurm)",
    "link": "What is claimed of the link",
    "output": "Result and time",
}
