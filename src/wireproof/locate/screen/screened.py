"""The result of a screen, and the smallest slowdown that it could detect."""

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
    """``suspects``: nodes and ports, the most certain first, to be measured alone with partners
    from ``good`` (known-good nodes, the best first). ``pairs``: routes that were slow once between
    good ports, to be measured again.

    ``levels``: expected log slowness by kind of path and kind of node, ``level_errors`` their
    standard errors. ``expected``: the value of each sample (in the metric's unit) that paths, kinds
    and ports predict. ``sharp``: kinds of path on which a slow port shows. ``effects``: None if
    nothing was measured.
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
    """Return slow links and switches from the screen's samples, excluding the ports that ``blames``
    names.
    """
    if screened.effects is None:
        return []
    excluded = {
        (name, blame.direction)
        for blame in blames
        if isinstance(blame.about, Node | Port | Switch)
        for name in blame.nodes
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
    """Return the slowdown detected with 95 % power: as a suspect that is measured ``again`` (or
    would be, if there are no suspects), else as a blame of the screen.
    """
    effects, located = screened.effects, screened.located
    if effects is None:
        return located.detectable
    directions = 3 if len(directions_of(screened.samples)) == 2 else 1
    hypotheses = directions * located.measured
    measured = effects.samples > 0
    # A port is compared with the median of all ports, which is uncertain if there are few.
    error = float(
        np.median(effects.error[measured])
        * np.hypot(1.0, MEDIAN_FACTOR / np.sqrt(np.sum(measured)))
    )
    practical = as_log(located.metric, located.practical)
    p = loose(hypotheses, located.alpha) if again else located.alpha / max(1, hypotheses)
    return as_slowdown(located.metric, detectable(error, p, practical, freedom=effects.freedom))
