# pure
"""Other traffic on the measured ports: reported with port, direction and rate, never as a fault.

Pure.

A port's counters include all traffic. Bytes beyond the payload and its headers, and bytes in the
quiet windows right before and after a point, belong to another job or another check. A shortfall
that such traffic can explain is not a proven fault.
"""

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from wireproof.ledger.crossed import crossed_at
from wireproof.model.finding import Both, Node, PairVerdict, Port, Route, Subject
from wireproof.model.quantity import counted, goodput
from wireproof.model.record import PointRecord, WitnessReading
from wireproof.model.traffic import Direction, Ledger
from wireproof.physics.bounds import bounds_of
from wireproof.verdict.context import Context
from wireproof.verdict.issue import SLOW, Issue
from wireproof.verdict.path import busiest, used_by_others
from wireproof.verdict.path.late import OPPOSITE, explained
from wireproof.verdict.path.proof import Witnessed

_SURE_SHARE = 0.04  # share of all bytes that the port carried: smaller amounts may be headers
_LOUD_SHARE = 0.20  # share of the attainable rate: this much traffic disturbs in any case
_ACCOUNTS = 0.5  # share of the missing rate: streams that compete leave a part of the line idle
_MOSTLY = 0.5  # share of the points of a slow result
_MILD = 0.6  # share of the expectation: traffic on the way back never costs more than the rest
_SEGMENT = 1514.0
_RESENT = "ip/Tcp/RetransSegs"
_BENT = (
    "background-traffic",
    "cache-shaped",
    "slow-start",
    "unproven-too-few-bytes",
    "unstable",
)
"""Codes of what traffic beside a point does to it, apart from a low goodput."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """Other traffic at one port in one direction during one point, in bytes/s.

    ``beside``: bytes that the port counted during the point beyond ours, at most what the quiet
    moments around the point show if it hides in the allowance for headers. ``bytes_per_s``: the
    same, or the rate of the quiet moments if the point shows almost nothing.
    """

    nic: str
    bytes_per_s: float
    beside: float


def explains(goodput: float, others: float, expected: float, *, back: bool = False) -> bool:
    """Return whether other traffic accounts for the missing goodput (all in bytes/s).

    ``back``: it shares only the direction of the acknowledgements.
    """
    if back:
        return goodput >= _MILD * expected and others >= _LOUD_SHARE * expected
    return others > 0 and others >= _ACCOUNTS * (expected - goodput)


class Others:
    """Collect the other traffic sent and received at the measured ports, point by point."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.seen: dict[int, dict[Port, _Seen]] = defaultdict(dict)
        self.excused: set[Port] = set()
        most = bounds_of(ctx.link, ctx.table).most if ctx.link is not None else None
        self.line = most or math.inf

    def look(self, point: PointRecord, seen: Witnessed) -> None:
        """Record the traffic of the ports during one point beyond its payload."""
        readings = {reading.rank: reading for reading in point.witness}
        for (reader, claimed, direction), due in seen.dues.items():
            ledger = seen.ledgers.get(reader) if reader is not None else None
            back = seen.dues.get((reader, claimed, OPPOSITE[direction]))
            need = max(due.need, back.need if back else 0.0)
            if reader is None or ledger is None or need < self.ctx.criteria.min_payload_bytes:
                continue
            name = claimed if claimed in ledger.ports else busiest(ledger, [direction])[0]
            explained_bytes = explained(self.ctx, point, seen, (reader, claimed, direction))
            explained_bytes += _resent(readings.get(reader))
            ours = due.need, explained_bytes
            seen_here = _beyond(ledger, name, direction, ours) if name else None
            if seen_here:
                self.seen[point.id][Port(self.ctx.name(reader), direction)] = seen_here

    def _loud_at(self, point: int, subject: Subject) -> Port | None:
        """Return the busiest place of ``subject`` at which others took a good part of the line."""
        place = max(crossed_places(subject), key=lambda one: self._beside(point, one), default=None)
        loud = place is not None and self._beside(point, place) >= _LOUD_SHARE * self.line
        return place if loud else None

    def _beside(self, point: int, place: Port) -> float:
        """Return the bytes/s that a port counted beyond ours at one point; 0 if it saw none."""
        seen = self.seen.get(point, {}).get(place)
        return seen.beside if seen is not None else 0.0

    def eased(
        self, issues: Sequence[Issue], pairs: Sequence[PairVerdict]
    ) -> tuple[list[Issue], list[PairVerdict]]:
        """Return (issues, pairs) in which failures that other traffic explains are inconclusive,
        and the results that it slowed down name it.
        """
        if not self.seen:
            return list(issues), list(pairs)
        streams = _streams_of(pairs)
        softened = [self._softened(issue, streams) for issue in issues]
        left = {(issue.point, issue.subject) for issue in softened if issue.severity == "fail"}
        eased = {
            (new.point, new.subject)
            for new, old in zip(softened, issues, strict=True)
            if new is not old
        }
        return softened, [
            _eased(pair) if _key(pair) in eased and _key(pair) not in left else pair
            for pair in pairs
        ]

    def _softened(self, issue: Issue, streams: Mapping[Subject, list[PairVerdict]]) -> Issue:
        """Return the issue, inconclusive and with its reason if other traffic explains it."""
        if issue.severity not in ("fail", "inconclusive"):
            return issue
        place, other = self._reason(issue, streams)
        if place is None:
            return issue
        self.excused.add(place)
        message = f"{issue.message}; {self._words(place, other)}"
        return replace(issue, severity="inconclusive", message=message)

    def _reason(
        self, issue: Issue, streams: Mapping[Subject, list[PairVerdict]]
    ) -> tuple[Port | None, float]:
        """Return the place whose other traffic explains most of an issue's results, and its rate
        there.
        """
        results = _results_of(issue, streams)
        if issue.code not in SLOW:
            bent = results if issue.code in _BENT else []
            loud = [(point, self._loud_at(point, subject)) for point, subject, _ in bent]
            return next(
                ((at, self._beside(point, at)) for point, at in loud if at is not None), (None, 0.0)
            )
        _, expected = _numbers(issue)
        rates: dict[Port, list[float]] = defaultdict(list)
        slowed = 0
        for point, subject, value in results:
            crossed = crossed_places(subject).items()
            seen = [(place, self._beside(point, place), back) for place, back in crossed]
            why = [one for one in seen if explains(value, one[1], expected, back=one[2])]
            slowed += bool(why)
            for place, rate, _ in why:
                rates[place].append(rate)
        if slowed <= _MOSTLY * len(results):
            return None, 0.0
        place = max(rates, key=lambda one: len(rates[one]))
        return place, statistics.median(rates[place])

    def _words(self, place: Port, bytes_per_s: float) -> str:
        verb = "sent" if place.direction == "tx" else "received"
        nic = next((seen[place].nic for seen in self.seen.values() if place in seen), "its port")
        return f"meanwhile {nic} of {place.node} {verb} {goodput(bytes_per_s)} of other traffic"

    def named(self, pairs: Sequence[PairVerdict]) -> list[Issue]:
        """Return one issue for each port and direction with other traffic that matters."""
        limits = [
            pair.limit for pair in pairs if pair.limit is not None and pair.unit == "bytes_per_s"
        ]
        least = _SURE_SHARE * max(limits, default=0.0)
        issues: list[Issue] = []
        for place in sorted({place for seen in self.seen.values() for place in seen}, key=str):
            points = sorted(point for point, seen in self.seen.items() if place in seen)
            typical = statistics.median(self.seen[point][place].bytes_per_s for point in points)
            if typical >= least or place in self.excused:
                issues.append(self._issue(place, points, typical))
        return issues

    def _issue(self, place: Port, points: Sequence[int], bytes_per_s: float) -> Issue:
        nic = self.seen[points[0]][place].nic
        used = used_by_others(place, nic, bytes_per_s, "wireproof")
        at = counted(len(points), "point")
        return Issue(
            "other-traffic",
            "inconclusive" if place in self.excused else "warning",
            place,
            f"{used} (at {at}): another job, or another check, uses the port",
            {
                "node": place.node,
                "nic": nic,
                "direction": place.direction,
                "bytes_per_s": bytes_per_s,
            },
            points[0],
            bytes_per_s,
        )


