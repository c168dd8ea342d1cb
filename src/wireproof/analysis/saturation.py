"""Find the smallest message that fills a link, by ranks per node. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wireproof.model.record import PointRecord

FULL = 0.9


@dataclass(frozen=True)
class Filled:
    """``size``: the smallest size from which every larger measured size fills the link; None:
    never. ``best_bytes_per_s``: the best goodput.
    """

    ranks_per_node: int
    size: int | None
    best_bytes_per_s: float


def goodput_bytes_per_s(point: PointRecord) -> float | None:
    """Return the payload of all senders per second; None without an estimate."""
    group = point.group
    if group is None or group.estimate is None or group.estimate.median_ns <= 0:
        return None
    return group.messages_per_operation * point.message_bytes / group.estimate.median_ns * 1e9


def filled(points: Iterable[PointRecord], attainable_bytes_per_s: float | None) -> list[Filled]:
    """Return an entry for each number of ranks per node (half of the members), in order.

    Without a known limit, the best goodput of all is the limit.
    """
    rates: dict[int, dict[int, float]] = {}
    for point in points:
        rate = goodput_bytes_per_s(point)
        if point.pattern == "message_rate" and point.group is not None and rate is not None:
            rates.setdefault(len(point.group.members) // 2, {})[point.message_bytes] = rate
    top = attainable_bytes_per_s or max(
        (rate for by_size in rates.values() for rate in by_size.values()), default=0.0
    )
    return [
        Filled(ranks, _full_from(by_size, FULL * top), max(by_size.values()))
        for ranks, by_size in sorted(rates.items())
    ]


def _full_from(by_size: Mapping[int, float], enough: float) -> int | None:
    """Return the smallest size from which every larger size is fast enough."""
    start = None
    for size in sorted(by_size, reverse=True):
        if by_size[size] < enough:
            break
        start = size
    return start
