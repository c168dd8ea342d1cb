"""``wireproof lint FILE...``: what is wrong in a recipe before it is run."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from wireproof.cli.completion import kinds
from wireproof.cli.console import print_json, remark, say
from wireproof.cli.declare import choice, flag
from wireproof.model.errors import BadInput, Problem
from wireproof.report.names import clean

if TYPE_CHECKING:
    from wireproof.workflow.lint import Filter, LintedFile, Mended

__all__ = ["command"]

OPTIONS: list[click.Parameter] = [
    click.Argument(["files"], nargs=-1, type=click.Path(path_type=str)),
    flag("--json as_json", "one JSON document on stdout."),
    click.Option(
        ["--kind"],
        shell_complete=kinds,
        help="do not detect what the file is: script, modprobe, sysctl, ifcfg …",
    ),
    choice("--severity", ["warning", "error"], "leave out what is less.", default="warning"),
    flag("--diff", "show the safe fixes as a difference; write nothing."),
    flag("--fix", "show the difference, ask, then write the safe fixes."),
    flag("--yes", "with --fix: do not ask."),
    flag("--rules", "list all rules."),
]


@dataclass(frozen=True)
class _Wanted:
    """What is done with the safe fixes."""

    as_json: bool
    diff: bool
    fix: bool
    yes: bool


@click.command("lint", params=OPTIONS)
def command(
    files: tuple[str, ...], kind: str | None, severity: str, rules: bool, **wanted: bool
) -> int:
    """Find what is wrong in job scripts, command lines and configuration FILEs; - is stdin.

    Exit status: 0 nothing found, 1 findings, 2 a file cannot be read
    or is not a recipe.
    """
    if rules:
        return _list_rules(wanted["as_json"])
    if not files:
        raise BadInput(
            "lint needs a file, or - for stdin; 'wireproof lint --rules' lists what it looks for."
        )
    if wanted["fix"] and "-" in files:
        raise BadInput("--fix cannot write to stdin: give a file, or --diff.")
    from wireproof.workflow.lint import Filter

    return _lint(dict.fromkeys(files), Filter.of(kind, severity), _Wanted(**wanted))


def _lint(names: Iterable[str], chosen: Filter, wanted: _Wanted) -> int:
    from wireproof.workflow.bug import BUG
    from wireproof.workflow.lint import lint_file

    results = [lint_file(name, chosen, sys.stdin.buffer) for name in names]
    read = [one for one in results if not one.error]
    _print(read, _said(one for one in results if one.error), wanted.as_json)
    mending = wanted.diff or wanted.fix
    left = [one for one in read if one.findings and not (mending and _mend(one, chosen, wanted))]
    if any(one.bug for one in results):
        return BUG
    return 2 if len(read) < len(results) else int(bool(left))


def _said(unread: Iterable[LintedFile]) -> list[Problem]:
    """Why files were not judged: on standard error now, and for the document."""
    errors = [Problem(message=one.error, file=one.name) for one in unread]
    for error in errors:
        say(error.message)
    return errors


def _print(read: Sequence[LintedFile], errors: list[Problem], as_json: bool) -> None:
    findings = [finding for one in read for finding in one.findings]
    if as_json:
        from wireproof.model.lint import LintReport

        print_json(LintReport(findings=findings, errors=errors))
        return
    from wireproof.report.text.lint import count_text, finding_lines

    for finding in findings:
        click.echo("\n".join(finding_lines(finding)))
    if read:
        remark(f"{count_text(findings, len(read))}.")


def _mend(file: LintedFile, chosen: Filter, wanted: _Wanted) -> bool:
    """Show what changes, and write it when that is wanted; True when nothing wrong is left in the
    file.
    """
    from wireproof.workflow.lint import mend, write_mended

    mended = mend(file, chosen)
    if mended is None:
        return False
    for line in mended.difference:
        click.echo(line, err=wanted.as_json)
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


def _list_rules(as_json: bool) -> int:
    from wireproof.lint.rules import rules

    if as_json:
        from wireproof.workflow.documents.lists import LintRules

        print_json(LintRules(rules=list(rules().values())))
    else:
        from wireproof.report.text.titles import title_lines

        titles = {code: rule.sentence for code, rule in sorted(rules().items())}
        click.echo("\n".join(title_lines(titles)))
    return 0
