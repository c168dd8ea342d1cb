"""Find the BIOS of a system with Redfish: its attributes, pending values, and their registry."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from wireproof.bmc.session import ROOT, BmcSession
from wireproof.bmc.talk import BmcFailed, BmcLimits, Response, link_of
from wireproof.files.held import open_until_end, own_folder
from wireproof.files.hostile import read_bounded, replace_file
from wireproof.model.errors import BadInput, CouldNotMeasure, decode_json, reading
from wireproof.model.record import FactFrame
from wireproof.model.secrets import masked
from wireproof.model.tuning import Bmc, FirmwareSet, Raw, Secret

_MOST_PAGES = 8
_MOST_MEMBERS = 256
_MOST_REGISTRIES = 4
_MARK = "attributeregistry"


@dataclass(frozen=True)
class Bios:
    """The documents from the BMC. ``settings``: the values after the next reboot, with their path
    and version; {} and "" if the BMC has none. ``registry``: {} if there is none.
    """

    system: dict[str, Any]
    bios: dict[str, Any]
    settings_path: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    settings_tag: str = ""
    registry: dict[str, Any] = field(default_factory=dict)

    @property
    def apply_times(self) -> list[str]:
        """The times at which the BMC can apply pending settings; [] if it does not report them."""
        for document in (self.bios.get("@Redfish.Settings"), self.settings):
            for key in ("SupportedApplyTimes", "@Redfish.SettingsApplyTime"):
                times = document.get(key) if isinstance(document, dict) else None
                if isinstance(times, dict):
                    times = times.get("ApplyTime@Redfish.AllowableValues")
                if isinstance(times, list):
                    return [time for time in times if isinstance(time, str)]
        return []


def find_bios(session: BmcSession, *, registry: bool = True) -> Bios:
    """Return the BIOS of the BMC's system. Raise ``BmcFailed`` if there is no system, or if there
    are several and none is chosen.
    """
    system, bios = _system(session)
    path = link_of(bios, "@Redfish.Settings", "SettingsObject")
    answer = session.maybe(path) if path else None
    entries = _registry(session, bios) if registry else {}
    return Bios(
        system,
        bios,
        path if answer else "",
        answer.document if answer else {},
        _tag(answer) if answer else "",
        entries,
    )


def _tag(answer: Response) -> str:
    tag = answer.headers.get("etag") or answer.document.get("@odata.etag") or ""
    return tag if isinstance(tag, str) and tag.isascii() and tag.isprintable() else ""


def _system(session: BmcSession) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return (system, its BIOS)."""
    start = link_of(session.root, "Systems") or f"{ROOT}Systems"
    wanted = session.bmc.system
    with_bios = []
    for link in _members(session, start):
        if wanted and link.rstrip("/").rpartition("/")[2] != wanted:
            continue
        system = session.get(link).document
        path = link_of(system, "Bios")
        if path:
            with_bios.append((link, system, path))
        if len(with_bios) > 1:
            names = " and ".join(link.rstrip("/").rpartition("/")[2] for link, _, _ in with_bios)
            raise session.talk.failed(f"has several systems ({names}, ...): give system = ...")
    if not with_bios:
        what = f"no system {wanted!r} with a BIOS" if wanted else "no system with a BIOS"
        raise session.talk.failed(f"shows {what}")
    _, system, path = with_bios[0]
    return system, session.get(path).document


def _members(session: BmcSession, path: str) -> Iterator[str]:
    """Yield the links of a collection, page by page, each once; nothing if the BMC does not have
    it.
    """
    seen: set[str] = set()
    pages: set[str] = set()
    while path and path not in pages:
        pages.add(path)
        if len(pages) > _MOST_PAGES:
            raise session.talk.failed(f"has a list of more than {_MOST_PAGES} pages")
        answer = session.maybe(path)
        document = answer.document if answer else {}
        members = document.get("Members")
        for member in members if isinstance(members, list) else ():
            link = link_of(member)
            if link and link not in seen:
                seen.add(link)
                if len(seen) > _MOST_MEMBERS:
                    raise session.talk.failed(f"has a list of more than {_MOST_MEMBERS} members")
                yield link
        path = link_of({"@odata.id": document.get("Members@odata.nextLink")})


