# pure
"""Findings: a conclusion with its severity, the node, port or link that it concerns, its evidence
and the next action.

``str()`` of a subject is the text that people read and the value of ``subject`` in JSON.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from wireproof.model.atlas import Place
from wireproof.model.errors import Problem

Direction = Literal["", "tx", "rx"]
"""``tx`` leaves the node, ``rx`` reaches it, "" means both."""


class Whole(msgspec.Struct, frozen=True, tag_field="kind", tag="run"):
    """The run, the log or the section as a whole; ``name`` is its name."""

    name: str = "run"

    def __str__(self) -> str:
        return self.name


class Node(msgspec.Struct, frozen=True, tag_field="kind", tag="node"):
    name: str

    def __str__(self) -> str:
        return self.name


class Port(msgspec.Struct, frozen=True, tag_field="kind", tag="port"):
    """A port of a node, in one direction or both. ``nic``: set if the node has several."""

    node: str
    direction: Direction = ""
    nic: str = ""

    def __str__(self) -> str:
        return " ".join(part for part in (self.node, self.nic, self.direction) if part)


class Route(msgspec.Struct, frozen=True, tag_field="kind", tag="route"):
    """The route from one node to another."""

    origin: str
    target: str

    def __str__(self) -> str:
        return f"{self.origin} -> {self.target}"

    @property
    def back(self) -> Route:
        return Route(self.target, self.origin)


class Both(msgspec.Struct, frozen=True, tag_field="kind", tag="pair"):
    """Two nodes, in both directions."""

    one: str
    other: str

    def __str__(self) -> str:
        return f"{self.one} <-> {self.other}"


class Link(msgspec.Struct, frozen=True, tag_field="kind", tag="link"):
    """A cable between a switch and a node or another switch. ``direction`` is as seen by the nodes
    that reach the rest of the fabric through it.
    """

    near: str
    far: str
    direction: Direction = ""

    def __str__(self) -> str:
        return f"{self.near} - {self.far} {self.direction}".strip()


class Switch(msgspec.Struct, frozen=True, tag_field="kind", tag="switch"):
    """A switch. ``direction`` is as seen by its nodes: ``tx`` is traffic that leaves them."""

    name: str
    direction: Direction = ""

    def __str__(self) -> str:
        return f"{self.name} {self.direction}".strip()


Subject = Whole | Node | Port | Route | Both | Link | Switch


def nodes_of(subject: Subject | None) -> tuple[str, ...]:
    """Return the nodes that a subject names: one, the two ends of a pair, or none."""
    match subject:
        case Node(name=node) | Port(node=node):
            return (node,)
        case Route(origin=one, target=other) | Both(one=one, other=other):
            return one, other
    return ()


Proof = Literal["on-wire", "off-wire", "wrong-path", "mixed", "unproven"]
Verdict = Literal["pass", "fail", "inconclusive"]
Severity = Literal["fail", "inconclusive", "warning", "note"]
Striping = Literal["", "striped", "one-rail", "unequal", "unknown"]
Evidence = dict[str, str | float | int | bool | list[str] | None]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One coded conclusion. ``code`` is in the catalogue that ``wireproof explain`` prints.
    ``about``: the subject of the finding, for programs; ``subject``: the same as text. Older
    documents have no ``about``.
    """

    code: str
    severity: Severity
    message: str
    evidence: Evidence = msgspec.field(default_factory=dict)
    advice: str = ""
    subject: str = ""
    about: Subject | None = None


class RailShare(msgspec.Struct, frozen=True, kw_only=True):
    """The traffic of one rail at one end in one direction. ``due_bytes``: bytes expected from its
    share of the line rates; ``seen_bytes``: bytes that its counters show; ``share``: its share of
    the traffic of all rails, null if unknown.
    """

    host: str
    rail: str
    direction: Literal["tx", "rx"]
    due_bytes: float
    seen_bytes: float | None
    share: float | None
    due_share: float


