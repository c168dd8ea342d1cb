"""The configuration that a result was measured with, as vendors print it beside a benchmark."""

from typing import Literal

import msgspec

Group = Literal["hardware", "firmware", "system", "network", "software", "method", "settings"]
GROUPS: tuple[Group, ...] = (
    "hardware",
    "firmware",
    "system",
    "network",
    "software",
    "method",
    "settings",
)


class Disclosed(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """``value`` "" is not known, and ``why`` says so. ``hosts``: where it is so, by name; none: on
    all, or it is the run's as a whole.
    """

    group: Group
    name: str
    value: str
    hosts: list[str] = msgspec.field(default_factory=list)
    why: str = ""


class Disclosure(msgspec.Struct, frozen=True, kw_only=True):
    """Every item once for each value that hosts have of it, in the order of ``GROUPS``."""

    schema: Literal["wireproof.disclosure"] = "wireproof.disclosure"
    version: int = 1
    hosts: list[str] = msgspec.field(default_factory=list)
    items: list[Disclosed] = msgspec.field(default_factory=list)
