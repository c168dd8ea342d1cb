"""The figures of HPCC's latency and bandwidth part as series: ping-pong over all pairs, natural and
random rings.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec import structs

from wireproof.model.series import Series, SeriesPoint, Traffic

__all__ = ["LARGE_BYTES", "SMALL_BYTES", "Figures", "results"]

SMALL_BYTES = 8
LARGE_BYTES = 2_000_000
"""HPCC's two sizes are fixed: 8 bytes for latencies, 2,000,000 (not 2 MiB) for bandwidths."""

_ALL = (
    "pingpong_latency_avg",
    "pingpong_bandwidth_avg",
    "natural_latency",
    "natural_bandwidth",
    "random_latency",
    "random_bandwidth",
)
_MOST = 1e18


@dataclass(slots=True)
class Figures:
    """``values`` in nanoseconds and bytes per second, ``steps`` the value of one unit in the last
    printed digit.

    ``closed``: something else follows the last figure, so that what is missing was not printed.
    """

    unit: str
    values: dict[str, float] = field(default_factory=dict)
    steps: dict[str, float] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    closed: bool = False

    def add(self, name: str, value: float | None, scale: float, step: float, line: int) -> None:
        """One printed figure; what is no positive measured number is kept out and remembered."""
        if value is None or not 0.0 < value * scale < _MOST:
            self.refused.append(f"line {line}")
            return
        self.values[name], self.steps[name], self.lines[name] = value * scale, step * scale, line

    def full(self) -> bool:
        """True when every result is there."""
        return all(name in self.values for name in _ALL)


@dataclass(frozen=True, slots=True)
class _Kind:
    benchmark: str
    key: str
    metric: str
    traffic: Traffic
    formula: str


_RING = (
    "{} a process sends to and receives from both neighbours; time = half of an iteration, the "
    "slowest process, the best repetition; bandwidth of one process = size / time, what it sends"
)
_KINDS = (
    _Kind(
        "PingPongLatency",
        "pingpong_latency",
        "half_round_trip",
        "pingpong",
        "loop time / (2 x round trips), one pair at a time; mean over the pairs of each pair's "
        "best of 5",
    ),
    _Kind(
        "PingPongBandwidth",
        "pingpong_bandwidth",
        "bandwidth",
        "pingpong",
        "size / half a round trip, one pair at a time; mean over the pairs of each pair's best of "
        "2",
    ),
    _Kind(
        "NaturallyOrderedRingLatency",
        "natural_latency",
        "latency",
        "ring",
        _RING.format("ranks in order:"),
    ),
    _Kind(
        "NaturallyOrderedRingBandwidth",
        "natural_bandwidth",
        "bandwidth",
        "ring",
        _RING.format("ranks in order:"),
    ),
    _Kind(
        "RandomlyOrderedRingLatency",
        "random_latency",
        "latency",
        "ring",
        _RING.format("geometric mean over 30 random rings:"),
    ),
    _Kind(
        "RandomlyOrderedRingBandwidth",
        "random_bandwidth",
        "bandwidth",
        "ring",
        _RING.format("geometric mean over 10 random rings:"),
    ),
)


def _main(figures: Figures, kind: _Kind) -> str:
    """The key of the figure that stands for a kind: the mean; old versions print only the worst
    pair.
    """
    if kind.traffic == "ring":
        return kind.key
    worst = "max" if "latency" in kind.key else "min"
    mean = f"{kind.key}_avg"
    return f"{kind.key}_{worst}" if figures.closed and mean not in figures.values else mean


def _point(figures: Figures, kind: _Kind) -> SeriesPoint | None:
    main = _main(figures, kind)
    value = figures.values.get(main)
    if value is None:
        return None
    low, high = figures.values.get(f"{kind.key}_min"), figures.values.get(f"{kind.key}_max")
    if "latency" in kind.key:
        half = kind.traffic == "pingpong"
        return SeriesPoint(
            message_bytes=SMALL_BYTES,
            hrt_ns=value if half else None,
            time_ns=None if half else value,
            time_min_ns=low,
            time_max_ns=high,
            time_step_ns=figures.steps[main],
            line=figures.lines[main],
        )
    ends = {"goodput_min_bytes_per_s": low, "goodput_max_bytes_per_s": high}
    return SeriesPoint(
        message_bytes=LARGE_BYTES,
        goodput_bytes_per_s=value,
        goodput_step=figures.steps[main],
        values={name: end for name, end in ends.items() if end is not None},
        line=figures.lines[main],
    )


def _refused(figures: Figures) -> list[str]:
    return (
        [f"left out, no measured number: {', '.join(figures.refused[:5])}"]
        if figures.refused
        else []
    )


def _notes(
    figures: Figures, kind: _Kind, processes: int | None, pairs: dict[str, int], failed: bool
) -> list[str]:
    notes = []
    what = "latency" if "latency" in kind.key else "bandwidth"
    if kind.traffic == "pingpong":
        count = f"{pairs[what]} pairs" if what in pairs else "all pairs"
        of = f" of {processes} processes" if processes else ""
        notes.append(f"over {count}{of}: pairs inside one node, if there are any, are among them")
        if not _main(figures, kind).endswith("_avg"):
            notes.append("only the worst pair is printed, not the mean")
    else:
        notes.append("per process: the processes of one node share its port")
    notes += _refused(figures)
    if failed:
        notes.append("the summary says Success=0: a part of HPCC failed its check")
    return notes


def results(
    base: Series, figures: Figures, pairs: dict[str, int], *, begun: bool, failed: bool
) -> list[Series]:
    """Up to six series of one point, made from ``base`` (an empty series with what all share).

    One empty series more says that figures are missing, if the part had ``begun``. ``pairs``: how
    many were measured, by ``latency`` and ``bandwidth``.
    """
    found = []
    for kind in _KINDS:
        point = _point(figures, kind)
        if point is not None:
            found.append(
                structs.replace(
                    base,
                    benchmark=kind.benchmark,
                    metric=kind.metric,
                    traffic=kind.traffic,
                    points=[point],
                    formula=kind.formula,
                    unit=figures.unit,
                    waits=kind.traffic == "pingpong",
                    notes=_notes(figures, kind, base.processes, pairs, failed),
                    first_line=point.line,
                    last_line=point.line,
                )
            )
    if begun and not figures.closed and len(found) < len(_KINDS):
        found.append(_missing(base, figures, {one.benchmark for one in found}))
    return found


def _missing(base: Series, figures: Figures, found: set[str]) -> Series:
    """An empty series that names the results which are not ``found``."""
    what = "are not in the text"
    if figures.refused:
        what = "were not measured, no positive number is printed"
    names = ", ".join(kind.benchmark for kind in _KINDS if kind.benchmark not in found)
    return structs.replace(
        base,
        unit=figures.unit,
        complete=False,
        incomplete=f"line {base.last_line}: these results {what}: {names}",
        notes=_refused(figures),
    )
