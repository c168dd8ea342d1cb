"""Name settings as causes of shortfalls without a culprit: of their ends, or wrong on all hosts.

Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from wireproof.locate.causes.differing import Wrong, WrongSettings
from wireproof.locate.causes.settings import Shortfall, causes_of, of_ends
from wireproof.model import gathered
from wireproof.model.claim import Criteria, LinkClaim
from wireproof.model.finding import Direction, Finding, Judgement, PairVerdict, Port, Route
from wireproof.model.located import Cause, Located
from wireproof.verdict.issue import SLOW
from wireproof.verdict.located.issues import advice_of, cause_evidence, cause_sentence

_ALL = 0.75
"""Share of routes that must fall short before settings common to all hosts are suspected."""
_MOST = 5
_MOST_FINDINGS = 1000
"""Limit: the findings of all routes of hundreds of hosts would say the same."""
_TWO = 2
_Ends = tuple[tuple[str, Direction], ...]


def with_short_causes(
    judgement: Judgement,
    wrong: WrongSettings,
    link: LinkClaim | None,
    located: Sequence[Located] = (),
    least: float = Criteria().min_efficiency,
) -> Judgement:
    """Add the settings that may be the cause to the findings about low goodput.

    Severities and the verdict stay, because they come from the measurement. ``least``: the expected
    efficiency. Settings that all hosts have wrong count only if ``located`` blames no host. Only
    the first thousand findings are examined.
    """
    blamed = any(sweep.blames for sweep in located if sweep.metric == "goodput")
    whole = not blamed and _all_short(judgement.pairs, least)
    view = _View(_slow(judgement.pairs), wrong, link, wrong.shared(wrong.hosts) if whole else [])
    first = [view.with_cause(finding) for finding in judgement.findings[:_MOST_FINDINGS]]
    findings = [*first, *judgement.findings[_MOST_FINDINGS:]]
    return msgspec.structs.replace(judgement, findings=findings)


def _all_short(pairs: Sequence[PairVerdict], least: float) -> bool:
    """Return whether most routes clearly fall short: then no single node's setting is the cause."""
    judged = [pair for pair in pairs if pair.unit == "bytes_per_s" and pair.efficiency is not None]
    slow = {pair.route for pair in judged if _is_short(pair, least)}
    return bool(slow) and len(slow) >= _ALL * len({pair.route for pair in judged})


def _is_short(pair: PairVerdict, least: float) -> bool:
    """Return whether the whole interval lies below the expectation."""
    reached = (pair.efficiency or 0.0) * pair.high / pair.value if pair.value > 0 else 0.0
    return "below-expectation" in pair.codes and reached < least


def _slow(pairs: Sequence[PairVerdict]) -> dict[Route, list[PairVerdict]]:
    """Map each route to its results that fall short."""
    known = (
        pair
        for pair in pairs
        if pair.unit == "bytes_per_s" and pair.efficiency is not None and pair.value > 0
    )
    return gathered((pair.route, pair) for pair in known if "below-expectation" in pair.codes)


@dataclass(frozen=True)
class _View:
    """``slow``: results that fall short, by route.

    ``shared``: settings that all hosts have wrong, if all fall short.
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
        return _with_causes(finding, causes) if causes else finding

    def _suspects(self, short: Shortfall) -> list[tuple[Wrong, Direction]]:
        """Return settings in which an end differs from the others, and settings wrong on all
        hosts.
        """
        if len(self.wrong.hosts) > _TWO:
            suspects = [
                (wrong, way) for name, way in short.ends for wrong in self.wrong.among_all(name)
            ]
        else:
            suspects = of_ends(short, self.wrong, ())
        known = {wrong.setting.id for wrong, _ in suspects}
        more = [wrong for wrong in self.shared if wrong.setting.id not in known]
        return suspects + [(wrong, wrong.setting.effect.direction) for wrong in more]

    def _shortfall(self, finding: Finding) -> Shortfall | None:
        """Return the shortfall that a finding reports, or None if it reports no share of
        goodput.
        """
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
        shortfall = _of_route(self.slow[about], ends)
        return replace(shortfall, both=about.back in self.slow)


def _with_causes(finding: Finding, causes: Sequence[Cause]) -> Finding:
    return msgspec.structs.replace(
        finding,
        message=f"{finding.message}. {cause_sentence(causes)}",
        evidence=finding.evidence | cause_evidence(causes),
        advice=advice_of(causes) or finding.advice,
    )


def _missing(finding: Finding, value_key: str, usual_key: str) -> float | None:
    value, usual = finding.evidence.get(value_key), finding.evidence.get(usual_key)
    if not isinstance(value, float) or not isinstance(usual, float) or usual <= 0:
        return None
    return 1.0 - value / usual


def _exactly(share: float | None, ends: _Ends) -> Shortfall | None:
    return None if share is None else Shortfall("goodput", share, share, share, ends)


def _of_route(slow: Sequence[PairVerdict], ends: _Ends) -> Shortfall:
    """Return the shortfall of the route's largest slow messages against the attainable goodput."""
    largest = max(pair.message_bytes for pair in slow)
    slowest = min(
        (pair for pair in slow if pair.message_bytes == largest), key=lambda pair: pair.value
    )
    reached = slowest.efficiency or 0.0
    low, high = sorted(
        1.0 - reached * bound / slowest.value for bound in (slowest.low, slowest.high)
    )
    return Shortfall("goodput", 1.0 - reached, low, high, ends)
