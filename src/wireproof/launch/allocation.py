"""The scheduler's allocation that we run in, or that was made for us."""

from __future__ import annotations

import dataclasses

from wireproof.launch.request import Scheduler

__all__ = ["Allocation"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Allocation:
    """``hosts``: the nodes granted, in the scheduler's order, each once. ``owned``: made for us, to be given back.

    ``ends_unix_s``: when the scheduler will end it, None when it does not say.
    """

    scheduler: Scheduler
    job: str
    hosts: tuple[str, ...]
    partition: str = ""
    owned: bool = False
    ends_unix_s: float | None = None
    notes: tuple[str, ...] = ()
