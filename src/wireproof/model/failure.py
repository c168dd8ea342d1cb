"""What a program that asked for JSON reads when there is no result."""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ["Failure", "Reason"]


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that went wrong, as standard error says it."""

    message: str


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """The document of ``--json`` where a command ends before it has one. ``verdict`` is always
    null: nothing was judged, which is never a pass.
    """

    exit_status: int
    errors: tuple[Reason, ...]
    schema: Literal["wireproof.error"] = "wireproof.error"
    version: Literal[1] = 1
    verdict: None = None
