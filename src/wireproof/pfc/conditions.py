# pure
"""The four conditions of priority flow control on one port, as a table of rules over its counters.

Pure.

A condition without counters is unproven. Source: the PSM3 slides ("PFC is configured properly if
and only if"): no drops; Xon and Xoff present. This module adds the priority, and link-level flow
control, which IEEE 802.1Q does not allow together with PFC.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from msgspec.structs import replace

from wireproof.model.traffic import Direction
from wireproof.pfc import (
    Answer,
    Condition,
    Count,
    Drop,
    Pauses,
    PfcReading,
    PfcSettings,
    PriorityReading,
)

IN_PRIORITY = 0.9
"""Share of a port's traffic in one priority above which the rest is other traffic."""
HARDLY = 0.1
LEAST_TRAFFIC = 1_000_000
"""Bytes (or packets) below which shares are meaningless."""
_VERB: dict[Direction, str] = {"tx": "sent", "rx": "received"}
_MISSING = "pfc-counters-missing"


class JudgedPort(NamedTuple):
    """A port while it is judged.

    ``priority`` None: the lossless priority is not known. ``claimed``: the user or the settings
    name the priority; it is not guessed from the counters.
    """

    reading: PfcReading
    priority: int | None
    settings: PfcSettings | None
    claimed: bool

    @property
    def own(self) -> PriorityReading:
        """The pauses of the lossless priority, which must be known."""
        return self.reading.of(self.lossless)

    @property
    def lossless(self) -> int:
        """The lossless priority, or 0 if unknown; no rule uses it then."""
        return self.priority or 0

    @property
    def ways(self) -> list[tuple[str, Pauses]]:
        """The pauses sent and the pauses received."""
        return [(_VERB["tx"], self.own.tx), (_VERB["rx"], self.own.rx)]

    @property
    def others(self) -> list[PriorityReading]:
        return [one for one in self.reading.priorities if one.priority != self.priority]

    @property
    def of_driver(self) -> str:
        """A suffix for sentences about the driver of the counters."""
        if self.reading.family:
            return f" ({self.reading.family})"
        return f": no counters of the driver {self.reading.driver or '(none)'} are known"


def _said(answer: Answer, because: str, code: str = "", counts: Sequence[Count] = ()) -> Condition:
    """Return the conclusion of a rule; ``conditions`` adds the name of the condition."""
    counters = [counter for one in counts for counter in one.counters]
    return Condition(name="", answer=answer, because=because, code=code, counters=counters)


Rule = Callable[[JudgedPort], Iterator[Condition]]
"""Yields its conclusions, or nothing if it does not apply."""


def conditions(port: JudgedPort) -> list[Condition]:
    """Return all four conditions, each by the first rule that concludes something."""
    found = []
    for name, rules in CONDITIONS.items():
        said = next(chain.from_iterable(rule(port) for rule in rules))
        if said.code == _MISSING and not port.reading.family and name != "link-pause":
            driver = port.reading.driver or "(none)"
            because = f"wireproof knows no pause counters of the driver {driver}"
            said = replace(said, because=because, code="pfc-adapter-unknown")
        found.append(replace(said, name=name))
    return found


def _unread(counts: Sequence[Count | None]) -> Iterator[Condition]:
    """Report counters that exist but have no value for this interval."""
    if unknown := [one for one in counts if one is not None and one.moved is None]:
        why = unknown[0].remark or "not known"
        yield _said(
            "unproven",
            f"{_leaf(unknown[0].counters)} has no value for this interval: {why}",
            "pfc-counters-unreadable",
            unknown,
        )


def _no_priority(port: JudgedPort) -> Iterator[Condition]:
    if port.priority is None:
        yield _said(
            "unproven", "the lossless priority is unknown: give --priority", "pfc-no-priority"
        )


# --- Condition 1: no drops in either direction.


def drops_of(reading: PfcReading, priority: int | None) -> list[Drop]:
    """Return the drops that may belong to ``priority``, without those that other priorities account
    for.
    """
    if priority is None:
        return [one for one in reading.drops if one.count.moved]
    risen = [one for one in reading.drops if one.count.moved and one.priority in (None, priority)]
    return [one for one in risen if not _elsewhere(one, reading, priority)]


def _elsewhere(drop: Drop, reading: PfcReading, priority: int) -> bool:
    """Return whether counters per priority attribute every packet of this sum to other
    priorities.
    """
    if drop.priority is not None or not drop.proves or drop.count.value is None:
        return False
    by_priority = {
        one.priority: one.count
        for one in reading.drops
        if one.priority is not None and one.proves and one.direction == drop.direction
    }
    if len(by_priority) < 8 or by_priority[priority].moved is not False:
        return False
    return sum(count.value or 0 for count in by_priority.values()) >= drop.count.value


def _asked(port: JudgedPort) -> list[Drop]:
    return [one for one in port.reading.drops if one.priority in (None, port.priority)]


