# pure
"""Turn the batches of one pair into one number with its interval: average times, derive rates last.

Also the metric and the guards of an experiment, and the smallest message that fills a link.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
import numpy as np

from wireproof.ledger.changes import trouble_counters
from wireproof.ledger.traffic import rises
from wireproof.model.experiment import Better, Metric
from wireproof.model.pattern import is_rate, is_round_trip
from wireproof.model.record import Estimate, PairResult, PointRecord
from wireproof.stats import Floats, estimate, quantiles


class Measured(msgspec.Struct, frozen=True):
    """One pair at one point.

    ``time``: ns per operation; half a round trip if an operation is a round trip of messages
    (``pingpong``, and the latency of ``persistent``, ``partitioned`` and ``threads``). ``value``,
    ``low``, ``high``: ns (unit ``ns``) or bytes/s in one direction (unit ``bytes_per_s``).
    """

    unit: Literal["ns", "bytes_per_s"]
    value: float
    low: float
    high: float
    time: Estimate
    goodput_bytes_per_s: float


def operation_times(point: PointRecord, pair: PairResult) -> Floats:
    """Return ns per operation of every timed batch, in order; a round trip counts as two
    operations.
    """
    batches = np.asarray(pair.batch_ns, dtype=np.float64)
    halving = 2.0 if is_round_trip(point.pattern, point.form) else 1.0
    return batches / (max(1, pair.operations_per_batch) * halving)


def times_per_operation(
    times: Floats, block_batches: Sequence[int], value_of: Callable[..., Any] = np.median
) -> Floats:
    """Apply ``value_of`` to each block; return the batches unchanged if the blocks do not add
    up.
    """
    if not block_batches or sum(block_batches) != times.size or min(block_batches) < 1:
        return times
    if len(set(block_batches)) == 1:  # convert all batches at once
        return np.asarray(value_of(times.reshape(len(block_batches), -1), axis=1), dtype=np.float64)
    edges = np.cumsum(np.asarray(block_batches))[:-1]
    return np.asarray([float(value_of(part)) for part in np.split(times, edges)], dtype=np.float64)


def block_times(point: PointRecord, pair: PairResult) -> Floats:
    """Return ns per operation of every block: the samples for the interval."""
    return times_per_operation(operation_times(point, pair), pair.block_batches)


def typical_times(point: PointRecord, pair: PairResult) -> Iterator[float]:
    """Yield typical times of the batches in ns per operation.

    The median of the batches; the median over blocks of their medians, and of their means, which
    the engine reports for pipelined messages.
    """
    times = operation_times(point, pair)
    yield float(np.median(times))
    for value_of in (np.median, np.mean):
        yield float(np.median(times_per_operation(times, pair.block_batches, value_of)))


def measure(point: PointRecord, pair: PairResult) -> Measured | None:
    """Return the pair's number, or None if nothing was timed.

    The engine's estimate is used if present; otherwise an estimate from the blocks, or from the
    batches if there are fewer than 6 blocks.
    """
    found = pair.estimate or _own_estimate(point, pair)
    if found is None or not found.median_ns > 0.0:
        return None
    size = point.message_bytes
    rate = size / (found.median_ns * 1e-9)
    if is_rate(point.pattern, point.form) and size > 0:
        low, high = size / (found.high_ns * 1e-9), size / (max(found.low_ns, 1e-9) * 1e-9)
        return Measured("bytes_per_s", rate, low, high, found, rate)
    return Measured("ns", found.median_ns, found.low_ns, found.high_ns, found, rate)


def _own_estimate(point: PointRecord, pair: PairResult) -> Estimate | None:
    times = operation_times(point, pair)
    if times.size == 0 or not bool(np.all(np.isfinite(times))) or bool(np.any(times <= 0.0)):
        return None
    blocks = block_times(point, pair)
    return estimate(blocks if blocks.size >= 6 else times)


_SWITCHES_PER_BLOCK, _STEAL_SHARE = 5, 0.02


def busy_blocks(pair: PairResult) -> int:
    """Return the number of blocks in which the scheduler preempted a process."""
    block_ns = sum(pair.batch_ns) / max(1, len(pair.sentinels))
    return sum(
        mark.involuntary_switches > _SWITCHES_PER_BLOCK or mark.steal_ns > _STEAL_SHARE * block_ns
        for mark in pair.sentinels
    )


def tail(point: PointRecord, pair: PairResult) -> dict[str, float]:
    """Return quantiles (ns per operation) over all batches; empty if nothing was timed."""
    times = operation_times(point, pair)
    return quantiles(times) if times.size else {}


# --- The smallest message that fills a link, by ranks per node.

FULL = 0.9


def goodput_bytes_per_s(point: PointRecord) -> float | None:
    """Return the payload of all senders per second; None without an estimate."""
    group = point.group
    if group is None or group.estimate is None or group.estimate.median_ns <= 0:
        return None
    return group.messages_per_operation * point.message_bytes / group.estimate.median_ns * 1e9


def filled(
    points: Iterable[PointRecord], attainable_bytes_per_s: float | None
) -> dict[int, tuple[int | None, float]]:
    """Map each number of ranks per node (half of the members), in order, to the smallest size from
    which every larger measured size fills the link (None: never), and the best goodput in bytes/s.

    If no limit is known, the best goodput of all entries is the limit.
    """
    rates: dict[int, dict[int, float]] = {}
    for point in points:
        rate = goodput_bytes_per_s(point)
        if point.pattern == "message_rate" and point.group is not None and rate is not None:
            rates.setdefault(len(point.group.members) // 2, {})[point.message_bytes] = rate
    top = attainable_bytes_per_s or max(
        (rate for by_size in rates.values() for rate in by_size.values()), default=0.0
    )
    return {
        ranks: (_full_from(by_size, FULL * top), max(by_size.values()))
        for ranks, by_size in sorted(rates.items())
    }


def _full_from(by_size: Mapping[int, float], enough: float) -> int | None:
    """Return the smallest size from which every larger size is fast enough."""
    start = None
    for size in sorted(by_size, reverse=True):
        if by_size[size] < enough:
            break
        start = size
    return start


# --- The metric and the guards of an experiment, from one measured point or from counters.

_RESENT = "ip/Tcp/RetransSegs"


def metric_of(pattern: str, form: str) -> Metric:
    """Return the metric that is compared in points of this pattern."""
    better: Better = "higher"
    if pattern == "message_rate":
        name, unit = "message rate", "messages_per_s"
    elif is_rate(pattern, form):
        name, unit = "goodput", "bytes_per_s"
    else:
        name = "half round trip" if pattern == "pingpong" else "time of one operation"
        unit, better = "ns", "lower"
    return Metric(name=name, unit=unit, better=better, source="wireproof's engine")


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
