"""The result for programs: one stable, documented JSON object (``--json``), and its JSON Schema.

A number that is not finite is written as ``null`` (unknown), since JSON has no NaN. Raw batches
stay in the run folder; the object contains quantiles per operation for each measured point.
"""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from wireproof.model.atlas import Place
from wireproof.model.claim import Claim, Criteria, Limits
from wireproof.model.errors import Problem
from wireproof.model.finding import Finding, GroupVerdict, Judgement, PairVerdict, Proof, Verdict
from wireproof.model.located import Located
from wireproof.model.record import (
    Close,
    EngineError,
    Estimate,
    Floor,
    GroupResult,
    Host,
    Open,
    Overlap,
    PairResult,
    PointRecord,
    Quantiles,
)
from wireproof.model.run import Provenance, Run
from wireproof.model.setting import Audit, Disclosure
from wireproof.model.tuning import Standing
from wireproof.report.flows import NicTraffic, flows
from wireproof.report.group_rows import group_row
from wireproof.report.json.envelope import schema_of, site_names
from wireproof.report.judged_run import JudgedRun

SCHEMA = "wireproof.result"
VERSION = 2


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """What one pair measured in one point. Quantiles are over batch means, in ns per operation
    (pingpong: half a round trip).
    """

    point: int
    pattern: str
    form: str
    formula: str
    message_bytes: int
    origin: int
    target: int
    repeat: int
    status: str
    stop: str
    window_used: int
    batches: int
    operations: int
    p1_ns: float | None
    p50_ns: float | None
    p95_ns: float | None
    p99_ns: float | None
    max_ns: float | None
    payload_forward_bytes: int
    payload_backward_bytes: int
    integrity: str
    involuntary_switches: int
    steal_ns: float
    estimate: Estimate | None = None
    target_elapsed_ns: float | None = None
    formula_value_ns: float | None = None


class GroupSample(msgspec.Struct, frozen=True, kw_only=True):
    """What the ranks ``members`` measured together in one point.

    Times are in ns per operation; ``mean_ns`` and ``max_ns`` are over the mean times of the
    members; ``messages_per_s`` and ``bytes_per_s`` are sums over all members, null for a library's
    collective.
    """

    point: int
    pattern: str
    order: str
    blocking: bool
    threads: int
    formula: str
    message_bytes: int
    repeat: int
    members: list[int]
    nodes: int
    ranks_per_node: str
    status: str
    stop: str
    window_used: int
    batches: int
    operations: int
    integrity: str
    mean_ns: float | None
    max_ns: float | None
    messages_per_s: float | None
    bytes_per_s: float | None
    sent_bytes: list[int]
    received_bytes: list[int]
    exact: bool
    estimate: Estimate | None = None
    formula_value_ns: float | None = None
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


def document(
    run: Run,
    judgement: Judgement,
    limits: Limits | None,
    criteria: Criteria | None = None,
    located: Sequence[Located] = (),
    *,
    seen: Sequence[NicTraffic] | None = None,
    samples: bool = True,
) -> ResultDocument:
    """Return everything that was claimed, measured and concluded, without the raw batches.

    ``seen``: the traffic, if it is already added up; ``samples`` False omits the quantiles.
    """
    return ResultDocument(
        schema="wireproof.result",
        version=2,
        verdict=judgement.verdict,
        errors=[_problem(error) for error in run.errors],
        proof=judgement.proof,
        findings=judgement.findings,
        results=judgement.pairs,
        limits=limits,
        criteria=criteria,
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
        located=list(located),
        groups=[_group(run, point, point.group) for point in run.points if point.group is not None]
        if samples
        else [],
        group_results=judgement.groups,
        places=judgement.places,
        catalogue=site_names(),
    )


def _problem(error: EngineError) -> Problem:
    return Problem(message=error.message, code=error.code, rank=error.rank, point=error.id)


def document_of(section: JudgedRun) -> ResultDocument:
    """Return the document of a judged run, with its settings, its disclosure and the changes in
    force.
    """
    found = document(
        section.run, section.judgement, section.limits, section.criteria, section.located
    )
    return msgspec.structs.replace(
        found,
        settings=section.settings,
        disclosure=section.disclosure,
        standing=section.standing,
    )


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of :class:`ResultDocument`. Every number may also be null,
    which means unknown.
    """
    return schema_of(ResultDocument, SCHEMA, VERSION)


def _sample(point: PointRecord, pair: PairResult) -> Sample:
    from wireproof.analysis.measured import tail  # numpy: only when there is something to tell

    each = tail(point, pair)
    return Sample(
        point=point.id,
        pattern=point.pattern,
        form=point.form,
        formula=point.formula,
        message_bytes=point.message_bytes,
        origin=pair.origin,
        target=pair.target,
        repeat=point.repeat,
        status=pair.status,
        stop=pair.stop,
        window_used=pair.window_used,
        batches=len(pair.batch_ns),
        operations=len(pair.batch_ns) * pair.operations_per_batch,
        p1_ns=each.get("p1"),
        p50_ns=each.get("p50"),
        p95_ns=each.get("p95"),
        p99_ns=each.get("p99"),
        max_ns=each.get("max"),
        payload_forward_bytes=pair.payload_forward_bytes,
        payload_backward_bytes=pair.payload_backward_bytes,
        integrity=pair.integrity,
        involuntary_switches=sum(sentinel.involuntary_switches for sentinel in pair.sentinels),
        steal_ns=sum(sentinel.steal_ns for sentinel in pair.sentinels),
        estimate=pair.estimate,
        target_elapsed_ns=pair.target_elapsed_ns,
        formula_value_ns=pair.formula_value_ns,
    )


def _group(run: Run, point: PointRecord, group: GroupResult) -> GroupSample:
    row = group_row(run, point, group)
    return GroupSample(
        point=point.id,
        pattern=point.pattern,
        order=point.order,
        blocking=point.blocking,
        threads=point.threads,
        formula=point.formula,
        message_bytes=point.message_bytes,
        repeat=point.repeat,
        members=group.members,
        nodes=row.nodes,
        ranks_per_node=row.ranks_per_node,
        status=group.status,
        stop=group.stop,
        window_used=group.window_used,
        batches=len(group.batch_ns),
        operations=len(group.batch_ns) * group.operations_per_batch,
        integrity=group.integrity,
        mean_ns=row.mean_ns,
        max_ns=row.max_ns,
        messages_per_s=row.messages_per_s,
        bytes_per_s=row.bytes_per_s,
        sent_bytes=group.sent_bytes,
        received_bytes=group.received_bytes,
        exact=group.exact,
        estimate=group.estimate,
        formula_value_ns=group.formula_value_ns,
        overlap=group.overlap,
        quiet=group.quiet,
        loaded=group.loaded,
    )


# python -m wireproof.report.json.result > src/wireproof/report/json/result.schema.json
if __name__ == "__main__":
    import json
    import sys

    sys.stdout.write(json.dumps(json_schema(), indent=2, sort_keys=True) + "\n")
