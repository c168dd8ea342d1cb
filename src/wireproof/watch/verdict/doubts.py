# pure
"""Check whether the bytes on the claimed port were the program's: the doubts, strongest first, and
the bytes that its printed or usual repetitions account for. Pure.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from wireproof.logs.verdict import judge_series
from wireproof.model.claim import Claim, LinkClaim
from wireproof.model.quantity import volume
from wireproof.model.series import Reason, Series
from wireproof.model.traffic import HostTraffic, Ledger, Printed, Traffic
from wireproof.physics.from_port import link_of_port
from wireproof.verdict.path import (
    could_carry,
    inside_adapter,
    is_masked,
    is_on_air,
    lacks_packets,
    mostly,
)
from wireproof.watch.verdict.carried import (
    FAINT,
    PLACES,
    START_UP_BYTES,
    Carried,
    reason,
)
from wireproof.watch.verdict.ports import WatchedPorts

_MOST = 0.98
_BURST_SEEN = 0.6
"""Share of a row's rate that the busiest reading must show: the printed time may leave out pauses
between repetitions.
"""
_ABOVE_LINE = 1.5  # times the line rate: bursts into a queue reach 1.2
RATE_SEEN = 0.70  # a reading that is partly idle shows less than the true peak
_ABOVE, _ABOVE_BOTH_WAYS = 3.0, 2.0
"""Factor by which a peak may exceed the rows: a row's time is a mean, so hosts that stall now and
then are faster in between. For a ping-pong, the quieter direction counts.
"""

_MOSTLY = 0.9
"""Share of the claimed ports' bytes: the rest may be between hosts of one machine."""
_ANSWERS = 0.2
"""Share of a stream's bytes that may come back: acknowledgements of 1500 byte frames are 5 %."""
_AS_COUNTED = 1.25
"""Factor on the printed byte count: room for headers and retransmissions, not for other traffic."""
_WITH_HEADERS = 1.06
_OF_A_PACKET = 100.0
"""Factor on the printed byte count: TCP headers in frames of 1500 bytes, and the headers of a
message that is a separate packet.
"""
MANY_TIMES = 3.0
"""Factor on the printed bytes: a log of both ends may list a run twice; retransmissions add
less."""

CHANGES = 4.0
"""Number of counter refreshes that are needed to show a rate."""


