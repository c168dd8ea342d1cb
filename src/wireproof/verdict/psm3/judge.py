"""``judge_statistics(files)``: every statistics file of one job together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from wireproof.analysis.psm3 import unaccounted_bytes
from wireproof.model.finding import Evidence, Proof, Severity
from wireproof.model.psm3 import JudgedStatistics, Statistics
from wireproof.model.quantity import volume
from wireproof.model.severity import rank, verdict_of
from wireproof.model.subject import Node
from wireproof.model.traffic import Traffic
from wireproof.verdict.issue import Issue, merge
from wireproof.verdict.psm3.job import Job, listed
from wireproof.verdict.psm3.loss import loss_issues
from wireproof.verdict.psm3.path import path_issues, path_proof
from wireproof.verdict.psm3.promises import promise_issues
from wireproof.verdict.psm3.witness import witness_issues

__all__ = ["judge_statistics"]

_SUMS_AGREE = 0.01
"""What one end sent and the other had not yet taken when it was counted."""


def whole_issues(job: Job) -> Iterator[Issue]:
    """Findings about the files as evidence."""
    if not job.files:
        text = "no process has written statistics of PSM3"
        yield Issue("psm-no-files", "inconclusive", job.whole, text)
    for one in job.files:
        if one.doubts or not one.complete:
            text = f"{PurePath(one.source).name}: {'; '.join(one.doubts)}"
            yield Issue("psm-file-incomplete", "inconclusive", job.node(one.host), text)
    yield from _missing(job)
    yield from _nothing(job)
    yield from _sums(job)
    yield from _unchecked(job)


def _missing(job: Job) -> Iterator[Issue]:
    wanted = max((one.identity.ranks or 0 for one in job.files), default=0)
    ranks = [one.identity.rank for one in job.files if one.identity.rank is not None]
    names = Counter(one.who for one in job.files)
    if twice := [who for who, count in names.items() if count > 1]:
        text = f"{twice[0]} wrote several of these files: they are of more than one job"
        yield Issue("psm-jobs-mixed", "inconclusive", job.whole, text, {"process": twice[0]})
    absent = sorted(set(range(min(wanted, 1 << 20))) - set(ranks))
    if wanted and absent and ranks:
        text = (
            f"the job has {wanted} ranks, and no file of rank"
            f" {listed([str(rank) for rank in absent])} is here"
        )
        yield Issue("psm-ranks-missing", "inconclusive", job.whole, text, {"absent": len(absent)})


def _nothing(job: Job) -> Iterator[Issue]:
    idle = [one.who for one in job.processes if not one.sent and not one.received]
    if not idle:
        return
    every = len(idle) == len(job.processes)
    text = f"no message was counted by {listed(idle)}"
    severity: Severity = "inconclusive" if every else "warning"
    yield Issue("psm-nothing-moved", severity, job.whole, text, {"processes": len(idle)})


def _sums(job: Job) -> Iterator[Issue]:
    for one in job.processes:
        gap = unaccounted_bytes(one)
        if gap and abs(gap) > _SUMS_AGREE * max(1, one.nic_bytes or 0):
            text = (
                f"{one.who}: {volume(one.nic_bytes or 0)} went to NICs by the summary, and the"
                f" NICs' own counters have {volume((one.nic_bytes or 0) - gap)}"
            )
            seen: Evidence = {"unaccounted_bytes": gap}
            yield Issue("psm-sums-differ", "inconclusive", job.node(one.host), text, seen)
    wanted = max((one.identity.ranks or 0 for one in job.files), default=0)
    if len(job.processes) < 2 or len(job.processes) != wanted:
        return
    sent = sum(one.sent_bytes for one in job.processes)
    taken = sum(one.received_bytes for one in job.processes)
    if abs(sent - taken) > _SUMS_AGREE * max(sent, taken):
        text = f"all ranks together sent {volume(sent)} and received {volume(taken)}"
        seen = {"sent_bytes": sent, "received_bytes": taken}
        yield Issue("psm-sums-differ", "inconclusive", job.whole, text, seen)


def _unchecked(job: Job) -> Iterator[Issue]:
    for one in job.files:
        if not one.checked:
            text = f"{one.library}, layout {one.layout}: no real file of it was ever compared"
            yield Issue("psm-layout-unchecked", "note", Node(one.library), text)


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
