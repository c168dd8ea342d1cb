"""Which family a port belongs to: by its driver, else (a stored text names none) by the names of
its counters.
"""

from __future__ import annotations

from collections.abc import Container
from fnmatch import fnmatchcase

from wireproof.analysis.pfc.family import Names, PfcFamily
from wireproof.analysis.pfc.intel import INTEL
from wireproof.analysis.pfc.mellanox import MELLANOX
from wireproof.analysis.pfc.others import OTHERS

__all__ = ["FAMILIES", "by_counters", "by_driver"]

FAMILIES: tuple[PfcFamily, ...] = (*INTEL, *MELLANOX, *OTHERS)


def by_driver(driver: str) -> PfcFamily | None:
    """None: no counters of pauses are known of this driver."""
    name = driver.lower()
    return next(
        (one for one in FAMILIES if any(fnmatchcase(name, pattern) for pattern in one.drivers)),
        None,
    )


def by_counters(statistics: Container[str]) -> PfcFamily | None:
    """The one family whose pause counters are among ``statistics`` (names of ``ethtool -S``); None
    where none is, or several are.
    """
    for signs in (_own, _totals):
        found = [one for one in FAMILIES if any(_listed(names, statistics) for names in signs(one))]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _own(family: PfcFamily) -> tuple[Names, ...]:
    """What no other family has."""
    pairs = (family.xoff, family.frames, family.paused_us, family.load)
    return tuple(names for pair in pairs for names in pair if names)


def _totals(family: PfcFamily) -> tuple[Names, ...]:
    return () if _own(family) else family.total


def _listed(names: Names, statistics: Container[str]) -> bool:
    return any(
        all(name.format(p=priority) in statistics for name in one)
        for one in names
        for priority in range(8)
    )
