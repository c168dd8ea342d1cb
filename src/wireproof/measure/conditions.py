"""The conditions of a measurement, which can explain a difference between two results or make it
meaningless. Also relates the hosts' settings to the measurement: a slow node, and the setting that
may be the cause. The verdict does not change.
"""

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import msgspec

from wireproof.audit.job import settings_by_id
from wireproof.ledger.relations import rail_nics
from wireproof.locate.causes.differing import WrongSettings
from wireproof.locate.causes.settings import with_settings as with_setting_causes
from wireproof.locate.verdict import with_causes
from wireproof.locate.verdict.slow_pairs import with_short_causes
from wireproof.model import gathered
from wireproof.model.history import Difference
from wireproof.model.record import Host, Nic
from wireproof.model.run import Run
from wireproof.model.setting import Audit, Setting
from wireproof.report.judged_run import JudgedRun
from wireproof.report.names import fold

_NAMED = 256
"""Limit on the number of ports that are listed individually."""


_Condition = tuple[str, str, str]
"""Name, value and host; the host is "" if the condition applies to the whole run."""


def conditions(sections: Sequence[JudgedRun], *, with_hosts: bool = False) -> dict[str, str]:
    """Return the value of each condition; if hosts or parts differ, return all values, each with
    its hosts if ``with_hosts``.
    """
    values: dict[str, dict[str, dict[str, None]]] = {}
    for section in sections:
        for name, value, host in chain(_of_run(section.run), _of_machines(section)):
            if value:
                values.setdefault(name, {}).setdefault(value, {})[host] = None
    return {
        name: ", ".join(
            f"{value} ({fold(hosts)})"
            if with_hosts and len(by_value) > 1 and "" not in hosts
            else value
            for value, hosts in by_value.items()
        )
        for name, by_value in values.items()
    }


def _of_run(run: Run) -> Iterator[_Condition]:
    yield "hosts", fold(rank.host for rank in run.claim.hosts), ""
    yield "link", run.claim.link.name if run.claim.link else "", ""
    yield "transport", run.open.transport if run.open else "", ""
    yield "MPI", run.provenance.mpi, ""
    for host in run.hosts:
        yield "library", host.library.partition("\n")[0][:100], host.host
        yield "provider", host.fabric.provider if host.fabric is not None else "", host.host
    for host, nic in _claimed_nics(run):
        for name, value in _of_nic(nic):
            yield name, value, host.host
    for name, value in sorted(run.provenance.environment.items()):
        yield f"variable {name}", value, ""
    yield "wireproof", run.provenance.wireproof, ""


def _of_machines(section: JudgedRun) -> Iterator[_Condition]:
    """Yield hardware, firmware and system from the disclosure, and the address of each port: a
    replaced part has a different address.
    """
    items = section.disclosure.items if section.disclosure is not None else []
    for item in items:
        if item.group in ("hardware", "firmware", "system") and item.value:
            yield item.name, f"{item.value} ({fold(item.hosts)})" if item.hosts else item.value, ""
    if section.run.claim.virtual or section.run.played:
        return  # virtual ports get new addresses each time
    ports = [
        (f"address of {host.host} {nic.name}", nic.mac)
        for host, nic in _claimed_nics(section.run)
        if nic.mac
    ]
    if len(ports) > _NAMED:
        addresses = "\n".join(f"{name} {mac}" for name, mac in ports)
        ports = [
            ("addresses of the ports (digest)", hashlib.sha256(addresses.encode()).hexdigest()[:12])
        ]
    yield from ((name, mac, "") for name, mac in ports)


def _claimed_nics(run: Run) -> Iterator[tuple[Host, Nic]]:
    claimed = {rank.rank: rank.nic for rank in run.claim.hosts}
    for host in run.hosts:
        for nic in rail_nics(host.nics, claimed.get(host.rank, "")):
            yield host, nic


def _of_nic(nic: Nic) -> Iterator[tuple[str, str]]:
    yield "NIC", nic.name
    yield "driver", nic.driver
    yield "MTU", str(nic.mtu or "")
    yield "speed", f"{nic.speed_mbps} Mb/s" if nic.speed_mbps and nic.speed_mbps > 0 else ""
    yield "slot", nic.pcie


