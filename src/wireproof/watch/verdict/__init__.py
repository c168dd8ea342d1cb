# pure
"""Judge the path of a command whose ports were watched while it ran (``wireproof prove``).

Pure.
"""

import math
from collections.abc import Sequence

from wireproof.ledger.traffic_printed import printed
from wireproof.model.claim import Claim, Criteria
from wireproof.model.finding import Proof, Verdict
from wireproof.model.quantity import volume
from wireproof.model.series import Reason, Series
from wireproof.model.traffic import Printed, Traffic, TrafficVerdict
from wireproof.verdict.path import may_have_wrapped, turned_round
from wireproof.watch.verdict.beside import (
    beside,
    far_below,
    limit,
    one_place,
    other_protocol,
    rail_reasons,
    troubles,
    undecided,
    unknown_adapter,
    unread,
)
from wireproof.watch.verdict.carried import NOTHING, START_UP_BYTES, Carried, reason
from wireproof.watch.verdict.doubts import RATE_SEEN, Doubts, Repetitions
from wireproof.watch.verdict.ports import WatchedPorts

__all__ = ["judge_traffic"]


# --- Does the traffic of the ports explain the printed numbers? Pure: equal readings give equal
# answers.

ABSENT = 0.05
MOST_OF_IT = 0.90
FAR_BELOW = 0.10
HARDLY_S = 0.01
VISIBLE_INTERVALS = 2.5

_VERDICT: dict[Proof, Verdict] = {
    "on-wire": "pass",
    "off-wire": "fail",
    "wrong-path": "fail",
    "mixed": "fail",
    "unproven": "inconclusive",
}


def judge_traffic(
    traffic: Traffic,
    series: Sequence[Series],
    claim: Claim,
    exit_status: int = 0,
) -> TrafficVerdict:
    """Return proof and verdict of one watched command, which ended with ``exit_status``.

    The proof is ``unproven`` without a readable counter or an expected byte.
    """
    claims = printed(series, visible_s=VISIBLE_INTERVALS * traffic.interval_s)
    judged = _Judged(traffic, claims, series, claim, exit_status)
    criteria = Criteria()
    proof, reasons = judged.proof(criteria)
    attainable, derivation = limit(claim)
    line = claim.link.line_rate if claim.link else None
    if proof == "on-wire" and judged.printed is not None:
        reasons += other_protocol(judged.ports, claim.link, judged.printed.least_bytes)
    reasons += beside(traffic, judged.ports, judged.claimed, attainable, line)
    if proof == "on-wire":
        reasons += rail_reasons(judged.ports, claim.link, criteria)
        reasons += far_below(series, claim.link)
        reasons += one_place(judged.ports, judged.claimed)
    reasons += troubles(traffic)
    return TrafficVerdict(
        proof=proof,
        verdict=_verdict(proof, claim, reasons),
        reasons=reasons,
        port=", ".join(judged.claimed.names) or judged.claimed_names,
        crossed_bytes=judged.claimed.bytes if judged.ports.hosts else None,
        peak_bytes_per_s=judged.claimed.peak if judged.ports.hosts else None,
        attainable_bytes_per_s=attainable,
        printed=judged.printed,
        level=judged.claimed.level,
        quality=judged.claimed.quality,
        derivation=[*(judged.printed.arithmetic if judged.printed else ()), *derivation],
    )


def _verdict(proof: Proof, claim: Claim, reasons: Sequence[Reason]) -> Verdict:
    if proof == "off-wire" and claim.link and claim.link.protocol in ("shm", "loopback"):
        return "pass"  # as claimed
    contradicted = proof == "on-wire" and any(reason.severity == "fail" for reason in reasons)
    return "fail" if contradicted else _VERDICT[proof]


