"""``judge_statistics(files)``: every statistics file of one job together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wireproof.model.finding import Proof
from wireproof.model.psm3 import JudgedStatistics, Statistics
from wireproof.model.severity import rank, verdict_of
from wireproof.model.traffic import Traffic
from wireproof.verdict.issue import Issue, merge
from wireproof.verdict.psm3.job import Job
from wireproof.verdict.psm3.loss import loss_issues
from wireproof.verdict.psm3.path import path_issues, path_proof
from wireproof.verdict.psm3.promises import promise_issues
from wireproof.verdict.psm3.whole import whole_issues
from wireproof.verdict.psm3.witness import witness_issues

__all__ = ["judge_statistics"]


def judge_statistics(
    files: Sequence[Statistics],
    *,
    wire: bool | None = None,
    pauses: Mapping[str, int] | None = None,
    traffic: Traffic | None = None,
) -> JudgedStatistics:
    """One verdict for the files of one job. It passes when messages were counted and no rule speaks
    against them; that bytes crossed a port is for ports to say.

    ``wire``: True where a wire is claimed, False where shared memory is, None without a claim.
    ``pauses``: counters of pauses that rose at the ports of these hosts meanwhile. ``traffic``:
    what crossed these ports, the second witness.
    """
    job = Job(files, wire, pauses)
    issues = [*whole_issues(job), *path_issues(job), *loss_issues(job), *promise_issues(job)]
    witnessed = list(witness_issues(job.hosts, traffic)) if traffic is not None else []
    issues += witnessed
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
        proof=_proof(job, witnessed),
        hosts=job.hosts,
        findings=findings,
    )


def _proof(job: Job, witnessed: Sequence[Issue]) -> Proof:
    """With the ports as a second witness that agrees everywhere, the bytes were on the wire."""
    found = path_proof(job)
    agree = [one for one in witnessed if one.code == "psm-port-agrees"]
    against = [one for one in witnessed if one.severity in ("fail", "inconclusive")]
    return "on-wire" if found == "unproven" and agree and not against else found
