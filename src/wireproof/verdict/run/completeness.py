# pure
"""Find issues of the run as a whole: an early end, engine errors, libraries, NICs, clock, too many
ranks per CPU."""

from collections import Counter
from collections.abc import Iterator

from wireproof.ledger.relations import are_rails, has_no_carrier, rail_nics
from wireproof.model.claim import LinkClaim, joined, rails_of
from wireproof.model.finding import Node, Subject, Whole
from wireproof.model.record import LibfabricUsed, Nic
from wireproof.model.run import MissingCode
from wireproof.physics.from_port import link_of_port
from wireproof.physics.rails import one_rail
from wireproof.verdict.catalogue import code_of, severity_of
from wireproof.verdict.context import Context
from wireproof.verdict.issue import Evidence, Issue
from wireproof.verdict.path import kernels

# --- Compare libfabric's provider with the requested provider: the numbers of another provider, or
# of an unusual layer over it, look like those of the requested provider.

_USUAL_LAYERS = {
    "tcp": ("ofi_rxm",),
    "verbs": ("ofi_rxm",),
    "udp": ("ofi_rxd",),
    "net": ("ofi_rxm",),
}
"""Layers that turn a provider's endpoints into reliable datagram endpoints (fi_rxm(7), fi_rxd(7)).

Any other layer is a fallback: ``psm3;ofi_rxd`` means PSM3's datagrams with libfabric's reliability,
``verbs;ofi_rxd`` unreliable datagrams in place of connections.
"""
_OF_ONE_MACHINE = ("shm", "sm2")
_WRITES = frozenset({"put", "accumulate"})
"""Remote accesses that return nothing."""


def _fallbacks(ctx: Context) -> Iterator[Issue]:
    """Report providers that differ from the requested provider; nothing if libfabric was not
    measured."""
    wanted = ctx.run.claim.provider
    for host in ctx.run.hosts:
        if host.fabric and (why := _fallback(host.fabric, wanted, wire=ctx.run.claim.wire)):
            seen: Evidence = {"provider": host.fabric.provider, "wanted": wanted}
            yield Issue("provider-fallback", "fail", ctx.node(host.rank), why, seen)


def _fallback(found: LibfabricUsed, wanted: str, *, wire: bool) -> str:
    name, _, layers = found.provider.partition(";")
    asked, _, asked_layers = wanted.partition(";")
    if asked and name != asked:
        return f"provider {wanted} was requested, but {found.provider} was used"
    unusual = [
        one
        for one in filter(None, layers.split(";"))
        if one not in _USUAL_LAYERS.get(name, ()) and one not in asked_layers.split(";")
    ]
    if unusual:
        return (
            f"provider {found.provider} answered: {', '.join(unusual)} is not usual over {name},"
            " so its own reliable endpoints were not available"
        )
    if wire and name in _OF_ONE_MACHINE:
        return f"provider {found.provider} does not leave the machine, and a wire is claimed"
    return ""


_ALIKE = (
    "provider",
    "provider_version",
    "api_version",
    "messages",
    "completion",
    "remote",
    "progress",
    "inject_bytes",
    "exchange",
    "exchange_library",
)
"""Properties that are equal for ranks that were started in the same way. Domains and NICs differ
between hosts."""


def _differences(ctx: Context) -> Iterator[Issue]:
    """Report ranks whose libfabric setup differs from the first rank's.

    The engine refuses only ranks that cannot communicate.
    """
    ranks = [(host.rank, host.fabric) for host in ctx.run.hosts if host.fabric is not None]
    for name in _ALIKE:
        first = getattr(ranks[0][1], name) if ranks else ""
        other = next((one for one in ranks if getattr(one[1], name) != first), None)
        if other is None:
            continue
        rank, value = other[0], getattr(other[1], name)
        yield Issue(
            "provider-differs",
            "warning",
            ctx.node(rank),
            f"libfabric's {name.replace('_', ' ')} is {first or 'unknown'} on"
            f" {ctx.name(ranks[0][0])} and {value or 'unknown'} on {ctx.name(rank)}: numbers"
            " between them describe neither setup",
            {"what": name, "first": str(first), "other": str(value)},
        )


def _completion(ctx: Context) -> Iterator[Issue]:
    """Report remote writes with local completion: they say nothing about the target's memory.

    An access that returns data has reached the target. Records before version 0.2 state the
    completion of sends only.
    """
    remote = sorted({point.pattern for point in ctx.run.points} & _WRITES)
    fabrics = [host.fabric for host in ctx.run.hosts if host.fabric is not None]
    early = [
        one
        for one in fabrics
        if (one.remote == "local" if one.remote else one.completion != "delivery")
    ]
    if remote and early:
        stated = early[0].completion or "its own"
        yield Issue(
            "completion-local",
            "warning",
            _RUN,
            f"{' and '.join(remote)} ended with the {stated} completion of the provider"
            f" {early[0].provider}: the time does not include the write to the target's memory",
            {"completion": stated},
        )