def _lost(port: JudgedPort) -> Iterator[Condition]:
    if dropped := drops_of(port.reading, port.priority):
        said = "; ".join(f"{_amount(one.count)} ({one.direction})" for one in dropped[:3])
        counts = [one.count for one in dropped]
        yield _said("fail", f"packets were dropped: {said}", "pfc-dropped", counts)
    if lost := [one for one in port.reading.lost if one.moved]:
        said = "; ".join(_amount(one) for one in lost[:3])
        yield _said("fail", f"packets were lost in the network: {said}", "pfc-lost", lost)


def _drops_unread(port: JudgedPort) -> Iterator[Condition]:
    yield from _unread([*(one.count for one in _asked(port)), *port.reading.lost])


def _in_the_switch(port: JudgedPort) -> Iterator[Condition]:
    """Judge drops in a switch, which hosts see only as retransmissions."""
    reading = port.reading
    if reading.lost and not reading.by_kernel:
        return
    if reading.resent is None:
        because = "drops in a switch would go unnoticed: no retransmission counter was read"
        yield _said("unproven", because + port.of_driver, _MISSING)
    elif reading.resent.moved:
        because = (
            f"TCP retransmitted segments ({_amount(reading.resent)}): they were lost in a switch, "
            "or only late"
        )
        yield _said("unproven", because, "pfc-lost", [reading.resent])
    yield from _unread([reading.resent])


def _none_dropped(port: JudgedPort) -> Iterator[Condition]:
    proving = [
        one
        for one in _asked(port)
        if one.proves and not _elsewhere(one, port.reading, port.lossless)
    ]
    for direction, verb in _VERB.items():
        if not any(one.direction == direction for one in proving):
            because = f"no counter shows packets dropped when {verb}"
            yield _said("unproven", because + port.of_driver, _MISSING)
    because = "the host's counters show 0 drops in both directions"
    yield _said("pass", because, "", [one.count for one in proving])


# --- Condition 2: every pause that was requested was also ended.


def _never_resumed(port: JudgedPort) -> Iterator[Condition]:
    for verb, pauses in port.ways:
        if pauses.stopped and pauses.resumed is False:
            yield _said(
                "fail",
                f"Xoff was {verb} ({_sent(pauses)}), but Xon never",
                "pfc-no-xon",
                _counts(pauses),
            )


def _no_pause(port: JudgedPort) -> Iterator[Condition]:
    if any(one.stopped is not False for _, one in port.ways):
        return
    if drops_of(port.reading, port.priority):
        because = "packets were dropped, but no pause was sent or received"
        yield _said("fail", because, "pfc-no-xoff", _both(port.own))
    because = "no pause was sent or received: this port was not congested"
    yield _said("quiet", because, "", _both(port.own))


def _pauses_uncounted(port: JudgedPort) -> Iterator[Condition]:
    for verb, pauses in port.ways:
        if pauses.stopped is None:
            yield from _unread(_counts(pauses))
            because = f"no counter shows pauses {verb} in priority {port.priority}"
            because += port.of_driver
            if port.reading.shown_when_on:
                because += "; its driver lists them only if PFC is on for the priority"
            elif port.reading.total:
                because += "; its counters do not separate PFC frames by priority"
            yield _said("unproven", because, _MISSING)
        elif pauses.stopped and pauses.resumed is None:
            because = f"Xoff was {verb} ({_sent(pauses)}), but no counter shows that a pause ended"
            yield _said("unproven", because + port.of_driver, _MISSING)


def _resumed(port: JudgedPort) -> Iterator[Condition]:
    ended = [f"{verb}: {_sent(one)}, ended" for verb, one in port.ways if one.stopped]
    yield _said("pass", ", ".join(ended), "", _both(port.own))


# --- Condition 3: the pressure and the traffic are in the lossless priority; the others are quiet.


def _others_paused(port: JudgedPort) -> Iterator[Condition]:
    """Report pauses of other priorities, except those counted together with the lossless one (one
    traffic class)."""
    others = [
        one
        for one in port.others
        if one.paused
        and not (
            port.reading.unison and _alike(one.tx, port.own.tx) and _alike(one.rx, port.own.rx)
        )
    ]
    if others:
        shown = ", ".join(str(one.priority) for one in others)
        because = f"other priorities also paused: {shown}; the lossless priority is {port.priority}"
        counts = [count for one in others for count in _both(one)]
        yield _said("fail", because, "pfc-wrong-priority", counts)


def _alike(one: Pauses, other: Pauses) -> bool:
    first, second = one.sent, other.sent
    if first is None or second is None:
        return first is second
    return first.value is not None and first.value == second.value


def _traffic_elsewhere(port: JudgedPort) -> Iterator[Condition]:
    shares = _shares(port.reading)
    if shares is None or shares[port.lossless] >= IN_PRIORITY:
        return
    own, most = shares[port.lossless], max(range(8), key=lambda one: shares[one])
    because = f"{own:.0%} of the traffic was in priority {port.priority}"
    counts = _both(port.reading.of(most))
    if most != port.priority and own < HARDLY:
        because += f", {shares[most]:.0%} in priority {most}"
        yield _said("fail", because, "pfc-wrong-priority", counts)
    because += f", {1 - own:.0%} in others: other traffic, or part of the load"
    yield _said("unproven", because, "pfc-mixed-priorities", counts)


