"""``wireproof tune apply``: carry a plan out, and say how it is kept or undone."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from wireproof.cli.bmc import bmc_options
from wireproof.cli.completion import settings_or_file
from wireproof.cli.console import print_json, say
from wireproof.cli.context import current_context
from wireproof.cli.declare import flag, number
from wireproof.cli.options import TARGET
from wireproof.cli.tune_plan import PLACES, WANTED, look_of, plan_of, specification_of
from wireproof.cli.tune_sets import again, place_of, status_of
from wireproof.model.errors import BadInput

if TYPE_CHECKING:
    from wireproof.model.tuning import Tuned, TunePlan
    from wireproof.workflow.target.target import Target

__all__ = ["apply"]


@click.command(
    "apply",
    params=[
        click.Argument(
            ["asked"],
            nargs=-1,
            metavar="[PLAN.json | SETTING[=VALUE]...]",
            shell_complete=settings_or_file,
        ),
        *WANTED,
        flag("-y --yes", "do not ask."),
        number(
            "--timeout", 1, 86400, "seconds until it reverts by itself.", default=600, metavar="S"
        ),
        flag("--json as_json", "one JSON document on stdout."),
        *PLACES,
        *TARGET,
    ],
)
def apply(asked: tuple[str, ...], **options: Any) -> int:
    """Change settings of the hosts, all or nothing on each; they revert by themselves unless `tune
    confirm` comes in time.

    Shows the plan and asks first. A host whose values have moved since the plan was made, or whose
    scheduler may start a job on it, is left alone and named. Exit status: 0 all hosts, 1 some not,
    4 none could.
    """
    from wireproof.workflow.tune.apply import may_be_touched
    from wireproof.workflow.tune.plan import target_of

    if options["source"] is not None:
        raise BadInput("--from is for tune plan: what is changed is read from the hosts.")
    environment = current_context().environment
    plan = plan_of(options, asked)
    target = target_of(specification_of(options, ()), environment)
    plan = may_be_touched(plan, target, environment, place_of(options))
    if not _agreed(plan, options):
        return 1
    done = _carried_out(plan, target, options)
    if options["as_json"]:
        print_json(done, indent=1)
    else:
        from wireproof.report.text.tune import tuned_lines

        click.echo("\n".join(tuned_lines(done, look_of())))
    if done.until and any(one.status == 0 for one in done.hosts):
        say(
            f"it reverts by itself at {done.until} unless `{again('confirm', done.id, options)}`;"
            f" `{again('revert', done.id, options)}` undoes it now."
        )
    return status_of(done)


def _carried_out(plan: TunePlan, target: Target, options: dict[str, Any]) -> Tuned:
    """Interrupted, it names the set: what hosts have begun goes on there."""
    from wireproof.workflow.tune.apply import apply as carry_out
    from wireproof.workflow.tune.apply import new_id
    from wireproof.workflow.tune.with_bios import and_firmware, journals

    name, timeout = new_id(), options["timeout"]
    try:
        done = carry_out(plan, target, name=name, timeout_s=timeout, place=place_of(options))
        folder = journals(current_context().environment)
        return and_firmware(done, plan, bmc_options(options), folder)
    except KeyboardInterrupt:
        say(
            f"hosts that had begun have the set {name} and revert by themselves within {timeout} s;"
            f" `{again('revert', name, options)}` undoes it now."
        )
        raise


def _agreed(plan: TunePlan, options: dict[str, Any]) -> bool:
    """Show it, unless the answer is for programs; ask, unless ``--yes``."""
    from wireproof.report.text.tune import plan_lines

    to_do = any(
        (one.changes or one.keeps or one.firmware) and not one.refused for one in plan.hosts
    )
    if not options["as_json"] or not options["yes"]:
        click.echo("\n".join(plan_lines(plan, look_of())), err=options["as_json"])
    if options["yes"] or not to_do:
        return True
    if not sys.stdin.isatty():
        raise BadInput("there is no terminal to ask on: give --yes to apply the plan.")
    return click.confirm("Apply this?", err=True)