_RUN = Whole()
_SPEED_TOLERANCE = 0.05
_MISSING_CODES: dict[MissingCode, str] = {"rank-lost": "rank-lost", "deadline": "deadline"}
_CODED, _CODE = ("sdr", "ddr", "qdr"), 8 / 10


def _cut_short(ctx: Context) -> Iterator[Issue]:
    run = ctx.run
    for point, why in sorted(run.missing.items()):
        yield Issue(
            _MISSING_CODES.get(why.code, "points-missing"),
            "inconclusive",
            _RUN,
            f"point {point} was not measured: {str(why) or 'no reason given'}",
            point=point,
            weight=1.0 if why.reached else 0.0,
        )
    if run.close is None:
        text = "the engine did not close the run: it was cut short"
        yield Issue("points-missing", "inconclusive", _RUN, text)
    elif run.close.failed or run.close.points > len(run.points) + run.close.failed:
        text = (
            f"the engine closed with {run.close.points} points, {run.close.failed} failed; "
            f"{len(run.points)} are sealed"
        )
        yield Issue("points-missing", "inconclusive", _RUN, text)
    if run.open is None:
        text = "the engine never opened its transport"
        yield Issue("engine-error", "inconclusive", _RUN, text)


def _errors(ctx: Context) -> Iterator[Issue]:
    """Report the engine's own errors.

    If a run was interrupted at a point, resumed and closed, the resumed launch measured that point,
    and the interruption is not reported. A rank that reports a deadline is not the rank that others
    wait for.
    """
    sealed = {point.id for point in ctx.run.points} if ctx.run.close is not None else set()
    for error in ctx.run.errors:
        if error.code == "interrupted" and error.id in sealed:
            continue
        code = code_of(error.code)
        who: Subject = _RUN
        if error.rank is not None and code != "deadline":
            who = ctx.node(error.rank)
        where = "" if error.id is None else f" (point {error.id})"
        yield Issue(
            code,
            severity_of(code),
            who,
            f"{error.message or error.code}{where}",
            {"engine_code": error.code},
            error.id,
        )


def _transport(ctx: Context) -> Iterator[Issue]:
    opened = ctx.run.open
    if opened is not None and opened.transport in ("null", "model"):
        yield Issue(
            "instrument-only",
            "inconclusive",
            _RUN,
            f"transport {opened.transport} moves no data: this tests wireproof, not a network",
        )
    elif opened is not None and opened.clock.source == "monotonic":
        yield Issue(
            "clock-not-tsc",
            "warning",
            _RUN,
            f"times come from CLOCK_MONOTONIC ({opened.clock.read_cost_ns:.0f} ns per reading), not"
            " from a cycle counter",
        )


def _libraries(ctx: Context) -> Iterator[Issue]:
    found = {host.library for host in ctx.run.hosts if host.library}
    if len(found) < 2:
        return
    yield Issue(
        "library-mismatch",
        "fail",
        _RUN,
        f"the ranks ran different MPI libraries: {'; '.join(sorted(found))}",
        {"libraries": [f"{ctx.name(host.rank)}: {host.library}" for host in ctx.run.hosts]},
    )


def _nics(ctx: Context) -> Iterator[Issue]:
    for rank, claim in sorted(ctx.claims.items() if ctx.run.claim.wire else ()):
        host, nic = ctx.hosts.get(rank), ctx.claimed_nic(rank)
        if host is None:
            continue
        if nic is None and claim.nic:
            lacking = [name for name in rails_of(claim.nic) if not rail_nics(host.nics, name)]
            there = ", ".join(n.name for n in host.nics) or "none"
            yield Issue(
                "nic-unknown",
                "inconclusive",
                Node(claim.host),
                f"{claim.host} has no NIC {joined(lacking) or claim.nic!r}; it has {there}",
            )
        elif nic is not None:
            yield from _port(ctx, claim.host, nic, host.nics)


def _port(ctx: Context, host: str, nic: Nic, others: list[Nic]) -> Iterator[Issue]:
    """Report a claimed port without a link, and speeds that differ from the claim."""
    if not are_rails(nic) and has_no_carrier(nic):
        yield Issue(
            "nic-down",
            "fail",
            Node(host),
            f"{host} {nic.name} has no carrier ({nic.operstate or 'carrier 0'})",
        )
    for one, link in _with_links(ctx, nic, others):
        yield from _speed(ctx, host, one, link, others)


