"""What of the BMC's documents is kept: attributes and their registry, as canonical JSON texts.

Kept is what is on a list, never what could be a secret: passwords, keys and hashes stay where
they are, and so does every text that holds the password of the BMC itself.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from wireproof.bmc.bios import Bios
from wireproof.model.bmc import Secret
from wireproof.model.secrets import masked

__all__ = ["texts_of"]

_MOST = 10_000
_LONGEST = 1000
_SECRET = re.compile(r"hash|salt|private|pin\b|key$")
"""Beside what looks like a secret anywhere."""
_ENTRY = ("AttributeName", "DisplayName", "Type", "ReadOnly", "IsSystemUniqueProperty")
_TYPES = (str, int, float, bool)


def texts_of(bios: Bios, password: Secret) -> dict[str, str]:
    """Texts by the place that facts give them: ``bios`` the attributes that count now,
    ``bios/pending`` those after the next reboot, ``bios/registry`` names and values of each.
    """
    entries = _entries(bios.registry, password)
    hidden = {str(one["AttributeName"]) for one in entries if one.get("Type") == "Password"}
    now = {
        "maker": _plain(bios.system.get("Manufacturer"), password),
        "model": _plain(bios.system.get("Model"), password),
        "version": _plain(bios.system.get("BiosVersion"), password),
        "attributes": _attributes(bios.bios, hidden, password),
    }
    found = {"bios": _json(now)}
    if bios.settings:
        found["bios/pending"] = _json({"attributes": _attributes(bios.settings, hidden, password)})
    if entries:
        found["bios/registry"] = _json({"attributes": entries})
    return found


def _is_open(part: dict[str, Any]) -> bool:
    """Nothing in it looks like a secret: what is masked later is no JSON any more."""
    text = _json(part)
    return masked(text) == text


def _json(document: Any) -> str:
    return msgspec.json.encode(document, order="deterministic").decode()


def _plain(value: Any, password: Secret) -> Any:
    """A number, or a short text without the password; else None."""
    if not isinstance(value, str):
        return value if isinstance(value, _TYPES) else None
    if len(value) > _LONGEST or password.is_in(value):
        return None
    return value.encode("utf-8", "replace").decode()


def _attributes(document: dict[str, Any], hidden: set[str], password: Secret) -> dict[str, Any]:
    found = document.get("Attributes")
    if not isinstance(found, dict):
        return {}
    kept: dict[str, Any] = {}
    for name, value in list(found.items())[:_MOST]:
        plain = _plain(value, password)
        secret = name in hidden or _SECRET.search(name.casefold()) or _plain(name, password) is None
        if plain is not None and not secret and _is_open({name: plain}):
            kept[name] = plain
    return kept


def _entries(registry: dict[str, Any], password: Secret) -> list[dict[str, Any]]:
    entries = registry.get("RegistryEntries")
    listed = entries.get("Attributes") if isinstance(entries, dict) else None
    found = []
    for raw in listed[:_MOST] if isinstance(listed, list) else ():
        if not isinstance(raw, dict) or not isinstance(raw.get("AttributeName"), str):
            continue
        entry = {key: _plain(raw.get(key), password) for key in _ENTRY}
        values = raw.get("Value")
        entry["Value"] = [
            [_plain(one.get("ValueName"), password), _plain(one.get("ValueDisplayName"), password)]
            for one in (values[:256] if isinstance(values, list) else ())
            if isinstance(one, dict)
        ]
        entry = {key: value for key, value in entry.items() if value not in (None, [])}
        if "AttributeName" in entry and _is_open(entry):
            found.append(entry)
    return found
