"""What a screen found, and what it could have found."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from wireproof.locate.criteria import LocateCriteria, as_log, as_slowdown
from wireproof.locate.routes.search import blame_paths
from wireproof.locate.samples import Floats, Samples
from wireproof.locate.screen.effects import Effects
from wireproof.locate.screen.strata import Kinds
from wireproof.locate.screen.suspects import Suspect, directions_of
from wireproof.locate.significance import MEDIAN_FACTOR, detectable, loose
from wireproof.locate.tiers import Places
from wireproof.model.fabric import Fabric
from wireproof.model.finding import Node, Port, Switch
from wireproof.model.located import Blame, Located


@dataclasses.dataclass(frozen=True, kw_only=True)
class Screened:
    """``suspects``: nodes and ports, the surest first, to be measured alone with partners of
    ``good`` (known-good nodes, the best first); ``pairs``: routes that were slow once between ports
    that are not, to be measured again.

    ``levels``: expected log slowness by kind of path and kind of node, ``level_errors`` their
    standard errors. ``expected``: the value (in the metric's unit) that each sample should have
    after paths, kinds and ports. ``sharp``: kinds of path on which a slow port shows. ``effects``
    is None when nothing was measured.
    """

    suspects: list[Suspect]
    pairs: list[Suspect]
    good: list[str]
    located: Located
    samples: Samples
    fabric: Fabric | None
    places: Places
    kinds: Kinds
    levels: dict[tuple[str, int], float]
    level_errors: dict[tuple[str, int], float]
    sharp: frozenset[str]
    expected: Floats
    effects: Effects | None
    criteria: LocateCriteria


def path_blames(screened: Screened, blames: Sequence[Blame]) -> list[Blame]:
    """Links and switches that are slow, by the screen's samples, once the ports that ``blames``
    names are known.
    """
    if screened.effects is None:
        return []
    excluded = {
        (name, one.direction)
        for one in blames
        if isinstance(one.about, Node | Port | Switch)
        for name in one.nodes
    }
    return blame_paths(
        screened.samples,
        screened.expected,
        float(np.nanmax(screened.effects.sigma)),
        excluded,
        screened.fabric,
        screened.criteria,
    )


def least_found(screened: Screened, *, again: bool) -> float:
    """The slowdown that is found with 95 % power: as a suspect that is measured ``again`` (or would
    be, where there are no suspects), else as the screen's own blame.
    """
    effects, located = screened.effects, screened.located
    if effects is None:
        return located.detectable
    directions = 3 if len(directions_of(screened.samples)) == 2 else 1
    hypotheses = directions * located.measured
    some = effects.samples > 0
    # A port is compared with the median of all ports, which few ports do not know well.
    error = float(
        np.median(effects.error[some]) * np.hypot(1.0, MEDIAN_FACTOR / np.sqrt(np.sum(some)))
    )
    practical = as_log(located.metric, located.practical)
    p = loose(hypotheses, located.alpha) if again else located.alpha / max(1, hypotheses)
    return as_slowdown(located.metric, detectable(error, p, practical, freedom=effects.freedom))
