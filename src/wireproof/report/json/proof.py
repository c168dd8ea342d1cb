"""A watched command as one JSON document: what ``wireproof prove --json`` prints. docs/prove.md
describes its fields.
"""

from collections.abc import Sequence

import msgspec

from wireproof.model.finding import Proof, Verdict
from wireproof.model.psm3 import JudgedStatistics
from wireproof.model.series import Reason, Series
from wireproof.model.traffic import HostTraffic, Printed, Traffic, TrafficVerdict
from wireproof.report.names import clean


class ProofDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What ``wireproof prove --json`` prints. ``exit_status`` is that of the command. Units: bytes,
    bytes/s, seconds; unknown is null.
    """

    command: list[str]
    exit_status: int
    seconds: float
    idle_s: float
    interval_s: float
    proof: Proof
    verdict: Verdict
    reasons: list[Reason]
    port: str
    crossed_bytes: float | None
    peak_bytes_per_s: float | None
    attainable_bytes_per_s: float | None
    printed: Printed | None
    derivation: list[str]
    level: str
    quality: str
    hosts: list[HostTraffic]
    series: list[Series]
    notes: list[str]
    statistics: JudgedStatistics | None = None


def proof_document(
    command: Sequence[str],
    exit_status: int,
    traffic: Traffic,
    judgement: TrafficVerdict,
    series: Sequence[Series],
    notes: Sequence[str] = (),
    statistics: JudgedStatistics | None = None,
) -> ProofDocument:
    """Return the command, what crossed the ports while it ran, and the judgement, as one flat
    object.
    """
    return ProofDocument(
        command=[clean(word) for word in command],
        exit_status=exit_status,
        seconds=traffic.seconds,
        idle_s=traffic.idle_s,
        interval_s=traffic.interval_s,
        **msgspec.structs.asdict(judgement),
        hosts=list(traffic.hosts),
        series=list(series),
        notes=list(notes),
        statistics=statistics,
    )
