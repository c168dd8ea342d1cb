"""What several rails gain: the same pattern over each rail alone and over all of them.

Goodput in bytes/s, times in ns; ``None`` means unknown, never zero.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from wireproof.model.finding import Finding, Proof, Striping, Verdict

__all__ = ["GainRow", "RailGain", "RailNumber", "Span"]


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """A value with its 95 % interval over the launches."""

    value: float
    low: float
    high: float


class RailNumber(msgspec.Struct, frozen=True, kw_only=True):
    """Goodput over one rail alone, or over all (``rail`` "": together), in bytes/s. ``limit``: what
    its link can carry; ``proof``: of its path.
    """

    rail: str
    goodput: Span
    limit: float | None
    proof: Proof


class GainRow(msgspec.Struct, frozen=True, kw_only=True):
    """One pattern at one size from one host to another. ``gain``: all rails against the best alone;
    ``of_sum``: against the sum of all alone; ``of_limits``: against the sum of the limits.

    ``expected``: its messages are to be shared: large, and one way. What waits for an answer is one
    message at a time, and gains nothing where each message goes over one rail.
    """

    pattern: str
    form: str
    message_bytes: int
    origin: str
    target: str
    alone: list[RailNumber]
    together: RailNumber
    gain: Span
    of_sum: Span
    of_limits: float | None
    striping: Striping
    expected: bool


class RailGain(msgspec.Struct, frozen=True, kw_only=True):
    """``answer``: the gain in one sentence. ``told``: the variables that the launch with all rails
    has set. ``settings`` differ between the launches in nothing but the rails.
    """

    schema: Literal["wireproof.rails"] = "wireproof.rails"
    version: Literal[1] = 1
    verdict: Verdict
    answer: str
    hosts: list[str]
    rails: list[str]
    link: str
    rounds: int
    seed: int
    rows: list[GainRow]
    findings: list[Finding]
    told: dict[str, str]
    seconds: float
    notes: list[str] = msgspec.field(default_factory=list)
