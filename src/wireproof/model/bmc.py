"""Access to the management controller (BMC) of a host, and changes of firmware attributes: planned,
pending until the next reboot, and in the journal of the machine that asked for them.
"""

from dataclasses import dataclass, field
from typing import Literal

import msgspec

from wireproof.model.setting import SettingEffect

Login = Literal["", "session", "basic"]


class Secret:
    """A password. It shows itself to nobody but the caller of ``reveal``: no representation, no
    format, no pickle.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def hide_in(self, text: str) -> str:
        """``text`` without the password."""
        return text.replace(self._text, "(hidden)") if self._text else text

    def is_in(self, text: str) -> bool:
        return bool(self._text) and self._text in text

    def __repr__(self) -> str:
        return "Secret(hidden)"

    def __reduce__(self) -> str:
        raise TypeError("a secret is not stored")


@dataclass(frozen=True)
class Bmc:
    """One BMC. ``host``: the host that it manages; ``address``: a name or an IP address.

    ``authority``: file of certificates (PEM) to trust in place of the system's; ``fingerprint``:
    SHA-256 of the one certificate that is right, 64 hexadecimal digits; ``insecure``: any
    certificate will do. ``system``: identifier of the system where the BMC has several. ``login``
    "": a session where the BMC offers them, else HTTP Basic. ``plain``: without TLS, which only
    this machine itself may do.
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
        """The address for people."""
        name = f"[{self.address}]" if ":" in self.address else self.address
        return name if self.port == 443 else f"{name}:{self.port}"


Raw = str | int | float | bool
"""A value as the BMC writes it."""

FirmwareState = Literal["writing", "pending", "reverting", "reverted"]
"""``writing``, ``reverting``: under way, or broken off there."""


class PlannedAttribute(msgspec.Struct, frozen=True, kw_only=True):
    """One attribute that is to be changed. ``id``: of the setting; ``attribute``: the BMC's name,
    ``display``: the set-up menu's. ``was``: the value that counts now, ``pending``: the one after
    the next reboot as it is; ``wanted``: the one after it as it is to be.
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
    """What the journal keeps of one attribute: the pending value of before, ours, and the value
    that counted then.
    """

    id: str
    attribute: str
    was: Raw
    old: Raw
    wanted: Raw


class FirmwareSet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The journal of one change set on one host's BMC. ``since``: UTC."""

    schema: str = "wireproof.firmware-set"
    version: int = 1
    id: str
    host: str
    by: str
    since: str
    state: FirmwareState
    changes: list[AttributeChange]
