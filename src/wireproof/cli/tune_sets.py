"""``wireproof tune confirm``, ``revert``, ``status``, ``verify`` and ``residue``."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from wireproof.cli.bmc import BMC, bmc_options
from wireproof.cli.console import Console, print_json
from wireproof.cli.context import current_context
from wireproof.cli.declare import flag
from wireproof.cli.options import TARGET, settings_of
from wireproof.cli.tune_plan import PLACES, look_of

if TYPE_CHECKING:
    from wireproof.model.tuning import Tuned
    from wireproof.workflow.target.target import Target
    from wireproof.workflow.tune.node import JournalPlace

__all__ = [
    "again",
    "confirm",
    "place_of",
    "residue",
    "revert",
    "same_hosts",
    "status",
    "status_of",
    "verify",
]

_JSON = flag("--json as_json", "one JSON document on stdout.")
_ID = click.Argument(["name"], required=False, default="", metavar="[ID]")
_COMMON: tuple[click.Parameter, ...] = (_JSON, *PLACES, *TARGET)
_WITH_BMC: tuple[click.Parameter, ...] = (*_COMMON, *BMC)
_REPEATED = ("hosts", "lab", "launcher", "scheduler", "prefix", "root", "state")


def place_of(options: dict[str, Any]) -> JournalPlace:
    from wireproof.workflow.tune.node import JournalPlace

    root = options["root"]
    return JournalPlace(state=options["state"], root=str(root.absolute()) if root else "")


def same_hosts(options: dict[str, Any]) -> list[str]:
    """The options that name the hosts and how they are reached, as they were given."""
    defaults = (None, "", "auto")
    return [f"--{key}={options[key]}" for key in _REPEATED if options.get(key) not in defaults]


def again(what: str, name: str, options: dict[str, Any]) -> str:
    """The command for the same hosts."""
    more = same_hosts(options)
    if what == "revert":
        more += _of_bmcs(options)
    return shlex.join(["wireproof", "tune", what, name, *more])


def _of_bmcs(options: dict[str, Any]) -> list[str]:
    """The BMCs' options as they were given."""
    words = [f"--bmc={source}" for source in options["bmc"]]
    for key in ("bmc_user", "bmc_password_file", "bmc_ca"):
        words += [f"--{key.replace('_', '-')}={options[key]}"] if options[key] else []
    return [*words, "--bmc-insecure"] if options["bmc_insecure"] else words


def _target(options: dict[str, Any]) -> Target:
    from wireproof.workflow.target.resolve import TargetSpecification, resolve_target
    from wireproof.workflow.target.target import this_machine

    if options["root"] is not None:
        return this_machine()
    settings = settings_of(options)
    specification = TargetSpecification.from_options(settings, alone=True)
    return resolve_target(specification, current_context().environment)


def _show(done: Tuned, options: dict[str, Any]) -> int:
    if options["as_json"]:
        print_json(done, indent=1)
    else:
        from wireproof.report.text.tune import tuned_lines

        click.echo("\n".join(tuned_lines(done, look_of())))
    return status_of(done)


def status_of(done: Tuned) -> int:
    """0 all hosts, 2 the request was wrong for all, 4 none could, 1 some did not."""
    if done.done:
        return 0
    statuses = {one.status for one in done.hosts}
    return statuses.pop() if statuses in ({2}, {4}) else 1


@click.command("confirm", params=[_ID, *_COMMON])
def confirm(name: str, **options: Any) -> int:
    """Keep what `tune apply` changed: end its timer and write the drop-in files 90-wireproof.*.

    Without ID: the set that waits, if exactly one waits. A file that overrules a value at the next
    boot is named.
    """
    from wireproof.workflow.tune.apply import confirm as keep

    return _show(keep(_target(options), name, place_of(options)), options)


@click.command(
    "revert",
    params=[
        _ID,
        flag("--force", "also values that were changed by others since."),
        *_WITH_BMC,
    ],
)
def revert(name: str, **options: Any) -> int:
    """Bring the old values and files back, byte for byte; also after a reboot, also half applied.

    Without ID: the newest change set of each host, and of its BIOS with --bmc. A value that is
    neither ours nor the old one is left alone and named.
    """
    from wireproof.workflow.tune.apply import revert as undo
    from wireproof.workflow.tune.node import hosts_of
    from wireproof.workflow.tune.with_bios import and_reverted, journals

    target, force = _target(options), options["force"]
    done = undo(target, name, place_of(options), force=force)
    folder = journals(current_context().environment)
    bmc = bmc_options(options)
    done = and_reverted(done, hosts_of(target), bmc, folder, name=name, force=force)
    return _show(done, options)


@click.command("status", params=[_ID, *_WITH_BMC])
def status(name: str, **options: Any) -> int:
    """Say what is applied where, until when, and what has moved since. Nothing is changed."""
    from wireproof.workflow.tune.apply import status as standing
    from wireproof.workflow.tune.node import hosts_of
    from wireproof.workflow.tune.with_bios import and_standing, journals

    target = _target(options)
    done = standing(target, name, place_of(options))
    folder = journals(current_context().environment)
    done = and_standing(done, hosts_of(target), bmc_options(options), folder, name=name)
    return _show(done, options)


@click.command("verify", params=[_ID, *_COMMON])
def verify(name: str, **options: Any) -> int:
    """Say after a boot what stands of the sets that were confirmed, and which file overrules them.

    Nothing is changed. Exit status: 0 all of it stands, 1 something does not.
    """
    from wireproof.workflow.tune.verify import verify as held

    return _show(held(_target(options), name, place_of(options)), options)


@click.command("residue", params=list(_COMMON))
def residue(**options: Any) -> int:
    """Find what earlier changes left: drop-ins of ours without a journal, sets half undone, values
    that differ from what the files say, files of other tools that set the same. Nothing is changed.

    Exit status: 0 nothing is left, 1 something is.
    """
    from wireproof.report.text.tune import residue_lines
    from wireproof.workflow.tune.residue import residue as look_for

    found = look_for(_target(options), Console(), place_of(options))
    if options["as_json"]:
        print_json(found, indent=1)
    else:
        click.echo("\n".join(residue_lines(found, look_of())))
    return 1 if found.found else 0
