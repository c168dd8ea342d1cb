# pure
"""Reuse results among similar hosts: results that do not depend on a difference are the same. Pure.

Most hosts of a cluster differ only in their addresses and counters. Each result records the places
that it is read from and the names that its conditions look up, including those of settings that it
refers to. Only results that depend on a difference are judged again.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from wireproof.audit.catalogue import Catalogue, ParsedSetting
from wireproof.audit.facts import WHOSE, HostFacts, Place, matches_any
from wireproof.audit.firmware import BIOS, CERTIFICATE, PENDING, REGISTRY
from wireproof.audit.machine import WHOLE, Instance, Machine
from wireproof.audit.reading import argv_of, path_of, with_label
from wireproof.model.record import FactFrame
from wireproof.model.setting import AuditResult, Read

_MODELS = 4
"""Number of hosts kept for comparison: compute nodes, nodes with GPUs, servers."""
_ALL = ("host.rdma",)
"""Names that decide which settings exist to judge."""
_RELEASE = ("host.kernel", "host.os", "host.os_version")

_Frames = Mapping[Any, FactFrame]
Slot = tuple[ParsedSetting, Instance | None]
"""Identity of a result; the instance is None for a result about no or all instances."""
_Keys = tuple[str, ...] | None
"""The part of a place that is read: the lines with one of these names, or None for the whole text.
"""
_Needed = tuple[frozenset[str], Mapping[Place, _Keys]]
"""Names and places."""
_Inputs = tuple[object, ...]
"""The texts and values by which a result may differ from the model's."""
_MOST_KNOWN = 512
"""Number of results kept for each slot: if a cluster has more different values, it shares few of
them.
"""


class _Model:
    """A host that has been judged, with a slot for each result."""

    def __init__(
        self,
        machine: Machine,
        slots: Sequence[Slot],
        results: Sequence[AuditResult],
        needs: Callable[[ParsedSetting, Instance], _Needed],
    ) -> None:
        self.machine, self.slots, self.results = machine, slots, results
        self.known: defaultdict[int, dict[_Inputs, AuditResult]] = defaultdict(dict)
        self._of_names: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
        self._read: defaultdict[Place, dict[int, _Keys]] = defaultdict(dict)
        self._of_places: dict[Place, list[tuple[int, _Keys]]] = {}
        for number, (entry, instance) in enumerate(slots):
            if instance is None:
                continue
            names, places = needs(entry, instance)
            for name in names:
                self._of_names["", name].add(number)
                self._of_names[instance.label, name].add(number)
            for place, keys in places.items():
                self._read[place][number] = keys

    def again(
        self, frames: Mapping[Place, FactFrame | None], names: Mapping[tuple[str, str], object]
    ) -> dict[int, _Inputs]:
        """Return the results that depend on any of these, each with its inputs. Each name comes
        with the label of its instance, "" for names of the host.
        """
        inputs: defaultdict[int, _Inputs] = defaultdict(tuple)
        for place, frame in frames.items():
            if place not in self._of_places:
                fitting = (self._read[read].items() for read in self._read if _is_of(read, place))
                self._of_places[place] = [each for items in fitting for each in items]
            parts: dict[_Keys, _Inputs] = {}
            for number, keys in self._of_places[place]:
                if keys not in parts:
                    parts[keys] = (place, _part(frame, keys))
                inputs[number] += parts[keys]
        for name, value in names.items():
            for number in self._of_names.get(name, ()):
                inputs[number] += (name, repr(value))
        return inputs

    def share(self, number: int, inputs: _Inputs, result: AuditResult) -> None:
        """Keep a result for later hosts with the same inputs."""
        if len(known := self.known[number]) < _MOST_KNOWN:
            known[inputs] = result


def _part(frame: FactFrame | None, keys: _Keys) -> object:
    """Return the part of an answer that a result can depend on: all, or the lines with a key."""
    if frame is None or keys is None or "\0" in frame.text:
        return None if frame is None else (frame.text, frame.reason, frame.exit_status)
    there = [key for key in keys if key in frame.text]
    lines = [line for line in frame.text.split("\n") if any(key in line for key in there)]
    return "\n".join(lines), frame.reason, frame.exit_status


