"""The first launch and what it would measure, as ``--dry-run`` shows it; nothing is started."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from wireproof.launch.program import shell_line
from wireproof.launch.request import LaunchCommand
from wireproof.launch.schedulers.slurm_commands import salloc_argv
from wireproof.launch.schedulers.slurm_job import JobRequest, batch_script
from wireproof.report.json.benchmark import DryRunDocument
from wireproof.workflow.session.launch import command_of
from wireproof.workflow.session.session import Session
from wireproof.workflow.target.target import Target

if TYPE_CHECKING:
    from wireproof.report.documents.benchmark import OwnJob


@dataclasses.dataclass(frozen=True, kw_only=True)
class Planned:
    """A session on its target with the command of its first launch."""

    session: Session
    target: Target
    command: LaunchCommand

    @classmethod
    def of(cls, session: Session, target: Target) -> Planned:
        """Plan the first launch. Raises ``CouldNotMeasure`` if no MPI fits."""
        return cls(session=session, target=target, command=command_of(session, target))

    @property
    def at_most_s(self) -> float:
        """Return an upper bound of the timed part in s, with the whole budget for every point."""
        default_ms = self.session.policy.point_budget_ms
        launch_ms = sum(point.budget_ms or default_ms for point in self.session.points)
        return launch_ms * self.session.launches / 1000


def document_of(planned: Planned) -> DryRunDocument:
    """Return the first launch and what it measures."""
    return DryRunDocument(
        argv=list(planned.command.argv),
        environment=dict(planned.command.environment),
        launches=planned.session.launches,
        hosts=list(planned.target.hosts),
        points=list(planned.session.points),
        at_most_s=planned.at_most_s,
    )


def own_job(request: JobRequest, argv: Sequence[str]) -> OwnJob:
    """Return the job that ``request`` asks for; ``argv``: the check that its script starts."""
    from wireproof.report.documents.benchmark import OwnJob

    return OwnJob(
        allocate=shell_line(salloc_argv(request, ("sleep", "infinity"))),
        script=batch_script(list(argv), request),
    )
