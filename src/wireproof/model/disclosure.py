"""The configuration that a result was measured with, in the form that vendors print with a
benchmark.
"""

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
    """One item of the configuration. ``value``: "" if unknown, for the reason in ``why``.
    ``hosts``: the hosts that have this value; empty if all have it or the item belongs to the
    run as a whole.
    """

    group: Group
    name: str
    value: str
    hosts: list[str] = msgspec.field(default_factory=list)
    why: str = ""


class Disclosure(msgspec.Struct, frozen=True, kw_only=True):
    """The items of a configuration, once for each value that hosts have, in the order of
    ``GROUPS``.
    """

    schema: Literal["wireproof.disclosure"] = "wireproof.disclosure"
    version: int = 1
    hosts: list[str] = msgspec.field(default_factory=list)
    items: list[Disclosed] = msgspec.field(default_factory=list)
