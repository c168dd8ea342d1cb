# pure
"""Report TCP retransmissions, and issue a separate finding if they cost goodput or are one-sided.
Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from wireproof.ledger.changes import (
    OVERTAKEN,
    RETRANSMITTED,
    TCP_REPEATS,
    are_reordered,
    duplicate_segments,
    lost_segments,
    trouble_counters,
)
from wireproof.model.finding import (
    Direction,
    Evidence,
    Node,
    Port,
    Route,
    Severity,
    Subject,
    nodes_of,
    verdict_of,
)
from wireproof.model.record import PairResult, PointRecord
from wireproof.verdict.context import Context
from wireproof.verdict.issue import SLOW, Issue

_SENT, _TIMEOUTS = "ip/Tcp/OutSegs", "ip/TcpExt/TCPTimeouts"
_COUNTED = (_SENT, _TIMEOUTS, *TCP_REPEATS)
_WORTH_A_WARNING = 10.0  # per million segments: a login may lose fewer than this
_LEAST_WARNED = 3  # a busy host's queue drops one or two of a few thousand packets
_COSTS = 200.0  # per million: above about this loss, TCP's window shrinks
_ONE_SIDED_LOSS: tuple[tuple[float, Severity, Severity], ...] = (
    (5000.0, "fail", "fail"),
    (1000.0, "fail", "warning"),
    (_COSTS, "warning", "warning"),
)
"""Segments per million that a place loses, whatever the cost; severity if it is a port among
others, and if it is a direction between two hosts, which a step to a slower link can explain. The
highest level that names a place applies. Good links lose fewer than 60 per million, also beside a
load of 26 on two cores.
"""
_ONE_SIDED = 10.0  # multiple of the loss of all other directions
_LEAST_RESENT = 50  # over all routes that lose segments
_FEW_RESENT = 10  # on one route: the share is not meaningful for fewer than this
_UNSEEN = 3.0  # expected resent segments at which seeing none has a probability of 1 in 20
_OFTEN = 0.5  # share of the points of a direction
_MOST_NAMED = 4
_SPEAKS = 1e12  # weight of the issue: it ranks above a port's counters at one point


@dataclass
class _Host:
    """Sums over points of one host. ``at``: points with retransmissions."""

    sums: Counter[str] = field(default_factory=Counter)
    drops: Counter[str] = field(default_factory=Counter)
    at: list[int] = field(default_factory=list)
    points: int = 0

    def add(self, point: PointRecord, rose: Mapping[str, int]) -> None:
        """Add one point. ``rose``: the increase of each counter of the host during ``point``."""
        self.points += 1
        self.sums.update({name: max(0, rose.get(name, 0)) for name in _COUNTED})
        ports = {
            name: count for name, count in rose.items() if not name.startswith(("ip/", "net/lo/"))
        }
        self.drops.update(trouble_counters(ports).get("drops", {}))
        if rose.get(RETRANSMITTED, 0) > 0:
            self.at.append(point.id)

    def join(self, other: _Host) -> None:
        self.points += other.points
        self.sums.update(other.sums)
        self.drops.update(other.drops)
        self.at += other.at

    @property
    def lost(self) -> int:
        return lost_segments(self.sums)

    @property
    def sent(self) -> int | None:
        """Segments sent, or None if unknown: OutSegs lacks those that only repeat (RFC 1213)."""
        new = self.sums[_SENT]
        return new + self.sums[RETRANSMITTED] if new else None

    @property
    def per_million(self) -> float | None:
        return 1e6 * self.sums[RETRANSMITTED] / self.sent if self.sent else None

    def evidence(self) -> Evidence:
        return {
            "retransmitted_segments": self.sums[RETRANSMITTED],
            "sent_segments": self.sent,
            "per_million": self.per_million,
            "duplicate_segments": duplicate_segments(self.sums),
            "reordered": self.sums[OVERTAKEN],
            "timeouts": self.sums[_TIMEOUTS],
            "drops": [
                f"{counter} +{count}" for counter, count in self.drops.most_common(_MOST_NAMED)
            ],
        }


class Loss:
    """Collects the retransmissions of the kernel's TCP, by sending host and by receiving host."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.hosts: dict[int, _Host] = {}
        self.routes: dict[Route, _Host] = {}
        """Sums over the points at which the first host sent payload to the second: a host that only
        acknowledges a stream has almost nothing to retransmit.
        """

    def look(self, point: PointRecord, rises: Mapping[int, Mapping[str, int]]) -> None:
        """Add one point. ``rises``: by reader rank, the increase of each counter during the
        point."""
        peers = {a: b for pair in point.pairs for a, b in _with_payload(pair)}
        for reader, rose in rises.items():
            if reader in peers:
                route = Route(self.ctx.name(reader), self.ctx.name(peers[reader]))
                self.routes.setdefault(route, _Host()).add(point, rose)
            self.hosts.setdefault(reader, _Host()).add(point, rose)

    def issues(self, issues_so_far: Sequence[Issue]) -> list[Issue]:
        """Return issues for each host that retransmitted, and one for the place that loses far more
        than all others: it replaces the issues about the hosts that lose packets there.
        """
        end = self._shared_end()
        found = [
            issue
            for reader, host in sorted(self.hosts.items())
            if host.sums[RETRANSMITTED] > 0
            for issue in self._of_host(self.ctx.name(reader), host, end, issues_so_far)
        ]
        one_sided = self._one_sided() if self.ctx.link is not None and self._is_tcp() else None
        if one_sided is None:
            return found
        place, least = one_sided
        costs = _worst(one for one in found if one.code == "packet-loss")
        others = [one for one in found if one.code != "packet-loss"]
        severity = "fail" if least == "fail" else costs or least
        return [self._of_place(place, severity, issues_so_far), *others]

    def _of_host(
        self, name: str, host: _Host, end: str, issues_so_far: Sequence[Issue]
    ) -> Iterator[Issue]:
        share, evidence = host.per_million, host.evidence()
        text = f"{name}: {_words(host)}"
        text += f"; every pair that loses has {end} at an end" if end not in ("", name) else ""
        severity: Severity = "warning" if _is_loud(host) else "note"
        yield Issue("retransmits", severity, Node(name), text, evidence, host.at[0], _SPEAKS)
        if not self._is_tcp() or (share is not None and share < _COSTS):
            return
        costs = self._costs(name, end, issues_so_far)
        if are_reordered(host.sums):
            text = f"packets that {name} sends overtake each other: {_words(host)}"
            yield Issue("reordering", costs or severity, Node(name), text, evidence, host.at[0])
        elif costs is not None and host.lost:
            about, text = self._blamed(name, end)
            yield Issue(
                "packet-loss", costs, about, f"{text}: {_words(host)}", evidence, host.at[0]
            )

    def _costs(self, name: str, end: str, issues_so_far: Sequence[Issue]) -> Severity | None:
        """Return the worst severity of an issue about goodput that the loss explains, or None."""
        slow = [one for one in issues_so_far if one.code in SLOW]
        sent = [one for one in slow if _sends(name, one.subject)]
        return _worst(sent) or _worst(one for one in slow if end in nodes_of(one.subject))

    def _one_sided(self) -> tuple[Port | Route, Severity] | None:
        """Return the direction between two hosts, or the port of one host, that loses far more than
        all others, and how severe this is. No load on the hosts explains a difference of this size.
        """
        for least, of_port, of_route in _ONE_SIDED_LOSS:
            place = self._above(least)
            if place is not None:
                return place, of_port if isinstance(place, Port) else of_route
        return None

    def _above(self, least: float) -> Port | Route | None:
        """Return the place that loses at least ``least`` per million, and far more than all
        others.
        """
        lossy = {route: host for route, host in self.routes.items() if _loses(host, least)}
        culprit = self._passed_by(lossy, least) if lossy else None
        others = [host for route, host in self.routes.items() if not _through(route, culprit)]
        if culprit is None or not others:
            return None
        told = (host for host in others if host.sums[RETRANSMITTED] >= _FEW_RESENT)
        noise = max(host.per_million or 0.0 for host in (_pooled(others), *told))
        shown = min(host.per_million or 0.0 for host in lossy.values())
        return culprit if shown >= _ONE_SIDED * noise else None

    def _passed_by(self, lossy: Mapping[Route, _Host], least: float) -> Port | Route | None:
        """Return the direction between two hosts, or the port, that all these routes pass. They are
        most of the routes through it; the other routes also lose packets, or carried too few
        packets to show a loss.
        """
        nodes = {node for route in self.routes for node in (route.origin, route.target)}
        whole = _pooled(lossy.values())
        if whole.sums[RETRANSMITTED] < _LEAST_RESENT:
            return None
        if len(nodes) == 2:
            return next(iter(lossy))
        ways: tuple[Direction, ...] = ("tx", "rx", "")
        shared = set.intersection(*({route.origin, route.target} for route in lossy))
        places = (Port(node, way) for node in sorted(shared) for way in ways)
        return next((place for place in places if self._explains(place, lossy, whole, least)), None)

    def _explains(
        self, place: Port, lossy: Mapping[Route, _Host], whole: _Host, least: float
    ) -> bool:
        through = {route for route in self.routes if _through(route, place)}
        rest = [self.routes[route] for route in through - lossy.keys()]
        most = lossy.keys() <= through and 1 < len(lossy) > len(rest)
        return most and all(_may_lose(host, whole.per_million or 0.0, least) for host in rest)

    def _of_place(
        self, culprit: Port | Route, severity: Severity, issues_so_far: Iterable[Issue]
    ) -> Issue:
        """Return the issue about the loss of one place.

        If there is other traffic at one of its ports, a queue may have overflowed without a fault
        of the link, and an issue that fails is inconclusive.
        """
        whole = _pooled(host for route, host in self.routes.items() if _through(route, culprit))
        what = {"tx": "sends are", "rx": "receives are", "": "sends and receives are"}
        text = (
            f"packets from {culprit.origin} to {culprit.target} are"
            if isinstance(culprit, Route)
            else f"packets that {culprit.node} {what[culprit.direction]}"
        )
        text += f" lost, but those of all other directions are not: {_words(whole)}"
        busy = [
            one
            for one in issues_so_far
            if one.code == "other-traffic"
            and isinstance(one.subject, Port)
            and one.subject.node in nodes_of(culprit)
        ]
        text += f"; {busy[0].message}" if busy else ""
        return Issue(
            "packet-loss",
            "inconclusive" if busy and severity == "fail" else severity,
            culprit,
            text,
            whole.evidence(),
            whole.at[0],
        )

    def _blamed(self, sender: str, end: str) -> tuple[Route | Node, str]:
        """Return the subject for the loss of ``sender``'s packets: a retransmitting host is not
        necessarily at fault.
        """
        if end:
            lossy = self._lossy()
            peers = ", ".join(sorted(name for pair in lossy for name in pair - {end})[:_MOST_NAMED])
            text = f"packets to or from {end} are lost: it is an end of every lossy pair ({peers})"
            return Node(end), text
        routes = [
            route for route, host in self.routes.items() if route.origin == sender and _costly(host)
        ]
        if len(routes) == 1:
            return routes[0], f"packets from {sender} to {routes[0].target} are lost"
        return Node(sender), f"packets that {sender} sends are lost"

    def _lossy(self) -> list[frozenset[str]]:
        pairs: dict[frozenset[str], _Host] = {}
        for route, host in self.routes.items():
            ends = frozenset((route.origin, route.target))
            pairs.setdefault(ends, _Host()).join(host)
        return [pair for pair, host in pairs.items() if len(pair) == 2 and _costly(host)]

    def _shared_end(self) -> str:
        """Return the host common to all lossy pairs, or "" if there is none or only one lossy
        pair.
        """
        lossy = self._lossy()
        common = frozenset.intersection(*lossy) if len(lossy) > 1 else frozenset[str]()
        return next(iter(common)) if len(common) == 1 else ""

    def _is_tcp(self) -> bool:
        return self.ctx.link is None or self.ctx.link.protocol == "tcp"


