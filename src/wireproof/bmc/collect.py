"""Collect facts about the firmware of many hosts, each from its own BMC."""

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec

from wireproof.bmc.bios import Bios, find_bios
from wireproof.bmc.session import BmcSession
from wireproof.bmc.talk import BmcFailed, BmcLimits
from wireproof.model.bmc import Bmc, Secret
from wireproof.model.record import FactFrame
from wireproof.model.secrets import masked

# --- The parts of the BMC's documents to keep: attributes and their registry, as canonical JSON.
#
# Only listed fields are kept, and nothing that may be a secret: passwords, keys and hashes are left
# out, and so is every text that contains the password of the BMC.

_MOST = 10_000
_LONGEST = 1000
_SECRET = re.compile(r"hash|salt|private|pin\b|key$")
"""In addition to what looks like a secret anywhere."""
_ENTRY = ("AttributeName", "DisplayName", "Type", "ReadOnly", "IsSystemUniqueProperty")
_TYPES = (str, int, float, bool)


def texts_of(bios: Bios, password: Secret) -> dict[str, str]:
    """Return texts by the place of their fact: ``bios`` (current attributes), ``bios/pending``
    (attributes after the next reboot), ``bios/registry`` (names and allowed values).
    """
    entries = _entries(bios.registry, password)
    hidden = {str(entry["AttributeName"]) for entry in entries if entry.get("Type") == "Password"}
    now = {
        "maker": _plain(bios.system.get("Manufacturer"), password),
        "model": _plain(bios.system.get("Model"), password),
        "version": _plain(bios.system.get("BiosVersion"), password),
        "attributes": _attributes(bios.bios, hidden, password),
    }
    texts = {"bios": _json(now)}
    if bios.settings:
        texts["bios/pending"] = _json({"attributes": _attributes(bios.settings, hidden, password)})
    if entries:
        texts["bios/registry"] = _json({"attributes": entries})
    return texts


def _is_open(part: dict[str, Any]) -> bool:
    """Return whether nothing in the document looks like a secret: masking it later would break the
    JSON.
    """
    text = _json(part)
    return masked(text) == text


def _json(document: Any) -> str:
    return msgspec.json.encode(document, order="deterministic").decode()


def _plain(value: Any, password: Secret) -> Any:
    """Return a number, or a short text without the password; else None."""
    if not isinstance(value, str):
        return value if isinstance(value, _TYPES) else None
    if len(value) > _LONGEST or password.is_in(value):
        return None
    return value.encode("utf-8", "replace").decode()


def _attributes(document: dict[str, Any], hidden: set[str], password: Secret) -> dict[str, Any]:
    attributes = document.get("Attributes")
    if not isinstance(attributes, dict):
        return {}
    kept: dict[str, Any] = {}
    for name, value in list(attributes.items())[:_MOST]:
        plain = _plain(value, password)
        secret = name in hidden or _SECRET.search(name.casefold()) or _plain(name, password) is None
        if plain is not None and not secret and _is_open({name: plain}):
            kept[name] = plain
    return kept


def _entries(registry: dict[str, Any], password: Secret) -> list[dict[str, Any]]:
    entries = registry.get("RegistryEntries")
    listed = entries.get("Attributes") if isinstance(entries, dict) else None
    kept = []
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
            kept.append(entry)
    return kept


_FANOUT = 32


def collect_firmware(
    bmcs: Sequence[Bmc], limits: BmcLimits | None = None
) -> dict[str, list[FactFrame]]:
    """Return facts by host. A BMC that fails yields a single fact with the reason."""
    with ThreadPoolExecutor(min(_FANOUT, max(1, len(bmcs)))) as pool:
        answers = pool.map(lambda bmc: _facts(bmc, limits), bmcs)
        return {bmc.host: facts for bmc, facts in zip(bmcs, answers, strict=True)}


def _facts(bmc: Bmc, limits: BmcLimits | None) -> list[FactFrame]:
    try:
        with BmcSession(bmc, limits) as session:
            texts = texts_of(find_bios(session), bmc.password)
    except BmcFailed as error:
        reason = f"could not be read: {error}"
        return [FactFrame(rank=0, kind="file", status="failed", path="bios", reason=reason)]
    facts = [
        FactFrame(rank=0, kind="file", status="ok", path=path, text=text)
        for path, text in texts.items()
    ]
    if bmc.insecure:
        note = "not checked (--bmc-insecure)"
        facts.append(
            FactFrame(rank=0, kind="file", status="ok", path="bios/certificate", text=note)
        )
    return facts
