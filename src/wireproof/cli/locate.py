"""``wireproof locate``: which node, port, link or switch, from what was measured before."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from wireproof.workflow.locate import Found

__all__ = ["command"]


def _status(found: Found) -> int:
    """1 with a culprit, 0 with none where one would have been found, else 3."""
    if any(one.blames for one in found.located):
        return 1
    from wireproof.model.located import ABOUT

    blind = any(
        not one.samples or one.missing or not one.detectable <= ABOUT * one.practical
        for one in found.located
    )
    return 3 if blind else 0


def _as_json(found: Found) -> str:
    import msgspec

    worst = [
        dict(zip(("origin", "target", "value", "ratio"), pair, strict=True)) for pair in found.worst
    ]
    document = {"located": found.located, "notes": found.notes, "worst_pairs": worst}
    return msgspec.json.format(msgspec.json.encode(document), indent=1).decode()


def _as_text(found: Found) -> str:
    from wireproof.report.located import value_words
    from wireproof.report.text.located import story_lines
    from wireproof.report.text.look import Look

    look = Look.of(sys.stdout, os.environ)
    lines = [
        " " * (len(line) - len(line.lstrip())) + look.say(line.strip())
        for line in story_lines(found.located)
    ]
    metric = found.located[0].metric
    far = [pair for pair in found.worst if abs(1 - pair[3]) > found.located[0].practical]
    if far:
        lines.append("Pairs farthest below what both their nodes do elsewhere")
        lines += [
            look.say(f"  {origin} -> {target}: {value_words(metric, value)}, {ratio:.0%} of that")
            for origin, target, value, ratio in far
        ]
    return "\n".join(lines)


@click.command("locate")
@click.argument("source", type=click.Path(path_type=Path), required=False)
@click.option(
    "--topology",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="which switch each node hangs on.",
)
@click.option(
    "--world",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="a synthetic cluster instead (TOML): what would be found on one of this size and noise?",
)
@click.option(
    "--rounds", type=click.IntRange(1, 100_000), metavar="N", help="rounds of pairs in that world."
)
@click.option("--json", "as_json", is_flag=True, help="one JSON document on stdout.")
def command(
    source: Path | None,
    topology: Path | None,
    world: Path | None,
    rounds: int | None,
    as_json: bool,
) -> int:
    """Which node, port, link or switch is slow, by what is in SOURCE.

    SOURCE is the folder of a check, or a table of pairs (Parquet or CSV: origin, target and
    goodput_bytes_per_s, mb_per_s, gbit_per_s, hrt_ns or usec), of any size. Nothing is measured and
    no path is proven by it: a table says what it says. Exit status 1: somebody is slow; 0: nobody,
    and a slow one would have been found; 3: cannot be told.
    """
    from wireproof.cli.console import say
    from wireproof.model.errors import BadInput
    from wireproof.workflow.locate import from_folder, from_table, from_world
    from wireproof.workflow.target.fabric import read_fabric

    if (source is None) == (world is None):
        raise BadInput(
            "give a folder of a check or a table of pairs, or --world FILE, and one of them."
        )
    fabric = read_fabric(topology) if topology else None
    if world is not None:
        found = from_world(world, rounds)
    elif source is not None and source.is_dir():
        found = from_folder(source, fabric)
    else:
        assert source is not None  # noqa: S101  looked at above
        found = from_table(source, fabric)
    for note in found.notes:
        say(note)
    click.echo(_as_json(found) if as_json else _as_text(found))
    return _status(found)
