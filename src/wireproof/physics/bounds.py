# pure
"""Compute the limits of a link and the rates to expect from it, for wireproof's numbers and for
those of other tools. Unknown properties of a link (MTU, TCP timestamps, PCIe payload size) widen
the limits: the most favourable choice determines the ceiling, and the slowest usual choice that the
numbers fit determines the expectation.
"""

from collections.abc import Mapping
from functools import lru_cache
from itertools import product
from typing import Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from wireproof.model import quantity
from wireproof.model.claim import Criteria, LinkClaim
from wireproof.physics.framing import Framing, framings
from wireproof.physics.limits import (
    BEST_SLOTS,
    bandwidth_threshold_bytes,
    floor_constant,
    limits,
    of_all_rails,
    pcie_choices,
    shaper_credit_bytes,
    typical_constant,
)
from wireproof.physics.table import Table, default_table

FILL_BYTES = 65_536
"""A stream with fewer bytes in flight does not show a link's rate."""
_FILL_SECONDS = 50e-6  # nor does a stream with less transmission time than this
WAITED_BYTES = 1 << 20
"""A ping-pong of at least this size shows a link's rate."""
HANDSHAKE = 3
"""Crossings of a rendezvous: a request, the reply (or a read of the data), and the data."""
Doubt = Literal["fail", "inconclusive", "note"]
_NO_START = 10  # assumed start-up time of small messages in floors, if none was measured
_ONE_FLOW = 0.4  # share of a device: one pair of EFA endpoints reaches 0.47 to 0.71 (published)
_FIRM = 0.98  # share of a floor that does not come from literature
_OF_BEST = 1.002
_TRANSFER = 0.995
# An Ethernet clock may be 100 ppm off (IEEE 802.3), and so may the clock that times the bytes.
_CLOCKS = 2e-4


class Choice(NamedTuple):
    """Attainable goodput of one direction for one set of unknown options, with its arithmetic."""

    rate: float
    option: str
    lines: tuple[str, ...]


_STORED = 2.5
"""Line crossings of a small message between two hosts: to the switch, from it, and a margin."""


class CurveBounds(msgspec.Struct, frozen=True):
    """Rates in bytes/s of one direction, times in ns.

    ``most``: with the most favourable options. ``choices``: with each usual set of options, the
    slowest first. ``hard``: a shorter time is a contradiction; ``doubt``: a shorter time is
    doubtful; both are shares of the floor if that comes from literature. ``slow``: the usual upper
    limit of a small message's latency.
    """

    link: LinkClaim
    most: float | None
    choices: tuple[Choice, ...]
    floor: float
    hard: float
    doubt: float
    slow: float
    least_size: int
    credit: int

    @property
    def wire(self) -> bool:
        return self.link.protocol not in ("shm", "loopback")

    def ceiling(self, tolerance: float) -> float | None:
        """Return the maximum possible goodput: ``tolerance`` above the best framing, but never
        above the line rate.
        """
        if self.most is None:
            return None
        allowed = self.most * (1 + tolerance)
        return min(allowed, self.line) if self.line is not None else allowed

    @property
    def line(self) -> float | None:
        """The line rate of all rails together, plus the error of two clocks; bytes/s."""
        rate = self.link.line_rate
        return rate / 8 * (1 + _CLOCKS) if rate else None

    def expected(self, best: float | None) -> tuple[float | None, tuple[str, ...]]:
        """Return the attainable goodput with the slowest usual options that ``best`` fits, and the
        arithmetic.
        """
        if not self.choices:
            return None, ()
        fitting = (
            choice for choice in self.choices if best is None or best <= choice.rate * _OF_BEST
        )
        chosen = next(fitting, self.choices[-1])
        lines = chosen.lines
        if len(self.choices) > 1:
            others = ", ".join(
                f"{quantity.rate(choice.rate)} with {choice.option}" for choice in self.choices[:6]
            )
            more = f" and {len(self.choices) - 6} more" if len(self.choices) > 6 else ""
            remark = (
                f"not given: attainable is {others}{more}; {chosen.option} is the slowest that "
                "the numbers fit"
            )
            lines = (*lines, remark)
        return chosen.rate, lines

    def slow_at(self, message_bytes: int) -> float:
        """Return the usual upper limit of half a round trip of a small message in ns.

        On slow links, it includes the transmission time of the message, and once more for a
        store-and-forward switch.
        """
        passing = message_bytes / self.most * 1e9 if self.most else 0.0
        return self.slow + _STORED * passing

    def shortest(self, size: int, crossings: int = 1) -> float:
        """Return the shortest possible time of an operation that waits for its reply."""
        moved = 0.0 if self.most is None else max(0, size - self.credit) / self.most * 1e9
        return crossings * (self.hard + moved * _TRANSFER)

    def too_quick(self, taken: float, size: int, crossings: int = 1) -> Doubt | None:
        """Return how certain it is that a waiting operation did not cross the link; None if it may
        have crossed it.
        """
        moved = 0.0 if self.most is None else max(0, size - self.credit) / self.most * 1e9
        if taken >= crossings * (self.floor + moved) * _FIRM:
            return None
        if taken < self.shortest(size, crossings):
            return "fail"
        return "inconclusive" if taken < crossings * (self.doubt + moved * _TRANSFER) else "note"

    def reached(self, taken: float, size: int, attainable: float, start: float | None) -> float:
        """Return a waiting operation's share of attainable, excluding its start and a
        rendezvous."""
        return size / (taken - spared_ns(taken, start, self.floor)) * 1e9 / attainable

    def tells(self, size: int, attainable: float, start: float | None) -> bool:
        """Return whether a waiting operation's transfer takes longer than its start and a
        rendezvous may take.
        """
        spared = HANDSHAKE * start if start is not None else _NO_START * self.floor
        return size >= WAITED_BYTES and size / attainable * 1e9 >= spared

    def excuse(self, reached: float, share: float, *, one_pair: bool) -> str:
        """Return why ``reached``, which is below ``share`` of attainable, is only inconclusive; ""
        if it is a failure.
        """
        if self.link.protocol == "efa" and one_pair and reached >= _ONE_FLOW:
            return "one pair of endpoints rarely fills an EFA device: measure several pairs"
        if self.link.at_most:
            return "the rate is the port's, and this virtual function may be limited to less"
        if self.link.rails > 1 and not self.link.stripes and reached >= share / self.link.rails:
            return (
                f"it fills one of the {self.link.rails} rails, and it is unknown whether all "
                "should be used"
            )
        return ""


