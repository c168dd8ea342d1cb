"""A rate or a time converted to every unit, as ``wireproof explain`` prints it."""

import msgspec


class ConvertedRow(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a conversion: ``39.88888 Gb/s`` with its arithmetic. ``exact`` False: the last
    digit is rounded.
    """

    label: str
    value: float
    text: str
    arithmetic: str
    exact: bool


class LinkShares(msgspec.Struct, frozen=True, kw_only=True):
    """A value compared with a link. Rates and shares are present only if the value gives a rate."""

    kind: str
    derivation: list[str]
    arithmetic: list[str]
    warnings: list[str]
    nominal_bytes_per_s: float | msgspec.UnsetType | None = msgspec.UNSET
    attainable_bytes_per_s: float | msgspec.UnsetType | None = msgspec.UNSET
    share_of_nominal: float | msgspec.UnsetType | None = msgspec.UNSET
    share_of_attainable: float | msgspec.UnsetType | None = msgspec.UNSET


class Converted(msgspec.Struct, frozen=True, kw_only=True):
    """What ``wireproof explain --json`` prints."""

    value: str
    kind: str
    message_bytes: int | None
    bytes_per_s: float | None
    arithmetic: list[str]
    remark: str
    rows: list[ConvertedRow]
    link: LinkShares | None
