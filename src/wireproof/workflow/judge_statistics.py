"""Judges the PSM3 statistics files of one job together."""

import dataclasses
from collections.abc import Iterable
from pathlib import PurePath

import msgspec

from wireproof.model.claim import LinkClaim
from wireproof.model.finding import rank, worst
from wireproof.model.psm3 import JudgedStatistics, Statistics
from wireproof.report.judged_run import JudgedRun


def claimed_wire(link: LinkClaim | None) -> bool | None:
    """Return whether ``link`` is a wire; None if nothing is claimed."""
    return None if link is None else link.protocol not in ("shm", "loopback")


def judged_jobs(files: Iterable[Statistics], wire: bool | None) -> list[JudgedStatistics]:
    """Judge each job: the files with the same job key, or, without a key, the files of one
    folder.
    """
    from wireproof.verdict.psm3 import judge_statistics

    jobs: dict[str, list[Statistics]] = {}
    for file in files:
        jobs.setdefault(file.job or str(PurePath(file.source).parent), []).append(file)
    return [judge_statistics(job, wire=wire) for job in jobs.values()]


def with_statistics(section: JudgedRun, files: tuple[Statistics, ...] | None) -> JudgedRun:
    """Add to ``section`` the findings and the verdict of PSM3's counters; None: they were not
    requested. The path of each point is proven by the ports alone.
    """
    if files is None:
        return section
    from wireproof.verdict.psm3 import judge_statistics

    wire = section.run.claim.wire or None
    judged = [judge_statistics(launch, wire=wire) for launch in _launches(files) or [[]]]
    added = [finding for job in judged for finding in job.findings]
    findings = [*section.judgement.findings, *added]
    judgement = msgspec.structs.replace(
        section.judgement,
        findings=sorted(findings, key=lambda finding: rank(finding.severity)),
        verdict=worst([section.judgement.verdict, *(job.verdict for job in judged)]),
    )
    return dataclasses.replace(section, judgement=judgement, statistics=files)


def _launches(files: Iterable[Statistics]) -> list[list[Statistics]]:
    """Return the files of each launch of a measurement.

    Launches follow each other, so the first file of each rank belongs to the first launch. Without
    an MPI they have no job key.
    """
    ranks: dict[str, list[Statistics]] = {}
    for file in files:
        ranks.setdefault(file.who, []).append(file)
    ordered = [sorted(group, key=lambda file: file.pid or 0) for group in ranks.values()]
    most = max(map(len, ordered), default=0)
    return [[group[i] for group in ordered if i < len(group)] for i in range(most)]
