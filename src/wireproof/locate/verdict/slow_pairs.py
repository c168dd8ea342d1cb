# pure
"""Slow pairs: clear pairs that are slow only under load from other pairs, or on a path that is
slower by design, and report settings that may slow down the remaining pairs. Pure. A pair can be
cleared only by a measurement, and only if it is on the wire and slowness is its only problem.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from wireproof.locate.causes.differing import Wrong, WrongSettings
from wireproof.locate.causes.settings import Shortfall, causes_of, of_ends
from wireproof.locate.samples import Samples
from wireproof.locate.screen.strata import places_of, tiers_of
from wireproof.locate.verdict.issues import advice_of, cause_evidence, cause_sentence
from wireproof.model import gathered
from wireproof.model.claim import Criteria, LinkClaim
from wireproof.model.finding import (
    Direction,
    Finding,
    Judgement,
    Node,
    PairVerdict,
    Port,
    Route,
    Subject,
)
from wireproof.model.located import Cause, Fabric, Located, Tier
from wireproof.verdict.issue import SLOW

_ONE_WAY = ("stream", "put")
_REACH = 3.0


def good_alone(judgement: Judgement, located: Sequence[Located]) -> set[Subject]:
    """Return cleared suspects, as ports with direction or as routes, whose results alone all
    pass.
    """
    suspects: set[Subject | None] = set()
    for sweep in located:
        if sweep.metric == "goodput":
            suspects.update(sweep.acquitted)
            suspects.update(contention.about for contention in sweep.contention)
    alone = _alone(judgement.pairs)
    cleared: set[Subject] = set()
    for suspect in suspects:
        for way in _ways(suspect):
            verdicts = [pair.verdict for pair in alone if way in _subjects(pair)]
            if verdicts and all(verdict == "pass" for verdict in verdicts):
                cleared.add(way)
    return cleared


def _ways(suspect: Subject | None) -> list[Subject]:
    """Return a node as its port in both directions."""
    if isinstance(suspect, Node):
        return [Port(suspect.name, "tx"), Port(suspect.name, "rx")]
    return [suspect] if isinstance(suspect, Port | Route) else []


def _alone(pairs: Iterable[PairVerdict]) -> list[PairVerdict]:
    """Return one-way results of points in which no other pair ran."""
    listed = list(pairs)
    count = Counter((pair.point, pair.repeat) for pair in listed)
    return [pair for pair in listed if count[pair.point, pair.repeat] == 1 and _one_way(pair)]


def _one_way(pair: PairVerdict) -> bool:
    return pair.unit == "bytes_per_s" and pair.pattern in _ONE_WAY


def _subjects(pair: PairVerdict) -> tuple[Route, Port, Port]:
    origin, target = pair.origin_host, pair.target_host
    return Route(origin, target), Port(origin, "tx"), Port(target, "rx")


def harmless(
    judgement: Judgement,
    located: Sequence[Located],
    min_efficiency: float,
    fabric: Fabric | None = None,
) -> dict[int, PairVerdict]:
    """Return the verdicts whose failure is lifted: id of a pair's verdict -> the verdict without
    the failure.

    Contention: the pair reaches ``min_efficiency`` of its limit alone according to ``located``, or
    all results of its cleared end alone pass. Tier: according to ``fabric``, the pair uses a type
    of path that is slower by design, the pair is no slower than that type, and the best type
    reaches ``min_efficiency``.
    """
    accused = [pair for pair in judgement.pairs if _only_slow(pair)]
    if not accused:
        return {}
    alone = _best_alone(located)
    good = good_alone(judgement, located)
    tiers = _tier_medians(accused, located, min_efficiency, fabric)
    cleared: dict[int, PairVerdict] = {}
    for pair, tier in zip(accused, tiers, strict=True):
        least = min_efficiency * (pair.limit or 0.0)
        code = ""
        if any(alone.get(subject, 0.0) >= least or subject in good for subject in _subjects(pair)):
            code = "contention"
        elif tier is not None and pair.value >= tier:
            code = "tier-oversubscribed"
        if code:
            cleared[id(pair)] = msgspec.structs.replace(pair, verdict="pass", codes=[code])
    return cleared


def _best_alone(located: Sequence[Located]) -> dict[Subject | None, float]:
    """Return the goodput when measured alone of each subject that was slow under load."""
    return {
        contention.about: contention.alone
        for sweep in located
        if sweep.metric == "goodput"
        for contention in sweep.contention
    }


def by_design(
    routes: Sequence[Route], located: Sequence[Located], fabric: Fabric | None
) -> list[Tier | None]:
    """Return each route's type of path if it is slower by design than the best type, else None."""
    sweep = next((sweep for sweep in located if sweep.metric == "goodput"), None)
    if sweep is None or fabric is None or not routes:
        return [None] * len(routes)
    limit = 1.0 + sweep.practical
    slower = {tier.name: tier for tier in sweep.tiers if tier.oversubscription > limit}
    return (
        [slower.get(name) for name in _tier_names(routes, fabric)]
        if slower
        else [None] * len(routes)
    )


