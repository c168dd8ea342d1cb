"""Other traffic on the measured ports: reported with port, direction and rate, never as a fault.

Pure.

A port's counters see everything that crosses. Bytes beyond the payload with its headers, and bytes
in the quiet windows right before and after a point, belong to another job or a second check. A
shortfall that such traffic can explain is not a proven fault.
"""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from wireproof.analysis.crossed import crossed_at
from wireproof.model.finding import Both, Node, PairVerdict, Port, Route, Subject
from wireproof.model.quantity import goodput
from wireproof.model.record import PointRecord, WitnessReading
from wireproof.model.traffic import Direction, Ledger
from wireproof.verdict.context import Context
from wireproof.verdict.issue import SLOW, Issue
from wireproof.verdict.path import busiest
from wireproof.verdict.path.late import OPPOSITE, explained
from wireproof.verdict.path.proof import Witnessed

_SURE_SHARE = 0.04  # share of all bytes that the port carried: smaller amounts may be headers
_LOUD_SHARE = 0.20  # share of the attainable rate: this much disturbs, whatever the sum is
_NEARLY = 0.95
_MILD = 0.6  # share of the expectation: traffic on the way back never costs more than the rest
_SEGMENT = 1514.0
_RESENT = "ip/Tcp/RetransSegs"


@dataclass(frozen=True, slots=True)
class _Seen:
    """Other traffic at one port in one direction during one point, in bytes/s."""

    nic: str
    bytes_per_s: float


def explains(goodput: float, others: float, expected: float, *, back: bool = False) -> bool:
    """Return whether other traffic explains a goodput below the expectation (all in bytes/s).

    ``back``: it crosses the way of the acknowledgements only.
    """
    if back and (goodput < _MILD * expected or others < _LOUD_SHARE * expected):
        return False
    return others > 0 and (
        goodput + others >= _NEARLY * expected or others >= _LOUD_SHARE * expected
    )


class Others:
    """Collect the other traffic sent and received at the measured ports, point by point."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.seen: dict[int, dict[Port, _Seen]] = defaultdict(dict)
        self.excused: set[Port] = set()

    def look(self, point: PointRecord, seen: Witnessed) -> None:
        """Record what crossed the ports of one point beyond its payload."""
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
            beyond = _beyond(ledger, name, direction, explained_bytes) if name else None
            if beyond:
                self.seen[point.id][Port(self.ctx.name(reader), direction)] = _Seen(name, beyond)

    def rate_at(self, points: Iterable[int], place: Port) -> float:
        """Return the median bytes/s of other traffic at one place; 0 if most ``points`` saw
        none.
        """
        rates = [
            self.seen[point][place].bytes_per_s if place in self.seen.get(point, {}) else 0.0
            for point in points
        ]
        return statistics.median_high(rates) if rates else 0.0

    def eased(
        self, issues: Sequence[Issue], pairs: Sequence[PairVerdict]
    ) -> tuple[list[Issue], list[PairVerdict]]:
        """Return (issues, pairs) in which failures that other traffic explains are inconclusive."""
        if not self.seen:
            return list(issues), list(pairs)
        routes = _points_of(pairs)
        softened = [self._softened(issue, routes) for issue in issues]
        left = {(issue.point, issue.subject) for issue in softened if issue.severity == "fail"}
        eased = {
            (new.point, new.subject)
            for new, old in zip(softened, issues, strict=True)
            if new is not old
        }
        judged = [
            _eased(pair) if _key(pair) in eased and _key(pair) not in left else pair
            for pair in pairs
        ]
        return softened, judged

    def _softened(self, issue: Issue, routes: Mapping[Subject, list[int]]) -> Issue:
        """Return the issue, inconclusive instead of failed if other traffic explains it."""
        if issue.severity != "fail" or issue.code not in SLOW:
            return issue
        points = [issue.point] if issue.point is not None else routes.get(issue.subject, [])
        goodput, expected = _numbers(issue)
        for place, back in crossed_places(issue.subject).items():
            other = self.rate_at(points, place)
            if explains(goodput, other, expected, back=back):
                self.excused.add(place)
                return replace(
                    issue,
                    severity="inconclusive",
                    message=f"{issue.message}; {self._words(place, other)}",
                )
        return issue

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
        verb = "sends" if place.direction == "tx" else "receives"
        return Issue(
            "other-traffic",
            "inconclusive" if place in self.excused else "warning",
            place,
            f"{place.node}: {nic} {verb} {goodput(bytes_per_s)} that wireproof did not send (at "
            f"{len(points)} points): another job, or another check, uses the port",
            {
                "node": place.node,
                "nic": nic,
                "direction": place.direction,
                "bytes_per_s": bytes_per_s,
            },
            points[0],
            bytes_per_s,
        )


def _beyond(ledger: Ledger, name: str, direction: Direction, own: float) -> float:
    """Return bytes per second at one port that ``own`` bytes do not explain; 0 if that is in
    doubt.
    """
    crossed = crossed_at(ledger, name, direction)
    if crossed.bytes is None or crossed.quality in ("stale", "wrapped") or ledger.interval_ns <= 0:
        return 0.0
    whole = crossed.bytes + crossed.background
    beyond = max(crossed.background, whole - own)
    return beyond / (ledger.interval_ns * 1e-9) if beyond > _SURE_SHARE * whole else 0.0


def _resent(reading: WitnessReading | None) -> float:
    """Return the largest number of bytes that the kernel's TCP retransmitted."""
    before, after = reading.counters.get(_RESENT, (0, 0)) if reading is not None else (0, 0)
    return max(0, after - before) * _SEGMENT


def _points_of(pairs: Iterable[PairVerdict]) -> dict[Subject, list[int]]:
    """Map each route and each port with direction to the points in which it was streamed."""
    points: dict[Subject, list[int]] = defaultdict(list)
    for pair in pairs:
        if pair.unit == "bytes_per_s":
            origin, target = pair.origin_host, pair.target_host
            for subject in (Route(origin, target), Port(origin, "tx"), Port(target, "rx")):
                points[subject].append(pair.point)
    return points


def crossed_places(subject: Subject | None) -> dict[Port, bool]:
    """Map each port and direction where other traffic would matter to whether it carries only
    acknowledgements: the origin's sending and the target's receiving first.
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
    if pair.verdict != "fail":
        return pair
    codes = sorted({*pair.codes, "other-traffic"})
    return msgspec.structs.replace(pair, verdict="inconclusive", codes=codes)