def spared_ns(taken: float, start: float | None, floor: float) -> float:
    """Return the part of a waiting operation's time that is its start and a rendezvous, at most
    half of the time.

    ``start``: half a round trip of small messages; None: ten floors are assumed.
    """
    return min(HANDSHAKE * start if start is not None else _NO_START * floor, 0.5 * taken)


def expected_share(criteria: Criteria, *, both_ways: bool) -> float:
    """Return the expected share of attainable; it is lower if two directions share bus and memory
    at the same time.
    """
    return criteria.min_efficiency * (criteria.direction_ratio if both_ways else 1.0)


def any_nic_ns(table: Table | None = None) -> float:
    """Return the half round trip in ns below which no NIC in a PCIe slot explains the time."""
    table = table or default_table()
    return table["floor.any_nic"].value * table["floor.any_nic_margin"].value


def fill_bytes(most: float | None, least_size: int = 0) -> int:
    """Return the number of bytes in flight from which a stream shows the rate: at least 64 KiB, 50
    us of transmission time, and more than a shaper's bucket.
    """
    return int(max(FILL_BYTES, least_size, (most or 0.0) * _FILL_SECONDS))


def bounds_of(
    link: LinkClaim, table: Table | None = None, *, verbs: bool = False, bypass: bool = False
) -> CurveBounds:
    """Return the bounds of a claim. Raises PhysicsError for an impossible claim.

    ``verbs``: no MPI on top (perftest). ``bypass``: TCP or UDP in user space, without the kernel's
    floor.
    """
    if table is None or table is default_table():
        return _default_bounds(link, verbs, bypass)
    return _bounds(link, table, verbs, bypass)


@lru_cache(maxsize=512)
def _default_bounds(link: LinkClaim, verbs: bool, bypass: bool) -> CurveBounds:
    return _bounds(link, default_table(), verbs, bypass)


def _bounds(link: LinkClaim, table: Table, verbs: bool, bypass: bool) -> CurveBounds:
    choices = _choices(link, table)
    constant = (
        table["floor.tcp_bypass"]
        if bypass and link.protocol == "tcp"
        else floor_constant(link, table)
    )
    floor = constant.value
    if verbs and link.protocol not in ("tcp", "shm"):
        floor *= table["floor.verbs_share"].value
    hard, doubt = floor * _FIRM, floor * _FIRM
    if constant.literature:
        hard, doubt = (
            floor * table["floor.literature_margin"].value,
            floor * table["floor.literature_doubt"].value,
        )
    return CurveBounds(
        link=link,
        most=choices[-1].rate if choices else None,
        choices=choices,
        floor=floor,
        hard=hard,
        doubt=doubt,
        slow=typical_constant(link, table).value * table["typical.margin"].value,
        least_size=bandwidth_threshold_bytes(link, table),
        credit=shaper_credit_bytes(link, idle_between_messages=True, table=table),
    )


