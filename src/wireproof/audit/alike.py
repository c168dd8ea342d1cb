"""The odd one out: a host whose setting differs from most hosts of its kind. Pure."""

import shlex
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from wireproof.audit.catalogue import Catalogue
from wireproof.audit.facts import HostFacts
from wireproof.audit.firmware import BIOS, PENDING, REGISTRY
from wireproof.audit.machine import Machine
from wireproof.audit.reading import firmware_on, shown
from wireproof.audit.remedy import by_hand_of
from wireproof.model.quantity import counted
from wireproof.model.record import FactFrame
from wireproof.model.setting import AuditResult, Setting, Status

_Group = tuple[str, str, str]
"""HostKind of host, setting and instance, whose values are compared."""

_LEAST = 3
"""Hosts of one kind, below which none is the odd one."""
_SHOWN = 4
"""Hosts that a sentence names."""
_ATTRIBUTES = "bios-attributes"
_KIND = ("host.cpu", "host.fabrics", "host.virtual", "host.gpus")


class HostKind(NamedTuple):
    """What tells whether hosts are of one kind, and what their firmware said: those of all hosts
    are held at once.
    """

    of: str
    firmware: dict[str, FactFrame]


_NONE: dict[str, FactFrame] = {}
"""Most hosts have no BMC that was asked."""


def kind_of(machine: Machine) -> HostKind:
    """What `odd_ones` needs of the machine."""
    files = machine.facts.files
    firmware = {place: files[place] for place in (BIOS, PENDING, REGISTRY) if place in files}
    return HostKind(
        sys.intern(repr([machine.names.get(name) for name in _KIND])), firmware or _NONE
    )


def odd_ones(
    kinds: Mapping[str, HostKind], results: Sequence[AuditResult], catalogue: Catalogue
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
    kinds: Mapping[str, HostKind], results: Iterable[AuditResult], catalogue: Catalogue
) -> Iterator[tuple[AuditResult, _Group]]:
    """What was read of settings that like hosts agree on, with its group."""
    alike = {name for name, entry in catalogue.entries.items() if entry.setting.alike}
    for one in results:
        if one.id in alike and one.status in ("pass", "fail"):
            yield one, (kinds[one.host].of, one.id, one.instance)


def _with_names(
    odd: AuditResult, members: Iterable[AuditResult], kinds: Mapping[str, HostKind]
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


_READ = ("pass", "fail")
_ById = Mapping[str, Mapping[str, AuditResult]]


def reference_for(host: str, references: Mapping[str, Sequence[AuditResult]]) -> str:
    """The host of ``references`` that ``host`` is held against: itself at an earlier time, else the
    only one. "" if there is none.
    """
    if host in references:
        return host
    return next(iter(references)) if len(references) == 1 else ""


def differences(
    results: Iterable[AuditResult],
    references: Mapping[str, Sequence[AuditResult]],
    catalogue: Catalogue,
) -> list[AuditResult]:
    """A result for each setting of each host: ``pass`` if it is as on the reference, ``fail`` if it
    differs, ``unknown`` if one of the two could not be read. Counters and other values that no two
    hosts share differ only if one of them fails.

    ``references``: results by host. Each host needs one (`reference_for`).
    """
    golden = {host: _by_id(theirs) for host, theirs in references.items()}
    by_host: dict[str, list[AuditResult]] = defaultdict(list)
    for one in results:
        by_host[one.host].append(one)
    found = []
    for host, mine in by_host.items():
        name = reference_for(host, references)
        for setting_id, instances in _by_id(mine).items():
            setting = catalogue.entries[setting_id].setting
            pairs = _paired(instances, golden[name].get(setting_id, {}))
            found += [_held(one, theirs, setting, name) for one, theirs in pairs]
    return found


def _by_id(results: Iterable[AuditResult]) -> _ById:
    found: dict[str, dict[str, AuditResult]] = defaultdict(dict)
    for one in results:
        found[one.id][one.instance] = one
    return found


def _paired(
    mine: Mapping[str, AuditResult], theirs: Mapping[str, AuditResult]
) -> list[tuple[AuditResult, AuditResult | None]]:
    """Interfaces and ports by their names; those that are called otherwise there, in their order,
    if there are as many.
    """
    ours = sorted(mine.keys() - theirs.keys())
    others = sorted(theirs.keys() - mine.keys())
    called = dict(zip(ours, others, strict=True)) if len(ours) == len(others) else {}
    return [(one, theirs.get(called.get(label, label))) for label, one in mine.items()]


def _held(
    mine: AuditResult, theirs: AuditResult | None, setting: Setting, name: str
) -> AuditResult:
    reference = f"{name} at that time" if name == mine.host else name
    status, why = _difference(mine, theirs, setting, reference)
    value = theirs.seen if theirs is not None and _was_read(theirs) else ""
    return AuditResult(
        id=mine.id,
        host=mine.host,
        status=status,
        instance=mine.instance,
        seen=mine.seen,
        wanted=f"{value or 'none'}, as on {reference}",
        message=f"{setting.title}: {why}",
        evidence=mine.evidence,
        expected_effect=setting.effect if status == "fail" else None,
        fix=(mine.fix or _fix(setting, value)) if status == "fail" else "",
        undo=(mine.undo or (setting.fix.undo if setting.fix else "")) if status == "fail" else "",
    )


def _fix(setting: Setting, value: str) -> str:
    """The command that gives the host the reference's value, else what a person does."""
    if value and setting.fix is not None and setting.fix.at_once:
        return f"`wireproof tune apply {shlex.quote(f'{setting.id}={value}')}`"
    return by_hand_of(setting)


def _difference(
    mine: AuditResult, theirs: AuditResult | None, setting: Setting, reference: str
) -> tuple[Status, str]:
    if theirs is None:
        return "unknown", f"{reference} has no such interface, port or file"
    both = ((mine, mine.host), (theirs, reference))
    for one, where in both:
        if one.status == "unknown" and not _was_read(one):
            # hosts with one reason are one line: their own names are not part of it
            place = "" if one is mine else f" on {where}".removeprefix(f" on {mine.host}")
            return "unknown", f"not read{place}: {_reason(one, setting)}"
    there = [_was_read(one) for one in (mine, theirs)]
    if not any(there):
        return "not-applicable", "neither host has it"
    if not all(there):
        lacking = reference if there[0] else mine.host
        return ("fail" if setting.alike else "not-applicable"), f"{lacking} does not have it"
    if not _differs(mine, theirs, setting):
        return "pass", f"as on {reference}"
    judged = [where for one, where in both if _fails(one)]
    also = f"; by the catalogue {' and '.join(judged)} should be changed" if judged else ""
    return "fail", f"differs from {reference}{also}"


def _differs(mine: AuditResult, theirs: AuditResult, setting: Setting) -> bool:
    return mine.seen != theirs.seen and (setting.alike or mine.status != theirs.status)


def _was_read(one: AuditResult) -> bool:
    """Also a value that the catalogue cannot judge here."""
    return one.status in _READ or (one.status == "unknown" and bool(one.seen))


def _fails(one: AuditResult) -> bool:
    return one.status == "fail"


def _reason(one: AuditResult, setting: Setting) -> str:
    return one.message.removeprefix(f"{setting.title}: ")
