"""``wireproof explain CODE``: what a finding means and what to do next."""

from __future__ import annotations

from functools import partial

import click

from wireproof.cli.completion import codes
from wireproof.cli.console import print_either
from wireproof.cli.declare import JSON

__all__ = ["command"]

OPTIONS: list[click.Parameter] = [
    click.Argument(["code"], required=False, shell_complete=codes),
    JSON,
]


@click.command("explain", params=OPTIONS)
def command(code: str | None) -> int:
    """Say what CODE means, how it is found and what to do next: a finding, a cause, a rule of lint,
    a setting; without CODE, list all findings.

    'wireproof lint --rules' and 'wireproof audit --list' list the others.
    """
    from wireproof.report.text.explanation import explanation_text
    from wireproof.report.text.titles import title_lines
    from wireproof.verdict.catalogue import findings
    from wireproof.workflow.explain import explain, explanations

    found = explain(code) if code else []

    def text() -> str:
        titles = {name: listed.title for name, listed in findings().items()}
        texts = (explanation_text(one.title, one.paragraphs) for one in found)
        return "\n".join(texts if found else title_lines(titles))

    print_either(partial(explanations, found), text)
    return 0
