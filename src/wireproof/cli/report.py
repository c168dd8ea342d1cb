"""``wireproof report FOLDER...``: a stored result, judged and rendered again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from wireproof.cli.declare import choice, file, flag, json_as

if TYPE_CHECKING:
    from wireproof.workflow.export import Form


OPTIONS: tuple[click.Parameter, ...] = (
    click.Argument(
        ["folders"], type=click.Path(path_type=Path), nargs=-1, required=True, metavar="FOLDER..."
    ),
    file(
        "--out page",
        "one page for all folders instead of report.html in each; for figures a folder.",
    ),
    choice(
        "--format form",
        ("html", "markdown", "svg", "pdf", "png"),
        "what is written: the page, Markdown, figures as SVG or PNG, or"
        " PDF (PNG and PDF need Chromium).",
        default="html",
    ),
    file("--topology", "which switch each node connects to; replaces the stored one."),
    flag("--no-page", "write no page."),
    json_as("one JSON document on stdout; writes no page."),
)


@click.command("report", params=[*OPTIONS])
def command(
    folders: tuple[Path, ...],
    page: Path | None,
    topology: Path | None,
    no_page: bool,
    form: Form,
) -> int:
    """Judge a stored result again by the rules of this version, render it, and say what changed.

    FOLDER is the --out folder of a check or a measurement, from any machine. Nothing is measured
    and the records stay as they are. Exit status: that of the worst verdict.
    """
    from wireproof.cli.console import Console, chosen_form, say
    from wireproof.cli.delivery import ended, show
    from wireproof.report.documents.dossier import change_lines
    from wireproof.workflow.report import ReportSpecification, report

    as_json = chosen_form() == "json"
    if form != "html" and (no_page or as_json):
        raise click.UsageError(f"--format {form} writes files: leave out --no-page and --json.")
    found = report(
        ReportSpecification(
            folders=folders,
            page=page,
            form=form,
            pages=page is not None or not (no_page or as_json),
            topology=topology,
        ),
        Console(),
    )
    if as_json:
        show([part.section for rejudged in found for part in rejudged.result.parts])
    statuses = []
    for old in found:
        if not as_json:
            show([part.section for part in old.result.parts])
        statuses.append(ended(old.result))
        for line in change_lines(old.by, old.before, old.result.verdict, old.gone, old.new):
            say(f"{old.folder}: {line}")
    return max(statuses, key=lambda status: (status == 1, status))
