# pure
"""Published series that can be compared with a measured series, and where it lies among them.

Pure.
"""

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median
from typing import Literal

import msgspec

from wireproof.model.atlas import (
    RATE_UNITS,
    TIME_UNITS,
    Near,
    Place,
    Publication,
    Published,
    Quantity,
)
from wireproof.model.claim import LinkClaim
from wireproof.model.errors import BadInput
from wireproof.model.quantity import counted, short_time, throughput
from wireproof.model.quantity import size as size_text
from wireproof.model.toml import line_at, read_struct
from wireproof.physics.bounds import CurveBounds, bounds_of
from wireproof.physics.claims import PATHS, claim_from_text
from wireproof.physics.table import PhysicsError

# --- Read a file of the atlas as sources.

_LARGEST = 4 << 20
_VERBS = ("ib_", "raw_ethernet", "qperf rc", "qperf uc", "qperf ud", "rdma_", "ibv_")
_SOCKETS = ("iperf", "netperf", "qperf tcp", "sockperf", "nuttcp", "ntttcp", "netpipe tcp", "nttcp")
Layer = Literal["mpi", "verbs", "sockets"]
"""The layer that the program calls: a message takes longer through MPI than through verbs, and a
stream of sockets is not comparable with MPI over sockets.
"""
_TOLERANCE = 0.02


class _SourcesFile(msgspec.Struct):
    source: list[Publication]


def sources_of(text: str, name: str) -> list[Publication]:
    """Return the sources in a TOML text.

    Raises ``BadInput`` with ``name``, the line and the field: for an invalid format, an
    unknown link, a duplicate source, and a row that the link's limits exclude.
    """
    found = read_struct(text, name, _SourcesFile, largest=_LARGEST).source
    seen: set[str] = set()
    for number, source in enumerate(found):
        if source.id in seen:
            line = line_at(text, [("source", number), ("id", None)])
            raise BadInput(f"{name}, line {line}: id: {source.id!r} appears twice.")
        seen.add(source.id)
        for place, series in enumerate(source.series):
            if wrong := trouble(series):
                field, why = wrong
                line = line_at(text, [("source", number), ("series", place), (field, None)])
                raise BadInput(f"{name}, line {line}: {field}: {why}.")
    return found


def layer_of_tool(tool: str) -> Layer:
    """Return the layer by the program's name: ``ib_write_bw`` calls verbs, ``iperf3`` sockets."""
    name = tool.lower()
    if name.startswith(_VERBS):
        return "verbs"
    return "sockets" if name.startswith(_SOCKETS) else "mpi"


def link_of(series: Published) -> LinkClaim:
    """Return the series' link as a claim for the path of the series. Raises PhysicsError."""
    path = series.path if series.path in PATHS else ""
    return claim_from_text(series.link, path=path)


def bounds_of_series(series: Published) -> CurveBounds:
    """Return the limits of the series' link."""
    return bounds_of(link_of(series), verbs=layer_of_tool(series.tool) == "verbs")


def time_of(series: Published, size: int, value: float) -> float | None:
    """Return the ns of one operation; None for a rate of messages in flight together."""
    if series.unit in TIME_UNITS:
        return value * TIME_UNITS[series.unit]
    if series.pattern == "pingpong" and size:
        return size / (value * RATE_UNITS[series.unit]) * 1e9
    return None


def goodput_of(series: Published, size: int, value: float) -> float | None:
    """Return the bytes/s of one direction; None if the value is the time of an empty message."""
    if series.unit in TIME_UNITS:
        return size / (value * TIME_UNITS[series.unit]) * 1e9 if size else None
    ways = series.directions or (2 if series.pattern == "exchange" else 1)
    return value * RATE_UNITS[series.unit] / ways


def trouble(series: Published) -> tuple[str, str] | None:
    """Return (field, reason) if a series cannot be a measurement of its link, else None.

    A value that is faster than the wire allows is shared memory or a mistake.
    """
    try:
        bounds = bounds_of_series(series)
    except PhysicsError as error:
        field = "path" if "path" in str(error)[:20] else "link"
        return field, str(error).rstrip(".")
    if not bounds.wire:
        return "link", f"{series.link} is not a wire"
    if series.nodes < 2:
        return "nodes", "a single node uses no wire"
    if series.pattern == "ring" and series.ranks_per_node > 1:
        return "ranks_per_node", "neighbours of a ring on one node share memory"
    for size, value in series.rows:
        if why := _excluded(series, bounds, size, value):
            return "rows", f"{value:g} {series.unit} at {size} B {why}"
    return None


def _excluded(series: Published, bounds: CurveBounds, size: int, value: float) -> str:
    goodput, time = goodput_of(series, size, value), time_of(series, size, value)
    if series.unit in TIME_UNITS and series.pattern in ("pingpong", "put", "get"):
        doubt = bounds.too_quick(time or 0.0, size)
        if doubt in ("fail", "inconclusive"):
            least = bounds.floor / 1e3
            return f"is faster than {bounds.link.name} can be ({least:.3g} us and the transfer)"
    if bounds.most is not None and goodput is not None:
        most = bounds.most
        if goodput > most * (1 + _TOLERANCE) and series.pattern not in ("rate", "ring"):
            return f"is more than the {most / 1e6:.0f} MB/s that {bounds.link.name} can carry"
    return ""


