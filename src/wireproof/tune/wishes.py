# pure
"""Choose the settings and the firmware attributes of a host to change, and their values. Pure."""

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from wireproof.audit import Names, instances_of
from wireproof.audit.catalogue import Catalogue, ParsedSetting
from wireproof.audit.expression import UNKNOWN, Unknown
from wireproof.audit.firmware import BIOS, Attribute, plain_name, word
from wireproof.audit.machine import WHOLE, Instance, Machine
from wireproof.audit.reading import SettingReading, attributes_of, reading_of
from wireproof.audit.remedy import Remedy, remedy_of, remedy_with
from wireproof.model.errors import BadInput
from wireproof.model.plan import FactRequest
from wireproof.model.quantity import whole
from wireproof.model.setting import Profile, Setting
from wireproof.model.tuning import HostPlan, PlannedAttribute, Raw
from wireproof.tune.allowed import coupled_with, refused, refused_value
from wireproof.tune.settings_files import sysctl_path

# --- Parse requested changes: ``SETTING`` or ``SETTING/INSTANCE``, each with optional ``=VALUE``, a
# sysctl by name (``vm.dirty_bytes=0``), or a file below /proc/sys or /sys. Pure.

_SYSCTL = re.compile(r"[a-z0-9_]+(?:[./][A-Za-z0-9_@:-]+)+", re.ASCII)
_FILE = re.compile(r"/(?:proc/sys|sys)(?:/[A-Za-z0-9_.:@+-]+)+", re.ASCII)
_NUMBER = re.compile(r"[-+]?(?:[0-9]+|0[xX][0-9a-fA-F]+)", re.ASCII)
_LONGEST = 1000


@dataclass(frozen=True)
class Named:
    """``name``: the id of a catalogue setting, "" for a plain file. ``value``: "" for the
    catalogue's value.
    """

    name: str
    instance: str = ""
    value: str = ""
    path: str = ""

    @property
    def title(self) -> str:
        return self.path or (f"{self.name}/{self.instance}" if self.instance else self.name)

    def is_of(self, name: str, label: str) -> bool:
        """Return whether the request covers the instance ``label`` of the setting ``name``."""
        return self.name == name and self.instance in ("", "/".join(label.split()))


def named_all(texts: Iterable[str], known: Catalogue) -> list[Named]:
    """Parse each of ``texts``. Raise ``BadInput`` if a text is invalid or a setting
    occurs twice.
    """
    requests = [named(text, known) for text in texts]
    titles = [request.title for request in requests]
    twice = next((title for title in titles if titles.count(title) > 1), "")
    if twice:
        raise BadInput(f"{twice} is given twice: give one value for it.")
    return requests


def named(text: str, known: Catalogue) -> Named:
    """Parse a text. Raise ``BadInput`` with the nearest setting if there is none of that name."""
    name, given, value = text.partition("=")
    if given and not _is_value(value):
        raise BadInput(f"{name[:100]}= needs a value of up to {_LONGEST} printable characters.")
    if name.startswith("/"):
        return _file(name, value, bool(given))
    setting, _, instance = name.partition("/")
    if setting in known.entries:
        _check_number(known.get(setting).setting, value)
        return Named(setting, instance, value)
    if _SYSCTL.fullmatch(name) and "." in name:
        return _file(sysctl_path(name), value, bool(given))
    return Named(known.get(setting[:100]).setting.id)


def _check_number(setting: Setting, value: str) -> None:
    """Refuse words for numbers that the kernel parses; firmware and limits accept some words."""
    at_once = setting.fix is not None and setting.fix.at_once
    if value and at_once and setting.form == "number" and not _NUMBER.fullmatch(value):
        raise BadInput(f"{setting.id} must be a number, not {value[:100]!r}.")


def _is_value(value: str) -> bool:
    return 0 < len(value) <= _LONGEST and value.isascii() and value.isprintable()


