"""Turn the batches of one pair into one number with its interval: average times, derive rates
last.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from wireproof.analysis.interval import Floats, estimate, quantiles
from wireproof.model.pattern import is_rate, is_round_trip
from wireproof.model.record import Estimate, Label, PairResult, PointRecord


@dataclass(frozen=True, slots=True)
class Measured:
    """One pair at one point.

    ``time``: ns per operation; half a round trip if an operation is a round trip of messages
    (``pingpong``, and the latency of ``persistent``, ``partitioned`` and ``threads``). ``value``,
    ``low``, ``high``: ns (unit ``ns``) or bytes/s in one direction (unit ``bytes_per_s``).
    """

    unit: Literal["ns", "bytes_per_s"]
    value: float
    low: float
    high: float
    half_width: float
    label: Label
    time: Estimate
    goodput_bytes_per_s: float
    messages_per_s: float


def operation_times(point: PointRecord, pair: PairResult) -> Floats:
    """Return ns per operation of every timed batch, in order; a round trip counts as two
    operations.
    """
    batches = np.asarray(pair.batch_ns, dtype=np.float64)
    halving = 2.0 if is_round_trip(point.pattern, point.form) else 1.0
    return batches / (max(1, pair.operations_per_batch) * halving)


def times_per_operation(
    times: Floats, block_batches: Sequence[int], value_of: Callable[[Floats], Any] = np.median
) -> Floats:
    """Apply ``value_of`` to each block; return the batches unchanged if the blocks do not add
    up.
    """
    if not block_batches or sum(block_batches) != times.size or min(block_batches) < 1:
        return times
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

    The engine's own estimate is used if present; otherwise that of the blocks, or with fewer than 6
    blocks that of the batches.
    """
    found = pair.estimate or _own_estimate(point, pair)
    if found is None or not found.median_ns > 0.0:
        return None
    size = point.message_bytes
    seconds = found.median_ns * 1e-9
    rate = size / seconds
    if is_rate(point.pattern, point.form) and size > 0:
        low, high = size / (found.high_ns * 1e-9), size / (max(found.low_ns, 1e-9) * 1e-9)
        return Measured(
            "bytes_per_s",
            rate,
            low,
            high,
            found.half_width,
            found.label,
            found,
            rate,
            1.0 / seconds,
        )
    return Measured(
        "ns",
        found.median_ns,
        found.low_ns,
        found.high_ns,
        found.half_width,
        found.label,
        found,
        rate,
        1.0 / seconds,
    )


def _own_estimate(point: PointRecord, pair: PairResult) -> Estimate | None:
    times = operation_times(point, pair)
    if times.size == 0 or not bool(np.all(np.isfinite(times))) or bool(np.any(times <= 0.0)):
        return None
    blocks = block_times(point, pair)
    return estimate(blocks if blocks.size >= 6 else times)


def tail(point: PointRecord, pair: PairResult) -> dict[str, float]:
    """Return quantiles (ns per operation) over all batches; empty if nothing was timed."""
    times = operation_times(point, pair)
    return quantiles(times) if times.size else {}