def _with_links(ctx: Context, nic: Nic, others: list[Nic]) -> list[tuple[Nic, LinkClaim | None]]:
    """Return the claimed port with the link, or each rail with its own link."""
    rails = [one for name in nic.lower for one in others if one.name == name]
    if not are_rails(nic) or ctx.link is None or len(rails) != ctx.link.rails:
        return [(nic, ctx.link)]
    return [(one, one_rail(ctx.link, number)) for number, one in enumerate(rails)]


def _speed(
    ctx: Context, host: str, nic: Nic, link: LinkClaim | None, others: list[Nic]
) -> Iterator[Issue]:
    """Compare the speed that the port states with the claim, for one rail or for all of them.

    A virtual host's speed is not compared.
    """
    found = link_of_port(nic, "any", others)
    if ctx.virtual or link is None or link.rate_bits_per_s is None or found is None:
        return
    claimed = link.rate_bits_per_s
    stated = [rate for rate in (found.rate_bits_per_s, found.line_rate) if rate]
    if not stated or any(_agrees(one, link, claimed) for one in stated):
        return
    speed = max(stated)
    yield Issue(
        "nic-speed-disagrees",
        "fail" if speed < claimed else "warning",
        Node(host),
        f"{host} {nic.name} negotiated {speed / 1e9:g} Gb/s, and {link.name} "
        f"({claimed / 1e9:g} Gb/s) was claimed",
    )


def _agrees(stated: float, link: LinkClaim, claimed: float) -> bool:
    rates = [claimed, link.line_rate or claimed]
    if link.kind.removeprefix("ipoib-") in _CODED:
        # IPoIB reports the signalling rate, of which 8b/10b encoding takes a fifth
        rates.append(claimed / _CODE)
    return any(abs(stated / rate - 1) <= _SPEED_TOLERANCE for rate in rates)


def _crowding(ctx: Context) -> list[Issue]:
    ranks = Counter(host.boot_id or host.hostname for host in ctx.run.hosts)
    cpus = {host.boot_id or host.hostname: host.cpu_count for host in ctx.run.hosts}
    return [
        Issue(
            "oversubscribed",
            "warning",
            _RUN,
            f"{count} ranks share {cpus[machine]} CPUs of one machine",
        )
        for machine, count in sorted(ranks.items())
        if 0 < cpus[machine] < count
    ]


def _namespaces(ctx: Context) -> list[Issue]:
    """Report claimed hosts that are network namespaces of one kernel and not declared virtual."""
    if ctx.virtual or not ctx.run.claim.wire:
        return []
    known = {(host.boot_id, host.netns) for host in ctx.run.hosts if host.boot_id and host.netns}
    return [
        Issue(
            "one-kernel",
            "inconclusive",
            _RUN,
            f"{len(spaces)} of the hosts are network namespaces of one kernel",
        )
        for spaces in kernels(sorted(known))
        if len(spaces) > 1
    ]


def _places(ctx: Context) -> Iterator[Issue]:
    """Report ranks that run on a claimed host other than the intended one; an unclaimed name may be
    an alias.
    """
    claimed = {_short(host.host) for host in ctx.run.hosts} - {""}
    for host in ctx.run.hosts:
        asked, found = _short(host.host), _short(host.hostname)
        if asked and found != asked and found in claimed:
            yield Issue(
                "wrong-host",
                "inconclusive",
                Node(host.host),
                f"rank {host.rank} should run on {host.host} but runs on {host.hostname}: its "
                "numbers belong to that host",
            )


def _short(name: str) -> str:
    return name.lower().split(".", 1)[0]


def _claim(ctx: Context) -> Iterator[Issue]:
    link = ctx.link
    if not ctx.run.claim.wire:
        yield Issue(
            "no-wire-claimed",
            "inconclusive",
            _RUN,
            "only one machine took part: shared memory or loopback was measured, and no wire was"
            " proven",
        )
        return
    if link is not None and link.protocol in ("shm", "loopback"):
        text = (
            f"a wire was claimed between hosts, but the link is {link.kind}, for which no wire "
            "limit is known"
        )
        yield Issue("no-limit-known", "inconclusive", _RUN, text)
    elif link is None or link.rate_bits_per_s is None:
        text = "the link's rate is unknown, so no number can be judged as too fast or too slow"
        yield Issue("no-limit-known", "inconclusive", _RUN, text)
    for rank in sorted(rank for rank, host in ctx.hosts.items() if not host.boot_id):
        yield Issue(
            "placement-unknown",
            "warning",
            ctx.node(rank),
            f"{ctx.name(rank)} reported no boot id: only the counters can distinguish its machine"
            " from another",
        )


_RULES = (
    *(_cut_short, _errors, _transport, _libraries, _fallbacks, _differences, _completion),
    *(_nics, _crowding, _claim, _namespaces, _places),
)


def run_issues(ctx: Context) -> list[Issue]:
    """Return all issues that do not belong to one point."""
    return [issue for rule in _RULES for issue in rule(ctx)]
