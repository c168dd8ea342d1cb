"""Find issues of the run as a whole: cut short, engine errors, libraries, NICs, clock, crowding."""

from collections import Counter

from wireproof.analysis.relations import are_rails, rail_nics
from wireproof.model.claim import LinkClaim, joined, rails_of
from wireproof.model.finding import Node, Subject, Whole
from wireproof.model.record import Host, LibfabricUsed, Nic
from wireproof.model.run import MissingCode
from wireproof.physics.from_port import link_of_port
from wireproof.physics.rails import one_rail
from wireproof.verdict.catalogue import code_of, severity_of
from wireproof.verdict.context import Context
from wireproof.verdict.issue import Issue
from wireproof.verdict.path import kernels

# --- Compare libfabric's provider with the requested provider: another provider, or an unusual
# layer over it, gives numbers that look like those of the requested provider.

_USUAL_LAYERS = {
    "tcp": ("ofi_rxm",),
    "verbs": ("ofi_rxm",),
    "udp": ("ofi_rxd",),
    "net": ("ofi_rxm",),
}
"""Layers that turn a provider's endpoints into reliable datagram endpoints (fi_rxm(7), fi_rxd(7)).

Any other layer is a fallback: ``psm3;ofi_rxd`` is PSM3's datagrams under libfabric's reliability,
``verbs;ofi_rxd`` unreliable datagrams in place of connections.
"""
_OF_ONE_MACHINE = ("shm", "sm2")
_WRITES = frozenset({"put", "accumulate"})
"""Remote accesses that return nothing."""


def provider_issues(ctx: Context) -> list[Issue]:
    """Return findings about the provider; none if libfabric was not measured."""
    issues = []
    for host in ctx.run.hosts:
        if host.fabric is None:
            continue
        why = _fallback(host.fabric, ctx.run.claim.provider, wire=ctx.run.claim.wire)
        if why:
            issues.append(
                Issue(
                    "provider-fallback",
                    "fail",
                    ctx.node(host.rank),
                    why,
                    {
                        "provider": host.fabric.provider,
                        "wanted": ctx.run.claim.provider,
                    },
                )
            )
    return [*issues, *_differences(ctx), *_completion(ctx)]


def _fallback(found: LibfabricUsed, wanted: str, *, wire: bool) -> str:
    name, _, layers = found.provider.partition(";")
    asked, _, asked_layers = wanted.partition(";")
    if asked and name != asked:
        return f"provider {wanted} was requested and {found.provider} answered"
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
"""Properties that equally started ranks share. Domains and NICs differ between hosts."""


def _differences(ctx: Context) -> list[Issue]:
    """Report ranks whose libfabric setup differs from the first rank's.

    The engine refuses only ranks that cannot communicate.
    """
    ranks = [(host.rank, host.fabric) for host in ctx.run.hosts if host.fabric is not None]
    issues = []
    for name in _ALIKE:
        first = getattr(ranks[0][1], name) if ranks else ""
        other = next((one for one in ranks if getattr(one[1], name) != first), None)
        if other is None:
            continue
        rank, value = other[0], getattr(other[1], name)
        issues.append(
            Issue(
                "provider-differs",
                "warning",
                ctx.node(rank),
                f"libfabric's {name.replace('_', ' ')} is {first or 'unknown'} on"
                f" {ctx.name(ranks[0][0])} and {value or 'unknown'} on {ctx.name(rank)}: numbers"
                " between them describe neither setup",
                {"what": name, "first": str(first), "other": str(value)},
            )
        )
    return issues


def _is_early(found: LibfabricUsed | None) -> bool:
    """Records before version 0.2 state this only for sends."""
    if found is None:
        return False
    return found.remote == "local" if found.remote else found.completion != "delivery"


def _completion(ctx: Context) -> list[Issue]:
    """Report remote writes with local completion: they say nothing about the target's memory.

    An access that returns data has reached the target.
    """
    remote = sorted({point.pattern for point in ctx.run.points} & _WRITES)
    early = [host for host in ctx.run.hosts if _is_early(host.fabric)]
    if not remote or not early:
        return []
    fabric = early[0].fabric
    said = (fabric.completion if fabric else "") or "its own"
    return [
        Issue(
            "completion-local",
            "warning",
            _RUN,
            f"{' and '.join(remote)} ended with {said} completion of the provider"
            f" {fabric.provider if fabric else ''}: the time does not include the write to the"
            " target's memory",
            {"completion": said},
        )
    ]