class LikeHosts:
    """Hosts judged so far, the best match of last time first."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._entries = catalogue.entries
        self._needed: dict[tuple[str, str], _Needed] = {}
        self._models: list[_Model] = []

    def of(self, machine: Machine) -> tuple[_Model, dict[int, _Inputs]] | None:
        """Return a similar host, and the numbers of the results that must be judged again, with
        their inputs; None if there is none.
        """
        for model in self._models:
            places = _differing(machine.facts, model.machine.facts)
            names = None if places is None else _other_names(machine, model.machine)
            if places is not None and names is not None:
                self._models.remove(model)
                self._models.insert(0, model)
                frames = {place: machine.facts.at(place) for place in places}
                return model, model.again(frames, names)
        return None

    def add(self, machine: Machine, slots: Sequence[Slot], results: Sequence[AuditResult]) -> None:
        self._models = [_Model(machine, slots, results, self._needs), *self._models[: _MODELS - 1]]

    def _needs(self, entry: ParsedSetting, instance: Instance) -> _Needed:
        key = (entry.setting.id, instance.label)
        if key not in self._needed:
            self._needed[key] = _needed(self._entries, entry, instance)
        return self._needed[key]


def _needed(
    entries: Mapping[str, ParsedSetting], entry: ParsedSetting, instance: Instance
) -> _Needed:
    """Return the names and places on which the result of an entry for an instance depends."""
    dated = entry.setting.since or entry.setting.until
    names, places = set(_RELEASE if dated else ()), dict[Place, _Keys]()
    waiting, seen = [entry], {entry.setting.id}
    while waiting:
        current = waiting.pop()
        for name in current.names:
            kind, _, rest = name.partition(":")
            if kind == "exists":
                places[rest] = None
            elif kind != "setting":
                names.add(name)
            elif rest in entries and rest not in seen:
                seen.add(rest)
                waiting.append(entries[rest])
        whole = current is not entry and current.setting.scope == "host"
        for read in current.setting.reads:
            keys = _keys(read)
            for place in _places(current, read, WHOLE if whole else instance):
                more = places.get(place, ())
                places[place] = None if keys is None or more is None else (*more, *keys)
    return frozenset(names), places


def _keys(read: Read) -> _Keys:
    """Return the names that the read looks for: each line that it uses contains one of them."""
    if read.section or not read.key:
        return None
    keys = (read.key.replace("{p}", str(priority)) for priority in range(8))
    return tuple(dict.fromkeys("|".join(keys).split("|")))


def _places(entry: ParsedSetting, read: Read, instance: Instance) -> Iterator[Place]:
    """Yield the places that a read of an entry looks at; for an entry of scope each, only the file
    of the instance.
    """
    if read.file == BIOS:
        yield from (BIOS, PENDING, REGISTRY, CERTIFICATE)
    elif read.command:
        yield argv_of(read, instance)
    elif entry.setting.scope == "each" and instance.places:
        yield with_label(read.file, instance.label)
    else:
        yield path_of(read, instance)
        if read.file.startswith("/proc/self/"):
            yield WHOSE


def _is_of(read: Place, place: Place) -> bool:
    if read == place:
        return True
    pattern = isinstance(read, str) and "*" in read
    return pattern and isinstance(place, str) and matches_any((str(read),), place)


def _differing(first: HostFacts, second: HostFacts) -> list[Place] | None:
    """Return the places whose texts differ; None if more than texts differ."""
    if (first.listed, first.hidden, first.unkept) != (second.listed, second.hidden, second.unkept):
        return None
    differing: list[Place] = []
    for name in ("files", "globs", "derived", "commands"):
        mine: _Frames = getattr(first, name)
        theirs: _Frames = getattr(second, name)
        if mine.keys() != theirs.keys():
            return None
        for place, frame in mine.items():
            like = theirs[place]
            if frame is like or frame == like:
                continue
            # the set of things to judge may differ
            if frame.status != like.status or name == "globs":
                return None
            differing.append(place)
    return differing


def _other_names(first: Machine, second: Machine) -> dict[tuple[str, str], object] | None:
    """Return the names with different values; None if interfaces or ports differ."""
    if len(first.nics) != len(second.nics) or len(first.rdma) != len(second.rdma):
        return None
    differing = {("", name): value for name, value in _unequal(first.names, second.names)}
    if any(name in _ALL for _, name in differing):
        return None
    for mine, theirs in zip((*first.nics, *first.rdma), (*second.nics, *second.rdma), strict=True):
        if (mine.label, mine.places) != (theirs.label, theirs.places):
            return None
        names = _unequal(mine.names, theirs.names)
        differing |= {(mine.label, name): value for name, value in names}
    return differing


def _unequal(mine: Mapping[str, object], theirs: Mapping[str, object]) -> list[tuple[str, object]]:
    """Return the names with different values, and the values of ``mine``."""
    if mine == theirs:
        return []
    names = mine.keys() | theirs.keys()
    return [(name, mine.get(name)) for name in names if mine.get(name) != theirs.get(name)]
