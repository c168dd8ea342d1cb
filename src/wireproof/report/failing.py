"""The failures of an audit, by entry of the catalogue: hosts and values, with the largest expected
effect on this fabric first. Text and page use the sentences of this module.
"""

import re
from collections.abc import Collection, Iterable, Sequence

import msgspec

from wireproof.model import gathered
from wireproof.model.quantity import first_few
from wireproof.model.setting import AuditResult, AuditResults, SettingEffect
from wireproof.report.names import fold

_SURE = {"measured": 1.0, "vendor": 0.9, "literature": 0.7, "practice": 0.6, "estimate": 0.3}
_WEIGHTS = {"correctness": 3.0, "availability": 2.0, "none": 0.0}
_OTHER_CARRIER = 0.2
"""Factor for a setting of sockets on an RDMA fabric, and vice versa."""
_UNKEPT = "is not in the archive"
_UNASKED = "was not asked for"
_NO_SYSTEMD = "has not been booted with systemd"
_NO_DEVICES = re.compile(
    r"needs (the list of PCI devices, .*)|^(?:pci|mlxconfig)/\S+ was not asked for"
)
_ROOT = "is visible only to root: run the audit as root"
_LIMITS = re.compile(r"^(\w+) (\w+) (files|bytes|processes)$")
_LOADS = re.compile(r"^(\d+\.\d\d)(?: \d+\.\d\d){2} \d+/\d+ \d+$")
_MOST_VALUES = 3
_MOST_LABELS = 6
_RDMA_PORTS = ("port-state", "port-rate")
"""Entries that apply only to a host with an RDMA port."""
_RDMA = ("rocev2", "iwarp", "infiniband", "omnipath", "truescale", "efa", "slingshot", "fabric")
_WAYS = {"tx": ", sending", "rx": ", receiving", "": ""}


class Failing(msgspec.Struct, frozen=True):
    """One entry that fails.

    ``who`` and ``values``: folded, as text; ``others``: the value on most hosts, "" if the failure
    has another reason. ``fix``: the fix for the first host; ``alike``: number of further hosts with
    a similar fix. ``cause``: the entry may be the cause of a check's findings.
    """

    id: str
    who: str
    values: str
    wanted: str
    why: str
    others: str
    effect: SettingEffect | None
    fix: str
    undo: str
    alike: int
    cause: bool

    @property
    def expected(self) -> str:
        """The expected effect; "" if there is none."""
        return effect_text(self.effect) if self.effect is not None else ""

    @property
    def severity(self) -> str:
        """The severity of the effect; "" if there is none."""
        return self.effect.severity if self.effect is not None and self.expected else ""

    @property
    def mend(self) -> str:
        """Fix, number of similar fixes, and undo; "" without a fix."""
        if not self.fix:
            return ""
        more = f" (and the same on {self.alike} more)" if self.alike else ""
        return f"{self.fix}{more}; undo: {self.undo}"


def failing(
    results: Sequence[AuditResult], carrier: str = "", causes: Collection[str] = ()
) -> list[Failing]:
    """Return the entries that fail: first those that may be the cause of the slow results
    (``causes``), then by expected effect on ``carrier`` (``ip``, ``rdma``, "" if unknown).
    """
    failed = AuditResults.of(results).where(lambda one: one.status == "fail")
    groups = gathered((one.id, one) for one in failed)
    kind = carrier or carrier_of(results)
    found = [_failing(name, group, name in causes) for name, group in groups.items()]
    return sorted(found, key=lambda one: (not one.cause, -_weight(one.effect, kind)))


def carrier_of(results: Iterable[AuditResult], protocol: str = "") -> str:
    """Return the carrier of the messages: from the claimed protocol, otherwise from the ports of
    the hosts.
    """
    if protocol:
        return "rdma" if protocol in _RDMA else "ip" if protocol == "tcp" else ""
    found = AuditResults.of(results).distinct()
    answered = any(one.id in _RDMA_PORTS and one.status in ("pass", "fail") for one in found)
    return "rdma" if answered else "ip"


def _weight(effect: SettingEffect | None, carrier: str) -> float:
    """Return the expected gain of a fix: the effect times its certainty."""
    if effect is None:
        return 0.0
    apart = {effect.over, carrier} == {"ip", "rdma"}
    weight = _WEIGHTS.get(effect.on, effect.high) * _SURE[effect.sure]
    return weight * _OTHER_CARRIER if apart else weight


