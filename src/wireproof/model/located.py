"""What `locate` concludes: which node, port, link or switch is slow, how sure that is, and what it
is not.
"""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ["ABOUT", "Blame", "Cause", "Contention", "Located", "Metric", "Tier"]

ABOUT = 1.1
"""What is detectable is an estimate itself: up to so many times the practical threshold it is
called enough.
"""

Metric = Literal["goodput", "hrt"]
"""``goodput``: bytes/s, one direction; ``hrt``: half round trip in ns (no direction)."""
BlameKind = Literal["node", "port", "link", "switch", "pair"]
Direction = Literal["", "tx", "rx"]


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """Why, as far as counters and Facts tell. ``confidence`` 0 to 1; ``evidence`` says what was
    seen, in words.
    """

    code: str
    sentence: str
    confidence: float
    fix: str
    evidence: list[str] = msgspec.field(default_factory=list)


class Blame(msgspec.Struct, frozen=True, kw_only=True):
    """One culprit. ``slowdown`` is relative (0.20: a fifth less goodput, or a fifth more time),
    with its 95 % interval.

    ``subject``: a node's name, ``n3`` for its port too (``direction`` says ``tx`` leaves it, ``rx``
    reaches it, as the node sees it), ``leaf1 - spine2`` for a link, a switch's name, ``n1 -> n2``
    for a pair. ``value`` and ``expected`` are in the metric's unit. ``stage`` ``confirmed``:
    measured again alone against known-good partners.
    """

    kind: BlameKind
    subject: str
    direction: Direction = ""
    metric: Metric = "goodput"
    slowdown: float
    low: float
    high: float
    confidence: float
    stage: Literal["screened", "confirmed"]
    value: float
    expected: float
    nodes: list[str] = msgspec.field(default_factory=list)
    evidence: list[str] = msgspec.field(default_factory=list)
    causes: list[Cause] = msgspec.field(default_factory=list)


class Contention(msgspec.Struct, frozen=True, kw_only=True):
    """Slow together and fast alone: no fault. ``loaded`` and ``alone`` in the metric's unit."""

    subject: str
    loaded: float
    alone: float
    sentence: str


class Tier(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs that take the same kind of path, such as ``one switch`` or ``across leaves``;
    ``median`` in the metric's unit. ``oversubscription``: how many times slower than the best tier
    (1.0: not at all); expected, never a fault. ``spread``: relative sigma of its samples, for flows
    that share a link do not share it evenly.
    """

    name: str
    samples: int
    median: float
    oversubscription: float = 1.0
    spread: float = 0.0


class Located(msgspec.Struct, frozen=True, kw_only=True):
    """``noise``: robust relative sigma of one sample; ``alpha``: family-wise error of the sweep;
    ``practical``: the least slowdown that is called one; ``detectable``: the slowdown found with 95
    % power at this size and noise.

    ``cleared``: suspects of the screen that the confirm stage acquitted. ``missing``: node to why
    it has no samples.
    """

    metric: Metric
    nodes: int
    measured: int
    rounds: int
    samples: int
    noise: float
    alpha: float
    practical: float
    detectable: float
    blames: list[Blame] = msgspec.field(default_factory=list)
    cleared: list[str] = msgspec.field(default_factory=list)
    contention: list[Contention] = msgspec.field(default_factory=list)
    tiers: list[Tier] = msgspec.field(default_factory=list)
    missing: dict[str, str] = msgspec.field(default_factory=dict)
    notes: list[str] = msgspec.field(default_factory=list)
