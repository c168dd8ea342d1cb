"""What is said of counters: sentences and the conditions that they become. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wireproof.model.ledger import Direction
from wireproof.model.pfc import Condition, Count, Pauses, PfcReading

__all__ = [
    "VERB",
    "amount",
    "both",
    "counts",
    "fails",
    "leaf",
    "missing",
    "names",
    "of_driver",
    "passes",
    "sent",
    "unread",
]

VERB: dict[Direction, str] = {"tx": "sent", "rx": "received"}


def passes(name: str, said: str, counts: Iterable[Count]) -> Condition:
    """The condition holds, by these counters."""
    return Condition(name=name, answer="pass", because=said, counters=names(counts))


def fails(name: str, said: str, code: str, counts: Iterable[Count]) -> Condition:
    """It does not hold; ``code`` is the finding's."""
    return Condition(name=name, answer="fail", because=said, code=code, counters=names(counts))


def missing(name: str, said: str) -> Condition:
    """Nothing is there that could show it."""
    return Condition(name=name, answer="unproven", because=said, code="pfc-counters-missing")


def unread(name: str, counts: Sequence[Count]) -> Condition:
    """Counters are there and say nothing of this interval."""
    first = counts[0]
    why = first.remark or "not known"
    said = f"{leaf(first.counters)} says nothing of this time: {why}"
    return Condition(
        name=name,
        answer="unproven",
        because=said,
        code="pfc-counters-unreadable",
        counters=names(counts),
    )


def of_driver(reading: PfcReading) -> str:
    """Whose counters they are, to be put behind a sentence."""
    if reading.family:
        return f" ({reading.family})"
    return f": no counters of the driver {reading.driver or '(none)'} are known"


def sent(pauses: Pauses) -> str:
    """How much was paused: frames, else microseconds."""
    best = pauses.sent or pauses.paused_us
    if best is None or best.value is None:
        return "some"
    unit = " us of pause" if best is pauses.paused_us else " frames"
    return f"{'at least ' if best.least else ''}{best.value:,}{unit}"


def amount(count: Count) -> str:
    """``rx_discards_phy +12``."""
    least = "at least " if count.least else ""
    rise = "unknown" if count.value is None else f"+{least}{count.value:,}"
    return f"{leaf(count.counters)} {rise}"


def leaf(counters: Sequence[str]) -> str:
    """Counters without their folders."""
    return " + ".join(name.rsplit("/", 1)[-1].strip() for name in counters[:3])


def both(reading: PfcReading, priority: int) -> list[Count]:
    """All that counts the pauses of one priority, in both directions."""
    one = reading.of(priority)
    return [*counts(one.tx), *counts(one.rx)]


def counts(pauses: Pauses) -> list[Count]:
    """All that counts the pauses of one direction."""
    every = (pauses.xoff, pauses.xon, pauses.frames, pauses.resumes, pauses.paused_us)
    return [one for one in every if one is not None]


def names(counts: Iterable[Count]) -> list[str]:
    """The counters behind them, in the engine's spelling."""
    return [name for one in counts for name in one.counters]
