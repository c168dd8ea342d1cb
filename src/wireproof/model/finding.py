"""Findings: what is concluded, with its evidence and the next action."""

from __future__ import annotations

from typing import Literal

import msgspec

from wireproof.model.atlas import Place
from wireproof.model.ledger import Direction
from wireproof.model.subject import Subject

__all__ = [
    "Evidence",
    "Finding",
    "GroupVerdict",
    "Judgement",
    "PairVerdict",
    "Proof",
    "RailShare",
    "Severity",
    "Striping",
    "Verdict",
]

Proof = Literal["on-wire", "off-wire", "wrong-path", "mixed", "unproven"]
Verdict = Literal["pass", "fail", "inconclusive"]
Severity = Literal["fail", "inconclusive", "warning", "note"]
Striping = Literal["", "striped", "one-rail", "unequal", "unknown"]
Evidence = dict[str, str | float | int | bool | list[str] | None]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One coded conclusion. ``code`` is in the closed catalogue that ``wireproof explain``
    prints. ``about``: what it concerns, for programs, and ``subject`` the same as text; documents
    of before have no ``about``.
    """

    code: str
    severity: Severity
    message: str
    evidence: Evidence = msgspec.field(default_factory=dict)
    advice: str = ""
    subject: str = ""
    about: Subject | None = None


class RailShare(msgspec.Struct, frozen=True, kw_only=True):
    """What one rail carried at one end in one direction: bytes due by its share of the line rates,
    and bytes that its counters saw. ``share``: of what all rails carried; None: not known.
    """

    host: str
    rail: str
    direction: Direction
    due_bytes: float
    seen_bytes: float | None
    share: float | None
    due_share: float


class PairVerdict(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One point of one pair, judged.

    ``value`` is half round trip in ns (unit ``ns``) or goodput in bytes/s (unit ``bytes_per_s``),
    with its interval. ``efficiency`` is goodput / attainable, never / nominal. ``level``,
    ``quality``: of the path's evidence, the weakest end, in the ledger's terms; "" without any.
    ``striping``: how the rails shared the bytes, "" where no rails are claimed. ``settled``: this
    sample was too wide or moved too few bytes, and a repeat of the same measurement passes.
    """

    point: int
    pattern: str
    message_bytes: int
    origin: int
    target: int
    origin_host: str
    target_host: str
    unit: Literal["ns", "bytes_per_s"]
    value: float
    low: float
    high: float
    half_width: float
    label: str
    proof: Proof
    verdict: Verdict
    limit: float | None = None
    efficiency: float | None = None
    codes: list[str] = msgspec.field(default_factory=list)
    expected_bytes: int | None = None
    seen_bytes: int | None = None
    formula: str = "robust"
    form: str = ""
    repeat: int = 0
    level: str = ""
    quality: str = ""
    striping: Striping = ""
    rails: list[RailShare] = msgspec.field(default_factory=list)
    settled: bool = False


class GroupVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """One point that a group of ranks measured together, judged.

    ``value``: time of one operation of the slowest rank, ns, with its interval. ``limit``: the
    shortest time that the wire allows for the bytes that must cross, ns; ``efficiency`` = limit /
    value, only where those bytes are known exactly and fill the link. ``expected_bytes`` and
    ``seen_bytes`` of the node and direction that must carry most.
    """

    point: int
    pattern: str
    message_bytes: int
    members: int
    nodes: int
    value: float
    low: float
    high: float
    half_width: float
    label: str
    proof: Proof
    verdict: Verdict
    limit: float | None = None
    efficiency: float | None = None
    codes: list[str] = msgspec.field(default_factory=list)
    expected_bytes: int | None = None
    seen_bytes: int | None = None
    formula: str = "robust"
    order: str = ""
    blocking: bool = True
    repeat: int = 0
    level: str = ""
    quality: str = ""


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    verdict: Verdict
    proof: Proof
    findings: list[Finding]
    pairs: list[PairVerdict]
    groups: list[GroupVerdict] = msgspec.field(default_factory=list)
    places: list[Place] = msgspec.field(default_factory=list)
