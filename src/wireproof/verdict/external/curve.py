"""A series as one curve: time of one operation and goodput of one direction against size, with what
rounding hides.
"""

import math
from dataclasses import dataclass, field
from functools import lru_cache

from wireproof.atlas.known import Atlas
from wireproof.model import quantity
from wireproof.model.atlas import Place
from wireproof.model.claim import Criteria
from wireproof.model.finding import Evidence, Severity
from wireproof.model.series import Reason, Series, SeriesPoint
from wireproof.physics.bounds import CurveBounds, any_nic_ns, bounds_of
from wireproof.physics.links import link_from_name
from wireproof.physics.table import Table, default_table
from wireproof.verdict.curve import cache_fall, exceeds, held_goodput

SMALL = 1024
"""Messages up to this size tell the latency that larger ones start from; bytes."""

_POINTS = 20_000  # more rows than any sweep prints: what is above is not read
_SAME = 0.02
_LARGEST = 1 << 50
_SLOWEST = 1e-6  # bytes/s: less is no rate of anything
_WAITED = ("pingpong", "put", "get", "atomic", "exchange")
OF_SEVERAL = ("collective", "ring", "other")
"""Traffic whose numbers are of no pair of ranks."""
MEBI = 1.048576
"""What MiB has more than MB, as a factor."""


@dataclass(frozen=True, slots=True)
class CurveRow:
    """One size. ``wait_ns``: time of an operation that is answered before the next; ``goodput``:
    bytes/s of one direction, over all pairs; 0: not known. ``doubt``: share of both that rounding
    may hide.
    """

    size: int
    wait_ns: float
    goodput: float
    doubt: float
    point: SeriesPoint


@dataclass(slots=True)
class Curve:
    """``bad`` names the rows whose numbers cannot be measurements (nan, zero or negative times)."""

    rows: list[CurveRow] = field(default_factory=list)
    bad: list[str] = field(default_factory=list)
    start: CurveRow | None = None
    best: CurveRow | None = None

    @property
    def waited(self) -> list[CurveRow]:
        return [row for row in self.rows if row.wait_ns]

    @property
    def moved(self) -> list[CurveRow]:
        return [row for row in self.rows if row.goodput]

    @property
    def fall(self) -> tuple[CurveRow, CurveRow] | None:
        """The rows of the maximum and of the end, if the goodput falls as a cache's does."""
        rows = {row.size: row for row in self.moved}
        found = cache_fall({size: row.goodput for size, row in rows.items()})
        return None if found is None else (rows[found[0]], rows[found[1]])


def waits_for_answers(series: Series) -> bool:
    """Each operation is answered before the next starts."""
    return series.waits or series.traffic == "pingpong"


def curve_of(series: Series) -> Curve:
    """Rows by size; several rows of one size (intervals of one test) become their middle one."""
    curve = Curve()
    by_size: dict[int, list[CurveRow]] = {}
    waits = waits_for_answers(series)
    for point in series.points[:_POINTS]:
        trouble = _trouble(point)
        if trouble:
            curve.bad.append(trouble)
        else:
            by_size.setdefault(point.message_bytes, []).append(_row(series, point, waits))
    curve.rows = [_middle(by_size[size]) for size in sorted(by_size)]
    # Nothing is sent for a put or get of nothing; an empty message is one.
    least = 0 if series.traffic == "pingpong" else 1
    small = [row for row in curve.waited if least <= row.size <= SMALL]
    curve.start = min(small, key=lambda row: row.wait_ns, default=None)
    curve.best = max(curve.moved, key=lambda row: row.goodput, default=None)
    return curve


