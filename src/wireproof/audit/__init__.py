# pure
"""Judge a machine by the catalogue: a result for every setting. Pure.

A setting never passes without evidence: a value that could not be read is ``unknown``, with the
places that were tried.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from wireproof.audit.catalogue import Catalogue, ParsedSetting
from wireproof.audit.depends import LikeHosts, Slot
from wireproof.audit.expression import UNKNOWN, Expression, Lookup, Unknown, Value
from wireproof.audit.facts import UNKEPT
from wireproof.audit.machine import ADAPTERS, WHOLE, Instance, Machine
from wireproof.audit.reading import SettingReading, reading_of, shown, with_label
from wireproof.audit.remedy import fix_text, remedy_of, tuned_by
from wireproof.model.setting import AuditResult, AuditResults, Profile, Setting, Status

_FIXED = "[fixed]"
"""Mark of ethtool for features that the driver does not allow users to change."""


def judge_machines(
    machines: Iterable[Machine], catalogue: Catalogue, profile: Profile, only: Iterable[str] = ()
) -> AuditResults:
    """Judge several machines. Most hosts of a cluster are alike: for a host similar to an earlier
    one, only results that depend on the differences are judged again.
    """
    wanted = set(only)
    entries = [entry for name, entry in catalogue.entries.items() if not wanted or name in wanted]
    before = LikeHosts(catalogue)
    results = AuditResults()
    for machine in machines:
        _Judge(machine, catalogue, profile).beside(before, entries, results)
    return results


class _Judge:
    def __init__(self, machine: Machine, catalogue: Catalogue, profile: Profile) -> None:
        self.machine, self.catalogue, self.profile = machine, catalogue, profile

    def beside(
        self, before: LikeHosts, entries: Sequence[ParsedSetting], found: AuditResults
    ) -> None:
        """Add all results to ``found``, sharing those of a similar host that do not depend on a
        difference.
        """
        similar = before.of(self.machine)
        if similar is None:
            slots, results = zip(*self.all(entries), strict=True) if entries else ((), ())
            before.add(self.machine, slots, results)
            found.extend(results)
            return
        model, again = similar
        mine = {one.label: one for one in (*self.machine.nics, *self.machine.rdma)}
        host, other = self.machine.facts.host, dict[int, AuditResult]()
        for number, inputs in sorted(again.items()):
            entry, instance = model.slots[number]
            if (like := model.known[number].get(inputs)) is not None:
                other[number] = msgspec.structs.replace(like, host=host)
            elif instance is not None:
                by_name = entry.setting.scope in ("nic", "rdma")
                result = self._result(entry, mine[instance.label] if by_name else instance)
                model.share(number, inputs, result)
                other[number] = result
        found.add(host, model.results, other)

    def all(self, entries: Iterable[ParsedSetting]) -> Iterator[tuple[Slot, AuditResult]]:
        """Yield each result with its slot."""
        for entry in entries:
            instances = instances_of(self.machine, entry)
            if not instances:
                yield (entry, None), self._none(entry)
            for instance in instances:
                yield (entry, instance), self._result(entry, instance)
            for one in self._cut(entry):
                yield (entry, None), one

    def _cut(self, entry: ParsedSetting) -> Iterable[AuditResult]:
        """Yield a result for each pattern with more files than could be listed."""
        facts = self.machine.facts
        for read in entry.setting.reads if entry.setting.scope == "each" else ():
            if facts.is_cut(read.file):
                why = f"there are more than {len(facts.matching(read.file))} of {read.file}"
                yield self._made(entry, WHOLE, "unknown", why)

    def _none(self, entry: ParsedSetting) -> AuditResult:
        """Return the result of a setting without any interface, port or file."""
        lacking = {"nic": "fabric interface", "rdma": "RDMA port"}.get(entry.setting.scope, "")
        listed = all(self.machine.facts.was_listed(read.file) for read in entry.setting.reads)
        hidden = {
            "nic": self.machine.facts.may_hide(ADAPTERS),
            "rdma": self.machine.names["host.rdma"] is UNKNOWN,
        }.get(entry.setting.scope, False)
        sure = listed or (lacking and not hidden)
        status: Status = "not-applicable" if sure else "unknown"
        what = f"no {lacking}" if lacking else f"nothing that matches {entry.setting.reads[0].file}"
        unlisted = status == "unknown" and not self.machine.facts.hidden
        more = f", and the list of them {UNKEPT}" if unlisted else ""
        return self._made(entry, WHOLE, status, f"{what} was found on this host{more}")

    def _result(self, entry: ParsedSetting, instance: Instance) -> AuditResult:
        applies = entry.applies.holds(self._lookup(instance, UNKNOWN))
        if applies is False:
            why = _why_not(entry, instance)
            return self._made(entry, instance, "not-applicable", why)
        gone, not_yet = lacking(entry.setting, self._lookup(instance, UNKNOWN))
        if gone:
            return self._made(entry, instance, "not-applicable", gone)
        reading = reading_of(self.machine, entry, instance, self._lookup(instance, UNKNOWN))
        if isinstance(reading.value, Unknown):
            return self._unread(entry, instance, reading, applies, not_yet)
        if applies is None:
            why = f"its condition {self._needs(entry.applies, instance, reading.value)}"
            return self._made(entry, instance, "unknown", why, reading)
        return self._made(entry, instance, *self._verdict(entry, instance, reading), reading)

    def _verdict(
        self, entry: ParsedSetting, instance: Instance, reading: SettingReading
    ) -> tuple[Status, str]:
        lookup = self._lookup(instance, reading.value)
        good, setting = entry.good[self.profile], entry.setting
        holds = good.holds(lookup)
        if holds is False and reading.text.rstrip().endswith(_FIXED):
            return "not-applicable", "the driver does not allow changes"
        if setting.doubt and not holds and _is_doubted(entry.doubt.holds(lookup), holds):
            return "unknown", setting.doubt.why
        if holds and reading.unread and setting.condition(self.profile) != "true":
            return "unknown", "the values read are as they should be, but others could not be read"
        if holds is None:
            return "unknown", f"judging the value {self._needs(good, instance, reading.value)}"
        if not holds:
            return "fail", setting.why
        judged = setting.condition(self.profile) not in ("", "true")
        return "pass", "as it should be" if judged else "read; no value is wrong by itself"

    def _needs(self, condition: Expression, instance: Instance, value: Value) -> str:
        """Return the names that the condition looks up but that were not read, with the reason for
        the first.
        """
        lookup = self._lookup(instance, value)
        names = [name for name in sorted(condition.names) if lookup(name) is UNKNOWN]
        why = next(filter(None, map(lookup.why, names)), "")
        words = dict.fromkeys(
            "the port's speed" if name.endswith(".rate") else name.removeprefix("setting:")
            for name in names
        )
        missing, verb = " and ".join(words), "was" if len(words) == 1 else "were"
        return f"needs {missing}: {why}" if why else f"needs {missing}, which {verb} not read"

    def _unread(
        self,
        entry: ParsedSetting,
        instance: Instance,
        reading: SettingReading,
        applies: bool | None,
        not_yet: str,
    ) -> AuditResult:
        if reading.absent and applies is not None:
            why = not_yet or f"this system does not have it: {'; '.join(reading.evidence)}"
            return self._made(entry, instance, "not-applicable", why, reading)
        why = "; ".join(reading.evidence) or "no place to read it is known for this system"
        return self._made(entry, instance, "unknown", why, reading)

    def _lookup(self, instance: Instance, value: Value) -> Names:
        return Names(self.machine, self.catalogue, instance, value)

    def _made(
        self,
        entry: ParsedSetting,
        instance: Instance,
        status: Status,
        message: str,
        reading: SettingReading | None = None,
    ) -> AuditResult:
        setting = entry.setting
        failed = status == "fail"
        notes = f" ({'; '.join(reading.notes)})" if reading and reading.notes else ""
        return AuditResult(
            id=setting.id,
            host=self.machine.facts.host,
            status=status,
            instance=instance.label,
            seen=shown(reading.text) if reading else "",
            wanted=setting.wish(self.profile),
            message=sys.intern(f"{setting.title}{_whose(reading)}: {message}{notes}"),
            evidence=list(reading.evidence) if reading else [],
            expected_effect=setting.effect if failed else None,
            fix=sys.intern(self._fix(entry, instance, reading)) if failed and reading else "",
            undo=setting.fix.undo if failed and setting.fix else "",
        )

    def _fix(self, entry: ParsedSetting, instance: Instance, reading: SettingReading) -> str:
        lookup = self._lookup(instance, reading.value)
        remedy = remedy_of(entry, instance, reading.place, self.profile, lookup)
        if remedy is None:
            return ""
        command, text = tuned_by(entry.setting, remedy, self.profile), fix_text(remedy)
        return f"`{command}`: {text}" if command else text


def instances_of(machine: Machine, entry: ParsedSetting) -> list[Instance]:
    """Return the instances that have the setting on this machine, by its scope."""
    match entry.setting.scope:
        case "nic":
            return list(machine.nics)
        case "rdma":
            return list(machine.rdma)
        case "each":
            return _each(machine, entry.setting)
    return [WHOLE]


def _whose(reading: SettingReading | None) -> str:
    """Return the process that a limit belongs to, as text."""
    _, of, who = (reading.place if reading else "").partition(" of ")
    return f", of {who}" if of and reading and reading.place.startswith("/proc/self/") else ""


def _why_not(entry: ParsedSetting, instance: Instance) -> str:
    """Return why a setting does not apply: in words if it needs an adapter, else as its
    condition.
    """
    names = instance.names
    if names.get("nic.device", True) or "nic.device" not in entry.applies.names:
        return f"it applies only if {entry.applies.text}"
    below = names.get("nic.lower")
    where = f"; {', '.join(below)} below it has" if isinstance(below, list) and below else ""
    return f"{instance.label} ({names['nic.kind']}) has no adapter of its own{where}"


def _is_doubted(doubt: bool | None, holds: bool | None) -> bool:
    """Return whether the doubt applies, or may apply to a value that is not good."""
    return doubt is True or (doubt is None and holds is False)


class Names:
    """Look up the names of a condition: of the instance, the host, other settings and files."""

    def __init__(
        self, machine: Machine, catalogue: Catalogue, instance: Instance, value: Value
    ) -> None:
        self.machine, self.catalogue, self.instance, self.value = (
            machine,
            catalogue,
            instance,
            value,
        )

    def __call__(self, name: str) -> Value:
        kind, _, rest = name.partition(":")
        if name == "value":
            return self.value
        if kind == "setting":
            return self._other(rest)
        if kind == "exists":
            answer = self.machine.facts.file(rest)
            return True if answer.text is not None else False if answer.absent else UNKNOWN
        return self.instance.names.get(name, self.machine.names.get(name, UNKNOWN))

    def _other(self, name: str) -> Value:
        """Return the value of another setting, for the same instance if the scope is the same; None
        if this system lacks the setting.
        """
        reading = self._reading(name)
        if reading is None:
            return UNKNOWN
        return None if isinstance(reading.value, Unknown) and reading.absent else reading.value

    def _reading(self, name: str) -> SettingReading | None:
        entry = self.catalogue.entries.get(name)
        instance = self._same_instance(entry) if entry is not None else None
        if entry is None or instance is None:
            return None
        return reading_of(self.machine, entry, instance, self)

    def why(self, name: str) -> str:
        """Return why another setting was not read; "" for other names."""
        kind, _, rest = name.partition(":")
        reading = self._reading(rest) if kind == "setting" else None
        return "; ".join(reading.evidence) if reading is not None else ""

    def _same_instance(self, entry: ParsedSetting) -> Instance | None:
        """Return the matching instance of the other setting; for scope each, the file with the same
        label.
        """
        if entry.setting.scope != "each":
            return WHOLE if entry.setting.scope == "host" else self.instance
        files = _each(self.machine, entry.setting)
        return next((instance for instance in files if instance.label == self.instance.label), None)


def _each(machine: Machine, setting: Setting) -> list[Instance]:
    """Return an instance for each file of the first pattern that matches. If the worst value
    counts, group files by the last part of the pattern with a wildcard.
    """
    for read in setting.reads:
        if paths := machine.facts.matching(read.file):
            if read.worst:
                labels = dict.fromkeys(_varying(path, read.file).split()[-1] for path in paths)
                return [
                    Instance(label, {"pattern": with_label(read.file, label)}, {})
                    for label in labels
                ]
            return [Instance(_varying(path, read.file), {"file": path}, {}) for path in paths]
    return []


def _varying(path: str, pattern: str) -> str:
    """Return the parts of ``path`` that match the wildcards of the pattern."""
    pairs = zip(path.split("/"), pattern.split("/"), strict=True)
    return " ".join(part for part, known in pairs if "*" in known)


_NUMBERS = re.compile(r"\d{1,9}(?:\.\d{1,9}){0,3}", re.ASCII)
_RELEASE = re.compile(rf"(Linux|RHEL) ({_NUMBERS.pattern})", re.ASCII)
_LIKE_RHEL = {"rhel", "centos", "rocky", "almalinux", "ol"}


def lacking(setting: Setting, names: Lookup) -> tuple[str, str]:
    """Return why the host's release no longer has the setting, and why it does not have it yet; ""
    if it has, or if that is unknown. Distributions backport features into old kernels, so the
    second is used only for settings that are absent.
    """
    gone, here = _compared(setting.until, names)
    absent, release = _compared(setting.since, names)
    return (
        f"it was removed in {setting.until}; {here}" if gone is True else "",
        f"it exists since {setting.since}; {release}" if absent is False else "",
    )


def _compared(release: str, names: Lookup) -> tuple[bool | None, str]:
    """Return whether the host's release is ``release`` or later, and the host's release in words;
    None if that is unknown.
    """
    wanted = _RELEASE.fullmatch(release)
    linux = wanted is not None and wanted[1] == "Linux"
    if wanted is None or not (linux or names("host.os") in _LIKE_RHEL):
        return None, ""
    here = names("host.kernel" if linux else "host.os_version")
    number = _NUMBERS.match(here) if isinstance(here, str) else None
    if number is None:
        return None, ""
    is_later = _parts(number[0]) >= _parts(wanted[2])
    return is_later, f"this {'kernel' if linux else 'system'} is {number[0]}"


def _parts(text: str) -> list[int]:
    return [int(part) for part in text.split(".")]
