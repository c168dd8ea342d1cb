"""Results held against each other: what ``wireproof compare`` prints."""

from typing import Literal

import msgspec

from wireproof.model.finding import Verdict

LAUNCHES = 3
"""So many on each side show how launches differ."""

Conclusion = Literal["better", "worse", "no-difference", "undecided", "not-compared"]
"""Of B against A. ``no-difference``: the interval is within the practical threshold."""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A result as it was judged today. ``hosts`` folded, such as ``n[1-4]``."""

    name: str
    hosts: str
    measured: str
    verdict: Verdict


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A condition that differs: what A and what B had."""

    name: str
    a: str
    b: str


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """The geometric mean of ``results`` results, in the unit of the row."""

    value: float
    results: int


class Ratio(msgspec.Struct, frozen=True, kw_only=True):
    """One number of both. ``ratio`` is the performance of B over that of A (1.1: B is a tenth
    better, whatever the unit), with its 95 % interval; None where it is not compared, which
    ``reason`` explains. ``unit``: ``ns`` or ``bytes_per_s``. ``routes``: how many both have;
    ``launches``: how many of each side the interval is made of (1: what differs from launch to
    launch is not in it).
    """

    name: str
    pattern: str
    message_bytes: int
    unit: Literal["ns", "bytes_per_s"]
    conclusion: Conclusion
    a: Side | None = None
    b: Side | None = None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    routes: int = 0
    launches: int = 1
    reason: str = ""
    headline: bool = False


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """``same``: conditions that both have; ``differ``: those that explain, or spoil, what is
    compared; ``settings``: differences in the hosts' settings. ``practical``: a relative difference
    that matters. ``claimed``: both are logs of other programs, and nothing is decided by them.
    """

    a: Source
    b: Source
    practical: float
    same: list[Difference] = msgspec.field(default_factory=list)
    differ: list[Difference] = msgspec.field(default_factory=list)
    settings: list[Difference] = msgspec.field(default_factory=list)
    rows: list[Ratio] = msgspec.field(default_factory=list)
    notes: list[str] = msgspec.field(default_factory=list)
    claimed: bool = False

    @property
    def verdict(self) -> Verdict:
        """``fail``: some number of B is worse; ``pass``: none is and none is undecided. Fewer than
        three launches decide nothing, not even that there is no difference.
        """
        rows = [row for row in self.rows if row.conclusion != "not-compared"]
        if any(row.conclusion == "worse" and row.launches >= LAUNCHES for row in rows):
            return "fail"
        open_ = any(row.conclusion == "undecided" or row.launches < LAUNCHES for row in rows)
        return "pass" if rows and not open_ else "inconclusive"


class ScalingPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A number at ``count`` nodes or ranks: the geometric mean of ``results`` results, with its
    95 % interval (None for a log, which states none). ``source``: index into ``Scaling.sources``.
    """

    count: int
    value: float
    low: float | None = None
    high: float | None = None
    results: int = 1
    source: int = 0


class ScalingCurve(msgspec.Struct, frozen=True, kw_only=True):
    """One number at two counts or more, in the order of the counts. ``unit``: ``ns`` or
    ``bytes_per_s``.
    """

    name: str
    message_bytes: int
    unit: Literal["ns", "bytes_per_s"]
    points: list[ScalingPoint]


class Scaling(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers of several results against the count of nodes or ranks (``against``). ``claimed``:
    some of the sources are logs of other programs, whose path nothing proves.
    """

    against: Literal["nodes", "ranks"]
    sources: list[Source]
    curves: list[ScalingCurve] = msgspec.field(default_factory=list)
    notes: list[str] = msgspec.field(default_factory=list)
    claimed: bool = False

    @property
    def verdict(self) -> Verdict:
        """``pass``: there is a curve to look at; whether it is a good curve is not judged."""
        return "pass" if self.curves else "inconclusive"
