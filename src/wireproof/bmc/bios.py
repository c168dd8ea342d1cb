"""Find the BIOS of a system by Redfish: its attributes, pending values, and their registry."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from wireproof.bmc.session import ROOT, BmcSession
from wireproof.bmc.talk import Response, link_of
from wireproof.model.bmc import Raw

_MOST_PAGES = 8
_MOST_MEMBERS = 256
_MOST_REGISTRIES = 4
_MARK = "attributeregistry"


@dataclass(frozen=True)
class Bios:
    """Documents from the BMC. ``settings``: the values after the next reboot, with their path and
    version; {} and "" if the BMC has none. ``registry``: {} if there is none.
    """

    system: dict[str, Any]
    bios: dict[str, Any]
    settings_path: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    settings_tag: str = ""
    registry: dict[str, Any] = field(default_factory=dict)

    @property
    def apply_times(self) -> list[str]:
        """When the BMC can apply pending settings, as it reports; [] if it does not."""
        for document in (self.bios.get("@Redfish.Settings"), self.settings):
            for key in ("SupportedApplyTimes", "@Redfish.SettingsApplyTime"):
                times = document.get(key) if isinstance(document, dict) else None
                if isinstance(times, dict):
                    times = times.get("ApplyTime@Redfish.AllowableValues")
                if isinstance(times, list):
                    return [time for time in times if isinstance(time, str)]
        return []


def find_bios(session: BmcSession, *, registry: bool = True) -> Bios:
    """Return the BIOS of the BMC's system. Raise ``BmcFailed`` if there is none, or if there are
    several and none is chosen.
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
    """Return the attribute registry that the BIOS names, by the last part of its link, else the
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
    pending settings, can only apply them at once, or has changed them since ``bios`` was read.
    """
    if not bios.settings_path:
        raise session.talk.failed("shows no pending settings: its BIOS cannot be set by Redfish")
    body: dict[str, Any] = {"Attributes": dict(values)}
    if times := bios.apply_times:
        if _AT_RESET not in times:
            raise session.talk.failed("can only apply settings at once: nothing was changed")
        if len(times) > 1:  # without a choice, some BMCs do not know the property
            body["@Redfish.SettingsApplyTime"] = {"ApplyTime": _AT_RESET}
    session.patch(bios.settings_path, body, bios.settings_tag)


def _plain(document: Mapping[str, Any], attribute: str) -> Raw | None:
    attributes = document.get("Attributes")
    value = attributes.get(attribute) if isinstance(attributes, dict) else None
    return value if isinstance(value, (str, int, float, bool)) else None
