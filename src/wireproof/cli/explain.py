"""``wireproof explain CODE``: what a finding means and what to do next."""

from __future__ import annotations

import click

from wireproof.cli.console import print_json
from wireproof.cli.declare import flag

__all__ = ["command"]

OPTIONS: list[click.Parameter] = [
    click.Argument(["code"], required=False),
    flag("--json as_json", "one JSON document on stdout."),
]


@click.command("explain", params=OPTIONS)
def command(code: str | None, as_json: bool) -> int:
    """Say what a finding's CODE means, how it is found and what to do next; without CODE, list them
    all.

    The codes of 'wireproof lint' and the settings of 'wireproof audit' are known too; 'wireproof
    lint --rules' and 'wireproof audit --list' list them.
    """
    from wireproof.report.text.explanation import explanation_text
    from wireproof.report.text.titles import title_lines
    from wireproof.verdict.catalogue import CATALOGUE
    from wireproof.workflow.explain import explain, setting_lines

    if code is not None and not as_json and (lines := setting_lines(code)):
        click.echo("\n".join(lines))
        return 0
    found = explain(code) if code else None
    if as_json:
        print_json([found.entry] if found else list(CATALOGUE.values()))
    elif found is None:
        titles = {name: listed.title for name, listed in CATALOGUE.items()}
        click.echo("\n".join(title_lines(titles)))
    else:
        click.echo(explanation_text(found.title, found.paragraphs))
    return 0
