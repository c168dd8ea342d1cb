# pure
"""A series as a curve: time per operation and one-way goodput by size, with the rounding error."""

import math
from dataclasses import dataclass, field
from functools import lru_cache

from wireproof.atlas import Atlas
from wireproof.model import quantity
from wireproof.model.atlas import Place
from wireproof.model.claim import Criteria
from wireproof.model.finding import Evidence, Severity
from wireproof.model.series import Reason, Series, SeriesPoint
from wireproof.physics.bounds import (
    CurveBounds,
    any_nic_ns,
    bounds_of,
    cache_fall,
    exceeds,
    held_goodput,
)
from wireproof.physics.table import Table, default_table, link_from_name

SMALL = 1024
"""Largest message that shows the start-up latency; bytes."""

_POINTS = 20_000  # more rows than any sweep prints; further rows are not read
_SAME = 0.02
_LARGEST = 1 << 50
_SLOWEST = 1e-6  # bytes/s: a smaller value is not a rate
_WAITED = ("pingpong", "put", "get", "atomic", "exchange")
OF_SEVERAL = ("collective", "ring", "other")
"""Kinds of traffic whose numbers do not belong to one pair of ranks."""
MEBI = 1.048576
"""Factor between MiB and MB."""


@dataclass(frozen=True, slots=True)
class CurveRow:
    """One size.

    ``wait_ns``: time of an operation that is answered before the next starts. ``goodput``: bytes/s
    in one direction, over all pairs; 0: not known. ``doubt``: share of both that rounding may hide.
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
        """The rows of the peak and of the end, if goodput falls as copies through a cache do."""
        rows = {row.size: row for row in self.moved}
        sizes = cache_fall({size: row.goodput for size, row in rows.items()})
        return None if sizes is None else (rows[sizes[0]], rows[sizes[1]])


def host_of(name: str) -> str:
    """Return the host of mpiGraph's rank name HOST:RANK."""
    return name.rpartition(":")[0] or name


def neighbours(series: Series) -> bool:
    """Return False if each rank has its own host, so that no two share memory."""
    count = series.processes or 0
    return count <= 1 or len(set(map(host_of, series.hosts))) != count


def waits_for_answers(series: Series) -> bool:
    """Return whether each operation is answered before the next starts."""
    return series.waits or series.traffic == "pingpong"


def curve_of(series: Series) -> Curve:
    """Return rows by size; several rows of one size (intervals of a test) become their median."""
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
    # An empty put or get sends nothing; an empty message is still sent.
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
        # "0.00" is a number that was rounded to zero; a plain 0 is not a measurement.
        if value == 0 and name in ("half round trip", "time") and point.time_step_ns <= 0:
            return f"{quantity.size(point.message_bytes)}: {name} 0"
    return ""


