# pure
"""Classify a suspect measured alone: slow with every partner, with one partner, only on one kind of
path, or with no partner.

Each (suspect, direction) is measured repeatedly with a few known-good partners. The median per
partner is the suspect's slowness with that partner; the median over partners is the suspect's
slowness.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from wireproof.locate.blame import SlownessEstimate
from wireproof.locate.confirm.expected import Alone
from wireproof.locate.samples import Floats, Indices
from wireproof.locate.screen.strata import ONE_SWITCH
from wireproof.locate.significance import (
    MEDIAN_FACTOR,
    as_normal,
    as_slowdown,
    at_least_half,
    holm,
    upper_tail,
)
from wireproof.model import gathered
from wireproof.model.finding import Direction
from wireproof.model.located import Metric
from wireproof.model.quantity import percent

Shape = Literal["all", "path", "partner", "fast", "unclear"]

_PRIOR_FREEDOM = 8.0
# number of standard errors by which an estimate may lie below the practical threshold: 2.3 % do
# by chance
_NOT_BELOW = 2.0
# share of the family-wise error: suspects were chosen for being slow, so they tend to look slow
_STRICT = 0.2
_FAR = 3.0
_AS_FAST = 0.03
_REACHED = 0.7
# multiple of the practical threshold: a lone partner adds the spread of both ports, and chance
_LONE = 2.0
_LISTED = 6
_CONTRADICTS = 0.5  # a partner that sees less than half of the slowdown contradicts it


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Partner(SlownessEstimate):
    """``slowness`` of the suspect's pairs with node ``name`` on a path of kind ``tier``, with its
    standard error.

    ``doubt``: standard error of ``expected``. ``each``: slowness of each sample; ``early``:
    slowness of the fastest samples. ``kind``: kind of the slower NIC. ``p``: adjusted for all
    partners tested.
    """

    name: str
    tier: str
    doubt: float
    early: float
    each: Floats
    samples: int
    kind: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class Recheck(SlownessEstimate):
    """One direction of one suspect. ``shape``: slow with ``all`` partners, on one kind of ``path``
    only, with one ``partner`` only, ``fast`` with all, or ``unclear``. ``slow``: the partners that
    decide (all of them for ``all``).

    ``p`` is adjusted for all hypotheses (Holm). ``expected``: log slowness of a good pair on these
    paths.
    """

    node: str
    direction: Direction
    shape: Shape
    partners: tuple[Partner, ...]
    slow: tuple[Partner, ...]

    @property
    def reached_early(self) -> float:
        """The slowness that even the fastest sample of the first partner supports."""
        return min(self.slowness, 2.0 * self.partners[0].early)

    def sentence(self, metric: Metric) -> str:
        """Describe the recheck, such as ``alone, tx: 20.1 % slower to n4, 19.8 % slower to n7``."""
        preposition = {"tx": "to", "rx": "from", "": "with"}[self.direction]
        parts = [
            f"{compared(metric, partner.slowness)} {preposition} {partner.name}"
            for partner in self.partners[:_LISTED]
        ]
        return f"alone{', ' + self.direction if self.direction else ''}: {', '.join(parts)}"


def compared(metric: Metric, slowness: float) -> str:
    """Format a log slowness, such as ``20.1 % slower``."""
    share = as_slowdown(metric, slowness)
    return f"{percent(abs(share), 1)} {'slower' if share >= 0.0 else 'faster'}"


def recheck_nodes(view: Alone, suspects: Iterable[str]) -> list[Recheck]:
    """Classify each suspect and direction by its samples."""
    drafts = [
        _draft(node, direction, partners, view)
        for (node, direction), partners in sorted(_partners(view, set(suspects)).items())
    ]
    adjusted = _adjusted([tested.slowness / tested.error for tested in drafts], view)
    partner_p = _adjusted(
        [tested.slowness / tested.error for draft in drafts for tested in draft.partners], view
    )
    return [
        _shaped(_with_p(draft, p, [partner_p.pop(0) for _ in draft.partners]), view)
        for draft, p in zip(drafts, adjusted, strict=True)
    ]


def recheck_pairs(view: Alone, pairs: Sequence[tuple[str, str]]) -> list[Recheck]:
    """Classify each suspected (origin, target) by its samples; pairs without samples are left out.

    ``node`` is the origin, the only partner the target. Half round trips have no direction.
    """
    samples = view.samples
    index = {name: number for number, name in enumerate(samples.nodes)}
    drafts = []
    for a, b in pairs:
        chosen = (samples.origin == index.get(a, -1)) & (samples.target == index.get(b, -1))
        if samples.metric == "hrt":
            chosen |= (samples.origin == index.get(b, -1)) & (samples.target == index.get(a, -1))
        rows = np.nonzero(chosen)[0]
        if rows.size:
            partner = _partner(view, b, int(view.paths.tier[rows[0]]), rows)
            drafts.append(_draft(a, "", (partner,), view))
    adjusted = _adjusted([draft.slowness / draft.error for draft in drafts], view)
    return [
        _shaped(_with_p(draft, p, [p]), view) for draft, p in zip(drafts, adjusted, strict=True)
    ]


def _adjusted(scores: Sequence[float], view: Alone) -> list[float]:
    """Return Holm's p of scores in standard errors."""
    t = np.asarray(scores, dtype=np.float64)
    adjusted: list[float] = holm(
        upper_tail(as_normal(t, _PRIOR_FREEDOM + len(view.samples)))
    ).tolist()
    return adjusted


