"""``wireproof tune plan`` and ``tune export``: what would be changed, and as other tools' files."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wireproof.cli.bmc import BMC, bmc_options
from wireproof.cli.completion import settings, settings_or_file
from wireproof.cli.console import Console, print_json
from wireproof.cli.context import current_context
from wireproof.cli.declare import checked, file, flag
from wireproof.cli.options import MACHINES, TARGET, settings_of
from wireproof.model.errors import BadInput
from wireproof.settings.row import absolute

if TYPE_CHECKING:
    from wireproof.model.tuning import TunePlan
    from wireproof.report.text.look import Look
    from wireproof.workflow.tune.plan import PlanSpecification

__all__ = ["PLACES", "WANTED", "export", "look_of", "plan", "plan_of", "specification_of"]

WANTED: tuple[click.Parameter, ...] = (
    *MACHINES,
    *BMC,
    click.Option(
        ["--skip"],
        multiple=True,
        metavar="SETTING",
        shell_complete=settings,
        help="leave this setting out; repeatable.",
    ),
    flag(
        "--allow-link-down",
        "also what takes a link down for a moment: rings, channels, MTU.",
    ),
)
PLACES: tuple[click.Parameter, ...] = (
    file("--root", "change the files below this folder in place of the machine's."),
    click.Option(
        ["--state"],
        metavar="DIR",
        default="",
        callback=checked(absolute),
        help="folder of the journals on the hosts; default /var/lib/wireproof/tune.",
    ),
)


def look_of() -> Look:
    from wireproof.report.text.look import Look

    return Look.of(sys.stdout, os.environ)


def specification_of(options: dict[str, Any], asked: tuple[str, ...]) -> PlanSpecification:
    """The plan that the options ask for."""
    from wireproof.workflow.target.resolve import TargetSpecification
    from wireproof.workflow.tune.plan import PlanSpecification

    settings = settings_of({**options, "profile": None})  # check's profile is another thing
    return PlanSpecification(
        target=TargetSpecification.from_options(settings, alone=True),
        profile=options["profile"],
        asked=asked,
        skip=options["skip"],
        source=options["source"],
        root=options.get("root"),
        allow_link_down=options["allow_link_down"],
        bmc=bmc_options(options),
    )


def _is_file(text: str) -> bool:
    """A plan's file, not a setting's name, a value or a file of the kernel."""
    if text.endswith(".json"):
        return True
    kernel = text.startswith(("/proc/", "/sys/"))
    return "=" not in text and not kernel and _names_file(text)


def _names_file(text: str) -> bool:
    from wireproof.workflow.audit import catalogue

    return Path(text).is_file() and text not in catalogue().entries


def plan_of(options: dict[str, Any], asked: tuple[str, ...]) -> TunePlan:
    """From the one plan file that ``asked`` names, else made now."""
    from wireproof.workflow.tune.plan import load_plan
    from wireproof.workflow.tune.plan import plan as make

    files = [text for text in asked if _is_file(text)]
    if not files:
        return make(specification_of(options, asked), Console(), current_context().environment)
    if len(asked) > 1 or options["skip"]:
        raise BadInput(
            f"{files[0]} is a plan as it stands: give it alone, or make it again with other"
            " settings or --skip."
        )
    return load_plan(Path(files[0]))


@click.command(
    "plan",
    params=[
        click.Argument(
            ["asked"], nargs=-1, metavar="[SETTING[=VALUE]]...", shell_complete=settings
        ),
        *WANTED,
        file("-o --output", "keep the plan in this file (.json), for tune apply and tune export."),
        flag("--json as_json", "one JSON document on stdout."),
        PLACES[0],
        *TARGET,
    ],
)
def plan(asked: tuple[str, ...], **options: Any) -> int:
    """Show what would be changed on the hosts: file or command, old and new value, why, the undo.

    SETTING: only these, by the names of `wireproof audit --list`; SETTING/INSTANCE=VALUE for a
    value of your own (mtu/eth1=9000), also for a sysctl by its name. Without: all that fail.
    Nothing is changed. Exit status: 0, or 3 when a host could not be read.
    """
    from wireproof.report.text.tune import plan_lines

    made = plan_of(options, asked)
    if options["output"] is not None:
        from wireproof.workflow.tune.plan import save_plan

        save_plan(made, options["output"])
    if options["as_json"]:
        print_json(made, indent=1)
    else:
        click.echo("\n".join(plan_lines(made, look_of())))
    return 3 if any(one.refused for one in made.hosts) else 0


@click.command(
    "export",
    params=[
        click.Argument(["form"], type=click.Choice(["ansible", "tuned", "shell", "tmpfiles"])),
        click.Argument(
            ["asked"],
            nargs=-1,
            metavar="[PLAN.json | SETTING[=VALUE]...]",
            shell_complete=settings_or_file,
        ),
        *WANTED,
        flag("--json as_json", "one JSON document on stdout: host set to text."),
        PLACES[0],
        *TARGET,
    ],
)
def export(form: str, asked: tuple[str, ...], **options: Any) -> int:
    """Write a plan as an Ansible playbook, a tuned profile, a shell script or tmpfiles.d lines.

    Hosts with the same plan share a part of the playbook; the other forms are for one kind of host
    at a time. Nothing is changed.
    """
    from wireproof.workflow.documents.lists import TuneExport
    from wireproof.workflow.tune.export import export as written

    texts = written(plan_of(options, asked), form)
    if options["as_json"]:
        print_json(TuneExport(form=form, texts=texts), indent=1)
    else:
        click.echo("\n".join(texts.values()), nl=False)
    return 0
