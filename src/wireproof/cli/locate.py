"""``wireproof locate``: which node, port, link or switch, from what was measured before."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wireproof.cli.declare import file, flag, number

if TYPE_CHECKING:
    from wireproof.workflow.locate import LocateDocument

__all__ = ["command"]


def _status(found: LocateDocument) -> int:
    """1 with a culprit, 0 with none where one would have been found, else 3."""
    if any(one.blames for one in found.located):
        return 1
    from wireproof.model.located import ABOUT

    blind = any(
        not one.samples or one.missing or not one.detectable <= ABOUT * one.practical
        for one in found.located
    )
    return 3 if blind else 0


def _as_json(found: LocateDocument) -> str:
    import msgspec

    return msgspec.json.format(msgspec.json.encode(found), indent=1).decode()


def _as_text(found: LocateDocument) -> str:
    from wireproof.report.located import value_words
    from wireproof.report.text.located import story_lines
    from wireproof.report.text.look import Look

    look = Look.of(sys.stdout, os.environ)
    lines = [
        " " * (len(line) - len(line.lstrip())) + look.say(line.strip())
        for line in story_lines(found.located)
    ]
    metric = found.located[0].metric
    practical = found.located[0].practical
    far = [pair for pair in found.worst_pairs if abs(1 - pair.ratio) > practical]
    if far:
        lines.append("Pairs farthest below what both their nodes do elsewhere")
        lines += [
            look.say(
                f"  {pair.origin} -> {pair.target}: {value_words(metric, pair.value)},"
                f" {pair.ratio:.0%} of that"
            )
            for pair in far
        ]
    return "\n".join(lines)


OPTIONS: tuple[click.Parameter, ...] = (
    click.Argument(["source"], type=click.Path(path_type=Path), required=False),
    file("--topology", "which switch each node hangs on.", metavar="FILE"),
    file(
        "--world",
        "a synthetic cluster instead (TOML): what would be found on one of this size and noise?",
        metavar="FILE",
    ),
    number("--rounds", 1, 100_000, "rounds of pairs in that world."),
    flag("--json as_json", "one JSON document on stdout."),
)


@click.command("locate", params=[*OPTIONS])
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
    from wireproof.workflow.locate import locate
    from wireproof.workflow.specification import LocateSpecification

    found = locate(
        LocateSpecification(source=source, world=world, topology=topology, rounds=rounds)
    )
    for note in found.notes:
        say(note)
    click.echo(_as_json(found) if as_json else _as_text(found))
    return _status(found)
