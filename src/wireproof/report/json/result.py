"""The result for programs: one stable, documented JSON object (``--json``), and its JSON Schema.

A number that is not finite is written as ``null`` (unknown), since JSON has no NaN. Raw batches
stay in the run folder; the object contains quantiles per operation for each measured point.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, Literal

import msgspec

from wireproof.model.atlas import Place
from wireproof.model.claim import Claim, Criteria, Limits
from wireproof.model.errors import Problem
from wireproof.model.finding import Finding, GroupVerdict, PairVerdict, Proof, Verdict
from wireproof.model.located import Located
from wireproof.model.record import (
    Close,
    Estimate,
    Floor,
    GroupResult,
    Host,
    Open,
    Overlap,
    PairResult,
    PointRecord,
    Quantiles,
    Timed,
)
from wireproof.model.run import Provenance, Run
from wireproof.model.setting import Audit, Disclosure
from wireproof.model.tuning import Standing
from wireproof.report.flows import NicTraffic, flows
from wireproof.report.json import schema_of, site_names
from wireproof.report.judged_run import JudgedRun

SCHEMA = "wireproof.result"
VERSION = 2


class _PointSample(msgspec.Struct, frozen=True, kw_only=True):
    point: int
    pattern: str
    formula: str
    message_bytes: int
    repeat: int
    status: str
    stop: str
    window_used: int
    batches: int
    operations: int
    integrity: str
    estimate: Estimate | None = None
    formula_value_ns: float | None = None


class Sample(_PointSample, frozen=True, kw_only=True):
    """The measurement of one pair at one point. Quantiles are over batch means, in ns per operation
    (pingpong: half a round trip).
    """

    form: str
    origin: int
    target: int
    p1_ns: float | None
    p50_ns: float | None
    p95_ns: float | None
    p99_ns: float | None
    max_ns: float | None
    payload_forward_bytes: int
    payload_backward_bytes: int
    involuntary_switches: int
    steal_ns: float
    target_elapsed_ns: float | None = None


class GroupSample(_PointSample, frozen=True, kw_only=True):
    """The joint measurement of the ranks ``members`` at one point.

    Times are in ns per operation; ``mean_ns`` and ``max_ns`` are over the mean times of the
    members; ``messages_per_s`` and ``bytes_per_s`` are sums over all members, null for a library's
    collective.
    """

    order: str
    blocking: bool
    threads: int
    members: list[int]
    nodes: int
    ranks_per_node: str
    mean_ns: float | None
    max_ns: float | None
    messages_per_s: float | None
    bytes_per_s: float | None
    sent_bytes: list[int]
    received_bytes: list[int]
    exact: bool
    overlap: Overlap | None = None
    quiet: Quantiles | None = None
    loaded: Quantiles | None = None


class ResultDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The whole result of one run. Within one version, fields are only added; unknown is null,
    never 0.
    """

    schema: Literal["wireproof.result"]
    version: Literal[2]
    verdict: Verdict
    errors: list[Problem]
    proof: Proof
    findings: list[Finding]
    results: list[PairVerdict]
    limits: Limits | None
    criteria: Criteria | None
    claim: Claim
    provenance: Provenance
    engine: Open | None
    hosts: list[Host]
    traffic: list[NicTraffic]
    samples: list[Sample]
    floors: list[Floor]
    missing: dict[str, str]
    close: Close | None
    located: list[Located] = []
    groups: list[GroupSample] = []
    group_results: list[GroupVerdict] = []
    settings: Audit | None = None
    disclosure: Disclosure | None = None
    standing: Standing | None = None
    places: list[Place] = []
    catalogue: list[str] | msgspec.UnsetType = msgspec.UNSET


