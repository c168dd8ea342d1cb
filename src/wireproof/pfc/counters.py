# pure
"""Read a port's priority flow control counters, by driver. The byte ledger's code also detects
wraps and resets in these counters. Pure.
"""

import functools
from collections.abc import Container, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Annotated

import msgspec

from wireproof.ledger.catalogue.read import PLACES, Age, check_drivers, site_first
from wireproof.ledger.changes import ABSENT, Changes, MarkedChanges
from wireproof.ledger.crossed import crossed_at
from wireproof.ledger.ledger import HostPorts
from wireproof.ledger.relations import beneath, port_called, stacks
from wireproof.ledger.traffic import speed_of
from wireproof.model.claim import rails_of
from wireproof.model.record import Nic
from wireproof.model.site import HEADS, of_site
from wireproof.model.toml import check_braces, once, read_rows
from wireproof.model.traffic import DIRECTIONS, Direction, Ledger, PortLedger, Watched
from wireproof.pfc import Count, Drop, Pauses, PfcReading, PriorityReading

# --- The ports of a host that can have priority flow control.


def ports_of(nics: Sequence[Nic], named: str = "") -> list[str]:
    """Return the lowest ports below ``named`` (an interface, or rails); empty if ``named`` does not
    exist.

    Without a name: the Ethernet ports with RDMA, else all ports with a carrier, else the virtual
    ports.
    """
    if named:
        return list(dict.fromkeys(one for rail in rails_of(named) for one in bottom(nics, rail)))
    ethernet = [one for one in nics if one.kind == "ethernet" and one.carrier is not False]
    rdma = [one for one in ethernet if one.rdma is not None]
    virtual = [one for one in nics if one.kind == "virtual" and not one.lower]
    return [one.name for one in rdma or ethernet or virtual]


def bottom(nics: Sequence[Nic], named: str) -> list[str]:
    """Return ``named``, or the lowest ports of a VLAN or bond of that name: pauses are counted
    there.

    ``named`` may be the name of an RDMA device.
    """
    first = port_called(nics, named)
    if first is None:
        return []
    lower = stacks(nics)
    every = [first.name, *beneath(first.name, lower)]
    return [one for one in every if not any(below in lower for below in lower[one])]


# --- The table of pause counters: the names that one kind of adapter uses.

Names = tuple[str, ...]
"""Alternatives, the best first; each lists counters to add up, separated by spaces. ``{p}``: the
priority; ``{nic}``, ``{device}``, ``{port}``: as in the ledger's catalogue. A name without a
folder is a counter of ``ethtool -S``.
"""