def _beyond(
    ledger: Ledger, name: str, direction: Direction, ours: tuple[float, float]
) -> _Seen | None:
    """Return the bytes at one port that are not ours; None if that is in doubt.

    ``ours``: the fewest and the most bytes that we put on it.
    """
    crossed = crossed_at(ledger, name, direction)
    if crossed.bytes is None or crossed.quality in ("stale", "wrapped") or ledger.interval_ns <= 0:
        return None
    whole, (fewest, most) = crossed.bytes + crossed.background, ours
    beside = max(0.0, whole - most, min(crossed.background, whole - fewest))
    least, seconds = _SURE_SHARE * whole, ledger.interval_ns * 1e-9
    beyond = beside if beside > least else crossed.background
    return _Seen(name, beyond / seconds, beside / seconds) if beyond > least else None


def _resent(reading: WitnessReading | None) -> float:
    """Return the largest number of bytes that the kernel's TCP retransmitted."""
    before, after = reading.counters.get(_RESENT, (0, 0)) if reading is not None else (0, 0)
    return max(0, after - before) * _SEGMENT


def _streams_of(pairs: Iterable[PairVerdict]) -> dict[Subject, list[PairVerdict]]:
    """Map each route, and each port with direction, to the streams that passed it."""
    streams: dict[Subject, list[PairVerdict]] = defaultdict(list)
    for pair in pairs:
        if pair.unit == "bytes_per_s":
            origin, target = pair.origin_host, pair.target_host
            for subject in (pair.route, Port(origin, "tx"), Port(target, "rx")):
                streams[subject].append(pair)
    return streams


