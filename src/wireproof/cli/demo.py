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
    show that both are found. All tables are in the folder of --out.

    Exit status 0: both were found. Takes under a minute, needs root or unprivileged user
    namespaces.
    """
    from wireproof.cli.delivery import deliver, ended
    from wireproof.cli.options import typed_words
    from wireproof.cli.outcome import INTERRUPTED
    from wireproof.report.documents.run import demo_document
    from wireproof.workflow.demo import demo
    from wireproof.workflow.session.session import Storage

    found = demo(Storage(folder=out, command=typed_words()), seed, Console())
    for_programs = chosen_form() == "json"
    if (deliver if for_programs else ended)(found.result) == INTERRUPTED:
        return INTERRUPTED
    faults = {
        "one node sends at a third of its rate": found.slow_node,
        "shared memory measured in place of the wire": "off-wire" if found.lie else "",
    }
    stream = sys.stderr if for_programs else sys.stdout
    runs = [part.section for part in found.result.parts]
    document = demo_document(faults, runs, found.result.folder)
    click.echo(rendered(document, "text", stream), file=stream)
    return 0 if found.caught else 1
