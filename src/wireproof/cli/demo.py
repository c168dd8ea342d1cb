"""``wireproof demo``: a virtual cluster with a bad link and a shared-memory fall-through."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["command"]


@click.command("demo")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="folder for records and report."
)
@click.option("--seed", type=int, help="seed of the order of the points.")
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout.")
def command(out: Path | None, seed: int | None, as_json: bool) -> int:
    """Build a virtual cluster with a bad link and a shared-memory fall-through, measure it, and
    show that both are found.

    Exit status 0: both were found. Takes under a minute, needs root or unprivileged user
    namespaces.
    """
    from wireproof.cli.console import Console, say
    from wireproof.cli.delivery import deliver
    from wireproof.cli.outcome import INTERRUPTED
    from wireproof.cli.typed import typed_words
    from wireproof.workflow.demo import demo
    from wireproof.workflow.specification import Storage

    found = demo(Storage(folder=out, command=typed_words()), seed, Console())
    if deliver(found.result, as_json=as_json) == INTERRUPTED:
        return INTERRUPTED
    slow_node = f"CAUGHT, {found.slow_node}" if found.slow_node else "MISSED"
    say(f"bad node and direction: {slow_node}")
    say(f"shared memory sold as a wire: {'CAUGHT' if found.lie else 'MISSED'}")
    return 0 if found.caught else 1