def _only_slow(pair: PairVerdict) -> bool:
    slow = pair.verdict == "fail" and set(pair.codes) == {"below-expectation"}
    return slow and pair.limit is not None and _one_way(pair) and pair.proof == "on-wire"


def _tier_medians(
    pairs: Sequence[PairVerdict],
    located: Sequence[Located],
    min_efficiency: float,
    fabric: Fabric | None,
) -> list[float | None]:
    """Return for each pair the lowest goodput that its type of path excuses, or None if it excuses
    none.
    """
    routes = [pair.route for pair in pairs]
    kinds = by_design(routes, located, fabric)
    best = max(
        (tier.median for sweep in located if sweep.metric == "goodput" for tier in sweep.tiers),
        default=0.0,
    )
    spread = {id(tier): _usual_share(tier, sweep) for sweep in located for tier in sweep.tiers}
    return [
        kind.median * spread[id(kind)]
        if kind is not None and best >= min_efficiency * (pair.limit or 0.0)
        else None
        for kind, pair in zip(kinds, pairs, strict=True)
    ]


def _usual_share(tier: Tier, located: Located) -> float:
    """Return the share of the tier's median that its slower flows get: flows do not share a link
    evenly.
    """
    return min(1.0 - located.practical, math.exp(-_REACH * tier.spread))


def _tier_names(routes: Sequence[Route], fabric: Fabric) -> list[str]:
    nodes = tuple(dict.fromkeys(host for route in routes for host in (route.origin, route.target)))
    # Include every node of the fabric, so that the types get the same names as in the whole screen.
    nodes = tuple(dict.fromkeys([*nodes, *(place.node for place in fabric.attachments)]))
    index = {name: number for number, name in enumerate(nodes)}
    nothing = np.zeros(len(routes), dtype=np.float64)
    samples = Samples(
        metric="goodput",
        nodes=nodes,
        origin=np.asarray([index[route.origin] for route in routes], dtype=np.int32),
        target=np.asarray([index[route.target] for route in routes], dtype=np.int32),
        round=np.zeros(len(routes), dtype=np.int32),
        value=nothing + 1.0,
        half_width=nothing,
    )
    number, names = tiers_of(samples, places_of(nodes, fabric))
    return [names[tier] for tier in number.tolist()]


# --- Settings that may cause shortfalls without a culprit: settings of the ends, or settings that
# are wrong on all hosts.


_ALL = 0.75
"""Share of routes that must fall short before settings common to all hosts are suspected."""
_MOST = 5
_MOST_FINDINGS = 1000
"""Limit, because the findings of all routes of hundreds of hosts would be alike."""
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
        """Return the settings of the ends that differ from other hosts', and the settings that are
        wrong on all hosts.
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
        return msgspec.structs.replace(shortfall, both=about.back in self.slow)


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
