"""``--dry-run``: every command and script that would be run, in order, and nothing started."""

from __future__ import annotations

from collections.abc import Sequence

import click
import msgspec

from wireproof.cli.context import current_context
from wireproof.cli.options import JOB
from wireproof.launch.programs.program import shell_line
from wireproof.launch.schedulers.slurm_job import JobRequest
from wireproof.report.json.encode import json_text
from wireproof.workflow.check import PlannedCheck

__all__ = ["show"]

_OF_THE_JOB = {name for option in JOB if option.name != "slurm" for name in option.opts}


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


def _job_lines(request: JobRequest, argv: Sequence[str]) -> list[str]:
    from wireproof.launch.schedulers.slurm_commands import salloc_argv
    from wireproof.launch.schedulers.slurm_job import batch_script

    script = batch_script(["wireproof", *_inside(argv)], request)
    return [
        "# a job of our own, given back at the end",
        shell_line(salloc_argv(request, ("sleep", "infinity"))),
        "# or the same as a script for sbatch:",
        *(f"#   {line}".rstrip() for line in script.splitlines()),
        "# inside the job, with the names of its nodes:",
    ]


def show(planned: PlannedCheck, job: JobRequest | None, *, as_json: bool) -> int:
    """Print and start nothing. With ``as_json`` one document: argv, environment, hosts, points."""
    click.echo(_document(planned) if as_json else "\n".join(_lines(planned, job)))
    return 0


def _document(planned: PlannedCheck) -> str:
    document = {
        "argv": list(planned.command.argv),
        "environment": planned.command.environment,
        "launches": planned.session.launches,
        "hosts": list(planned.target.hosts),
        "points": [msgspec.to_builtins(point) for point in planned.session.points],
        "at_most_s": planned.at_most_s,
    }
    return json_text(document, indent=1)


def _lines(planned: PlannedCheck, job: JobRequest | None) -> list[str]:
    command, target, session = planned.command, planned.target, planned.session
    lines = _job_lines(job, current_context().argv or ["check"]) if job is not None else []
    pairs = len({pair for point in session.points for pair in point.pairs})
    at_most = f"at most {planned.at_most_s:.0f} s of timed work"
    lines += [
        f"# {target.size} ranks, {len(session.points)} points, {pairs} ordered pairs; {at_most}",
        *(f"# {note}" for note in command.notes),
        shell_line(command.argv, command.environment),
    ]
    if session.launches > 1:
        lines.append(f"# the same {session.launches} times: launches are a factor of their own")
    if target.size > 2 and target.hosts:
        lines.append(
            "# then, if a node is suspected: the same command with the suspects and known-good"
            " partners only"
        )
    return lines
