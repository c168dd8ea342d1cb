"""A rate, a time or a message rate in every unit, held against what a link can carry, with the
arithmetic.
"""

from decimal import Decimal

import msgspec

from wireproof.model.claim import Limits, LinkClaim
from wireproof.model.conversion import Converted, ConvertedRow, LinkShares
from wireproof.model.errors import BadInput
from wireproof.physics import limits
from wireproof.physics.bounds import bounds_of
from wireproof.physics.links import link_from_name, link_names
from wireproof.physics.rails import claim_of_rails
from wireproof.physics.units import Quantity, goodput_of, parse_quantity, rates, shares, times
from wireproof.settings.sizes import parse_size

_ROUNDED = 1.0005  # a rate that was typed has few digits


def known_links() -> list[LinkClaim]:
    """Every link that ``--link`` knows, in the order of families and rates."""
    return [link_from_name(name) for name in link_names()]


def attainable_rate(link: str, *, path: str, mtu: int | None, pcie: str) -> str:
    """``12409.1MB/s`` of ``edr``: what a link can carry in one direction; "" for what is no link by
    its name, or has no rate. Raises BadInput.
    """
    if link.lower() not in link_names():
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
    """``value`` as people write it: ``39.9Gb/s``, ``1.24us``, ``160Mmsg/s``. Raises BadInput."""
    quantity = parse_quantity(value)
    message_bytes = parse_size(size) if size is not None else None
    if message_bytes == 0:
        raise BadInput("a message of 0 bytes carries nothing: give a --size of 1 or more.")
    claim = claim_of_rails(link, path=path, mtu=mtu, pcie=pcie) if link else None
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


def _rows(quantity: Quantity, rate: Decimal | None) -> list[ConvertedRow]:
    rows = times(quantity.value) if quantity.kind == "time" else []
    return rows if rate is None else [*rows, *rates(rate)]


def _held(quantity: Quantity, rate: Decimal | None, link: LinkClaim, size: int) -> LinkShares:
    is_time = quantity.kind == "time"
    found = (
        limits(link, "pingpong", "latency", size)
        if is_time
        else limits(link, "stream", "stream", size)
    )
    if not is_time:
        # The shortest time of a stream's message says nothing about a rate: only the ceiling is
        # shown.
        found.derivation.pop()
    warnings = _too_short(quantity, link, found)
    if rate is not None:
        return _shares(rate, link, found, warnings)
    return LinkShares(
        kind=link.kind, derivation=list(found.derivation), arithmetic=[], warnings=warnings
    )


def _shares(rate: Decimal, link: LinkClaim, found: Limits, warnings: list[str]) -> LinkShares:
    """Shares of the nominal and of the attainable rate with their lines, and what to think of
    them.
    """
    rows = {row.label: row for row in shares(rate, link)}
    values = {label: row.value for label, row in rows.items()}
    return LinkShares(
        kind=link.kind,
        derivation=list(found.derivation),
        arithmetic=[*(row.arithmetic for row in rows.values()), *_at_usual_mtu(rate, link)],
        warnings=[*_too_much(rate, link, values.get("attainable")), *warnings],
        nominal_bytes_per_s=None if link.line_rate is None else link.line_rate / 8,
        attainable_bytes_per_s=found.attainable_bytes_per_s,
        share_of_nominal=values.get("nominal"),
        share_of_attainable=values.get("attainable"),
    )


def _at_usual_mtu(rate: Decimal, link: LinkClaim) -> list[str]:
    """Most Ethernets run at 1500, and the largest MTU flatters none of them: both are shown."""
    if link.protocol != "tcp" or link.mtu is not None:
        return []
    usual = shares(rate, msgspec.structs.replace(link, mtu=1500))
    return [f"{row.arithmetic} at MTU 1500" for row in usual if row.label == "attainable"]


def _too_much(rate: Decimal, link: LinkClaim, share: float | None) -> list[str]:
    """More than a link can carry did not come over that link."""
    most = bounds_of(link).most
    if share is None or most is None or float(rate) <= most * _ROUNDED:
        return []
    above = (
        f"this is {100 * share:.2f} % of what {link.name} can carry in one direction:"
        " the bytes did not (all) take this link, or both directions were added, or the unit"
        " is wrong"
    )
    return [above]


def _too_short(quantity: Quantity, link: LinkClaim, found: Limits) -> list[str]:
    """A time below the link's shortest time is no time of that link."""
    nanoseconds = float(quantity.value) * 1e9
    if quantity.kind != "time" or found.floor_ns is None or nanoseconds >= found.floor_ns:
        return []
    short = (
        f"{nanoseconds:.6g} ns is shorter than the shortest half round trip over {link.name},"
        f" {found.floor_ns:.6g} ns: shared memory, another link, or a wrong unit"
    )
    return [short]
