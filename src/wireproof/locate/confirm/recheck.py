"""What a suspect measures alone: slow with every partner, with one, in one kind of path only, or
with none.

Each (suspect, direction) has its repeats with a few known-good partners. A partner's median says
how slow the suspect is with that partner; the median over partners how slow the suspect is.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from wireproof.locate.blame import SlownessEstimate
from wireproof.locate.confirm.expected import Alone
from wireproof.locate.criteria import as_slowdown
from wireproof.locate.samples import Floats, Indices
from wireproof.locate.significance import (
    MEDIAN_FACTOR,
    as_normal,
    at_least_half,
    holm,
    upper_tail,
)
from wireproof.locate.tiers import ONE_SWITCH
from wireproof.model.finding import Direction
from wireproof.model.located import Metric
from wireproof.model.quantity import percent

Shape = Literal["all", "path", "partner", "fast", "unclear"]

_PRIOR_FREEDOM = 8.0
# standard errors by which an estimate may miss the practical threshold: 2.3 % of the time by chance
_NOT_BELOW = 2.0
_STRICT = 0.2  # of the family-wise error: what was suspected because it was slow tends to look slow
_FAR = 3.0
_AS_FAST = 0.03
_REACHED = 0.7
# times the practical threshold: with one partner only, both ports' spread and chance count
_LONE = 2.0
_LISTED = 6
_CONTRADICTS = 0.5  # a partner that sees less than half of the slowdown speaks against it


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Partner:
    """``slowness`` of the suspect's pairs with node ``name`` on a path of kind ``tier``, with its
    standard error.

    ``doubt``: standard error of ``expected``; ``each``: sample's slowness, ``early`` the fastest;
    ``kind``: of the slower NIC. ``p``: adjusted for all partners that were looked at.
    """

    name: str
    tier: str
    slowness: float
    error: float
    p: float = 1.0
    expected: float
    doubt: float
    early: float
    each: Floats
    samples: int
    kind: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class Recheck(SlownessEstimate):
    """One direction of one suspect. ``shape``: slow with ``all`` partners, on one kind of ``path``
    only, with one ``partner`` only, ``fast`` with all, or ``unclear``. ``slow``: those that decide
    (all of them for ``all``).

    ``p`` is adjusted for all that was looked at (Holm). ``expected``: log slowness of a good pair
    on these paths.
    """

    node: str
    direction: Direction
    shape: Shape
    partners: tuple[Partner, ...]
    slow: tuple[Partner, ...]

    @property
    def reached_early(self) -> float:
        """The slowness that even the fastest sample of the first partner does not contradict."""
        return min(self.slowness, 2.0 * self.partners[0].early)

    def sentence(self, metric: Metric) -> str:
        """Such as ``alone, tx: 20.1 % slower to n4, 19.8 % slower to n7``."""
        preposition = {"tx": "to", "rx": "from", "": "with"}[self.direction]
        parts = [
            f"{compared(metric, partner.slowness)} {preposition} {partner.name}"
            for partner in self.partners[:_LISTED]
        ]
        return f"alone{', ' + self.direction if self.direction else ''}: {', '.join(parts)}"


def compared(metric: Metric, slowness: float) -> str:
    """A log slowness as ``20.1 % slower``."""
    share = as_slowdown(metric, slowness)
    return f"{percent(abs(share), 1)} {'slower' if share >= 0.0 else 'faster'}"


def recheck_nodes(view: Alone, suspects: Iterable[str]) -> list[Recheck]:
    """What the samples say of each suspect and direction."""
    drafts = [
        _draft(node, direction, partners, view)
        for (node, direction), partners in sorted(_partners(view, set(suspects)).items())
    ]
    adjusted = _adjusted([one.slowness / one.error for one in drafts], view)
    each = _adjusted([one.slowness / one.error for draft in drafts for one in draft.partners], view)
    return [
        _shaped(_with_p(draft, p, [each.pop(0) for _ in draft.partners]), view)
        for draft, p in zip(drafts, adjusted, strict=True)
    ]


def recheck_pairs(view: Alone, pairs: Sequence[tuple[str, str]]) -> list[Recheck]:
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
            partner = _partner(view, b, int(view.paths.tier[rows[0]]), rows)
            drafts.append(_draft(a, "", (partner,), view))
    adjusted = _adjusted([one.slowness / one.error for one in drafts], view)
    return [_shaped(_with_p(one, p, [p]), view) for one, p in zip(drafts, adjusted, strict=True)]


def _adjusted(scores: Sequence[float], view: Alone) -> list[float]:
    """Holm's p of scores in standard errors."""
    t = np.asarray(scores, dtype=np.float64)
    found: list[float] = holm(upper_tail(as_normal(t, _PRIOR_FREEDOM + len(view.samples)))).tolist()
    return found


def _partners(view: Alone, suspected: set[str]) -> dict[tuple[str, Direction], tuple[Partner, ...]]:
    """By suspect and direction, its partners. Another suspect is a partner only where there is no
    other.
    """
    found: dict[tuple[str, Direction], list[Partner]] = {}
    for (node, direction, other, tier), rows in _cells(view, suspected).items():
        partner = _partner(view, other, tier, np.asarray(rows))
        found.setdefault((node, direction), []).append(partner)
    return {
        key: _of_fastest_nic([one for one in partners if one.name not in suspected] or partners)
        for key, partners in found.items()
    }


