"""``--dry-run``: every command and script that would be run, in order, and nothing started."""

from __future__ import annotations

from collections.abc import Sequence

import click

from wireproof.cli.console import print_json
from wireproof.cli.context import current_context
from wireproof.cli.options import JOB
from wireproof.launch.programs.program import shell_line
from wireproof.launch.schedulers.slurm_job import JobRequest
from wireproof.report.text.dry_run import dry_run_lines
from wireproof.workflow.dry_run import document_of, own_job
from wireproof.workflow.session.planned import Planned

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


def show(planned: Planned, job: JobRequest | None, *, as_json: bool) -> int:
    """Print and start nothing. With ``as_json`` one document: argv, environment, hosts, points."""
    document = document_of(planned)
    if as_json:
        print_json(document, indent=1)
        return 0
    argv = ["wireproof", *_inside(current_context().argv or ["check"])]
    command = planned.command
    lines = dry_run_lines(
        document,
        shell_line(command.argv, command.environment),
        ranks=planned.target.size,
        notes=command.notes,
        job=None if job is None else own_job(job, argv),
    )
    click.echo("\n".join(lines))
    return 0
