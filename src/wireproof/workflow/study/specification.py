"""What a study is asked for."""

from __future__ import annotations

import dataclasses

from wireproof.model.study import Library
from wireproof.workflow.specification import Method, Storage
from wireproof.workflow.target.resolve import TargetSpecification

__all__ = ["StudySpecification"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class StudySpecification:
    """``knobs`` empty: all of the library's, or those of ``values``. ``over``: patterns, empty:
    what the knobs can move. ``budget_s``: no round is begun that would end later. ``smallest``:
    share below which an effect is not worth a setting.
    """

    library: Library
    target: TargetSpecification
    method: Method = dataclasses.field(default_factory=Method)
    storage: Storage = dataclasses.field(default_factory=lambda: Storage(kept=False))
    knobs: tuple[str, ...] = ()
    values: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    over: tuple[str, ...] = ()
    ppn: int = 1
    budget_s: float = 300.0
    smallest: float = 0.03
    seed: int = 0
