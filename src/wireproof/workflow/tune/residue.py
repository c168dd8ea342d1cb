"""The work of ``wireproof tune residue``: what earlier changes left on the hosts."""

from __future__ import annotations

from pathlib import Path

from wireproof.audit.facts import HostFacts
from wireproof.instrument.facts import Collected, collect
from wireproof.model.plan import FactRequest
from wireproof.model.quantity import counted
from wireproof.model.record import FactFrame
from wireproof.model.tuning import HostTuned, Residue, ResidueFound
from wireproof.tune.residue import residue_of, residue_requests, values_asked
from wireproof.workflow.audit import catalogue, more_of_source, reader_argv
from wireproof.workflow.reporter import Reporter
from wireproof.workflow.target.target import Target
from wireproof.workflow.tune.node import Place, hosts_of, set_status

__all__ = ["residue"]


def residue(target: Target, reporter: Reporter, place: Place | None = None) -> Residue:
    """Read-only. A host that does not answer is found as ``unread``."""
    hosts = hosts_of(target)
    known = catalogue()
    where = place or Place()
    if len(hosts) > 1:
        reporter.say(f"reading the settings' files of {counted(len(hosts), 'host')}")
    wanted = {host: residue_requests() for host in hosts}
    first = {one.host: one for one in _collected(target, wanted, where)}
    asked = {
        host: values_asked(HostFacts.of(host, one.frames), known) for host, one in first.items()
    }
    second = {one.host: one.frames for one in _collected(target, asked, where)}
    states = {one.host: one for one in set_status(target, hosts, "", where)}
    found: list[ResidueFound] = []
    for host in hosts:
        found += _of_host(first[host], second.get(host, ()), states[host])
    return Residue(hosts=list(hosts), found=found)


def _of_host(one: Collected, more: tuple[FactFrame, ...], state: HostTuned) -> list[ResidueFound]:
    if not one.frames:
        return [ResidueFound(host=one.host, kind="unread", place="the host", message=one.problem)]
    return residue_of(HostFacts.of(one.host, (*one.frames, *more)), state, catalogue())


def _collected(
    target: Target, wanted: dict[str, tuple[FactRequest, ...]], where: Place
) -> list[Collected]:
    """Hosts that are asked the same together; none is asked for nothing."""
    if where.root:
        root = Path(where.root)
        return [Collected(host, more_of_source(root, host, one)) for host, one in wanted.items()]
    groups: dict[tuple[FactRequest, ...], list[str]] = {}
    for host, one in wanted.items():
        if one:
            groups.setdefault(one, []).append(host)
    argv_of = reader_argv(target)
    return [
        answer
        for asked, hosts in groups.items()
        for answer in collect({host: argv_of[host] for host in hosts}, asked)
    ]