def _choices(link: LinkClaim, table: Table) -> tuple[Choice, ...]:
    """Return every usual combination of the unknown options by rate; equal rates are merged."""
    # raises an error for an impossible claim
    last = limits(link, "pingpong", "latency", 0, table).derivation[-1]
    slots = _slots(link, table)
    found: dict[float, Choice] = {}
    several = _rails(link)
    for framing, slot, rails in product(framings(link, table), slots, several):
        choice = _choice(rails, framing, slot, of=link.rails if len(several) > 1 else 0)
        found.setdefault(choice.rate, choice._replace(lines=(*choice.lines, last)))
    return tuple(found[rate] for rate in sorted(found))


def _slots(link: LinkClaim, table: Table) -> list[tuple[float, str, str]]:
    """Return (bytes/s, arithmetic, option) of each slot that the adapter may use; no limit if
    unknown.
    """
    if link.pcie:
        return pcie_choices(link.pcie, table)
    wide = (float("inf"), "", "")
    usual = BEST_SLOTS.get(link.kind, "")
    if not usual:
        return [wide]
    narrow = pcie_choices(usual, table)
    return [
        wide,
        *((rate, line, f"PCIe {usual} {option}".strip()) for rate, line, option in narrow),
    ]


def _choice(link: LinkClaim, framing: Framing, slot: tuple[float, str, str], *, of: int) -> Choice:
    """Return one choice. ``link``: with the rails of this choice. ``of``: number of all rails; 0 if
    the number of rails is fixed.
    """
    width, slot_line, payload = slot
    rate, together = of_all_rails(link, framing.rate, width)
    # An option of the faster of the two limits (link and slot) does not matter.
    named = [framing.option if framing.rate <= width else payload]
    named += [f"{link.rails} of {of} rails"] if of else []
    lines = [framing.line, *([slot_line] if slot_line else []), *together]
    lines += [f"attainable goodput {quantity.rate(rate)} in each direction"]
    return Choice(rate, ", ".join(filter(None, named)), tuple(lines))


def _rails(link: LinkClaim) -> tuple[LinkClaim, ...]:
    """Return the link with each number of rails that one flow may use.

    A kernel TCP flow uses one member of a bond; RDMA libraries spread one message over all rails.
    """
    open_ = link.stripes == "any" or (link.stripes == "" and link.protocol == "tcp")
    if not open_:
        return (link,)
    if link.rates:
        return _apart(link, sorted(link.rates, reverse=True))
    return tuple(replace(link, rails=rails) for rails in range(1, link.rails + 1))


def _apart(link: LinkClaim, rates: list[float]) -> tuple[LinkClaim, ...]:
    """Return the choices of unequal rails: each alone, the fastest ones, and equal shares over
    all.
    """
    alone = [(rate,) for rate in rates]
    several = [tuple(rates[:count]) for count in range(2, len(rates) + 1)]
    even = (rates[-1],) * len(rates)
    return tuple(
        replace(link, rails=len(some), rates=some, rate_bits_per_s=link.rate_bits_per_s)
        for some in (*alone, *several, even)
    )


# --- Check a curve of sizes against these bounds (docs/adr/0007). The rules are the same for
# wireproof's runs and for tables of other programs. Callers pass the uncertainty: the end of a
# run's interval, or the rounding of the last printed digit. The caller, which has the evidence,
# decides on the severity of a violation and on its excuses.

FALL = 0.15
"""Share of the peak goodput by which a cache-shaped curve falls."""
_FIRST, _LAST = 16 << 10, 1 << 20


def cache_fall(goodputs: Mapping[int, float]) -> tuple[int, int] | None:
    """Return (size of the peak, last size) if goodput peaks between 16 KiB and 1 MiB and ends over
    15 % lower.

    Copies through a cache have this shape. The fall must last to the end of the curve; otherwise,
    one noisy point would make a wire look like a cache.
    """
    if len(goodputs) < 3:
        return None
    peak, end = max(sorted(goodputs), key=lambda size: goodputs[size]), max(goodputs)
    falls = end >= 2 * peak and goodputs[end] < (1 - FALL) * goodputs[peak]
    return (peak, end) if _FIRST <= peak <= _LAST and falls else None


def held_goodput(goodput: float, run: int, credit: int) -> float:
    """Return ``goodput`` without the ``credit`` bytes that a lab's shaper passes without delay in
    each ``run`` bytes.

    A real link has no credit, and its goodput is returned unchanged.
    """
    return goodput * max(run - credit, run / 2) / run if credit and run else goodput


def exceeds(bounds: CurveBounds, goodput: float, tolerance: float) -> bool:
    """Return whether ``goodput`` (bytes/s) is more than the link can carry."""
    ceiling = bounds.ceiling(tolerance)
    return ceiling is not None and goodput > ceiling


def late_start(bounds: CurveBounds, size: int, taken_ns: float, times: float = 1.0) -> float | None:
    """Return the usual upper limit (ns) of a small message's time if ``taken_ns`` exceeds it, else
    None.

    ``times``: the factor on half a round trip.
    """
    usual_ns = times * bounds.slow_at(size)
    return usual_ns if taken_ns > usual_ns else None
