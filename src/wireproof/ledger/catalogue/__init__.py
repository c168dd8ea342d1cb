# pure
"""The counters of each adapter, the traffic that each counts, and the wait for late counters: data,
with a source for every row.
"""

from collections.abc import Iterable
from fnmatch import fnmatchcase

import msgspec
from msgspec.structs import replace

from wireproof.ledger.catalogue.read import CounterRow, Family, families
from wireproof.model.record import Nic
from wireproof.model.site import of_site

__all__ = [
    "CounterRow",
    "Family",
    "by_driver",
    "by_kind",
    "families",
    "family_of",
    "without_interface",
]


# --- Find the family of a port by the driver of its interface, the driver of its RDMA device and
# the kernel's interface kind.

_AGGREGATES = ("bond", "team")
_SOFT_RDMA, _CN5000 = "rdma_rxe", "hfi2"
"""Drivers whose families replace or extend another family."""
_OPA100_GBITS = 100.0
_SOFTWARE_KINDS = ("veth", "dummy", "tun")


@of_site
def by_driver(driver: str) -> Family | None:
    """Return the family of a driver's name from sysfs or ethtool. Cached, because it is called per
    port and point.
    """
    name = driver.lower()
    found = (
        family
        for family in families()
        if any(fnmatchcase(name, pattern) for pattern in family.drivers)
    )
    return next(found, None) if name else None


def by_kind(kind: str) -> Family | None:
    """Return the family of a virtual interface's kind."""
    return next((family for family in families() if kind in family.kinds), None) if kind else None


def family_of(nic: Nic) -> Family | None:
    """Return the family that lists the counters of this port's traffic; None for an unknown
    adapter.
    """
    if nic.kind == "loopback":
        return by_driver("loopback")
    own = by_kind(nic.link_kind) or by_driver(nic.driver)
    if nic.rdma is None:
        return own
    own = own and of_rate(own, nic.rdma.rate)
    below = by_driver(nic.rdma.driver)
    soft = by_driver(_SOFT_RDMA)
    if below is not None and below is not soft:
        return _together(own, of_rate(below, nic.rdma.rate))
    return own and _without_hardware(own, soft if below else None, driver=nic.rdma.driver)


def of_rate(family: Family, rate: str) -> Family:
    """Return CN5000's family for hfi1 above 100 Gb/s.

    ``rate``: the kernel's text, ``400 Gb/sec (4X NDR)``.
    """
    number = rate.split(" ", 1)[0]
    faster = number.replace(".", "", 1).isdecimal() and float(number) > _OPA100_GBITS
    return by_driver(_CN5000) or family if faster and family is by_driver("hfi1") else family


def _without_hardware(own: Family, soft: Family | None, driver: str) -> Family:
    """Return the family of an interface whose RDMA device is ``soft`` or has an unknown driver."""
    if soft is None and not driver and own.has_rdma:
        return own
    # a device that reports no driver is software if the interface has no adapter
    software = not driver and any(kind in _SOFTWARE_KINDS for kind in own.kinds)
    return _soft(own) if soft is not None or software else _with_blind_rdma(own)


def _together(own: Family | None, below: Family) -> Family:
    """Combine an interface with the adapter whose RDMA device it uses.

    The interface is a VLAN or bond over the adapter, IPoIB, or the adapter itself.
    """
    if not below.has_rdma:
        # software RDMA identifies itself, so this is hardware without known counters
        return _with_blind_rdma(own or below)
    if own is None or own is below or not (own.stacked or without_interface(below)):
        return below
    return replace(
        own,
        name=f"{own.name} over {below.name}",
        rows=(*(_above(row, own) for row in below.rows if _of_device(row)), *own.rows),
        source=f"{own.source}; {below.source}",
        blind=below.blind,
        note=f"{own.note} {below.note}".strip(),
    )


def _of_device(row: CounterRow) -> bool:
    return any("{device}" in name for name in row.tx)


def without_interface(below: Family) -> bool:
    """Return True for an RDMA device beside an interface of another driver (erdma beside
    virtio_net)."""
    return not any("{nic}" in name for row in below.rows for name in row.tx)


