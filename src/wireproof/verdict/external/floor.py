"""Quicker than any wire: the latency floor of small messages, of collectives, and of transfers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wireproof.model.finding import Evidence
from wireproof.model.quantity import short_time, size, throughput
from wireproof.model.series import Series, SeriesPoint
from wireproof.physics.bounds import Bounds, any_nic_ns
from wireproof.physics.table import default_table
from wireproof.verdict.external.case import Case
from wireproof.verdict.external.curve import Row
from wireproof.verdict.external.explained import cache_fall

__all__ = ["TRANSFER_FROM", "judge_any_nic", "judge_collective", "judge_floor", "judge_transfer"]

TRANSFER_FROM = 2048
"""Below this size the start hides the transfer; bytes."""
_SMALL = 1024
_NEARLY = 0.9  # of a floor below which nothing has been published
_SYNCHRONIZING = (
    "barrier",
    "allreduce",
    "alltoall",
    "allgather",
    "reduce_scatter",
    "reduce-scatter",
)
_WHY = {
    "fail": "",
    "inconclusive": "; the floor is from literature, so this is a doubt",
    "note": "; the floor is from literature and nearly reached",
}


def _local(case: Case) -> bool:
    """A put that is complete when its own buffer is free says nothing about the other end."""
    series = case.series
    text = f"{series.benchmark} {series.formula} {' '.join(series.notes[:8])}".lower()
    return series.traffic == "put" and "local" in text


@dataclass(frozen=True, slots=True)
class _Start:
    """The quickest small message: its time, and what of it must have crossed the wire."""

    size: int
    wait_ns: float
    crossing_ns: float


def _start(case: Case) -> _Start | None:
    start = case.curve.start
    if start is None or start.wait_ns is None or _local(case):
        return None
    crossing = case.crossing_ns(start)
    return None if crossing is None else _Start(start.size, start.wait_ns, crossing)


def judge_any_nic(case: Case) -> None:
    """No NIC answers so quickly, whatever link was claimed."""
    start = _start(case)
    if start is None:
        return
    quickest = (case.table or default_table())["floor.any_nic"].value
    shaped = cache_fall(case.curve) is not None
    if start.crossing_ns >= (quickest if shaped else any_nic_ns(case.table)):
        return
    case.off = case.too_quick = True
    text = (
        f"{short_time(start.wait_ns)} at {size(start.size)}: no NIC in a PCIe slot answers in "
        f"less than {short_time(quickest)}"
    )
    evidence: Evidence = {"time_ns": start.wait_ns, "any_nic_ns": quickest, "size": start.size}
    case.add("below-any-nic", "fail", text, evidence)


def judge_floor(case: Case, bounds: Bounds) -> None:
    """Small messages against the floor of the claimed link."""
    start = _start(case)
    if start is None:
        return
    doubt = bounds.too_quick(start.crossing_ns, 0)
    if doubt is None:
        case.held = True
        return
    if doubt == "note" and not case.counted and start.crossing_ns < _NEARLY * bounds.floor:
        doubt = "inconclusive"  # a log has no counters that would show the bytes on the wire
    text = (
        f"{short_time(start.wait_ns)} at {size(start.size)}; {case.kind} needs at least "
        f"{short_time(bounds.floor)} for half a round trip"
    )
    case.off = case.off or doubt == "fail"
    case.too_quick = case.too_quick or doubt == "fail"
    case.held = case.held or doubt == "note"
    evidence: Evidence = {"time_ns": start.wait_ns, "floor_ns": bounds.floor, "size": start.size}
    case.add("below-floor", doubt, text + _WHY[doubt], evidence)


def judge_collective(case: Case, bounds: Bounds) -> None:
    """A collective in which each rank hears of all others takes at least one message; skew may hide
    half of it.
    """
    series = case.series
    if not _needs_a_message(series):
        return
    # A collective of nothing sends nothing, but for the barrier.
    least_size = 0 if "barrier" in series.benchmark.lower() else 1
    small = [pair for pair in _longest(series.points) if least_size <= pair[1] <= _SMALL]
    least, at = min(small, default=(0.0, -1))
    share = 1.0 if series.traffic == "ring" else 0.5 / 0.6
    if at < 0 or not least < bounds.hard * share:  # what is no number is no contradiction
        return
    case.off = case.too_quick = True
    text = (
        f"{series.benchmark} took {short_time(least)} at {size(at)}; "
        f"one message over {case.kind} takes {short_time(bounds.floor)}"
    )
    evidence: Evidence = {"time_ns": least, "floor_ns": bounds.floor, "size": at}
    case.add("below-floor", "fail", text, evidence)


def _needs_a_message(series: Series) -> bool:
    if series.metric == "overlap":
        return False
    synchronizing = any(word in series.benchmark.lower() for word in _SYNCHRONIZING)
    return series.traffic == "ring" or (series.traffic == "collective" and synchronizing)


def _longest(points: list[SeriesPoint]) -> Iterator[tuple[float, int]]:
    """(time of the slowest rank as far as it is printed, size), ns and bytes."""
    for point in points:
        time = point.time_ns or point.hrt_ns
        if time:
            yield max(time, point.time_max_ns or 0.0), point.message_bytes


def judge_transfer(case: Case, bounds: Bounds) -> None:
    """t(s) against s / R + floor: the size that leaves least for the start speaks."""
    most = bounds.most
    if most is None or case.series.traffic == "atomic" or _local(case):
        return
    broken = [
        ((row.wait_ns or 0.0) - row.size / most * 1e9, row)
        for row in case.curve.waited
        if row.size >= max(TRANSFER_FROM, bounds.least_size) and _too_short(case, bounds, row)
    ]
    if not broken:
        return
    left, row = min(broken, key=lambda one: one[0])
    wait, moved = row.wait_ns or 0.0, row.size / most * 1e9
    case.off = True
    sizes = "this size breaks" if len(broken) == 1 else f"{len(broken)} sizes break"
    remains = f"{short_time(left)} is left" if left > 0 else "nothing is left"
    text = (
        f"{size(row.size)} in {short_time(wait)}: moving the bytes alone takes "
        f"{short_time(moved)} at {throughput(most)}, and {remains} for a start of "
        f"{short_time(bounds.floor)} ({sizes} the bound)"
    )
    evidence: Evidence = {
        "size": row.size,
        "time_ns": wait,
        "transfer_ns": moved,
        "floor_ns": bounds.floor,
        "sizes": len(broken),
    }
    case.add("faster-than-transfer", "fail", text, evidence)


def _too_short(case: Case, bounds: Bounds, row: Row) -> bool:
    crossing = case.crossing_ns(row)
    return crossing is not None and crossing < bounds.shortest(row.size)