_RUN = Whole()
_SPEED_TOLERANCE = 0.05
_MISSING_CODES: dict[MissingCode, str] = {"rank-lost": "rank-lost", "deadline": "deadline"}
_CODED, _CODE = ("sdr", "ddr", "qdr"), 8 / 10


def run_issues(ctx: Context) -> list[Issue]:
    """Return all issues that do not belong to one point."""
    return [
        *_cut_short(ctx),
        *_errors(ctx),
        *_transport(ctx),
        *_libraries(ctx),
        *provider_issues(ctx),
        *_nics(ctx),
        *_crowding(ctx),
        *_claim(ctx),
        *_namespaces(ctx),
        *_places(ctx),
    ]


def _cut_short(ctx: Context) -> list[Issue]:
    run = ctx.run
    issues = [
        Issue(
            _MISSING_CODES.get(why.code, "points-missing"),
            "inconclusive",
            _RUN,
            f"point {point} was not measured: {str(why) or 'no reason given'}",
            point=point,
            weight=1.0 if why.reached else 0.0,
        )
        for point, why in sorted(run.missing.items())
    ]
    if run.close is None:
        issues.append(
            Issue(
                "points-missing",
                "inconclusive",
                _RUN,
                "the engine did not close the run: it was cut short",
            )
        )
    elif run.close.failed or run.close.points > len(run.points) + run.close.failed:
        issues.append(
            Issue(
                "points-missing",
                "inconclusive",
                _RUN,
                f"the engine closed with {run.close.points} points, {run.close.failed} failed; "
                f"{len(run.points)} are sealed",
            )
        )
    if run.open is None:
        issues.append(
            Issue("engine-error", "inconclusive", _RUN, "the engine never opened its transport")
        )
    return issues


def _errors(ctx: Context) -> list[Issue]:
    """Report the engine's own errors.

    If a run was interrupted at a point, resumed and closed, the resumed launch measured that point,
    and the interruption is not reported.
    """
    issues = []
    sealed = {point.id for point in ctx.run.points} if ctx.run.close is not None else set()
    for error in ctx.run.errors:
        if error.code == "interrupted" and error.id in sealed:
            continue
        code = code_of(error.code)
        who: Subject = _RUN if error.rank is None else ctx.node(error.rank)
        where = "" if error.id is None else f" (point {error.id})"
        issues.append(
            Issue(
                code,
                severity_of(code),
                who,
                f"{error.message or error.code}{where}",
                {"engine_code": error.code},
                error.id,
            )
        )
    return issues


def _transport(ctx: Context) -> list[Issue]:
    opened = ctx.run.open
    if opened is None:
        return []
    if opened.transport in ("null", "model"):
        text = (
            f"transport {opened.transport} moves nothing: the instrument was tested, not a network"
        )
        return [Issue("instrument-only", "inconclusive", _RUN, text)]
    if opened.clock.source == "monotonic":
        cost = opened.clock.read_cost_ns
        text = (
            f"times come from CLOCK_MONOTONIC ({cost:.0f} ns per reading), not from a cycle counter"
        )
        return [Issue("clock-not-tsc", "warning", _RUN, text)]
    return []


def _libraries(ctx: Context) -> list[Issue]:
    found = {host.library for host in ctx.run.hosts if host.library}
    if len(found) < 2:
        return []
    listed = [f"{ctx.name(host.rank)}: {host.library}" for host in ctx.run.hosts]
    return [
        Issue(
            "library-mismatch",
            "fail",
            _RUN,
            f"the ranks ran different MPI libraries: {'; '.join(sorted(found))}",
            {"libraries": listed},
        )
    ]


def _nics(ctx: Context) -> list[Issue]:
    issues = []
    for rank, claim in sorted(ctx.claims.items()):
        host, nic = ctx.hosts.get(rank), ctx.claimed_nic(rank)
        if host is None or not ctx.run.claim.wire:
            continue
        if nic is None and claim.nic:
            there = ", ".join(n.name for n in host.nics) or "none"
            issues.append(
                Issue(
                    "nic-unknown",
                    "inconclusive",
                    Node(claim.host),
                    f"{claim.host} has no NIC {_lacking(claim.nic, host)!r}; it has {there}",
                )
            )
        elif nic is not None:
            issues += [] if are_rails(nic) else _carrier(claim.host, nic)
            for one, link in _with_links(ctx, nic, host.nics):
                issues += _speed(ctx, claim.host, one, link, host.nics)
    return issues


