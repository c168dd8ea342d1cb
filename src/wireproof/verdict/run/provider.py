"""What libfabric gave, held against what was asked of it: another provider, or one with a layer
that is not usual over it, gives numbers that look like the wanted one's. Pure.
"""

from __future__ import annotations

from wireproof.model.record import Fabric
from wireproof.model.subject import Whole
from wireproof.verdict.context import Context
from wireproof.verdict.issue import Evidence, Issue

__all__ = ["provider_issues"]

_RUN = Whole()
_USUAL_LAYERS = {
    "tcp": ("ofi_rxm",),
    "verbs": ("ofi_rxm",),
    "udp": ("ofi_rxd",),
    "net": ("ofi_rxm",),
}
"""Layers that make reliable datagram endpoints of a provider's own (fi_rxm(7), fi_rxd(7)).

Any other layer is a fallback: ``psm3;ofi_rxd`` is PSM3's datagrams under libfabric's reliability,
``verbs;ofi_rxd`` unreliable datagrams in place of connections.
"""
_OF_ONE_MACHINE = ("shm", "sm2")
_WRITES = frozenset({"put", "accumulate"})
"""Remote accesses of which nothing comes back."""


def provider_issues(ctx: Context) -> list[Issue]:
    """Findings about the provider; none where libfabric was not measured."""
    issues = []
    for host in ctx.run.hosts:
        if host.fabric is None:
            continue
        why = _fallback(host.fabric, ctx.run.claim.provider, wire=ctx.run.claim.wire)
        if why:
            evidence: Evidence = {
                "provider": host.fabric.provider,
                "wanted": ctx.run.claim.provider,
            }
            issues.append(Issue("provider-fallback", "fail", ctx.node(host.rank), why, evidence))
    return [*issues, *_differences(ctx), *_completion(ctx)]


def _fallback(found: Fabric, wanted: str, *, wire: bool) -> str:
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
            " so its own reliable endpoints were not to be had"
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
"""What ranks have alike that are started alike. Domains and NICs are each host's own."""


def _differences(ctx: Context) -> list[Issue]:
    """Ranks whose libfabric is set up in another way than the first one's: the engine refuses only
    those that cannot talk to each other.
    """
    ranks = [(host.rank, host.fabric) for host in ctx.run.hosts if host.fabric is not None]
    issues = []
    for name in _ALIKE:
        first = getattr(ranks[0][1], name) if ranks else ""
        other = next((one for one in ranks if getattr(one[1], name) != first), None)
        if other is None:
            continue
        rank, value = other[0], getattr(other[1], name)
        text = (
            f"libfabric's {name.replace('_', ' ')} is {first or 'unknown'} on"
            f" {ctx.name(ranks[0][0])} and {value or 'unknown'} on {ctx.name(rank)}: a number"
            " between them is that of neither"
        )
        evidence: Evidence = {"what": name, "first": str(first), "other": str(value)}
        issues.append(Issue("provider-differs", "warning", ctx.node(rank), text, evidence))
    return issues


def _is_early(found: Fabric | None) -> bool:
    """Records of before 0.2 say it of sends alone."""
    if found is None:
        return False
    return found.remote == "local" if found.remote else found.completion != "delivery"


def _completion(ctx: Context) -> list[Issue]:
    """A remote write whose completion is local says nothing about the target's memory; what comes
    back has been there.
    """
    remote = sorted({point.pattern for point in ctx.run.points} & _WRITES)
    early = [host for host in ctx.run.hosts if _is_early(host.fabric)]
    if not remote or not early:
        return []
    fabric = early[0].fabric
    said = (fabric.completion if fabric else "") or "its own"
    text = (
        f"{' and '.join(remote)} ended with {said} completion of the provider"
        f" {fabric.provider if fabric else ''}: the time does not reach to the target's memory"
    )
    return [Issue("completion-local", "warning", _RUN, text, {"completion": said})]
