"""The firmware's attributes as a management controller gave them, found by their names for people.
Pure. The texts are hostile: what is not as expected is left out.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from wireproof.model.bmc import Raw

BIOS, PENDING, REGISTRY, CERTIFICATE = "bios", "bios/pending", "bios/registry", "bios/certificate"
"""Places of the facts."""

_MARKS = re.compile(r"\((?:r|tm|c)\)|[®™©]", re.IGNORECASE)
_UNIQUE = re.compile(
    r"(?i)serial|asset|service_?tag|uuid|mac_?addr|host_?name|ip_?v?[46]?_?addr|date|time"
)
ALL = "*"
"""As a setting's name: all attributes together, by their digest."""
_ON = {"enabled", "enable", "on", "true", "yes"}
_OFF = {"disabled", "disable", "off", "false", "no"}


@dataclass(frozen=True)
class Attribute:
    """``name``: the BMC's own; ``display``: as the set-up menu has it. ``now`` as the BMC writes
    it, ``later`` after the next reboot. ``value`` for conditions: the text of the menu, every word
    for on and off as Enabled and Disabled. ``values``: those that it may have, as they are written
    and as the menu has them.
    """

    name: str
    display: str
    value: str
    now: Raw
    later: Raw
    read_only: bool = False
    values: tuple[tuple[str, str], ...] = ()

    def shown(self, value: Raw) -> str:
        """The menu's text of a value."""
        return _menu(written(value), self.values)


@dataclass(frozen=True)
class _RegistryEntry:
    """What the registry says of an attribute."""

    display: str
    read_only: bool = False
    values: tuple[tuple[str, str], ...] = ()
    unique: bool = False


@dataclass(frozen=True)
class _Registry:
    """``named``: the BMC's names by the plain form of those for people; ``unique``: those whose
    values are of one machine alone.
    """

    entries: dict[str, _RegistryEntry] = field(default_factory=dict)
    named: dict[str, tuple[str, ...]] = field(default_factory=dict)
    unique: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Firmware:
    """``maker``: intel, dell, hpe, lenovo, supermicro, or "". ``now`` and ``later``: values by the
    BMC's own names.
    """

    maker: str
    now: dict[str, Raw]
    later: dict[str, Any]
    registry: _Registry

    @property
    def listed(self) -> bool:
        """The names for people come from the BMC's registry."""
        return bool(self.registry.entries)

    def called(self, names: Mapping[str, Sequence[str]]) -> list[Attribute]:
        """Attributes with one of ``names`` (maker to names; ``any``: of every maker). The maker's
        own names count where it is known and has some.
        """
        own = [*names.get(self.maker, ()), *names.get("any", ())]
        wanted = own if names.get(self.maker) else [one for each in names.values() for one in each]
        plain = dict.fromkeys(filter(None, map(plain_name, wanted)))
        found = dict.fromkeys(
            name for key in plain for name in self.registry.named.get(key, ()) if name in self.now
        )
        found |= dict.fromkeys(name for name in self._unlisted if plain_name(name) in plain)
        return [self._attribute(name) for name in found]

    @functools.cached_property
    def _unlisted(self) -> list[str]:
        """What the registry does not know goes by the BMC's own names."""
        return sorted(self.now.keys() - self.registry.entries.keys())

    @functools.cached_property
    def common(self) -> dict[str, Raw]:
        """What like hosts have alike: all but serial numbers, names, addresses."""
        unique = self.registry.unique
        return {
            name: value
            for name, value in self.now.items()
            if name not in unique and not _is_unique(name)
        }

    def digest(self) -> str:
        """A short name for `common`."""
        data = msgspec.json.encode(self.common, order="deterministic")
        return hashlib.sha256(data).hexdigest()[:12]

    def differs_from(self, other: Firmware) -> list[str]:
        """``Turbo Mode: Disabled, not Enabled`` for each value of `common` that is another."""
        mine, theirs = self.common, other.common
        return [
            f"{self._display(name)}: {_said(mine.get(name))}, not {_said(theirs.get(name))}"
            for name in sorted(mine.keys() | theirs.keys())
            if mine.get(name) != theirs.get(name)
        ]

    def _display(self, name: str) -> str:
        return self.registry.entries.get(name, _RegistryEntry(name)).display

    def _attribute(self, name: str) -> Attribute:
        entry = self.registry.entries.get(name, _RegistryEntry(name))
        now, after = self.now[name], self.later.get(name)
        return Attribute(
            name=name,
            display=entry.display,
            value=word(_menu(written(now), entry.values)),
            now=now,
            later=after if isinstance(after, (str, int, float)) else now,
            read_only=entry.read_only,
            values=entry.values,
        )


