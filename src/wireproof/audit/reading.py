# pure
"""Read the value of a setting on a machine, from the first of its places that answers. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from wireproof.audit.catalogue import ParsedSetting
from wireproof.audit.expression import UNKNOWN, Lookup, Unknown, Value
from wireproof.audit.facts import UNKEPT, PlaceAnswer, matches_any
from wireproof.audit.firmware import (
    ALL,
    BIOS,
    CERTIFICATE,
    PENDING,
    REGISTRY,
    Attribute,
    Firmware,
    firmware_of,
    written,
)
from wireproof.audit.machine import Instance, Machine
from wireproof.audit.remedy import filled
from wireproof.audit.values import part_of, typed
from wireproof.model import gathered
from wireproof.model.quantity import whole
from wireproof.model.setting import Form, Read, Setting

_LONGEST_SHOWN = 120
_MISSING = "does not exist"
_HAS_NONE = "n/a"
"""Text that ethtool prints for a value that the driver does not support."""
_INFERRED = "inferred from the operating system"


@dataclass(frozen=True)
class SettingReading:
    """The answer of an instance's places. ``text``: the original text. ``absent``: all places are
    known not to exist. ``place``: the file or command that gave the value. ``notes``: remarks for
    users about the value. ``unread``: those of several files that could not be read.
    """

    value: Value
    text: str
    place: str
    evidence: tuple[str, ...]
    absent: bool = False
    notes: tuple[str, ...] = ()
    unread: str = ""


def reading_of(
    machine: Machine, entry: ParsedSetting, instance: Instance, lookup: Lookup | Mapping[str, Value]
) -> SettingReading:
    """Return the value from the first place of the entry that answers. If the firmware was not
    asked, return what the operating system implies.
    """
    evidence: list[str] = []
    absent = True
    for read, when in zip(entry.setting.reads, entry.when, strict=True):
        if when.holds(lookup) is False:
            continue
        reading = _one_place(machine, entry.setting, read, instance)
        evidence += reading.evidence
        if not isinstance(reading.value, Unknown):
            return replace(reading, evidence=tuple(evidence))
        absent = absent and reading.absent
    if inferred := _inferred(machine, entry, lookup, evidence):
        return inferred
    return SettingReading(UNKNOWN, "", "", tuple(evidence), absent and bool(evidence))


def _inferred(
    machine: Machine,
    entry: ParsedSetting,
    lookup: Lookup | Mapping[str, Value],
    evidence: list[str],
) -> SettingReading | None:
    if machine.facts.file(BIOS).text is not None:
        return None
    for hint, when in zip(entry.setting.inferred, entry.inferred, strict=True):
        if when.holds(lookup) is True:
            note = f"{_INFERRED}: {hint.sign}"
            value = typed(hint.value, entry.setting.form)
            return SettingReading(value, hint.value, "", (*evidence, note), notes=(note,))
    return None


def _one_place(
    machine: Machine, setting: Setting, read: Read, instance: Instance
) -> SettingReading:
    if read.file == BIOS:
        return _attribute(machine, setting, read)
    if read.worst and not read.command:
        return _worst_of_all(machine, setting, read, instance)
    form = read.form or setting.form
    answer = (
        machine.facts.command(argv_of(read, instance), read.statuses, read.own)
        if read.command
        else machine.facts.file(path_of(read, instance))
    )
    read = part_read(read, instance)
    if read.worst:
        read = _worst_name(answer.text or "", read, form)
    if unread := _without_value(answer, read, form):
        return unread
    part = part_of(answer.text or "", read) or ""
    value = typed(part, form)
    text = part.strip()
    place = f"{answer.place} {read.key}" if read.worst else answer.place
    if isinstance(value, Unknown):
        return SettingReading(
            value, text, answer.place, (f"{place}: {shown(text)!r} is no {form}",)
        )
    notes = (read.key,) if read.worst else ()
    return SettingReading(value, text, answer.place, (f"{place}: {shown(text)}",), notes=notes)


def _worst_name(text: str, read: Read, form: Form) -> Read:
    """Restrict the read to the name with the worst value; ``{p}`` stands for each priority."""
    names = dict.fromkeys(
        name.replace("{p}", str(priority)) for name in read.key.split("|") for priority in range(8)
    )
    parts = {
        name: part_of(text, msgspec.structs.replace(read, key=name))
        for name in names
        if name in text
    }
    values = [(typed(part, form), name) for name, part in parts.items() if part is not None]
    known = [pair for pair in values if not isinstance(pair[0], Unknown)]
    return msgspec.structs.replace(read, key=_worst(known[::-1], read.worst)) if known else read


def _without_value(answer: PlaceAnswer, read: Read, form: Form) -> SettingReading | None:
    """Return the reading of a place without a value, None if it has one. For settings that are
    present or not, "absent" is a value.
    """
    place = answer.place
    if answer.text is None:
        if form == "present" and answer.absent:
            return SettingReading(False, "absent", place, (f"{place} {answer.why}",))
        return SettingReading(UNKNOWN, "", place, (f"{place} {answer.why}",), answer.absent)
    part = part_of(answer.text, read)
    if part is None:
        why = (f"{place} has no {' '.join(filter(None, (read.section, read.key)))!r}",)
        if form == "present":
            return SettingReading(False, "absent", place, why)
        return SettingReading(UNKNOWN, "", place, why, absent=read.section in answer.text)
    if read.command and part.split()[:1] == [_HAS_NONE]:
        why = (f"{place}: {shown(part)}: the driver does not have it",)
        return SettingReading(UNKNOWN, "", place, why, absent=True)
    return None


def _worst_of_all(
    machine: Machine, setting: Setting, read: Read, instance: Instance
) -> SettingReading:
    """Return the worst value over all cores, policies or queues, and those that have it."""
    pattern, form = path_of(read, instance), read.form or setting.form
    texts = machine.facts.each(pattern)
    by_text = gathered((text.strip(), path) for path, text in texts.items())
    values = {text: typed(text, form) for text in by_text}
    known = [text for text, value in values.items() if not isinstance(value, Unknown)]
    if not known:
        return _nothing_of(machine, pattern, bool(by_text))
    worst = _worst([(values[text], text) for text in known], read.worst)
    paths = sorted(by_text[worst], key=_natural)
    total = sum(map(len, by_text.values()))
    notes = [f"{paths[0]}{_and_more(paths)} of {total}"] if len(by_text) > 1 else []
    if machine.facts.is_cut(pattern):
        unread = f"there are more than {total} of {pattern}"
    else:
        lost = values.keys() - set(known)
        unread = _unread([path for text in lost for path in by_text[text]], total)
    evidence = (
        (f"{paths[0]}: {shown(worst)}", unread) if unread else (f"{paths[0]}: {shown(worst)}",)
    )
    notes += [unread] if unread else []
    return SettingReading(
        values[worst], worst, paths[0], evidence, notes=tuple(notes), unread=unread
    )


def _nothing_of(machine: Machine, pattern: str, found: bool) -> SettingReading:
    """Return why no file of the pattern contains a value. ``found``: there are files."""
    absent = not found and machine.facts.was_listed(pattern)
    unkept = matches_any(machine.facts.unkept, pattern)
    why = _MISSING if absent else UNKEPT if unkept else "could not be read"
    return SettingReading(UNKNOWN, "", pattern, (f"{pattern} {why}",), absent)


def _unread(paths: Sequence[str], total: int) -> str:
    """Return the number of places, of ``total``, that did not answer, with the first of them; "" if
    all did.
    """
    first = min(paths, key=_natural, default="")
    return f"{first}{_and_more(paths)} of {total} could not be read" if paths else ""


def _and_more(paths: Sequence[str]) -> str:
    return f" and {len(paths) - 1} more" if len(paths) > 1 else ""


def _worst(pairs: list[tuple[Value, str]], rule: str) -> str:
    """Return the text of the largest or smallest number, or of the first word of ``rule``."""
    if rule in ("largest", "smallest"):
        ordered = sorted(pairs, key=lambda pair: _size(*pair))
        return ordered[-1 if rule == "largest" else 0][1]
    order = {word: at for at, word in enumerate(rule.split("|"))}
    return min(pairs, key=lambda pair: order.get(str(pair[0]), -1))[1]


def _size(value: Value, text: str) -> tuple[float, str]:
    """Sort key: numbers by value, masks such as ``ff,00000000`` by their digits."""
    if isinstance(value, (int, float)):
        return float(value), ""
    digits = text.replace(",", "").lstrip("0")
    return float(len(digits)), digits


def _natural(path: str) -> list[tuple[int, str]]:
    """Sort key that puts policy2 before policy10."""
    parts = re.findall(r"[0-9]{1,18}|[^0-9]+", path)
    return [(-1, part) if (number := whole(part)) is None else (number, "") for part in parts]


def _attribute(machine: Machine, setting: Setting, read: Read) -> SettingReading:
    """Return the firmware attribute that matches a name of the setting; several matches give no
    value.
    """
    answer = machine.facts.file(BIOS)
    if answer.text is None:
        return SettingReading(UNKNOWN, "", BIOS, (f"BIOS {answer.why}",), answer.absent)
    firmware = firmware_on(machine)
    if firmware is None:
        return SettingReading(UNKNOWN, "", BIOS, ("BIOS: no list of attributes",))
    if ALL in setting.names.get("any", ()):
        digest, many = firmware.digest(), len(firmware.common)
        return SettingReading(digest, digest, BIOS, (f"BIOS: {many} attributes, digest {digest}",))
    found = firmware.called(setting.names)
    if len(found) == 1:
        return _value_of(found[0], _text(machine, CERTIFICATE), read.form or setting.form)
    if found:
        listed = " and ".join(f"{shown(one.display)!r} ({shown(one.name)})" for one in found[:4])
        return SettingReading(
            UNKNOWN, "", BIOS, (f"BIOS: {listed} match: it is unknown which applies",)
        )
    names = " or ".join(dict.fromkeys(name for each in setting.names.values() for name in each))
    many = len(firmware.now)
    why = f"BIOS: none of its {many} attributes is called {shown(names)}"
    # the attributes of this manufacturer are known and the list is complete, so the machine lacks
    # this one
    absent = firmware.listed and firmware.maker in setting.names
    return SettingReading(UNKNOWN, "", BIOS, (why,), absent)


def attributes_of(machine: Machine, setting: Setting) -> list[Attribute]:
    """Return the attributes from the BMC that match names of the setting."""
    firmware = firmware_on(machine)
    return [] if firmware is None else firmware.called(setting.names)


def firmware_on(machine: Machine) -> Firmware | None:
    return firmware_of(*(_text(machine, place) for place in (BIOS, PENDING, REGISTRY)))


def _text(machine: Machine, place: str) -> str:
    return machine.facts.file(place).text or ""


def _value_of(attribute: Attribute, certificate: str, form: Form) -> SettingReading:
    raw = written(attribute.now)
    raw = "" if attribute.shown(attribute.now) == raw else f", set as {shown(raw)}"
    evidence = [
        f"BIOS: {shown(attribute.display)} ({shown(attribute.name)}{raw}): {shown(attribute.value)}"
    ]
    notes = []
    if attribute.later != attribute.now:
        notes.append(
            f"{shown(attribute.shown(attribute.later))} is pending and takes effect after a reboot"
        )
    if certificate:
        notes.append(f"the BMC's certificate was {shown(certificate)}")
    return SettingReading(
        typed(attribute.value, form), attribute.value, BIOS, (*evidence, *notes), notes=tuple(notes)
    )


def shown(text: str) -> str:
    """Format a value for display: one line of limited length."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_SHOWN else line[: _LONGEST_SHOWN - 3] + "..."


def argv_of(read: Read, instance: Instance) -> tuple[str, ...]:
    """Return the command with the instance's names filled in."""
    if not instance.places:
        return read.command
    return tuple(filled(word, instance) for word in read.command)


def path_of(read: Read, instance: Instance) -> str:
    """Return the path with the instance's names filled in; for scope each, the files of the
    instance.
    """
    if not instance.places:
        return read.file
    places = instance.places
    return places.get("pattern") or places.get("file") or filled(read.file, instance)


def with_label(pattern: str, label: str) -> str:
    """Return ``pattern`` with ``label`` in place of its last parts with wildcards."""
    names = label.split(" ")
    parts = []
    for part in reversed(pattern.split("/")):
        parts.append(names.pop() if "*" in part and names else part)
    return "/".join(reversed(parts))


def part_read(read: Read, instance: Instance) -> Read:
    """Return ``read`` with the instance's names filled into its section."""
    if "{" not in read.section:
        return read
    return msgspec.structs.replace(read, section=filled(read.section, instance))