# --- Series that can be compared.

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
        """Return the published value for messages of ``size``; None if no size is near enough."""
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
"""Returns a protocol's sources, each with the site's own file or "" for the built-in files."""


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


# --- ``place``: find where a measured number lies among published numbers. Each source has one
# vote; with fewer than ``LEAST`` sources, no conclusion is drawn.

LEAST = 5
"""Fewest sources for a percentile."""
_NEAREST = 3
Votes = dict[str, list[tuple[float, Known]]]
"""The numbers of each source, with their series."""
_SAME = 0.05  # numbers within this share are equal
_OUTRUN = 0.8
"""Share of the fastest published time; no published wire of this kind is faster."""


def place(
    atlas: Atlas,
    link: LinkClaim,
    pattern: str,
    message_bytes: int,
    *,
    time_ns: float | None = None,
    goodput: float | None = None,
    layer: Layer = "mpi",
) -> Place | None:
    """Return where ``time_ns`` (half a round trip of ``pingpong``) or ``goodput`` (bytes/s one way)
    lies.

    None if no published number is comparable.
    """
    quantity: Quantity = "goodput" if time_ns is None else "time"
    value = goodput if time_ns is None else time_ns
    votes: Votes = defaultdict(list)
    for one in atlas.comparable(link, pattern, layer):
        if (number := one.at(quantity, message_bytes)) is not None:
            votes[one.source.id].append((number, one))
    if not votes or not value:
        return None
    return _with_sentence(_placed(votes, link.name, pattern, message_bytes, quantity, value))


def _placed(
    votes: Votes, link: str, pattern: str, size: int, quantity: Quantity, value: float
) -> Place:
    every = [each for some in votes.values() for each in some]
    ordered = sorted(
        (median(number for number, _ in some) for some in votes.values()),
        reverse=quantity == "goodput",
    )
    share = _faster_than(list(votes.values()), quantity, value)
    return Place(
        link=link,
        pattern=pattern,
        quantity=quantity,
        message_bytes=size,
        value=value,
        sources=len(votes),
        rows=len(every),
        faster_than=share if len(votes) >= LEAST else None,
        as_slow=sum(
            any(_ratio(quantity, value, number) >= 1 - _SAME for number, _ in some)
            for some in votes.values()
        ),
        usual=len(votes) >= LEAST
        and _ratio(quantity, value, ordered[len(ordered) // 2]) >= 1 - _SAME,
        values=ordered,
        nearest=_nearest(every, value),
        sentence="",
        files=sorted({one.file for _, one in every if one.file}),
    )


def _faster_than(
    votes: Sequence[Sequence[tuple[float, Known]]], quantity: Quantity, value: float
) -> float:
    """Return the share of slower sources; a source with numbers on both sides counts in part."""
    total = 0.0
    for some in votes:
        slower = sum(_ratio(quantity, value, number) > 1 for number, _ in some)
        same = sum(number == value for number, _ in some)
        total += (slower + same / 2) / len(some)
    return total / len(votes)


def _nearest(every: Sequence[tuple[float, Known]], value: float) -> list[Near]:
    """Return the nearest number of each of the nearest sources."""
    ordered = sorted(every, key=lambda each: max(each[0], value) / min(each[0], value))
    first = {one.source.id: (number, one) for number, one in reversed(ordered)}
    chosen = sorted(first.values(), key=lambda each: ordered.index(each))[:_NEAREST]
    return [
        Near(
            source=one.source.id,
            value=number,
            adapter=one.series.adapter,
            mpi=one.series.mpi,
            date=one.source.date,
            file=one.file,
        )
        for number, one in chosen
    ]


def _with_sentence(found: Place) -> Place:
    shown = short_time if found.quantity == "time" else throughput
    what = f"{found.link} {found.pattern} of {size_text(found.message_bytes)}"
    number = counted(found.sources, "published source")
    near = ", ".join(
        f"{shown(one.value)} ({one.source}{', of the site' if one.file else ''})"
        for one in found.nearest
    )
    if found.faster_than is None:
        text = (
            f"{shown(found.value)} for {what}: {number} ({_span(found)}), too few to tell which "
            "values are usual: only the limits apply"
        )
    else:
        text = (
            f"{shown(found.value)} for {what}: faster than {found.faster_than:.0%} of {number} "
            f"({_span(found)}); nearest: {near}"
        )
    return msgspec.structs.replace(found, sentence=text)


def _span(found: Place) -> str:
    shown = short_time if found.quantity == "time" else throughput
    fast, slow = shown(found.values[0]), shown(found.values[-1])
    return fast if fast == slow else f"{fast} to {slow}"


def _ratio(quantity: Quantity, value: float, other: float) -> float:
    """Return how many times as fast as ``other`` the value is."""
    return other / value if quantity == "time" else value / other


def outruns_all(found: Place, *, likely: bool = False) -> bool:
    """Return True if there are enough published times and the time is much shorter than all of
    them.

    Any shorter time counts if it is ``likely`` that two ranks shared a host.
    """
    enough = found.faster_than is not None and found.quantity == "time"
    return enough and found.value < (1.0 if likely else _OUTRUN) * found.values[0]


def trails_all(found: Place) -> bool:
    """Return True if there are enough published numbers and the number is below all of them."""
    return found.faster_than is not None and not found.as_slow
