"""``run.json``: everything about a run that is not a frame. Written when the run begins, completed
when it ends.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from wireproof.model.claim import Claim
from wireproof.model.plan import Plan
from wireproof.model.run import Missing, MissingCode, Provenance

__all__ = ["KIND", "SCHEMA", "Ended", "RunDocument", "missing_code"]

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
"""How a run ended. ``running``: the recorder was killed before it could say (the frames that it
wrote are good).
"""


def missing_code(ended: Ended) -> MissingCode:
    """Why the points are missing that a run which ended so has not sealed."""
    if ended == "running":
        return "cut-short"
    return "no-result" if ended == "done" else ended


class RunDocument(msgspec.Struct, frozen=True, kw_only=True):
    """``missing`` names the points that were planned and not sealed, each with the reason seen."""

    claim: Claim
    provenance: Provenance
    plan: Plan
    kind: str = KIND
    schema: int = SCHEMA
    ended: Ended = "running"
    reason: str = ""
    exit_status: int | None = None
    missing: dict[int, Missing] = msgspec.field(default_factory=dict)