def _above(row: CounterRow, own: Family) -> CounterRow:
    """Return the row for an aggregate, whose device may count the port of only one member."""
    return replace(row, quality="lower-bound") if set(own.kinds) & set(_AGGREGATES) else row


def _soft(family: Family) -> Family:
    """Return the family with software RDMA above an interface, whose kernel statistics include
    both."""
    rows = tuple(
        replace(row, carrier="any") if row.carrier == "kernel" else row for row in family.rows
    )
    rxe = by_driver(_SOFT_RDMA)
    packets = rxe.rdma_packets if rxe else ()
    return replace(
        family, name=f"{family.name} with RDMA in software", rows=rows, rdma_packets=packets
    )


def _with_blind_rdma(family: Family) -> Family:
    return family if "rdma" in family.blind else replace(family, blind=(*family.blind, "rdma"))


# --- The wait for late counters, once after the last byte. The engine gets the drivers with
# these times in its plan, because a machine is unknown before the run; ``prove`` asks for the ports
# that it has seen. Both use the same wait.

AT_ONCE_MS = 20.0
"""Caches of a few milliseconds (``lifespan`` of hw_counters) have expired after any pause."""
_LONGER, _MORE_MS = 1.2, 100
"""Margin: a driver's timer may be late, and its query of the adapter takes time."""
_LONGEST_MS = 60_000
"""The engine accepts no longer wait."""


_IDLE_S = 1.0
"""Quiet time before a watched command, to measure the background."""
_SETTLE_S, _SETTLE_VIRTUAL_S = 1.2, 0.1
"""Wait after the command: virtual NICs count at once; some other NICs may be missing from the
catalogue."""


@of_site
def late_drivers() -> tuple[tuple[str, int], ...]:
    """Return drivers (shell patterns) with late counters and the wait in ms for the slowest of
    each.
    """
    return tuple(
        (driver, _patience_ms(slowest))
        for family in families()
        if (slowest := max((row.refresh_ms for row in family.rows), default=0.0)) > AT_ONCE_MS
        for driver in family.drivers
    )


def _patience_ms(refresh_ms: float) -> int:
    return min(_LONGEST_MS, round(_LONGER * refresh_ms) + _MORE_MS)


def settle_ms(nics: Iterable[Nic]) -> int:
    """Return the wait in ms for the slowest of these ports; 0 if all active ports count at once."""
    drivers = {
        driver.lower()
        for nic in nics
        if nic.carrier is not False
        for driver in (nic.driver, nic.rdma.driver if nic.rdma is not None else "")
    }
    return max(
        (
            ms
            for pattern, ms in late_drivers()
            if any(fnmatchcase(driver, pattern) for driver in drivers)
        ),
        default=0,
    )


def _unknown_ms(nics: Iterable[Nic]) -> int:
    """Return the wait for adapters that are not in the catalogue: as long as for the slowest known
    adapter. If there is an RDMA device, no wait can prove the path.
    """
    unknown = any(
        nic.kind == "ethernet" and nic.rdma is None and nic.driver and family_of(nic) is None
        for nic in nics
        if nic.carrier is not False
    )
    return max((ms for _, ms in late_drivers()), default=0) if unknown else 0


class Patience(msgspec.Struct, frozen=True):
    """The waits of a port watch: ``before_s`` and ``after_s`` the command.

    ``settled_s``: counters with a shorter refresh are up to date in every reading. ``parts``:
    number of parts of the wait before it; traffic in all parts is not a burst, unless a counter is
    late.
    """

    before_s: float
    after_s: float
    settled_s: float

    @property
    def parts(self) -> int:
        return 1 if self.before_s > _IDLE_S else 2


def patience(nics: Iterable[Nic]) -> Patience:
    """Return the waits for a watch of these ports.

    A late counter may still show earlier traffic, so the watch waits on both sides of the command.
    """
    ports = list(nics)
    late_s = max(settle_ms(ports), _unknown_ms(ports)) / 1e3
    virtual = all(nic.kind in ("loopback", "virtual") or nic.carrier is False for nic in ports)
    if virtual and not late_s:
        return Patience(_IDLE_S, _SETTLE_VIRTUAL_S, 0.0)
    before_s, after_s = max(_IDLE_S, late_s), max(_SETTLE_S, late_s)
    return Patience(before_s, after_s, min(before_s, after_s))
