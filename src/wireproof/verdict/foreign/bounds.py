"""What a claimed link allows a foreign series: ceiling, expectation, floor, and what is usual; and which links fit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import msgspec

from wireproof.model.claim import LinkClaim
from wireproof.physics.framing import over_fabric
from wireproof.physics.limits import floor_constant, limits, typical_constant
from wireproof.physics.links import link_from_name
from wireproof.physics.shaper import bandwidth_threshold_bytes, shaper_credit_bytes
from wireproof.physics.table import Table, default_table
from wireproof.verdict.foreign.curve import Curve

__all__ = ["Bounds", "any_nic_ns", "bounds_of", "cache_fall", "explanations"]

# the usual MTUs of Ethernet, smallest first; of an unknown one the first is assumed that the best number fits
_MTUS = {"tcp": (1500, 9000), "rocev2": (1024, 2048, 4096), "psm3": (1024, 2048, 4096)}
_OF_BEST = 1.002
_FIRST, _LAST, _FALL = 16 << 10, 1 << 20, 0.15
_REACHED = 0.6  # share of attainable that a link must have been used for to be an explanation
_CANDIDATES = (
    "1gbe", "10gbe", "25gbe", "40gbe", "100gbe", "200gbe", "roce10", "roce25", "roce40", "roce100", "roce200",
    "roce400", "sdr", "ddr", "qdr", "fdr", "edr", "hdr200", "ndr400", "xdr800", "opa100", "cn5000", "truescale",
    "efa100", "efa200", "slingshot200", "slingshot400", "ipoib-qdr", "ipoib-edr", "ipofabric-opa100",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Bounds:
    """Rates in bytes/s of one direction, times in ns. ``most``: at the largest MTU that is not excluded; ``choices``:
    attainable at each usual MTU, with its arithmetic. ``hard`` and ``doubt``: below the first a time is a
    contradiction, below the second a doubt; both are shares of the floor when that is from literature."""

    link: LinkClaim
    most: float | None
    choices: tuple[tuple[float, int | None, tuple[str, ...]], ...]
    floor: float
    hard: float
    doubt: float
    typical: float
    least_size: int
    credit: int

    @property
    def wire(self) -> bool:
        return self.link.protocol not in ("shm", "loopback")

    def expected(self, best: float | None) -> tuple[float | None, tuple[str, ...]]:
        """Attainable at the smallest usual MTU that ``best`` fits, and the arithmetic."""
        if not self.choices:
            return None, ()
        fitting = (choice for choice in self.choices if best is None or best <= choice[0] * _OF_BEST)
        rate, mtu, lines = next(fitting, self.choices[-1])
        told = lines
        if len(self.choices) > 1:
            others = ", ".join(f"{r / 1e6:.1f} MB/s at {m}" for r, m, _ in self.choices)
            told = (*lines, f"MTU not given: attainable is {others}; {mtu} is the smallest that the numbers fit")
        return rate, told

    def shortest(self, size: int) -> float:
        """The least time of a waited operation that is no contradiction."""
        moved = 0.0 if self.most is None else max(0, size - self.credit) / self.most * 1e9
        return self.hard + moved * 0.995


def bounds_of(link: LinkClaim, table: Table | None = None, *, verbs: bool = False) -> Bounds:
    """The bounds of a claim; ``verbs``: no MPI on top (perftest). Raises PhysicsError for an impossible claim."""
    if table is None:
        return _default_bounds(link, verbs)
    return _bounds(link, table, verbs)


@lru_cache(maxsize=256)
def _default_bounds(link: LinkClaim, verbs: bool) -> Bounds:
    return _bounds(link, default_table(), verbs)


def _bounds(link: LinkClaim, table: Table, verbs: bool) -> Bounds:
    limit = limits(link, "pingpong", "latency", 0, table)
    most = limit.attainable_bytes_per_s
    choices: list[tuple[float, int | None, tuple[str, ...]]] = []
    usual = _MTUS.get(link.protocol, ()) if link.mtu is None and not over_fabric(link) else ()
    for mtu in usual if most is not None else ():
        found = limits(msgspec.structs.replace(link, mtu=mtu), "pingpong", "latency", 0, table)
        if found.attainable_bytes_per_s is not None:
            choices.append((found.attainable_bytes_per_s, mtu, tuple(found.derivation)))
    if most is not None and not choices:
        choices = [(most, link.mtu, tuple(limit.derivation))]
    constant = floor_constant(link, table)
    floor = constant.value * (table["floor.verbs_share"].value if verbs and link.protocol not in ("tcp", "shm") else 1)
    hard, doubt = floor * 0.98, floor * 0.98
    if constant.literature:
        hard, doubt = floor * table["floor.literature_margin"].value, floor * table["floor.literature_doubt"].value
    typical = typical_constant(link, table).value * table["typical.margin"].value
    credit = shaper_credit_bytes(link, idle_between_messages=True, table=table)
    size = bandwidth_threshold_bytes(link, table)
    return Bounds(link, most, tuple(choices), floor, hard, doubt, typical, size, credit)


def any_nic_ns(table: Table | None = None) -> float:
    """Below this no NIC in a PCIe slot is left as an explanation; ns of half a round trip."""
    table = table or default_table()
    return table["floor.any_nic"].value * table["floor.any_nic_margin"].value


def cache_fall(curve: Curve) -> tuple[int, float, int, float] | None:
    """(size and goodput of the maximum, size and goodput of the end) when the curve falls as a cache does."""
    rows = curve.moved
    if len(rows) < 3 or curve.best is None:
        return None
    peak, end = curve.best, rows[-1]
    if not _FIRST <= peak.size <= _LAST or end.size < 2 * peak.size or peak.goodput is None or end.goodput is None:
        return None
    return (peak.size, peak.goodput, end.size, end.goodput) if end.goodput < (1 - _FALL) * peak.goodput else None


@lru_cache(maxsize=4)
def _candidates(verbs: bool) -> tuple[tuple[str, Bounds], ...]:
    return tuple((name, _default_bounds(link_from_name(name), verbs)) for name in _CANDIDATES)


def explanations(curve: Curve, *, verbs: bool, way: str, fills: int) -> list[str]:
    """Names of the links whose limits the curve fits: floor, usual start, ceiling, and enough of it used.

    ``way``: ``tcp`` or ``rdma`` where that is known to carry the bytes: only such links are named. ``fills``: smallest
    size in flight at which a stream tells the rate. ``shm`` when memory is an explanation.
    """
    start = curve.start.wait_ns if curve.start is not None else None
    best = curve.best.goodput if curve.best is not None and curve.rows[-1].size >= fills else None
    if start is None and best is None:
        return []
    found = ["shm"] if _like_memory(curve, start) else []
    for name, bounds in _candidates(verbs):
        if way and (bounds.link.protocol == "tcp") != (way == "tcp"):
            continue
        if start is not None and not bounds.doubt <= start <= bounds.typical:
            continue
        if best is not None and bounds.most is not None and not _REACHED * bounds.most <= best <= 1.02 * bounds.most:
            continue
        if all((row.wait_ns or 0.0) * (1 + row.doubt) >= bounds.shortest(row.size) for row in curve.waited):
            found.append(name)
    return found


def _like_memory(curve: Curve, start: float | None) -> bool:
    if start is not None and start < any_nic_ns():
        return True
    return (start is None or start < 1500.0) and cache_fall(curve) is not None
