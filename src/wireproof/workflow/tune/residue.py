"""Reads what earlier changes left on the hosts, and which change sets are in force there."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from wireproof.audit.facts import HostFacts
from wireproof.instrument.facts import Collected
from wireproof.model.errors import WireproofError
from wireproof.model.quantity import counted
from wireproof.model.record import FactFrame
from wireproof.model.tuning import HostTuned, Residue, ResidueFound, Standing
from wireproof.tune.overruled import settings_files
from wireproof.tune.residue import residue_of, values_asked
from wireproof.tune.sets import standing_of
from wireproof.workflow.audit import catalogue, hosts_of
from wireproof.workflow.reporter import Reporter
from wireproof.workflow.target.target import Target
from wireproof.workflow.tune.node import JournalPlace, set_status
from wireproof.workflow.tune.read_files import read_files

__all__ = ["residue", "standing_on"]


def residue(target: Target, reporter: Reporter, place: JournalPlace | None = None) -> Residue:
    """Read-only. A host that does not answer is found as ``unread``."""
    hosts = hosts_of(target)
    known = catalogue()
    where = place or JournalPlace()
    if len(hosts) > 1:
        reporter.say(f"reading the settings' files of {counted(len(hosts), 'host')}")
    first = read_files(target, {host: settings_files() for host in hosts}, where)
    asked = {
        host: values_asked(HostFacts.of(host, one.frames), known) for host, one in first.items()
    }
    second = read_files(target, asked, where)
    states = {one.host: one for one in set_status(target, hosts, "", where)}
    found: list[ResidueFound] = []
    for host in hosts:
        more = second[host].frames if host in second else ()
        found += _of_host(first[host], more, states[host])
    return Residue(hosts=list(hosts), found=found)


def _of_host(one: Collected, more: Sequence[FactFrame], state: HostTuned) -> list[ResidueFound]:
    if not one.frames:
        return [ResidueFound(host=one.host, kind="unread", place="the host", message=one.problem)]
    return residue_of(HostFacts.of(one.host, (*one.frames, *more)), state, catalogue())


_MOST_HOSTS = 256
"""Each host is asked by a program of its own, as for its settings."""


def standing_on(target: Target) -> Standing | None:
    """What the journals of the target's hosts say now; None where nobody asked: of more than 256
    hosts, and of a machine that is files only. What cannot be read is told, and costs no result.
    """
    hosts = hosts_of(target)
    if len(hosts) > _MOST_HOSTS or target.sysfs_root:
        return None
    try:
        found = standing_of(set_status(target, hosts))
    except WireproofError as error:
        found = Standing(hosts=list(hosts), unread={str(error): list(hosts)})
    lab = target.lab.name if target.lab is not None else ""
    return msgspec.structs.replace(found, here=not target.hosts, lab=lab)
