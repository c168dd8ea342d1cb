"""The odd one out: a host whose setting differs from most hosts of its kind. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from wireproof.audit.catalogue import Catalogue, Entry
from wireproof.audit.expression import Unknown
from wireproof.audit.judge import instances_of, reading_of, shown
from wireproof.audit.machine import Machine
from wireproof.model.setting import AuditResult

__all__ = ["odd_ones"]

_LEAST = 3
"""Hosts of one kind, below which nobody is the odd one."""
_KIND = ("host.cpu", "host.fabrics", "host.virtual", "host.gpus")


def odd_ones(
    machines: Sequence[Machine], catalogue: Catalogue, only: Iterable[str] = ()
) -> list[AuditResult]:
    """One result for each host, interface or port whose value is not that of most of its kind."""
    wanted = set(only)
    found: list[AuditResult] = []
    for group in _kinds(machines):
        if len(group) < _LEAST:
            continue
        for name, entry in catalogue.entries.items():
            if entry.setting.alike and (not wanted or name in wanted):
                found += _odd(entry, group, catalogue)
    return found


def _kinds(machines: Sequence[Machine]) -> list[list[Machine]]:
    groups: dict[str, list[Machine]] = defaultdict(list)
    for machine in machines:
        groups[repr([machine.names.get(name) for name in _KIND])].append(machine)
    return list(groups.values())


def _odd(entry: Entry, group: Sequence[Machine], catalogue: Catalogue) -> list[AuditResult]:
    values: dict[str, list[tuple[Machine, str]]] = defaultdict(list)
    for machine in group:
        for instance in instances_of(machine, entry):
            reading = reading_of(machine, entry, instance, {})
            if not isinstance(reading.value, Unknown):
                values[instance.label].append((machine, reading.text))
    found = []
    for label, read in values.items():
        counts = Counter(text for _, text in read)
        (usual, many), *others = counts.most_common()
        if len(read) < _LEAST or not others or many <= len(read) / 2:
            continue
        found += [
            AuditResult(
                id=entry.setting.id,
                host=machine.facts.host,
                status="fail",
                instance=label,
                seen=shown(text),
                wanted=f"{shown(usual)}, as on {many} others",
                message=f"{entry.setting.title}: differs from {many} others of its kind",
                expected_effect=entry.setting.effect,
            )
            for machine, text in read
            if text != usual
        ]
    return found