def _row(series: Series, point: SeriesPoint, waits: bool) -> CurveRow:
    """A ping-pong's goodput is size / half round trip, whatever the program prints.

    IMB-P2P and ucx print the sum of both directions.
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
    """Return (time, share hidden by rounding) of a ping-pong that prints only its goodput."""
    printed = point.goodput_bytes_per_s
    if not printed or printed < _SLOWEST or not point.message_bytes:
        return 0.0, 0.0
    return point.message_bytes / printed * 1e9, min(1.0, point.goodput_step / 2 / printed)


def _of_wait(point: SeriesPoint, wait_ns: float) -> float:
    """Return the printed goodput, which has more digits, if it agrees with size / time; else size /
    time.
    """
    goodput = point.message_bytes / wait_ns * 1e9
    printed = point.goodput_bytes_per_s
    return printed if printed and abs(printed / goodput - 1) < _SAME else goodput


def _printed(series: Series, point: SeriesPoint, time: float | None) -> tuple[float, float | None]:
    """Return (one-way goodput, share hidden by rounding if the column shows it) from the first
    usable column.

    ``time``: time per message if nothing waits for an answer.
    """
    printed, size, ways = point.goodput_bytes_per_s, point.message_bytes, max(1, series.directions)
    if printed:
        return printed / ways, min(1.0, point.goodput_step / 2 / printed)
    if time and size:
        return size / time * 1e9, min(1.0, point.time_step_ns / 2 / time)
    if point.messages_per_s and size:
        return point.messages_per_s * size / ways, min(1.0, 0.5 / point.messages_per_s)
    return 0.0, None


# --- The state of a series while it is judged: the facts about it, and the reasons found so far.


@dataclass(slots=True)
class Case:
    """A series while it is judged.

    ``places``: the positions of its numbers among published numbers. ``off``: the numbers exclude
    the claimed wire. ``mixed``: the numbers need more than one path. ``held``: at least one number
    was checked against a limit of the link. ``rate_known``: the sizes are large enough to show the
    rate. ``bucket``: a rate limiter passes messages up to this size without delay. ``guessed``:
    RDMA was inferred from the numbers. ``unit_wrong``: the message rate contradicts the printed
    bandwidth, which is then not judged. ``counted``: counters have shown the bytes on the wire.
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
        # The message may quote the log, so keep it on one line of printable characters.
        line = "".join(c if c.isprintable() else " " for c in message)
        self.reasons.append(
            Reason(code=code, severity=severity, message=line, evidence=evidence or {})
        )

    @property
    def kind(self) -> str:
        return self.bounds.link.name if self.bounds is not None else "any NIC"

    @property
    def chain(self) -> bool:
        """True for more processes than one pair, some of which may share a node."""
        series = self.series
        several = (series.processes or 2) > 2 and series.pairs == 1 and neighbours(series)
        return series.traffic == "ring" or (
            several and series.traffic in ("exchange", "stream", "pingpong")
        )

    @property
    def limited(self) -> list[CurveRow]:
        """Rows whose size exceeds the bucket of a rate limiter and of the lab's shaper."""
        least = self.bounds.least_size if self.bounds is not None else 0
        return [row for row in self.curve.moved if row.size > self.bucket and row.size >= least]

    @property
    def fastest(self) -> CurveRow | None:
        return max(self.limited, key=self.held_goodput, default=None)

    @property
    def fenced(self) -> bool:
        """Whether each time includes a fence, which waits for all processes."""
        return "a fence each" in self.series.formula

    def held_goodput(self, row: CurveRow) -> float:
        """Return the goodput without the bytes that the lab's shaper passes without delay; on a
        real link, the whole goodput.
        """
        credit = self.bounds.credit if self.bounds is not None else 0
        return held_goodput(row.goodput, row.size * self.in_flight, credit)

    def crossing_ns(self, row: CurveRow) -> float | None:
        """Return the time of ``row`` that must include the wire, with the rounding error added.

        If there are several pairs, some may share a node, so only the time of the slowest pair
        counts, if it is printed.
        """
        longest = row.point.time_max_ns
        if self.chain or self.series.pairs > 1:
            return longest if longest is not None or self.chain else row.wait_ns * (1 + row.doubt)
        return row.wait_ns * (1 + row.doubt)

    @property
    def waits(self) -> bool:
        """True if each operation is answered before the next starts."""
        return waits_for_answers(self.series)

    @property
    def start_ns(self) -> float | None:
        """The shortest time of a small message in ns; None if there is none."""
        return self.curve.start.wait_ns if self.curve.start is not None else None

    def constant(self, key: str) -> float:
        """Return a constant of the table, in the unit of its entry."""
        return (self.table or default_table())[key].value

    @property
    def in_flight(self) -> int:
        """Number of messages in flight; a TCP stream always has full buffers."""
        if self.waits:
            return 1
        if self.series.window:
            return self.series.window * max(1, self.series.pairs)
        return 1024 if self.series.protocol else 1


# --- The links that explain a printed curve, or memory if it does.

_REACHED = 0.6  # a link explains a curve only if at least this share of it was used
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
    """Return the names of links whose floor, usual start and ceiling fit the curve, and which the
    curve mostly fills.

    ``way``: ``tcp`` or ``rdma`` if that is known to carry the bytes; only links of that kind are
    then returned. ``fills``: number of bytes in flight from which a stream shows the rate. The list
    includes ``shm`` if memory explains the curve.
    """
    start = curve.start.wait_ns if curve.start is not None else None
    best = curve.best.goodput if curve.best is not None and curve.rows[-1].size >= fills else None
    if start is None and best is None:
        return []
    names = ["shm"] if _like_memory(curve, start) else []
    for name, bounds in _candidates(verbs):
        carried = not way or (bounds.link.protocol == "tcp") == (way == "tcp")
        if carried and _fits(curve, bounds, start, best):
            names.append(name)
    return names


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
