"""``wireproof audit``: the settings that a fabric depends on, on every host."""

from __future__ import annotations

import shlex
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from wireproof.cli.completion import settings
from wireproof.cli.console import (
    Console,
    chosen_form,
    current_context,
    listed,
    print_document,
    print_text,
    say,
)
from wireproof.cli.declare import choice, file, flag, form_of, json_as, text
from wireproof.cli.options import BMC, MACHINES, TARGET, answer, bmc_options, lone_target
from wireproof.cli.outcome import status_of

if TYPE_CHECKING:
    from wireproof.model.setting import Audit


OPTIONS: tuple[click.Parameter, ...] = (
    click.Argument(["only"], nargs=-1, metavar="[SETTING]...", shell_complete=settings),
    *MACHINES,
    *BMC,
    file(
        "--snapshot", "store everything that was read in this file, to judge it again with --from."
    ),
    text(
        "--against", "HOST|PATH", "golden host, snapshot or result: show the differences from it."
    ),
    file("--site --waivers site", "TOML file: a site's values by role, and what it waives."),
    text(
        "--explain",
        "SETTING",
        "show all about a setting, or a group of settings.",
        shell_complete=settings,
    ),
    flag("--list as_list", "list all settings."),
    flag("--all everything", "also show settings that pass or are not applicable."),
    form_of("text", "html", "markdown", "json", "sarif", "junit", "openmetrics", "nhc"),
    choice("--at-least", ["minor", "major", "critical"], "leave out failures below this severity."),
    json_as("the same as --format json."),
)


@click.command("audit", params=[*OPTIONS, *TARGET])
def command(**options: Any) -> int:
    """Show which settings of the hosts are wrong for their fabric, why it matters, how certain that
    is, and how to correct it.

    SETTING: only these, by name. Without --hosts: this machine. Nothing is changed. Exit status: 0
    all pass, 1 something fails, 3 nothing fails but something could not be read.
    """
    if options["as_list"]:
        return _list()
    if options["explain"]:
        return _explain(options)
    from wireproof.report.documents.audit import FORMS, audit_document

    found, form = _audited(options), chosen_form()
    if form in FORMS:
        print_text(FORMS[form](found))
        return status_of(found.verdict)
    everything = options["everything"] or form == "html"
    status = answer(found, audit_document, everything=everything)
    if form == "text":
        _say_where(found, options)
    return status


def _say_where(found: Audit, options: dict[str, Any]) -> None:
    """Tell which hosts the commands apply to: they are the same for all hosts and do not name
    them.
    """
    from wireproof.cli.tune_plan import same_hosts

    hosts = same_hosts(options)
    if hosts and any("`wireproof tune apply" in result.fix for result in found.results):
        say(f"`wireproof tune apply` changes this machine unless it has {shlex.join(hosts)} too.")


def _audited(options: dict[str, Any]) -> Audit:
    from wireproof.workflow.audit import AuditSpecification, audit

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
    from wireproof.report.documents.explain import titles_document
    from wireproof.workflow.audit import catalogue

    found = [entry.setting for entry in catalogue().entries.values()]
    titles = {setting.id: f"{setting.group}: {setting.title}" for setting in found}
    build = partial(titles_document, "Settings", titles)
    print_document(listed("Settings", settings=found), build)
    return 0


def _explain(options: dict[str, Any]) -> int:
    from wireproof.model.errors import CouldNotMeasure
    from wireproof.report.documents.audit import explained_document
    from wireproof.workflow.audit import settings_called

    named = settings_called(options["explain"])
    try:
        results = _audited({**options, "only": tuple(setting.id for setting in named)}).results
    except CouldNotMeasure as error:
        Console().warn(f"no values: {error}")
        results = []
    build = partial(explained_document, named, results)
    print_document(listed("Settings", settings=named, results=results), build)
    return 0
