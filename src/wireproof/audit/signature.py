"""What an answer depends on, as a key: most hosts of a cluster are alike, and what was met before
needs no second judgement. Pure.

A key is made of numbers: each distinct value or text gets one. It holds the names that the entry's
conditions look up and the places that it reads, those of the settings that it refers to included.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wireproof.audit.catalogue import Catalogue, ParsedSetting
from wireproof.audit.facts import WHOSE, Place
from wireproof.audit.firmware import BIOS
from wireproof.audit.machine import Instance, Machine
from wireproof.audit.places import alike, argv_of, path_of
from wireproof.audit.reading import said
from wireproof.model.record import FactFrame
from wireproof.model.setting import Read

__all__ = ["Signatures"]

Key = tuple[object, ...]
_WHOLE = Instance("", {}, {})


@dataclass(frozen=True)
class _Lookup:
    """What is looked up for one entry and instance."""

    names: tuple[str, ...]
    places: tuple[Place, ...]
    firmware: tuple[ParsedSetting, ...]


class Signatures:
    """Keys of one catalogue over many machines."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._plans: dict[tuple[str, str], _Lookup] = {}
        self._numbers: dict[object, int] = {}
        self._frames: dict[int, tuple[int, FactFrame]] = {}
        self._absent: dict[tuple[int, Place], int] = {}
        self._machine: Machine | None = None
        self._names: dict[str, int] = {}
        self._of_instance: dict[tuple[str, str], int] = {}
        self._of_firmware: dict[str, int] = {}
        self._patterns: dict[str, int] = {}
        self._listed = 0

    def of(self, machine: Machine, entry: ParsedSetting, instance: Instance) -> Key:
        """Equal keys, equal answers but for the host's name."""
        if machine is not self._machine:
            self._begin(machine)
        ident = (entry.setting.id, instance.label)
        plan = self._planned(entry, instance)
        names = [self._name(name, instance) for name in plan.names]
        places = [self._place(machine, place) for place in plan.places]
        return (*ident, *names, *places, *[self._said(machine, one) for one in plan.firmware])

    def places(self, entry: ParsedSetting, instance: Instance) -> tuple[Place, ...]:
        """All that the answer is read from."""
        return self._planned(entry, instance).places

    def names(self, entry: ParsedSetting, instance: Instance) -> tuple[str, ...]:
        """All names that its conditions look up."""
        return self._planned(entry, instance).names

    def _planned(self, entry: ParsedSetting, instance: Instance) -> _Lookup:
        ident = (entry.setting.id, instance.label)
        plan = self._plans.get(ident)
        if plan is None:
            plan = self._plans[ident] = self._plan(entry, instance)
        return plan

    def _begin(self, machine: Machine) -> None:
        self._machine = machine
        self._names = {name: self._number(value) for name, value in machine.names.items()}
        self._of_instance = {}
        self._of_firmware = {}
        self._patterns = {}
        facts = machine.facts
        self._listed = self._number((facts.listed, facts.hidden, facts.unkept))

    def _number(self, value: object) -> int:
        if isinstance(value, list):
            value = tuple(value)
        return self._numbers.setdefault((type(value), value), len(self._numbers))

    def _name(self, name: str, instance: Instance) -> int:
        if name not in instance.names:
            return self._names.get(name, -1)
        ident = (instance.label, name)
        found = self._of_instance.get(ident)
        if found is None:
            found = self._of_instance[ident] = self._number(instance.names[name])
        return found

    def _said(self, machine: Machine, entry: ParsedSetting) -> int:
        """The number of what the firmware says of a setting."""
        found = self._of_firmware.get(entry.setting.id)
        if found is None:
            reading = said(machine, entry.setting)
            found = self._number((repr(reading), machine.facts.file(BIOS).why))
            self._of_firmware[entry.setting.id] = found
        return found

    def _place(self, machine: Machine, place: Place) -> int:
        """The number of what stands there; of what does not, whether it is known not to be."""
        if isinstance(place, str) and "*" in place:
            return self._of_pattern(machine, place)
        frame = machine.facts.at(place)
        if frame is None:
            ident = (self._listed, place)
            found = self._absent.get(ident)
            if found is None:
                looked = isinstance(place, str) and machine.facts.file(place).absent
                found = self._absent[ident] = -2 if looked else -1
            return found
        return self._frame(frame)

    def _of_pattern(self, machine: Machine, pattern: str) -> int:
        """The number of all that matches."""
        found = self._patterns.get(pattern)
        if found is None:
            facts = machine.facts
            paths = facts.matching(pattern)
            frames = [self._frame(frame) for path in paths if (frame := facts.at(path))]
            listed = facts.globs.get(pattern)
            about = self._frame(listed) if listed is not None else -1
            found = self._number((pattern, tuple(paths), tuple(frames), about))
            self._patterns[pattern] = found
        return found

    def _frame(self, frame: FactFrame) -> int:
        known = self._frames.get(id(frame))
        if known is None:
            content = (
                *(frame.status, frame.exit_status, frame.text, frame.reason, frame.truncated),
            )
            known = self._frames[id(frame)] = (self._number(content), frame)
        return known[0]

    def _plan(self, entry: ParsedSetting, instance: Instance) -> _Lookup:
        names: dict[str, None] = {}
        places: dict[Place, None] = {}
        firmware: dict[str, ParsedSetting] = {}
        if entry.setting.since or entry.setting.until:
            names |= dict.fromkeys(("host.kernel", "host.os", "host.os_version"))
        for one, where in self._with_others(entry, instance):
            for name in one.names:
                kind, _, rest = name.partition(":")
                if kind == "exists":
                    places[rest] = None
                elif kind != "setting":
                    names[name] = None
            for read in one.setting.reads:
                places |= dict.fromkeys(_places(one, read, where))
            if any(read.file == BIOS for read in one.setting.reads):
                firmware[one.setting.id] = one
        return _Lookup(tuple(names), tuple(places), tuple(firmware.values()))

    def _with_others(
        self, entry: ParsedSetting, instance: Instance
    ) -> Iterator[tuple[ParsedSetting, Instance]]:
        """The entry and the settings that it refers to, each once."""
        waiting, seen = [entry], set[str]()
        while waiting:
            one = waiting.pop()
            if one.setting.id in seen:
                continue
            seen.add(one.setting.id)
            whole = one is not entry and one.setting.scope == "host"
            yield one, _WHOLE if whole else instance
            waiting += [
                other
                for name in one.names
                if name.startswith("setting:")
                and (other := self.catalogue.entries.get(name.partition(":")[2])) is not None
            ]


def _places(entry: ParsedSetting, read: Read, instance: Instance) -> Iterator[Place]:
    """Where a read of an entry looks; that of another file's pattern in the file alike."""
    if read.file == BIOS:
        return
    if read.command:
        yield argv_of(read, instance)
    elif entry.setting.scope == "each" and instance.places:
        yield alike(read.file, instance.label)
    else:
        yield path_of(read, instance)
        if read.file.startswith("/proc/self/"):
            yield WHOSE