def crossed_places(subject: Subject | None) -> dict[Port, bool]:
    """Map each port and direction on the route to whether it carries only acknowledgements: the
    origin's transmit and the target's receive side come first.
    """
    match subject:
        case Port():
            return {subject: False}
        case Node(name=node):
            return {Port(node, "tx"): False, Port(node, "rx"): False}
        case Route(origin=origin, target=target) | Both(one=origin, other=target):
            back = isinstance(subject, Route)
            ways = {Port(origin, "tx"): False, Port(target, "rx"): False}
            return ways | {Port(origin, "rx"): back, Port(target, "tx"): back}
    return {}


def _results_of(
    issue: Issue, streams: Mapping[Subject, list[PairVerdict]]
) -> list[tuple[int, Subject, float]]:
    """Return point, route and rate in bytes/s of each result that an issue calls slow."""
    if issue.point is not None:
        return [(issue.point, issue.subject, _numbers(issue)[0])]
    points = issue.evidence.get("points")
    return [
        (pair.point, pair.route, pair.value)
        for pair in streams.get(issue.subject, [])
        if not isinstance(points, list) or str(pair.point) in points
    ]


def _numbers(issue: Issue) -> tuple[float, float]:
    """Return the reached and the expected rate of a slow result, in bytes/s."""
    evidence = issue.evidence
    for reached, expected in (
        ("slow_bytes_per_s", "other_bytes_per_s"),
        ("value_bytes_per_s", "others_bytes_per_s"),
    ):
        value, usual = evidence.get(reached), evidence.get(expected)
        if isinstance(value, float) and isinstance(usual, float):
            return value, usual
    attainable = evidence.get("attainable_bytes_per_s")
    return -issue.weight, attainable if isinstance(attainable, float) else float("inf")


def _key(pair: PairVerdict) -> tuple[int, Subject]:
    return pair.point, pair.route


def _eased(pair: PairVerdict) -> PairVerdict:
    codes = sorted({*pair.codes, "other-traffic"})
    verdict = "inconclusive" if pair.verdict == "fail" else pair.verdict
    return msgspec.structs.replace(pair, verdict=verdict, codes=codes)
