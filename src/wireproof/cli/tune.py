"""``wireproof tune``: change settings of hosts, and find out whether that helps."""

from __future__ import annotations

import click

from wireproof.cli.tune_apply import apply
from wireproof.cli.tune_plan import export, plan
from wireproof.cli.tune_sets import confirm, residue, revert, status, verify
from wireproof.cli.tune_try import command as try_

__all__ = ["command"]


@click.group("tune")
def command() -> None:
    """Change settings of hosts so that it can be undone, and find out whether that helps."""


for _subcommand in (plan, apply, confirm, revert, status, verify, export, residue, try_):
    command.add_command(_subcommand)
