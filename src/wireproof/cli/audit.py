"""``wireproof audit`` and ``lint``: the settings that a fabric depends on, on every host, and the
errors in a recipe before it is run.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from wireproof.cli.completion import kinds, settings
from wireproof.cli.console import (
    Console,
    chosen_form,
    current_context,
    listed,
    print_result,
    print_text,
    say,
    status_of,
)
from wireproof.cli.declare import (
    FORM,
    JSON,
    PathName,
    Verb,
    choice,
    file,
    flag,
    form_of,
    json_as,
    text,
)
from wireproof.cli.options import BMC, MACHINES, TARGET, bmc_options, lone_target
from wireproof.model.errors import BadInput, CouldNotMeasure, Problem
from wireproof.report.names import clean

if TYPE_CHECKING:
    from wireproof.lint.job import Filter, LintedFile
    from wireproof.model.setting import Audit

TITLES = "report.known.titles_document"


@click.command(
    "audit",
    cls=Verb,
    document="audit.document.audit_document",
    params=[
        click.Argument(["only"], nargs=-1, metavar="[SETTING]...", shell_complete=settings),
        *MACHINES,
        *BMC,
        file("--snapshot", "store all facts in this file, to judge them again with --from."),
        text("--against", "HOST|PATH", "golden host, snapshot or result as the reference."),
        file("--site --waivers site", "TOML file with a site's values by role, and its waivers."),
        text(
            "--explain",
            "SETTING",
            "show the catalogue's entry for a setting or a group of settings.",
            shell_complete=settings,
        ),
        flag("--list as_list", "list all settings."),
        flag("--all everything", "also show settings that pass or are not applicable."),
        form_of("text", "html", "markdown", "json", "sarif", "junit", "openmetrics", "nhc"),
        choice(
            "--at-least", ["minor", "major", "critical"], "leave out failures below this severity."
        ),
        json_as("the same as --format json."),
        *TARGET,
    ],
)
def command(**options: Any) -> int:
    """Show the settings of the hosts that are wrong for their fabric, with the effect, the
    certainty and the fix of each.

    SETTING: only these, by name. Without --hosts: this machine. Nothing is changed. Exit status: 0
    all pass, 1 a setting fails, 3 no setting fails but one could not be read, or no setting
    applies.
    """
    if options["as_list"]:
        return _list()
    if options["explain"]:
        return _explain(options)
    from wireproof.audit.document import FORMS

    found, form = _audited(options), chosen_form()
    if form in FORMS:
        print_text(FORMS[form](found))
        return status_of(found.verdict)
    status = print_result(found, everything=options["everything"] or form == "html")
    if form == "text":
        _say_where(found, options)
    return status


def _say_where(found: Audit, options: dict[str, Any]) -> None:
    """Print the hosts to which the commands apply: the commands are the same for all hosts and do
    not contain their names.
    """
    from wireproof.cli.tune_plan import same_hosts
    from wireproof.model.setting import AuditResults

    hosts = same_hosts(options)
    results = AuditResults.of(found.results).distinct()
    if hosts and any("`wireproof tune apply" in result.fix for result in results):
        say(
            f"`wireproof tune apply` changes this machine unless you also give {shlex.join(hosts)}."
        )


def _audited(options: dict[str, Any]) -> Audit:
    from wireproof.audit.job import AuditSpecification, audit

    specification = AuditSpecification(
        target=lone_target(options),
        profile=options["profile"],
        bmc=bmc_options(options),
        source=options["source"],
        snapshot=options["snapshot"],
        site=options["site"],
        against=options["against"] or "",
        at_least=options["at_least"] or "minor",
        only=options["only"],
    )
    return audit(specification, Console(), current_context().environment)


def _list() -> int:
    from wireproof.audit.job import catalogue

    found = [entry.setting for entry in catalogue().entries.values()]
    groups: dict[str, dict[str, str]] = {}
    for setting in found:
        groups.setdefault(setting.group, {})[setting.id] = setting.title
    shown = ("Settings", "wireproof explain SETTING", groups)
    return print_result(listed("Settings", settings=found), *shown, document=TITLES)


def _explain(options: dict[str, Any]) -> int:
    from wireproof.audit.job import settings_called

    named = settings_called(options["explain"])
    try:
        results = _audited({**options, "only": tuple(setting.id for setting in named)}).results
    except CouldNotMeasure as error:
        Console().warn(f"no values: {error}")
        results = []
    shown = listed("Settings", settings=named, results=results)
    return print_result(shown, named, results, document="audit.document.explained_document")


# --- ``wireproof lint``.


@click.command(
    "lint",
    cls=Verb,
    document="lint.document.lint_document",
    params=[
        click.Argument(["files"], nargs=-1, type=PathName(path_type=str)),
        FORM,
        JSON,
        click.Option(
            ["--kind"],
            shell_complete=kinds,
            help="kind of the file (default: detected): script, modprobe, sysctl, ifcfg …",
        ),
        choice("--severity", ["warning", "error"], "lowest severity to show.", default="warning"),
        flag("--diff", "show the safe fixes as a difference; write nothing."),
        flag("--fix", "show the difference, ask, then write the safe fixes."),
        flag("--yes", "with --fix: write without confirmation."),
        flag("--rules", "list all rules."),
    ],
)
def lint(
    files: tuple[str, ...],
    kind: str | None,
    severity: str,
    rules: bool,
    **mending: bool,
) -> int:
    """Find errors in job scripts, command lines and configuration FILEs; - is stdin.

    Exit status: 0 no findings, 1 findings, 2 a file cannot be read or is not a recipe.
    """
    if rules:
        return _list_rules()
    if not files:
        raise BadInput(
            "lint needs a file, or - for stdin; 'wireproof lint --rules' lists the rules."
        )
    if mending["fix"] and "-" in files:
        raise BadInput("--fix cannot write to stdin: give a file, or --diff.")
    from wireproof.lint.job import Filter

    return _lint(dict.fromkeys(files), Filter.of(kind, severity), mending)


def _lint(names: Iterable[str], chosen: Filter, mending: dict[str, bool]) -> int:
    from wireproof.lint.job import lint_file
    from wireproof.model.finding import LintReport
    from wireproof.report.reporter import BUG

    results = [lint_file(name, chosen, sys.stdin.buffer) for name in names]
    errors = [Problem(message=file.error, file=file.name) for file in results if file.error]
    for error in errors:
        say(error.message)
    read = [file for file in results if not file.error]
    report = LintReport(
        findings=[finding for file in read for finding in file.findings], errors=errors
    )
    print_result(report, report, len(read), errors_shown=chosen_form() == "text")
    left = [file for file in read if file.findings and not _mend(file, chosen, mending)]
    if any(file.bug for file in results):
        return BUG
    return 2 if len(read) < len(results) else int(bool(left))


def _mend(file: LintedFile, chosen: Filter, mending: dict[str, bool]) -> bool:
    """Show the fixes with --diff or --fix, and write them with --fix; return True if the file has
    no errors left.
    """
    from wireproof.lint.job import difference, mend, write_mended

    mended = mend(file, chosen) if mending["diff"] or mending["fix"] else None
    if mended is None:
        return False
    for line in difference(file, mended):
        click.echo(line, err=chosen_form() != "text")
    if not mending["fix"] or not (mending["yes"] or _agreed(file)):
        return False
    write_mended(file, mended)
    say(f"{clean(file.name, 200)} is written.")
    return not mended.findings


def _agreed(file: LintedFile) -> bool:
    shown = clean(file.name, 200)
    if not sys.stdin.isatty():
        say(
            f"{shown} is not written: there is no terminal to confirm on; --yes writes "
            "without asking."
        )
        return False
    return click.confirm(f"Write {shown}?", default=False, err=True)


def _list_rules() -> int:
    from wireproof.lint.rules import rules

    titles = {code: rule.sentence for code, rule in sorted(rules().items())}
    document = listed("LintRules", rules=list(rules().values()))
    shown = ("Rules of lint", "wireproof explain CODE", {"": titles})
    return print_result(document, *shown, document=TITLES)