def _registry(session: BmcSession, bios: dict[str, Any]) -> dict[str, Any]:
    """Return the attribute registry that the BIOS refers to, by the last part of its link, else the
    first that lists attributes; {} if there is none.
    """
    named = bios.get("AttributeRegistry")
    wanted = named.casefold() if isinstance(named, str) else ""
    start = link_of(session.root, "Registries") or f"{ROOT}Registries"
    links = list(_members(session, start))
    exact = [link for link in links if link.rstrip("/").rpartition("/")[2].casefold() == wanted]
    others = [link for link in links if _MARK in link.casefold() and link not in exact]
    others.sort(key=lambda link: "bios" not in link.casefold())
    for link in (exact + others)[:_MOST_REGISTRIES]:
        if document := _registry_of(session, link):
            return document
    return {}


def _registry_of(session: BmcSession, link: str) -> dict[str, Any]:
    file = session.maybe(link)
    locations = file.document.get("Location") if file else None
    places = (
        [location for location in locations if isinstance(location, dict)]
        if isinstance(locations, list)
        else []
    )
    places.sort(key=lambda location: not str(location.get("Language", "")).startswith("en"))
    for location in places[:1]:
        path = link_of({"@odata.id": location.get("Uri")})
        answer = session.maybe(path) if path else None
        entries = answer.document.get("RegistryEntries") if answer else None
        if answer and isinstance(entries, dict) and isinstance(entries.get("Attributes"), list):
            return answer.document
    return {}


# --- Set BIOS attributes that take effect after the next reboot. Never reboots.

_AT_RESET = "OnReset"


def now_and_pending(bios: Bios, attribute: str) -> tuple[Raw, Raw] | None:
    """Return (current value, value after the next reboot), or None if the attribute does
    not exist.
    """
    now = _plain(bios.bios, attribute)
    later = _plain(bios.settings, attribute)
    return None if now is None else (now, now if later is None else later)


def set_pending(session: BmcSession, bios: Bios, values: Mapping[str, Raw]) -> None:
    """Request ``values`` for the next reboot. Raise ``BmcFailed`` if the BMC refuses, has no
    pending settings, can only apply them immediately, or has changed them since ``bios`` was read.
    """
    if not bios.settings_path:
        raise session.talk.failed("shows no pending settings: its BIOS cannot be set by Redfish")
    body: dict[str, Any] = {"Attributes": dict(values)}
    if times := bios.apply_times:
        if _AT_RESET not in times:
            raise session.talk.failed("can only apply settings immediately: nothing was changed")
        if len(times) > 1:  # some BMCs do not know the property if there is no choice
            body["@Redfish.SettingsApplyTime"] = {"ApplyTime": _AT_RESET}
    session.patch(bios.settings_path, body, bios.settings_tag)


def _plain(document: Mapping[str, Any], attribute: str) -> Raw | None:
    attributes = document.get("Attributes")
    value = attributes.get(attribute) if isinstance(attributes, dict) else None
    return value if isinstance(value, (str, int, float, bool)) else None


# --- Collect facts about the firmware of many hosts, each from the host's BMC.

# --- The parts of the BMC's documents to keep: attributes and their registry, as canonical JSON.
#
# Only listed fields are kept, and nothing that may be a secret: passwords, keys and hashes are left
# out, and so is every text that contains the password of the BMC.

_MOST = 10_000
_LONGEST = 1000
_SECRET = re.compile(r"hash|salt|private|pin\b|key$")
"""Names of secrets, in addition to the general names."""
_ENTRY = ("AttributeName", "DisplayName", "Type", "ReadOnly", "IsSystemUniqueProperty")
_TYPES = (str, int, float, bool)


