"""Enough bytes crossed the claimed port; were they the program's? Reasons to doubt it, the
strongest first. Pure.
"""

from collections.abc import Sequence

from wireproof.analysis.relations import is_tunnel
from wireproof.model.claim import Claim, LinkClaim
from wireproof.model.ledger import Ledger
from wireproof.model.quantity import volume
from wireproof.model.series import Reason, Series
from wireproof.model.traffic import HostTraffic, Printed, Traffic
from wireproof.physics.from_port import link_of_port
from wireproof.verdict.external import judge_series
from wireproof.verdict.external.watched.ports import (
    PLACES,
    START_UP_BYTES,
    Carried,
    WatchedPorts,
    reason,
)
from wireproof.verdict.path.questions import (
    could_carry,
    inside_adapter,
    is_masked,
    is_on_air,
    lacks_packets,
    mostly,
)

_MOST = 0.98
_BURST_SEEN = 0.6
"""Of what a row's bytes must show in the busiest reading: its printed time may leave out pauses
between repetitions.
"""
RATE_SEEN = 0.70  # a peak over a whole interval is below the true one by what of it was idle
_ABOVE, _ABOVE_BOTH_WAYS = 3.0, 2.0
"""A row's time is a mean: hosts that stall between messages are quicker while they do not. In a
ping-pong the direction that counts is the quieter one.
"""

_MOSTLY = 0.9
"""Of what the claimed ports carried: the rest may be between hosts of one machine."""
_AS_COUNTED = 1.25
"""Times the printed count of bytes: headers and retransmissions, and no room for other traffic."""
_MANY_TIMES = 3.0
"""A log of both ends may hold a run twice; repeated packets and warm-up rounds add less."""


