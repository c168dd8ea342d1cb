"""Access to the management controller (BMC) of a host, and changes of firmware attributes.

A change is planned, stays pending until the next reboot, and is recorded in the journal of the
machine that requested it.
"""

from dataclasses import dataclass, field
from typing import Literal

import msgspec

from wireproof.model.setting import SettingEffect

Login = Literal["", "session", "basic"]


class Secret:
    """A password. Only ``reveal`` returns it: it is in no representation and no formatted text, and
    it cannot be pickled.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def hide_in(self, text: str) -> str:
        """Return ``text`` with the password replaced."""
        return text.replace(self._text, "(hidden)") if self._text else text

    def is_in(self, text: str) -> bool:
        return bool(self._text) and self._text in text

    def __repr__(self) -> str:
        return "Secret(hidden)"

    def __reduce__(self) -> str:
        raise TypeError("a secret is not stored")


@dataclass(frozen=True)
class Bmc:
    """One BMC.

    ``host``: the host that it manages; ``address``: a name or an IP address. ``authority``: file of
    certificates (PEM) to trust instead of the system's; ``fingerprint``: SHA-256 of the only
    accepted certificate, 64 hexadecimal digits; ``insecure``: accept any certificate. ``system``:
    identifier of the system, needed if the BMC manages several. ``login``: "" opens a session if
    the BMC offers sessions and otherwise uses HTTP Basic. ``plain``: no TLS, allowed only on the
    local machine.
    """

    host: str
    address: str
    port: int
    user: str
    password: Secret = field(repr=False)
    authority: str = ""
    fingerprint: str = ""
    insecure: bool = False
    system: str = ""
    login: Login = ""
    plain: bool = False

    @property
    def place(self) -> str:
        """Address as text; the port is added unless it is 443."""
        name = f"[{self.address}]" if ":" in self.address else self.address
        return name if self.port == 443 else f"{name}:{self.port}"


Raw = str | int | float | bool
"""An attribute's value, with the type that the BMC reports."""

FirmwareState = Literal["writing", "pending", "reverting", "reverted"]
"""``writing``, ``reverting``: in progress, or interrupted at that step."""


class PlannedAttribute(msgspec.Struct, frozen=True, kw_only=True):
    """One firmware attribute to change.

    ``id``: the setting; ``attribute``: the name that the BMC uses; ``display``: the name in the
    setup menu. ``was``: the value in effect now; ``pending``: the value that the next reboot would
    bring without this change; ``wanted``: the value that it brings with it.
    """

    id: str
    attribute: str
    display: str
    was: Raw
    pending: Raw
    wanted: Raw
    why: str
    undo: str
    effect: SettingEffect | None = None


class AttributeChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the journal keeps of one attribute. ``was``: value in effect at the time of the change;
    ``old``: value that was pending before it; ``wanted``: value that was written.
    """

    id: str
    attribute: str
    was: Raw
    old: Raw
    wanted: Raw


class FirmwareSet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The journal of one change set on the BMC of one host. ``since``: UTC."""

    schema: str = "wireproof.firmware-set"
    version: int = 1
    id: str
    host: str
    by: str
    since: str
    state: FirmwareState
    changes: list[AttributeChange]
