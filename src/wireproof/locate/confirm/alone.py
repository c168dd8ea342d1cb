"""What a suspect measures alone: slow with every partner, with one, in one kind of path only, or
with none.

Each (suspect, direction) has its repeats with a few known-good partners. A partner's median says
how slow the suspect is with that partner; the median over partners how slow the suspect is. The
expected value of a kind of path is that of the good ports in the same samples (controls), else the
screen's.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wireproof.locate.blame import Estimate
from wireproof.locate.groups import grouped_median
from wireproof.locate.samples import Samples
from wireproof.locate.screen.effects import robust_scale
from wireproof.locate.significance import (
    MEDIAN_FACTOR,
    Floats,
    as_normal,
    at_least_half,
    holm,
    upper_tail,
)
from wireproof.locate.slowness import log_slowness
from wireproof.locate.tiers import ALL, ONE_SWITCH
from wireproof.model.located import Direction

__all__ = ["Alone", "Finding", "Partner", "alone", "look", "look_at_pairs"]

Shape = Literal["all", "path", "partner", "fast", "unclear"]
Pair = tuple[str, str]

_CONTROLS = 3
_PRIOR_FREEDOM, _PRIOR_NOISE = 8.0, 0.05
# standard errors by which an estimate may miss the practical threshold: 2.3 % of the time by chance
_NOT_BELOW = 2.0
_STRICT = 0.2  # of the family-wise error: what was suspected because it was slow tends to look slow
_FAR = 3.0
_AS_FAST = 0.03
_REACHED = 0.7
# times the practical threshold: with one partner only, both ports' spread and chance count
_LONE = 2.0
_CONTRADICTS = 0.5  # a partner that sees less than half of the slowdown speaks against it


@dataclasses.dataclass(frozen=True, kw_only=True)
class Alone:
    """The confirm stage's samples with what is ``expected`` of each (log slowness) its kind of path
    (``tier``) and the slower end's ``kind`` of NIC (0 the fastest).

    ``sharp``: the kinds of path that show a port's slowness, the fastest unless they are noisy: a
    path that is slow anyway hides a port. ``sigma``: of one sample; ``doubt``: standard error of
    ``expected``; ``spread``: of healthy ports; ``practical``: the least slowdown that is called
    one; ``tail``: sorted, what the screen left unexplained.
    """

    samples: Samples
    expected: Floats
    tier: NDArray[np.int32]
    kind: NDArray[np.int32]
    tiers: tuple[str, ...]
    sharp: frozenset[str]
    sigma: float
    doubt: Floats
    spread: float
    practical: float
    alpha: float
    tail: Floats


@dataclasses.dataclass(frozen=True, kw_only=True)
class Partner:
    """``slowness`` of the suspect's pairs with node ``name`` on a path of kind ``tier``, with its
    standard error.

    ``doubt``: standard error of ``expected``; ``each``: sample's slowness, ``early`` the fastest;
    ``kind``: of the slower NIC.
    """

    name: str
    tier: str
    slowness: float
    error: float
    expected: float
    doubt: float
    early: float
    each: Floats
    samples: int
    kind: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class Finding:
    """One direction of one suspect. ``shape``: slow with ``all`` partners, on one kind of ``path``
    only, with one ``partner`` only, ``fast`` with all, or ``unclear``. ``slow``: those that decide
    (all of them for ``all``).

    ``p`` is adjusted for all that was looked at (Holm). ``expected``: log slowness of a good pair
    on these paths.
    """

    node: str
    direction: Direction
    shape: Shape
    slowness: float
    error: float
    p: float
    expected: float
    partners: tuple[Partner, ...]
    slow: tuple[Partner, ...]

    @property
    def estimate(self) -> Estimate:
        return Estimate(slowness=self.slowness, error=self.error, p=self.p, expected=self.expected)


def alone(
    confirm: Samples,
    control: NDArray[np.bool_],
    tier: NDArray[np.int32],
    tiers: tuple[str, ...],
    kind: NDArray[np.int32],
    levels: Mapping[tuple[str, int], float],
    level_errors: Mapping[tuple[str, int], float],
    sharp: frozenset[str],
    noise: float,
    spread: float,
    practical: float,
    alpha: float,
    tail: Floats,
) -> Alone:
    """The samples ready to be looked at. ``levels``: the screen's, by kind of path and of nodes;
    ``kind``: of each sample. Three samples of good ports (``control``) correct the screen's level,
    or replace it where others had slowed the path.
    """
    logs = log_slowness(confirm)
    known = list(levels.values())
    expected, doubt = np.empty(logs.size), np.zeros(logs.size)
    sigma = _own_noise(confirm, logs, noise)
    shift, shared = _now(logs, control, tier, kind, tiers, levels, sharp)
    for number, slowest in sorted({(int(t), int(k)) for t, k in zip(tier, kind, strict=True)}):
        own = (tier == number) & (kind == slowest)
        key = (tiers[number], slowest)
        level = levels.get(key, max(known) if known else float(np.median(logs[own])))
        together = shared >= _CONTROLS and key in levels and tiers[number] in sharp
        controls = shared if together else int(np.sum(own & control))
        measured = controls >= _CONTROLS
        now = (
            level + shift
            if together
            else float(np.median(logs[own & control]))
            if measured
            else level
        )
        now = min(now, _reached(confirm, logs, own, now - practical, sigma))
        # Which pairs have more hops nobody knows without a topology, and the controls may have had
        # none.
        expected[own] = max(now, level) if tiers[number] == ALL and confirm.metric == "hrt" else now
        doubt[own] = (
            float(np.hypot(MEDIAN_FACTOR * sigma / controls**0.5, spread))
            if measured
            else level_errors.get(key, 0.0)
        )
    return Alone(
        samples=confirm,
        expected=expected,
        tier=tier,
        kind=kind,
        tiers=tiers,
        sharp=sharp,
        sigma=sigma,
        doubt=doubt,
        spread=spread,
        practical=practical,
        alpha=alpha,
        tail=tail,
    )


def _reached(
    confirm: Samples, logs: Floats, own: NDArray[np.bool_], least: float, sigma: float
) -> float:
    """What the fastest direction of a route reached alone on this kind of path, when beyond doubt
    faster than ``least`` (the screen's level less the practical threshold): among others everybody
    had collided. Else infinite.
    """
    route = confirm.origin.astype(np.int64) * len(confirm.nodes) + confirm.target
    found, place, members = np.unique(route[own], return_inverse=True, return_counts=True)
    if not found.size:
        return math.inf
    medians, _ = grouped_median(place, logs[own], found.size)
    fast = medians[(members >= _CONTROLS) & (medians + _FAR * sigma < least)]
    return float(np.median(fast)) if fast.size else math.inf


def _now(
    logs: Floats,
    control: NDArray[np.bool_],
    tier: NDArray[np.int32],
    kind: NDArray[np.int32],
    tiers: tuple[str, ...],
    levels: Mapping[tuple[str, int], float],
    sharp: frozenset[str],
) -> tuple[float, int]:
    """(how much slower than in the screen good ports are now, by how many controls): all those on
    paths that show a port, because the few on one kind of path may have met the tail of the noise.
    """
    keys = [
        (tiers[number], slowest)
        for number, slowest in zip(tier.tolist(), kind.tolist(), strict=True)
    ]
    chosen = [
        row
        for row in np.nonzero(control)[0].tolist()
        if keys[row] in levels and keys[row][0] in sharp
    ]
    if not chosen:
        return 0.0, 0
    return float(np.median([logs[row] - levels[keys[row]] for row in chosen])), len(chosen)


def _own_noise(confirm: Samples, logs: Floats, noise: float) -> float:
    """Sigma of one sample measured alone: MAD within the routes, joined with what the screen
    found.
    """
    route = confirm.origin.astype(np.int64) * len(confirm.nodes) + confirm.target
    within = [
        logs[route == one] - np.median(logs[route == one])
        for one in np.unique(route)
        if np.sum(route == one) > 2
    ]
    left = np.concatenate(within) if within else np.zeros(0)
    noise = min(noise, _PRIOR_NOISE)  # what contention adds to the screen is gone alone
    weight = 0.37 * left.size
    return float(
        np.sqrt(
            (weight * robust_scale(left) ** 2 + _PRIOR_FREEDOM * noise**2)
            / (weight + _PRIOR_FREEDOM)
        )
    )


def look(view: Alone, suspects: Iterable[str]) -> list[Finding]:
    """What the samples say of each suspect and direction."""
    drafts = [
        _overall(node, way, partners, view)
        for (node, way), partners in sorted(_partners(view, set(suspects)).items())
    ]
    adjusted = _adjusted([one.slowness / one.error for one in drafts], view)
    each = _adjusted([one.slowness / one.error for draft in drafts for one in draft.partners], view)
    return [
        _shaped(dataclasses.replace(draft, p=p), [each.pop(0) for _ in draft.partners], view)
        for draft, p in zip(drafts, adjusted, strict=True)
    ]


def _adjusted(scores: Sequence[float], view: Alone) -> list[float]:
    """Holm's p of scores in standard errors."""
    t = np.asarray(scores, dtype=np.float64)
    found: list[float] = holm(upper_tail(as_normal(t, _PRIOR_FREEDOM + len(view.samples)))).tolist()
    return found


def _partners(view: Alone, suspected: set[str]) -> dict[tuple[str, Direction], tuple[Partner, ...]]:
    """By suspect and direction, its partners. Another suspect is a partner only where there is no
    other.
    """
    samples = view.samples
    directed = samples.metric == "goodput"
    cells: dict[tuple[str, Direction, str, int], list[int]] = {}
    columns = zip(samples.origin.tolist(), samples.target.tolist(), view.tier.tolist(), strict=True)
    for row, (origin, target, tier) in enumerate(columns):
        a, b = samples.nodes[origin], samples.nodes[target]
        if a in suspected:
            cells.setdefault((a, "tx" if directed else "", b, tier), []).append(row)
        if b in suspected:
            cells.setdefault((b, "rx" if directed else "", a, tier), []).append(row)
    found: dict[tuple[str, Direction], list[Partner]] = {}
    for (node, way, other, tier), rows in cells.items():
        found.setdefault((node, way), []).append(_partner(view, other, tier, np.asarray(rows)))
    return {
        key: _telling([one for one in partners if one.name not in suspected] or partners)
        for key, partners in found.items()
    }


def _telling(partners: list[Partner]) -> tuple[Partner, ...]:
    """Without partners whose NIC is of a slower kind than the others': behind it a port does not
    show.
    """
    fastest = min(one.kind for one in partners)
    return tuple(one for one in partners if one.kind == fastest)


def _partner(view: Alone, name: str, tier: int, rows: NDArray[np.intp]) -> Partner:
    logs = log_slowness(view.samples)[rows]
    return Partner(
        name=name,
        tier=view.tiers[tier],
        slowness=float(np.median(logs - view.expected[rows])),
        error=float(np.sqrt((MEDIAN_FACTOR * view.sigma) ** 2 / rows.size + view.spread**2)),
        expected=float(np.median(view.expected[rows])),
        doubt=float(np.max(view.doubt[rows])),
        early=float(np.min(logs - view.expected[rows])),
        samples=int(rows.size),
        each=logs - view.expected[rows],
        kind=int(view.kind[rows[0]]),
    )


def _showing(partners: tuple[Partner, ...], view: Alone) -> list[Partner]:
    """The partners by which a port is judged: on paths that show it best in the screen, or that are
    as fast alone.
    """
    fastest = min(one.expected for one in partners)
    return [
        one for one in partners if one.tier in view.sharp or one.expected <= fastest + _AS_FAST
    ] or list(partners)


def _steadily(draft: Finding, own: Sequence[Partner], view: Alone) -> bool:
    """Whether most of the samples alone are slow, and not only the half that a noise of two values
    makes slow: three quarters are, or half would be by chance too rare (``tail``: all that the
    screen left unexplained).
    """
    ordered = np.sort(np.concatenate([one.each for one in own]))
    if float(ordered[(ordered.size - 1) // 4]) + view.sigma >= _CONTRADICTS * draft.slowness:
        return True
    beyond = view.tail.size - int(np.searchsorted(view.tail, _REACHED * draft.slowness))
    chance = at_least_half(int(ordered.size), (beyond + 1) / (view.tail.size + 1))
    return chance * len(view.samples.nodes) * 2 <= view.alpha


def _overall(node: str, way: Direction, partners: tuple[Partner, ...], view: Alone) -> Finding:
    """The suspect's own slowness: the median over its partners on the paths that show a port
    best.
    """
    own = _showing(partners, view)
    doubt = max(one.doubt for one in own)
    # the suspect's own spread, and its partners' averaged
    apart = view.spread**2 * (1.0 + 1.0 / len(own))
    total = sum(one.samples for one in own)
    return Finding(
        node=node,
        direction=way,
        shape="unclear",
        slowness=float(np.median([one.slowness for one in own])),
        error=float(np.sqrt((MEDIAN_FACTOR * view.sigma) ** 2 / total + apart + doubt**2)),
        p=1.0,
        expected=float(np.median([one.expected for one in own])),
        partners=partners,
        slow=(),
    )


def _shaped(draft: Finding, each: Sequence[float], view: Alone) -> Finding:
    """The finding with its shape."""
    guilty = (
        draft.p <= view.alpha * _STRICT
        and draft.slowness + _NOT_BELOW * draft.error >= view.practical
    )
    own = _showing(draft.partners, view)
    beyond = [
        (one, p)
        for one, p in zip(draft.partners, each, strict=True)
        if p <= view.alpha * _STRICT and one.slowness + _NOT_BELOW * one.error >= view.practical
    ]
    size = draft.slowness if guilty else max((one.slowness for one, _ in beyond), default=0.0)
    against = [
        one
        for one in own
        if one.slowness < _CONTRADICTS * size and one.slowness + _FAR * one.error < size
    ]
    if guilty and not against and _steadily(draft, own, view):
        return dataclasses.replace(draft, shape="all", slow=tuple(own))
    slow = [one for one, _ in beyond if one not in against]
    if not slow or not against:
        return dataclasses.replace(draft, shape="unclear" if slow else "fast")
    fast = {one.tier for one in against}
    behind = {one.tier for one in slow}.isdisjoint(
        {one.tier for one in draft.partners if one not in slow}
    )
    split = behind and ONE_SWITCH in fast
    lone = len(slow) == 1 and min(slow[0].slowness, 2.0 * slow[0].early) >= _LONE * view.practical
    shape: Shape = (
        "path" if split else "partner" if lone else "all" if guilty and len(slow) > 1 else "unclear"
    )
    return dataclasses.replace(
        draft,
        shape=shape,
        slow=tuple(slow),
        slowness=float(np.median([one.slowness for one in slow])),
        error=float(np.sqrt(np.mean([one.error**2 for one in slow]) / len(slow) + view.spread**2)),
        expected=float(np.median([one.expected for one in slow])),
        p=min(p for _, p in beyond),
    )


def look_at_pairs(view: Alone, pairs: Sequence[Pair]) -> list[Finding]:
    """What the samples say of each suspected (origin, target); pairs without samples are left out.

    ``node`` is the origin, the one partner the target. Half round trips have no order.
    """
    samples = view.samples
    index = {name: number for number, name in enumerate(samples.nodes)}
    drafts = []
    for a, b in pairs:
        own = (samples.origin == index.get(a, -1)) & (samples.target == index.get(b, -1))
        if samples.metric == "hrt":
            own |= (samples.origin == index.get(b, -1)) & (samples.target == index.get(a, -1))
        rows = np.nonzero(own)[0]
        if rows.size:
            drafts.append(
                _overall(a, "", (_partner(view, b, int(view.tier[rows[0]]), rows),), view)
            )
    adjusted = _adjusted([one.slowness / one.error for one in drafts], view)
    return [
        _shaped(dataclasses.replace(one, p=p), [p], view)
        for one, p in zip(drafts, adjusted, strict=True)
    ]
