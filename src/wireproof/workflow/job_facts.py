"""The limits and cores of a job's processes, which often differ from those of a login session.

A rank of a check reads them, or a step of the scheduler's job; else they are those of this process
or of the session that reached the host. The results say which it was.
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
    """Return by host what the first rank there read about itself."""
    by_rank: dict[int, list[FactFrame]] = {}
    for frame in run.facts:
        if frame.path in _PATHS and frame.status == "ok":
            by_rank.setdefault(frame.rank, []).append(frame)
    frames_of: dict[str, tuple[FactFrame, ...]] = {}
    for host in run.hosts:
        if frames := by_rank.get(host.rank):
            frames_of.setdefault(host.host, (*frames, _whose("a rank of the check")))
    return frames_of


def of_job(target: Target, hosts: Iterable[str], engine: list[str]) -> Frames:
    """Return by host what a step of the scheduler's job reads about itself; empty without a job."""
    scheduler = target.scheduler
    if scheduler is None or scheduler.step is None or target.allocation is None:
        return {}
    job, through = target.allocation.job, target.through()
    argv_of = {host: [*through, *scheduler.step(job, host), *engine] for host in hosts}
    origin = _whose(f"a step of job {job}")
    return {
        answer.host: (*answer.frames, origin)
        for answer in collect(argv_of, REQUESTS)
        if answer.frames
    }


def _whose(text: str) -> FactFrame:
    return FactFrame(rank=0, kind="file", status="ok", path=WHOSE, text=text)


def with_job(
    answer: Collected, job: Frames, target: Target, chosen: Iterable[FactFrame]
) -> Collected:
    """Return the host's answer with the job's frames in front, because the first frame of a place
    counts, and with the ``chosen`` frames.
    """
    if not answer.frames:
        return answer
    ahead = job.get(answer.host) or (_session(target, answer.host),)
    return Collected(answer.host, (*ahead, *answer.frames, *chosen), answer.problem)


def _session(target: Target, host: str) -> FactFrame:
    """Return the frame that names the process that reads a host's files outside of a job."""
    if target.lab is not None:
        return _whose("a process in the lab's node")
    here = not target.hosts or is_here(host)
    return _whose("this process" if here else "the session that reached the host, not of a job")
