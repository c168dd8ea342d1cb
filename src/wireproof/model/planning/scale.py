"""Communication at a scale that is not at hand, as ``wireproof plan scale`` gives it."""

from __future__ import annotations

from typing import Literal

import msgspec

from wireproof.model.planning.bounds import Bounds

__all__ = ["PATTERNS", "Parameter", "Prediction", "Scale", "ScalePattern"]

ScalePattern = Literal["ring", "barrier", "allreduce", "alltoall", "sweep"]
PATTERNS: tuple[ScalePattern, ...] = ("ring", "barrier", "allreduce", "alltoall", "sweep")


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """A number that the simulation uses, and where it comes from."""

    name: str
    value: float
    unit: str
    source: str


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """One pattern at one scale. ``time_ns``: of one operation of all ranks (of a sweep: of all
    rounds); ``latency_ns``: per message, as HPCC defines it for rings, else the same.
    ``spread_ns``: of ``time_ns``; what it is stands in ``method``. ``simulated`` of ``total``:
    rings, or phases.
    """

    pattern: ScalePattern
    order: str
    nodes: int
    ppn: int
    ranks: int
    message_bytes: int
    time_ns: float
    latency_ns: float
    spread_ns: Bounds
    simulated: int
    total: int
    method: str


class Scale(msgspec.Struct, frozen=True, kw_only=True):
    """What ``wireproof plan scale --json`` prints."""

    topology: str
    seed: int
    parameters: list[Parameter]
    predictions: list[Prediction]
    sources: list[str]
    validity: list[str]
