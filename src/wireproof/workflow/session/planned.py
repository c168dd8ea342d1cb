"""What would be started first, and what it would measure: nothing of it has begun."""

from __future__ import annotations

import dataclasses

from wireproof.launch.request import LaunchCommand
from wireproof.workflow.session.run import command_of
from wireproof.workflow.session.session import Session
from wireproof.workflow.target.target import Target

__all__ = ["Planned"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Planned:
    """A session on its target with the command of its first launch."""

    session: Session
    target: Target
    command: LaunchCommand

    @classmethod
    def of(cls, session: Session, target: Target) -> Planned:
        """Raises ``CouldNotMeasure`` when no MPI fits."""
        return cls(session=session, target=target, command=command_of(session, target))

    @property
    def at_most_s(self) -> float:
        """Upper bound of the timed part: every point takes its whole budget."""
        default_ms = self.session.policy.point_budget_ms
        launch_ms = sum(point.budget_ms or default_ms for point in self.session.points)
        return launch_ms * self.session.launches / 1000