def _failing(name: str, group: Sequence[AuditResult], cause: bool) -> Failing:
    """Combine the results of one entry. Results that only report a difference between hosts add the
    value on the other hosts.
    """
    wrong = [one for one in group if not one.usual] or list(group)
    odd = [one for one in group if one.usual]
    first = wrong[0]
    fixes = list(dict.fromkeys(one.fix for one in wrong if one.fix))
    return Failing(
        id=name,
        who=who(group),
        values=_values(wrong),
        wanted=first.wanted,
        why=first.message,
        others=_others(odd, wrong),
        effect=first.expected_effect,
        fix=fixes[0] if fixes else "",
        undo=first.undo,
        alike=len(fixes) - 1 if fixes else 0,
        cause=cause,
    )


def _others(odd: Sequence[AuditResult], wrong: Sequence[AuditResult]) -> str:
    if not odd or odd[0] is wrong[0]:  # in that case the message already contains it
        return ""
    return f"{fold(dict.fromkeys(one.host for one in odd))}: others have {odd[0].usual}"


class Unread(msgspec.Struct, frozen=True):
    """Entries that could not be read on the same hosts for the same reason."""

    ids: tuple[str, ...]
    who: str
    reason: str


def unread(results: Iterable[AuditResult]) -> list[Unread]:
    """Return the entries that could not be read, grouped by reason: first hosts without any answer,
    then the largest group.
    """
    unknown = AuditResults.of(results).where(lambda result: result.status == "unknown")
    by_entry = gathered(((result.id, _reason(result)), result) for result in unknown)
    groups = gathered(
        ((reason, fold(dict.fromkeys(result.host for result in alike))), result)
        for (_, reason), alike in by_entry.items()
        for result in alike
    )
    entries = [
        Unread(tuple(dict.fromkeys(result.id for result in alike)), _where(alike, hosts), reason)
        for (reason, hosts), alike in groups.items()
    ]
    return sorted(entries, key=lambda entry: ("host" not in entry.ids, -len(entry.ids)))


def _where(group: Sequence[AuditResult], hosts: str) -> str:
    """Return the hosts, with the interfaces if all entries have the same."""
    labels = gathered((one.id, one.instance) for one in group)
    return who(group) if len(set(map(frozenset, labels.values()))) == 1 else hosts


def _reason(one: AuditResult) -> str:
    """Return the reason without the entry's title and without names of interfaces, so that a
    missing program, or data that an archive does not contain, is one reason for all entries.
    """
    reason = one.message.partition(": ")[2] or one.message
    places = reason.split("; ")
    if reason.endswith(_UNKEPT) or (
        any(each.endswith(_UNKEPT) for each in places)
        and all(each.endswith((_UNKEPT, _UNASKED)) for each in places)
    ):
        return f"their source {_UNKEPT}"
    if any(each.endswith(_ROOT) for each in places):
        return f"their source {_ROOT}"
    if lacking := _NO_DEVICES.search(reason):
        return lacking[1] or "the PCI address of the device, which is unknown"
    if _NO_SYSTEMD in reason:
        return "systemd does not run there"
    for name in filter(None, re.split(r"[: ]", one.instance)):
        reason = re.sub(rf"(?<=[/ ]){re.escape(name)}(?![\w.-])", "*", reason)
    program = re.fullmatch(r"(\S+) .*(is not installed there)", reason)
    return f"{program[1]} {program[2]}" if program else reason


def _values(group: Sequence[AuditResult]) -> str:
    """Return ``4096``, or ``4096 (n3), 8192 (n4)`` for several values."""
    hosts = gathered(
        (_LOADS.sub(r"\1", _LIMITS.sub(r"\1 \3 (hard limit \2)", one.seen)) or "not set", one.host)
        for one in group
    )
    if len(hosts) == 1:
        return next(iter(hosts))
    values = [f"{value} ({fold(dict.fromkeys(same))})" for value, same in hosts.items()]
    return first_few(values, _MOST_VALUES, what=" values")


def who(group: Sequence[AuditResult]) -> str:
    """Return hosts and interfaces, folded."""
    hosts = fold(dict.fromkeys(one.host for one in group))
    labels = list(dict.fromkeys(one.instance for one in group if one.instance))
    return f"{hosts} {first_few(labels, _MOST_LABELS)}".rstrip()


def effect_text(effect: SettingEffect) -> str:
    """Return a phrase such as ``10 % to 100 % of latency (literature)``."""
    if effect.on == "none":
        return ""
    pauses = " if it pauses" if effect.pauses else ""
    what = f"{effect.on}{_WAYS[effect.direction]}{pauses} ({effect.sure})"
    if not effect.high:
        return what
    least = f"{100 * effect.low:g} %" if effect.low else "up"
    return f"{least} to {100 * effect.high:g} % of {what}"
