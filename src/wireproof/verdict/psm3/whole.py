"""Is the evidence whole? Files cut off, ranks missing, counters that do not add up, none at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath

from wireproof.analysis.psm3 import unaccounted_bytes
from wireproof.model.finding import Evidence, Severity
from wireproof.model.quantity import volume
from wireproof.model.subject import Node
from wireproof.verdict.issue import Issue
from wireproof.verdict.psm3.job import Job, listed

__all__ = ["whole_issues"]

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
