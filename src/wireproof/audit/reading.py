"""What the places of a setting say on one machine: the first that answers with a value. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from wireproof.audit.catalogue import Entry
from wireproof.audit.expression import UNKNOWN, Unknown, Value
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
from wireproof.audit.operators import Lookup
from wireproof.audit.places import argv_of, path_of
from wireproof.audit.values import part_of, typed
from wireproof.model.setting import Form, Read, Setting

__all__ = ["Reading", "attributes_of", "firmware_on", "reading_of", "said", "shown"]

_LONGEST_SHOWN = 120
_HAS_NONE = "n/a"
"""What ethtool prints for a value that the driver does not have."""
_INFERRED = "inferred from the operating system"


@dataclass(frozen=True)
class Reading:
    """What one instance's places said. ``text``: as it stood there. ``absent``: all of them are
    known not to be there. ``place``: the one that answered. ``notes``: what people must know of
    the value.
    """

    value: Value
    text: str
    place: str
    evidence: tuple[str, ...]
    absent: bool = False
    notes: tuple[str, ...] = ()


def reading_of(
    machine: Machine, entry: Entry, instance: Instance, lookup: Lookup | Mapping[str, Value]
) -> Reading:
    """The first place of the entry that answers with a value; where the firmware was not asked,
    what the operating system tells.
    """
    evidence: list[str] = []
    absent = True
    for read, when in zip(entry.setting.reads, entry.when, strict=True):
        if when.holds(lookup) is False:
            continue
        found = _one_place(machine, entry.setting, read, instance)
        evidence += found.evidence
        if not isinstance(found.value, Unknown):
            return replace(found, evidence=tuple(evidence))
        absent = absent and found.absent
    if inferred := _inferred(machine, entry, lookup, evidence):
        return inferred
    return Reading(UNKNOWN, "", "", tuple(evidence), absent and bool(evidence))


def _inferred(
    machine: Machine, entry: Entry, lookup: Lookup | Mapping[str, Value], evidence: list[str]
) -> Reading | None:
    if machine.facts.file(BIOS).text is not None:
        return None
    for one, when in zip(entry.setting.inferred, entry.inferred, strict=True):
        if when.holds(lookup) is True:
            note = f"{_INFERRED}: {one.sign}"
            value = typed(one.value, entry.setting.form)
            return Reading(value, one.value, "", (*evidence, note), notes=(note,))
    return None


def _one_place(machine: Machine, setting: Setting, read: Read, instance: Instance) -> Reading:
    if read.file == BIOS:
        return _attribute(machine, setting, read)
    form = read.form or setting.form
    answer = (
        machine.facts.command(argv_of(read, instance), read.statuses, read.own)
        if read.command
        else machine.facts.file(path_of(read, instance))
    )
    if answer.text is None:
        if form == "present" and answer.absent:
            return Reading(False, "absent", answer.place, (f"{answer.place} {answer.why}",))
        why = (f"{answer.place} {answer.why}",)
        return Reading(UNKNOWN, "", answer.place, why, answer.absent)
    part = part_of(answer.text, read)
    if part is None and form == "present":
        why = (f"{answer.place} has no {read.key or read.section!r}",)
        return Reading(False, "absent", answer.place, why)
    if part is None:
        why = (f"{answer.place} has no {read.key or read.section!r}",)
        return Reading(UNKNOWN, "", answer.place, why, absent=True)
    if read.command and part.split()[:1] == [_HAS_NONE]:
        why = (f"{answer.place}: {shown(part)}: the driver does not have it",)
        return Reading(UNKNOWN, "", answer.place, why, absent=True)
    value = typed(part, form)
    text = part.strip()
    if isinstance(value, Unknown):
        return Reading(
            value, text, answer.place, (f"{answer.place}: {shown(text)!r} is no {form}",)
        )
    return Reading(value, text, answer.place, (f"{answer.place}: {shown(text)}",))


def _attribute(machine: Machine, setting: Setting, read: Read) -> Reading:
    """The firmware's attribute that one of the setting's names fits; several are none."""
    answer = machine.facts.file(BIOS)
    if answer.text is None:
        return Reading(UNKNOWN, "", BIOS, (f"BIOS {answer.why}",), answer.absent)
    firmware = firmware_on(machine)
    if firmware is None:
        return Reading(UNKNOWN, "", BIOS, ("BIOS: no list of attributes",))
    if ALL in setting.names.get("any", ()):
        digest, many = firmware.digest(), len(firmware.common)
        return Reading(digest, digest, BIOS, (f"BIOS: {many} attributes, digest {digest}",))
    found = firmware.called(setting.names)
    if len(found) == 1:
        return _value_of(found[0], _text(machine, CERTIFICATE), read.form or setting.form)
    if found:
        listed = " and ".join(f"{shown(one.display)!r} ({shown(one.name)})" for one in found[:4])
        return Reading(UNKNOWN, "", BIOS, (f"BIOS: {listed} fit: which one counts is not known",))
    names = " or ".join(dict.fromkeys(name for each in setting.names.values() for name in each))
    many = len(firmware.now)
    why = f"BIOS: none of its {many} attributes is called {shown(names)}"
    # a maker whose names are known, and who lists all: then the machine does not have it
    absent = firmware.listed and firmware.maker in setting.names
    return Reading(UNKNOWN, "", BIOS, (why,), absent)


def attributes_of(machine: Machine, setting: Setting) -> list[Attribute]:
    """Those that the setting's names fit, and the BMC gave."""
    firmware = firmware_on(machine)
    return [] if firmware is None else firmware.called(setting.names)


def firmware_on(machine: Machine) -> Firmware | None:
    return firmware_of(*(_text(machine, place) for place in (BIOS, PENDING, REGISTRY)))


def _text(machine: Machine, place: str) -> str:
    return machine.facts.file(place).text or ""


def _value_of(one: Attribute, certificate: str, form: Form) -> Reading:
    raw = written(one.now)
    raw = "" if one.shown(one.now) == raw else f", set as {shown(raw)}"
    evidence = [f"BIOS: {shown(one.display)} ({shown(one.name)}{raw}): {shown(one.value)}"]
    notes = []
    if one.later != one.now:
        notes.append(f"{shown(one.shown(one.later))} is pending and counts after a reboot")
    if certificate:
        notes.append(f"the BMC's certificate was {shown(certificate)}")
    return Reading(typed(one.value, form), one.value, BIOS, (*evidence, *notes), notes=tuple(notes))


def said(machine: Machine, setting: Setting) -> Reading:
    """What the firmware says of the setting, to tell like machines by: not the whole list of its
    attributes, of which serial numbers make every one another.
    """
    return next(_attribute(machine, setting, read) for read in setting.reads if read.file == BIOS)


def shown(text: str) -> str:
    """A value for people: one line, bounded."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_SHOWN else line[: _LONGEST_SHOWN - 3] + "..."