def _costly(host: _Host) -> bool:
    return host.lost > _COSTS * 1e-6 * max(1, host.sums[_SENT])


def _is_loud(host: _Host) -> bool:
    """Return whether the retransmissions are worth a warning: acknowledgements that came late are
    not.
    """
    share = host.per_million
    many = share is None or share >= _WORTH_A_WARNING
    lost = host.lost or are_reordered(host.sums)
    return many and host.sums[RETRANSMITTED] >= _LEAST_WARNED and bool(lost)


def _loses(host: _Host, least: float) -> bool:
    """Return whether retransmissions are so many (per million) and so frequent that no brief
    overflow explains them.
    """
    share, lost = host.per_million or 0.0, host.lost
    return share >= least and lost >= _FEW_RESENT and len(host.at) > _OFTEN * host.points


def _may_lose(host: _Host, per_million: float, least: float) -> bool:
    """Return whether the host loses many packets, or sent too few to show a loss of
    ``per_million``.
    """
    return (host.per_million or 0.0) >= least or host.sums[_SENT] * per_million < _UNSEEN * 1e6


def _pooled(hosts: Iterable[_Host]) -> _Host:
    whole = _Host()
    for host in hosts:
        whole.join(host)
    return whole


def _through(route: Route, place: Port | Route | None) -> bool:
    """Return whether ``place`` is a port that ``route`` passes in its direction, or is ``route``
    itself."""
    if not isinstance(place, Port):
        return route == place
    ends = {"tx": (route.origin,), "rx": (route.target,), "": (route.origin, route.target)}
    return place.node in ends[place.direction]


