"""``wireproof tune``: changes settings of hosts, and finds out whether that helps."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from wireproof.cli.console import Console, current_context, print_document
from wireproof.cli.declare import FORM, JSON, flag
from wireproof.cli.options import BMC, TARGET, bmc_options, lone_target
from wireproof.cli.tune_plan import PLACES, apply, export, place_of, plan, show
from wireproof.cli.tune_try import command as try_

if TYPE_CHECKING:
    from wireproof.workflow.target.target import Target


_ID = click.Argument(["name"], required=False, default="", metavar="[ID]")
_COMMON: tuple[click.Parameter, ...] = (FORM, JSON, *PLACES, *TARGET)
_WITH_BMC: tuple[click.Parameter, ...] = (*_COMMON, *BMC)


@click.group("tune")
def command() -> None:
    """Change settings of hosts so that it can be undone, and find out whether that helps."""


for _subcommand in (plan, apply, export, try_):
    command.add_command(_subcommand)


def _target(options: dict[str, Any]) -> Target:
    from wireproof.workflow.target.resolve import resolve_target
    from wireproof.workflow.target.target import this_machine

    if options["root"] is not None:
        return this_machine()
    return resolve_target(lone_target(options), current_context().environment)


@command.command("confirm", params=[_ID, *_COMMON])
def confirm(name: str, **options: Any) -> int:
    """Keep what `tune apply` changed: end its timer and write the drop-in files 90-wireproof.*.

    Without ID: the waiting set, if exactly one is waiting. A file that overrides a value at the
    next boot is named.
    """
    from wireproof.workflow.tune.apply import confirm as keep

    return show(keep(_target(options), name, place_of(options)))


@command.command(
    "revert",
    params=[
        _ID,
        flag("--force", "also values that others have changed since."),
        *_WITH_BMC,
    ],
)
def revert(name: str, **options: Any) -> int:
    """Restore the old values and files, byte for byte; also after a reboot, or if half applied.

    Without ID: the newest change set of each host, and of its BIOS with --bmc. A value that someone
    else has changed since is left alone and named.
    """
    from wireproof.workflow.tune.apply import revert as undo
    from wireproof.workflow.tune.node import hosts_of
    from wireproof.workflow.tune.with_bios import and_reverted, journals

    target, force = _target(options), options["force"]
    done = undo(target, name, place_of(options), force=force)
    folder = journals(current_context().environment)
    bmc = bmc_options(options)
    done = and_reverted(done, hosts_of(target), bmc, folder, name=name, force=force)
    return show(done)


@command.command("status", params=[_ID, *_WITH_BMC])
def status(name: str, **options: Any) -> int:
    """Show what is applied where, until when, and what has changed since. Nothing is changed."""
    from wireproof.workflow.tune.apply import status as standing
    from wireproof.workflow.tune.node import hosts_of
    from wireproof.workflow.tune.with_bios import and_standing, journals

    target = _target(options)
    done = standing(target, name, place_of(options))
    folder = journals(current_context().environment)
    done = and_standing(done, hosts_of(target), bmc_options(options), folder, name=name)
    return show(done)


@command.command("verify", params=[_ID, *_COMMON])
def verify(name: str, **options: Any) -> int:
    """Show after a boot which confirmed changes are in force, and which files override them.

    Nothing is changed. Exit status: 0 all are in force, 1 some are not.
    """
    from wireproof.workflow.tune.verify import verify as held

    return show(held(_target(options), name, place_of(options)))


@command.command("residue", params=list(_COMMON))
def residue(**options: Any) -> int:
    """Find what earlier changes have left: wireproof's drop-ins without a journal, half reverted
    sets, values that differ from the files, files of other tools with the same settings. Nothing is
    changed.

    Exit status: 0 nothing is left, 1 something is left.
    """
    from wireproof.report.documents.tune import residue_document
    from wireproof.workflow.tune.verify import residue as look_for

    found = look_for(_target(options), Console(), place_of(options))
    print_document(found, partial(residue_document, found))
    return 1 if found.found else 0
