"""Pairs and directions that fall short with no culprit to blame: the settings of their ends, or
those that all hosts have wrong, as causes. Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from wireproof.locate.causes.differing import Wrong, WrongSettings
from wireproof.locate.causes.settings import Shortfall, causes_of, of_ends
from wireproof.model.claim import Criteria, LinkClaim
from wireproof.model.finding import Direction, Finding, Judgement, PairVerdict, Port, Route
from wireproof.model.located import Cause, Located
from wireproof.verdict.issue import SLOW
from wireproof.verdict.located.issues import advice_of, cause_evidence, cause_sentence

_ALL = 0.75
"""The share of routes that must fall short for all hosts to be looked at together."""
_MOST = 5
_MOST_FINDINGS = 1000
"""A finding of each route of hundreds of hosts would say the same."""
_TWO = 2
_Ends = tuple[tuple[str, Direction], ...]


def with_short_causes(
    judgement: Judgement,
    wrong: WrongSettings,
    link: LinkClaim | None,
    located: Sequence[Located] = (),
    least: float = Criteria().min_efficiency,
) -> Judgement:
    """``judgement`` whose findings of missing goodput name the settings that may be the cause.
    Severities and the verdict stay: they are the measurement's. ``least``: the efficiency that is
    expected; what all hosts have wrong counts where ``located`` blames none of them. Of thousands
    of findings the first are looked at.
    """
    blamed = any(one.blames for one in located if one.metric == "goodput")
    whole = not blamed and _all_short(judgement.pairs, least)
    view = _View(_slow(judgement.pairs), wrong, link, wrong.shared(wrong.hosts) if whole else [])
    first = [view.with_cause(one) for one in judgement.findings[:_MOST_FINDINGS]]
    findings = [*first, *judgement.findings[_MOST_FINDINGS:]]
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


def _slow(pairs: Sequence[PairVerdict]) -> dict[Route, list[PairVerdict]]:
    """Route to its results that fall short."""
    found: dict[Route, list[PairVerdict]] = {}
    for pair in pairs:
        told = pair.unit == "bytes_per_s" and pair.efficiency is not None and pair.value > 0
        if told and "below-expectation" in pair.codes:
            found.setdefault(_route(pair), []).append(pair)
    return found


@dataclass(frozen=True)
class _View:
    """``slow``: the results that fall short, by route; ``shared``: what all hosts have wrong, where
    all fall short.
    """

    slow: Mapping[Route, list[PairVerdict]]
    wrong: WrongSettings
    link: LinkClaim | None
    shared: Sequence[Wrong]

    def with_cause(self, finding: Finding) -> Finding:
        if finding.code not in SLOW or finding.severity not in ("fail", "inconclusive"):
            return finding
        short = self._shortfall(finding)
        if short is None or short.low <= 0:
            return finding
        causes = causes_of(short, self._suspects(short), self.link)[:_MOST]
        return _said(finding, causes) if causes else finding

    def _suspects(self, short: Shortfall) -> list[tuple[Wrong, Direction]]:
        """What an end has otherwise than the others, and what all have wrong."""
        if len(self.wrong.hosts) > _TWO:
            found = [(one, way) for name, way in short.ends for one in self.wrong.among_all(name)]
        else:
            found = of_ends(short, self.wrong, ())
        known = {one.setting.id for one, _ in found}
        more = [one for one in self.shared if one.setting.id not in known]
        return found + [(one, one.setting.effect.direction) for one in more]

    def _shortfall(self, finding: Finding) -> Shortfall | None:
        """What is missing by a finding, None where it says no share of goodput."""
        about = finding.about
        if isinstance(about, Port):
            share = _missing(finding, "value_bytes_per_s", "others_bytes_per_s")
            return _exactly(share, ((about.node, about.direction),))
        if not isinstance(about, Route):
            return None
        ends: _Ends = ((about.origin, "tx"), (about.target, "rx"))
        if finding.code == "direction-slow":
            return _exactly(_missing(finding, "slow_bytes_per_s", "other_bytes_per_s"), ends)
        if about not in self.slow:
            return None
        found = _of_route(self.slow[about], ends)
        return replace(found, both=about.back in self.slow)


def _said(finding: Finding, causes: Sequence[Cause]) -> Finding:
    return msgspec.structs.replace(
        finding,
        message=f"{finding.message}. {cause_sentence(causes)}",
        evidence=finding.evidence | cause_evidence(causes),
        advice=advice_of(causes) or finding.advice,
    )


def _missing(finding: Finding, own: str, other: str) -> float | None:
    value, usual = finding.evidence.get(own), finding.evidence.get(other)
    if not isinstance(value, float) or not isinstance(usual, float) or usual <= 0:
        return None
    return 1.0 - value / usual


def _exactly(share: float | None, ends: _Ends) -> Shortfall | None:
    return None if share is None else Shortfall("goodput", share, share, share, ends)


def _of_route(slow: Sequence[PairVerdict], ends: _Ends) -> Shortfall:
    """What is missing of what is attainable, of the route's largest messages that fall short."""
    largest = max(pair.message_bytes for pair in slow)
    one = min((pair for pair in slow if pair.message_bytes == largest), key=lambda pair: pair.value)
    reached = one.efficiency or 0.0
    low, high = sorted(1.0 - reached * bound / one.value for bound in (one.low, one.high))
    return Shortfall("goodput", 1.0 - reached, low, high, ends)