class Doubts:
    """A watched command whose bytes all appear on the port."""

    def __init__(
        self,
        traffic: Traffic,
        claims: Printed,
        series: Sequence[Series],
        claim: Claim,
        ports: WatchedPorts,
    ) -> None:
        self.traffic, self.printed, self.series, self.claim, self.ports = (
            traffic,
            claims,
            series,
            claim,
            ports,
        )
        self.claimed = ports.carried("claimed")

    def first(self) -> Reason | None:
        """Return the strongest doubt, or None."""
        for question in (
            self._radio,
            self._one_host,
            self._one_place,
            self._one_adapter,
            self._above_the_rows,
            self._more_than_counted,
            self._back,
            self._packets,
            self._bursts,
            self._numbers,
            self._rival,
            self._stray,
        ):
            doubt = question()
            if doubt is not None:
                return doubt
        return None

    def _busiest(self) -> list[tuple[Ledger, str]]:
        """Return the claimed port of each host; without a claim, the port with the most traffic."""
        ends = [(self.ports.ledger(host), self.ports.busiest(host)[0]) for host in self.ports.hosts]
        return [(ledger, name) for ledger, name in ends if name in ledger.ports]

    def _radio(self) -> Reason | None:
        radios = [name for ledger, name in self._busiest() if is_on_air(ledger, name)]
        if not radios:
            return None
        return reason(
            "traffic-adapter-unknown",
            f"{', '.join(radios)} is a Wi-Fi interface: its traffic crossed no wire.",
            {"nic": ", ".join(radios)},
        )

    def _one_host(self) -> Reason | None:
        """Doubt traffic that one host sends and receives while all others are silent.

        The command's payload would also cross a port of another host.
        """
        if len(self.ports.hosts) < 2:
            return None
        host, most = self.ports.answered()
        if most >= _MOSTLY * self.claimed.bytes:
            return None
        return reason(
            "traffic-not-its-own",
            f"{volume(self.claimed.bytes)} crossed the port of {host} in each direction, and the "
            f"ports of all other hosts moved {volume(most)} beyond their background: other traffic "
            "was on it.",
            {"host": host, "most_bytes": most},
        )

    def _one_place(self) -> Reason | None:
        """Doubt bytes between two namespaces of one kernel or functions of one adapter: they need
        no wire.
        """
        shared = self.ports.mates()
        if not shared or self.claimed.level == "wire":
            return None
        least = max(
            _MOST * self.printed.least_bytes, _MOSTLY * self.claimed.bytes, 2 * START_UP_BYTES
        )
        left = self.ports.left()
        if left.at_least(least):
            return None
        hosts = "; ".join(shared)
        code = sorted(shared.values())[-1]  # a kernel, if one is shared
        return reason(
            code,
            f"{hosts}: {PLACES[code]}, and no counter of a physical port shows that the bytes left "
            f"it; only {volume(left.bytes)} of {volume(self.claimed.bytes)} certainly did.",
            {"hosts": hosts, "left_bytes": left.bytes},
        )

    def _above_the_rows(self) -> Reason | None:
        """Doubt a peak above the rows' maximum rate on a port: an unknown part of it is other
        traffic. A stream that stalled most of the time peaks far above its average; its printed
        byte count decides.
        """
        most, peak = self.printed.most_bytes_per_s, self.claimed.rate
        if self._is_as_counted():
            return None
        above = _ABOVE_BOTH_WAYS if self.ports.both_ways else _ABOVE
        if most is None or peak <= above * most + START_UP_BYTES / self.traffic.interval_s:
            return None
        return reason(
            "traffic-not-its-own",
            f"the printed rows put at most {volume(most)}/s on one direction of a port, but "
            f"{', '.join(self.claimed.names)} peaked at {volume(peak)}/s: other traffic was on it.",
            {"most_peak": most, "peak": peak},
        )

    def _is_as_counted(self) -> bool:
        """Return whether a stream's printed byte count leaves no room for other traffic."""
        counted = self.printed.counted and not self.ports.both_ways
        return counted and self.claimed.below(_AS_COUNTED * self.printed.least_bytes)

    def _more_than_counted(self) -> Reason | None:
        """Doubt the bytes if they are several times those of the printed repetitions of ping-pongs
        and collectives: they may all be other traffic.
        """
        most, crossed = self.printed.most_bytes, self.claimed.bytes
        if most is None or crossed <= MANY_TIMES * most + 4 * START_UP_BYTES:
            return None
        return reason(
            "traffic-not-its-own",
            (
                f"the printed repetitions move at most {volume(most)} in one direction, but "
                f"{volume(crossed)} crossed {', '.join(self.claimed.names)}: other traffic was on "
                "it."
            ),
            {"most_bytes": most, "crossed_bytes": crossed},
        )

    def _back(self) -> Reason | None:
        """Doubt a stream if more than acknowledgements came back: other jobs that exchange data
        also sent about as much in its direction, and the stream may have sent that much less.
        """
        one_way = all(table.traffic == "stream" and table.directions < 2 for table in self.series)
        if not one_way or len(self.ports.hosts) != 2:
            return None
        back = WatchedPorts(self.traffic, self.claim, both_ways=True).carried("claimed")
        rate = 0.0 if self.printed.counted else self.printed.rate_bytes_per_s or 0.0
        bytes_left, rate_left = self.claimed.bytes - back.bytes, self.claimed.rate - back.rate
        enough = bytes_left >= _MOST * self.printed.least_bytes and rate_left >= RATE_SEEN * rate
        if enough or back.bytes <= _ANSWERS * self.claimed.bytes + START_UP_BYTES:
            return None
        return reason(
            "traffic-not-its-own",
            f"the command streams in one direction, but {volume(back.bytes)} came back over"
            f" {', '.join(back.names)}: other traffic was on it, and part of the "
            f"{volume(self.claimed.bytes)} may also be other traffic.",
            {"back_bytes": back.bytes, "crossed_bytes": self.claimed.bytes},
        )

    def _one_adapter(self) -> Reason | None:
        """Doubt functions of one adapter: its switch may have carried all bytes.

        A counter that this host is not allowed to read looks the same as a port that moved nothing.
        """
        places = [set().union(*map(self.ports.adapters, mates)) for mates in self.ports.places()]
        masked = (is_masked(*end) for end in self._busiest())
        if not inside_adapter(self.claimed.level, places, masked):
            return None
        return reason(
            "traffic-one-adapter",
            "the ports may be functions of one adapter, and no counter of its physical port shows "
            "that the traffic left it.",
        )

    def _packets(self) -> Reason | None:
        """Doubt the bytes if there are fewer packets than messages: each message of a ping-pong is
        a separate packet."""
        due, seen = self.printed.least_packets, self.claimed.packets
        if seen is None or not lacks_packets(seen, due, _MOST):
            return None
        return reason(
            "traffic-not-its-own",
            (
                f"the printed rows are {due:.0f} messages that cannot be merged, but {seen:.0f} "
                f"packets crossed {', '.join(self.claimed.names)}: other traffic was on it."
            ),
            {"least_packets": due, "packets": seen},
        )

    def _bursts(self) -> Reason | None:
        """Doubt the bytes if no reading has the peak that a row requires: its bytes cross within
        its time."""
        if not self.claimed.peak:
            return None
        window_s = max(self.traffic.window_s, self.ports.refresh_s())
        for size, seconds in self.printed.bursts:
            least = _BURST_SEEN * size / (seconds + 2 * window_s)
            if self.claimed.rate < least:
                return reason(
                    "traffic-not-its-own",
                    f"a row moves {volume(size)} within {seconds * 1e3:.3g} ms, so at least one "
                    "reading must show"
                    f" at least {volume(least)}/s; {', '.join(self.claimed.names)} never exceeded"
                    f" {volume(self.claimed.rate)}/s: its bytes are other traffic.",
                    {"least_peak": least, "peak": self.claimed.rate},
                )
        return None

    def _link(self) -> LinkClaim | None:
        if self.claim.link is not None:
            return self.claim.link
        links = [self._link_of(host) for host in self.ports.hosts]
        known = [link for link in links if link is not None and link.line_rate]
        return (
            min(known, key=lambda link: link.line_rate or 0.0)
            if known and len(known) == len(links)
            else None
        )

    def _link_of(self, host: HostTraffic) -> LinkClaim | None:
        """Return the link of the port with the most traffic, for the protocol that carried its
        bytes."""
        name, crossed = self.ports.busiest(host)
        ports = self.ports.ledger(host).ports
        if crossed is None:
            return None
        carrier = mostly(dict(crossed.by), self.printed.least_bytes) or "any"
        return link_of_port(ports[name].nic, carrier, [port.nic for port in ports.values()])

    def _numbers(self) -> Reason | None:
        """Doubt a number that no wire of this kind allows, whatever traffic the port carried
        meanwhile.
        """
        link = self._link()
        other = "the bytes on the port are other traffic."
        if link is not None and self._is_faster(link):
            names, peak = ", ".join(self.claimed.names), volume(self.claimed.rate)
            other = f"{names} itself carried {peak}/s, so the link may be faster than claimed."
        for table in self.series:
            judged = judge_series(table, link)
            if judged.proof == "off-wire":
                why = next(
                    (doubt.message for doubt in judged.reasons if doubt.severity == "fail"), ""
                )
                return reason(
                    "traffic-contradicted",
                    f"{table.tool} {table.benchmark}: {why}; {other}",
                )
        return None

    def _is_faster(self, link: LinkClaim) -> bool:
        """Return whether the port was above the link's line rate, and as fast as the rows."""
        rate, line = self.printed.rate_bytes_per_s or math.inf, link.line_rate or math.inf
        least = max(RATE_SEEN * rate, _ABOVE_LINE * line / 8)
        return self.ports.own_peak(self.claimed) >= least

    def _rival(self) -> Reason | None:
        """Doubt the path if another port moved as many bytes and packets at the printed rate."""
        other, rate = self.ports.carried("other"), self.printed.rate_bytes_per_s or 0.0
        due = self.printed.least_bytes, self.printed.least_packets
        sure = other.bytes - other.unsure
        if other.peak < RATE_SEEN * rate or not could_carry(sure, other.packets, *due, _MOST):
            return None
        return reason(
            "traffic-rival-port",
            f"{', '.join(other.names)} also carried {volume(other.bytes)}: the program may have "
            "used either path.",
            {"other_bytes": other.bytes},
        )

    def _stray(self) -> Reason | None:
        """Doubt a printed byte count that differs from the claimed port's count if another port
        moved part of the bytes: other traffic on the claimed port may hide that part.
        """
        least, other = self.printed.least_bytes, self.ports.carried("other")
        part = max(FAINT * least, START_UP_BYTES)
        if not self.printed.counted or other.bytes - other.unsure < part:
            return None
        headers = _OF_A_PACKET * self.printed.least_packets + START_UP_BYTES
        if least <= self.claimed.bytes <= _WITH_HEADERS * least + headers:
            return None
        return reason(
            "traffic-rival-port",
            f"{volume(least)} was printed, and {volume(self.claimed.bytes)} crossed"
            f" {', '.join(self.claimed.names)} while {', '.join(other.names)} carried"
            f" {volume(other.bytes)}: part of that traffic may belong to the program.",
            {"other_bytes": other.bytes, "least_bytes": least},
        )


