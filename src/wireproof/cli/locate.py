"""``wireproof locate``: which node, port, link or switch, from what was measured before."""

from pathlib import Path

import click

from wireproof.cli.declare import FORM, JSON, file, number

OPTIONS: tuple[click.Parameter, ...] = (
    click.Argument(["source"], type=click.Path(path_type=Path), required=False),
    file("--topology", "which switch each node connects to.", metavar="FILE"),
    file(
        "--world",
        "a synthetic cluster instead (TOML): what would be found on one of this size and noise?",
        metavar="FILE",
    ),
    number("--rounds", 1, 100_000, "rounds of pairs in that world."),
    FORM,
    JSON,
)


@click.command("locate", params=[*OPTIONS])
def command(
    source: Path | None,
    topology: Path | None,
    world: Path | None,
    rounds: int | None,
) -> int:
    """Find the node, port, link or switch that is slow, from the measurements in SOURCE.

    SOURCE is the folder of a check, or a table of pairs (Parquet or CSV: origin, target and
    goodput_bytes_per_s, mb_per_s, gbit_per_s, hrt_ns or usec), of any size. Nothing is measured
    and no path is proven: the table is taken at its word. Exit status 1: a node or pair is slow; 0:
    none is, and a slow node would have been found; 3: undecided.
    """
    from wireproof.cli.delivery import answer
    from wireproof.report.documents.located import locate_document
    from wireproof.workflow.locate import locate
    from wireproof.workflow.specification import LocateSpecification

    found = locate(
        LocateSpecification(source=source, world=world, topology=topology, rounds=rounds)
    )
    return answer(found, locate_document)
