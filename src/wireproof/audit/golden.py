"""Hosts held against a golden host, or against themselves at an earlier time. Pure."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from wireproof.audit.catalogue import Catalogue
from wireproof.audit.remedy import by_hand_of
from wireproof.model.setting import AuditResult, Setting, Status

__all__ = ["differences", "reference_for"]

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
            return "unknown", f"not read on {where}: {_reason(one, setting)}"
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