def texts_of(bios: Bios, password: Secret) -> dict[str, str]:
    """Return texts by the place of their fact: ``bios`` (current attributes), ``bios/pending``
    (attributes after the next reboot), ``bios/registry`` (names and allowed values).
    """
    entries = _entries(bios.registry, password)
    hidden = {str(entry["AttributeName"]) for entry in entries if entry.get("Type") == "Password"}
    now = {
        "maker": _printable(bios.system.get("Manufacturer"), password),
        "model": _printable(bios.system.get("Model"), password),
        "version": _printable(bios.system.get("BiosVersion"), password),
        "attributes": _attributes(bios.bios, hidden, password),
    }
    texts = {"bios": _json(now)}
    if bios.settings:
        texts["bios/pending"] = _json({"attributes": _attributes(bios.settings, hidden, password)})
    if entries:
        texts["bios/registry"] = _json({"attributes": entries})
    return texts


def _is_open(part: dict[str, Any]) -> bool:
    """Return whether the document contains nothing that looks like a secret, because masking it
    later would break the JSON.
    """
    text = _json(part)
    return masked(text) == text


def _json(document: Any) -> str:
    return msgspec.json.encode(document, order="deterministic").decode()


def _printable(value: Any, password: Secret) -> Any:
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
        plain = _printable(value, password)
        secret = (
            name in hidden or _SECRET.search(name.casefold()) or _printable(name, password) is None
        )
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
        entry = {key: _printable(raw.get(key), password) for key in _ENTRY}
        values = raw.get("Value")
        entry["Value"] = [
            [
                _printable(one.get("ValueName"), password),
                _printable(one.get("ValueDisplayName"), password),
            ]
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


# --- The journal of firmware changes: a file per change set and host, in a private folder. It is
# written to disk before any request to a BMC, and contains no password.

_LARGEST = 1 << 20
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?", re.ASCII)


def write_set(folder: Path, change: FirmwareSet, so_far: str) -> None:
    """Write the set to ``folder/ID/HOST.json``, atomically and flushed to disk. If this fails,
    raise ``CouldNotMeasure`` with ``so_far`` in its message; before a change, nothing may then be
    changed.
    """
    if not _ID.fullmatch(change.id) or not _HOST.fullmatch(change.host):
        raise BadInput(f"{change.id!r} of {change.host!r} cannot be the name of a journal.")
    try:
        place = own_folder(folder / change.id, below=folder)
        replace_file(place / f"{change.host}.json", msgspec.json.encode(change) + b"\n")
        for each in (place, folder, folder.parent):
            _on_disk(each)
    except OSError as error:
        raise CouldNotMeasure(
            f"the journal in {folder} cannot be written ({error.strerror}): {so_far}."
        ) from error


def _on_disk(folder: Path) -> None:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    with open_until_end(os.open(folder, flags)) as descriptor:
        os.fsync(descriptor)


def sets_of(folder: Path, host: str, name: str = "") -> list[FirmwareSet]:
    """Return the sets of a host, newest first; with ``name`` only that set. Raise ``BadInput`` for
    a file that is not a valid journal.
    """
    if not _HOST.fullmatch(host) or not folder.is_dir():
        return []
    places = [folder / name] if _ID.fullmatch(name) else [] if name else list(folder.iterdir())
    sets = [_read(place / f"{host}.json") for place in places if (place / f"{host}.json").exists()]
    return sorted(sets, key=lambda one: (one.number, one.since, one.id), reverse=True)


def newest_set(folder: Path, host: str, name: str = "") -> FirmwareSet | None:
    """Return the newest set that is not reverted, or the set of that name."""
    sets = sets_of(folder, host, name)
    return next((change_set for change_set in sets if name or change_set.state != "reverted"), None)


def _read(path: Path) -> FirmwareSet:
    with reading(f"the journal of firmware changes {path}"):
        return decode_json(read_bounded(path, _LARGEST, follow=False), FirmwareSet)