class Dropped(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A counter of lost packets.

    ``proves``: a value of 0 shows that nothing was lost in this direction for lack of buffers.
    Other counters (a kernel's software queue) can only show losses.
    """

    direction: Direction
    names: Names
    proves: bool = True

    @property
    def by_priority(self) -> bool:
        return any("{p}" in alternative for alternative in self.names)


class PfcFamily(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One kind of adapter, by the driver of its interface (shell patterns, lower case).

    Pairs are (tx, rx). ``xoff``, ``xon``: pause frames that stop and that resume; ``frames``: both
    together, if the driver does not separate them. ``resumes``: number of pauses that ended;
    ``toggles``: number of times that a pause began or ended. ``paused_us``: time. ``load``: traffic
    of a priority. ``total``: PFC frames without their priority. ``lost``: RDMA packets missed or
    retransmitted. ``link``: frames of link-level flow control. ``storms``: alarms of the adapter.
    ``marks``: congestion notifications sent and received, packets marked (ECN).

    ``shown_when_on``: pauses of a priority are listed only if its PFC is on; those of the link only
    if its flow control is on. ``unison``: priorities of one traffic class count together.
    ``refresh_ms``: maximum age of a value. ``source``: the document that lists the names.
    ``unchecked``: names that were not checked in the driver's source.
    """

    name: str
    drivers: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    source: str
    xoff: tuple[Names, Names] = ((), ())
    xon: tuple[Names, Names] = ((), ())
    frames: tuple[Names, Names] = ((), ())
    resumes: tuple[Names, Names] = ((), ())
    toggles: tuple[Names, Names] = ((), ())
    paused_us: tuple[Names, Names] = ((), ())
    load: tuple[Names, Names] = ((), ())
    total: tuple[Names, ...] = ()
    drops: tuple[Dropped, ...] = ()
    lost: tuple[Names, ...] = ()
    link: tuple[Names, ...] = ()
    storms: tuple[Names, ...] = ()
    marks: tuple[Names, ...] = ()
    shown_when_on: bool = False
    unison: bool = False
    refresh_ms: Age = 0.0
    unchecked: tuple[str, ...] = ()
    note: str = ""


@of_site
def pausing() -> tuple[PfcFamily, ...]:
    """Return all adapters whose pause counters are known."""
    return site_first(pauses_in)


def pauses_in(text: str, source: str, known: set[str] | None = None) -> list[PfcFamily]:
    """Return the pause tables of one file and add their names to ``known``.

    Raises ``BadInput`` with ``source``, line and field.
    """
    names = set() if known is None else known

    def new(family: PfcFamily) -> None:
        once(names, family.name, "pauses")
        check_drivers(family.drivers)
        check_braces(family, PfcFamily.__struct_fields__, (*PLACES, "p"))

    return read_rows(text, source, "pauses", PfcFamily, HEADS, new)


def by_driver(driver: str) -> PfcFamily | None:
    """Return the pause table of a driver, or None if no pause counters are known."""
    name = driver.lower()
    return next(
        (one for one in pausing() if any(fnmatchcase(name, pattern) for pattern in one.drivers)),
        None,
    )


def by_counters(statistics: Container[str]) -> PfcFamily | None:
    """Return the only family with pause counters among ``statistics`` (names of ``ethtool -S``),
    else None.
    """
    signs = [(one, _own(one)) for one in pausing()]
    totals = [(one, () if own else one.total) for one, own in signs]
    for candidates in (signs, totals):
        found = [one for one, each in candidates if any(_listed(n, statistics) for n in each)]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _own(family: PfcFamily) -> tuple[Names, ...]:
    """Return the counters that no other family has."""
    pairs = (family.xoff, family.frames, family.paused_us, family.load)
    return tuple(names for pair in pairs for names in pair if names)


def _listed(names: Names, statistics: Container[str]) -> bool:
    return any(
        all(name.replace("{p}", str(priority)) in statistics for name in one.split())
        for one in names
        for priority in range(8)
    )


PRIORITIES = range(8)
_LEAST_TRAFFIC = 1_000_000.0
_A_PART = 0.1
_EVERYWHERE: tuple[Names, ...] = tuple(
    (f"net/{{nic}}/{one}",) for one in ("rx_missed_errors", "rx_fifo_errors", "rx_over_errors")
)
"""The kernel's counters of packets without a buffer; drivers that do not count them show 0."""

_RESENT: Names = ("ip/Tcp/RetransSegs",)


def readings_of(watched: Watched, nics: Iterable[str]) -> list[PfcReading]:
    """Return readings of the named ports of one host; none if its readings are incomplete."""
    about, start, before, after = watched.about, watched.start, watched.before, watched.after
    if watched.error or about is None or start is None or before is None or after is None:
        return []
    changes = MarkedChanges(
        start, before, after, watched.peaks, watched.settled_s * 1e3, watched.fell
    )
    ledger = HostPorts(watched.host, about.nics, foreign=about.foreign_sysfs).ledger(changes)
    # each name without the trailing spaces of some drivers, with its spelling in the readings
    spelled = {name.strip(): name for name in (*before.counters, *after.counters)}
    known = {nic.name: nic for nic in about.nics}
    return [
        _PausedPort(known[name], changes, spelled).reading(watched.host, ledger)
        for name in nics
        if name in known
    ]


def _by_kernel(port: PortLedger) -> bool | None:
    """Return whether the kernel moved a tenth or more; None if its part is not counted
    separately.
    """
    found = None
    for direction in DIRECTIONS:
        entries = [one for one in port.entries(direction) if one.bytes is not None]
        kernel = sum(one.bytes or 0.0 for one in entries if one.carrier == "kernel")
        if any(one.carrier == "kernel" for one in entries):
            most = max(one.bytes or 0.0 for one in entries)
            found = bool(found) or (kernel >= _LEAST_TRAFFIC and kernel >= _A_PART * most)
    return found


@functools.lru_cache(maxsize=1 << 14)
def _filled(template: str, nic: str, device: str, port: int, priority: int) -> str:
    """Return the name with its placeholders filled in; cached, because most hosts of a cluster have
    the same names."""
    place = template if "/" in template else f"ethtool/{{nic}}/{template}"
    return place.format(nic=nic, device=device, port=port, p=priority)


class _PausedPort:
    """One port with the table of its adapter, and the changes of its host's counters."""

    def __init__(self, nic: Nic, changes: Changes, spelled: dict[str, str]) -> None:
        place = f"ethtool/{nic.name}/"
        self.nic, self.changes, self.spelled = nic, changes, spelled
        self.family = (
            by_driver(nic.driver)
            or by_counters({one.removeprefix(place) for one in spelled if one.startswith(place)})
            or PfcFamily(name="", drivers=(), source="")
        )

    def reading(self, host: str, ledger: Ledger) -> PfcReading:
        nic, family, changes = self.nic, self.family, self.changes
        arrived = crossed_at(ledger, nic.name, "rx")
        late = family.refresh_ms > changes.settled_ms
        return PfcReading(
            host=host,
            nic=nic.name,
            driver=nic.driver,
            family=family.name,
            speed_bits_per_s=speed_of(nic),
            mtu=nic.mtu,
            seconds=changes.interval_ns / 1e9,
            priorities=[self._priority(number) for number in PRIORITIES],
            drops=self._drops(),
            lost=self._each(family.lost),
            resent=self._count(_RESENT),
            by_kernel=_by_kernel(ledger.ports[nic.name]),
            link=self._each(family.link),
            storms=self._each(family.storms),
            marks=self._each(family.marks),
            total=self._each(family.total),
            tx_bytes=crossed_at(ledger, nic.name, "tx").bytes,
            rx_bytes=arrived.bytes,
            rx_peak_bytes_per_s=arrived.peak_bytes_per_s,
            before=self._before(),
            unison=family.unison,
            shown_when_on=family.shown_when_on,
            late=f"{family.name} refreshes its counters every {family.refresh_ms:g} ms"
            if late
            else "",
        )

    def _priority(self, number: int) -> PriorityReading:
        tx, rx = (self._pauses(way, number) for way in (0, 1))
        return PriorityReading(priority=number, tx=tx, rx=rx)

    def _pauses(self, way: int, number: int) -> Pauses:
        family = self.family
        resumes = self._count(family.resumes[way], number)
        return Pauses(
            xoff=self._count(family.xoff[way], number),
            xon=self._count(family.xon[way], number),
            frames=self._count(family.frames[way], number),
            resumes=resumes or _ends(self._count(family.toggles[way], number)),
            paused_us=self._count(family.paused_us[way], number),
            load=self._count(family.load[way], number),
        )

    def _count(self, names: Names, number: int = 0) -> Count | None:
        """Return the first alternative that exists; None if none does. A name that needs an RDMA
        device does not exist without one.
        """
        rdma = self.nic.rdma
        device, port = ("", 0) if rdma is None else (rdma.device, rdma.port)
        for one in names:
            templates = [name for name in one.split() if device or "{device}" not in name]
            spelled = [_filled(name, self.nic.name, device, port, number) for name in templates]
            known = [self.spelled[name] for name in spelled if name in self.spelled]
            if known:
                return self._sum(known)
        return None

    def _sum(self, counters: Sequence[str]) -> Count:
        """Add up counters; a missing one (no IPv6) counts as 0."""
        value, least, remarks = 0, False, []
        for name in counters:
            rise = self.changes.rise(name)
            if rise.remark == ABSENT:
                continue
            last = self.changes.last(name)
            if rise.count is None and rise.remark == "reset" and last is not None:
                value, least = value + last, True
            elif rise.count is None:
                return Count(value=None, remark=rise.remark, counters=list(counters))
            else:
                value += rise.count
            remarks += [rise.remark] if rise.remark else []
        remark = ", ".join(dict.fromkeys(remarks))
        return Count(value=value, least=least, remark=remark, counters=list(counters))

    def _each(self, several: Iterable[Names]) -> list[Count]:
        return [count for names in several if (count := self._count(names)) is not None]

    def _drops(self) -> list[Drop]:
        found = [
            Drop(
                direction=one.direction,
                count=count,
                priority=number if one.by_priority else None,
                proves=one.proves,
            )
            for one in self.family.drops
            for number in (PRIORITIES if one.by_priority else (0,))
            if (count := self._count(one.names, number)) is not None
        ]
        return found + [
            Drop(direction="rx", count=count, proves=False) for count in self._each(_EVERYWHERE)
        ]

    def _before(self) -> bool:
        family = self.family
        several = [*family.xoff, *family.frames, *family.paused_us, *family.total]
        counts = [self._count(names, number) for names in several for number in PRIORITIES]
        named = {name for count in counts if count is not None for name in count.counters}
        return any(self.changes.background(name) > 0 for name in named)


def _ends(toggles: Count | None) -> Count | None:
    """Convert begin and end events to ends: two events are one end; a single event may be a
    beginning."""
    if toggles is None or toggles.value is None:
        return toggles
    if toggles.value == 1:
        return msgspec.structs.replace(
            toggles, value=None, remark="one transition, which began a pause or ended it"
        )
    return msgspec.structs.replace(toggles, value=toggles.value // 2)
