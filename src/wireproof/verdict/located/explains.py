"""Which findings of the judge a located culprit explains. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from wireproof.model.finding import Finding, PairVerdict
from wireproof.model.located import Blame

__all__ = ["explained"]

_SLOW = ("below-expectation", "direction-slow", "node-direction-slow")
_WAYS = ("direction-slow", "node-direction-slow")
_BOTH_WAYS = ("pingpong", "exchange")
_FETCHES = ("get",)
_WORSE = 0.85  # a pair this far below its culprit's own value has another trouble besides


def explained(
    findings: Iterable[Finding],
    blames: Sequence[Blame],
    before: Sequence[PairVerdict],
    after: Sequence[PairVerdict],
    good_alone: Collection[str] = (),
) -> tuple[list[Finding], list[tuple[Finding, Blame]]]:
    """(findings that stay, findings that go with the culprit that explains them).

    ``before`` and ``after``: the pairs' verdicts before and after contention was taken into
    account; a finding whose pairs are all acquitted goes without a culprit, and so does one about
    somebody of ``good_alone`` (``n3 tx``).
    """
    slow = _slow_pairs(before)
    acquitted = {key for key in slow if key not in _slow_pairs(after)}
    index = _index(blames)
    kept: list[Finding] = []
    gone: list[tuple[Finding, Blame]] = []
    for finding in findings:
        if (finding.code, finding.subject) in acquitted or (
            finding.code in _WAYS and finding.subject in good_alone
        ):
            continue
        pairs = slow.get((finding.code, finding.subject), [])
        near = _near(index, finding) if finding.code in _SLOW else []
        blame = next((one for one in near if _tells(one, finding, pairs)), None)
        if blame is None:
            kept.append(finding)
        else:
            gone.append((finding, blame))
    return kept, gone


def _index(blames: Iterable[Blame]) -> dict[str, list[Blame]]:
    """Node or route to the culprits that may concern it: ten thousand findings meet ten thousand
    culprits.
    """
    found: dict[str, list[Blame]] = {}
    for blame in blames:
        for name in dict.fromkeys([blame.subject, *blame.nodes]):
            found.setdefault(name, []).append(blame)
    return found


def _near(index: dict[str, list[Blame]], finding: Finding) -> list[Blame]:
    names = [finding.subject, finding.subject.rpartition(" ")[0], *finding.subject.split(" -> ")]
    if " -> " in finding.subject:
        one, other = finding.subject.split(" -> ", 1)
        names += [f"{one} <-> {other}", f"{other} <-> {one}", f"{other} -> {one}"]
    return [blame for name in dict.fromkeys(names) for blame in index.get(name, [])]


def _slow_pairs(pairs: Iterable[PairVerdict]) -> dict[tuple[str, str], list[PairVerdict]]:
    """(code, route) -> the pairs' results that it is about."""
    found: dict[tuple[str, str], list[PairVerdict]] = {}
    for pair in pairs:
        if "below-expectation" in pair.codes:
            found.setdefault(("below-expectation", _route(pair)), []).append(pair)
    return found


def _route(pair: PairVerdict) -> str:
    return f"{pair.origin_host} -> {pair.target_host}"


def _tells(blame: Blame, finding: Finding, pairs: Sequence[PairVerdict]) -> bool:
    """True when the culprit is reason enough for the finding."""
    if finding.code not in _SLOW or blame.metric != "goodput":
        return False
    if finding.code == "node-direction-slow":
        return _tells_node(blame, finding.subject)
    if pairs:
        return all(_takes(blame, pair) and not _far_worse(blame, pair) for pair in pairs)
    origin, arrow, target = finding.subject.partition(" -> ")
    return bool(arrow) and _uses(blame, origin, target)


def _tells_node(blame: Blame, subject: str) -> bool:
    """``subject``: node and direction, ``n3 tx``."""
    node, _, direction = subject.rpartition(" ")
    if blame.kind in ("node", "port"):
        return blame.subject == node and blame.direction in ("", direction)
    return blame.kind == "switch" and node in blame.nodes


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
        return blame.subject in (
            f"{sender} -> {receiver}",
            f"{sender} <-> {receiver}",
            f"{receiver} <-> {sender}",
        )
    touched = (sender in blame.nodes) + (receiver in blame.nodes)
    # Two nodes on one side of a link do not need it.
    return touched >= 1 if blame.kind == "switch" else touched == 1


def _far_worse(blame: Blame, pair: PairVerdict) -> bool:
    if pair.unit != "bytes_per_s" or pair.pattern in _BOTH_WAYS:
        return False
    return pair.value < _WORSE * blame.value * (1.0 - abs(blame.high - blame.slowdown))
