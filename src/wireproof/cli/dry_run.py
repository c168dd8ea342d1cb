"""``--dry-run``: every command and script that would be run, in order, and nothing started."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from wireproof.cli.place import Place
from wireproof.cli.session import Wish, command_of
from wireproof.launch.program import shell_line
from wireproof.model.plan import Point
from wireproof.settings.resolve import Settings

__all__ = ["duration_s", "show"]


def duration_s(points: tuple[Point, ...], policy_budget_ms: int) -> float:
    """Upper bound of the timed part, in s: every point takes its whole budget."""
    return sum(point.budget_ms or policy_budget_ms for point in points) / 1000


def _job_lines(options: dict[str, Any], engine: str) -> list[str]:
    from wireproof.cli.job import request_of
    from wireproof.launch.slurm_job import batch_script
    from wireproof.launch.slurm_words import salloc_argv

    request = request_of(options)
    return [
        "# a job of our own, given back at the end",
        shell_line(salloc_argv(request)),
        "# or as a script for sbatch:",
        *(f"#   {line}" for line in batch_script(["wireproof", "check"], request).splitlines()),
        f"# and inside it, with the job's nodes for --hosts, {engine}",
    ]


def show(wish: Wish, place: Place, settings: Settings, options: dict[str, Any]) -> int:
    """Print and start nothing. With ``--json`` one document: argv, environment, hosts, points."""
    command = command_of(wish, place)
    points = wish.points
    bound = duration_s(points, wish.policy.point_budget_ms) * wish.launches
    if settings.json.value:
        document = {
            "argv": list(command.argv),
            "environment": command.environment,
            "launches": wish.launches,
            "hosts": list(place.hosts),
            "points": [msgspec.to_builtins(point) for point in points],
            "at_most_s": bound,
        }
        click.echo(msgspec.json.format(msgspec.json.encode(document), indent=1).decode())
        return 0
    lines = _job_lines(options, "the engine") if options["slurm"] else []
    pairs = len({pair for point in points for pair in point.pairs})
    lines += [
        f"# {place.size} ranks, {len(points)} points, {pairs} ordered pairs; at most {bound:.0f} s of timed work",
        *(f"# {note}" for note in command.notes),
        shell_line(command.argv, command.environment),
    ]
    if wish.launches > 1:
        lines.append(f"# the same {wish.launches} times: launches are a factor of their own")
    if place.size > 2 and place.hosts:
        lines.append("# then, if a node is suspected: the same command with the suspects and known-good partners only")
    click.echo("\n".join(lines))
    return 0
