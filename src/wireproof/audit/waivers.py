"""Settings that a site has decided to leave: each with its reason and an end. Pure."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Sequence

import msgspec

from wireproof.model.errors import BadInput
from wireproof.model.setting import AuditResult
from wireproof.model.toml import read_toml

__all__ = ["Waiver", "waived", "waivers_of"]


class Waiver(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``hosts``: a set such as ``n[1-4]``, "" for all; ``until``: the last day that it counts."""

    setting: str
    reason: str
    until: datetime.date
    hosts: str = ""


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    waiver: list[Waiver]


def waivers_of(text: str, source: str, known: Iterable[str]) -> list[Waiver]:
    """The waivers of a TOML file. ``BadInput`` names what is wrong; a reason and an end are a
    must.
    """
    try:
        found = msgspec.convert(read_toml(text, source), _File).waiver
    except msgspec.ValidationError as error:
        raise BadInput(f"{source}: {error}.") from error
    names = set(known)
    for one in found:
        if one.setting not in names:
            raise BadInput(f"{source}: there is no setting {one.setting!r} to waive.")
        if not one.reason.strip():
            raise BadInput(f"{source}: the waiver of {one.setting} gives no reason.")
    return found


def waived(
    results: Sequence[AuditResult],
    waivers: Sequence[Waiver],
    today: datetime.date,
    hosts_of: Callable[[str], Iterable[str]],
) -> list[AuditResult]:
    """``results`` with what is waived today; a waiver that has ended is named and does not count.
    ``hosts_of`` expands a set of hosts.
    """
    expanded = [(one, frozenset(hosts_of(one.hosts)) if one.hosts else None) for one in waivers]
    return [_held(result, expanded, today) for result in results]


def _held(
    result: AuditResult,
    waivers: Sequence[tuple[Waiver, frozenset[str] | None]],
    today: datetime.date,
) -> AuditResult:
    if result.status != "fail":
        return result
    for one, hosts in waivers:
        if one.setting != result.id or (hosts is not None and result.host not in hosts):
            continue
        if one.until < today:
            ended = f"{result.message} (a waiver ended on {one.until})"
            return msgspec.structs.replace(result, message=ended)
        said = f"waived until {one.until}: {one.reason}"
        return msgspec.structs.replace(result, status="waived", message=said)
    return result
