"""The firmware's attributes as a management controller gave them, found by their names for people.
Pure. The texts are hostile: what is not as expected is left out.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from wireproof.model.firmware import Raw

__all__ = [
    "BIOS",
    "CERTIFICATE",
    "MAKERS",
    "PENDING",
    "REGISTRY",
    "Attribute",
    "Firmware",
    "firmware_of",
    "plain_name",
    "word",
    "written",
]

BIOS, PENDING, REGISTRY, CERTIFICATE = "bios", "bios/pending", "bios/registry", "bios/certificate"
"""Places of the facts."""

_MARKS = re.compile(r"\((?:r|tm|c)\)|[®™©]", re.IGNORECASE)
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
    kind: str = ""
    values: tuple[tuple[str, str], ...] = ()

    def shown(self, value: Raw) -> str:
        """The menu's text of a value."""
        return _menu(written(value), self.values)


@dataclass(frozen=True)
class Firmware:
    """``maker``: intel, dell, hpe, lenovo, supermicro, or "". ``listed``: the names for people come
    from the BMC's registry.
    """

    maker: str = ""
    attributes: tuple[Attribute, ...] = ()
    listed: bool = False
    by_name: dict[str, tuple[Attribute, ...]] = field(default_factory=dict)

    def called(self, names: Mapping[str, Sequence[str]]) -> list[Attribute]:
        """Attributes with one of ``names`` (maker to names; ``any``: of every maker). The maker's
        own names count where it is known and has some.
        """
        own = [*names.get(self.maker, ()), *names.get("any", ())]
        wanted = own if names.get(self.maker) else [one for each in names.values() for one in each]
        found = {
            attribute.name: attribute
            for name in wanted
            for attribute in self.by_name.get(plain_name(name), ())
        }
        return list(found.values())


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
    entries = _registry(registry)
    attributes = tuple(
        _attribute(name, value, later if isinstance(later, dict) else {}, entries.get(name, {}))
        for name, value in values.items()
        if isinstance(value, (str, int, float))
    )
    by_name: dict[str, list[Attribute]] = {}
    for one in attributes:
        if key := plain_name(one.display):
            by_name.setdefault(key, []).append(one)
    known = {key: tuple(some) for key, some in by_name.items()}
    return Firmware(_maker(found.get("maker")), attributes, bool(entries), known)


def _object(text: str) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(text) if text else {}
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        found = {}
    return found if isinstance(found, dict) else {}


@functools.lru_cache(maxsize=16)
def _registry(text: str) -> dict[str, dict[str, Any]]:
    entries = _object(text).get("attributes")
    return {
        one["AttributeName"]: one
        for one in (entries if isinstance(entries, list) else ())
        if isinstance(one, dict) and isinstance(one.get("AttributeName"), str)
    }


def _attribute(
    name: str, value: str | float, later: Mapping[str, Any], entry: Mapping[str, Any]
) -> Attribute:
    display = entry.get("DisplayName")
    values = _values(entry.get("Value"))
    after = later.get(name)
    return Attribute(
        name=name,
        display=display if isinstance(display, str) and plain_name(display) else name,
        value=word(_menu(written(value), values)),
        now=value,
        later=after if isinstance(after, (str, int, float)) else value,
        read_only=entry.get("ReadOnly") is True,
        kind=str(entry.get("Type", "")),
        values=values,
    )


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