def setting_values(audit: Audit) -> dict[str, dict[str, str]]:
    """Return the value of each setting on each host, whether or not it could be judged.

    Only settings that can be changed are included, not loads.
    """
    known: Mapping[str, Setting] = settings_by_id()
    values: dict[str, dict[str, list[str]]] = {}
    for result in audit.results:
        setting = known.get(result.id)
        if setting is None or setting.fix is None or setting.fix.takes == "hands":
            continue
        if result.status != "not-applicable" and result.seen:
            values.setdefault(result.id, {}).setdefault(result.host, []).append(result.seen)
    return {
        name: {host: ", ".join(sorted(set(seen))) for host, seen in hosts.items()}
        for name, hosts in values.items()
    }


def listed(values: Mapping[str, str]) -> str:
    """Return the common value of all hosts, or each value with its hosts."""
    hosts = gathered((value, host) for host, value in values.items())
    if len(hosts) == 1:
        return next(iter(hosts))
    return ", ".join(f"{value} ({fold(names)})" for value, names in sorted(hosts.items()))


def differing_conditions(
    a: Sequence[JudgedRun], b: Sequence[JudgedRun]
) -> tuple[list[Difference], list[Difference]]:
    """Return the conditions that are equal and those that differ, each with all values that
    occur.
    """
    left, right = conditions(a, with_hosts=True), conditions(b, with_hosts=True)
    rows = [
        Difference(name=name, a=left.get(name, "not known"), b=right.get(name, "not known"))
        for name in dict.fromkeys([*left, *right])
    ]
    return [row for row in rows if row.a == row.b], [row for row in rows if row.a != row.b]


def differing_settings(a: Audit | None, b: Audit | None) -> list[Difference]:
    """Return the settings that differ between the hosts of A and those of B, if both could be read.
    A host that occurs in both is compared with itself.
    """
    if a is None or b is None:
        return []
    left, right = setting_values(a), setting_values(b)
    return [
        difference
        for name in left
        if name in right
        for difference in _of_setting(name, left[name], right[name])
    ]


def _of_setting(name: str, a: Mapping[str, str], b: Mapping[str, str]) -> list[Difference]:
    both = [host for host in a if host in b]
    if not both and set(a.values()) != set(b.values()):
        return [Difference(name=name, a=listed(a), b=listed(b))]
    changed = gathered(((a[host], b[host]), host) for host in both if a[host] != b[host])
    return [
        Difference(name=f"{name} on {fold(hosts)}", a=before, b=after)
        for (before, after), hosts in changed.items()
    ]


# --- The hosts' settings, combined with the measurements.


def with_settings(sections: Sequence[JudgedRun], audit: Audit) -> list[JudgedRun]:
    """Return the sections of one check; the first reports the hosts' settings, and each lists the
    settings that may explain why it is slow.
    """
    known = settings_by_id()
    audit = without_own_doing(audit)
    first, *rest = (joined(section, audit, known) for section in sections)
    return [dataclasses.replace(first, settings=audit), *rest]


def without_own_doing(audit: Audit) -> Audit:
    """Ignore the load of the hosts: the settings are read after the measurement, which itself
    causes load.
    """
    message = "Load of the machine: the check itself caused it"
    results = [
        msgspec.structs.replace(row, status="not-applicable", message=message, fix="", undo="")
        if row.id == "load" and row.status != "unknown"
        else row
        for row in audit.results
    ]
    return msgspec.structs.replace(audit, results=results)


def joined(section: JudgedRun, audit: Audit, settings: Mapping[str, Setting]) -> JudgedRun:
    """Return ``section`` with the settings that may explain its culprits and slow pairs."""
    if not section.run.claim.wire:
        return section
    link = section.run.claim.link
    wrong = WrongSettings(audit, settings, section.run)
    located = tuple(with_setting_causes(located, wrong, link) for located in section.located)
    judgement = with_causes(section.judgement, located)
    least = section.criteria.min_efficiency
    judgement = with_short_causes(judgement, wrong, link, located, least)
    return dataclasses.replace(section, located=located, judgement=judgement)
