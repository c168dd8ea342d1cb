"""Changes of the firmware's attributes: planned, pending on a BMC until the next reboot, and
journalled on the machine that asked for them.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from wireproof.model.setting import Effect

__all__ = ["AttributeChange", "FirmwareSet", "FirmwareState", "PlannedAttribute", "Raw"]

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
    effect: Effect | None = None


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
