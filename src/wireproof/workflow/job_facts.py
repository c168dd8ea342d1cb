"""What a job's own process has: limits and cores. A login session's are often others.

A rank of a check reads them, or a step of the scheduler's job; else they are those of this process
or of the session by which the host was reached, and the results say which it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from wireproof.audit.facts import WHOSE
from wireproof.instrument.facts import Collected, collect
from wireproof.launch.here import is_here
from wireproof.model.plan import FactRequest
from wireproof.model.record import FactFrame

if TYPE_CHECKING:
    from wireproof.model.run import Run
    from wireproof.workflow.target.target import Target


REQUESTS = tuple(
    FactRequest(kind="file", path=path) for path in ("/proc/self/limits", "/proc/self/status")
)
_PATHS = {request.path for request in REQUESTS}
Frames = Mapping[str, tuple[FactFrame, ...]]


def of_ranks(run: Run) -> dict[str, tuple[FactFrame, ...]]:
    """By host, what the first rank there read of itself."""
    by_rank: dict[int, list[FactFrame]] = {}
    for frame in run.facts:
        if frame.path in _PATHS and frame.status == "ok":
            by_rank.setdefault(frame.rank, []).append(frame)
    found: dict[str, tuple[FactFrame, ...]] = {}
    for host in run.hosts:
        if frames := by_rank.get(host.rank):
            found.setdefault(host.host, (*frames, _whose("a rank of the check")))
    return found


def of_job(target: Target, hosts: Iterable[str], engine: list[str]) -> Frames:
    """By host, what a step of the scheduler's job reads of itself; nothing without such a job."""
    scheduler = target.scheduler
    if scheduler is None or scheduler.step is None or target.allocation is None:
        return {}
    job, through = target.allocation.job, target.through()
    argv_of = {host: [*through, *scheduler.step(job, host), *engine] for host in hosts}
    said = _whose(f"a step of job {job}")
    return {one.host: (*one.frames, said) for one in collect(argv_of, REQUESTS) if one.frames}


def _whose(text: str) -> FactFrame:
    return FactFrame(rank=0, kind="file", status="ok", path=WHOSE, text=text)


def with_job(one: Collected, job: Frames, target: Target, chosen: Iterable[FactFrame]) -> Collected:
    """The host's answer with the job's frames ahead, of which the first of a place counts, and
    with what was ``chosen``.
    """
    if not one.frames:
        return one
    ahead = job.get(one.host) or (_session(target, one.host),)
    return Collected(one.host, (*ahead, *one.frames, *chosen), one.problem)


def _session(target: Target, host: str) -> FactFrame:
    """The process that reads a host's files where no job does."""
    if target.lab is not None:
        return _whose("a process in the lab's node")
    here = not target.hosts or is_here(host)
    return _whose("this process" if here else "the session that reached the host, not of a job")
