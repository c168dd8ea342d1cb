"""The first launch and its points, as ``--dry-run`` shows them; nothing is started."""

from collections.abc import Iterator, Sequence

import msgspec

from wireproof.launch.command import shell_line
from wireproof.launch.schedulers.slurm_commands import salloc_argv
from wireproof.launch.schedulers.slurm_job import JobRequest, batch_script
from wireproof.measure.session import Session
from wireproof.measure.session.launch import command_of
from wireproof.model.plan import Point
from wireproof.model.quantity import counted
from wireproof.report.document import Document, Raw
from wireproof.target import Target


class DryRunDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The first launch of a check, the number of launches, and the points of each. ``at_most_s``:
    maximum duration of the timed part, with the whole budget for every point.
    """

    argv: list[str]
    environment: dict[str, str]
    launches: int
    hosts: list[str]
    points: list[Point]
    at_most_s: float


def dry_run_document(
    planned: DryRunDocument,
    command: str,
    *,
    ranks: int,
    notes: Sequence[str] = (),
    job: tuple[str, str] | None = None,
) -> Document:
    """Return shell commands: the job if there is one, then the first ``command`` with its
    measurements. ``job``: the command that allocates the nodes, and the batch script that does
    everything.
    """
    pairs = len({pair for point in planned.points for pair in point.pairs})
    lines = [
        *(_job(*job) if job is not None else ()),
        (
            f"# {counted(ranks, 'rank')}, {counted(len(planned.points), 'point')},"
            f" {counted(pairs, 'ordered pair')}; at most {planned.at_most_s:.0f} s of timed work"
        ),
        *(f"# {note}" for note in notes),
        command,
    ]
    if planned.launches > 1:
        lines.append(f"# the same {planned.launches} times: results vary from launch to launch")
    if ranks > 2 and planned.hosts:
        lines.append(
            "# then, if there are suspects: the same command with the suspects and known-good"
            " partners only"
        )
    return Document("What a check would start", "", (Raw(tuple(lines)),))


def _job(allocate: str, script: str) -> Iterator[str]:
    yield "# a job for this check, cancelled at the end"
    yield allocate
    yield "# or the same as a script for sbatch:"
    yield from (f"#   {line}".rstrip() for line in script.splitlines())
    yield "# inside the job, with the names of its nodes:"


Planned = tuple[DryRunDocument, Sequence[str], int]
"""The first launch and its points, notes about its command, and the number of ranks."""


def planned(session: Session, target: Target) -> Planned:
    """Plan the first launch. Raises ``CouldNotMeasure`` if no MPI fits."""
    command = command_of(session, target)
    default_ms = session.policy.point_budget_ms
    launch_ms = sum(point.budget_ms or default_ms for point in session.points)
    document = DryRunDocument(
        argv=list(command.argv),
        environment=dict(command.environment),
        launches=session.launches,
        hosts=list(target.hosts),
        points=list(session.points),
        at_most_s=launch_ms * session.launches / 1000,
    )
    return document, command.notes, target.size


def own_job(request: JobRequest, argv: Sequence[str]) -> tuple[str, str]:
    """Return the command that requests a job's nodes, and a batch script that requests them and
    runs ``argv``.

    ``argv``: the check that the script starts.
    """

    allocate = shell_line(salloc_argv(request, ("sleep", "infinity")))
    return allocate, batch_script(list(argv), request)
