"""Sets attributes of the BIOS so that they count after the next reboot. Never starts one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wireproof.bmc.bios import Bios
from wireproof.bmc.session import Session
from wireproof.model.firmware import Raw

__all__ = ["now_and_pending", "set_pending"]

_AT_RESET = "OnReset"


def now_and_pending(bios: Bios, attribute: str) -> tuple[Raw, Raw] | None:
    """The value that counts, and the one after the next reboot; None where there is none."""
    now = _plain(bios.bios, attribute)
    later = _plain(bios.settings, attribute)
    return None if now is None else (now, now if later is None else later)


def set_pending(session: Session, bios: Bios, values: Mapping[str, Raw]) -> None:
    """Ask for ``values`` at the next reboot. Raises ``BmcFailed`` when the BMC refuses, has no
    pending settings, applies them at once only, or has changed them since ``bios`` was read.
    """
    if not bios.settings_path:
        raise session.talk.failed("shows no pending settings: its BIOS cannot be set by Redfish")
    body: dict[str, Any] = {"Attributes": dict(values)}
    if times := bios.apply_times:
        if _AT_RESET not in times:
            raise session.talk.failed("applies settings at once only: nothing was changed")
        if len(times) > 1:  # where there is no choice, not all BMCs know the property
            body["@Redfish.SettingsApplyTime"] = {"ApplyTime": _AT_RESET}
    session.patch(bios.settings_path, body, bios.settings_tag)


def _plain(document: Mapping[str, Any], attribute: str) -> Raw | None:
    attributes = document.get("Attributes")
    value = attributes.get(attribute) if isinstance(attributes, dict) else None
    return value if isinstance(value, (str, int, float, bool)) else None
