"""The odd one out: a host whose setting differs from most hosts of its kind. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from wireproof.audit.catalogue import Catalogue
from wireproof.audit.facts import HostFacts
from wireproof.audit.machine import Machine
from wireproof.audit.reading import firmware_on, shown
from wireproof.audit.remedy import by_hand_of
from wireproof.model.quantity import counted
from wireproof.model.setting import AuditResult, Setting

__all__ = ["kind_of", "odd_ones"]

_LEAST = 3
"""Hosts of one kind, below which none is the odd one."""
_SHOWN = 4
"""Hosts that a sentence names."""
_ATTRIBUTES = "bios-attributes"
_KIND = ("host.cpu", "host.fabrics", "host.virtual", "host.gpus")


def kind_of(machine: Machine) -> Machine:
    """What `odd_ones` needs of the machine: many are held at once."""
    firmware = {place: frame for place, frame in machine.facts.files.items() if "bios" in place}
    names = {name: machine.names[name] for name in _KIND if name in machine.names}
    return Machine(HostFacts(machine.facts.host, files=firmware), names)


def odd_ones(
    machines: Sequence[Machine], results: Iterable[AuditResult], catalogue: Catalogue
) -> list[AuditResult]:
    """A result for each host, interface or port whose value is not that of most of its kind, or not
    that of the other end.
    """
    kinds = {
        machine.facts.host: repr([machine.names.get(name) for name in _KIND])
        for machine in machines
    }
    read: Mapping[tuple[str, str, str], list[AuditResult]] = defaultdict(list)
    for one in results:
        entry = catalogue.entries.get(one.id)
        if entry is not None and entry.setting.alike and one.status in ("pass", "fail"):
            read[(kinds.get(one.host, ""), one.id, one.instance)].append(one)
    odd = [one for group in read.values() for one in _odd(group, catalogue)]
    by_host = {machine.facts.host: machine for machine in machines}
    return [_named(one, by_host, read) if one.id == _ATTRIBUTES else one for one in odd]


def _named(
    one: AuditResult,
    machines: Mapping[str, Machine],
    read: Mapping[tuple[str, str, str], Sequence[AuditResult]],
) -> AuditResult:
    """With the attributes of the firmware that differ: a digest names none."""
    group = next(each for each in read.values() if any(_same(one, other) for other in each))
    usual = next(other.host for other in group if other.seen == one.usual)
    mine, theirs = firmware_on(machines[one.host]), firmware_on(machines[usual])
    if mine is None or theirs is None:
        return one
    differing = mine.differs_from(theirs)
    more = f" and {len(differing) - _SHOWN} more" if len(differing) > _SHOWN else ""
    message = f"{one.message}: {'; '.join(map(shown, differing[:_SHOWN]))}{more}"
    return msgspec.structs.replace(one, message=message)


def _same(one: AuditResult, other: AuditResult) -> bool:
    return (one.id, one.host, one.instance) == (other.id, other.host, other.instance)


def _odd(group: Sequence[AuditResult], catalogue: Catalogue) -> list[AuditResult]:
    """Those that differ if more than half agree; all, if no value is that of most and there are
    several hosts, or both ends of a path have to agree.
    """
    counts = Counter(one.seen for one in group)
    shares = counts.most_common()
    (usual, many), *others = shares
    setting = catalogue.entries[group[0].id].setting
    if others and len(group) >= _LEAST and many > len(group) / 2:
        message = f"differs from {many} others of its kind"
        wanted = f"{usual}, as on {many} others"
        odd = (_differing(one, setting, wanted, message) for one in group if one.seen != usual)
        return [msgspec.structs.replace(one, usual=usual) for one in odd]
    if not others or not (setting.ends or len(group) >= _LEAST):
        return []
    return _without_most(group, setting, shares)


def _without_most(
    group: Sequence[AuditResult], setting: Setting, shares: Sequence[tuple[str, int]]
) -> list[AuditResult]:
    """A result for each host. ``shares``: the values with how many hosts have each."""
    listed = ", ".join(f"{value} on {counted(number, 'host')}" for value, number in shares[:_SHOWN])
    message, wanted = f"hosts of one kind differ: {listed}", "the same on hosts of one kind"
    if setting.ends:
        listed = ", ".join(f"{one.seen} on {one.host}" for one in group[:_SHOWN])
        message, wanted = f"the ends of a path differ: {listed}", "the same on both ends"
    differing = (_differing(one, setting, wanted, message) for one in group)
    return [msgspec.structs.replace(one, usual=listed) for one in differing]


def _differing(one: AuditResult, setting: Setting, wanted: str, message: str) -> AuditResult:
    return AuditResult(
        id=one.id,
        host=one.host,
        status="fail",
        instance=one.instance,
        seen=one.seen,
        wanted=wanted,
        message=f"{setting.title}: {message}",
        evidence=one.evidence,
        expected_effect=setting.effect,
        fix=one.fix or by_hand_of(setting),
        undo=one.undo or (setting.fix.undo if setting.fix and by_hand_of(setting) else ""),
    )
