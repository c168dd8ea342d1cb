# pure
"""Find odd hosts: hosts with a setting that differs from most hosts of the same kind. Pure."""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from wireproof.audit.catalogue import Catalogue
from wireproof.audit.expression import Unknown
from wireproof.audit.facts import HostFacts
from wireproof.audit.firmware import BIOS, PENDING, REGISTRY
from wireproof.audit.machine import Machine
from wireproof.audit.reading import firmware_on, shown
from wireproof.audit.remedy import by_hand_of, tuned_to
from wireproof.audit.values import typed
from wireproof.model import gathered
from wireproof.model.quantity import counted, first_few
from wireproof.model.record import FactFrame
from wireproof.model.setting import AuditResult, AuditResults, Setting, Status

_Group = tuple[str, str, str]
"""Kind of host, setting and instance: values are compared within such a group."""

_LEAST = 3
"""Fewest hosts of the same kind among which a host can be odd."""
_SHOWN = 4
"""Largest number of hosts that a sentence lists."""
_ATTRIBUTES = "bios-attributes"
_KIND = ("host.cpu", "host.fabrics", "host.virtual", "host.gpus")


class HostKind(NamedTuple):
    """The kind of a host, and its firmware attributes. Kept for all hosts at once."""

    of: str
    firmware: dict[str, FactFrame]


_NONE: dict[str, FactFrame] = {}
"""Shared by most hosts, which have no BMC answer."""


def kind_of(machine: Machine) -> HostKind:
    """Return the part of the machine that `odd_ones` needs."""
    files = machine.facts.files
    firmware = {place: files[place] for place in (BIOS, PENDING, REGISTRY) if place in files}
    return HostKind(
        sys.intern(repr([machine.names.get(name) for name in _KIND])), firmware or _NONE
    )


def odd_ones(
    kinds: Mapping[str, HostKind], results: Sequence[AuditResult], catalogue: Catalogue
) -> list[AuditResult]:
    """Return a result for each host, interface or port whose value differs from most of its kind,
    or from the other end of a path. ``kinds``: by host.
    """
    values: dict[_Group, set[str]] = defaultdict(set)
    for result, group in _grouped(kinds, results, catalogue):
        values[group].add(result.seen)
    differing = gathered(
        (group, result)
        for result, group in _grouped(kinds, results, catalogue)
        if len(values[group]) > 1
    )
    return [
        _with_names(odd, members, kinds) if odd.id == _ATTRIBUTES else odd
        for members in differing.values()
        for odd in _odd(members, catalogue)
    ]


def _grouped(
    kinds: Mapping[str, HostKind], results: Iterable[AuditResult], catalogue: Catalogue
) -> Iterator[tuple[AuditResult, _Group]]:
    """Yield the results that could be read, for settings on which similar hosts should agree, each
    with its group.
    """
    alike = {name for name, entry in catalogue.entries.items() if entry.setting.alike}
    for result in AuditResults.of(results).where(
        lambda one: one.id in alike and one.status in ("pass", "fail")
    ):
        yield result, (kinds[result.host].of, result.id, result.instance)


def _with_names(
    odd: AuditResult, members: Iterable[AuditResult], kinds: Mapping[str, HostKind]
) -> AuditResult:
    """Name the firmware attributes that differ, because the result only has a digest."""
    usual = next((member.host for member in members if member.seen == odd.usual), odd.host)
    mine, theirs = (
        firmware_on(Machine(HostFacts(host, files=kinds[host].firmware)))
        for host in (odd.host, usual)
    )
    if mine is None or theirs is None:
        return odd
    named = first_few([shown(each) for each in mine.differs_from(theirs)], _SHOWN, "; ")
    return msgspec.structs.replace(odd, message=f"{odd.message}: {named}") if named else odd


def _odd(group: Sequence[AuditResult], catalogue: Catalogue) -> list[AuditResult]:
    """Return results that differ if more than half of the group agree. Return all results if there
    is no majority and there are enough hosts, or if both ends of a path must agree.
    """
    shares = Counter(result.seen for result in group).most_common()
    (usual, count), *others = shares
    setting = catalogue.entries[group[0].id].setting
    if others and len(group) >= _LEAST and count > len(group) / 2:
        message = f"differs from {count} others of its kind"
        wanted = f"{usual}, as on {count} others"
        odd = (
            _differing(result, setting, wanted, message) for result in group if result.seen != usual
        )
        return [msgspec.structs.replace(result, usual=usual) for result in odd]
    if not others or not (setting.ends or len(group) >= _LEAST):
        return []
    return _without_most(group, setting, shares)


def _without_most(
    group: Sequence[AuditResult], setting: Setting, shares: Sequence[tuple[str, int]]
) -> list[AuditResult]:
    """Return a result for each host of a group without a majority. ``shares``: (value, number of
    hosts).
    """
    listed = ", ".join(f"{value} on {counted(number, 'host')}" for value, number in shares[:_SHOWN])
    message, wanted = (
        f"hosts of the same kind differ: {listed}",
        "the same on hosts of the same kind",
    )
    if setting.ends:
        listed = ", ".join(f"{result.seen} on {result.host}" for result in group[:_SHOWN])
        message, wanted = f"the ends of a path differ: {listed}", "the same on both ends"
    differing = (_differing(result, setting, wanted, message) for result in group)
    return [msgspec.structs.replace(result, usual=listed) for result in differing]


