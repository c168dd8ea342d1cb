"""``judge_statistics(files)``: every statistics file of one job together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wireproof.model.psm3 import JudgedStatistics, Statistics
from wireproof.model.severity import rank, verdict_of
from wireproof.verdict.issue import merge
from wireproof.verdict.psm3.job import Job
from wireproof.verdict.psm3.loss import loss_issues
from wireproof.verdict.psm3.path import path_issues, path_proof
from wireproof.verdict.psm3.promises import promise_issues
from wireproof.verdict.psm3.whole import whole_issues

__all__ = ["judge_statistics"]


def judge_statistics(
    files: Sequence[Statistics],
    *,
    wire: bool | None = None,
    pauses: Mapping[str, int] | None = None,
) -> JudgedStatistics:
    """One verdict for the files of one job. It passes when messages were counted and no rule speaks
    against them; that bytes crossed a port is for ports to say.

    ``wire``: True where a wire is claimed, False where shared memory is, None without a claim.
    ``pauses``: counters of pauses that rose at the ports of these hosts meanwhile.
    """
    job = Job(files, wire, pauses)
    issues = [*whole_issues(job), *path_issues(job), *loss_issues(job), *promise_issues(job)]
    findings = [finding for issue in issues for finding in merge([issue])]
    findings.sort(key=lambda one: rank(one.severity))
    builds = [one.identity.build or one.identity.version for one in files]
    return JudgedStatistics(
        sources=[one.source for one in files],
        library=files[0].library if files else "psm3",
        build=next((build for build in builds if build), ""),
        hal=job.hal,
        ranks=len(files),
        wanted_ranks=max((one.identity.ranks or 0 for one in files), default=0) or None,
        verdict=verdict_of(one.severity for one in findings) if files else "inconclusive",
        proof=path_proof(job),
        hosts=job.hosts,
        findings=findings,
    )
