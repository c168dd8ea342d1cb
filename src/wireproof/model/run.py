"""A run: everything that was measured and claimed, and nothing that was concluded.

``run.json`` holds what is not a frame. It is written when the run begins, and completed when it
ends.
"""

from typing import Literal

import msgspec

from wireproof.model.claim import Claim
from wireproof.model.plan import Plan
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
"""Why a planned point has no result. ``no-result``: the engine ended normally without sending it;
``cut-short``: the recorder was killed; the other codes are endings of the run or of the point.
"""


class Missing(msgspec.Struct, frozen=True):
    """Why a planned point has no result. ``reached``: the point was in progress; otherwise it is
    missing because of what happened to another point.
    """

    code: MissingCode
    text: str = ""
    reached: bool = True

    def __str__(self) -> str:
        return self.text if self.reached else f"not reached: {self.text}"


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """How the run was started: MPI, engine, exact argv, and the environment that wireproof set."""

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
"""How a run ended. ``running``: the recorder was killed before it could record an ending (the
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
