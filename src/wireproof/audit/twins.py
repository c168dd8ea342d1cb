"""Hosts that differ from one before in few places: what does not depend on these is the same. Pure.

Most hosts of a cluster are like another in all but their addresses and counters. Each answer's
places and names are known (`audit.signature`), so that only those that differ are judged again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wireproof.audit.catalogue import ParsedSetting
from wireproof.audit.facts import HostFacts, Place, matches_any
from wireproof.audit.machine import Instance, Machine
from wireproof.audit.signature import Signatures
from wireproof.model.record import FactFrame
from wireproof.model.setting import AuditResult

__all__ = ["Slot", "Twins"]

_MODELS = 4
"""Hosts that others are held against: compute nodes, nodes with GPUs, servers."""
_MOST_PLACES = 64
_ALL = ("host.rdma",)
"""Names that decide what there is to judge."""

_Frames = Mapping[Any, FactFrame]
Slot = tuple[ParsedSetting, Instance | None]
"""What a result is of; no instance: of none, or of all."""


@dataclass(frozen=True)
class _Model:
    """A host that was judged, with a slot for each result."""

    machine: Machine
    slots: Sequence[Slot]
    results: Sequence[AuditResult]
    _at: dict[object, frozenset[int]] = field(default_factory=dict)

    def at_places(self, places: Iterable[Place], signatures: Signatures) -> Iterator[int]:
        """The results that depend on one of the places."""
        for place in places:
            found = self._at.get(place)
            if found is None:
                found = self._at[place] = frozenset(
                    number
                    for number, (entry, instance) in enumerate(self.slots)
                    if instance is not None
                    and any(_is_of(one, place) for one in signatures.places(entry, instance))
                )
            yield from found

    def at_names(self, names: Iterable[tuple[str, str]], signatures: Signatures) -> Iterator[int]:
        """The results that depend on one of the names; each with its instance's label, "" for names
        of the host.
        """
        for key in names:
            label, name = key
            found = self._at.get(key)
            if found is None:
                found = self._at[key] = frozenset(
                    number
                    for number, (entry, instance) in enumerate(self.slots)
                    if instance is not None
                    and (not label or instance.label == label)
                    and name in signatures.names(entry, instance)
                )
            yield from found


class Twins:
    """The models so far, that which fitted last first."""

    def __init__(self, signatures: Signatures) -> None:
        self.signatures = signatures
        self._models: list[_Model] = []

    def of(self, machine: Machine) -> tuple[_Model, set[int]] | None:
        """A host like this, and the numbers of the results that are to be judged again."""
        for model in self._models:
            places = _differing(machine.facts, model.machine.facts)
            names = None if places is None else _other_names(machine, model.machine)
            if places is not None and names is not None:
                self._models.remove(model)
                self._models.insert(0, model)
                again = set(model.at_places(places, self.signatures))
                return model, again.union(model.at_names(names, self.signatures))
        return None

    def add(self, machine: Machine, slots: Sequence[Slot], results: Sequence[AuditResult]) -> None:
        self._models = [_Model(machine, slots, results), *self._models[: _MODELS - 1]]


def _is_of(read: Place, place: Place) -> bool:
    if read == place:
        return True
    pattern = isinstance(read, str) and "*" in read
    return pattern and isinstance(place, str) and matches_any((str(read),), place)


def _differing(one: HostFacts, other: HostFacts) -> list[Place] | None:
    """Places with another text; None where more differs than texts, or many do."""
    if (one.listed, one.hidden, one.unkept) != (other.listed, other.hidden, other.unkept):
        return None
    found: list[Place] = []
    for mine, theirs in (
        (one.files, other.files),
        (one.globs, other.globs),
        (one.derived, other.derived),
    ):
        if not _held(mine, theirs, found):
            return None
    return found if _held(one.commands, other.commands, found) else None


def _held(mine: _Frames, theirs: _Frames, found: list[Place]) -> bool:
    """Adds the places that differ to ``found``; False where more differs than a few texts."""
    if len(mine) != len(theirs) or list(mine) != list(theirs):
        return False
    for (place, frame), like in zip(mine.items(), theirs.values(), strict=True):
        if frame is like or _content(frame) == _content(like):
            continue
        if frame.status != like.status or len(found) >= _MOST_PLACES or _is_special(place):
            return False
        found.append(place)
    return True


def _content(frame: FactFrame) -> tuple[object, ...]:
    return frame.status, frame.exit_status, frame.text, frame.reason, frame.truncated


def _is_special(place: Place) -> bool:
    """What the firmware says decides over many settings by itself; a list over what there is."""
    return isinstance(place, str) and (place.startswith("bios") or "*" in place)


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