@dataclass(frozen=True)
class Repetitions:
    """The printed rows, and the traffic of the claimed ports."""

    ports: WatchedPorts
    claimed: Carried
    printed: Printed

    def as_usual(self, share: float) -> bool:
        """Return whether the bytes suffice for the usual repetitions of rows without a rate, such
        as those of collectives.
        """
        usual = self.printed.repeated_bytes
        return usual is not None and self.claimed.covers(share * usual[0], self.ports.late_share())

    def far_above(self) -> bool:
        """Return whether far more bytes crossed than all repetitions account for, so that another
        job must have sent the rest."""
        most = self._most()
        return most is not None and self.claimed.bytes > MANY_TIMES * most + 4 * START_UP_BYTES

    def _most(self) -> float | None:
        return self.printed.repeated_bytes[1] if self.printed.repeated_bytes else None

    def unbounded(self) -> str:
        """Return a sentence if nothing bounds the bytes of collectives from above; else ""."""
        if self.printed.rate_bytes_per_s is not None or self._most() is not None:
            return ""
        return (
            " The number of processes is unknown, so another job's bytes may be among them: start"
            " the launcher directly, so that its -n is known."
        )

    def as_repeated(self, wanted: float, share: float) -> bool:
        """Return whether the bytes match the rows' repetitions with little to spare, which is proof
        without the rate. More bytes may belong entirely to another flow, fewer may be only part of
        the command's. Another flow may also send many acknowledgements, so a ping-pong's
        repetitions must be printed.
        """
        if self.ports.both_ways:
            if self.printed.most_bytes is None or wanted < 4 * START_UP_BYTES:
                return False
            return self.claimed.below(2 * self.printed.most_bytes + START_UP_BYTES)
        most = self._most()
        if most is None:
            return False
        return self.as_usual(share) and self.claimed.below(most + 4 * START_UP_BYTES)

    def whose_bytes(self, implied: float, traffic: Traffic, series: Sequence[Series]) -> str:
        """Return a sentence on the possible origins of the bytes, and on the evidence that would
        settle it."""
        rows = f"the rows account for {volume(implied)}"
        if self.printed.repeated_bytes is not None and not self.ports.both_ways:
            least, most = self.printed.repeated_bytes
            kind = "printed" if self.printed.counted else "tool's usual"
            span = f" to {volume(most)}" if most is not None else " or more"
            rows = f"the {kind} repetitions account for {volume(least)}{span}"
        seconds = CHANGES * max(self.ports.refresh_s(), traffic.window_s)
        advice = ""
        if any(table.tool == "osu" for table in series) and not self.printed.counted:
            advice = (
                "start OSU's program directly, not in a script, so that wireproof sees its -i, or "
            )
        return (
            f"{volume(self.claimed.bytes)} crossed and {rows}, so the bytes may be another job's "
            f"or a part of the command's: {advice}let each size run for {seconds:.2g} s or longer "
            "(-i, -iter, -t)."
        )
