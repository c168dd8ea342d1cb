"""Samples of a screen as columns: which pair measured in which round, and what came out."""

from __future__ import annotations

import dataclasses

import numpy as np

from wireproof.locate.arrays import Floats, Ints
from wireproof.model.located import Metric

__all__ = ["Samples"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Samples:
    """``nodes``: N names. The columns have one length K: ``origin`` and ``target`` are indices into
    ``nodes`` (int32), ``round`` is the number of the round (int32; samples of one round ran at the
    same time), ``value`` is goodput in bytes/s from origin to target, or the half round trip in ns
    (float64, positive, finite).

    ``half_width``: relative half-width of each sample's own interval, NaN where there is none.
    ``when``: s since 1970 (or since the start of a synthetic sweep) at which each sample began; of
    another length where that is not known.
    """

    metric: Metric
    nodes: tuple[str, ...]
    origin: Ints
    target: Ints
    round: Ints
    value: Floats
    half_width: Floats
    when: Floats = dataclasses.field(default_factory=lambda: np.zeros(0))

    def __len__(self) -> int:
        return len(self.value)