def document_of(
    section: JudgedRun, *, seen: Sequence[NicTraffic] | None = None, samples: bool = True
) -> ResultDocument:
    """Return everything that was claimed, measured and concluded, without the raw batches.

    ``seen``: the traffic, if it is already added up; ``samples`` False omits the quantiles.
    """
    run, judgement = section.run, section.judgement
    return ResultDocument(
        schema="wireproof.result",
        version=2,
        verdict=judgement.verdict,
        errors=[
            Problem(message=error.message, code=error.code, rank=error.rank, point=error.id)
            for error in run.errors
        ],
        proof=judgement.proof,
        findings=judgement.findings,
        results=judgement.pairs,
        limits=section.limits,
        criteria=section.criteria,
        claim=run.claim,
        provenance=run.provenance,
        engine=run.open,
        hosts=run.hosts,
        traffic=list(flows(run) if seen is None else seen),
        samples=[_sample(point, pair) for point in run.points for pair in point.pairs]
        if samples
        else [],
        floors=run.floors,
        missing={str(point): str(reason) for point, reason in sorted(run.missing.items())},
        close=run.close,
        located=list(section.located),
        groups=list(group_samples(run)) if samples else [],
        group_results=judgement.groups,
        places=judgement.places,
        settings=section.settings,
        disclosure=section.disclosure,
        standing=section.standing,
        catalogue=site_names(),
    )


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of :class:`ResultDocument`. Every number may also be null,
    which means unknown.
    """
    return schema_of(ResultDocument, SCHEMA, VERSION)


def _shared(point: PointRecord, timed: Timed) -> dict[str, Any]:
    """Return the fields that a sample of a pair and of a group have in common."""
    return {
        "point": point.id,
        "pattern": point.pattern,
        "formula": point.formula,
        "message_bytes": point.message_bytes,
        "repeat": point.repeat,
        "status": timed.status,
        "stop": timed.stop,
        "window_used": timed.window_used,
        "batches": len(timed.batch_ns),
        "operations": len(timed.batch_ns) * timed.operations_per_batch,
        "integrity": timed.integrity,
        "estimate": timed.estimate,
        "formula_value_ns": timed.formula_value_ns,
    }


def _sample(point: PointRecord, pair: PairResult) -> Sample:
    from wireproof.ledger.measured import tail  # loads numpy only if there is something to report

    each = tail(point, pair)
    return Sample(
        **_shared(point, pair),
        form=point.form,
        origin=pair.origin,
        target=pair.target,
        p1_ns=each.get("p1"),
        p50_ns=each.get("p50"),
        p95_ns=each.get("p95"),
        p99_ns=each.get("p99"),
        max_ns=each.get("max"),
        payload_forward_bytes=pair.payload_forward_bytes,
        payload_backward_bytes=pair.payload_backward_bytes,
        involuntary_switches=sum(sentinel.involuntary_switches for sentinel in pair.sentinels),
        steal_ns=sum(sentinel.steal_ns for sentinel in pair.sentinels),
        target_elapsed_ns=pair.target_elapsed_ns,
    )


def group_samples(run: Run) -> Iterator[GroupSample]:
    """Yield the measurement of each group; the run's claim contains the node of each rank."""
    host_of = {host.rank: host.host or host.hostname for host in run.hosts}
    host_of |= {claim.rank: claim.host for claim in run.claim.hosts}
    for point in run.points:
        if point.group is not None:
            yield _group(point, point.group, host_of)


def _group(point: PointRecord, group: GroupResult, host_of: Mapping[int, str]) -> GroupSample:
    means = [mean for value in group.member_ns if (mean := positive(value)) is not None]
    counts = Counter(host_of.get(rank, f"rank {rank}") for rank in group.members)
    time_ns = positive(group.estimate.median_ns) if group.estimate is not None else None
    # A library's collective may send any amount, and loaded half round trips are not a rate.
    counted = group.exact and point.pattern != "congestion" and group.messages_per_operation > 0
    rate = group.messages_per_operation / time_ns * 1e9 if time_ns and counted else None
    return GroupSample(
        **_shared(point, group),
        order=point.order,
        blocking=point.blocking,
        threads=point.threads,
        members=group.members,
        nodes=len(counts),
        ranks_per_node=_span(counts.values()),
        mean_ns=fmean(means) if means else None,
        max_ns=max(means, default=None),
        messages_per_s=rate,
        bytes_per_s=rate * point.message_bytes if rate else None,
        sent_bytes=group.sent_bytes,
        received_bytes=group.received_bytes,
        exact=group.exact,
        overlap=group.overlap,
        quiet=group.quiet,
        loaded=group.loaded,
    )


def _span(counts: Iterable[int]) -> str:
    """Return ``4``, or ``1-4`` if nodes differ."""
    known = sorted(counts) or [0]
    return str(known[0]) if known[0] == known[-1] else f"{known[0]}-{known[-1]}"


def positive(value: float | None) -> float | None:
    """Return a number that can be a time; None for any other number."""
    return value if value is not None and math.isfinite(value) and value > 0 else None


# python -m wireproof.report.json.result > src/wireproof/report/json/result.schema.json
if __name__ == "__main__":
    import json
    import sys

    sys.stdout.write(json.dumps(json_schema(), indent=2, sort_keys=True) + "\n")
