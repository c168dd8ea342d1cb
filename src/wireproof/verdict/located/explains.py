"""Which findings of the judge a located culprit explains. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from wireproof.model.finding import Finding, PairVerdict
from wireproof.model.located import Blame
from wireproof.model.subject import Both, Node, Port, Route, Subject
from wireproof.verdict.issue import SLOW

__all__ = ["explained"]

_WAYS = ("direction-slow", "node-direction-slow")
_BOTH_WAYS = ("pingpong", "exchange")
_FETCHES = ("get",)
_WORSE = 0.85  # a pair this far below its culprit's own value has another trouble besides


def explained(
    findings: Iterable[Finding],
    blames: Sequence[Blame],
    before: Sequence[PairVerdict],
    after: Sequence[PairVerdict],
    good_alone: Collection[Subject] = (),
) -> tuple[list[Finding], list[tuple[Finding, Blame]]]:
    """(findings that stay, findings that go with the culprit that explains them).

    ``before`` and ``after``: the pairs' verdicts before and after contention was taken into
    account; a finding whose pairs are all acquitted goes without a culprit, and so does one about
    somebody of ``good_alone``.
    """
    slow = _slow_pairs(before)
    acquitted = {key for key in slow if key not in _slow_pairs(after)}
    index = _index(blames)
    kept: list[Finding] = []
    gone: list[tuple[Finding, Blame]] = []
    for finding in findings:
        if (finding.code, finding.about) in acquitted or (
            finding.code in _WAYS and finding.about in good_alone
        ):
            continue
        pairs = slow.get((finding.code, finding.about), [])
        near = _near(index, finding) if finding.code in SLOW else []
        blame = next((one for one in near if _tells(one, finding, pairs)), None)
        if blame is None:
            kept.append(finding)
        else:
            gone.append((finding, blame))
    return kept, gone


def _index(blames: Iterable[Blame]) -> dict[Subject, list[Blame]]:
    """Node or route to the culprits that may concern it: ten thousand findings meet ten thousand
    culprits.
    """
    found: dict[Subject, list[Blame]] = {}
    for blame in blames:
        own = Node(blame.about.node) if isinstance(blame.about, Port) else blame.about
        near = [own] if own is not None else []
        for subject in dict.fromkeys([*near, *map(Node, blame.nodes)]):
            found.setdefault(subject, []).append(blame)
    return found


def _near(index: dict[Subject, list[Blame]], finding: Finding) -> list[Blame]:
    about, near = finding.about, list[Subject]()
    if isinstance(about, Port):
        near = [Node(about.node)]
    elif isinstance(about, Route):
        one, other = about.origin, about.target
        near = [about, Node(one), Node(other), Both(one, other), Both(other, one), about.back]
    return [blame for subject in near for blame in index.get(subject, [])]


def _slow_pairs(
    pairs: Iterable[PairVerdict],
) -> dict[tuple[str, Subject | None], list[PairVerdict]]:
    """(code, route) -> the pairs' results that it is about."""
    found: dict[tuple[str, Subject | None], list[PairVerdict]] = {}
    for pair in pairs:
        if "below-expectation" in pair.codes:
            found.setdefault(("below-expectation", _route(pair)), []).append(pair)
    return found


def _route(pair: PairVerdict) -> Route:
    return Route(pair.origin_host, pair.target_host)


def _tells(blame: Blame, finding: Finding, pairs: Sequence[PairVerdict]) -> bool:
    """True when the culprit is reason enough for the finding."""
    if finding.code not in SLOW or blame.metric != "goodput":
        return False
    about = finding.about
    if isinstance(about, Port):
        return _tells_node(blame, about)
    if pairs:
        return all(_takes(blame, pair) and not _far_worse(blame, pair) for pair in pairs)
    return isinstance(about, Route) and _uses(blame, about.origin, about.target)


def _tells_node(blame: Blame, port: Port) -> bool:
    if blame.kind in ("node", "port"):
        return blame.subject == port.node and blame.direction in ("", port.direction)
    return blame.kind == "switch" and port.node in blame.nodes


def _takes(blame: Blame, pair: PairVerdict) -> bool:
    sender, receiver = pair.origin_host, pair.target_host
    if pair.pattern in _FETCHES:
        sender, receiver = receiver, sender
    ways = [(sender, receiver)]
    if pair.pattern in _BOTH_WAYS:
        ways.append((receiver, sender))
    return any(_uses(blame, *way) for way in ways)


def _uses(blame: Blame, sender: str, receiver: str) -> bool:
    """True when data from ``sender`` to ``receiver`` meets the culprit."""
    if blame.kind in ("node", "port"):
        ends = {"": (sender, receiver), "tx": (sender,), "rx": (receiver,)}[blame.direction]
        return blame.subject in ends
    if blame.kind == "pair":
        route, both = Route(sender, receiver), Both(sender, receiver)
        return blame.about in (route, both, Both(receiver, sender))
    touched = (sender in blame.nodes) + (receiver in blame.nodes)
    # Two nodes on one side of a link do not need it.
    return touched >= 1 if blame.kind == "switch" else touched == 1


def _far_worse(blame: Blame, pair: PairVerdict) -> bool:
    if pair.unit != "bytes_per_s" or pair.pattern in _BOTH_WAYS:
        return False
    return pair.value < _WORSE * blame.value * (1.0 - abs(blame.high - blame.slowdown))
