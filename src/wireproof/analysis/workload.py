"""The metric and the guards of an experiment, from one measured point or from counters."""

from collections.abc import Mapping

import numpy as np

from wireproof.analysis.counters import trouble_counters
from wireproof.analysis.measured import measure, operation_times
from wireproof.analysis.witness import rises
from wireproof.model.experiment import Better, Metric
from wireproof.model.pattern import is_rate
from wireproof.model.record import PointRecord

_RESENT = "ip/Tcp/RetransSegs"


def metric_of(pattern: str, form: str) -> Metric:
    """Return the metric that is compared in points of this pattern."""
    name, unit, better = _what(pattern, form)
    return Metric(name=name, unit=unit, better=better, source="wireproof's own engine")


def _what(pattern: str, form: str) -> tuple[str, str, Better]:
    if pattern == "message_rate":
        return "message rate", "messages_per_s", "higher"
    if is_rate(pattern, form):
        return "goodput", "bytes_per_s", "higher"
    return ("half round trip" if pattern == "pingpong" else "time of one operation"), "ns", "lower"


def value_of(point: PointRecord) -> float | None:
    """Return the point's number in the unit of ``metric_of``; None if nothing was timed."""
    if point.group is not None:
        found = point.group.estimate
        if found is None or not found.median_ns > 0.0:
            return None
        seconds = found.median_ns * 1e-9
        rate = point.pattern == "message_rate"
        return point.group.messages_per_operation / seconds if rate else found.median_ns
    measured = measure(point, point.pairs[0]) if point.pairs else None
    return measured.value if measured is not None else None


def guards_of(point: PointRecord) -> dict[str, float]:
    """Return the 99th percentile of the time per operation (ns), and retransmits and drops over all
    hosts.
    """
    found: dict[str, float] = {}
    times = (
        operation_times(point, point.pairs[0])
        if point.pairs
        else np.asarray(point.group.batch_ns if point.group else [], dtype=np.float64)
    )
    if times.size:
        found["p99_ns"] = float(np.percentile(times, 99))
    for reading in point.witness:
        if reading.shared_with is None:
            # A reading lists counters that changed and counters that could not be read.
            tcp = not any(name.startswith("ip") for name in reading.unreadable)
            for name, count in losses({**({_RESENT: 0} if tcp else {}), **rises(reading)}).items():
                found[name] = found.get(name, 0.0) + count
    return found


def messages_of(point: PointRecord) -> int:
    """Return the messages of all ends of the point."""
    if point.group is not None:
        return sum(point.group.sent_bytes) // max(1, point.message_bytes)
    return sum(pair.messages_forward + pair.messages_backward for pair in point.pairs)


def losses(rose: Mapping[str, int]) -> dict[str, float]:
    """Return one host's TCP retransmissions, if counted, and the drops of its ports."""
    ports = {name: count for name, count in rose.items() if not name.startswith(("ip/", "net/lo/"))}
    found = {"drops": float(sum(trouble_counters(ports).get("drops", {}).values()))}
    if _RESENT in rose:
        found["retransmits"] = float(max(0, rose[_RESENT]))
    return found
