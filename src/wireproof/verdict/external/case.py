"""One series under judgement: what is known, and the reasons found so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from wireproof.atlas.known import Atlas
from wireproof.model.atlas import Place
from wireproof.model.claim import Criteria
from wireproof.model.finding import Evidence, Severity
from wireproof.model.series import Reason, Series
from wireproof.physics.bounds import Bounds
from wireproof.physics.table import Table
from wireproof.verdict.external.curve import Curve, Row

__all__ = ["Case"]


@dataclass(slots=True)
class Case:
    """``places``: where its numbers lie among published ones. ``off``: the numbers exclude the
    claimed wire. ``mixed``: they need more than one path.
    ``held``: something of the series was held against a limit of the link. ``rate_known``: its
    sizes are large enough for the rate. ``bucket``: up to this size a rate limiter passes messages
    at once, whatever its rate. ``guessed``: that RDMA carries the bytes was concluded from the
    numbers. ``unit_wrong``: the message rate contradicts the printed bandwidth, of which nothing
    can be said then. ``counted``: counters have shown
    the bytes on the wire.
    """

    series: Series
    curve: Curve
    criteria: Criteria
    table: Table | None
    bounds: Bounds | None = None
    reasons: list[Reason] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    off: bool = False
    mixed: bool = False
    held: bool = False
    too_quick: bool = False
    rate_known: bool = False
    bucket: int = 0
    guessed: bool = False
    unit_wrong: bool = False
    counted: bool = False
    atlas: Atlas | None = None

    def add(
        self, code: str, severity: Severity, message: str, evidence: Evidence | None = None
    ) -> None:
        # Some of it is the log's own text: one line, whatever it held.
        line = "".join(c if c.isprintable() else " " for c in message)
        self.reasons.append(
            Reason(code=code, severity=severity, message=line, evidence=evidence or {})
        )

    @property
    def kind(self) -> str:
        return self.bounds.link.name if self.bounds is not None else "any NIC"

    @property
    def chain(self) -> bool:
        """More processes than one pair, of which some may be neighbours on one node."""
        series = self.series
        hosts = {name.rpartition(":")[0] or name for name in series.hosts}
        several = (
            (series.processes or 2) > 2 and series.pairs == 1 and len(hosts) != series.processes
        )
        return series.traffic == "ring" or (
            several and series.traffic in ("exchange", "stream", "pingpong")
        )

    @property
    def limited(self) -> list[Row]:
        """Rows of sizes that the line's rate bounds: above the bucket of a limiter or of the lab's
        shaper.
        """
        least = self.bounds.least_size if self.bounds is not None else 0
        return [row for row in self.curve.moved if row.size > self.bucket and row.size >= least]

    @property
    def fastest(self) -> Row | None:
        return max(self.limited, key=self.held_goodput, default=None)

    def held_goodput(self, row: Row) -> float:
        """Goodput less the bytes that the lab's shaper lets pass for nothing; on a real link all of
        it.
        """
        credit = self.bounds.credit if self.bounds is not None else 0
        if not credit or row.goodput is None:
            return row.goodput or 0.0
        run = row.size * self.in_flight
        return row.goodput * max(run - credit, run / 2) / max(run, 1)

    def crossing_ns(self, row: Row) -> float | None:
        """The time of ``row`` that must have crossed the wire, with what rounding hides.

        Of several pairs some may be neighbours: then only the slowest one's, where it is printed.
        """
        if row.wait_ns is None:
            return None
        longest = row.point.time_max_ns
        if self.chain or self.series.pairs > 1:
            return longest if longest is not None or self.chain else row.wait_ns * (1 + row.doubt)
        return row.wait_ns * (1 + row.doubt)

    @property
    def in_flight(self) -> int:
        """Messages that are under way at once; a TCP stream always has its buffers full."""
        if self.series.traffic == "pingpong" or self.series.waits:
            return 1
        if self.series.window:
            return self.series.window * max(1, self.series.pairs)
        return 1024 if self.series.protocol else 1
