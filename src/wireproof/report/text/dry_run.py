"""What a check would start, as text that a shell would take: what is no command is a comment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wireproof.model.quantity import counted
from wireproof.report.json.dry_run import DryRunDocument

__all__ = ["OwnJob", "dry_run_lines"]


@dataclass(frozen=True, kw_only=True)
class OwnJob:
    """A job for the time of a check: the command that gets its nodes; the batch script that does
    all of it.
    """

    allocate: str
    script: str


def dry_run_lines(
    planned: DryRunDocument,
    command: str,
    *,
    ranks: int,
    notes: Sequence[str] = (),
    job: OwnJob | None = None,
) -> list[str]:
    """The job where there is one, then the first ``command`` with what it measures."""
    pairs = len({pair for point in planned.points for pair in point.pairs})
    at_most = f"at most {planned.at_most_s:.0f} s of timed work"
    lines = [
        *(_job_lines(job) if job is not None else ()),
        (
            f"# {counted(ranks, 'rank')}, {counted(len(planned.points), 'point')},"
            f" {counted(pairs, 'ordered pair')}; {at_most}"
        ),
        *(f"# {note}" for note in notes),
        command,
    ]
    if planned.launches > 1:
        lines.append(f"# the same {planned.launches} times: launches are a factor of their own")
    if ranks > 2 and planned.hosts:
        lines.append(
            "# then, if a node is suspected: the same command with the suspects and known-good"
            " partners only"
        )
    return lines


def _job_lines(job: OwnJob) -> list[str]:
    return [
        "# a job for this check, cancelled at the end",
        job.allocate,
        "# or the same as a script for sbatch:",
        *(f"#   {line}".rstrip() for line in job.script.splitlines()),
        "# inside the job, with the names of its nodes:",
    ]