def _file(path: str, value: str, given: bool) -> Named:
    if not _FILE.fullmatch(path) or "/.." in path or "/./" in path:
        raise BadInput(f"{path[:200]!r} is not a file below /proc/sys or /sys.")
    if not given:
        raise BadInput(f"{path} is not a setting of the catalogue: give a value, {path}=VALUE.")
    return Named("", value=value, path=path)


_SHOWN = 8


def nowhere(machines: Sequence[Machine], known: Catalogue, asked: Sequence[Named]) -> str:
    """Return a sentence for the first file or instance that is known to be missing on every host;
    "" if there is none. It may be missing on some hosts.
    """
    for request in asked:
        if request.path and all(machine.facts.file(request.path).absent for machine in machines):
            return f"no host has the file {request.path}."
        if request.instance and (wrong := _no_instance(machines, known, request)):
            return wrong
    return ""


def _no_instance(machines: Sequence[Machine], known: Catalogue, request: Named) -> str:
    entry = known.get(request.name)
    labels = {
        "/".join(instance.label.split()): instance.label
        for machine in machines
        for instance in instances_of(machine, entry)
    }
    if any(request.is_of(request.name, label) for label in labels.values()):
        return ""
    there = sorted(filter(None, labels))
    near = difflib.get_close_matches(request.instance, there, n=3) or there[:_SHOWN]
    if near:
        listed = ", ".join(f"{request.name}/{label}" for label in near)
        return f"no host has {request.title}; the hosts have {listed}."
    if labels:
        return f"no host has {request.title}: {request.name} applies to the host as a whole."
    return f"no host has {request.title}, nor another {request.name}."


