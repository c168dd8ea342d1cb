"""The options of ``wireproof pfc``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

__all__ = ["PfcOptions"]


class PfcOptions(TypedDict, total=False):
    """As the options of ``wireproof pfc`` are written; ``source``: of --from; ``argv``: the load's
    command; ``no_load``: what runs there anyway is watched; ``senders``: of our own incast.
    """

    priority: int | None
    duration: str
    source: Path | None
    snapshot: Path | None
    cable_m: float | None
    argv: Sequence[str]
    no_load: bool
    senders: int | None
