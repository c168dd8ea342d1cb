"""``wireproof tune``: change settings of hosts, and find out whether that helps."""

from __future__ import annotations

import click

from wireproof.cli.tune_try import command as try_

__all__ = ["command"]


@click.group("tune")
def command() -> None:
    """Change settings of hosts so that it can be undone, and find out whether that helps."""


command.add_command(try_)
