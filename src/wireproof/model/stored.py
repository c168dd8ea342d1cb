"""``result.json``: the parts of a job's result, so that it can be judged and rendered again from
its records, on any machine. Written when the job ends.
"""

import msgspec

from wireproof.model.claim import Criteria
from wireproof.model.fabric import Fabric
from wireproof.model.finding import Severity, Verdict
from wireproof.model.gate import NodeVerdict
from wireproof.model.psm3 import Statistics
from wireproof.model.run import Run
from wireproof.model.tuning import Standing

KIND = "wireproof-result"
SCHEMA = 1


class Conclusion(msgspec.Struct, frozen=True, order=True):
    """A finding in short: what is compared when a result is judged again."""

    severity: Severity
    code: str
    subject: str = ""


class StoredPart(msgspec.Struct, frozen=True, kw_only=True):
    """One section of the report. ``records``: the names of its launches' folders, in order.

    ``run`` has everything of the merged run but its points and facts, which are in the records.
    ``standing``: the changes of ours that stood on the hosts.
    ``constants``: those of the limits that the user has set. ``screened``: nodes were located.
    ``settled``: repeats count for the samples that they repeat. ``statistics``: PSM3's own
    counters, None where they were not asked for. ``verdict``, ``nodes`` (the verdict on each) and
    ``conclusions`` are those of the day.
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
    """``wireproof``: the version that judged. ``settings``: the name of the snapshot of the hosts'
    settings, "" without one; it belongs to the first part. ``command``: what repeats it.
    """

    title: str
    wireproof: str
    parts: list[StoredPart]
    settings: str = ""
    command: list[str] = msgspec.field(default_factory=list)
    kind: str = KIND
    schema: int = SCHEMA
