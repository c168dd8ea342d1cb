"""The statistics files of PSM3 that belong to one job, judged together."""

import dataclasses
from collections.abc import Iterable
from pathlib import PurePath

import msgspec

from wireproof.model.claim import LinkClaim
from wireproof.model.finding import rank, worst
from wireproof.model.psm3 import JudgedStatistics, Statistics
from wireproof.report.judged_run import JudgedRun


def claimed_wire(link: LinkClaim | None) -> bool | None:
    """Whether ``link`` is a wire; None where nothing is claimed."""
    return None if link is None else link.protocol not in ("shm", "loopback")


def judged_jobs(files: Iterable[Statistics], wire: bool | None) -> list[JudgedStatistics]:
    """One judgement for each job: files with one job's key, or without a key those of one
    folder.
    """
    from wireproof.verdict.psm3 import judge_statistics

    jobs: dict[str, list[Statistics]] = {}
    for one in files:
        jobs.setdefault(one.job or str(PurePath(one.source).parent), []).append(one)
    return [judge_statistics(job, wire=wire) for job in jobs.values()]


def with_statistics(section: JudgedRun, files: tuple[Statistics, ...] | None) -> JudgedRun:
    """``section`` with what PSM3's own counters add to its findings and its verdict; None: they
    were not asked for. The path of each point is proven by the ports alone.
    """
    if files is None:
        return section
    from wireproof.verdict.psm3 import judge_statistics

    wire = section.run.claim.wire or None
    found = [judge_statistics(launch, wire=wire) for launch in _launches(files) or [[]]]
    findings = [*section.judgement.findings, *(one for job in found for one in job.findings)]
    judgement = msgspec.structs.replace(
        section.judgement,
        findings=sorted(findings, key=lambda one: rank(one.severity)),
        verdict=worst([section.judgement.verdict, *(job.verdict for job in found)]),
    )
    return dataclasses.replace(section, judgement=judgement, statistics=files)


def _launches(files: Iterable[Statistics]) -> list[list[Statistics]]:
    """The files of each launch of one measurement: launches follow each other, so that the first of
    each rank's processes are of the first one. Without an MPI they have no job's key.
    """
    ranks: dict[str, list[Statistics]] = {}
    for one in files:
        ranks.setdefault(one.who, []).append(one)
    ordered = [sorted(group, key=lambda one: one.pid or 0) for group in ranks.values()]
    most = max(map(len, ordered), default=0)
    return [[group[i] for group in ordered if i < len(group)] for i in range(most)]
