"""Commands with many options: the help shows them in sections, and examples below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

__all__ = ["Sectioned", "sections"]

Section = tuple[str, Sequence[click.Parameter]]


class Sectioned(click.Command):
    """``sections``: the options by title, in order; ``examples``: command lines as people type
    them.
    """

    def __init__(
        self, *args: Any, sections: Sequence[Section], examples: Sequence[str], **more: Any
    ) -> None:
        more["params"] = [one for _, group in sections for one in group]
        super().__init__(*args, **more)
        self._sections, self.examples = sections, examples

    def titled(self, ctx: click.Context) -> list[Section]:
        """The options of each section; what every subcommand has comes last."""
        known = {one for _, group in self._sections for one in group}
        return [
            *self._sections,
            ("Help and messages", [p for p in self.get_params(ctx) if p not in known]),
        ]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, group in self.titled(ctx):
            records = [one.get_help_record(ctx) for one in group]
            shown = [record for record in records if record is not None]
            if shown:
                with formatter.section(title):
                    formatter.write_dl(shown)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Examples"):
            for line in self.examples:
                formatter.write(f"{'':>{formatter.current_indent}}{line}\n")
        super().format_epilog(ctx, formatter)


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
