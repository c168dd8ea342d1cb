# pure
"""Apply decisions of a site: its own values for groups of hosts, and settings that are waived for a
time. Pure.
"""

import datetime
import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from wireproof.audit.catalogue import ParsedSetting
from wireproof.audit.expression import Expression, Unknown, parse
from wireproof.audit.remedy import by_hand_of, tuned_to
from wireproof.audit.values import typed
from wireproof.model.errors import BadInput
from wireproof.model.setting import SEVERITIES, AuditResult, AuditResults, Setting, Severity
from wireproof.model.toml import read_struct

HostsOf = Callable[[str], Iterable[str]]
"""Expands a set of hosts such as ``n[1-4]``."""


class Waiver(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``hosts``: a set such as ``n[1-4]``, "" for all. ``until``: the last day on which
    it applies.
    """

    setting: str
    reason: str
    until: datetime.date
    hosts: str = ""


class HostRole(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``values``: the values that its hosts should have instead of the catalogue's, by setting: a
    value, or a condition such as ``value >= 4096``. ``hosts``: "" for all.
    """

    name: str
    values: dict[str, str | int | float | bool]
    hosts: str = ""


class Site(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The contents of a site file."""

    waivers: tuple[Waiver, ...] = msgspec.field(default=(), name="waiver")
    roles: tuple[HostRole, ...] = msgspec.field(default=(), name="role")


NOTHING = Site()
"""A site without decisions."""


def site_of(text: str, source: str, known: Iterable[str]) -> Site:
    """Parse a site's TOML file. ``known``: names of all settings. Raise ``BadInput`` with the
    mistake; a waiver needs a reason and an end.
    """
    site, names = read_struct(text, source, Site), set(known)
    for waiver in site.waivers:
        if waiver.setting not in names:
            raise BadInput(f"{source}: there is no setting {waiver.setting!r} to waive.")
    for role in site.roles:
        for setting, value in role.values.items():
            if setting not in names:
                raise BadInput(f"{source}: role {role.name}: there is no setting {setting!r}.")
            try:
                condition = _condition(_text(value))
            except BadInput as error:
                raise BadInput(f"{source}: role {role.name}: {value!r}: {error}") from error
            if condition is not None and condition.names != {"value"}:
                raise BadInput(f"{source}: role {role.name}: {value!r} may use only `value`.")
    return site


@functools.cache
def _condition(text: str) -> Expression | None:
    """Return the condition that a role's value is; None if it is a plain value."""
    return parse(text) if re.search(r"\bvalue\b", text) else None


def decided(
    results: Iterable[AuditResult],
    site: Site,
    today: datetime.date,
    hosts_of: HostsOf,
    entries: Mapping[str, ParsedSetting],
) -> AuditResults:
    """Judge ``results`` by the values of roles, then apply the waivers of today; expired waivers
    are mentioned and do not apply. Raise ``BadInput`` if two roles of a host disagree.
    """
    roles = [(item, frozenset(hosts_of(item.hosts)) if item.hosts else None) for item in site.roles]
    waivers = [
        (item, frozenset(hosts_of(item.hosts)) if item.hosts else None) for item in site.waivers
    ]
    named = {waiver.setting for waiver in site.waivers}.union(*(role.values for role in site.roles))
    return AuditResults.of(results).changed(
        lambda result: result.id in named,
        lambda result: _held(_by_role(result, roles, entries), waivers, today),
    )


def grave_enough(
    results: Iterable[AuditResult], least: Severity, entries: Mapping[str, ParsedSetting]
) -> AuditResults:
    """Waive failing ``results`` whose setting has an effect less severe than ``least``. Unreadable
    settings stay unknown.
    """
    below = SEVERITIES[: SEVERITIES.index(least)]

    def light(result: AuditResult) -> bool:
        return result.status == "fail" and entries[result.id].setting.effect.severity in below

    def waived(result: AuditResult) -> AuditResult:
        message = f"less than {least}: {result.message}"
        return msgspec.structs.replace(
            result, status="waived", message=message, expected_effect=None
        )

    return AuditResults.of(results).changed(light, waived)


def _by_role(
    result: AuditResult,
    roles: Sequence[tuple[HostRole, frozenset[str] | None]],
    entries: Mapping[str, ParsedSetting],
) -> AuditResult:
    mine = [
        role
        for role, hosts in roles
        if result.id in role.values and (hosts is None or result.host in hosts)
    ]
    if not mine or not (result.seen or result.status in ("pass", "fail")):
        return result
    wishes = {str(role.values[result.id]) for role in mine}
    if len(wishes) > 1:
        names = " and ".join(role.name for role in mine)
        raise BadInput(f"the roles {names} set different values of {result.id} on {result.host}.")
    return _judged(result, mine[0], entries[result.id].setting)


def _judged(result: AuditResult, role: HostRole, setting: Setting) -> AuditResult:
    wish = role.values[result.id]
    wanted = f"{wish}, by the role {role.name}"
    if _as_wished(result.seen, wish, setting):
        message = f"{setting.title}: as the site requires"
        return msgspec.structs.replace(
            result, status="pass", wanted=wanted, message=message, fix="", expected_effect=None
        )
    command = "" if _condition(_text(wish)) else tuned_to(setting, _text(wish))
    return msgspec.structs.replace(
        result,
        status="fail",
        wanted=wanted,
        message=f"{setting.title}: not the value that the site requires for the role {role.name}",
        expected_effect=setting.effect,
        fix=command or by_hand_of(setting),
        undo=setting.fix.undo if setting.fix is not None else "",
        usual="",
    )


def _as_wished(seen: str, wish: str | float | bool, setting: Setting) -> bool:
    value = typed(seen, setting.form)
    if (condition := _condition(_text(wish))) is not None:
        return condition.holds({"value": value}) is True
    same = not isinstance(value, Unknown) and value == typed(_text(wish), setting.form)
    return same or seen.split() == _text(wish).split()


def _text(wish: str | float | bool) -> str:
    """Return the value as files of /proc and /sys show it: 1 and 0 for true and false."""
    return str(int(wish)) if isinstance(wish, bool) else str(wish)


def _held(
    result: AuditResult,
    waivers: Sequence[tuple[Waiver, frozenset[str] | None]],
    today: datetime.date,
) -> AuditResult:
    if result.status != "fail" and not (result.status == "unknown" and result.seen):
        return result
    for waiver, hosts in waivers:
        if waiver.setting != result.id or (hosts is not None and result.host not in hosts):
            continue
        if waiver.until < today:
            ended = f"{result.message} (a waiver ended on {waiver.until})"
            return msgspec.structs.replace(result, message=ended)
        message = f"waived until {waiver.until}: {waiver.reason}"
        return msgspec.structs.replace(result, status="waived", message=message)
    return result
