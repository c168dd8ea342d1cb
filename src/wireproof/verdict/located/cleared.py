"""Which slow pairs are nobody's fault: slow among others and fast alone, or on a path that is
slower by design. Pure.

Only a pair that is on the wire and accused of nothing but being slow can be acquitted, and only by
what was measured.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from wireproof.locate.samples import Samples
from wireproof.locate.tiers import places_of, tiers_of
from wireproof.model.fabric import Fabric
from wireproof.model.finding import Judgement, Node, PairVerdict, Port, Route, Subject
from wireproof.model.located import Located, Tier

_ONE_WAY = ("stream", "put")
_REACH = 3.0


def good_alone(judgement: Judgement, located: Sequence[Located]) -> set[Subject]:
    """Suspects that were cleared, as ports with their direction or as routes, whose results alone
    all pass.
    """
    suspects: set[Subject | None] = set()
    for one in located:
        if one.metric == "goodput":
            suspects.update(one.acquitted)
            suspects.update(each.about for each in one.contention)
    alone = _alone(judgement.pairs)
    found: set[Subject] = set()
    for suspect in suspects:
        for way in _ways(suspect):
            verdicts = [pair.verdict for pair in alone if way in _subjects(pair)]
            if verdicts and all(verdict == "pass" for verdict in verdicts):
                found.add(way)
    return found


def _ways(suspect: Subject | None) -> list[Subject]:
    """A node is its port in both directions."""
    if isinstance(suspect, Node):
        return [Port(suspect.name, "tx"), Port(suspect.name, "rx")]
    return [suspect] if isinstance(suspect, Port | Route) else []


def _alone(pairs: Iterable[PairVerdict]) -> list[PairVerdict]:
    """One-way results of points in which no other pair ran."""
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
    """id of a pair's verdict -> the same without its failure.

    Contention: ``located`` says that it reaches ``min_efficiency`` of its limit alone, or
    everything that its cleared end measured alone passes. Tier: ``fabric`` puts it on a kind of
    path that is slower by design for all, it is no slower than these, and the best kind reaches
    ``min_efficiency``.
    """
    accused = [pair for pair in judgement.pairs if _only_slow(pair)]
    if not accused:
        return {}
    alone = _best_alone(located)
    good = good_alone(judgement, located)
    tiers = _tier_medians(accused, located, min_efficiency, fabric)
    found: dict[int, PairVerdict] = {}
    for pair, tier in zip(accused, tiers, strict=True):
        least = min_efficiency * (pair.limit or 0.0)
        code = ""
        if any(alone.get(subject, 0.0) >= least or subject in good for subject in _subjects(pair)):
            code = "contention"
        elif tier is not None and pair.value >= tier:
            code = "tier-oversubscribed"
        if code:
            found[id(pair)] = msgspec.structs.replace(pair, verdict="pass", codes=[code])
    return found


def _best_alone(located: Sequence[Located]) -> dict[Subject | None, float]:
    """What was slow among others, and the goodput that it has alone."""
    contention = [one for each in located if each.metric == "goodput" for one in each.contention]
    return {one.about: one.alone for one in contention}


def by_design(
    routes: Sequence[Route], located: Sequence[Located], fabric: Fabric | None
) -> list[Tier | None]:
    """Of each route its kind of path, where that is slower by design than the best kind; else
    None.
    """
    one = next((each for each in located if each.metric == "goodput"), None)
    if one is None or fabric is None or not routes:
        return [None] * len(routes)
    slower = {tier.name: tier for tier in one.tiers if tier.oversubscription > 1.0 + one.practical}
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
    """Of each pair, the least goodput that its kind of path makes innocent; None where nothing
    does.
    """
    routes = [Route(pair.origin_host, pair.target_host) for pair in pairs]
    kinds = by_design(routes, located, fabric)
    best = max(
        (tier.median for one in located if one.metric == "goodput" for tier in one.tiers),
        default=0.0,
    )
    spread = {id(tier): _usual_share(tier, one) for one in located for tier in one.tiers}
    return [
        kind.median * spread[id(kind)]
        if kind is not None and best >= min_efficiency * (pair.limit or 0.0)
        else None
        for kind, pair in zip(kinds, pairs, strict=True)
    ]


def _usual_share(tier: Tier, located: Located) -> float:
    """Of the tier's median, what its slower flows get: those that share a link do not share it
    evenly.
    """
    return min(1.0 - located.practical, math.exp(-_REACH * tier.spread))


def _tier_names(routes: Sequence[Route], fabric: Fabric) -> list[str]:
    nodes = tuple(dict.fromkeys(host for route in routes for host in (route.origin, route.target)))
    # Every node of the fabric takes part, so that the kinds have the names that they have in the
    # whole screen.
    nodes = tuple(dict.fromkeys([*nodes, *(one.node for one in fabric.attachments)]))
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
    return [names[one] for one in number.tolist()]
