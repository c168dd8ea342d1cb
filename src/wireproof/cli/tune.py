"""``wireproof tune``: change settings of hosts, and measure whether the change helps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from wireproof.cli.completion import settings
from wireproof.cli.console import Console, current_context, print_result
from wireproof.cli.declare import FORM, JSON, Verb, choice, flag, number, setting, text
from wireproof.cli.options import (
    BMC,
    LINK,
    TARGET,
    bmc_options,
    experiment_storage,
    lone_target,
    settings_of,
)
from wireproof.cli.study import DRY_RUN, PLAN, RESUME
from wireproof.cli.tune_plan import PLACES, TUNED, WANTED, apply, export, place_of, plan, show

if TYPE_CHECKING:
    from wireproof.model.experiment import TryResult
    from wireproof.target import Target


# --- ``wireproof tune try``: measure whether a setting helps here.

SHARED = tuple(
    option
    for option in (*WANTED, *PLACES)
    if option.name in ("profile", "allow_link_down", "state")
)
"""Options shared with `tune plan`."""


@click.command(
    "try",
    cls=Verb,
    document="tune.document.trial_document",
    params=[
        click.Argument(["knob"], metavar="ID|VAR=A,B,...", shell_complete=settings),
        click.Argument(["argv"], metavar="[-- COMMAND...]", nargs=-1, type=click.UNPROCESSED),
        choice(
            "--pattern",
            ("pingpong", "stream", "exchange", "message_rate"),
            "pattern to measure; default pingpong.",
        ),
        setting("sizes", "SIZE", "message size; default 8 B, for streams 1 MiB."),
        text(
            "--metric",
            "REGEX|json:PATH",
            "number in COMMAND's output to compare, instead of its wall time.",
        ),
        choice("--better", ["lower", "higher"], "whether a lower or a higher --metric is better."),
        click.Option(
            ["--smallest"],
            type=click.FloatRange(1.1, 100.0),
            default=5.0,
            show_default=True,
            metavar="PERCENT",
            help="effects smaller than this are ignored.",
        ),
        click.Option(
            ["--budget-s"],
            type=click.FloatRange(1.0, 604800.0),
            default=60.0,
            show_default=True,
            metavar="S",
            help="time limit for all runs.",
        ),
        setting("budget", "TIME", "time of one run of a pattern; default 200ms."),
        setting("seed", "N", "seed of the order of the runs; default: drawn."),
        click.Option(
            ["--server"],
            nargs=2,
            multiple=True,
            metavar="HOST 'WORDS'",
            help="a server for COMMAND: started on HOST before the first run, stopped after the"
            " last.",
        ),
        number("--ppn", 1, 4096, "ranks on each host.", default=1),
        *SHARED,
        setting("model"),
        flag("--keep", "if a value helps, leave it applied; `tune confirm` makes it permanent."),
        setting(
            "out", "DIR", "store the trial in DIR: trial.json, and the data that --resume needs."
        ),
        RESUME,
        DRY_RUN,
        flag("--json", "one JSON document on stdout.", default=None),
        FORM,
        *TARGET,
        *LINK,
    ],
    context_settings={"ignore_unknown_options": False, "allow_interspersed_args": True},
)
def try_(knob: str, argv: tuple[str, ...], dry_run: bool, **options: Any) -> TryResult | int:
    """Does a setting help here? Compares runs with each value in random, balanced blocks.

    VAR=A,B: a variable of the runs; VAR=A: compared with its current value; VAR=,A: with it unset.

    ID=A,B: a setting of the hosts, by the names of `wireproof audit --list`, or a sysctl; ID=A:
    compared with its current value; ID: the recommended value compared with the current value. The
    old value is restored at the end.

    The first value is the base. The workload is a pattern of wireproof between --hosts, or COMMAND,
    of which the wall time is compared, or the number that --metric finds in its output.

    Exit status: 0 a value helps, 1 none does, 3 undecided, 4 a run failed.
    """
    from wireproof.experiment.trial import plan_trial, run_trial
    from wireproof.workflow.experiments import trial_of

    settings = settings_of({**options, "profile": None})  # this is not check's profile
    environment = current_context().environment
    wanted = trial_of(knob, argv, settings, options, environment, experiment_storage(settings))
    if dry_run:
        return print_result(plan_trial(wanted, Console(), environment), document=PLAN)
    return run_trial(wanted, Console(), environment)


_ID = click.Argument(["name"], required=False, default="", metavar="[ID]")
_COMMON: tuple[click.Parameter, ...] = (FORM, JSON, *PLACES, *TARGET)
_WITH_BMC: tuple[click.Parameter, ...] = (*_COMMON, *BMC)


@click.group("tune")
def command() -> None:
    """Change settings of hosts reversibly, and measure whether the change helps."""


for _subcommand in (plan, apply, export, try_):
    command.add_command(_subcommand)


def _target(options: dict[str, Any]) -> Target:
    from wireproof.target import this_machine
    from wireproof.target.resolve import resolve_target

    if options["root"] is not None:
        return this_machine()
    return resolve_target(lone_target(options), current_context().environment)


@command.command("confirm", cls=Verb, document=TUNED, params=[_ID, *_COMMON])
def confirm(name: str, **options: Any) -> int:
    """Keep the changes of `tune apply`: cancel its timer, write the drop-ins 90-wireproof.*.

    Without ID: the waiting set, if exactly one is waiting. A file that overrides a value at the
    next boot is reported.
    """
    from wireproof.tune.job import confirm as keep

    return show(keep(_target(options), name, place_of(options)))


@command.command(
    "revert",
    cls=Verb,
    document=TUNED,
    params=[
        _ID,
        flag("--force", "also restore values that others have changed since."),
        *_WITH_BMC,
    ],
)
def revert(name: str, **options: Any) -> int:
    """Restore the old values and files, byte for byte; also after a reboot or a partial apply.

    Without ID: the newest change set of each host, and of its BIOS with --bmc. A value that someone
    else has changed since is kept and reported.
    """
    from wireproof.tune.job import revert as undo
    from wireproof.tune.node import hosts_of
    from wireproof.tune.with_bios import and_reverted, journals

    target, force = _target(options), options["force"]
    done = undo(target, name, place_of(options), force=force)
    bmcs = (hosts_of(target), bmc_options(options), journals(current_context().environment))
    return show(and_reverted(done, *bmcs, name=name, force=force))


@command.command("status", cls=Verb, document=TUNED, params=[_ID, *_WITH_BMC])
def status(name: str, **options: Any) -> int:
    """Show the sets in force, their deadlines and values changed since. Nothing is changed."""
    from wireproof.tune.job import status as standing
    from wireproof.tune.node import hosts_of
    from wireproof.tune.with_bios import and_standing, journals

    target = _target(options)
    done = standing(target, name, place_of(options))
    bmcs = (hosts_of(target), bmc_options(options), journals(current_context().environment))
    return show(and_standing(done, *bmcs, name=name))


@command.command("verify", cls=Verb, document=TUNED, params=[_ID, *_COMMON])
def verify(name: str, **options: Any) -> int:
    """After a boot, show the confirmed changes that are in force, and the files that override them.

    Nothing is changed. Exit status: 0 all are in force, 1 some are not.
    """
    from wireproof.tune.job import verify as held

    return show(held(_target(options), name, place_of(options)))


@command.command(
    "residue", cls=Verb, document="tune.document.residue_document", params=list(_COMMON)
)
def residue(**options: Any) -> int:
    """Find remains of earlier changes: wireproof's drop-ins without a journal, partly reverted
    sets, values that differ from the files, files of other tools with the same settings. Nothing is
    changed.

    Exit status: 0 no remains, 1 remains were found.
    """
    from wireproof.tune.job import residue as look_for

    found = look_for(_target(options), Console(), place_of(options))
    return print_result(found, status=1 if found.found else 0)
