"""Clear slow pairs that are slow only among others, or on a path that is slower by design. Pure.

Only a pair that is on the wire and accused of nothing but being slow can be cleared, and only by a
measurement.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from wireproof.locate.samples import Samples
from wireproof.locate.screen.strata import places_of, tiers_of
from wireproof.model.finding import Judgement, Node, PairVerdict, Port, Route, Subject
from wireproof.model.located import Fabric, Located, Tier

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
    """Return the verdicts that lose their failure: id of a pair's verdict -> the verdict without
    the failure.

    Contention: the pair reaches ``min_efficiency`` of its limit alone according to ``located``, or
    everything that its cleared end measured alone passes. Tier: ``fabric`` puts the pair on a kind
    of path that is slower by design, the pair is no slower than that kind, and the best kind
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
    """Return the goodput alone of everything that was slow among others."""
    return {
        contention.about: contention.alone
        for sweep in located
        if sweep.metric == "goodput"
        for contention in sweep.contention
    }


def by_design(
    routes: Sequence[Route], located: Sequence[Located], fabric: Fabric | None
) -> list[Tier | None]:
    """Return each route's kind of path if that is slower by design than the best kind, else
    None.
    """
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
    """Return for each pair the least goodput that its kind of path excuses, or None if it excuses
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
    # Include every node of the fabric, so that the kinds get the same names as in the whole screen.
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