@functools.lru_cache(maxsize=8192)
def _is_unique(name: str) -> bool:
    return _UNIQUE.search(name) is not None


@functools.lru_cache(maxsize=8192)
def plain_name(text: str) -> str:
    """A name without case, blanks, punctuation and trade marks; "" when nothing is left."""
    return re.sub(r"[^a-z0-9]", "", _MARKS.sub("", text).casefold())


@functools.lru_cache(maxsize=64)
def firmware_of(bios: str, pending: str, registry: str) -> Firmware | None:
    """Of the texts of the three facts, "" for one that is not there; None when the first is no
    list of attributes.
    """
    found = _object(bios)
    values = found.get("attributes")
    if not isinstance(values, dict):
        return None
    later = _object(pending).get("attributes")
    return Firmware(
        _maker(found.get("maker")),
        {name: value for name, value in values.items() if isinstance(value, (str, int, float))},
        later if isinstance(later, dict) else {},
        _registry(registry),
    )


def _object(text: str) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(text) if text else {}
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        found = {}
    return found if isinstance(found, dict) else {}


@functools.lru_cache(maxsize=16)
def _registry(text: str) -> _Registry:
    """Like hosts share theirs."""
    listed = _object(text).get("attributes")
    entries: dict[str, _RegistryEntry] = {}
    named: dict[str, list[str]] = {}
    for one in listed if isinstance(listed, list) else ():
        name = one.get("AttributeName") if isinstance(one, dict) else None
        if isinstance(name, str) and name not in entries:
            entries[name] = _entry(name, one)
            named.setdefault(plain_name(entries[name].display), []).append(name)
    named.pop("", None)
    unique = frozenset(name for name, entry in entries.items() if entry.unique)
    return _Registry(entries, {key: tuple(names) for key, names in named.items()}, unique)


def _entry(name: str, one: Mapping[str, Any]) -> _RegistryEntry:
    display = one.get("DisplayName")
    return _RegistryEntry(
        display=display if isinstance(display, str) and plain_name(display) else name,
        read_only=one.get("ReadOnly") is True,
        values=_values(one.get("Value")),
        unique=one.get("IsSystemUniqueProperty") is True,
    )


def _said(value: Raw | None) -> str:
    return "none" if value is None else written(value)


def written(value: Raw) -> str:
    """As text, as JSON has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _values(listed: Any) -> tuple[tuple[str, str], ...]:
    pairs = [one for one in listed if isinstance(one, list)] if isinstance(listed, list) else []
    return tuple(
        (one[0], one[1] if len(one) > 1 and isinstance(one[1], str) else one[0])
        for one in pairs
        if one and isinstance(one[0], str)
    )


def _menu(raw: str, values: Sequence[tuple[str, str]]) -> str:
    return next((display for name, display in values if name == raw), raw)


def word(text: str) -> str:
    """The text of a menu; Enabled and Disabled for every word for on and off: makers write them
    in many ways.
    """
    plain = text.strip().casefold()
    return "Enabled" if plain in _ON else "Disabled" if plain in _OFF else text.strip()


MAKERS = {
    "intel": ("intel",),
    "dell": ("dell",),
    "hpe": ("hpe", "hp", "hewlett"),
    "lenovo": ("lenovo", "ibm"),
    "supermicro": ("supermicro", "super micro"),
}


def _maker(text: Any) -> str:
    words = text.casefold() if isinstance(text, str) else ""
    return next(
        (
            maker
            for maker, signs in MAKERS.items()
            if any(re.search(rf"\b{sign}\b", words) for sign in signs)
        ),
        "",
    )