class _Judged:
    """The sorted evidence; each method answers one question."""

    def __init__(
        self,
        traffic: Traffic,
        claims: Printed | None,
        series: Sequence[Series],
        claim: Claim,
        exit_status: int,
    ) -> None:
        self.traffic, self.printed, self.series, self.claim = traffic, claims, series, claim
        self.exit_status = exit_status
        # a table of rates adds up the bytes of pairs, each of which may span two hosts
        pairs = max((table.pairs for table in series if table.traffic == "rate"), default=1)
        # each message of a ping-pong is answered by an equal message
        both_ways = bool(series) and all(table.traffic == "pingpong" for table in series)
        self.ports = WatchedPorts(traffic, claim, both_ways=both_ways, pairs=pairs)
        if self.ports.missing():
            self.claimed = self.other = self.loopback = NOTHING
            return
        self.claimed = self.ports.carried("claimed")
        self.other = self.ports.carried("other")
        self.loopback = self.ports.carried("loopback")
        # a port into a container is not the whole path to another machine
        self._between_machines = not self.claimed_names and len(self.ports.places()) > 1

    def proof(self, criteria: Criteria) -> tuple[Proof, list[Reason]]:
        proof, reasons = self._proof(criteria)
        names = unread(self.traffic, self.ports)
        if proof not in ("off-wire", "mixed") or not names or self.printed is None:
            return proof, reasons
        wanted, seen = self.printed.least_bytes, self.claimed.bytes
        return "unproven", [
            reason(
                "traffic-unwatched",
                f"the printed results imply at least {volume(wanted)}, {volume(seen)} crossed "
                f"{self._claimed_ports()}, and {names}, whose ports were not read, may have carried"
                " the rest: give all hosts to --hosts.",
                {"hosts": names, "crossed_bytes": seen},
            )
        ]

    def _proof(self, criteria: Criteria) -> tuple[Proof, list[Reason]]:
        if not self.ports.hosts:
            return "unproven", [
                reason("traffic-unreadable", "no host has readings before and after the command.")
            ]
        if lost := self.ports.missing():
            return "unproven", [
                reason(
                    "traffic-unreadable",
                    f"{lost[0].host} has no port called {lost[1]}; its ports are "
                    f"{', '.join(port.nic for port in lost[0].ports[:20])}.",
                    {"nic": lost[1], "host": lost[0].host},
                )
            ]
        if unknown := self.ports.unknown():
            return "unproven", [unknown_adapter(*unknown)]
        if self.printed is None:
            return "unproven", [self._without_number()]
        wanted = self.printed.least_bytes
        if wanted < 2 * START_UP_BYTES and not self.claimed.below(ABSENT * wanted):
            return self._by_rate(self.printed, wanted)
        if self.claimed.covers(criteria.on_wire_min * wanted, self.ports.late_share()):
            return self._doubted(self.printed, wanted, criteria)
        return self._shortage(wanted, criteria)

    def _doubt(self, claims: Printed) -> Reason | None:
        return Doubts(self.traffic, claims, self.series, self.claim, self.ports).first()

    def _doubted(
        self, claims: Printed, wanted: float, criteria: Criteria
    ) -> tuple[Proof, list[Reason]]:
        """Judge a command with enough bytes, unless they may not be the program's."""
        proof, reasons = self._rate(claims, wanted, criteria)
        doubt = self._doubt(claims)
        return (proof, reasons) if proof != "on-wire" or doubt is None else ("unproven", [doubt])

    def _by_rate(self, claims: Printed, wanted: float) -> tuple[Proof, list[Reason]]:
        """Judge by the printed rate: the rows account for too few bytes to separate from start-up
        traffic.
        """
        rate = None if claims.counted else claims.rate_bytes_per_s
        if rate is None:
            return self._too_little(wanted)
        summary = (
            f"{volume(rate)}/s was printed, and the peak of {self._claimed_ports()} was "
            f"{volume(self.claimed.peak)}/s"
        )
        seen = {
            "printed_bytes_per_s": rate,
            "peak_bytes_per_s": self.claimed.peak,
            "crossed_bytes": self.claimed.bytes,
        }
        if self._bears_out(self.claimed, rate):
            doubt = self._doubt(claims)
            if doubt is not None:
                return "unproven", [doubt]
            text = f"{summary}: {volume(self.claimed.bytes)} crossed."
            return "on-wire", [reason("traffic-on-wire", text, seen, "note")]
        if not self._hardly_moved(rate):
            return self._too_little(wanted)
        if self._bears_out(self.other, rate):
            text = f"{summary}; {', '.join(self.other.names)} had {volume(self.other.peak)}/s."
            return "wrong-path", [reason("traffic-wrong-path", text, seen)]
        if self._bears_out(self.loopback, rate):
            return "off-wire", [
                reason(
                    "traffic-loopback",
                    f"{summary}; loopback (within a host): {volume(self.loopback.peak)}/s.",
                    seen,
                )
            ]
        return "off-wire", [reason("traffic-rate-above-peak", f"{summary}.", seen)]

    def _bears_out(self, carried: Carried, rate: float) -> bool:
        return self.ports.own_peak(carried) >= RATE_SEEN * rate and carried.at_least(
            2 * START_UP_BYTES
        )

    def _hardly_moved(self, rate: float) -> bool:
        """Return whether the peak stayed below a tenth of the printed rate and the total below 10
        ms at that rate.
        """
        return (
            not self.claimed.trouble
            and self.claimed.rate < FAR_BELOW * rate
            and self.claimed.below(HARDLY_S * rate)
            and self.claimed.below(16 * START_UP_BYTES)
        )

    def _too_little(self, wanted: float) -> tuple[Proof, list[Reason]]:
        return "unproven", [
            reason(
                "traffic-too-little",
                f"the printed rows account for at least {volume(wanted)}; less than"
                f" {volume(2 * START_UP_BYTES)} cannot be separated from the start-up traffic of"
                " the programs.",
                {"least_bytes": wanted},
            )
        ]

    def _without_number(self) -> Reason:
        text = (
            f"the command ended with status {self.exit_status} and printed no number that"
            f" wireproof recognises; {self._seen_instead()}. See its output for the cause."
            if self.exit_status
            else f"{self._seen_instead()}, and the command printed no number that wireproof"
            " recognises: there is nothing to compare."
        )
        seen = {"crossed_bytes": self.claimed.bytes, "loopback_bytes": self.loopback.bytes}
        return reason("traffic-no-number", text, seen)

    def _seen_instead(self) -> str:
        """Summarise the relevant traffic of each port."""
        claimed = volume(self.claimed.bytes)
        if self._dwarfs(self.other):
            return f"{claimed} crossed {self._claimed_ports()}{self._elsewhere()}"
        if self._dwarfs(self.loopback):
            return f"{volume(self.loopback.bytes)} went over loopback, {claimed} over a port"
        names = ", ".join(self.claimed.names)
        return f"{claimed} crossed {names}" if names else "nothing crossed a port"

    def _dwarfs(self, carried: Carried) -> bool:
        return carried.bytes > START_UP_BYTES and self.claimed.bytes < ABSENT * carried.bytes

    def _shortage(self, wanted: float, criteria: Criteria) -> tuple[Proof, list[Reason]]:
        """Judge a command with fewer bytes on the claimed port than the results imply."""
        proof, code, what = self._missing(wanted, criteria)
        return proof, [
            reason(
                code,
                f"the printed results imply at least {volume(wanted)} in one direction, "
                f"{volume(self.claimed.bytes)} crossed {self._claimed_ports()}{what}.",
                {
                    "least_bytes": wanted,
                    "crossed_bytes": self.claimed.bytes,
                    "other_bytes": self.other.bytes,
                    "loopback_bytes": self.loopback.bytes,
                },
            )
        ]

    def _missing(self, wanted: float, criteria: Criteria) -> tuple[Proof, str, str]:
        """Return proof, code and the sentence about the bytes missing from the claimed port."""
        most = criteria.on_wire_min * wanted
        if not self.claimed.below(most):
            return undecided(self.ports, self.claimed)
        if hidden := self.ports.unplaced(ABSENT * wanted + START_UP_BYTES):
            return (
                "unproven",
                "traffic-unreadable",
                f", and the port below {hidden} is hidden, so other ports may count the same bytes",
            )
        absent = self.claimed.below(ABSENT * wanted + min(START_UP_BYTES, wanted / 2))
        instead = self._by_other_ports(wanted, absent=absent)
        if instead and not self.ports.restarted():
            return "wrong-path", "traffic-wrong-path", instead
        code, text = self._open(most)
        if code:
            return "unproven", code, text
        inside = self.claimed.inside
        if inside is not None and turned_round(inside, self.claimed.upper, wanted, most):
            turned = f": the adapter's internal switch returned {volume(inside)}"
            return "off-wire", "traffic-inside-adapter", turned
        if dark := self.ports.dark():
            return "unproven", "traffic-unreadable", f"; {dark} may have carried the rest uncounted"
        some = ABSENT * wanted + START_UP_BYTES
        all_elsewhere = not self.other.below(MOST_OF_IT * wanted)  # perhaps
        if self.claimed.at_least(some) or (self.other.at_least(some) and not all_elsewhere):
            return "mixed", "traffic-mixed", f"{self._elsewhere()}: {self._rest(most)}"
        if self.loopback.at_least(MOST_OF_IT * wanted):
            looped = f": {volume(self.loopback.bytes)} went over loopback, within one host"
            return "off-wire", "traffic-loopback", looped
        if not absent or not self.other.below(some):
            return undecided(self.ports, max(self.claimed, self.other, key=lambda one: one.unsure))
        return "off-wire", "traffic-off-wire", ": the messages went through memory, not over a wire"

    def _rest(self, most: float) -> str:
        """Return a phrase about the bytes that did not cross the claimed port."""
        whole = self.claimed.bytes + self.other.bytes >= most
        return "some took another path" if whole else "the rest went through memory or loopback"

    def _open(self, most: float) -> tuple[str, str]:
        """Return code and sentence if the counters cannot show what is missing; else ""."""
        claimed, trouble = self.claimed, self.claimed.trouble
        peak_bytes = claimed.rate * self.traffic.seconds or math.inf
        seen, more = claimed.bytes, claimed.bytes + 1.0
        if may_have_wrapped(claimed.wrap_bytes, seen, more, peak_bytes, claimed.packets):
            trouble = trouble or "its 32-bit value may have wrapped"
        if trouble:
            return "traffic-unreadable", f", but one of its counters cannot be read ({trouble})"
        if self._between_machines and self.other.at_least(most):
            inner = ", ".join(self.other.names)
            return "traffic-unreadable", f"; the other end of {inner} may be on this machine"
        if any(end.at_least(most) for end in self.ports.sent_and_received("claimed")):
            return (
                "ends-disagree",
                ": one end counted all of these bytes, and the other fewer",
            )
        return "", ""

    def _by_other_ports(self, wanted: float, *, absent: bool) -> str:
        """Return the sentence if another port carried the bytes, at one end or both; else ""."""
        if self._between_machines:
            return ""
        if self.other.at_least(MOST_OF_IT * wanted) and absent:
            return f": {', '.join(self.other.names)} carried {volume(self.other.bytes)}"
        claimed = self.ports.sent_and_received("claimed")
        others = self.ports.sent_and_received("other")
        for here, there in ((0, 1), (1, 0)):
            used, missed, instead = claimed[here], claimed[there], others[there]
            if (
                used.at_least(MOST_OF_IT * wanted)
                and missed.below(ABSENT * wanted + min(START_UP_BYTES, wanted / 2))
                and instead.at_least(MOST_OF_IT * wanted)
            ):
                return (
                    f" at both ends: {volume(used.bytes)} crossed {', '.join(used.names)} at one"
                    f" end, and {volume(instead.bytes)} crossed {', '.join(instead.names)} at the"
                    " other"
                )
        return ""

    def _rate(
        self, claims: Printed, wanted: float, criteria: Criteria
    ) -> tuple[Proof, list[Reason]]:
        """Judge by the rate: enough bytes crossed, but without printed iterations the peak must
        also confirm the printed rate.
        """
        crossed, rate = self.claimed.bytes, claims.rate_bytes_per_s
        implied = f"the printed results imply at least {volume(wanted)} in one direction"
        text = f"{implied}, {volume(crossed)} crossed"
        enough = {"least_bytes": wanted, "crossed_bytes": crossed}
        summary = f"{text} {self._claimed_ports()}."
        again = Repetitions(self.ports, self.claimed, claims)
        fine = reason("traffic-on-wire", summary + again.unbounded(), enough, "note")
        usual = claims.counted or again.as_usual(criteria.on_wire_min)
        if rate is None and usual and not again.far_above():
            return "on-wire", [fine]
        shown = rate or claims.slowest_bytes_per_s
        if shown and self.ports.own_peak(self.claimed) >= RATE_SEEN * shown:
            return "on-wire", [fine]
        if rate is None:
            whose = again.whose_bytes(wanted, self.traffic, self.series)
            return "unproven", [reason("traffic-rate-unseen", f"{summary} {whose}", enough)]
        seen = {
            "printed_bytes_per_s": rate,
            "peak_bytes_per_s": self.claimed.peak,
            "interval_s": self.traffic.interval_s,
        }
        span = (
            f"{volume(self.claimed.peak)}/s is the highest rate of {self._claimed_ports()} in any"
            f" {self.traffic.interval_s * 1000:.0f} ms"
            if self.claimed.peak
            else f"no two readings show a rate of {self._claimed_ports()}"
        )
        summary = f"{volume(rate)}/s was printed, {span}"
        if again.as_repeated(wanted, criteria.on_wire_min):
            return "on-wire", [
                fine,
                reason("traffic-rate-unseen", f"{summary}; all bytes crossed.", seen, "warning"),
            ]
        if self._hardly_moved(rate):
            return "off-wire", [reason("traffic-rate-above-peak", f"{summary}, in {text}.", seen)]
        short = f"{summary}. {again.whose_bytes(wanted, self.traffic, self.series)}"
        return "unproven", [reason("traffic-rate-unseen", short, seen)]

    def _claimed_ports(self) -> str:
        return self.claimed_names or ", ".join(self.claimed.names) or "any port"

    @property
    def claimed_names(self) -> str:
        """Return the claimed ports by the names on their hosts; "" without a claim."""
        names = {self.ports.claimed_name(host) for host in self.ports.hosts} - {""}
        return ", ".join(sorted(names))

    def _elsewhere(self) -> str:
        names = ", ".join(self.other.names)
        return f", {volume(self.other.bytes)} crossed {names}" if names else ""
