"""``wireproof demo``: a virtual cluster with a bad link and a shared-memory fall-through."""

import sys
from pathlib import Path

import click

from wireproof.cli.console import Console, chosen_form, rendered
from wireproof.cli.declare import json_as

OPTIONS: tuple[click.Parameter, ...] = (
    click.Option(
        ["--out"],
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="folder for records and report.",
    ),
    click.Option(["--seed"], type=int, help="seed of the order of the points."),
    json_as("JSON on stdout."),
)


@click.command("demo", params=[*OPTIONS])
def command(out: Path | None, seed: int | None) -> int:
    """Build a virtual cluster with a bad link and a shared-memory fall-through, measure it, and
    show that both are found.

    Exit status 0: both were found. Takes under a minute, needs root or unprivileged user
    namespaces.
    """
    from wireproof.cli.delivery import deliver
    from wireproof.cli.options import typed_words
    from wireproof.cli.outcome import INTERRUPTED
    from wireproof.report.documents.run import demo_document
    from wireproof.workflow.demo import demo
    from wireproof.workflow.session.session import Storage

    found = demo(Storage(folder=out, command=typed_words()), seed, Console())
    if deliver(found.result) == INTERRUPTED:
        return INTERRUPTED
    faults = {
        "one node sends at a third of its rate": found.slow_node,
        "shared memory measured in place of the wire": "off-wire" if found.lie else "",
    }
    stream = sys.stderr if chosen_form() == "json" else sys.stdout
    click.echo(f"\n{rendered(demo_document(faults), 'text', stream)}", file=stream)
    return 0 if found.caught else 1
