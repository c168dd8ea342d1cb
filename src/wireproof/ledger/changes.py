# pure
"""The changes of counters over one interval, from any reader: the input of the ledger. Pure. It
also finds the changes that are trouble (retransmissions, drops, pauses), and adds up the totals of
several launches.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

import msgspec

from wireproof.model.record import Idle, QuietWindows, Total, WitnessReading
from wireproof.model.traffic import CounterMark

_32 = 1 << 32
ABSENT, SILENT = "absent", "silent"
_QUIET_NOISE = 16_384
"""Smaller counts in the quiet windows come from neighbour discovery and the end of the point.
"""
_LOUDER = 2.0


class Rise(msgspec.Struct, frozen=True):
    """The rise of a counter. ``None`` with a remark if it is unknown: ``absent``, ``unreadable``,
    ``reset``, ``saturated``, ``negative``, ``new``. ``wrapped``: it wrapped once, and the rise was
    corrected. ``silent``: it did not move, or does not exist.
    """

    count: int | None
    remark: str = ""


_UNREADABLE, _SILENT, _STILL, _ABSENT = (
    Rise(None, "unreadable"),
    Rise(0, SILENT),
    Rise(0),
    Rise(None, ABSENT),
)


def counter_delta(before: int, after: int, bits: int = 64) -> tuple[int | None, str]:
    """Return difference and remark.

    ``wrapped``: the 32-bit value wrapped once (perhaps more often). The difference is None for
    ``reset``, ``saturated`` and ``negative``. Wider counters never wrap twice, so a corrected
    difference is exact.
    """
    if before < 0 or after < 0:
        return None, "negative"
    if after >= before:
        return (None, "saturated") if after == _32 - 1 else (after - before, "")
    if before < _32 and before >= _32 // 2 and after < _32 // 2:
        return after + _32 - before, "wrapped"
    bits = 64 if before >> 63 else bits  # the register is wider than in the catalogue
    if 1 << bits > before >= 1 << (bits - 1) > after:
        return after + (1 << bits) - before, ""
    return None, "reset"


class WitnessChanges:
    """The changes in a reading of wireproof's engine, which lists only counters that changed.

    ``idle``: the reading of the same reader before the run; its ``standing`` lists the existing
    byte counters if the engine reports them. Without that list, a counter that is not in the
    reading counts as unchanged. ``settled_ms``: wait before both readings; a counter with a shorter
    refresh is not late.
    """

    def __init__(self, reading: WitnessReading, idle: Idle | None) -> None:
        self._reading, self._idle = reading, idle
        self._quiet = reading.quiet
        self._tail = reading.tail if isinstance(reading, Total) else []
        self._standing = idle.standing if idle is not None else None
        self.interval_ns = reading.interval_ns
        self.settled_ms = reading.settled_ns / 1e6 if isinstance(reading, Total) else 0.0

    def rise(self, name: str, bits: int = 64) -> Rise:
        """Return the rise of ``name``, a register of ``bits`` bits."""
        pair = self._reading.counters.get(name)
        if pair is not None:
            return Rise(*counter_delta(*pair, bits))
        if self._reading.unreadable and self._unreadable(name):
            return _UNREADABLE
        if self._standing is None:
            return _SILENT
        return _STILL if name in self._standing else _ABSENT

    def _unreadable(self, name: str) -> bool:
        lost = self._reading.unreadable
        return any(name == one or name.startswith(one.rstrip("*/") + "/") for one in lost)

    def background(self, name: str) -> float:
        """Return the counts of other traffic over the whole interval."""
        idle = _rates(name, [self._idle] if self._idle else [])
        if self._tail:
            return _steady(idle, _rates(name, self._tail), self.interval_ns, self.rise(name))
        loud = self._quiet is not None and self._quiet.counters.get(name, 0) > _QUIET_NOISE
        before = max(idle, default=0.0)
        quiet = max(_rates(name, [self._quiet] if self._quiet and loud else []), default=0.0)
        return (quiet if quiet > _LOUDER * before else before) * self.interval_ns

    def peak(self, name: str) -> float | None:
        """Return the highest rate between two readings in counts per second; None if not read."""
        return None

    def last(self, name: str) -> int | None:
        """Return the value at the end; None if it is not known."""
        pair = self._reading.counters.get(name)
        if pair is not None:
            return pair[1]
        return self._standing.get(name) if self._standing else None


def _steady(idle: Iterable[float], tail: Iterable[float], interval_ns: float, rise: Rise) -> float:
    """Return the counts of other traffic from its rates (per ns) before and after the measurement.
    The rate before it is used, or the rate after it if that is higher and steady, limited to the
    counted amount. Of several readings the lowest is used: a burst is in only one of them, and a
    late counter still adds measured bytes in the first reading after it.
    """
    found = max(min(idle, default=0.0), min(tail, default=0.0)) * interval_ns
    return found if rise.count is None else min(found, rise.count)


class MarkedChanges:
    """Two full readings around a command, one before them for the background, and the peaks in
    between. ``aside``: further readings, before the command or after it. ``fell``: counters that
    were reset in between. A driver's own statistics, which are not read in between, may have been
    reset together with the interface's.
    """

    def __init__(
        self,
        start: CounterMark,
        before: CounterMark,
        after: CounterMark,
        peaks: Mapping[str, float],
        settled_ms: float = 0.0,
        fell: Iterable[str] = (),
        aside: Sequence[CounterMark] = (),
    ) -> None:
        self._before, self._after, self._peaks = before, after, peaks
        marks = sorted((start, before, after, *aside), key=lambda mark: mark.t_ns)
        here = marks.index(before) + 1
        self._idle = marks[marks.index(start) : here]
        self._tail = marks[here:] if len(marks) > here + 2 else []
        self._fell = frozenset(fell)
        self._fell_at = frozenset(
            name.split("/")[1] for name in self._fell if name.startswith("net/")
        )
        self.settled_ms = settled_ms
        self.interval_ns = float(after.t_ns - before.t_ns)

    def rise(self, name: str, bits: int = 64) -> Rise:
        if name not in self._after.counters:
            known = any(name in one.counters for one in self._idle)
            return Rise(None, "unreadable" if known else ABSENT)
        if name not in self._before.counters:
            return Rise(None, "new")
        if name in self._fell or (
            self._fell_at and name.startswith("ethtool/") and name.split("/", 2)[1] in self._fell_at
        ):
            return Rise(None, "reset")
        return Rise(*counter_delta(self._before.counters[name], self._after.counters[name], bits))

    def background(self, name: str) -> float:
        idle, tail = (
            [rate_between(name, *pair) / 1e9 for pair in pairwise(marks)]
            for marks in (self._idle, self._tail)
        )
        return _steady(idle, tail, self.interval_ns, self.rise(name))

    def peak(self, name: str) -> float | None:
        return self._peaks.get(name)

    def last(self, name: str) -> int | None:
        return self._after.counters.get(name)


Changes = WitnessChanges | MarkedChanges
"""One network namespace over one interval."""


def rate_between(name: str, one: CounterMark, two: CounterMark) -> float:
    """Return the rate of a counter in counts per second; 0 if it is unknown."""
    rise = counter_delta(one.counters.get(name, -1), two.counters.get(name, -1))[0] or 0
    return rise * 1e9 / max(1.0, two.t_ns - one.t_ns)


# --- Trouble counters of a port, and totals over several launches.

_TROUBLE = {
    "link": ("link_down", "link_error_recovery", "carrier_changes"),
    "retransmits": (
        "retrans",
        "out_of_sequence",
        "packet_seq_err",
        "rnr_nak_retry_err",
        "local_ack_timeout_err",
        "implied_nak",
        "tx_replay",
        "rcresend",
        "rcseqnak",
        "oos_drop",
        "max_retry_exceeded",
    ),
    "drops": (
        "dropped",
        "discard",
        "_errors",
        "out_of_buffer",
        "indiscards",
        "symbol_error",
        "missed",
        "overrun",
    ),
    "pauses": ("pause", "xoff", "port_xmit_wait", "pfc_ena"),
}


RETRANSMITTED, OVERTAKEN = "ip/Tcp/RetransSegs", "ip/TcpExt/TCPSACKReorder"
_DUPLICATES = (
    "ip/TcpExt/TCPDSACKRecv",
    "ip/TcpExt/TCPDSACKOfoRecv",
    "ip/TcpExt/TCPDSACKRecvSegs",
)
"""Duplicates that the receivers reported (RFC 2883), in blocks and in segments: the sender had
retransmitted what was not lost (linux Documentation/networking/snmp_counter.rst).
"""
TCP_REPEATS = (RETRANSMITTED, OVERTAKEN, *_DUPLICATES)
_MOSTLY = 0.5  # share of the retransmitted segments
_REORDERS = 0.1  # per retransmitted segment


def duplicate_segments(rises: Mapping[str, int]) -> int:
    """Return the number of retransmitted segments that the receivers already had; a block holds one
    or more.
    """
    late, ahead, segments = (rises.get(name, 0) for name in _DUPLICATES)
    return min(rises.get(RETRANSMITTED, 0), max(late + ahead, segments))


def lost_segments(rises: Mapping[str, int]) -> int:
    """Return the retransmitted segments; 0 if most were duplicates: these were not lost."""
    resent = rises.get(RETRANSMITTED, 0)
    return 0 if duplicate_segments(rises) > _MOSTLY * resent else resent


def are_reordered(rises: Mapping[str, int]) -> bool:
    """Return whether acknowledgements show segments that arrived in another order. Duplicates alone
    may be segments whose acknowledgement came late.
    """
    resent = rises.get(RETRANSMITTED, 0)
    overtaken = rises.get(OVERTAKEN, 0) >= _REORDERS * resent
    return resent > 0 and overtaken and not lost_segments(rises)


def trouble_counters(deltas: dict[str, int]) -> dict[str, dict[str, int]]:
    """Return trouble counters that rose, grouped as link, retransmits, drops, pauses."""
    found: dict[str, dict[str, int]] = {}
    for name, delta in sorted(deltas.items()):
        if delta > 0 and (group := _group(name.rsplit("/", 1)[-1])):
            found.setdefault(group, {})[name] = delta
    return found


@lru_cache(maxsize=4096)
def _group(leaf: str) -> str:
    """Return the group of a counter; cached, because the hosts of a cluster share the same
    names."""
    low = leaf.lower()
    return next((name for name, words in _TROUBLE.items() if any(w in low for w in words)), "")


def joined_totals(totals: Iterable[Total]) -> list[Total]:
    """Return one ``Total`` per rank: the rises of each launch's counters, added up.

    Traffic between launches is not included. A counter is unreadable if one launch could not read
    it, or if it fell by more than it had risen.
    """
    by_rank: dict[int, Total] = {}
    for total in totals:
        known = by_rank.get(total.rank)
        by_rank[total.rank] = total if known is None else _joined(known, total)
    return [by_rank[rank] for rank in sorted(by_rank)]


def _joined(one: Total, other: Total) -> Total:
    counters = dict(one.counters)
    for name, (before, after) in other.counters.items():
        begin, end = counters.get(name, (before, before))
        counters[name] = (begin, end + after - before)
    went_on = Counter(_went_on(one)) + Counter(_went_on(other))
    interval_ns = one.interval_ns + other.interval_ns
    unreadable = {
        *one.unreadable,
        *other.unreadable,
        *(name for name, (_, end) in counters.items() if end < 0),
    }
    return Total(
        rank=one.rank,
        interval_ns=interval_ns,
        settled_ns=max(one.settled_ns, other.settled_ns),
        counters={name: values for name, values in counters.items() if name not in unreadable},
        unreadable=sorted(unreadable),
        shared_with=one.shared_with,
        source=one.source,
        foreign_sysfs=one.foreign_sysfs or other.foreign_sysfs,
        tail=[QuietWindows(interval_ns=interval_ns, counters=dict(went_on))] if went_on else [],
    )


def _went_on(total: Total) -> dict[str, int]:
    """Return the counts to add for traffic that continued after a launch."""
    return {
        name: round(min(_rates(name, total.tail)) * total.interval_ns)
        for name in (total.tail[0].counters if total.tail else ())
    }


def _rates(name: str, windows: Iterable[QuietWindows | Idle]) -> list[float]:
    """Return counts per ns of each window."""
    return [
        max(0, one.counters.get(name, 0)) / one.interval_ns if one.interval_ns > 0 else 0.0
        for one in windows
    ]