def _middle(same: list[CurveRow]) -> CurveRow:
    if len(same) > 1:
        same.sort(key=lambda row: (row.goodput, -row.wait_ns))
    return same[len(same) // 2]


def _trouble(point: SeriesPoint) -> str:
    if not 0 <= point.message_bytes <= _LARGEST:
        return f"line {point.line}: a message of {quantity.size(point.message_bytes)}"
    named = (
        ("half round trip", point.hrt_ns),
        ("time", point.time_ns),
        ("shortest time", point.time_min_ns),
        ("longest time", point.time_max_ns),
        ("goodput", point.goodput_bytes_per_s),
        ("message rate", point.messages_per_s),
    )
    for name, value in named:
        if value is None:
            continue
        if not math.isfinite(value) or value < 0:
            return f"{quantity.size(point.message_bytes)}: {name} {value:g}"
        # "0.00" is a number that rounding has hidden; a bare 0 with a size is none.
        if value == 0 and name in ("half round trip", "time") and point.time_step_ns <= 0:
            return f"{quantity.size(point.message_bytes)}: {name} 0"
    return ""


def _row(series: Series, point: SeriesPoint, waits: bool) -> CurveRow:
    """A ping-pong's goodput is size / half round trip, whatever the program prints (IMB-P2P, ucx:
    both directions).
    """
    time = point.hrt_ns if point.hrt_ns is not None else point.time_ns
    wait = doubt = 0.0
    if time is not None and waits and series.traffic in _WAITED:
        wait = max(time, point.time_step_ns / 2)
        doubt = min(1.0, point.time_step_ns / 2 / wait)
    if series.traffic in OF_SEVERAL:
        return CurveRow(point.message_bytes, 0.0, 0.0, 0.0, point)
    if not wait and waits and series.traffic == "pingpong":
        wait, doubt = _wait_of(point)
    if wait and point.message_bytes and series.traffic != "atomic":
        goodput = _of_wait(point, wait)
    else:
        goodput, hidden = _printed(series, point, None if waits else time)
        doubt = doubt if hidden is None else hidden
    return CurveRow(point.message_bytes, wait, goodput, doubt, point)


def _wait_of(point: SeriesPoint) -> tuple[float, float]:
    """(time, share that rounding hides) of a ping-pong that prints its goodput only."""
    printed = point.goodput_bytes_per_s
    if not printed or printed < _SLOWEST or not point.message_bytes:
        return 0.0, 0.0
    return point.message_bytes / printed * 1e9, min(1.0, point.goodput_step / 2 / printed)


def _of_wait(point: SeriesPoint, wait_ns: float) -> float:
    """The printed goodput has more digits; it is only taken where its definition is this one."""
    goodput = point.message_bytes / wait_ns * 1e9
    printed = point.goodput_bytes_per_s
    return printed if printed and abs(printed / goodput - 1) < _SAME else goodput


def _printed(series: Series, point: SeriesPoint, time: float | None) -> tuple[float, float | None]:
    """(goodput of one direction, share that rounding hides where the column tells): of the first
    column that tells it. ``time``: of a message, where nothing waits for an answer.
    """
    printed, size, ways = point.goodput_bytes_per_s, point.message_bytes, max(1, series.directions)
    if printed:
        return printed / ways, min(1.0, point.goodput_step / 2 / printed)
    if time and size:
        return size / time * 1e9, min(1.0, point.time_step_ns / 2 / time)
    if point.messages_per_s and size:
        return point.messages_per_s * size / ways, None
    return 0.0, None


# --- One series under judgement: what is known, and the reasons found so far.


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
    bounds: CurveBounds | None = None
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
    def limited(self) -> list[CurveRow]:
        """Rows of sizes that the line's rate bounds: above the bucket of a limiter or of the lab's
        shaper.
        """
        least = self.bounds.least_size if self.bounds is not None else 0
        return [row for row in self.curve.moved if row.size > self.bucket and row.size >= least]

    @property
    def fastest(self) -> CurveRow | None:
        return max(self.limited, key=self.held_goodput, default=None)

    def held_goodput(self, row: CurveRow) -> float:
        """Goodput less the bytes that the lab's shaper lets pass for nothing; on a real link all of
        it.
        """
        credit = self.bounds.credit if self.bounds is not None else 0
        return held_goodput(row.goodput, row.size * self.in_flight, credit)

    def crossing_ns(self, row: CurveRow) -> float | None:
        """The time of ``row`` that must have crossed the wire, with what rounding hides.

        Of several pairs some may be neighbours: then only the slowest one's, where it is printed.
        """
        longest = row.point.time_max_ns
        if self.chain or self.series.pairs > 1:
            return longest if longest is not None or self.chain else row.wait_ns * (1 + row.doubt)
        return row.wait_ns * (1 + row.doubt)

    @property
    def waits(self) -> bool:
        """Each operation is answered before the next starts."""
        return waits_for_answers(self.series)

    @property
    def start_ns(self) -> float | None:
        """The quickest time of a small message; None without any."""
        return self.curve.start.wait_ns if self.curve.start is not None else None

    def constant(self, key: str) -> float:
        """A constant of the table, in its own unit."""
        return (self.table or default_table())[key].value

    @property
    def in_flight(self) -> int:
        """Messages that are under way at once; a TCP stream always has its buffers full."""
        if self.waits:
            return 1
        if self.series.window:
            return self.series.window * max(1, self.series.pairs)
        return 1024 if self.series.protocol else 1


# --- Which links, or memory, would explain a printed curve.

_REACHED = 0.6  # share of attainable that a link must have been used for to be an explanation
_CANDIDATES = (
    "1gbe",
    "10gbe",
    "25gbe",
    "40gbe",
    "100gbe",
    "200gbe",
    "roce10",
    "roce25",
    "roce40",
    "roce100",
    "roce200",
    "roce400",
    "sdr",
    "ddr",
    "qdr",
    "fdr",
    "edr",
    "hdr200",
    "ndr400",
    "xdr800",
    "opa100",
    "cn5000",
    "truescale",
    "efa100",
    "efa200",
    "slingshot200",
    "slingshot400",
    "ipoib-qdr",
    "ipoib-edr",
    "ipofabric-opa100",
)


@lru_cache(maxsize=4)
def _candidates(verbs: bool) -> tuple[tuple[str, CurveBounds], ...]:
    return tuple((name, bounds_of(link_from_name(name), verbs=verbs)) for name in _CANDIDATES)


def explanations(curve: Curve, *, verbs: bool, way: str, fills: int) -> list[str]:
    """Names of the links whose limits the curve fits: floor, usual start, ceiling, and enough of it
    used.

    ``way``: ``tcp`` or ``rdma`` where that is known to carry the bytes: only such links are named.
    ``fills``: smallest size in flight at which a stream tells the rate. ``shm`` when memory is an
    explanation.
    """
    start = curve.start.wait_ns if curve.start is not None else None
    best = curve.best.goodput if curve.best is not None and curve.rows[-1].size >= fills else None
    if start is None and best is None:
        return []
    found = ["shm"] if _like_memory(curve, start) else []
    for name, bounds in _candidates(verbs):
        carried = not way or (bounds.link.protocol == "tcp") == (way == "tcp")
        if carried and _fits(curve, bounds, start, best):
            found.append(name)
    return found


def _fits(curve: Curve, bounds: CurveBounds, start: float | None, best: float | None) -> bool:
    if start is not None and not bounds.doubt <= start <= bounds.slow:
        return False
    slow = best is not None and best < _REACHED * (bounds.most or 0.0)
    if slow or (best is not None and exceeds(bounds, best, 0.02)):
        return False
    return all(row.wait_ns * (1 + row.doubt) >= bounds.shortest(row.size) for row in curve.waited)


def _like_memory(curve: Curve, start: float | None) -> bool:
    if start is not None and start < any_nic_ns():
        return True
    return (start is None or start < 1500.0) and curve.fall is not None
