"""Comparisons of results: what ``wireproof compare`` prints."""

from typing import Literal

import msgspec

from wireproof.model.finding import Verdict

LAUNCHES = 3
"""Launches needed on each side to show how much results vary from launch to launch."""

Conclusion = Literal["better", "worse", "no-difference", "undecided", "not-compared"]
"""Result for B relative to A. ``no-difference``: the interval lies within the practical threshold.
"""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A result, judged by the current version. ``hosts`` is folded, such as ``n[1-4]``."""

    name: str
    hosts: str
    measured: str
    verdict: Verdict


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A condition that differs, with its value in A and in B."""

    name: str
    a: str
    b: str


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """Geometric mean of ``results`` results, in the unit of the row."""

    value: float
    results: int


class Ratio(msgspec.Struct, frozen=True, kw_only=True):
    """One number of both results.

    ``ratio``: performance of B divided by that of A (1.1: B is 10 % better, whatever the unit),
    with its 95 % interval; null if they are not compared, for the ``reason`` given. ``routes``:
    number of routes that both have; ``launches``: launches per side that the interval is based on
    (1: it does not cover variation between launches).
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
    """Two results compared.

    ``same``: conditions that are equal; ``differ``: conditions that explain the difference or make
    the comparison unfair; ``settings``: differences in the hosts' settings. ``practical``: the
    smallest relative difference that matters. ``claimed``: both are logs of other programs, so
    nothing is decided.
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
        """``fail`` if some number of B is worse; ``pass`` if none is worse or undecided.

        With fewer than three launches nothing is decided, not even that there is no difference.
        """
        rows = [row for row in self.rows if row.conclusion != "not-compared"]
        if any(row.conclusion == "worse" and row.launches >= LAUNCHES for row in rows):
            return "fail"
        open_ = any(row.conclusion == "undecided" or row.launches < LAUNCHES for row in rows)
        return "pass" if rows and not open_ else "inconclusive"


class ScalingPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A number at ``count`` nodes or ranks: the geometric mean of ``results`` results, with its 95
    % interval (null for a log, which gives none). ``source``: index into ``Scaling.sources``.
    """

    count: int
    value: float
    low: float | None = None
    high: float | None = None
    results: int = 1
    source: int = 0


class ScalingCurve(msgspec.Struct, frozen=True, kw_only=True):
    """One number at two or more counts, in the order of the counts."""

    name: str
    message_bytes: int
    unit: Literal["ns", "bytes_per_s"]
    points: list[ScalingPoint]


class Scaling(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers of several results against the number of nodes or ranks (``against``). ``claimed``:
    some sources are logs of other programs, whose path is not proven.
    """

    against: Literal["nodes", "ranks"]
    sources: list[Source]
    curves: list[ScalingCurve] = msgspec.field(default_factory=list)
    notes: list[str] = msgspec.field(default_factory=list)
    claimed: bool = False

    @property
    def verdict(self) -> Verdict:
        """``pass`` if there is a curve; its shape is not judged."""
        return "pass" if self.curves else "inconclusive"
