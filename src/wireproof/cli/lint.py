"""``wireproof lint FILE...``: finds what is wrong in a recipe before it is run."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import click

from wireproof.cli.completion import kinds
from wireproof.cli.console import chosen_form, listed, print_document, say
from wireproof.cli.declare import FORM, JSON, choice, flag
from wireproof.model.errors import BadInput, Problem
from wireproof.report.names import clean

if TYPE_CHECKING:
    from wireproof.workflow.lint import Filter, LintedFile, Mended


OPTIONS: list[click.Parameter] = [
    click.Argument(["files"], nargs=-1, type=click.Path(path_type=str)),
    FORM,
    JSON,
    click.Option(
        ["--kind"],
        shell_complete=kinds,
        help="do not detect what the file is: script, modprobe, sysctl, ifcfg …",
    ),
    choice("--severity", ["warning", "error"], "least severity to show.", default="warning"),
    flag("--diff", "show the safe fixes as a difference; write nothing."),
    flag("--fix", "show the difference, ask, then write the safe fixes."),
    flag("--yes", "with --fix: do not ask."),
    flag("--rules", "list all rules."),
]


@dataclass(frozen=True)
class _Wanted:
    """What to do with the safe fixes."""

    diff: bool
    fix: bool
    yes: bool


@click.command("lint", params=OPTIONS)
def command(
    files: tuple[str, ...],
    kind: str | None,
    severity: str,
    rules: bool,
    **mending: bool,
) -> int:
    """Find what is wrong in job scripts, command lines and configuration FILEs; - is stdin.

    Exit status: 0 nothing found, 1 findings, 2 a file cannot be read
    or is not a recipe.
    """
    wanted = _Wanted(**mending)
    if rules:
        return _list_rules()
    if not files:
        raise BadInput(
            "lint needs a file, or - for stdin; 'wireproof lint --rules' lists what it looks for."
        )
    if wanted.fix and "-" in files:
        raise BadInput("--fix cannot write to stdin: give a file, or --diff.")
    from wireproof.workflow.lint import Filter

    return _lint(dict.fromkeys(files), Filter.of(kind, severity), wanted)


def _lint(names: Iterable[str], chosen: Filter, wanted: _Wanted) -> int:
    from wireproof.model.finding import LintReport
    from wireproof.report.documents.lint import lint_document
    from wireproof.workflow.lint import lint_file
    from wireproof.workflow.reporter import BUG

    results = [lint_file(name, chosen, sys.stdin.buffer) for name in names]
    errors = [Problem(message=file.error, file=file.name) for file in results if file.error]
    for error in errors:
        say(error.message)
    read = [file for file in results if not file.error]
    report = LintReport(
        findings=[finding for file in read for finding in file.findings], errors=errors
    )
    print_document(report, partial(lint_document, report, len(read)))
    left = [file for file in read if file.findings and not _mend(file, chosen, wanted)]
    if any(file.bug for file in results):
        return BUG
    return 2 if len(read) < len(results) else int(bool(left))


def _mend(file: LintedFile, chosen: Filter, wanted: _Wanted) -> bool:
    """Show the fixes, and write them if requested; return True if nothing is wrong in the file any
    more.
    """
    from wireproof.workflow.lint import mend, write_mended

    mended = mend(file, chosen) if wanted.diff or wanted.fix else None
    if mended is None:
        return False
    for line in mended.difference:
        click.echo(line, err=chosen_form() != "text")
    if not wanted.fix or not _agreed(mended, wanted):
        return False
    write_mended(mended)
    say(f"{clean(mended.name, 200)} is written.")
    return mended.clean


def _agreed(mended: Mended, wanted: _Wanted) -> bool:
    shown = clean(mended.name, 200)
    if wanted.yes:
        return True
    if not sys.stdin.isatty():
        say(f"{shown} is not written: there is no terminal to ask on, --yes writes without asking.")
        return False
    return click.confirm(f"Write {shown}?", default=False, err=True)


def _list_rules() -> int:
    from wireproof.lint.rules import rules
    from wireproof.report.documents.explain import titles_document

    titles = {code: rule.sentence for code, rule in sorted(rules().items())}
    document = listed("LintRules", rules=list(rules().values()))
    print_document(document, partial(titles_document, "Rules of lint", titles))
    return 0
