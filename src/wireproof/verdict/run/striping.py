# pure
"""Judge whether every rail carried its share, from the ledger's bytes of each claimed rail. Pure.

A share is a share of the bytes that all rails carried in one direction at one end. For large
one-way messages, it should be proportional to the line rate: patterns that wait for an answer send
one message at a time, and a library may send short messages over one rail. So a route is judged by
its largest one-way messages.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from wireproof.ledger.relations import has_no_carrier, rail_nics
from wireproof.model import quantity
from wireproof.model.claim import LinkClaim, is_several
from wireproof.model.finding import Port, RailShare, Route
from wireproof.model.finding import Striping as State
from wireproof.model.pattern import crossings
from wireproof.model.record import Host, Nic, PairResult, PointRecord
from wireproof.verdict.context import Context
from wireproof.verdict.issue import Issue
from wireproof.verdict.path import due_shares, state_of
from wireproof.verdict.path.proof import PairProof
from wireproof.verdict.path.sight import Sighting
from wireproof.verdict.run.plateau import fills_link

Key = tuple[int, int, int, int]
"""Point, repeat, origin and target."""
_Route = tuple[str, str, str]
"""Hosts and pattern."""
_TELLING = (
    0.5  # share of the busiest end's bytes: the opposite direction carries only acknowledgements
)


@dataclass(frozen=True)
class Stripe:
    """How the rails shared the bytes of one pair at one point.

    ``size``: message size in bytes. ``due``: the rails should share them. ``worst``: the shares at
    the end that is furthest from its due shares.
    """

    route: _Route
    size: int
    state: State
    due: bool
    worst: tuple[RailShare, ...]
    rails: tuple[RailShare, ...]


class Striping:
    """The stripes of a run; empty if no rails are claimed."""

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
        """Return the stripe of a pair at a point; None if no rails are claimed."""
        return self.stripes.get(_key(point, pair))

    def decides(self, stripe: Stripe) -> bool:
        """Return whether the messages are the largest one-way messages of the route."""
        return stripe.due and stripe.size >= self._largest.get(stripe.route, 0)

    def link(self, point: PointRecord, pair: PairResult) -> LinkClaim | None:
        """Return the link to compare the pair's number with: all rails if the pair should or did
        use them; otherwise as many rails as the number requires.
        """
        link, stripe = self._ctx.link, self.of(point, pair)
        if link is None or stripe is None or self.decides(stripe):
            return link
        if stripe.due and stripe.state == "striped":
            return link
        return msgspec.structs.replace(link, stripes="any")


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
    """Return all shares, the shares of the end that deviates most, and the state of that end."""
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


# --- Findings about rails: a rail that is down, unequal shares, and the node with the slow rail.

_FEWEST = 2  # number of routes of a node that must agree before the node's rail is blamed


def down_issues(ctx: Context) -> list[Issue]:
    """Report claimed rails that cannot carry traffic."""
    if not ctx.run.claim.wire:
        return []
    return [
        Issue(
            "rail-down",
            "fail",
            Port(host, nic=rail),
            f"{host}: the rail {rail} {why}",
            {"rail": rail},
        )
        for (host, rail), why in _down_rails(ctx).items()
    ]


def _why_down(nic: Nic, host: Host) -> str:
    """Return what keeps a rail from carrying traffic; "" if nothing is known."""
    if has_no_carrier(nic):
        return f"has no carrier ({nic.operstate or 'carrier 0'})"
    bare = nic.rdma is None and nic.kind != "infiniband" and not nic.master
    told = any(one.address for one in host.nics)  # a recorded tree contains no addresses of any NIC
    return "has no address: IP cannot use it" if bare and told and not nic.address else ""


def rail_issues(ctx: Context, striping: Striping) -> Iterator[Issue]:
    """Report routes whose rails did not share the largest messages according to their line rates.

    One finding per node if its rail explains several routes.
    """
    judged = {key: one for key, one in striping.stripes.items() if striping.decides(one)}
    bad = {key: one for key, one in judged.items() if one.state in ("one-rail", "unequal")}
    down = _down_rails(ctx)
    explained: set[Key] = set()
    for place, rail, keys in _blamed(judged, bad):
        explained |= keys
        yield _of_node(place, rail, [bad[key] for key in sorted(keys)])
    for key, stripe in bad.items():
        if key not in explained and not _lost(stripe, down):
            yield _of_route(ctx, key, stripe)


def _down_rails(ctx: Context) -> dict[tuple[str, str], str]:
    """Map each claimed rail that cannot carry traffic, by host and name, to the reason."""
    return {
        (ctx.name(rank), nic.name): why
        for rank, claim in sorted(ctx.claims.items())
        if rank in ctx.hosts and is_several(claim.nic)
        for nic in rail_nics(ctx.hosts[rank].nics, claim.nic)
        if (why := _why_down(nic, ctx.hosts[rank]))
    }


def _lost(stripe: Stripe, down: Mapping[tuple[str, str], str]) -> bool:
    """Return whether a rail that is down at one end explains the shares."""
    names = {rail for host, rail in down if host in stripe.route[:2]}
    return bool(names & {share.rail for share in _short(stripe)})


def _short(stripe: Stripe) -> list[RailShare]:
    """Return the rails that carried less than their share."""
    return [one for one in stripe.worst if one.share is not None and one.share < one.due_share]


def _of_route(ctx: Context, key: Key, stripe: Stripe) -> Issue:
    code = "one-rail" if stripe.state == "one-rail" else "unequal-rails"
    origin, target, pattern = stripe.route
    end = stripe.worst[0]
    what = (
        f"all of it went through {_busiest(stripe).rail}"
        if code == "one-rail"
        else "the rails did not carry the expected shares (tolerance "
        f"{ctx.criteria.rail_tolerance:.0%})"
    )
    return Issue(
        code,
        "fail",
        Route(origin, target),
        f"{origin} -> {target}, {pattern} of {quantity.size(stripe.size)}: {what}:"
        f" {_listed(stripe.worst)}",
        {"host": end.host, "direction": end.direction, "rails": _lines(stripe)},
        key[0],
        float(stripe.size),
    )


def _busiest(stripe: Stripe) -> RailShare:
    return max(stripe.worst, key=lambda one: one.share or 0.0)


def _listed(shares: Sequence[RailShare]) -> str:
    each = (f"{one.rail} {one.share or 0.0:.0%}, expected {one.due_share:.0%}" for one in shares)
    return f"{', '.join(each)} ({shares[0].host} {shares[0].direction})"


def _lines(stripe: Stripe) -> list[str]:
    return [
        (
            f"{one.host} {one.rail} {one.direction}: expected {one.due_bytes:.0f} B, counted "
            f"{'unknown' if one.seen_bytes is None else format(one.seen_bytes, '.0f')} B"
        )
        for one in stripe.rails[:64]
    ]


def _blamed(
    judged: Mapping[Key, Stripe], bad: Mapping[Key, Stripe]
) -> Iterator[tuple[Port, str, set[Key]]]:
    """Yield node and direction, its rail, and the routes that it explains.

    All routes in that direction are short on this rail, and the same rail is fine on routes without
    the node.
    """
    ways: dict[tuple[str, str], set[Key]] = defaultdict(set)
    for key, stripe in judged.items():
        ways[stripe.route[0], "tx"].add(key)
        ways[stripe.route[1], "rx"].add(key)
    rails = sorted({one.rail for stripe in bad.values() for one in _short(stripe)})
    for rail in rails:
        short = {key for key, stripe in bad.items() if rail in {s.rail for s in _short(stripe)}}
        well = set(judged) - set(bad)
        for (host, direction), keys in sorted(ways.items()):
            partners = {judged[key].route[1 if direction == "tx" else 0] for key in keys}
            if len(partners) >= _FEWEST and keys <= short and well:
                yield Port(host, "tx" if direction == "tx" else "rx", rail), rail, keys


def _of_node(place: Port, rail: str, stripes: Sequence[Stripe]) -> Issue:
    shares = [one for stripe in stripes for one in _short(stripe) if one.rail == rail]
    typical = sorted(one.share or 0.0 for one in shares)[len(shares) // 2]
    due = shares[0].due_share
    verb = "sends" if place.direction == "tx" else "receives"
    return Issue(
        "slow-rail",
        "fail",
        place,
        (
            f"the rail {rail} of {place.node} is slow: {place.node} {verb} {typical:.0%} of the "
            f"bytes through it, but its share is {due:.0%} (in all {len(stripes)} measurements, "
            "and other nodes share well)"
        ),
        {"rail": rail, "share": typical, "due_share": due},
        weight=due - typical,
    )
