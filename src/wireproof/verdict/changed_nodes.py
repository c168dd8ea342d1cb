"""Which nodes or pairs changed apart from the others between two results. Pure.

The ratios of all routes are a table of pairs: what stands out among them by the rows alone
(``locate.screen.few``) has become slower, or, of the inverse ratios, faster than the rest has.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np

from wireproof.locate.samples import Samples
from wireproof.locate.screen.few import by_rows
from wireproof.locate.screen.sweep import screen
from wireproof.model.finding import Both, Node, Port, Route, Subject
from wireproof.model.located import Metric

__all__ = ["changed_apart"]

Ends = tuple[str, ...]


def changed_apart(ratios: Mapping[Ends, float], metric: Metric) -> list[tuple[str, list[Ends]]]:
    """Each node or pair that changed otherwise than the rest, in words, with its routes; no route
    twice. ``ratios``: the value of the second result over that of the first, by route.
    """
    left = dict(ratios)
    found: list[tuple[str, list[Ends]]] = []
    # That one node is slower and that all others are faster are the same rows: what leaves the
    # rest nearest to no change comes first.
    for sign in sorted((1.0, -1.0), key=lambda sign: _rest(ratios, metric, sign)):
        for about in _standing_out({ends: value**sign for ends, value in left.items()}, metric):
            routes = [ends for ends in left if _takes_part(about, ends)]
            if routes:
                found.append((_words(about), routes))
            for ends in routes:
                del left[ends]
    return found


def _rest(ratios: Mapping[Ends, float], metric: Metric, sign: float) -> float:
    """How far the routes that do not stand out have changed."""
    apart = _standing_out({ends: value**sign for ends, value in ratios.items()}, metric)
    rest = [
        math.log(value)
        for ends, value in ratios.items()
        if not any(_takes_part(about, ends) for about in apart)
    ]
    return abs(fmean(rest)) if apart and rest else math.inf


def _standing_out(ratios: Mapping[Ends, float], metric: Metric) -> Sequence[Subject]:
    routes = [ends for ends in ratios if len(ends) == 2]
    nodes = tuple(dict.fromkeys(name for ends in routes for name in ends))
    if len(nodes) < 3:
        return []
    number = {name: at for at, name in enumerate(nodes)}
    located, _ = by_rows(
        screen(
            Samples(
                metric=metric,
                nodes=nodes,
                origin=np.asarray([number[origin] for origin, _ in routes], dtype=np.int32),
                target=np.asarray([number[target] for _, target in routes], dtype=np.int32),
                round=np.zeros(len(routes), dtype=np.int32),
                value=np.asarray([ratios[ends] for ends in routes], dtype=np.float64),
                half_width=np.full(len(routes), np.nan),
            )
        )
    )
    return [blame.about for blame in located.blames if blame.about is not None]


def _takes_part(about: Subject, ends: Ends) -> bool:
    match about:
        case Node(node):
            return node in ends
        case Port(node, direction):
            return ends[0 if direction == "tx" else 1] == node
        case Route(origin, target):
            return ends == (origin, target)
        case Both(one, other):
            return set(ends) == {one, other}
    return False


def _words(about: Subject) -> str:
    if isinstance(about, Port):
        return f"{about.node} {'sends' if about.direction == 'tx' else 'receives'}"
    return str(about)
