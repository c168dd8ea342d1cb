"""``wireproof explain CODE``: what a finding means and what to do next."""

from functools import partial

import click

from wireproof.cli.completion import codes
from wireproof.cli.console import print_document
from wireproof.cli.declare import FORM, JSON

OPTIONS: list[click.Parameter] = [
    click.Argument(["code"], required=False, shell_complete=codes),
    FORM,
    JSON,
]


@click.command("explain", params=OPTIONS)
def command(code: str | None) -> int:
    """Say what CODE means, how it is found and what to do next: a finding, a cause, a rule of lint,
    a setting; without CODE, list all findings.

    'wireproof lint --rules' and 'wireproof audit --list' list the others.
    """
    from wireproof.report.document import Document
    from wireproof.report.documents.explain import explanation_document, titles_document
    from wireproof.verdict.catalogue import findings
    from wireproof.workflow.explain import explain, explanations

    found = explain(code) if code else []

    def document() -> Document:
        if found:
            return explanation_document([(one.title, one.paragraphs) for one in found])
        titles = {name: listed.title for name, listed in findings().items()}
        return titles_document("Findings", titles)

    print_document(partial(explanations, found), document)
    return 0
