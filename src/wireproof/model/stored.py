"""``result.json``: the parts of a job's result, so that it can be judged and rendered again from
its records on any machine. It is written when the job ends.
"""

from datetime import datetime

import msgspec

from wireproof.model.claim import Criteria
from wireproof.model.finding import Proof, Severity, Verdict
from wireproof.model.located import Fabric
from wireproof.model.psm3 import Statistics
from wireproof.model.run import Run
from wireproof.model.tuning import Standing

# --- A verdict for programs that admit or exclude nodes: schedulers, monitors, CI.


class NodeVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a result says about one node. ``passing``: number of results with this node that pass;
    ``reason``: one sentence.
    """

    node: str
    verdict: Verdict
    reason: str
    proof: Proof = "unproven"
    passing: int = 0


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on a node or on all nodes.

    ``subject``: the node in question, or all nodes folded. ``measured``: time of the measurement,
    UTC, "" if no result counts; ``age_s``: its age, negative if it lies in the future.
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


KIND = "wireproof-result"
SCHEMA = 1


class Conclusion(msgspec.Struct, frozen=True, order=True):
    """A finding in short form, to be compared when a result is judged again."""

    severity: Severity
    code: str
    subject: str = ""


class StoredPart(msgspec.Struct, frozen=True, kw_only=True):
    """One section of the report.

    ``records``: folder names of its launches, in order. ``run``: the merged run without its points
    and facts, which are in the records. ``standing``: changes by wireproof in force on the hosts.
    ``constants``: limits that the user set. ``screened``: slow nodes were searched for.
    ``settled``: a repeat replaces the samples that it repeats. ``statistics``: PSM3's counters,
    null if they were not requested. ``verdict``, ``nodes`` (the verdict on each) and
    ``conclusions``: as judged at that time.
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
    kind: str = KIND
    schema: int = SCHEMA