def _differing(result: AuditResult, setting: Setting, wanted: str, message: str) -> AuditResult:
    return AuditResult(
        id=result.id,
        host=result.host,
        status="fail",
        instance=result.instance,
        seen=result.seen,
        wanted=wanted,
        message=f"{setting.title}: {message}",
        evidence=result.evidence,
        expected_effect=setting.effect,
        fix=result.fix or by_hand_of(setting),
        undo=result.undo or (setting.fix.undo if setting.fix and by_hand_of(setting) else ""),
    )


_READ = ("pass", "fail")
_ById = Mapping[str, Mapping[str, AuditResult]]


def reference_for(host: str, references: Mapping[str, Sequence[AuditResult]]) -> str:
    """Return the host of ``references`` to compare ``host`` with: the same host at an earlier time,
    else the only reference, else "".
    """
    if host in references:
        return host
    return next(iter(references)) if len(references) == 1 else ""


def differences(
    results: Iterable[AuditResult],
    references: Mapping[str, Sequence[AuditResult]],
    catalogue: Catalogue,
) -> list[AuditResult]:
    """Return a result for each setting of each host: ``pass`` if it equals the reference, ``fail``
    if it differs, ``unknown`` if either could not be read. Counters and other values that no two
    hosts share differ only if one of them fails.

    ``references``: results by host. Every host needs a reference (`reference_for`).
    """
    golden = {host: _by_id(theirs) for host, theirs in references.items()}
    compared = []
    for host, mine in gathered((result.host, result) for result in results).items():
        name = reference_for(host, references)
        for setting_id, instances in _by_id(mine).items():
            setting = catalogue.entries[setting_id].setting
            pairs = _paired(instances, golden[name].get(setting_id, {}))
            compared += [_compared(ours, theirs, setting, name) for ours, theirs in pairs]
    return compared


def _by_id(results: Iterable[AuditResult]) -> _ById:
    by_id: dict[str, dict[str, AuditResult]] = defaultdict(dict)
    for result in results:
        by_id[result.id][result.instance] = result
    return by_id


def _paired(
    mine: Mapping[str, AuditResult], theirs: Mapping[str, AuditResult]
) -> list[tuple[AuditResult, AuditResult | None]]:
    """Pair interfaces and ports by name; if the remaining ones are equally many, pair them in
    order.
    """
    ours = sorted(mine.keys() - theirs.keys())
    others = sorted(theirs.keys() - mine.keys())
    renamed = dict(zip(ours, others, strict=True)) if len(ours) == len(others) else {}
    return [(result, theirs.get(renamed.get(label, label))) for label, result in mine.items()]


def _compared(
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
        fix=_fix(setting, value) if status == "fail" else "",
        undo=(mine.undo or (setting.fix.undo if setting.fix else "")) if status == "fail" else "",
    )


def _fix(setting: Setting, seen: str) -> str:
    """Return the command that sets the reference's value, else the manual steps."""
    return tuned_to(setting, _as_written(setting, seen)) or by_hand_of(setting)


def _as_written(setting: Setting, seen: str) -> str:
    """Return the value without ethtool's remarks; for a choice, return the chosen word."""
    if setting.form not in ("choice", "number", "word"):
        return seen.partition(" [")[0]
    value = typed(seen, setting.form)
    return "" if isinstance(value, Unknown) else str(value)


def _difference(
    mine: AuditResult, theirs: AuditResult | None, setting: Setting, reference: str
) -> tuple[Status, str]:
    if theirs is None:
        return "unknown", f"{reference} has no such interface, port or file"
    both = ((mine, mine.host), (theirs, reference))
    for result, where in both:
        if result.status == "unknown" and not _was_read(result):
            # leave out the host's name, so that hosts with the same reason share a line
            place = "" if result is mine else f" on {where}".removeprefix(f" on {mine.host}")
            why = result.message.removeprefix(f"{setting.title}: ")
            return "unknown", f"not read{place}: {why}"
    were_read = [_was_read(result) for result in (mine, theirs)]
    if not any(were_read):
        return "not-applicable", "neither host has it"
    if not all(were_read):
        lacking = reference if were_read[0] else mine.host
        return ("fail" if setting.alike else "not-applicable"), f"{lacking} does not have it"
    if not _differs(mine, theirs, setting):
        return "pass", f"as on {reference}"
    judged = [where for result, where in both if result.status == "fail"]
    also = (
        f"; according to the catalogue, {' and '.join(judged)} should be changed" if judged else ""
    )
    return "fail", f"differs from {reference}{also}"


def _differs(mine: AuditResult, theirs: AuditResult, setting: Setting) -> bool:
    return mine.seen != theirs.seen and (setting.alike or mine.status != theirs.status)


def _was_read(result: AuditResult) -> bool:
    """Return whether a value was read, even if the catalogue cannot judge it here."""
    return result.status in _READ or (result.status == "unknown" and bool(result.seen))