def _shares(reading: PfcReading) -> list[float] | None:
    """Return each priority's share of the traffic in the busier direction; None if uncounted or
    negligible.
    """
    ways = (
        [one.tx.load for one in reading.priorities],
        [one.rx.load for one in reading.priorities],
    )
    found = [
        [count.value or 0 for count in way if count is not None]
        for way in ways
        if all(count is not None and count.value is not None for count in way)
    ]
    busiest = max(found, key=sum, default=[])
    return None if sum(busiest) < LEAST_TRAFFIC else [value / sum(busiest) for value in busiest]


def _others_unseen(port: JudgedPort) -> Iterator[Condition]:
    """Report pauses of other priorities that are not counted, unless the driver shows them only if
    enabled.
    """
    yield from _unread([count for one in port.reading.priorities for count in _both(one)])
    shown = port.reading.shown_when_on and None not in (port.own.tx.stopped, port.own.rx.stopped)
    if not shown and any(None in (one.tx.stopped, one.rx.stopped) for one in port.others):
        yield _said(
            "unproven", f"pauses of the other priorities are not counted{port.of_driver}", _MISSING
        )


def _others_quiet(port: JudgedPort) -> Iterator[Condition]:
    shares, counts = _shares(port.reading), _both(port.own)
    if not port.claimed:
        because = (
            f"only priority {port.priority} paused; without --priority it is unknown whether "
            "that is the right priority"
        )
        yield _said("unproven", because, "pfc-no-priority")
    if shares is not None:
        because = f"{shares[port.lossless]:.0%} of the traffic was in priority {port.priority}"
        yield _said("pass", f"{because}; no other priority paused", "", counts)
    if port.own.paused:
        yield _said("pass", f"only priority {port.priority} paused", "", counts)
    yield _said(
        "quiet", "no priority paused, and no counter separates the traffic of the priorities"
    )


# --- Condition 4: link-level flow control (802.3x) is off, by the setting and by its frames.


def _link_pauses(port: JudgedPort) -> Iterator[Condition]:
    reading, settings = port.reading, port.settings
    moved, code = [one for one in reading.link if one.moved], "pfc-link-flow-control"
    if settings is not None and (settings.link_rx or settings.link_tx):
        both = (("RX", settings.link_rx), ("TX", settings.link_tx))
        on = " and ".join(way for way, value in both if value)
        yield _said("fail", f"`ethtool -a {reading.nic}` shows {on} on", code, moved)
    if moved:
        because = f"pause frames of the whole link were counted: {_amount(moved[0])}"
        yield _said("fail", because, code, moved)
    if reading.shown_when_on and reading.link:
        because = (
            "its driver lists pause frames of the whole link, which it does only if they are on"
        )
        yield _said("fail", because, code, reading.link)


def _link_quiet(port: JudgedPort) -> Iterator[Condition]:
    settings = port.settings
    if settings is None or settings.link_rx is None or settings.link_tx is None:
        yield _said("unproven", f"`ethtool -a {port.reading.nic}` was not read", _MISSING)
    yield _said("pass", "`ethtool -a` shows RX and TX off", "", port.reading.link)


CONDITIONS: Mapping[str, tuple[Rule, ...]] = {
    "no-drops": (_lost, _drops_unread, _in_the_switch, _none_dropped),
    "xon-xoff": (_no_priority, _never_resumed, _no_pause, _pauses_uncounted, _resumed),
    "priority": (_no_priority, _others_paused, _traffic_elsewhere, _others_unseen, _others_quiet),
    "link-pause": (_link_pauses, _link_quiet),
}
"""The rules of each condition in order: the first that concludes something decides."""


# --- Counters in sentences.


def _sent(pauses: Pauses) -> str:
    """Return the amount of pauses: frames, or microseconds."""
    best = pauses.sent or pauses.paused_us
    if best is None or best.value is None:
        return "some"
    unit = " us of pause" if best is pauses.paused_us else " frames"
    return f"{'at least ' if best.least else ''}{best.value:,}{unit}"


def _amount(count: Count) -> str:
    """Return the increase as text: ``rx_discards_phy +12``."""
    least = "at least " if count.least else ""
    rise = "unknown" if count.value is None else f"+{least}{count.value:,}"
    return f"{_leaf(count.counters)} {rise}"


def _leaf(counters: Sequence[str]) -> str:
    """Return counter names without their folders."""
    return " + ".join(name.rsplit("/", 1)[-1].strip() for name in counters[:3])


def _both(one: PriorityReading) -> list[Count]:
    """Return all counts of one priority's pauses, in both directions."""
    return [*_counts(one.tx), *_counts(one.rx)]


def _counts(pauses: Pauses) -> list[Count]:
    """Return all counts of one direction's pauses."""
    every = (pauses.xoff, pauses.xon, pauses.frames, pauses.resumes, pauses.paused_us)
    return [one for one in every if one is not None]
