"""Under what a result was measured: what explains a difference between two, or spoils it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from wireproof.analysis.rails import rail_nics
from wireproof.model.record import Host, Nic
from wireproof.model.run import Run
from wireproof.model.setting import Audit, Setting
from wireproof.report.names import fold
from wireproof.report.section import Section
from wireproof.workflow.audit import settings_by_id

__all__ = ["conditions", "setting_values"]

_NAMED = 256
"""Ports that are named one by one."""


def conditions(sections: Sequence[Section]) -> dict[str, str]:
    """Name to value; all values where hosts or parts differ."""
    values: dict[str, dict[str, None]] = {}
    for section in sections:
        for name, value in chain(_of_run(section.run), _of_machines(section)):
            if value:
                values.setdefault(name, {})[value] = None
    return {name: ", ".join(found) for name, found in values.items()}


def _of_run(run: Run) -> Iterator[tuple[str, str]]:
    yield "hosts", fold(one.host for one in run.claim.hosts)
    yield "link", run.claim.link.name if run.claim.link else ""
    yield "transport", run.open.transport if run.open else ""
    yield "MPI", run.provenance.mpi
    for host in run.hosts:
        yield "library", host.library.partition("\n")[0][:100]
        yield from _of_fabric(host)
    for _, nic in _claimed_nics(run):
        yield from _of_nic(nic)
    for name, value in sorted(run.provenance.environment.items()):
        yield f"variable {name}", value
    yield "wireproof", run.provenance.wireproof


def _of_machines(section: Section) -> Iterator[tuple[str, str]]:
    """Hardware, firmware and system as the disclosure has them, and which port stands where: a
    part that was swapped for its like has another address.
    """
    items = section.disclosure.items if section.disclosure is not None else []
    for one in items:
        if one.group in ("hardware", "firmware", "system") and one.value:
            yield one.name, f"{one.value} ({fold(one.hosts)})" if one.hosts else one.value
    if section.run.claim.virtual or section.run.played:
        return  # made anew each time
    ports = [
        (f"address of {host.host} {nic.name}", nic.mac)
        for host, nic in _claimed_nics(section.run)
        if nic.mac
    ]
    if len(ports) > _NAMED:
        told = "\n".join(f"{name} {mac}" for name, mac in ports)
        ports = [
            ("addresses of the ports (digest)", hashlib.sha256(told.encode()).hexdigest()[:12])
        ]
    yield from ports


def _claimed_nics(run: Run) -> Iterator[tuple[Host, Nic]]:
    claimed = {one.rank: one.nic for one in run.claim.hosts}
    for host in run.hosts:
        for nic in rail_nics(host.nics, claimed.get(host.rank, "")):
            yield host, nic


def _of_fabric(host: Host) -> Iterator[tuple[str, str]]:
    if host.fabric is not None:
        yield "provider", host.fabric.provider


def _of_nic(nic: Nic) -> Iterator[tuple[str, str]]:
    yield "NIC", nic.name
    yield "driver", nic.driver
    yield "MTU", str(nic.mtu or "")
    yield "speed", f"{nic.speed_mbps} Mb/s" if nic.speed_mbps and nic.speed_mbps > 0 else ""
    yield "slot", nic.pcie


def setting_values(audit: Audit) -> dict[str, set[str]]:
    """What stands on the hosts, of what somebody can set: a load is no setting."""
    known: Mapping[str, Setting] = settings_by_id()
    found: dict[str, set[str]] = {}
    for one in audit.results:
        setting = known.get(one.id)
        if setting is None or setting.fix is None or setting.fix.takes == "hands":
            continue
        if one.status in ("pass", "fail", "waived") and one.seen:
            found.setdefault(one.id, set()).add(one.seen)
    return found
