"""``wireproof tune plan``, ``export`` and ``apply``: show the planned changes, write them as files
of other tools, and apply them.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wireproof.cli.completion import settings, settings_or_file
from wireproof.cli.console import (
    Console,
    chosen_form,
    current_context,
    listed,
    print_either,
    print_result,
    rendered,
    say,
)
from wireproof.cli.declare import FORM, JSON, Verb, checked, file, flag, json_as, number
from wireproof.cli.options import BMC, MACHINES, TARGET, bmc_options, lone_target
from wireproof.model.errors import BadInput
from wireproof.options.row import absolute

if TYPE_CHECKING:
    from wireproof.model.tuning import Tuned, TunePlan
    from wireproof.target import Target
    from wireproof.tune.node import JournalPlace
    from wireproof.tune.plan import PlanSpecification


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
        "also change settings that take a link down for a moment: rings, channels, MTU.",
    ),
)
PLACES: tuple[click.Parameter, ...] = (
    file("--root", "change the files below this folder instead of those of the machine."),
    click.Option(
        ["--state"],
        metavar="DIR",
        default="",
        callback=checked(absolute),
        help="folder of the journals on the hosts; default /var/lib/wireproof/tune.",
    ),
)
TUNED = "tune.document.tuned_document"
"""The document of subcommands that query the hosts."""


def _specification(options: dict[str, Any], asked: tuple[str, ...]) -> PlanSpecification:
    from wireproof.tune.plan import PlanSpecification

    return PlanSpecification(
        target=lone_target(options),
        profile=options["profile"],
        asked=asked,
        skip=options["skip"],
        source=options["source"],
        root=options.get("root"),
        allow_link_down=options["allow_link_down"],
        bmc=bmc_options(options),
    )


def _is_file(text: str) -> bool:
    """Return whether the text is the file of a plan, and not a setting's name, a value or a file of
    the kernel.
    """
    if text.endswith(".json"):
        return True
    kernel = text.startswith(("/proc/", "/sys/"))
    return "=" not in text and not kernel and _names_file(text)


def _names_file(text: str) -> bool:
    from wireproof.audit.job import catalogue

    return Path(text).is_file() and text not in catalogue().entries


def plan_of(options: dict[str, Any], asked: tuple[str, ...]) -> TunePlan:
    """Return the plan from the file in ``asked``, if it is the only argument, or a new plan."""
    from wireproof.tune.plan import load_plan
    from wireproof.tune.plan import plan as make

    files = [text for text in asked if _is_file(text)]
    if not files:
        return make(_specification(options, asked), Console(), current_context().environment)
    if len(asked) > 1 or options["skip"]:
        raise BadInput(
            f"{files[0]} is a finished plan: give it alone, or create a new plan with other"
            " settings or --skip."
        )
    return load_plan(Path(files[0]))


@click.command(
    "plan",
    cls=Verb,
    document="tune.document.tune_plan_document",
    params=[
        click.Argument(
            ["asked"], nargs=-1, metavar="[SETTING[=VALUE]]...", shell_complete=settings
        ),
        *WANTED,
        file("-o --output", "write the plan to this file (.json), for tune apply and tune export."),
        FORM,
        JSON,
        PLACES[0],
        *TARGET,
    ],
)
def plan(asked: tuple[str, ...], **options: Any) -> int:
    """Show the planned changes on the hosts: file or command, old and new value, reason, undo.

    SETTING: only these, by the names of `wireproof audit --list`; SETTING/INSTANCE=VALUE for
    another value (mtu/eth1=9000), also for a sysctl by its name. Default: all settings that fail.
    Nothing is changed. Exit status: 0, or 3 if a host could not be read.
    """
    made = plan_of(options, asked)
    if options["output"] is not None:
        from wireproof.tune.plan import save_plan

        save_plan(made, options["output"])
    return _shown(made)


def _shown(plan: TunePlan) -> int:
    status = 3 if any(host.refused for host in plan.hosts) else 0
    return print_result(plan, document="tune.document.tune_plan_document", status=status)


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
        json_as("one JSON document on stdout: host set to text."),
        PLACES[0],
        *TARGET,
    ],
)
def export(form: str, asked: tuple[str, ...], **options: Any) -> int:
    """Write a plan as an Ansible playbook, a tuned profile, a shell script or tmpfiles.d lines.

    Hosts with the same plan share a part of the playbook; the other forms support only hosts with
    the same plan. Nothing is changed.
    """
    from wireproof.tune.plan import export as written

    texts = written(plan_of(options, asked), form)
    print_either(
        listed("TuneExport", form=form, texts=texts),
        lambda: "\n".join(texts.values()).removesuffix("\n"),
        indent=1,
    )
    return 0


_REPEATED = ("hosts", "lab", "launcher", "scheduler", "prefix", "root", "state")


def place_of(options: dict[str, Any]) -> JournalPlace:
    from wireproof.tune.node import JournalPlace

    root = options["root"]
    return JournalPlace(state=options["state"], root=str(root.absolute()) if root else "")


def same_hosts(options: dict[str, Any]) -> list[str]:
    """Return the options for the hosts and the way to reach them, as given."""
    defaults = (None, "", "auto")
    return [f"--{key}={options[key]}" for key in _REPEATED if options.get(key) not in defaults]


def _again(what: str, name: str, options: dict[str, Any]) -> str:
    """Return another command for the same hosts."""
    more = same_hosts(options)
    if what == "revert":
        more += _of_bmcs(options)
    return shlex.join(["wireproof", "tune", what, name, *more])


def _of_bmcs(options: dict[str, Any]) -> list[str]:
    """Return the options of the BMCs, as given."""
    words = [f"--bmc={source}" for source in options["bmc"]]
    for key in ("bmc_user", "bmc_password_file", "bmc_ca"):
        words += [f"--{key.replace('_', '-')}={options[key]}"] if options[key] else []
    return [*words, "--bmc-insecure"] if options["bmc_insecure"] else words


def show(done: Tuned) -> int:
    """Print the results of the hosts.

    Return 0 if all succeeded, 2 if the request was wrong for all, 4 if none succeeded, 1 if some
    failed.
    """
    statuses = {host.status for host in done.hosts}
    worst = statuses.pop() if statuses in ({2}, {4}) else 1
    return print_result(done, status=0 if done.done else worst)


@click.command(
    "apply",
    cls=Verb,
    document=TUNED,
    params=[
        click.Argument(
            ["asked"],
            nargs=-1,
            metavar="[PLAN.json | SETTING[=VALUE]...]",
            shell_complete=settings_or_file,
        ),
        *WANTED,
        flag("-y --yes", "apply without confirmation."),
        flag("--dry-run", "show the plan like `tune plan`, and change nothing."),
        number(
            "--timeout",
            1,
            86400,
            "seconds until the changes are reverted automatically.",
            default=600,
            metavar="S",
        ),
        FORM,
        JSON,
        *PLACES,
        *TARGET,
    ],
)
def apply(asked: tuple[str, ...], **options: Any) -> int:
    """Change settings of the hosts, all or nothing on each; they are reverted automatically unless
    `tune confirm` is run in time.

    Shows the plan and asks for confirmation first. A host whose values have changed since the plan
    was made, or whose scheduler may start a job on it, is not changed and is reported. Exit status:
    0 all hosts, 1 not all hosts, 4 no host.
    """
    from wireproof.tune.job import may_be_touched
    from wireproof.tune.plan import target_of

    if options["source"] is not None:
        raise BadInput(
            "--from is for tune plan only: apply reads the current values from the hosts."
        )
    environment = current_context().environment
    plan = plan_of(options, asked)
    if options["dry_run"]:
        return _shown(plan)
    target = target_of(_specification(options, ()), environment)
    plan = may_be_touched(plan, target, environment, place_of(options))
    if not _agreed(plan, options):
        return 1
    done = _carried_out(plan, target, options)
    status = show(done)
    if done.until and any(host.status == 0 for host in done.hosts):
        say(
            f"it reverts at {done.until} unless"
            f" `{_again('confirm', done.id, options)}`; `{_again('revert', done.id, options)}`"
            " undoes it now."
        )
    return status


def _carried_out(plan: TunePlan, target: Target, options: dict[str, Any]) -> Tuned:
    """Apply the plan. If interrupted, print the set's name: hosts that have started finish it."""
    from wireproof.tune.job import apply as carry_out
    from wireproof.tune.job import new_id
    from wireproof.tune.with_bios import and_firmware, journals

    name, timeout = new_id(), options["timeout"]
    try:
        done = carry_out(plan, target, name=name, timeout_s=timeout, place=place_of(options))
        folder = journals(current_context().environment)
        return and_firmware(done, plan, bmc_options(options), folder)
    except KeyboardInterrupt:
        bios = any(host.firmware for host in plan.hosts)
        say(
            f"hosts that had begun have the set {name} and revert it automatically within"
            f" {timeout} s{', but their BMCs do not' if bios else ''};"
            f" `{_again('revert', name, options)}` undoes it now."
        )
        raise


def _agreed(plan: TunePlan, options: dict[str, Any]) -> bool:
    """Show the plan unless the output is for programs; ask unless ``--yes`` is given."""
    from wireproof.tune.document import tune_plan_document

    to_do = any(
        (host.changes or host.keeps or host.firmware) and not host.refused for host in plan.hosts
    )
    aside = chosen_form() != "text"
    if not aside or not options["yes"]:
        click.echo(rendered(tune_plan_document(plan), "text"), err=aside)
    if options["yes"] or not to_do:
        return True
    if not sys.stdin.isatty():
        raise BadInput("there is no terminal for the confirmation: give --yes to apply the plan.")
    return click.confirm("Apply this?", err=True)