def _partners(view: Alone, suspected: set[str]) -> dict[tuple[str, Direction], tuple[Partner, ...]]:
    """Return the partners of each suspect and direction. Another suspect is a partner only if there
    is no other.
    """
    by_suspect = gathered(
        ((node, direction), _partner(view, other, tier, np.asarray(rows)))
        for (node, direction, other, tier), rows in _cells(view, suspected).items()
    )
    return {
        key: _of_fastest_nic(
            [candidate for candidate in partners if candidate.name not in suspected] or partners
        )
        for key, partners in by_suspect.items()
    }


def _cells(view: Alone, suspected: set[str]) -> dict[tuple[str, Direction, str, int], list[int]]:
    """Map (suspect, direction, partner, kind of path) to sample rows."""
    samples = view.samples
    sends, receives = _DIRECTED if samples.metric == "goodput" else _UNDIRECTED
    cells: dict[tuple[str, Direction, str, int], list[int]] = {}
    tiers = view.paths.tier.tolist()
    columns = zip(samples.origin.tolist(), samples.target.tolist(), tiers, strict=True)
    for row, (origin, target, tier) in enumerate(columns):
        a, b = samples.nodes[origin], samples.nodes[target]
        if a in suspected:
            cells.setdefault((a, sends, b, tier), []).append(row)
        if b in suspected:
            cells.setdefault((b, receives, a, tier), []).append(row)
    return cells


_DIRECTED: tuple[Direction, Direction] = ("tx", "rx")
_UNDIRECTED: tuple[Direction, Direction] = ("", "")


def _of_fastest_nic(partners: list[Partner]) -> tuple[Partner, ...]:
    """Drop partners with a slower kind of NIC than others, because they hide a slow port."""
    fastest = min(partner.kind for partner in partners)
    return tuple(partner for partner in partners if partner.kind == fastest)


def _partner(view: Alone, name: str, tier: int, rows: Indices) -> Partner:
    expected, doubt = (column[rows] for column in view.expectations)
    slowness = view.logs[rows] - expected
    return Partner(
        name=name,
        tier=view.paths.names[tier],
        slowness=float(np.median(slowness)),
        error=float(np.sqrt((MEDIAN_FACTOR * view.sigma) ** 2 / rows.size + view.spread**2)),
        p=1.0,
        expected=float(np.median(expected)),
        doubt=float(np.max(doubt)),
        early=float(np.min(slowness)),
        samples=int(rows.size),
        each=slowness,
        kind=int(view.kind[rows[0]]),
    )


def _showing(partners: tuple[Partner, ...], view: Alone) -> list[Partner]:
    """Return the partners that judge a port: on paths that showed a port best in the screen, or
    that are as fast alone.
    """
    fastest = min(partner.expected for partner in partners)
    return [
        partner
        for partner in partners
        if partner.tier in view.screened.sharp or partner.expected <= fastest + _AS_FAST
    ] or list(partners)


