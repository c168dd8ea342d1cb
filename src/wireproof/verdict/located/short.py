"""Pairs and directions that fall short with no culprit to blame: the settings of their ends, or
those that all hosts have wrong, as causes. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from wireproof.locate.causes.differing import Wrong, WrongSettings
from wireproof.locate.causes.settings import Shortfall, causes_of, of_ends
from wireproof.model.claim import Criteria, LinkClaim
from wireproof.model.finding import Finding, Judgement, PairVerdict
from wireproof.model.located import Cause, Located
from wireproof.model.subject import Direction, Port, Route
from wireproof.verdict.issue import SLOW
from wireproof.verdict.located.said import advice_of, cause_evidence, cause_sentence

__all__ = ["with_short_causes"]

_ALL = 0.75
"""The share of routes that must fall short for all hosts to be looked at together."""
_MOST = 5


def with_short_causes(
    judgement: Judgement,
    wrong: WrongSettings,
    link: LinkClaim | None,
    located: Sequence[Located] = (),
    least: float = Criteria().min_efficiency,
) -> Judgement:
    """``judgement`` whose findings of missing goodput name the settings that may be the cause.
    Severities and the verdict stay: they are the measurement's. ``least``: the efficiency that is
    expected; what all hosts have wrong counts where ``located`` blames none of them.
    """
    blamed = any(one.blames for one in located if one.metric == "goodput")
    whole = not blamed and _all_short(judgement.pairs, least)
    findings = [_with_cause(one, judgement.pairs, wrong, link, whole) for one in judgement.findings]
    return msgspec.structs.replace(judgement, findings=findings)


def _all_short(pairs: Sequence[PairVerdict], least: float) -> bool:
    """Whether most routes fall short beyond doubt: then it is no odd node's setting."""
    judged = [pair for pair in pairs if pair.unit == "bytes_per_s" and pair.efficiency is not None]
    slow = {_route(pair) for pair in judged if _is_short(pair, least)}
    return bool(slow) and len(slow) >= _ALL * len({_route(pair) for pair in judged})


def _is_short(pair: PairVerdict, least: float) -> bool:
    """Whether the whole interval lies below what is expected."""
    reached = (pair.efficiency or 0.0) * pair.high / pair.value if pair.value > 0 else 0.0
    return "below-expectation" in pair.codes and reached < least


def _route(pair: PairVerdict) -> Route:
    return Route(pair.origin_host, pair.target_host)


def _with_cause(
    finding: Finding,
    pairs: Sequence[PairVerdict],
    wrong: WrongSettings,
    link: LinkClaim | None,
    whole: bool,
) -> Finding:
    short = _shortfall(finding, pairs)
    if short is None or short.low <= 0 or finding.severity not in ("fail", "inconclusive"):
        return finding
    causes = causes_of(short, _suspects(short, wrong, whole), link)[:_MOST]
    return _said(finding, causes) if causes else finding


def _said(finding: Finding, causes: Sequence[Cause]) -> Finding:
    return msgspec.structs.replace(
        finding,
        message=f"{finding.message}. {cause_sentence(causes)}",
        evidence=finding.evidence | cause_evidence(causes),
        advice=advice_of(causes) or finding.advice,
    )


def _suspects(short: Shortfall, wrong: WrongSettings, whole: bool) -> list[tuple[Wrong, Direction]]:
    """What an end has otherwise than the hosts that are no end (of two hosts: than the other end),
    and what all have wrong where all fall short.
    """
    names = [name for name, _ in short.ends]
    rest = [host for host in wrong.hosts if host not in names]
    found = of_ends(short, wrong, rest)
    if whole:
        known = {one.setting.id for one, _ in found}
        shared = wrong.shared(wrong.hosts)
        found += [
            (one, one.setting.effect.direction) for one in shared if one.setting.id not in known
        ]
    return found


def _shortfall(finding: Finding, pairs: Sequence[PairVerdict]) -> Shortfall | None:
    """What is missing by a finding, None where it says no share of goodput."""
    about = finding.about
    if finding.code not in SLOW:
        return None
    if isinstance(about, Port):
        share = _missing(finding, "value_bytes_per_s", "others_bytes_per_s")
        return _exactly(share, ((about.node, about.direction),))
    if not isinstance(about, Route):
        return None
    ends: tuple[tuple[str, Direction], ...] = ((about.origin, "tx"), (about.target, "rx"))
    if finding.code == "direction-slow":
        return _exactly(_missing(finding, "slow_bytes_per_s", "other_bytes_per_s"), ends)
    found = _of_pair(pairs, about, ends)
    if found is None:
        return None
    return replace(found, both=_of_pair(pairs, about.back, ends) is not None)


def _missing(finding: Finding, own: str, other: str) -> float | None:
    value, usual = finding.evidence.get(own), finding.evidence.get(other)
    if not isinstance(value, float) or not isinstance(usual, float) or usual <= 0:
        return None
    return 1.0 - value / usual


def _exactly(share: float | None, ends: tuple[tuple[str, Direction], ...]) -> Shortfall | None:
    return None if share is None else Shortfall("goodput", share, share, share, ends)


def _of_pair(
    pairs: Sequence[PairVerdict], about: Route, ends: tuple[tuple[str, Direction], ...]
) -> Shortfall | None:
    """What is missing of what is attainable, of the route's largest messages that fall short."""
    slow = [
        pair
        for pair in pairs
        if _route(pair) == about
        and "below-expectation" in pair.codes
        and pair.unit == "bytes_per_s"
        and pair.efficiency is not None
        and pair.value > 0
    ]
    if not slow:
        return None
    largest = max(pair.message_bytes for pair in slow)
    one = min((pair for pair in slow if pair.message_bytes == largest), key=lambda pair: pair.value)
    reached = one.efficiency or 0.0
    low, high = sorted(1.0 - reached * bound / one.value for bound in (one.low, one.high))
    return Shortfall("goodput", 1.0 - reached, low, high, ends)
