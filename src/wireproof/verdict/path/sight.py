# pure
"""Compare the bytes due at a port, at one end in one direction, with the ledger's count.

Pure.

The claim only selects the port. The ledger already contains the counters of this port and of every
other port.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain

from wireproof.ledger.catalogue import family_of, without_interface
from wireproof.ledger.crossed import (
    Crossed,
    at_rails,
    claimed_at,
    everywhere,
    fresh_at,
    inside,
    others_than,
    up_to_date,
)
from wireproof.ledger.functions import shows_presence
from wireproof.ledger.relations import are_rails, beneath
from wireproof.model.claim import Criteria
from wireproof.model.traffic import LEVELS, Carrier, Direction, Ledger, Level, Quality
from wireproof.verdict.path import (
    busiest,
    could_carry,
    is_masked,
    is_on_air,
    lacks_packets,
    looped,
    may_have_wrapped,
    restarted,
    turned_round,
    uncounted,
    unplaced,
)

_LOUD_BACKGROUND = 0.2
_ELSEWHERE = 0.5  # share of the payload above which other ports count as its path
_SHORT = ("wrong-path", "off-wire", "loopback", "inside", "partly", "mixed")
STRAY_BYTES = 8_000_000  # smaller amounts belong to a launcher or a login, not to the payload
_IDLE_CHATTER = 4096.0  # bytes that an idle port moves during a point: neighbour discovery, ARP


@dataclass(frozen=True, slots=True)
class Due:
    """The bytes that must have crossed one port in one direction.

    ``own``: for this pair or group. ``need``: the minimum for all that share it. ``most``: the
    maximum that these explain. ``control``: the part of ``most`` that is wireproof's control
    traffic. ``packets``: minimum number of packets; None if messages may be merged. ``elsewhere``:
    port -> the maximum that other claims explain there. ``payload``: ``need`` without any header.
    """

    own: float
    need: float
    most: float
    control: float = 0.0
    packets: float | None = None
    elsewhere: Mapping[str, float] | None = None
    payload: float | None = None


@dataclass(frozen=True, slots=True)
class Sighting:
    """One end, one direction.

    ``kind`` is on-wire, off-wire, loopback, wrong-path, mixed, partly, inside (returned within the
    adapter), or why it is unknown: blind, dark (another port is blind), unknown (adapter), wrapped,
    stale, background, small. ``rival``: another port carried enough to have been the path.
    ``packets``: None if not counted. ``rails``: the bytes of each rail, if several NICs are
    claimed. ``masked``: a register of the physical port always reads 0.
    """

    kind: str
    rank: int
    nic: str
    direction: Direction
    need: float
    seen: float | None
    others: Mapping[str, float]
    loopback: float
    wrapped: bool = False
    stray: bool = False
    rival: bool = False
    level: Level = "stack"
    quality: Quality = "unreadable"
    by: tuple[tuple[Carrier, float], ...] = ()
    remark: str = ""
    packets: float | None = None
    rails: tuple[tuple[str, float | None], ...] = ()
    masked: bool = False

    @property
    def proves(self) -> bool:
        """True if this end shows that the bytes crossed."""
        return self.kind == "on-wire"


def blindly(
    rank: int, name: str, direction: Direction, due: Due, criteria: Criteria, remark: str
) -> Sighting:
    """Return the sighting of an end that was not read."""
    kind = "small" if due.own < criteria.min_payload_bytes else "blind"
    return Sighting(kind, rank, name, direction, due.own, None, {}, 0.0, remark=remark)


def look(
    ledger: Ledger, rank: int, claimed: str, direction: Direction, due: Due, criteria: Criteria
) -> Sighting:
    """Compare the due bytes with the claimed port of ``ledger``; without a claim (""), with the
    busiest egress port. If its counters are late, a port stacked on it, such as a VLAN, may show
    the bytes at once.
    """
    name = claimed or busiest(ledger, [direction])[0]
    if not name or name not in ledger.ports:
        remark = f"there is no port {claimed}" if claimed else "no port could be read"
        return blindly(rank, claimed, direction, due, criteria, remark)
    names = chain([name], () if claimed else _late_ways(ledger, direction))
    seen = (_PortSight(ledger, rank, one, direction, due, criteria).sighting() for one in names)
    found = first = next(seen)
    if first.kind != "small":
        found = next((one for one in chain([first], seen) if one.proves), first)
    if found.kind in _SHORT and restarted(ledger, claimed):
        return replace(found, kind="wrapped")
    if not claimed and due.need < STRAY_BYTES and found.kind in ("mixed", "wrong-path"):
        # with so few bytes, the busiest port is not necessarily their path
        return replace(found, kind="background")
    return found


def _late_ways(ledger: Ledger, direction: Direction) -> Iterator[str]:
    """Yield the egress ports whose counters are late, and the ports that are stacked on them."""
    ways = everywhere(ledger, direction)
    late = {name for name, way in ways.items() if way.quality == "stale"}
    for name in ledger.ports:
        if late.intersection([name, *beneath(name, ledger.lower)]):
            yield name


class _PortSight:
    """One port with the other ports around it."""

    def __init__(
        self,
        ledger: Ledger,
        rank: int,
        name: str,
        direction: Direction,
        due: Due,
        criteria: Criteria,
    ) -> None:
        self.ledger, self.rank, self.name, self.direction, self.due, self.criteria = (
            ledger,
            rank,
            name,
            direction,
            due,
            criteria,
        )
        self.fresh: Level | None = None
        whole = claimed_at(ledger, name, direction)
        self.here = self._fresh(whole) if whole.quality == "stale" else whole
        self.around = others_than(ledger, name, direction)
        self.others = {
            nic: self._unexplained(nic, one.bytes or 0.0) for nic, one in self.around.items()
        }
        self.loop = sum(one.bytes or 0.0 for one in looped(ledger, direction).values())
        apart = {nic: one for nic, one in self.around.items() if not self._is_late_rest(nic, one)}
        stray = sum(self.others[nic] for nic in apart) + self.loop
        self.stray = stray > max(_ELSEWHERE * due.need, STRAY_BYTES)
        self.rival = any(self._could_carry(nic, one) for nic, one in apart.items())

    def _fresh(self, whole: Crossed) -> Crossed:
        """Return the up-to-date counters of a port with late counters, if they show all due bytes.

        Late counters may add bytes but never remove any.
        """
        for weakest in LEVELS:
            fresh = fresh_at(self.ledger, self.name, self.direction, weakest)
            if fresh is None or fresh.bytes is None:
                continue
            if fresh.bytes >= self.criteria.on_wire_min * self._least(fresh):
                self.fresh = weakest
                return fresh
        return whole

    def _unexplained(self, nic: str, seen: float) -> float:
        """Subtract what other pairs of this host were expected to move there."""
        return max(0.0, seen - (self.due.elsewhere or {}).get(nic, 0.0))

    def sighting(self) -> Sighting:
        here, due = self.here, self.due
        # several pairs of one host share its counters
        share = due.own / due.need if due.need > 0 else 1.0
        return Sighting(
            self._kind(),
            self.rank,
            self.name,
            self.direction,
            due.own,
            None if here.bytes is None else here.bytes * share,
            self.others,
            self.loop,
            wrapped=here.quality == "wrapped",
            stray=self.stray,
            rival=self.rival,
            level=here.level,
            quality=here.quality,
            by=here.by,
            remark=here.remark,
            packets=here.packets,
            rails=self._rails(share),
            masked=is_masked(self.ledger, self.name),
        )

    def _is_late_rest(self, nic: str, one: Crossed) -> bool:
        """Return whether a port below the claimed port is late, so that its bytes beyond the
        claimed port's may belong to an earlier point.
        """
        return one.quality == "stale" and nic in beneath(self.name, self.ledger.lower)

    def _rails(self, share: float) -> tuple[tuple[str, float | None], ...]:
        port = self.ledger.ports[self.name].nic
        each = port.lower if are_rails(port) else []
        ledger = up_to_date(self.ledger, self.fresh) if self.fresh else self.ledger
        seen = at_rails(ledger, each, self.direction)
        return tuple((one, None if n is None else n * share) for one, n in seen.items())

    def _could_carry(self, nic: str, one: Crossed) -> bool:
        """Return whether another port moved as many bytes, and packets if counted, as the payload
        needs.
        """
        due, least = self.due, self.criteria.on_wire_min
        seen = self.others[nic]
        return one.bytes is not None and could_carry(
            seen, one.packets, due.need, due.packets, least
        )

    def _kind(self) -> str:
        if self.due.own < self.criteria.min_payload_bytes:
            return "on-wire" if self._beyond_control() else "small"
        port = self.ledger.ports[self.name]
        if not shows_presence(port):
            return "unknown"
        kind = self._counted()
        if kind in ("mixed", "wrong-path"):
            moved = {self.name: self.here.bytes or 0.0, **self.others}
            least = self.criteria.stray_share * self.due.need
            return "dark" if unplaced(self.ledger, moved, least) else kind
        if kind == "on-wire":
            return "unknown" if is_on_air(self.ledger, self.name) else kind
        return "unknown" if kind in ("blind", "dark") and not port.known else kind

    def _counted(self) -> str:
        if self.here.bytes is None:
            return self._unread()
        if self.here.quality == "stale":
            return "stale"
        if self.here.background > _LOUD_BACKGROUND * self.due.need:
            return "background"
        least = self.criteria.on_wire_min * self._least(self.here)
        if self.here.bytes >= least:
            return "on-wire" if self._fits() else "background"
        if self.here.bytes + self.here.background >= least:
            return "background"  # the subtracted background covers the missing bytes
        return self._shortage(self.here.bytes)

    def _least(self, here: Crossed) -> float:
        """Return the minimum that a counter must show; without headers if the counter may omit
        them."""
        payload = self.due.payload or 0.0
        telling = payload >= self.criteria.min_payload_bytes
        return payload if here.quality == "lower-bound" and telling else self.due.need

    def _unread(self) -> str:
        if self.here.quality == "pegged" or self.here.remark in ("reset", "negative"):
            return "wrapped"
        return "wrong-path" if self.here.bytes is None and self._beside() else "blind"

    def _beside(self) -> bool:
        """Return whether the kernel moved exactly this payload on other ports while the claimed
        device has no interface, so that those bytes cannot be the device's.
        """
        family = family_of(self.ledger.ports[self.name].nic)
        kernel = sum(one.carried("kernel") or 0.0 for one in self.around.values())
        least = self.criteria.on_wire_min * self.due.need
        alone = family is not None and without_interface(family) and not self._few_elsewhere()
        return alone and least <= kernel <= self.due.most

    def _fits(self) -> bool:
        """Return whether the bytes do not exceed the payload, the packets suffice and other ports
        are quiet.
        """
        few = lacks_packets(self.here.packets, self.due.packets, self.criteria.on_wire_min)
        return (self.here.bytes or 0.0) <= self.due.most and not self.stray and not few

    def _shortage(self, seen: float) -> str:
        """Return where the payload went, or why the counter is not reliable, if the claimed port
        counted too little.
        """
        need, here = self.due.need, self.here
        elsewhere = 0.0 if self._few_elsewhere() else sum(self.others.values()) / need
        quiet = max(self.criteria.stray_share, min(_ELSEWHERE, _IDLE_CHATTER / need))
        whole = elsewhere >= self.criteria.on_wire_min and elsewhere > self.loop / need
        if whole and seen < quiet * need:
            return self._by_another()
        if here.quality == "wrapped" or self._may_have_wrapped(seen):
            return "wrapped"
        if not here.complete:
            return "mixed" if self._halved(seen / need, elsewhere, quiet) else self._unread()
        if turned_round(here.inside, seen, need, self.criteria.on_wire_min * need):
            return "inside"
        return self._absent(_missing(seen / need, elsewhere, self.loop / need, quiet))

    def _halved(self, here: float, elsewhere: float, quiet: float) -> bool:
        """Return whether this port and others account for all of the payload, even without
        uncounted bytes, and for no more.
        """
        if min(here, elsewhere) < quiet or here + elsewhere < self.criteria.on_wire_min:
            return False
        return (here + elsewhere) * self.due.need <= self.due.most

    def _absent(self, kind: str) -> str:
        """Return the kind of shortage, unless an unread or unclear port may have carried the
        missing bytes."""
        if kind == "wrong-path":
            return self._by_another()
        if kind in ("off-wire", "partly"):
            open_ = uncounted(self.ledger, self.around) or self._inside_the_host()
            return "dark" if open_ else "background" if self._masked() else kind
        return kind

    def _inside_the_host(self) -> bool:
        """Return whether a virtual port whose peer is in another namespace carried the missing
        bytes. A port without an address most likely leads into a container of this host, and no
        counter shows the path of the bytes there.
        """
        found = inside(self.ledger, self.direction, self.name).values()
        missing = self.criteria.on_wire_min * self.due.need - (self.here.bytes or 0.0)
        return sum(one.bytes or 0.0 for one in found) >= missing

    def _by_another(self) -> str:
        """Return ``wrong-path``, unless other ports carried more than this payload: then its path
        is unclear.
        """
        return "wrong-path" if sum(self.others.values()) <= self.due.most else "background"

    def _few_elsewhere(self) -> bool:
        """Return whether the other ports count far fewer packets than there were messages, so that
        they did not carry the payload.
        """
        counts = [one.packets for nic, one in self.around.items() if self.others[nic] > 0]
        seen = None if None in counts else sum(count or 0.0 for count in counts)
        return lacks_packets(seen, self.due.packets, _ELSEWHERE)

    def _masked(self) -> bool:
        """Return whether the background subtracted at another port could be the missing bytes."""
        return any(
            one.background > 0
            and self._unexplained(nic, (one.bytes or 0.0) + one.background)
            > _ELSEWHERE * self.due.need
            for nic, one in self.around.items()
        )

    def _may_have_wrapped(self, seen: float) -> bool:
        """Return whether a 32-bit counter may have wrapped: the rise is known only up to multiples
        of its range.
        """
        least = self.criteria.on_wire_min * self.due.need
        most = self.due.most if math.isfinite(self.due.most) else 4 * self.due.need
        return may_have_wrapped(self.here.wrap_bytes, seen, least, most, self.here.packets)

    def _beyond_control(self) -> bool:
        """Return whether the headers of many small messages show in the count, beyond the control
        traffic.
        """
        here, own = self.here, self.due.own
        if here.bytes is None or own <= 0 or here.background > _LOUD_BACKGROUND * here.bytes:
            return False
        return (
            here.quality not in ("stale", "wrapped")
            and max(self.due.control, own) < here.bytes <= self.due.most
        )


def _missing(here: float, elsewhere: float, loop: float, quiet: float) -> str:
    """Return the kind of shortage. All arguments are shares of the bytes needed."""
    if here < quiet:
        if loop >= _ELSEWHERE and loop > elsewhere:
            return "loopback"
        return "wrong-path" if elsewhere >= _ELSEWHERE else "off-wire"
    return "mixed" if elsewhere >= quiet else "partly"
