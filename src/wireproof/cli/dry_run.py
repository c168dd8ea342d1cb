"""``--dry-run``: every command and script that would be run, in order, and nothing started."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
import msgspec

from wireproof.launch.programs.program import shell_line
from wireproof.model.plan import Point
from wireproof.report.json.encode import json_text
from wireproof.settings.resolve import Settings
from wireproof.workflow.session.session import Session, command_of
from wireproof.workflow.target.target import Target

__all__ = ["duration_s", "show"]


def duration_s(points: tuple[Point, ...], policy_budget_ms: int) -> float:
    """Upper bound of the timed part, in s: every point takes its whole budget."""
    return sum(point.budget_ms or policy_budget_ms for point in points) / 1000


_OF_THE_JOB = {
    "-N",
    "--nodes",
    "-p",
    "--partition",
    "-t",
    "--time",
    "-A",
    "--account",
    "-q",
    "--qos",
    "-w",
    "--nodelist",
    "-x",
    "--exclude",
    "--reservation",
    "-C",
    "--constraint",
    "--wait",
}


def _inside(argv: Sequence[str]) -> list[str]:
    """The same command for use inside the job: without what asks for a job."""
    words: list[str] = []
    skip = False
    for word in argv:
        name = word.partition("=")[0]
        if skip:
            skip = False
        elif name in _OF_THE_JOB:
            skip = "=" not in word
        elif name not in ("--slurm", "--dry-run"):
            words.append(word)
    return words


def _job_lines(options: dict[str, Any], argv: Sequence[str]) -> list[str]:
    from wireproof.launch.schedulers.slurm_commands import salloc_argv
    from wireproof.launch.schedulers.slurm_job import batch_script
    from wireproof.workflow.target.job import request_of

    request = request_of(options)
    script = batch_script(["wireproof", *_inside(argv)], request)
    return [
        "# a job of our own, given back at the end",
        shell_line(salloc_argv(request, ("sleep", "infinity"))),
        "# or the same as a script for sbatch:",
        *(f"#   {line}".rstrip() for line in script.splitlines()),
        "# inside the job, with the names of its nodes:",
    ]


def show(session: Session, target: Target, settings: Settings, options: dict[str, Any]) -> int:
    """Print and start nothing. With ``--json`` one document: argv, environment, hosts, points."""
    command = command_of(session, target)
    points = session.points
    bound = duration_s(points, session.policy.point_budget_ms) * session.launches
    if settings.json.value:
        document = {
            "argv": list(command.argv),
            "environment": command.environment,
            "launches": session.launches,
            "hosts": list(target.hosts),
            "points": [msgspec.to_builtins(point) for point in points],
            "at_most_s": bound,
        }
        click.echo(json_text(document, indent=1))
        return 0
    argv = (click.get_current_context().find_root().obj or {}).get("argv", ["check"])
    lines = _job_lines(options, argv) if options["slurm"] else []
    pairs = len({pair for point in points for pair in point.pairs})
    lines += [
        f"# {target.size} ranks, {len(points)} points, {pairs} ordered pairs; at most {bound:.0f} s of timed work",
        *(f"# {note}" for note in command.notes),
        shell_line(command.argv, command.environment),
    ]
    if session.launches > 1:
        lines.append(f"# the same {session.launches} times: launches are a factor of their own")
    if target.size > 2 and target.hosts:
        lines.append(
            "# then, if a node is suspected: the same command with the suspects and known-good partners only"
        )
    click.echo("\n".join(lines))
    return 0
