# pure
"""A run: everything that was measured and claimed, and nothing that was concluded.

``run.json`` contains the facts of a run that are not frames. It is written when the run begins, and
completed when it ends.
"""

from datetime import datetime
from typing import Literal

import msgspec

from wireproof.model.claim import Claim, Criteria
from wireproof.model.finding import Proof, Severity, Verdict
from wireproof.model.located import Fabric
from wireproof.model.plan import Plan
from wireproof.model.psm3 import Statistics
from wireproof.model.record import (
    Close,
    EngineError,
    FactFrame,
    Floor,
    Host,
    Idle,
    Open,
    PointRecord,
    Total,
)
from wireproof.model.tuning import Standing

MissingCode = Literal[
    "rank-lost",
    "deadline",
    "interrupted",
    "disk-full",
    "mismatch",
    "not-started",
    "bad-frame",
    "failed",
    "no-result",
    "cut-short",
]
"""The reason if a planned point has no result. ``no-result``: the engine ended normally without
sending it; ``cut-short``: the recorder was killed; the other codes are endings of the run or of the
point.
"""


class Missing(msgspec.Struct, frozen=True):
    """The reason if a planned point has no result. ``reached``: the point was in progress;
    otherwise it is missing because of what happened to another point.
    """

    code: MissingCode
    text: str = ""
    reached: bool = True

    def __str__(self) -> str:
        return self.text if self.reached else f"not reached: {self.text}"


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """The start of the run: MPI, engine, exact argv, and the environment that wireproof set."""

    wireproof: str
    mpi: str
    engine: str
    argv: list[str]
    environment: dict[str, str]
    launcher: str
    started: str
    notes: list[str] = msgspec.field(default_factory=list)


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """All measurements and claims of a run. ``missing``: the planned points without a result, each
    with the reason.
    """

    claim: Claim
    provenance: Provenance
    open: Open | None
    hosts: list[Host]
    points: list[PointRecord]
    idle: list[Idle] = msgspec.field(default_factory=list)
    totals: list[Total] = msgspec.field(default_factory=list)
    floors: list[Floor] = msgspec.field(default_factory=list)
    facts: list[FactFrame] = msgspec.field(default_factory=list)
    errors: list[EngineError] = msgspec.field(default_factory=list)
    close: Close | None = None
    missing: dict[int, Missing] = msgspec.field(default_factory=dict)

    @property
    def played(self) -> bool:
        """True if the numbers come from a model, so they say nothing about a real machine."""
        made_up = self.open is not None and self.open.transport in ("model", "null")
        return made_up or self.claim.played


KIND = "wireproof-run"
SCHEMA = 2

Ended = Literal[
    "running",
    "done",
    "failed",
    "deadline",
    "rank-lost",
    "interrupted",
    "disk-full",
    "mismatch",
    "not-started",
    "bad-frame",
]
"""The end of a run. ``running``: the recorder was killed before it could record an ending (the
frames that it wrote are good).
"""


def missing_code(ended: Ended) -> MissingCode:
    """Return the reason why the points of a run that ended this way are missing."""
    if ended == "running":
        return "cut-short"
    return "no-result" if ended == "done" else ended


class RunDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The content of ``run.json``. ``missing``: the planned points without a result, each with the
    reason.
    """

    claim: Claim
    provenance: Provenance
    plan: Plan
    kind: str = KIND
    schema: int = SCHEMA
    ended: Ended = "running"
    reason: str = ""
    exit_status: int | None = None
    missing: dict[int, Missing] = msgspec.field(default_factory=dict)


# --- ``result.json``: the parts of a job's result, so that it can be judged and rendered again
# from its records on any machine. It is written when the job ends.

# --- A verdict for programs that admit or exclude nodes: schedulers, monitors, CI.


class NodeVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The conclusions of a result about one node. ``passing``: number of results with this node
    that pass; ``reason``: one sentence.
    """

    node: str
    verdict: Verdict
    reason: str
    proof: Proof = "unproven"
    passing: int = 0


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on a node or on all nodes.

    ``subject``: the node that was asked about, or all nodes folded. ``measured``: time of the
    measurement, UTC, "" if no result counts; ``age_s``: its age, negative if it lies in the future.
    ``max_age_s``: the highest age that is accepted. ``source``: the folder of the result. ``by``:
    the version that judged.
    """

    verdict: Verdict
    subject: str
    reason: str
    measured: str = ""
    age_s: float | None = None
    max_age_s: float | None = None
    source: str = ""
    by: str = ""
    link: str = ""
    nodes: list[NodeVerdict] = msgspec.field(default_factory=list)


def seconds_of(text: str) -> float | None:
    """Return a result's time in seconds since 1970; None if it is not a time or has no time
    zone.
    """
    try:
        found = datetime.fromisoformat(text)
        return found.timestamp() if found.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


RESULT_KIND = "wireproof-result"
RESULT_SCHEMA = 1


class Conclusion(msgspec.Struct, frozen=True, order=True):
    """A finding in short form, for comparison when a result is judged again."""

    severity: Severity
    code: str
    subject: str = ""


class StoredPart(msgspec.Struct, frozen=True, kw_only=True):
    """One section of the report.

    ``records``: folder names of its launches, in order. ``run``: the merged run without its points
    and facts, which are in the records. ``standing``: changes by wireproof that are in force on the
    hosts. ``constants``: limits that the user set. ``screened``: slow nodes were searched for.
    ``settled``: a repeat replaces the samples that it repeats. ``statistics``: PSM3's counters,
    null if they were not requested. ``verdict``, ``nodes`` (the verdict on each) and
    ``conclusions``: those of that time.
    """

    title: str
    records: list[str]
    run: Run
    criteria: Criteria
    lead: str = ""
    standing: Standing | None = None
    constants: dict[str, float] = msgspec.field(default_factory=dict)
    fabric: Fabric | None = None
    screened: bool = False
    settled: bool = False
    statistics: list[Statistics] | None = None
    verdict: Verdict = "inconclusive"
    nodes: list[NodeVerdict] = msgspec.field(default_factory=list)
    conclusions: list[Conclusion] = msgspec.field(default_factory=list)


class StoredResult(msgspec.Struct, frozen=True, kw_only=True):
    """The content of ``result.json``. ``wireproof``: the version that judged. ``settings``: name of
    the snapshot of the hosts' settings, "" without one; it belongs to the first part.
    ``command``: the command that repeats the job.
    """

    title: str
    wireproof: str
    parts: list[StoredPart]
    settings: str = ""
    command: list[str] = msgspec.field(default_factory=list)
    kind: str = RESULT_KIND
    schema: int = RESULT_SCHEMA
