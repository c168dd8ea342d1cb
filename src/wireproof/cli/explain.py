"""``wireproof explain CODE``: what a finding means and what to do next."""

from __future__ import annotations

import click

from wireproof.cli.completion import codes
from wireproof.cli.console import print_json
from wireproof.cli.declare import flag

__all__ = ["command"]

OPTIONS: list[click.Parameter] = [
    click.Argument(["code"], required=False, shell_complete=codes),
    flag("--json as_json", "one JSON document on stdout."),
]


@click.command("explain", params=OPTIONS)
def command(code: str | None, as_json: bool) -> int:
    """Say what CODE means, how it is found and what to do next: a finding, a cause, a rule of lint,
    a setting; without CODE, list all findings.

    'wireproof lint --rules' and 'wireproof audit --list' list the others.
    """
    from wireproof.report.text.explanation import explanation_text
    from wireproof.report.text.titles import title_lines
    from wireproof.verdict.catalogue import findings
    from wireproof.workflow.explain import explain, explanations

    found = explain(code) if code else []
    if as_json:
        print_json(explanations(found))
    elif found:
        click.echo("\n".join(explanation_text(one.title, one.paragraphs) for one in found))
    else:
        titles = {name: listed.title for name, listed in findings().items()}
        click.echo("\n".join(title_lines(titles)))
    return 0
