"""Traffic of others on the ports that were measured: named with port, direction and rate, and never
a fault. Pure.

A port's counters see everything that crosses. What is beyond the payload with its headers, and what
crossed in the quiet windows right before and after a point, is somebody else's: another job, or a
second check. A shortfall that such traffic explains is not known to be one.
"""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from wireproof.analysis.crossed import crossed_at
from wireproof.model.finding import Evidence, PairVerdict, Port, Route, Severity, Subject
from wireproof.model.ledger import Direction, Ledger
from wireproof.model.quantity import goodput
from wireproof.model.record import PointRecord, WitnessReading
from wireproof.verdict.context import Context
from wireproof.verdict.issue import SLOW, Issue
from wireproof.verdict.path.late import explained
from wireproof.verdict.path.proof import Witnessed
from wireproof.verdict.path.questions import busiest

_SURE_SHARE = 0.04  # of what the port carried in all: less may be headers
_LOUD_SHARE = 0.20  # of what is attainable: so much disturbs, whatever the sum is
_NEARLY = 0.95
# of the places of a pair: the others are on the way back, and cost acknowledgements only
_FORWARD = 2
_MILD = 0.6  # of what is expected: more than this traffic on the way back does not take away
_SEGMENT = 1514.0
_RESENT = "ip/Tcp/RetransSegs"


@dataclass(frozen=True, slots=True)
class _Seen:
    """Bytes per second of others at one port and direction, during one point."""

    nic: str
    bytes_per_s: float


def explains(goodput: float, others: float, expected: float) -> bool:
    """Whether traffic of others is reason enough for a goodput below what is expected (bytes/s,
    all).
    """
    return others > 0 and (
        goodput + others >= _NEARLY * expected or others >= _LOUD_SHARE * expected
    )


class Others:
    """Collects what others sent and received at the measured ports, point by point."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.seen: dict[int, dict[Port, _Seen]] = defaultdict(dict)
        self.excused: set[Port] = set()

    def look(self, point: PointRecord, seen: Witnessed) -> None:
        """What crossed the ports of one point beyond its payload."""
        readings = {reading.rank: reading for reading in point.witness}
        for (reader, claimed, direction), due in seen.dues.items():
            ledger = seen.ledgers.get(reader) if reader is not None else None
            if reader is None or ledger is None or due.need < self.ctx.criteria.min_payload_bytes:
                continue
            name = claimed if claimed in ledger.ports else busiest(ledger, [direction])[0]
            own = explained(self.ctx, point, seen, (reader, claimed, direction))
            own += _resent(readings.get(reader))
            found = _beyond(ledger, name, direction, own) if name else None
            if found:
                self.seen[point.id][Port(self.ctx.name(reader), direction)] = _Seen(name, found)

    def rate_at(self, points: Iterable[int], place: Port) -> float:
        """Median bytes/s of others at one place over ``points``; 0 where most of them saw none."""
        found = [
            self.seen[point][place].bytes_per_s if place in self.seen.get(point, {}) else 0.0
            for point in points
        ]
        return statistics.median_high(found) if found else 0.0

    def eased(
        self, issues: Sequence[Issue], pairs: Sequence[PairVerdict]
    ) -> tuple[list[Issue], list[PairVerdict]]:
        """(issues, pairs) with failures that others explain made inconclusive."""
        if not self.seen:
            return list(issues), list(pairs)
        routes = _points_of(pairs)
        softened = [self._softened(issue, routes) for issue in issues]
        left = {(one.point, one.subject) for one in softened if one.severity == "fail"}
        eased = {
            (one.point, one.subject)
            for one, old in zip(softened, issues, strict=True)
            if one is not old
        }
        judged = [
            _eased(pair) if _key(pair) in eased and _key(pair) not in left else pair
            for pair in pairs
        ]
        return softened, judged

    def _softened(self, issue: Issue, routes: Mapping[Subject, list[int]]) -> Issue:
        """A failure that traffic of others explains, as inconclusive."""
        if issue.severity != "fail" or issue.code not in SLOW:
            return issue
        places = _places(issue.subject)
        points = [issue.point] if issue.point is not None else routes.get(issue.subject, [])
        goodput, expected = _numbers(issue)
        for number, place in enumerate(places):
            other = self.rate_at(points, place)
            back = number >= _FORWARD and (
                goodput < _MILD * expected or other < _LOUD_SHARE * expected
            )
            if not back and explains(goodput, other, expected):
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
        """One issue for each port and direction with traffic of others that matters."""
        limits = [
            pair.limit for pair in pairs if pair.limit is not None and pair.unit == "bytes_per_s"
        ]
        least = _SURE_SHARE * max(limits, default=0.0)
        found: list[Issue] = []
        for place in sorted({place for seen in self.seen.values() for place in seen}, key=str):
            points = sorted(point for point, seen in self.seen.items() if place in seen)
            typical = statistics.median(self.seen[point][place].bytes_per_s for point in points)
            if typical >= least or place in self.excused:
                found.append(self._issue(place, points, typical))
        return found

    def _issue(self, place: Port, points: Sequence[int], bytes_per_s: float) -> Issue:
        nic = self.seen[points[0]][place].nic
        verb = "sends" if place.direction == "tx" else "receives"
        text = (
            f"{place.node}: {nic} {verb} {goodput(bytes_per_s)} that wireproof did not send (at "
            f"{len(points)} points): another job, or another check, uses the port"
        )
        evidence: Evidence = {
            "node": place.node,
            "nic": nic,
            "direction": place.direction,
            "bytes_per_s": bytes_per_s,
        }
        severity: Severity = "inconclusive" if place in self.excused else "warning"
        return Issue("other-traffic", severity, place, text, evidence, points[0], bytes_per_s)


def _beyond(ledger: Ledger, name: str, direction: Direction, own: float) -> float:
    """Bytes per second at one port that ``own`` does not explain; 0 where it is not beyond
    doubt.
    """
    crossed = crossed_at(ledger, name, direction)
    if (
        crossed.bytes is None
        or crossed.quality in ("stale", "wrapped", "double")
        or ledger.interval_ns <= 0
    ):
        return 0.0
    whole = crossed.bytes + crossed.background
    beyond = max(crossed.background, whole - own)
    return beyond / (ledger.interval_ns * 1e-9) if beyond > _SURE_SHARE * whole else 0.0


def _resent(reading: WitnessReading | None) -> float:
    """Bytes that were sent again by the kernel's TCP, at most."""
    before, after = reading.counters.get(_RESENT, (0, 0)) if reading is not None else (0, 0)
    return max(0, after - before) * _SEGMENT


