"""Under what a result was measured: what explains a difference between two, or spoils it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from wireproof.model.rails import rails_of
from wireproof.model.record import Host, Nic
from wireproof.model.run import Run
from wireproof.model.setting import Audit, Setting
from wireproof.report.names import fold
from wireproof.report.section import Section
from wireproof.workflow.audit import settings_by_id

__all__ = ["conditions", "setting_values"]


def conditions(sections: Sequence[Section]) -> dict[str, str]:
    """Name to value; all values where hosts or parts differ."""
    values: dict[str, dict[str, None]] = {}
    for section in sections:
        for name, value in _of_run(section.run):
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
    claimed = {one.rank: one.nic for one in run.claim.hosts}
    for host in run.hosts:
        for nic in host.nics:
            if nic.name in rails_of(claimed.get(host.rank, "")):
                yield from _of_nic(nic)
    for name, value in sorted(run.provenance.environment.items()):
        yield f"variable {name}", value
    yield "wireproof", run.provenance.wireproof


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
