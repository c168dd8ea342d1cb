"""Segments that were sent again: said in every report, and a finding of its own where they cost
goodput. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from wireproof.analysis.counters import trouble_counters
from wireproof.model.finding import Node, Port, Route, Severity, Subject
from wireproof.model.record import PairResult, PointRecord
from wireproof.verdict.context import Context
from wireproof.verdict.issue import SLOW, Issue

__all__ = ["Loss"]

_RESENT, _SENT, _TIMEOUTS = "ip/Tcp/RetransSegs", "ip/Tcp/OutSegs", "ip/TcpExt/TCPTimeouts"
_WORTH_A_WARNING = 10.0  # of a million segments: below, one lost packet of a login is more
_COSTS = 200.0  # of a million: from about here TCP's window suffers
_MOST_NAMED = 4
_SPEAKS = 1e12  # before what a port counted at one point


@dataclass
class _Host:
    """Sums over the points of one host. ``at``: points at which something was sent again."""

    sums: Counter[str] = field(default_factory=Counter)
    drops: Counter[str] = field(default_factory=Counter)
    at: list[int] = field(default_factory=list)
    points: int = 0

    @property
    def per_million(self) -> float | None:
        sent = self.sums[_SENT]
        return 1e6 * self.sums[_RESENT] / sent if sent > 0 else None


class Loss:
    """Collects what the kernel's TCP sent again, host by host."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.hosts: dict[int, _Host] = {}
        self.pairs: dict[frozenset[str], Counter[str]] = {}
        """Sums over the points at which two hosts were measured together."""

    def look(self, point: PointRecord, rises: Mapping[int, Mapping[str, int]]) -> None:
        """``rises``: by reader rank, how much each counter rose during the point."""
        peers = {a: b for pair in point.pairs for a, b in _both_ways(pair)}
        for reader, rose in rises.items():
            if reader in peers:
                ends = frozenset((self.ctx.name(reader), self.ctx.name(peers[reader])))
                self.pairs.setdefault(ends, Counter()).update(
                    {name: max(0, rose.get(name, 0)) for name in (_RESENT, _SENT)}
                )
            host = self.hosts.setdefault(reader, _Host())
            host.points += 1
            host.sums.update(
                {name: max(0, rose.get(name, 0)) for name in (_RESENT, _SENT, _TIMEOUTS)}
            )
            ports = {
                name: count
                for name, count in rose.items()
                if not name.startswith(("ip/", "net/lo/"))
            }
            host.drops.update(trouble_counters(ports).get("drops", {}))
            if rose.get(_RESENT, 0) > 0:
                host.at.append(point.id)

    def issues(self, issues_so_far: Sequence[Issue]) -> list[Issue]:
        """One issue for each host that sent segments again; another where ``issues_so_far`` say
        that goodput is missing.
        """
        found: list[Issue] = []
        end = self._shared_end()
        for reader, host in sorted(self.hosts.items()):
            if host.sums[_RESENT] == 0:
                continue
            name, share = self.ctx.name(reader), host.per_million
            text = f"{name}: {_words(host)}"
            evidence = {
                "retransmitted_segments": host.sums[_RESENT],
                "sent_segments": host.sums[_SENT] or None,
                "per_million": share,
                "timeouts": host.sums[_TIMEOUTS],
                "drops": [
                    f"{counter} +{count}" for counter, count in host.drops.most_common(_MOST_NAMED)
                ],
            }
            loud = share is None or share >= _WORTH_A_WARNING
            severity: Severity = "warning" if loud else "note"
            found.append(
                Issue(
                    "retransmits", severity, Node(name), text, dict(evidence), host.at[0], _SPEAKS
                )
            )
            worst = _worst(issues_so_far, name) or (
                _worst_with(issues_so_far, end) if end else None
            )
            if worst is not None and (share is None or share >= _COSTS) and self._is_tcp():
                about, text = self._blamed(name, end)
                text += f": {_words(host)}"
                found.append(Issue("packet-loss", worst, about, text, dict(evidence), host.at[0]))
        return found

    def _blamed(self, sender: str, end: str) -> tuple[Node | Route, str]:
        """Whom the loss of what ``sender`` sends is about: who sends again is not who loses."""
        if end:
            lossy = self._lossy()
            peers = ", ".join(sorted(name for pair in lossy for name in pair - {end})[:_MOST_NAMED])
            text = (
                f"packets to or from {end} are lost: every pair that loses has this end ({peers})"
            )
            return Node(end), text
        routes = [sorted(pair) for pair in self._lossy() if sender in pair]
        if len(routes) == 1:
            one, other = routes[0]
            return Route(one, other), f"packets between {one} and {other} are lost"
        return Node(sender), f"packets that {sender} sends are lost"

    def _lossy(self) -> list[frozenset[str]]:
        return [
            pair
            for pair, sums in self.pairs.items()
            if len(pair) == 2 and sums[_RESENT] > _COSTS * 1e-6 * max(1, sums[_SENT])
        ]

    def _shared_end(self) -> str:
        """The host that all lossy pairs have in common, if it loses with two others or more and
        pairs without it do not; "" otherwise.
        """
        lossy = self._lossy()
        common = frozenset.intersection(*lossy) if len(lossy) > 1 else frozenset[str]()
        return next(iter(common)) if len(common) == 1 else ""

    def _is_tcp(self) -> bool:
        return self.ctx.link is None or self.ctx.link.protocol == "tcp"


def _both_ways(pair: PairResult) -> tuple[tuple[int, int], tuple[int, int]]:
    return (pair.origin, pair.target), (pair.target, pair.origin)


def _words(host: _Host) -> str:
    share = host.per_million
    of = f" of {host.sums[_SENT]:,}" if host.sums[_SENT] else ""
    rate = f", {share:.3g} of a million" if share is not None else ""
    drops = ", ".join(
        f"{counter} +{count}" for counter, count in host.drops.most_common(_MOST_NAMED)
    )
    where = (
        f"dropped here: {drops}"
        if drops
        else "no port of this host counted a drop: they were lost beyond it"
    )
    return (
        f"{host.sums[_RESENT]:,}{of} TCP segments were sent again (at {len(host.at)} of "
        f"{host.points} points{rate}); "
        f"{where}"
    )


def _worst(issues_so_far: Iterable[Issue], name: str) -> Severity | None:
    """Of the issues about missing goodput that ``name`` sends; None where there is none."""
    own = [one.severity for one in issues_so_far if one.code in SLOW and _sends(name, one.subject)]
    ranks: tuple[Severity, ...] = ("fail", "inconclusive")
    return next((severity for severity in ranks if severity in own), None)


def _worst_with(issues_so_far: Iterable[Issue], end: str) -> Severity | None:
    """Of the issues about goodput that is missing to or from ``end``; None where there is none."""
    own = [
        one.severity
        for one in issues_so_far
        if one.code in SLOW
        and (
            (isinstance(one.subject, Port) and one.subject.node == end)
            or (isinstance(one.subject, Route) and end in (one.subject.origin, one.subject.target))
        )
    ]
    ranks: tuple[Severity, ...] = ("fail", "inconclusive")
    return next((severity for severity in ranks if severity in own), None)


def _sends(name: str, subject: Subject) -> bool:
    if isinstance(subject, Route):
        return subject.origin == name
    return subject == Port(name, "tx")
