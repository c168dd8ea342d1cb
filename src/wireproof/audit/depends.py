"""Hosts that differ from one before in few places: what does not depend on these is the same. Pure.

Most hosts of a cluster are like another in all but their addresses and counters. Known of each
answer are the places that it is read from and the names that its conditions look up, those of the
settings that it refers to included: only answers that depend on what differs are judged again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from wireproof.audit.catalogue import Catalogue, ParsedSetting
from wireproof.audit.facts import WHOSE, HostFacts, Place, matches_any
from wireproof.audit.firmware import BIOS, CERTIFICATE, PENDING, REGISTRY
from wireproof.audit.machine import WHOLE, Instance, Machine
from wireproof.audit.reading import alike, argv_of, path_of
from wireproof.model.record import FactFrame
from wireproof.model.setting import AuditResult, Read

_MODELS = 4
"""Hosts that others are held against: compute nodes, nodes with GPUs, servers."""
_ALL = ("host.rdma",)
"""Names that decide what there is to judge."""
_RELEASE = ("host.kernel", "host.os", "host.os_version")

_Frames = Mapping[Any, FactFrame]
Slot = tuple[ParsedSetting, Instance | None]
"""What a result is of; no instance: of none, or of all."""
_Needed = tuple[frozenset[str], frozenset[Place]]
"""Names and places."""


class _Model:
    """A host that was judged, with a slot for each result."""

    def __init__(
        self,
        machine: Machine,
        slots: Sequence[Slot],
        results: Sequence[AuditResult],
        needs: _Needs,
    ) -> None:
        self.machine, self.slots, self.results = machine, slots, results
        self._of_names: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
        self._read: defaultdict[Place, set[int]] = defaultdict(set)
        self._of_places: dict[Place, frozenset[int]] = {}
        for number, (entry, instance) in enumerate(slots):
            if instance is None:
                continue
            names, places = needs.of(entry, instance)
            for name in names:
                self._of_names["", name].add(number)
                self._of_names[instance.label, name].add(number)
            for place in places:
                self._read[place].add(number)

    def again(self, places: Iterable[Place], names: Iterable[tuple[str, str]]) -> set[int]:
        """The results that depend on one of these; each name with its instance's label, "" for
        names of the host.
        """
        found = set[int]()
        for place in places:
            if place not in self._of_places:
                fitting = (self._read[read] for read in self._read if _is_of(read, place))
                self._of_places[place] = frozenset().union(*fitting)
            found |= self._of_places[place]
        return found.union(*(self._of_names.get(name, ()) for name in names))


class LikeHosts:
    """The hosts so far that others are held against, that which fitted last first."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._needs = _Needs(catalogue)
        self._models: list[_Model] = []

    def of(self, machine: Machine) -> tuple[_Model, set[int]] | None:
        """A host like this, and the numbers of the results that are to be judged again."""
        for model in self._models:
            places = _differing(machine.facts, model.machine.facts)
            names = None if places is None else _other_names(machine, model.machine)
            if places is not None and names is not None:
                self._models.remove(model)
                self._models.insert(0, model)
                return model, model.again(places, names)
        return None

    def add(self, machine: Machine, slots: Sequence[Slot], results: Sequence[AuditResult]) -> None:
        model = _Model(machine, slots, results, self._needs)
        self._models = [model, *self._models[: _MODELS - 1]]


class _Needs:
    """What each entry's answer on an instance depends on, by names and places."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._entries = catalogue.entries
        self._known: dict[tuple[str, str], _Needed] = {}

    def of(self, entry: ParsedSetting, instance: Instance) -> _Needed:
        key = (entry.setting.id, instance.label)
        if key not in self._known:
            self._known[key] = self._found(entry, instance)
        return self._known[key]

    def _found(self, entry: ParsedSetting, instance: Instance) -> _Needed:
        dated = entry.setting.since or entry.setting.until
        names, places = set(_RELEASE if dated else ()), set[Place]()
        waiting, seen = [entry], {entry.setting.id}
        while waiting:
            one = waiting.pop()
            for name in one.names:
                kind, _, rest = name.partition(":")
                if kind == "exists":
                    places.add(rest)
                elif kind != "setting":
                    names.add(name)
                elif rest in self._entries and rest not in seen:
                    seen.add(rest)
                    waiting.append(self._entries[rest])
            whole = one is not entry and one.setting.scope == "host"
            for read in one.setting.reads:
                places.update(_places(one, read, WHOLE if whole else instance))
        return frozenset(names), frozenset(places)


def _places(entry: ParsedSetting, read: Read, instance: Instance) -> Iterator[Place]:
    """Where a read of an entry looks; that of another file's pattern in the file alike."""
    if read.file == BIOS:
        yield from (BIOS, PENDING, REGISTRY, CERTIFICATE)
    elif read.command:
        yield argv_of(read, instance)
    elif entry.setting.scope == "each" and instance.places:
        yield alike(read.file, instance.label)
    else:
        yield path_of(read, instance)
        if read.file.startswith("/proc/self/"):
            yield WHOSE


def _is_of(read: Place, place: Place) -> bool:
    if read == place:
        return True
    pattern = isinstance(read, str) and "*" in read
    return pattern and isinstance(place, str) and matches_any((str(read),), place)


def _differing(one: HostFacts, other: HostFacts) -> list[Place] | None:
    """Places with another text; None where more differs than texts."""
    if (one.listed, one.hidden, one.unkept) != (other.listed, other.hidden, other.unkept):
        return None
    found: list[Place] = []
    for name in ("files", "globs", "derived", "commands"):
        mine: _Frames = getattr(one, name)
        theirs: _Frames = getattr(other, name)
        if mine.keys() != theirs.keys():
            return None
        for place, frame in mine.items():
            like = theirs[place]
            if frame is like or frame == like:
                continue
            if frame.status != like.status or name == "globs":  # other things are there to judge
                return None
            found.append(place)
    return found


def _other_names(one: Machine, other: Machine) -> list[tuple[str, str]] | None:
    """Names with another value; None where there are other interfaces or ports."""
    if len(one.nics) != len(other.nics) or len(one.rdma) != len(other.rdma):
        return None
    found = [("", name) for name in _unequal(one.names, other.names)]
    if any(name in _ALL for _, name in found):
        return None
    for mine, theirs in zip((*one.nics, *one.rdma), (*other.nics, *other.rdma), strict=True):
        if (mine.label, mine.places) != (theirs.label, theirs.places):
            return None
        found += [(mine.label, name) for name in _unequal(mine.names, theirs.names)]
    return found


def _unequal(mine: Mapping[str, object], theirs: Mapping[str, object]) -> list[str]:
    if mine == theirs:
        return []
    return [name for name in mine.keys() | theirs.keys() if mine.get(name) != theirs.get(name)]
