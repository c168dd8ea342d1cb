# pure
"""The traffic of ports of one kind, and reasons about traffic. Pure."""

import dataclasses
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from wireproof.ledger.crossed import Crossed, added
from wireproof.model.finding import Severity
from wireproof.model.series import Reason
from wireproof.model.traffic import LEVELS

_SEVERITY: dict[str, Severity] = {
    "traffic-off-wire": "fail",
    "traffic-loopback": "fail",
    "traffic-wrong-path": "fail",
    "traffic-mixed": "fail",
    "traffic-rate-above-peak": "fail",
}


def reason(
    code: str,
    message: str,
    evidence: Mapping[str, str | float | None] | None = None,
    severity: Severity | None = None,
) -> Reason:
    """Return a reason, by default with the usual severity of its code."""
    severity = severity or _SEVERITY.get(code, "inconclusive")
    return Reason(code=code, severity=severity, message=message, evidence={**(evidence or {})})


PLACES = {
    "traffic-one-kernel": "on one kernel",
    "traffic-one-adapter": "functions of one adapter",
}
"""The resource that hosts share if traffic between them needs no wire, by the reason's code."""
Kind = Literal["claimed", "other", "loopback"]


@dataclasses.dataclass(frozen=True)
class Carried:
    """Bytes in the busier direction over one kind of port.

    ``unsure``: the background that was subtracted. ``most``: upper bound of the bytes at both ends;
    None: ``bytes`` plus ``unsure``. ``inside``: bytes that the adapter's internal switch may have
    returned; None: not counted. ``packets``: None: not counted. ``wrap_bytes``: the number of bytes
    after which a counter restarts; None: never. ``together``: the peaks of all ends, if pairs on
    several hosts share the bytes.
    """

    bytes: float
    unsure: float
    peak: float
    trouble: str
    names: tuple[str, ...]
    packets: float | None = None
    inside: float | None = None
    level: str = ""
    quality: str = ""
    most: float | None = None
    wrap_bytes: float | None = None
    together: float | None = None

    def at_least(self, wanted: float) -> bool:
        return self.bytes - self.unsure >= wanted

    def covers(self, wanted: float, late: float = 0.0) -> bool:
        """Return whether the bytes reach ``wanted``, less ``FAINT``, even if the background doubled
        while the command ran.

        ``late``: the share of a small background that a late refresh may have added to its
        estimate. A large background may equally be underestimated.
        """
        unsure, faint = self.unsure * (1 - late), FAINT * wanted
        if unsure > 2 * faint:
            unsure = self.unsure
        return self.bytes + self.unsure - 2 * unsure + min(unsure, faint) >= wanted

    def below(self, wanted: float) -> bool:
        return self.upper < wanted

    @property
    def rate(self) -> float:
        """The peak rate; of all ends together if they share the bytes."""
        return self.peak if self.together is None else self.together

    @property
    def upper(self) -> float:
        """Upper bound of the command's bytes: it includes the background."""
        return self.bytes + self.unsure if self.most is None else self.most


FAINT = 0.05
"""Share of a command's bytes that a change of the background may hide."""
HARDLY = 0.01
"""Ports below this share of the bytes are not listed."""
START_UP_BYTES = 256 << 10
"""Traffic of launchers and libraries in addition to any measurement, in bytes; smaller amounts
prove nothing."""
NOTHING = Carried(0.0, 0.0, 0.0, "", ())


bytes_of, most_of = operator.attrgetter("bytes"), operator.attrgetter("upper")


Key = Callable[[Carried], float]


def peak_of(ends: Iterable[Carried], count: float) -> float:
    """Return the highest rate at any end, or 0 if an end that carried the bytes has no rate
    reading.

    Simultaneous traffic in the other direction is no evidence for it.
    """
    known = list(ends)
    busy = [end for end in known if end.bytes >= max(count / 2, START_UP_BYTES)]
    return max((end.peak for end in known), default=0.0) if all(end.peak for end in busy) else 0.0


def total(seen: dict[str, Crossed]) -> Carried:
    """Add up ports that count different bytes. The background and the peak of ports that hardly
    carried any are left out: they are not the command's.
    """
    whole = added(list(seen.values()))
    moved = whole.bytes or 0.0
    least = HARDLY * moved
    names = tuple(name for name, crossed in seen.items() if (crossed.bytes or 0.0) > least)
    loud = added([seen[name] for name in names]) if names else whole
    return Carried(
        moved,
        loud.background,
        loud.peak_bytes_per_s or 0.0,
        _trouble(whole) if seen else "",
        names,
        whole.packets,
        whole.inside,
        whole.level if seen else "",
        whole.quality if seen else "",
        most=moved + whole.background,
        wrap_bytes=whole.wrap_bytes,
    )


def _trouble(whole: Crossed) -> str:
    """Return why the bytes may be too few; "" if they are all."""
    known = whole.complete and whole.bytes is not None
    return (
        "" if known and whole.quality not in ("stale", "wrapped") else whole.remark or "unreadable"
    )


def summed(ends: Sequence[Carried], by: Key) -> Carried:
    """Add up the ends of several hosts; values that cannot be added are taken from the largest
    end.
    """
    packets = [end.packets for end in ends]
    known = [count for count in packets if count is not None]
    return dataclasses.replace(
        max(ends, key=by),
        bytes=sum(end.bytes for end in ends),
        unsure=sum(end.unsure for end in ends),
        most=sum(map(most_of, ends)),
        packets=sum(known) if len(known) == len(packets) else None,
        inside=None,
        level=max(
            (end.level for end in ends if end.bytes),
            key=lambda level: LEVELS.index(level) if level in LEVELS else len(LEVELS),
            default="",
        ),
        together=sum(end.peak for end in ends if end.bytes >= START_UP_BYTES),
    )