def _draft(node: str, direction: Direction, partners: tuple[Partner, ...], view: Alone) -> Recheck:
    """Estimate the suspect's slowness: the median over its partners on the paths that show a port
    best.
    """
    showing = _showing(partners, view)
    doubt = max(partner.doubt for partner in showing)
    # the spread of the suspect, plus the averaged spread of its partners
    apart = view.spread**2 * (1.0 + 1.0 / len(showing))
    total = sum(partner.samples for partner in showing)
    return Recheck(
        node=node,
        direction=direction,
        shape="unclear",
        slowness=float(np.median([partner.slowness for partner in showing])),
        error=float(np.sqrt((MEDIAN_FACTOR * view.sigma) ** 2 / total + apart + doubt**2)),
        p=1.0,
        expected=float(np.median([partner.expected for partner in showing])),
        partners=partners,
        slow=(),
    )


def _with_p(draft: Recheck, p: float, each: Sequence[float]) -> Recheck:
    """Set p of the draft, and p of each of its partners."""
    partners = zip(draft.partners, each, strict=True)
    return dataclasses.replace(
        draft,
        p=p,
        partners=tuple(
            dataclasses.replace(partner, p=partner_p) for partner, partner_p in partners
        ),
    )


def _is_slow(tested: Partner | Recheck, view: Alone) -> bool:
    """Return whether the slowness is beyond chance and not below the practical threshold."""
    sure = tested.p <= view.alpha * _STRICT
    return sure and tested.slowness + _NOT_BELOW * tested.error >= view.practical


def _shaped(draft: Recheck, view: Alone) -> Recheck:
    showing = _showing(draft.partners, view)
    guilty = _is_slow(draft, view)
    beyond = [partner for partner in draft.partners if _is_slow(partner, view)]
    size = draft.slowness if guilty else max((partner.slowness for partner in beyond), default=0.0)
    against = [partner for partner in showing if _contradicts(partner, size)]
    if guilty and not against and _is_steady(draft, showing, view):
        return dataclasses.replace(draft, shape="all", slow=tuple(showing))
    return _with_some(draft, beyond, against, guilty, view)


def _with_some(
    draft: Recheck, beyond: list[Partner], against: list[Partner], guilty: bool, view: Alone
) -> Recheck:
    """Classify a suspect that is slow only with the partners ``beyond`` the threshold, or with
    none."""
    slow = [partner for partner in beyond if partner not in against]
    if not slow:
        return dataclasses.replace(draft, shape="fast")
    if not against:
        return dataclasses.replace(draft, shape="unclear")
    return dataclasses.replace(
        draft,
        shape=_shape_of_some(draft, slow, against, guilty, view),
        slow=tuple(slow),
        slowness=float(np.median([partner.slowness for partner in slow])),
        error=float(
            np.sqrt(np.mean([partner.error**2 for partner in slow]) / len(slow) + view.spread**2)
        ),
        expected=float(np.median([partner.expected for partner in slow])),
        p=min(partner.p for partner in beyond),
    )


def _contradicts(partner: Partner, size: float) -> bool:
    """Return whether a partner sees far less than a slowness of ``size``."""
    return partner.slowness < _CONTRADICTS * size and partner.slowness + _FAR * partner.error < size


def _shape_of_some(
    draft: Recheck, slow: list[Partner], against: list[Partner], guilty: bool, view: Alone
) -> Shape:
    """Return the shape of a suspect that is ``slow`` with some partners and fast with others."""
    others = {partner.tier for partner in draft.partners if partner not in slow}
    behind = {partner.tier for partner in slow}.isdisjoint(others)
    if behind and any(partner.tier == ONE_SWITCH for partner in against):
        return "path"
    if len(slow) > 1:
        return "all" if guilty else "unclear"
    lone = min(slow[0].slowness, 2.0 * slow[0].early) >= _LONE * view.practical
    return "partner" if lone else "unclear"


def _is_steady(draft: Recheck, showing: Sequence[Partner], view: Alone) -> bool:
    """Return whether most samples alone are slow, rather than only half of them, as with bimodal
    noise: three quarters are slow, or it is too unlikely that half are slow by chance (``tail``:
    slowness that the screen left unexplained).
    """
    ordered = np.sort(np.concatenate([partner.each for partner in showing]))
    if float(ordered[(ordered.size - 1) // 4]) + view.sigma >= _CONTRADICTS * draft.slowness:
        return True
    beyond = view.tail.size - int(np.searchsorted(view.tail, _REACHED * draft.slowness))
    chance = at_least_half(int(ordered.size), (beyond + 1) / (view.tail.size + 1))
    return chance * len(view.samples.nodes) * 2 <= view.alpha
