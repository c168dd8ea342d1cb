"""The odd one out: a host whose setting differs from most hosts of its kind. Pure."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from wireproof.audit.catalogue import Catalogue
from wireproof.audit.facts import HostFacts
from wireproof.audit.machine import Machine
from wireproof.audit.reading import firmware_on, shown
from wireproof.audit.remedy import by_hand_of
from wireproof.model.quantity import counted
from wireproof.model.record import FactFrame
from wireproof.model.setting import AuditResult, Setting

__all__ = ["Kind", "kind_of", "odd_ones"]

_Group = tuple[str, str, str]
"""Kind of host, setting and instance, whose values are compared."""

_LEAST = 3
"""Hosts of one kind, below which none is the odd one."""
_SHOWN = 4
"""Hosts that a sentence names."""
_ATTRIBUTES = "bios-attributes"
_KIND = ("host.cpu", "host.fabrics", "host.virtual", "host.gpus")


class Kind(NamedTuple):
    """What tells whether hosts are of one kind, and what their firmware said: those of all hosts
    are held at once.
    """

    of: str
    firmware: dict[str, FactFrame]


def kind_of(machine: Machine) -> Kind:
    """What `odd_ones` needs of the machine."""
    firmware = {place: frame for place, frame in machine.facts.files.items() if "bios" in place}
    return Kind(sys.intern(repr([machine.names.get(name) for name in _KIND])), firmware)


def odd_ones(
    kinds: Mapping[str, Kind], results: Sequence[AuditResult], catalogue: Catalogue
) -> list[AuditResult]:
    """A result for each host, interface or port whose value is not that of most of its kind, or not
    that of the other end. ``kinds``: by host.
    """
    values: dict[_Group, set[str]] = defaultdict(set)
    for one, group in _grouped(kinds, results, catalogue):
        values[group].add(one.seen)
    differing: dict[_Group, list[AuditResult]] = defaultdict(list)
    for one, group in _grouped(kinds, results, catalogue):
        if len(values[group]) > 1:
            differing[group].append(one)
    return [
        _with_names(odd, members, kinds) if odd.id == _ATTRIBUTES else odd
        for members in differing.values()
        for odd in _odd(members, catalogue)
    ]


def _grouped(
    kinds: Mapping[str, Kind], results: Iterable[AuditResult], catalogue: Catalogue
) -> Iterator[tuple[AuditResult, _Group]]:
    """What was read of settings that like hosts agree on, with its group."""
    alike = {name for name, entry in catalogue.entries.items() if entry.setting.alike}
    for one in results:
        if one.id in alike and one.status in ("pass", "fail"):
            yield one, (kinds[one.host].of, one.id, one.instance)


def _with_names(
    odd: AuditResult, members: Iterable[AuditResult], kinds: Mapping[str, Kind]
) -> AuditResult:
    """With the attributes of the firmware that differ: a digest names none."""
    usual = next((one.host for one in members if one.seen == odd.usual), odd.host)
    mine, theirs = (
        firmware_on(Machine(HostFacts(host, files=kinds[host].firmware)))
        for host in (odd.host, usual)
    )
    if mine is None or theirs is None:
        return odd
    differing = mine.differs_from(theirs)
    more = f" and {len(differing) - _SHOWN} more" if len(differing) > _SHOWN else ""
    named = "; ".join(map(shown, differing[:_SHOWN]))
    return msgspec.structs.replace(odd, message=f"{odd.message}: {named}{more}") if named else odd


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
