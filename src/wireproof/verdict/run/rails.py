"""Findings about rails: one that is down, bytes that were not shared, and the node whose rail it
is. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from wireproof.analysis.rails import rail_nics
from wireproof.model import quantity
from wireproof.model.finding import Evidence, RailShare
from wireproof.model.rails import is_several
from wireproof.model.record import Host, Nic
from wireproof.model.subject import Port, Route
from wireproof.verdict.context import Context
from wireproof.verdict.issue import Issue
from wireproof.verdict.run.striping import Key, Stripe, Striping

__all__ = ["down_issues", "rail_issues"]

_FEWEST = 2  # routes of a node that must agree before it is the node's rail
_DOWN = ("down", "lowerlayerdown")


def down_issues(ctx: Context) -> list[Issue]:
    """A claimed rail that cannot carry anything."""
    if not ctx.run.claim.wire:
        return []
    found: dict[tuple[str, str], Issue] = {}
    for rank, claim in sorted(ctx.claims.items()):
        host = ctx.hosts.get(rank)
        if host is None or not is_several(claim.nic):
            continue
        for nic in rail_nics(host.nics, claim.nic):
            why = _why_down(nic, host)
            if why:
                text = f"{claim.host}: the rail {nic.name} {why}"
                evidence: Evidence = {"rail": nic.name}
                where = Port(claim.host, nic=nic.name)
                issue = Issue("rail-down", "fail", where, text, evidence)
                found[claim.host, nic.name] = issue
    return list(found.values())


def _why_down(nic: Nic, host: Host) -> str:
    """What keeps a rail from carrying anything; "" when nothing is known to."""
    if nic.carrier is False or nic.operstate in _DOWN:
        return f"has no carrier ({nic.operstate or 'carrier 0'})"
    bare = nic.rdma is None and nic.kind != "infiniband" and not nic.master
    told = any(one.address for one in host.nics)  # a recorded tree has none of any NIC
    if bare and told and not nic.address:
        return "has no address: IP cannot use it"
    return ""


def rail_issues(ctx: Context, striping: Striping) -> list[Issue]:
    """Routes whose largest messages were not shared by the rails as their line rates say; one
    finding for a node whose rail explains several.
    """
    judged = {key: one for key, one in striping.stripes.items() if striping.decides(one)}
    bad = {key: one for key, one in judged.items() if one.state in ("one-rail", "unequal")}
    down = _down_rails(ctx)
    explained: set[Key] = set()
    found: list[Issue] = []
    for place, rail, keys in _blamed(judged, bad):
        explained |= keys
        found.append(_of_node(place, rail, [bad[key] for key in sorted(keys)]))
    for key, stripe in bad.items():
        if key not in explained and not _lost(stripe, down):
            found.append(_of_route(ctx, key, stripe))
    return found


def _down_rails(ctx: Context) -> set[tuple[str, str]]:
    return {
        (ctx.name(rank), nic.name)
        for rank, claim in ctx.claims.items()
        if rank in ctx.hosts
        for nic in rail_nics(ctx.hosts[rank].nics, claim.nic)
        if is_several(claim.nic) and _why_down(nic, ctx.hosts[rank])
    }


def _lost(stripe: Stripe, down: set[tuple[str, str]]) -> bool:
    """Whether a rail that is down at one end explains it."""
    names = {rail for host, rail in down if host in stripe.route[:2]}
    return bool(names & {share.rail for share in _short(stripe)})


def _short(stripe: Stripe) -> list[RailShare]:
    """The rails that carried less than their share."""
    return [one for one in stripe.worst if one.share is not None and one.share < one.due_share]


def _of_route(ctx: Context, key: Key, stripe: Stripe) -> Issue:
    code = "one-rail" if stripe.state == "one-rail" else "unequal-rails"
    origin, target, pattern = stripe.route
    end = stripe.worst[0]
    what = (
        f"all of it went through {_busiest(stripe).rail}"
        if code == "one-rail"
        else f"the rails did not carry their shares (within {ctx.criteria.rail_tolerance:.0%})"
    )
    text = (
        f"{origin} -> {target}, {pattern} of {quantity.size(stripe.size)}: {what}:"
        f" {_listed(stripe.worst)}"
    )
    evidence: Evidence = {"host": end.host, "direction": end.direction, "rails": _lines(stripe)}
    return Issue(code, "fail", Route(origin, target), text, evidence, key[0], float(stripe.size))


def _busiest(stripe: Stripe) -> RailShare:
    return max(stripe.worst, key=lambda one: one.share or 0.0)


def _listed(shares: Sequence[RailShare]) -> str:
    each = (f"{one.rail} {one.share or 0.0:.0%} of {one.due_share:.0%} due" for one in shares)
    return f"{', '.join(each)} ({shares[0].host} {shares[0].direction})"


def _lines(stripe: Stripe) -> list[str]:
    return [
        f"{one.host} {one.rail} {one.direction}: due {one.due_bytes:.0f} B, seen "
        f"{'unknown' if one.seen_bytes is None else format(one.seen_bytes, '.0f')} B"
        for one in stripe.rails[:64]
    ]


def _blamed(
    judged: Mapping[Key, Stripe], bad: Mapping[Key, Stripe]
) -> Iterator[tuple[Port, str, set[Key]]]:
    """Node and direction, its rail, and the routes that it explains: all routes that way are short
    of this rail, and the same rail is well where the node takes no part.
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
    text = (
        f"the rail {rail} of {place.node} is slow: {place.node} {verb} {typical:.0%} of the bytes"
        f" through it, and {due:.0%} is its share (in all {len(stripes)} measurements, and other"
        " nodes share well)"
    )
    evidence: Evidence = {"rail": rail, "share": typical, "due_share": due}
    return Issue("slow-rail", "fail", place, text, evidence, weight=due - typical)
