"""What a check or a measurement would start, as ``--dry-run`` shows it."""

from __future__ import annotations

from collections.abc import Sequence

from wireproof.launch.programs.program import shell_line
from wireproof.launch.schedulers.slurm_commands import salloc_argv
from wireproof.launch.schedulers.slurm_job import JobRequest, batch_script
from wireproof.report.json.dry_run import DryRunDocument
from wireproof.report.text.dry_run import OwnJob
from wireproof.workflow.session.planned import Planned

__all__ = ["document_of", "own_job"]


def document_of(planned: Planned) -> DryRunDocument:
    """The first launch and what it measures."""
    return DryRunDocument(
        argv=list(planned.command.argv),
        environment=dict(planned.command.environment),
        launches=planned.session.launches,
        hosts=list(planned.target.hosts),
        points=list(planned.session.points),
        at_most_s=planned.at_most_s,
    )


def own_job(request: JobRequest, argv: Sequence[str]) -> OwnJob:
    """The job that ``request`` asks for; ``argv``: the check that its script starts inside."""
    return OwnJob(
        allocate=shell_line(salloc_argv(request, ("sleep", "infinity"))),
        script=batch_script(list(argv), request),
    )