class Doubts:
    """One watched command whose bytes are all on the port."""

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
        """The strongest doubt; None when there is none."""
        for question in (
            self._radio,
            self._one_host,
            self._one_place,
            self._one_adapter,
            self._above_the_rows,
            self._more_than_counted,
            self._packets,
            self._bursts,
            self._numbers,
            self._rival,
        ):
            doubt = question()
            if doubt is not None:
                return doubt
        return None

    def _busiest(self) -> list[tuple[Ledger, str]]:
        """The claimed port of each host; without a claim the one that carried most."""
        found = [
            (self.ports.ledger(host), self.ports.busiest(host)[0]) for host in self.ports.hosts
        ]
        return [(ledger, name) for ledger, name in found if name in ledger.ports]

    def _radio(self) -> Reason | None:
        radios = [name for ledger, name in self._busiest() if is_on_air(ledger, name)]
        if not radios:
            return None
        text = f"{', '.join(radios)} is a Wi-Fi interface: what crossed it crossed no wire."
        return reason("traffic-adapter-unknown", text, {"nic": ", ".join(radios)})

    def _one_host(self) -> Reason | None:
        """What one host both sends and receives while all others are silent is not the command's:
        its payload would cross a port of another host, too.
        """
        if len(self.ports.hosts) < 2:
            return None
        host, most = self.ports.answered()
        if most >= _MOSTLY * self.claimed.bytes:
            return None
        text = (
            f"{volume(self.claimed.bytes)} crossed the port of {host} in each direction, and ports"
            f" of all other hosts moved {volume(most)} at most: other traffic was on it."
        )
        return reason("traffic-not-its-own", text, {"host": host, "most_bytes": most})

    def _one_place(self) -> Reason | None:
        """What two namespaces of one kernel, or functions of one adapter, say to each other needs
        no wire; what they say to other machines does.
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
        text = (
            f"{hosts}: {PLACES[code]}, and no counter of a physical port shows that the bytes left"
            f" it; {volume(left.bytes)} of {volume(self.claimed.bytes)} did for certain."
        )
        seen: dict[str, str | float | None] = {"hosts": hosts, "left_bytes": left.bytes}
        return reason(code, text, seen)

    def _above_the_rows(self) -> Reason | None:
        """More than the rows can put on a port in one direction is somebody else's, at least in
        part; which part is not to be told. A stream that stood still for most of its time is far
        quicker at its peak than on average: there the printed count of bytes tells.
        """
        most, peak = self.printed.most_bytes_per_s, self.claimed.peak
        if self._is_as_counted():
            return None
        above = _ABOVE_BOTH_WAYS if self.ports.both_ways else _ABOVE
        if most is None or peak <= above * most + START_UP_BYTES / self.traffic.interval_s:
            return None
        text = (
            f"the printed rows put at most {volume(most)}/s on a direction of a port, and "
            f"{', '.join(self.claimed.names)} had {volume(peak)}/s: other traffic was on it."
        )
        return reason("traffic-not-its-own", text, {"most_peak": most, "peak": peak})

    def _is_as_counted(self) -> bool:
        """Whether a stream's printed count of bytes leaves no room for other traffic."""
        counted = self.printed.counted and not self.ports.both_ways
        return counted and self.claimed.below(_AS_COUNTED * self.printed.least_bytes)

    def _more_than_counted(self) -> Reason | None:
        """Printed repetitions of a ping-pong say how many bytes there are: several times as many
        are not theirs alone, and nothing says that theirs are among them.
        """
        most, crossed = self.printed.most_bytes, self.claimed.bytes
        if most is None or crossed <= _MANY_TIMES * most + 4 * START_UP_BYTES:
            return None
        text = (
            f"the printed repetitions are at most {volume(most)} in a direction, and "
            f"{volume(crossed)} crossed {', '.join(self.claimed.names)}: other traffic was on it."
        )
        return reason("traffic-not-its-own", text, {"most_bytes": most, "crossed_bytes": crossed})

    def _one_adapter(self) -> Reason | None:
        """A register that this host may not read looks like one that stands still because the
        adapter's own switch carried it all.
        """
        places = [set().union(*map(self.ports.adapters, one)) for one in self.ports.places()]
        masked = (is_masked(*end) for end in self._busiest())
        if not inside_adapter(self.claimed.level, places, masked):
            return None
        text = (
            "the ports may be functions of one adapter, and no counter of its physical port shows "
            "that it left."
        )
        return reason("traffic-one-adapter", text)

    def _packets(self) -> Reason | None:
        """Each message of a ping-pong is a packet of its own."""
        due, seen = self.printed.least_packets, self.claimed.packets
        if seen is None or not lacks_packets(seen, due, _MOST):
            return None
        text = (
            f"the printed rows are {due:.0f} messages that cannot be merged, and {seen:.0f} "
            "packets crossed"
            f" {', '.join(self.claimed.names)}: other traffic did."
        )
        return reason("traffic-not-its-own", text, {"least_packets": due, "packets": seen})

    def _bursts(self) -> Reason | None:
        """A row's bytes crossed within its time, so some reading must show them."""
        window = max(self.traffic.interval_s, *(host.gap_s for host in self.traffic.hosts))
        if not self.claimed.peak:
            return None
        for size, seconds in self.printed.bursts:
            least = _BURST_SEEN * size / (seconds + 2 * window)
            if self.claimed.peak < least:
                text = (
                    f"a row moves {volume(size)} within {seconds * 1e3:.3g} ms, so that some "
                    "reading must show"
                    f" {volume(least)}/s at least; {', '.join(self.claimed.names)} never had more "
                    "than"
                    f" {volume(self.claimed.peak)}/s: its bytes are other traffic."
                )
                return reason(
                    "traffic-not-its-own", text, {"least_peak": least, "peak": self.claimed.peak}
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
        """What the port that carried most says of itself, for what carried its bytes."""
        name, crossed = self.ports.busiest(host)
        ports = self.ports.ledger(host).ports
        if crossed is None:
            return None
        carrier = mostly(dict(crossed.by), self.printed.least_bytes) or "any"
        return link_of_port(ports[name].nic, carrier, [port.nic for port in ports.values()])

    def _numbers(self) -> Reason | None:
        """A number that no wire of this kind can give did not come over it, whatever crossed the
        port meanwhile.
        """
        link = self._link()
        for one in self.series:
            judged = judge_series(one, link)
            if judged.proof == "off-wire":
                why = next(
                    (found.message for found in judged.reasons if found.severity == "fail"), ""
                )
                text = f"{one.tool} {one.benchmark}: {why}; what crossed the port is other traffic."
                return reason("traffic-contradicted", text)
        return None

    def _rival(self) -> Reason | None:
        """Another port could have carried all of it: as many bytes, as many packets, at the printed
        rate.
        """
        other, rate = self.ports.carried("other"), self.printed.rate_bytes_per_s or 0.0
        if self._is_one_path(other):
            return None
        due = self.printed.least_bytes, self.printed.least_packets
        sure = other.bytes - other.unsure
        if other.peak < RATE_SEEN * rate or not could_carry(sure, other.packets, *due, _MOST):
            return None
        text = (
            f"{', '.join(other.names)} carried {volume(other.bytes)} too: either may have been "
            "the program's path."
        )
        return reason("traffic-rival-port", text, {"other_bytes": other.bytes})

    def _is_one_path(self, other: Carried) -> bool:
        """Whether one of the two is a tunnel through the other: the same bytes, counted twice."""
        kinds = [
            [is_tunnel(ledger.ports[name].nic) for name in names if name in ledger.ports]
            for ledger in map(self.ports.ledger, self.ports.hosts)
            for names in (self.claimed.names, other.names)
        ]
        claimed, others = kinds[::2], kinds[1::2]
        through = all(all(one) and one for one in claimed) and other.bytes >= self.claimed.bytes
        return through or all(all(one) and one for one in others)
