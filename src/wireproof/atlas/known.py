"""Published series that can be compared with a measured series. Pure."""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from wireproof.atlas.read import Layer, goodput_of, layer_of_tool, link_of, time_of
from wireproof.model.atlas import Publication, Published, Quantity
from wireproof.model.claim import LinkClaim

__all__ = ["PLATEAU", "SMALL", "Atlas", "Known", "Layer"]

SMALL = 32
"""Largest size that takes the time of an empty message; bytes."""
PLATEAU = 1 << 16
"""Size from which a stream's goodput changes little; bytes."""
_WAITED_PLATEAU = 1 << 20
_APART = 16.0  # sizes farther apart than this factor may use different protocols
_SCALED = 4.0


@dataclass(frozen=True)
class Known:
    """One published series. ``file``: a site's own file, or "" for wireproof's."""

    source: Publication
    series: Published
    link: LinkClaim
    file: str = ""

    @cached_property
    def layer(self) -> Layer:
        return layer_of_tool(self.series.tool)

    @cached_property
    def times(self) -> list[tuple[int, float]]:
        """(size, ns), by size."""
        rows = ((size, time_of(self.series, size, value)) for size, value in self.series.rows)
        return sorted((size, time) for size, time in rows if time is not None)

    @cached_property
    def goodputs(self) -> list[tuple[int, float]]:
        """(size, bytes/s in one direction), by size."""
        rows = ((size, goodput_of(self.series, size, value)) for size, value in self.series.rows)
        return sorted((size, goodput) for size, goodput in rows if goodput is not None)

    def at(self, quantity: Quantity, size: int) -> float | None:
        """Return its number for messages of ``size``; None if it has none near enough."""
        return _time_at(self.times, size) if quantity == "time" else _rate_at(self.goodputs, size)


def _time_at(rows: Sequence[tuple[int, float]], size: int) -> float | None:
    small = [time for at, time in rows if at <= SMALL]
    if size <= SMALL and small:
        return dict(rows).get(size, small[-1])
    if (found := _between(rows, size)) is not None or not rows:
        return found
    at, time = rows[-1]
    near = min(at, size) >= _WAITED_PLATEAU and 1 / _SCALED <= size / at <= _SCALED
    return time * size / at if near else None


def _rate_at(rows: Sequence[tuple[int, float]], size: int) -> float | None:
    if (found := _between(rows, size)) is not None or size < PLATEAU or not rows:
        return found
    large = [(abs(math.log(at / size)), rate) for at, rate in rows if at >= PLATEAU]
    near = min(large, default=(math.inf, 0.0))
    if near[0] <= math.log(_APART):
        return near[1]
    return max((rate for at, rate in rows if at == 0), default=None)


def _between(rows: Sequence[tuple[int, float]], size: int) -> float | None:
    """Return the value at this size, or interpolate between two sizes on a line of logarithms."""
    place = bisect_left(rows, (size, 0.0))
    if place < len(rows) and rows[place][0] == size:
        return rows[place][1]
    if place in (0, len(rows)) or not rows[place - 1][0]:
        return None
    (low, first), (high, last) = rows[place - 1], rows[place]
    if high > _APART * low:
        return None
    share = math.log(size / low) / math.log(high / low)
    return math.exp(math.log(first) + share * (math.log(last) - math.log(first)))


Load = Callable[[str], Iterable[tuple[Publication, str]]]
"""Returns a protocol's sources, each with the site's own file or "" for ours."""


@dataclass
class Atlas:
    """Published series by link and pattern; ``load`` is called once for each protocol."""

    load: Load
    _of: dict[str, list[Known]] = field(default_factory=dict, repr=False, compare=False)

    def series(self, protocol: str) -> list[Known]:
        """Return all series over links of this protocol."""
        if protocol not in self._of:
            every = (
                Known(source, series, link_of(series), file)
                for source, file in self.load(protocol)
                for series in source.series
            )
            self._of[protocol] = [one for one in every if one.link.protocol == protocol]
        return self._of[protocol]

    def comparable(self, link: LinkClaim, pattern: str, layer: Layer) -> Iterator[Known]:
        """Yield the series of the same link, number of rails and pattern; for a time, also of the
        same layer.
        """
        key = (link.kind, link.rails, pattern)
        waits = pattern not in ("stream", "exchange")
        for one in self.series(link.protocol):
            same = one.layer == layer or (not waits and "sockets" not in (one.layer, layer))
            if one.series.fault:
                continue
            if same and (one.link.kind, one.link.rails, one.series.pattern) == key:
                yield one