def _with_payload(pair: PairResult) -> Iterable[tuple[int, int]]:
    """Yield (sender, receiver) of each direction that carries payload."""
    if pair.payload_forward_bytes > 0:
        yield pair.origin, pair.target
    if pair.payload_backward_bytes > 0:
        yield pair.target, pair.origin


def _words(host: _Host) -> str:
    share = host.per_million
    of = f" of {host.sent:,}" if host.sent else ""
    rate = f", {float(f'{share:.3g}'):,g} per million" if share is not None else ""
    drops = ", ".join(
        f"{counter} +{count}" for counter, count in host.drops.most_common(_MOST_NAMED)
    )
    where = (
        f"dropped here: {drops}"
        if drops
        else f"the receivers had {duplicate_segments(host.sums):,} of them already, because "
        + (
            "packets overtake each other"
            if are_reordered(host.sums)
            else "acknowledgements are late"
        )
        if not host.lost
        else "no port of this host counted a drop: the packets were lost elsewhere"
    )
    return (
        f"{host.sums[RETRANSMITTED]:,}{of} TCP segments were retransmitted (at {len(host.at)} of "
        f"{host.points} points{rate}); "
        f"{where}"
    )


def _worst(issues: Iterable[Issue]) -> Severity | None:
    """Return the worst severity, or None if no issue affects a verdict."""
    found = verdict_of(one.severity for one in issues)
    return None if found == "pass" else found


def _sends(name: str, subject: Subject) -> bool:
    return subject.origin == name if isinstance(subject, Route) else subject == Port(name, "tx")
