"""Did every rail carry its share? Of claimed rails the ledger tells what crossed each. Pure.

A share is of the bytes that all rails carried in one direction at one end. It is due in proportion
to the line rates, of large one-way messages: what waits for an answer is one message at a time, and
a library may send short ones over one rail. So a route is judged by its largest one-way messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from wireproof.model.claim import LinkClaim
from wireproof.model.finding import PairVerdict, RailShare
from wireproof.model.finding import Striping as State
from wireproof.model.pattern import crossings
from wireproof.model.record import PairResult, PointRecord
from wireproof.verdict.context import Context
from wireproof.verdict.path.proof import PairProof
from wireproof.verdict.path.shares import due_shares, state_of
from wireproof.verdict.path.sight import Sighting
from wireproof.verdict.run.plateau import fills_link

__all__ = ["Key", "Stripe", "Striping", "with_stripe"]

Key = tuple[int, int, int, int]
"""Point, repeat, origin and target."""
_Route = tuple[str, str, str]
"""Hosts and pattern."""
_TELLING = 0.5  # of the busiest end's bytes: the way back has acknowledgements only


@dataclass(frozen=True)
class Stripe:
    """How the rails shared the bytes of one pair at one point. ``size``: of the messages; ``due``:
    they were to be shared; ``worst``: the shares at the end that is furthest from that.
    """

    route: _Route
    size: int
    state: State
    due: bool
    worst: tuple[RailShare, ...]
    rails: tuple[RailShare, ...]


class Striping:
    """The stripes of a run. Without rails in the claim there are none, and nothing costs time."""

    def __init__(
        self,
        ctx: Context,
        pairs: Sequence[tuple[PointRecord, PairResult]],
        proofs: Sequence[PairProof],
    ) -> None:
        self._ctx = ctx
        self.stripes: dict[Key, Stripe] = {}
        for (point, pair), proof in zip(pairs, proofs, strict=True):
            stripe = _stripe(ctx, point, pair, proof)
            if stripe is not None:
                self.stripes[_key(point, pair)] = stripe
        self._largest = _largest(self.stripes.values())

    def of(self, point: PointRecord, pair: PairResult) -> Stripe | None:
        """The stripe of a pair at a point; None where no rails are claimed."""
        return self.stripes.get(_key(point, pair))

    def decides(self, stripe: Stripe) -> bool:
        """Whether its messages are the largest one-way ones of the route."""
        return stripe.due and stripe.size >= self._largest.get(stripe.route, 0)

    def link(self, point: PointRecord, pair: PairResult) -> LinkClaim | None:
        """The link to hold the pair's number against: all rails, where they were to be used or
        were; else as many as the number fits.
        """
        link, stripe = self._ctx.link, self.of(point, pair)
        if link is None or stripe is None or self.decides(stripe):
            return link
        if stripe.due and stripe.state == "striped":
            return link
        return msgspec.structs.replace(link, stripes="any")


def with_stripe(verdict: PairVerdict, stripe: Stripe | None) -> PairVerdict:
    """The verdict with how the rails shared its bytes."""
    if stripe is None:
        return verdict
    return msgspec.structs.replace(verdict, striping=stripe.state, rails=list(stripe.rails))


def _key(point: PointRecord, pair: PairResult) -> Key:
    return point.id, point.repeat, pair.origin, pair.target


def _largest(stripes: Iterable[Stripe]) -> Mapping[_Route, int]:
    found: dict[_Route, int] = {}
    for stripe in stripes:
        if stripe.due:
            found[stripe.route] = max(found.get(stripe.route, 0), stripe.size)
    return found


def _stripe(ctx: Context, point: PointRecord, pair: PairResult, proof: PairProof) -> Stripe | None:
    ends = [one for one in proof.sightings if one.rails]
    if not ends:
        return None
    most = max(one.need for one in ends)
    telling = [one for one in ends if one.need >= _TELLING * most and one.need > 0]
    shares, worst, state = _worst(ctx, telling)
    waits = crossings(point.pattern, point.form) > 0
    return Stripe(
        route=(ctx.name(pair.origin), ctx.name(pair.target), point.pattern),
        size=point.message_bytes,
        state=state if proof.proof == "on-wire" else "unknown",
        due=not waits and fills_link(ctx.link, point.message_bytes) and most > 0,
        worst=worst,
        rails=shares,
    )


def _worst(
    ctx: Context, ends: Sequence[Sighting]
) -> tuple[tuple[RailShare, ...], tuple[RailShare, ...], State]:
    """All shares, those of the end that is furthest from what is due, and how these are."""
    weights = due_shares(ctx.link, len(ends[0].rails)) if ends else []
    found: list[tuple[State, list[RailShare]]] = []
    for end in ends:
        each = _shares(ctx, end, weights)
        state = state_of([one.share for one in each], weights, ctx.criteria)
        found.append((state, each))
    if not found:
        return (), (), "unknown"
    state, worst = max(found, key=lambda one: _WORST.index(one[0]))
    return tuple(share for _, each in found for share in each), tuple(worst), state


def _shares(ctx: Context, end: Sighting, weights: Sequence[float]) -> list[RailShare]:
    known = [seen for _, seen in end.rails if seen is not None]
    whole = sum(known) if len(known) == len(end.rails) else 0.0
    return [
        RailShare(
            host=ctx.name(end.rank),
            rail=rail,
            direction=end.direction,
            due_bytes=end.need * weight,
            seen_bytes=seen,
            share=seen / whole if seen is not None and whole > 0 else None,
            due_share=weight,
        )
        for (rail, seen), weight in zip(end.rails, weights, strict=True)
    ]


_WORST: tuple[State, ...] = ("striped", "unknown", "unequal", "one-rail")
"""The best first."""
