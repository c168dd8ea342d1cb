"""Convert a rate, a time or a message rate into every unit, and compare it with the limits of a
link, showing the arithmetic.
"""

import re
from decimal import Decimal

import msgspec

from wireproof.model.claim import Limits, LinkClaim
from wireproof.model.errors import BadInput
from wireproof.model.quantity import Converted, ConvertedRow, LinkShares, short_time
from wireproof.options.sizes import parse_size
from wireproof.physics import limits
from wireproof.physics.bounds import bounds_of
from wireproof.physics.claims import FAMILIES
from wireproof.physics.rails import claim_of_rails
from wireproof.physics.table import is_link, link_from_name, link_names
from wireproof.physics.units import (
    Quantity,
    amounts,
    goodput_of,
    parse_amount,
    parse_quantity,
    parse_share,
    rates,
    shares,
    times,
)

_LINK = re.compile(r"(?:\d{1,2} ?x ?)?([A-Za-z0-9.-]{2,40})(:[\d.]{1,8})?")
_ROUNDED = 1.0005  # a rate that a user types has few digits


def known_links() -> list[LinkClaim]:
    """Return every link that ``--link`` knows, in the order of families and rates."""
    return [link_from_name(name) for name in link_names()]


def attainable_rate(link: str, *, path: str, mtu: int | None, pcie: str) -> str:
    """Return the attainable rate of a link in one direction, as ``12409.1MB/s`` for ``edr``,
    ``roce:100`` or ``2xedr``; "" if the name is not a link, or has no rate. Raises ``BadInput``.
    """
    form = _LINK.fullmatch(link)
    if form is None or not (is_link(form[1]) or (form[2] and form[1].lower() in FAMILIES)):
        return ""
    claim = claim_of_rails(link, path=path, mtu=mtu, pcie=pcie)
    most = limits(claim, "stream", "stream", 0).attainable_bytes_per_s
    return f"{most / 1e6:.9g}MB/s" if most else ""


def convert(
    value: str,
    *,
    size: str | None = None,
    link: str | None = None,
    path: str = "",
    mtu: int | None = None,
    pcie: str = "",
) -> Converted:
    """Convert ``value`` as the user types it: ``39.9Gb/s``, ``1.24us``, ``160Mmsg/s``, ``495GB``,
    ``97.6%`` of a link. Raises ``BadInput``.
    """
    message_bytes = parse_size(size) if size is not None else None
    if message_bytes == 0:
        raise BadInput("a message of 0 bytes carries nothing: give a --size of 1 or more.")
    claim = claim_of_rails(link, path=path, mtu=mtu, pcie=pcie) if link else None
    quantity = _quantity(value, claim)
    rate, step = goodput_of(quantity, message_bytes)
    return Converted(
        value=quantity.text,
        kind=quantity.kind,
        message_bytes=message_bytes,
        bytes_per_s=None if rate is None else float(rate),
        arithmetic=[line for line in (quantity.arithmetic, step) if line],
        remark=quantity.remark,
        rows=_rows(quantity, rate),
        link=None if claim is None else _held(quantity, rate, claim, message_bytes or 0),
    )


def _quantity(value: str, link: LinkClaim | None) -> Quantity:
    if link and not link.line_rate and value.rstrip().endswith("%"):
        raise BadInput(f"{link.name} has no line rate, so {value.strip()[:40]!r} is not a rate.")
    share = parse_share(value, Decimal(link.line_rate) / 8) if link and link.line_rate else None
    return share or parse_amount(value) or parse_quantity(value)


def _rows(quantity: Quantity, rate: Decimal | None) -> list[ConvertedRow]:
    if quantity.kind == "amount":
        return amounts(quantity.value)
    rows = times(quantity.value) if quantity.kind == "time" else []
    return rows if rate is None else [*rows, *rates(rate)]


def _held(quantity: Quantity, rate: Decimal | None, link: LinkClaim, size: int) -> LinkShares:
    is_time = quantity.kind == "time"
    link_limits = (
        limits(link, "pingpong", "latency", size)
        if is_time
        else limits(link, "stream", "stream", size)
    )
    if not is_time:
        # Show only the ceiling: the shortest time of a message says nothing about the rate of a
        # stream.
        link_limits.derivation.pop()
    warnings = _too_short(quantity, link, link_limits)
    if rate is not None:
        return _shares(rate, link, link_limits, warnings)
    return LinkShares(
        kind=link.name,
        derivation=list(link_limits.derivation),
        arithmetic=_carried(quantity, link_limits),
        warnings=warnings,
    )


def _carried(quantity: Quantity, link_limits: Limits) -> list[str]:
    """Return the time that the link needs for an amount at its attainable rate."""
    most = link_limits.attainable_bytes_per_s
    if quantity.kind != "amount" or not most:
        return []
    seconds = float(quantity.value) / most
    return [f"{quantity.value:f} B / {most / 1e6:.6g} MB/s = {short_time(1e9 * seconds)}"]


def _shares(rate: Decimal, link: LinkClaim, link_limits: Limits, warnings: list[str]) -> LinkShares:
    """Return the shares of the nominal and the attainable rate with their arithmetic, and
    warnings.
    """
    rows = {row.label: row for row in shares(rate, link)}
    values = {label: row.value for label, row in rows.items()}
    return LinkShares(
        kind=link.name,
        derivation=list(link_limits.derivation),
        arithmetic=[*(row.arithmetic for row in rows.values()), *_at_usual_mtu(rate, link)],
        warnings=[*_too_much(rate, link, values.get("attainable")), *warnings],
        nominal_bytes_per_s=None if link.line_rate is None else link.line_rate / 8,
        attainable_bytes_per_s=link_limits.attainable_bytes_per_s,
        share_of_nominal=values.get("nominal"),
        share_of_attainable=values.get("attainable"),
    )


def _at_usual_mtu(rate: Decimal, link: LinkClaim) -> list[str]:
    """Return the shares at MTU 1500 too, because most Ethernet networks use it and the largest MTU
    is too optimistic for them; IP over InfiniBand or Omni-Path does not use this MTU.
    """
    if link.protocol != "tcp" or link.mtu is not None or link.kind.startswith("ipo"):
        return []
    usual = shares(rate, msgspec.structs.replace(link, mtu=1500))
    return [f"{row.arithmetic} at MTU 1500" for row in usual if row.label == "attainable"]


def _too_much(rate: Decimal, link: LinkClaim, share: float | None) -> list[str]:
    """Warn about a rate above the link's attainable rate: some of the bytes did not use that
    link.
    """
    most = bounds_of(link).most
    if share is None or most is None or float(rate) <= most * _ROUNDED:
        return []
    above = (
        f"this is {100 * share:.2f} % of what {link.name} can carry in one direction: some or all"
        " of the bytes did not use this link, or both directions were added, or the unit is"
        " wrong"
    )
    return [above]


def _too_short(quantity: Quantity, link: LinkClaim, link_limits: Limits) -> list[str]:
    """Warn about a time below the link's shortest time."""
    nanoseconds = float(quantity.value) * 1e9
    if (
        quantity.kind != "time"
        or link_limits.floor_ns is None
        or nanoseconds >= link_limits.floor_ns
    ):
        return []
    short = (
        f"{nanoseconds:.6g} ns is shorter than the shortest half round trip over {link.name}, "
        f"{link_limits.floor_ns:.6g} ns: it used shared memory or another link, or the unit "
        "is wrong"
    )
    return [short]