class PointVerdict(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Common fields of the verdicts on a pair and on a group.

    ``value`` has the interval ``low`` to ``high``. ``level``, ``quality``: those of the evidence
    for the path, at the weaker end, in the ledger's terms; "" without evidence.
    """

    point: int
    pattern: str
    message_bytes: int
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
    repeat: int = 0
    level: str = ""
    quality: str = ""


class PairVerdict(PointVerdict, frozen=True, kw_only=True):
    """The verdict on one point of one pair.

    ``value`` is the half round trip in ns (unit ``ns``) or goodput in bytes/s (unit
    ``bytes_per_s``). ``efficiency`` is goodput / attainable, never / nominal. ``striping``: how the
    rails shared the bytes, "" if no rails are claimed. ``settled``: this sample varied too much or
    moved too few bytes, and a repeat of the same measurement passes.
    """

    origin: int
    target: int
    origin_host: str
    target_host: str
    unit: Literal["ns", "bytes_per_s"]
    form: str = ""
    striping: Striping = ""
    rails: list[RailShare] = msgspec.field(default_factory=list)
    settled: bool = False

    @property
    def route(self) -> Route:
        return Route(self.origin_host, self.target_host)


class GroupVerdict(PointVerdict, frozen=True, kw_only=True):
    """The verdict on one point that a group of ranks measured together.

    ``value``: time of one operation of the slowest rank in ns. ``limit``: the shortest time in ns
    that the wire allows for the bytes that must cross it; ``efficiency`` = limit / value, only if
    those bytes are known exactly and fill the link. ``expected_bytes`` and ``seen_bytes`` belong to
    the node and direction with the most bytes to carry.
    """

    members: int
    nodes: int
    order: str = ""
    blocking: bool = True


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    verdict: Verdict
    proof: Proof
    findings: list[Finding]
    pairs: list[PairVerdict]
    groups: list[GroupVerdict] = msgspec.field(default_factory=list)
    places: list[Place] = msgspec.field(default_factory=list)


SEVERITIES: tuple[Severity, ...] = ("fail", "inconclusive", "warning", "note")
"""Worst first."""
_PROOFS: tuple[Proof, ...] = ("off-wire", "wrong-path", "mixed", "unproven", "on-wire")


def rank(severity: Severity) -> int:
    """Return a sort key that puts the worst severity first."""
    return SEVERITIES.index(severity)


def verdict_of(severities: Iterable[Severity]) -> Verdict:
    """Return the verdict for findings of these severities; ``pass`` if there are none."""
    known = set(severities)
    if "fail" in known:
        return "fail"
    return "inconclusive" if "inconclusive" in known else "pass"


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the combined verdict: ``fail`` if any fails, ``pass`` only if there is at least one
    and all pass.
    """
    known = set(verdicts)
    if "fail" in known:
        return "fail"
    return "pass" if known == {"pass"} else "inconclusive"


def worst_proof(proofs: Iterable[Proof]) -> Proof:
    """Return the weakest of several proofs; ``unproven`` if there are none."""
    known = set(proofs)
    return next((proof for proof in _PROOFS if proof in known), "unproven")


# --- Mistakes in a recipe: one finding per place, with the corrected line.


class LintFinding(msgspec.Struct, frozen=True, kw_only=True):
    """One mistake.

    ``line`` and ``column`` count from 1 (columns in characters). ``fix``: the corrected line or
    lines, joined by newlines, that replace the lines ``line`` to ``last``; "" if a person must
    decide. ``safe``: ``--fix`` may write it. ``right``: the correct form according to the rule.
    ``whole``: these lines after all their mistakes are fixed, "" if that equals ``fix``.
    ``setting``: the catalogue entry of the setting concerned, "" for none; ``wanted``: its good
    value; ``setting_until``: the last release that has the setting.
    """

    code: str
    file: str
    line: int
    column: int
    message: str
    fix: str = ""
    why: str = ""
    source: str = ""
    severity: Literal["error", "warning"] = "error"
    safe: bool = False
    last: int = 0
    right: str = ""
    whole: str = ""
    setting: str = ""
    wanted: str = ""
    setting_until: str = ""


class LintReport(msgspec.Struct, frozen=True, kw_only=True):
    """The output of ``wireproof lint --json``. ``errors``: files that could not be read."""

    findings: list[LintFinding]
    errors: list[Problem] = msgspec.field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        """``fail`` if there is a finding, ``inconclusive`` if a file could not be checked,
        otherwise ``pass``.
        """
        if self.findings:
            return "fail"
        return "inconclusive" if self.errors else "pass"
