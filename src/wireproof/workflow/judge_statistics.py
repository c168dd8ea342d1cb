"""The statistics files of PSM3 that belong to one job, judged together."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

from wireproof.model.claim import LinkClaim
from wireproof.model.psm3 import JudgedStatistics, Statistics
from wireproof.verdict.psm3 import judge_statistics

__all__ = ["claimed_wire", "judged_jobs"]


def claimed_wire(link: LinkClaim | None) -> bool | None:
    """Whether ``link`` is a wire; None where nothing is claimed."""
    return None if link is None else link.protocol not in ("shm", "loopback")


def judged_jobs(files: Iterable[Statistics], link: LinkClaim | None) -> list[JudgedStatistics]:
    """One judgement for each job: files with one job's key, or without a key those of one
    folder.
    """
    jobs: dict[str, list[Statistics]] = {}
    for one in files:
        jobs.setdefault(one.job or str(PurePath(one.source).parent), []).append(one)
    return [judge_statistics(job, wire=claimed_wire(link)) for job in jobs.values()]
