"""How long to wait for late counters, once after the last byte, by the catalogue. Pure.

The engine gets the drivers with these times in its plan, because a machine is unknown before the
run; ``prove`` asks for the ports that it has seen. Both wait the same time.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from wireproof.analysis.catalogue import families, family_of
from wireproof.model.record import Nic
from wireproof.model.site import of_site

AT_ONCE_MS = 20.0
"""Caches of a few milliseconds (``lifespan`` of hw_counters) have expired after any pause."""
_LONGER, _MORE_MS = 1.2, 100
"""Margin: a driver's timer may be late, and its query of the adapter takes time."""
_LONGEST_MS = 60_000
"""The engine accepts no longer wait."""


_IDLE_S = 1.0
"""Quiet time before a watched command, to measure the background."""
_SETTLE_S, _SETTLE_VIRTUAL_S = 1.2, 0.1
"""Wait after it: virtual NICs count at once; the catalogue may not know all other NICs."""


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
    one.

    With an RDMA device, no wait would prove the path.
    """
    unknown = any(
        nic.kind == "ethernet" and nic.rdma is None and nic.driver and family_of(nic) is None
        for nic in nics
        if nic.carrier is not False
    )
    return max((ms for _, ms in late_drivers()), default=0) if unknown else 0


@dataclass(frozen=True)
class Patience:
    """How long a watch of ports waits ``before_s`` and ``after_s`` the command.

    ``settled_s``: counters with a shorter refresh are up to date in every reading.
    """

    before_s: float
    after_s: float
    settled_s: float


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