def _points_of(pairs: Iterable[PairVerdict]) -> dict[Subject, list[int]]:
    """Route, and node with direction, to the points in which it was streamed."""
    found: dict[Subject, list[int]] = defaultdict(list)
    for pair in pairs:
        if pair.unit == "bytes_per_s":
            origin, target = pair.origin_host, pair.target_host
            for subject in (Route(origin, target), Port(origin, "tx"), Port(target, "rx")):
                found[subject].append(pair.point)
    return found


def _places(subject: Subject) -> list[Port]:
    """Where other traffic would matter: what the origin sends and the target receives, then the
    ways back.
    """
    if isinstance(subject, Route):
        origin, target = subject.origin, subject.target
        return [Port(origin, "tx"), Port(target, "rx"), Port(origin, "rx"), Port(target, "tx")]
    return [subject] if isinstance(subject, Port) else []


def _numbers(issue: Issue) -> tuple[float, float]:
    """(what was reached, what was expected) of a slow one, in bytes/s."""
    evidence = issue.evidence
    for reached, expected in (
        ("slow_bytes_per_s", "other_bytes_per_s"),
        ("value_bytes_per_s", "others_bytes_per_s"),
    ):
        one, other = evidence.get(reached), evidence.get(expected)
        if isinstance(one, float) and isinstance(other, float):
            return one, other
    attainable = evidence.get("attainable_bytes_per_s")
    return -issue.weight, attainable if isinstance(attainable, float) else float("inf")


def _key(pair: PairVerdict) -> tuple[int, Subject]:
    return pair.point, Route(pair.origin_host, pair.target_host)


def _eased(pair: PairVerdict) -> PairVerdict:
    if pair.verdict != "fail":
        return pair
    codes = sorted({*pair.codes, "other-traffic"})
    return msgspec.structs.replace(pair, verdict="inconclusive", codes=codes)