DROP_INS = (
    "/etc/modprobe.d/90-wireproof.conf",
    "/etc/security/limits.d/90-wireproof.conf",
    "/etc/sysctl.d/90-wireproof.conf",
    "/etc/tmpfiles.d/90-wireproof.conf",
    "/etc/udev/rules.d/90-wireproof.rules",
)
"""The only files that wireproof writes permanently."""


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
        """The id without spaces: ``mtu/eth1``."""
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
        """Return the request for this instance; a request with the instance's name takes
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
        if why := _refused(remedy):
            raise BadInput(f"{why}. Change it by hand.")
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
        return "its recommended value depends on a value that could not be read here"
    return _refused(remedy)


def _refused(remedy: Remedy) -> str:
    """Return the reason why the value must not be written: it could not be undone."""
    if remedy.command:
        return refused_value(remedy.command, remedy.value)
    return refused(remedy.file, remedy.value) if remedy.file and remedy.fix.at_once else ""


def requests_of(wishes: Sequence[Wish]) -> tuple[FactRequest, ...]:
    """Return requests for the other files of a fix, coupled files, and existing drop-ins."""
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


# --- Choose the firmware attributes to change, and their new values among those that the BMC lists.


_Good = Callable[[str], bool | None]
_SWITCH = ("Enabled", "Disabled")
_PAIRS = (("Disabled", "Enabled"), ("Disable", "Enable"), ("Off", "On"), ("No", "Yes"))
_MOST_LISTED = 8
_LONGEST_NUMBER = 12
_UNDO = "wireproof tune revert, which requests the old value for the next reboot"


FirmwareWish = tuple[str, PlannedAttribute | str]
"""The id of a firmware setting, and its change or the reason why it is not changed."""


def firmware_wishes(
    machine: Machine, known: Catalogue, profile: Profile, asked: Sequence[Named] = ()
) -> list[FirmwareWish]:
    """Return wishes for the requested firmware settings, or for all settings that fail. Empty if no
    BMC supplied the attributes.
    """
    if machine.facts.file(BIOS).text is None:
        return []
    given = {request.name: request.value for request in asked}
    entries = [
        entry
        for name, entry in known.entries.items()
        if any(read.file == BIOS for read in entry.setting.reads) and (not asked or name in given)
    ]
    return [
        wish
        for entry in entries
        for wish in _of(machine, known, profile, entry, given.get(entry.setting.id, ""))
    ]


def with_attributes(plan: HostPlan, wishes: Sequence[FirmwareWish]) -> HostPlan:
    """Add the requests to the BMC to the plan, and remove the manual steps that they replace."""
    settled = {name for name, _ in wishes}
    reasons = [f"{name}: {found}" for name, found in wishes if isinstance(found, str)]
    return msgspec.structs.replace(
        plan,
        firmware=[found for _, found in wishes if not isinstance(found, str)],
        by_hand=[item for item in plan.by_hand if item.id not in settled],
        notes=[*plan.notes, *reasons],
    )


def _of(
    machine: Machine, known: Catalogue, profile: Profile, entry: ParsedSetting, value: str
) -> Iterator[FirmwareWish]:
    attributes = attributes_of(machine, entry.setting)
    names = Names(machine, known, WHOLE, UNKNOWN)
    if len(attributes) != 1 or entry.applies.holds(names) is not True:
        if value:
            yield entry.setting.id, "it is unclear which attribute this is"
        return

    def good(text: str) -> bool | None:
        return entry.good[profile].holds(Names(machine, known, WHOLE, word(text)))

    if value or good(attributes[0].shown(attributes[0].later)) is False:
        yield entry.setting.id, _wish(entry.setting, attributes[0], good, value)


def _wish(
    setting: Setting, attribute: Attribute, good: _Good, value: str
) -> PlannedAttribute | str:
    """Return the change, or the reason why there is none."""
    wanted = _given(attribute, value) if value else _best(attribute, good)
    if attribute.read_only:
        return f"{attribute.display} can only be read"
    if wanted is None:
        listed = ", ".join(menu for _, menu in attribute.values[:_MOST_LISTED]) or "none"
        what = (
            f"{value!r} is not one of the"
            if value
            else ("no single value is recommended among the")
        )
        why = f"{what} values that the BMC lists for {attribute.display} ({listed})"
        return f"{why}: give {setting.id}=VALUE"
    if wanted == attribute.later:
        return f"{attribute.display} already has that value"
    return PlannedAttribute(
        id=setting.id,
        attribute=attribute.name,
        display=attribute.display,
        was=attribute.now,
        pending=attribute.later,
        wanted=wanted,
        why=setting.why,
        undo=_UNDO,
        effect=setting.effect,
    )


def _best(attribute: Attribute, good: _Good) -> Raw | None:
    """Return the only recommended value in the list, or the only one of on and off; None if the
    user has to choose.
    """
    right = [name for name, menu in attribute.values if good(menu) is True]
    switch = [name for name, menu in attribute.values if name in right and word(menu) in _SWITCH]
    if len(right) == 1:
        return right[0]
    if len(switch) == 1:
        return switch[0]
    if attribute.values or word(attribute.shown(attribute.later)) not in _SWITCH:
        return None
    wanted = [state for state in _SWITCH if good(state) is True]
    return _given(attribute, wanted[0]) if len(wanted) == 1 else None


def _given(attribute: Attribute, text: str) -> Raw | None:
    """Return the value for ``text``, which is the value itself, its name in the menu, or on or off
    in the BMC's words; None if the BMC does not list it.
    """
    for name, menu in attribute.values:
        if text in (name, menu) or plain_name(text) == plain_name(menu) or word(menu) == text:
            return name
    if attribute.values:
        return None
    if isinstance(attribute.later, bool):
        return {"Enabled": True, "Disabled": False}.get(word(text))
    if isinstance(attribute.later, (int, float)):
        return whole(text) if len(text) < _LONGEST_NUMBER else None
    return _in_its_words(attribute.later, word(text)) or text


def _in_its_words(now: str, wanted: str) -> str:
    """Return ``Enable`` if the BMC writes ``Disable``, and so on; "" if it uses other words."""
    for off, on in _PAIRS:
        if now.casefold() in (off.casefold(), on.casefold()) and wanted in _SWITCH:
            return on if wanted == "Enabled" else off
    return ""