def _with_links(ctx: Context, nic: Nic, others: list[Nic]) -> list[tuple[Nic, LinkClaim | None]]:
    """Return the claimed port with the link, or each rail with its own link."""
    rails = [one for name in nic.lower for one in others if one.name == name]
    if not are_rails(nic) or ctx.link is None or len(rails) != ctx.link.rails:
        return [(nic, ctx.link)]
    return [(one, one_rail(ctx.link, number)) for number, one in enumerate(rails)]


def _lacking(claim: str, host: Host) -> str:
    """Return the claimed NICs that do not exist."""
    names = rails_of(claim)
    return joined([name for name in names if not rail_nics(host.nics, name)]) or claim


def _carrier(host: str, nic: Nic) -> list[Issue]:
    if nic.carrier is False or nic.operstate in ("down", "lowerlayerdown"):
        return [
            Issue(
                "nic-down",
                "fail",
                Node(host),
                f"{host} {nic.name} has no carrier ({nic.operstate or 'carrier 0'})",
            )
        ]
    return []


def _speed(
    ctx: Context, host: str, nic: Nic, link: LinkClaim | None, others: list[Nic]
) -> list[Issue]:
    """Compare the speed that the port states with the claim, for one rail or for all of them.

    A virtual host's speed is not compared.
    """
    found = link_of_port(nic, "any", others)
    if ctx.virtual or link is None or link.rate_bits_per_s is None or found is None:
        return []
    claimed = link.rate_bits_per_s
    stated = [rate for rate in (found.rate_bits_per_s, found.line_rate) if rate]
    if not stated or any(_agrees(one, link, claimed) for one in stated):
        return []
    speed = max(stated)
    return [
        Issue(
            "nic-speed-disagrees",
            "fail" if speed < claimed else "warning",
            Node(host),
            f"{host} {nic.name} negotiated {speed / 1e9:g} Gb/s, and {link.name} "
            f"({claimed / 1e9:g} Gb/s) was claimed",
        )
    ]


def _agrees(stated: float, link: LinkClaim, claimed: float) -> bool:
    rates = [claimed, link.line_rate or claimed]
    if link.kind.removeprefix("ipoib-") in _CODED:
        rates.append(claimed / _CODE)  # IPoIB states the nominal rate: 8b/10b takes a fifth of it
    return any(abs(stated / rate - 1) <= _SPEED_TOLERANCE for rate in rates)


def _crowding(ctx: Context) -> list[Issue]:
    ranks = Counter(host.boot_id or host.hostname for host in ctx.run.hosts)
    cpus = {host.boot_id or host.hostname: host.cpu_count for host in ctx.run.hosts}
    return [
        Issue(
            "oversubscribed",
            "warning",
            _RUN,
            f"{count} ranks share {cpus[machine]} processors of one machine",
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


def _places(ctx: Context) -> list[Issue]:
    """Report ranks that run on another claimed host than their own; an unclaimed name may be an
    alias.
    """
    claimed = {_short(host.host) for host in ctx.run.hosts} - {""}
    issues = []
    for host in ctx.run.hosts:
        asked, found = _short(host.host), _short(host.hostname)
        if asked and found != asked and found in claimed:
            issues.append(
                Issue(
                    "wrong-host",
                    "inconclusive",
                    Node(host.host),
                    f"rank {host.rank} should run on {host.host} but runs on {host.hostname}: its "
                    "numbers belong to that host",
                )
            )
    return issues


def _short(name: str) -> str:
    return name.lower().split(".", 1)[0]


def _claim(ctx: Context) -> list[Issue]:
    issues = []
    if not ctx.run.claim.wire:
        text = (
            "only one machine took part: shared memory or loopback was measured, and no wire was "
            "proven"
        )
        issues.append(Issue("no-wire-claimed", "inconclusive", _RUN, text))
        return issues
    if ctx.link is None or (
        ctx.link.rate_bits_per_s is None and ctx.link.protocol not in ("shm", "loopback")
    ):
        text = "the link's rate is unknown, so no number can be judged as too fast or too slow"
        issues.append(Issue("no-limit-known", "inconclusive", _RUN, text))
    elif ctx.link.protocol in ("shm", "loopback"):
        text = (
            f"a wire was claimed between hosts, and the link is {ctx.link.kind}: no limit of a "
            "wire is known"
        )
        issues.append(Issue("no-limit-known", "inconclusive", _RUN, text))
    for rank, host in sorted(ctx.hosts.items()):
        if not host.boot_id:
            text = (
                f"{ctx.name(rank)} reported no boot id: only the counters can distinguish its"
                " machine from "
                "another"
            )
            issues.append(Issue("placement-unknown", "warning", ctx.node(rank), text))
    return issues
