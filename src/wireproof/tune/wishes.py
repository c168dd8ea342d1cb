"""Choose the settings of a host to change, and their values. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wireproof.audit.catalogue import Catalogue, ParsedSetting
from wireproof.audit.expression import UNKNOWN, Unknown
from wireproof.audit.judge import Names, instances_of
from wireproof.audit.machine import Instance, Machine
from wireproof.audit.reading import SettingReading, reading_of
from wireproof.audit.remedy import Remedy, remedy_of, remedy_with
from wireproof.model.plan import FactRequest
from wireproof.model.setting import Profile
from wireproof.tune.carrying import coupled_with, lossy
from wireproof.tune.named import Named

DROP_INS = (
    "/etc/modprobe.d/90-wireproof.conf",
    "/etc/security/limits.d/90-wireproof.conf",
    "/etc/sysctl.d/90-wireproof.conf",
    "/etc/tmpfiles.d/90-wireproof.conf",
    "/etc/udev/rules.d/90-wireproof.rules",
)
"""The only files that wireproof writes for good."""


@dataclass(frozen=True)
class Wish:
    """A setting of an instance. ``why_not``: the reason why it stays unchanged."""

    entry: ParsedSetting
    instance: Instance
    remedy: Remedy
    reading: SettingReading
    why_not: str = ""

    @property
    def id(self) -> str:
        """The id without blanks: ``mtu/eth1``."""
        label = "/".join(self.instance.label.split())
        return f"{self.entry.setting.id}/{label}" if label else self.entry.setting.id


def wishes_of(
    machine: Machine, known: Catalogue, profile: Profile, asked: Sequence[Named]
) -> list[Wish]:
    """Return wishes for the settings in ``asked``, or for all if it is empty: settings that fail,
    and settings with a requested value.
    """
    named = [request for request in asked if request.name]
    names = dict.fromkeys(request.name for request in named) if asked else known.entries
    entries = [known.get(name) for name in names]
    host = _HostWishes(machine, known, profile, asked)
    return [wish for entry in entries for wish in host.of(entry)]


class _HostWishes:
    def __init__(
        self, machine: Machine, known: Catalogue, profile: Profile, asked: Sequence[Named]
    ) -> None:
        self.machine, self.known, self.profile, self.asked = machine, known, profile, asked

    def of(self, entry: ParsedSetting) -> Iterator[Wish]:
        for instance in instances_of(self.machine, entry):
            asked = self._asked(entry.setting.id, instance.label)
            wish = None if asked is None else self._one(entry, instance, asked.value)
            if wish is not None:
                yield wish

    def _asked(self, name: str, label: str) -> Named | None:
        """Return the request for this instance; a request that names the instance takes
        precedence.
        """
        if not self.asked:
            return Named(name)
        mine = [request for request in self.asked if request.is_of(name, label)]
        return max(mine, key=lambda request: request.instance, default=None)

    def _one(self, entry: ParsedSetting, instance: Instance, value: str) -> Wish | None:
        lookup = Names(self.machine, self.known, instance, UNKNOWN)
        applies = entry.applies.holds(lookup)
        reading = reading_of(self.machine, entry, instance, lookup)
        if applies is not True or isinstance(reading.value, Unknown):
            return None if not value else self._cannot(entry, instance, reading, applies)
        names = Names(self.machine, self.known, instance, reading.value)
        if value:
            return self._given(entry, instance, reading, value)
        if entry.good[self.profile].holds(names) is not False:
            return None
        remedy = remedy_of(entry, instance, reading.place, self.profile, names)
        if remedy is None:
            return None
        return Wish(entry, instance, remedy, reading, _why_not(remedy, reading))

    def _given(
        self, entry: ParsedSetting, instance: Instance, reading: SettingReading, value: str
    ) -> Wish | None:
        fix = entry.setting.fix
        if fix is None or not fix.value:
            return self._cannot(entry, instance, reading, None)
        remedy = remedy_with(fix, instance, reading.place, value)
        return Wish(entry, instance, remedy, reading, _why_not(remedy, reading))

    def _cannot(
        self,
        entry: ParsedSetting,
        instance: Instance,
        reading: SettingReading,
        applies: bool | None,
    ) -> Wish | None:
        """Return a wish for a value that was requested and cannot be set here."""
        fix = entry.setting.fix
        if fix is None:
            return None
        if applies is False:
            why = f"it applies only if {entry.applies.text}"
        elif not fix.value:
            why = "wireproof cannot set it"
        else:
            why = "; ".join(reading.evidence) or "it could not be read"
        return Wish(entry, instance, remedy_with(fix, instance, reading.place, ""), reading, why)


def _why_not(remedy: Remedy, reading: SettingReading) -> str:
    if "[fixed]" in reading.text:
        return "its driver does not allow changes ([fixed])"
    if remedy.fix.value and not remedy.value:
        return "its good value depends on a value that could not be read here"
    return lossy(remedy.file, remedy.value)


def requests_of(wishes: Sequence[Wish]) -> tuple[FactRequest, ...]:
    """Return requests for other files of a fix, coupled files, and existing drop-ins."""
    paths = dict.fromkeys(DROP_INS)
    for wish in wishes:
        remedy = wish.remedy
        if remedy.fix.at_once and remedy.file and not wish.why_not:
            paths[remedy.file] = None
            paths.update(dict.fromkeys([*remedy.coupled, *coupled_with(remedy.file)]))
    return tuple(
        FactRequest(kind="glob" if "*" in path else "file", path=path, limit_bytes=65536)
        for path in paths
    )
