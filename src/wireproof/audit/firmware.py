# pure
"""Look up firmware attributes, as a management controller lists them, by their display names. Pure.
The texts are hostile: unexpected content is left out.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from wireproof.model import gathered
from wireproof.model.tuning import Raw

BIOS, PENDING, REGISTRY, CERTIFICATE = "bios", "bios/pending", "bios/registry", "bios/certificate"
"""Places of the facts."""

_MARKS = re.compile(r"\((?:r|tm|c)\)|[®™©]", re.IGNORECASE)
_UNIQUE = re.compile(
    r"(?i)serial|asset|service_?tag|uuid|mac_?addr|host_?name|ip_?v?[46]?_?addr|date|time"
)
ALL = "*"
"""As the name of a setting: all attributes together, compared by a digest."""
_ON = {"enabled", "enable", "on", "true", "yes"}
_OFF = {"disabled", "disable", "off", "false", "no"}


@dataclass(frozen=True)
class Attribute:
    """``name``: the BMC's name. ``display``: the name in the set-up menu. ``now``: the value as the
    BMC writes it; ``later``: the value after the next reboot. ``value``: for conditions, the menu
    text, with every word for on and off replaced by Enabled or Disabled. ``values``: allowed
    values, as written and as in the menu.
    """

    name: str
    display: str
    value: str
    now: Raw
    later: Raw
    read_only: bool = False
    values: tuple[tuple[str, str], ...] = ()

    def shown(self, value: Raw) -> str:
        """Return the menu text of a value."""
        return _menu(written(value), self.values)


@dataclass(frozen=True)
class _RegistryEntry:
    """The registry's entry for an attribute."""

    display: str
    read_only: bool = False
    values: tuple[tuple[str, str], ...] = ()
    unique: bool = False


@dataclass(frozen=True)
class Firmware:
    """``maker``: intel, dell, hpe, lenovo, supermicro, or "". ``now`` and ``later``: values by the
    BMC's names. ``entries``: the registry. ``named``: its names by normalized display name.
    """

    maker: str
    now: dict[str, Raw]
    later: dict[str, Any]
    entries: dict[str, _RegistryEntry]
    named: dict[str, list[str]]

    @property
    def listed(self) -> bool:
        """Whether the BMC's registry provides display names."""
        return bool(self.entries)

    def called(self, names: Mapping[str, Sequence[str]]) -> list[Attribute]:
        """Return the attributes with any of ``names`` (maker to names; ``any``: of every maker). If
        the maker is known and has names, only those and the names of ``any`` are used.
        """
        of_maker = [*names.get(self.maker, ()), *names.get("any", ())]
        wanted = (
            of_maker
            if names.get(self.maker)
            else [text for listed in names.values() for text in listed]
        )
        plain = dict.fromkeys(filter(None, map(plain_name, wanted)))
        matching = dict.fromkeys(
            name for key in plain for name in self.named.get(key, ()) if name in self.now
        )
        matching |= dict.fromkeys(name for name in self._unlisted if plain_name(name) in plain)
        return [self._attribute(name) for name in matching]

    @functools.cached_property
    def _unlisted(self) -> list[str]:
        """Attributes unknown to the registry, which are found by the BMC's names."""
        return sorted(self.now.keys() - self.entries.keys())

    @functools.cached_property
    def common(self) -> dict[str, Raw]:
        """The values that similar hosts share: all except serial numbers, names and addresses."""
        return {
            name: value
            for name, value in self.now.items()
            if not (self._entry(name).unique or _is_unique(name))
        }

    def digest(self) -> str:
        """Return a short hash of `common`."""
        data = msgspec.json.encode(self.common, order="deterministic")
        return hashlib.sha256(data).hexdigest()[:12]

    def differs_from(self, other: Firmware) -> list[str]:
        """Return ``Turbo Mode: Disabled, not Enabled`` for each value of `common` that differs."""
        mine, theirs = self.common, other.common
        return [
            f"{self._entry(name).display}:"
            f" {_written(mine.get(name))}, not {_written(theirs.get(name))}"
            for name in sorted(mine.keys() | theirs.keys())
            if mine.get(name) != theirs.get(name)
        ]

    def _entry(self, name: str) -> _RegistryEntry:
        return self.entries.get(name) or _RegistryEntry(name)

    def _attribute(self, name: str) -> Attribute:
        entry = self._entry(name)
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
    """Return a name without case, spaces, punctuation and trade marks; "" if nothing is left."""
    return re.sub(r"[^a-z0-9]", "", _MARKS.sub("", text).casefold())


@functools.lru_cache(maxsize=64)
def firmware_of(bios: str, pending: str, registry: str) -> Firmware | None:
    """Parse the texts of the three facts ("" if absent). Return None if the first is not a list of
    attributes.
    """
    document = _object(bios)
    values = document.get("attributes")
    if not isinstance(values, dict):
        return None
    later = _object(pending).get("attributes")
    return Firmware(
        _maker(document.get("maker")),
        {name: value for name, value in values.items() if isinstance(value, (str, int, float))},
        later if isinstance(later, dict) else {},
        *_registry(registry),
    )


def _object(text: str) -> dict[str, Any]:
    try:
        document = msgspec.json.decode(text) if text else {}
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        document = {}
    return document if isinstance(document, dict) else {}


@functools.lru_cache(maxsize=16)
def _registry(text: str) -> tuple[dict[str, _RegistryEntry], dict[str, list[str]]]:
    """Return the entries of a registry, and their names by normalized display name; cached because
    similar hosts share it.
    """
    listed = _object(text).get("attributes")
    entries: dict[str, _RegistryEntry] = {}
    for row in listed if isinstance(listed, list) else ():
        name = row.get("AttributeName") if isinstance(row, dict) else None
        if isinstance(name, str) and name not in entries:
            entries[name] = _entry(name, row)
    return entries, gathered((plain_name(entry.display), name) for name, entry in entries.items())


def _entry(name: str, row: Mapping[str, Any]) -> _RegistryEntry:
    display = row.get("DisplayName")
    return _RegistryEntry(
        display=display if isinstance(display, str) and plain_name(display) else name,
        read_only=row.get("ReadOnly") is True,
        values=_values(row.get("Value")),
        unique=row.get("IsSystemUniqueProperty") is True,
    )


def _written(value: Raw | None) -> str:
    return "none" if value is None else written(value)


def written(value: Raw) -> str:
    """Return the value as text, in JSON notation."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _values(listed: Any) -> tuple[tuple[str, str], ...]:
    pairs = [pair for pair in listed if isinstance(pair, list)] if isinstance(listed, list) else []
    return tuple(
        (pair[0], pair[1] if len(pair) > 1 and isinstance(pair[1], str) else pair[0])
        for pair in pairs
        if pair and isinstance(pair[0], str)
    )


def _menu(raw: str, values: Sequence[tuple[str, str]]) -> str:
    return next((display for name, display in values if name == raw), raw)


def word(text: str) -> str:
    """Return a menu text, with every word for on and off replaced by Enabled or Disabled: makers
    use many words.
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