def _cells(view: Alone, suspected: set[str]) -> dict[tuple[str, Direction, str, int], list[int]]:
    """Suspect, direction, partner and kind of path to their samples."""
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
    """Without partners whose NIC is of a slower kind than the others': behind it a port does not
    show.
    """
    fastest = min(one.kind for one in partners)
    return tuple(one for one in partners if one.kind == fastest)


def _partner(view: Alone, name: str, tier: int, rows: Indices) -> Partner:
    each = view.logs[rows] - view.expected[rows]
    return Partner(
        name=name,
        tier=view.paths.tiers[tier],
        slowness=float(np.median(each)),
        error=float(np.sqrt((MEDIAN_FACTOR * view.sigma) ** 2 / rows.size + view.spread**2)),
        expected=float(np.median(view.expected[rows])),
        doubt=float(np.max(view.doubt[rows])),
        early=float(np.min(each)),
        samples=int(rows.size),
        each=each,
        kind=int(view.paths.kind[rows[0]]),
    )


def _showing(partners: tuple[Partner, ...], view: Alone) -> list[Partner]:
    """The partners by which a port is judged: on paths that show it best in the screen, or that are
    as fast alone.
    """
    fastest = min(one.expected for one in partners)
    return [
        one for one in partners if one.tier in view.sharp or one.expected <= fastest + _AS_FAST
    ] or list(partners)


def _draft(node: str, direction: Direction, partners: tuple[Partner, ...], view: Alone) -> Recheck:
    """The suspect's own slowness: the median over its partners on the paths that show a port
    best.
    """
    own = _showing(partners, view)
    doubt = max(one.doubt for one in own)
    # the suspect's own spread, and its partners' averaged
    apart = view.spread**2 * (1.0 + 1.0 / len(own))
    total = sum(one.samples for one in own)
    return Recheck(
        node=node,
        direction=direction,
        shape="unclear",
        slowness=float(np.median([one.slowness for one in own])),
        error=float(np.sqrt((MEDIAN_FACTOR * view.sigma) ** 2 / total + apart + doubt**2)),
        p=1.0,
        expected=float(np.median([one.expected for one in own])),
        partners=partners,
        slow=(),
    )


def _with_p(draft: Recheck, p: float, each: Sequence[float]) -> Recheck:
    """The draft with its own p, and ``each`` of its partners' p."""
    partners = zip(draft.partners, each, strict=True)
    return dataclasses.replace(
        draft, p=p, partners=tuple(dataclasses.replace(one, p=own) for one, own in partners)
    )


def _is_slow(one: Partner | Recheck, view: Alone) -> bool:
    """Slow beyond chance, and not below what matters."""
    sure = one.p <= view.alpha * _STRICT
    return sure and one.slowness + _NOT_BELOW * one.error >= view.practical


def _shaped(draft: Recheck, view: Alone) -> Recheck:
    """The draft with its shape."""
    own = _showing(draft.partners, view)
    guilty = _is_slow(draft, view)
    beyond = [one for one in draft.partners if _is_slow(one, view)]
    size = draft.slowness if guilty else max((one.slowness for one in beyond), default=0.0)
    against = [one for one in own if _contradicts(one, size)]
    if guilty and not against and _is_steady(draft, own, view):
        return dataclasses.replace(draft, shape="all", slow=tuple(own))
    return _with_some(draft, beyond, against, guilty, view)


def _with_some(
    draft: Recheck, beyond: list[Partner], against: list[Partner], guilty: bool, view: Alone
) -> Recheck:
    """A suspect that is slow with the partners ``beyond`` the threshold at most."""
    slow = [one for one in beyond if one not in against]
    if not slow:
        return dataclasses.replace(draft, shape="fast")
    if not against:
        return dataclasses.replace(draft, shape="unclear")
    return dataclasses.replace(
        draft,
        shape=_shape_of_some(draft, slow, against, guilty, view),
        slow=tuple(slow),
        slowness=float(np.median([one.slowness for one in slow])),
        error=float(np.sqrt(np.mean([one.error**2 for one in slow]) / len(slow) + view.spread**2)),
        expected=float(np.median([one.expected for one in slow])),
        p=min(one.p for one in beyond),
    )


def _contradicts(one: Partner, size: float) -> bool:
    """Whether a partner sees far less than a slowness of ``size``."""
    return one.slowness < _CONTRADICTS * size and one.slowness + _FAR * one.error < size


def _shape_of_some(
    draft: Recheck, slow: list[Partner], against: list[Partner], guilty: bool, view: Alone
) -> Shape:
    """The shape of a suspect that is ``slow`` with some partners and fast with others."""
    others = {one.tier for one in draft.partners if one not in slow}
    behind = {one.tier for one in slow}.isdisjoint(others)
    if behind and any(one.tier == ONE_SWITCH for one in against):
        return "path"
    if len(slow) > 1:
        return "all" if guilty else "unclear"
    lone = min(slow[0].slowness, 2.0 * slow[0].early) >= _LONE * view.practical
    return "partner" if lone else "unclear"


def _is_steady(draft: Recheck, own: Sequence[Partner], view: Alone) -> bool:
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
