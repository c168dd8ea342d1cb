# pure
"""HPC Challenge: the latency and bandwidth part of ``hpccoutf.txt`` as series (ping-pong over all
pairs, natural and random rings). The program has no options; hpccinf.txt configures it.

The file has the same numbers twice: in text (msec, MB/s) and in the summary (``KEY=value``, us,
GB/s). The text comes first and has more digits, so it is used if complete; the summary alone
suffices.
"""

import re
from dataclasses import dataclass, field

from msgspec import structs

from wireproof.logs.readers.page import Page
from wireproof.logs.readers.registry import (
    SIGNS,
    Adapter,
    Benchmark,
    Parsed,
    refuse_others,
    starts_result,
)
from wireproof.logs.readers.rows import number, step_of, times
from wireproof.model.quantity import whole
from wireproof.model.series import Series, SeriesPoint, ToolRequest

_OWN = re.compile("|".join(sign.pattern for sign in SIGNS["hpcc"]))
_TITLE = re.compile(r"^[\s#>*]{0,24}This is the DARPA/DOE HPC Challenge Benchmark")
_PART = re.compile(r"^\s{0,40}Latency-Bandwidth-Benchmark R\d")
_LAST = re.compile(r"^\s{0,40}End of HPC Challenge tests")
_VERSION = re.compile(r"HPC Challenge Benchmark version (\d[\w.]{0,15})")
_THREE = re.compile(
    r"min / avg / max: {0,20}(\S{1,24}) / {0,20}(\S{1,24}) / {0,20}(\S{1,24}) (msecs|MByte/s)\s*$"
)
_RING = re.compile(
    r"On (naturally|randomly) {1,4}ordered ring: latency= *(\S{1,24}) msec, bandwidth="
    r" *(\S{1,24}) MB/s\s*$"
)
_PROCESSES = re.compile(r"\bon {1,8}(\d{1,8}) processes\b")
_PAIRS = re.compile(r"- {1,40}(\d{1,12}) pairs of processes for (latency|bandwidth)")
_KEY = re.compile(r"^\s{0,40}([A-Za-z_]{4,60}) ?= ?(\S{1,40})\s*$")
_PATIENCE = 200_000
"""Maximum number of lines of other parts (HPL, PTRANS ...) between the title and the results."""

_KEYS = {
    "MinPingPongLatency_usec": "pingpong_latency_min",
    "AvgPingPongLatency_usec": "pingpong_latency_avg",
    "MaxPingPongLatency_usec": "pingpong_latency_max",
    "MinPingPongBandwidth_GBytes": "pingpong_bandwidth_min",
    "AvgPingPongBandwidth_GBytes": "pingpong_bandwidth_avg",
    "MaxPingPongBandwidth_GBytes": "pingpong_bandwidth_max",
    "NaturallyOrderedRingLatency_usec": "natural_latency",
    "RandomlyOrderedRingLatency_usec": "random_latency",
    "NaturallyOrderedRingBandwidth_GBytes": "natural_bandwidth",
    "RandomlyOrderedRingBandwidth_GBytes": "random_bandwidth",
}


# --- The figures.

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
    """Printed figures. ``values``: in nanoseconds and bytes per second; ``steps``: one unit in the
    last printed digit.

    ``closed``: other output follows the last figure, so a missing figure was not printed.
    """

    unit: str
    values: dict[str, float] = field(default_factory=dict)
    steps: dict[str, float] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    closed: bool = False

    def add(self, name: str, text: str, scale: float, line: int) -> None:
        """Add one printed figure; if the text is not a positive number, it is only recorded as
        refused.
        """
        value = number(text)
        if value is None or not 0.0 < value * scale < _MOST:
            self.refused.append(f"line {line}")
            return
        self.values[name], self.lines[name] = value * scale, line
        self.steps[name] = step_of(text) * scale

    def full(self) -> bool:
        """Return True if every result is present."""
        return all(name in self.values for name in _ALL)


_RING_FORMULA = (
    "{} a process sends to and receives from both neighbours; time = half of an iteration, the "
    "slowest process, the best repetition; bandwidth of one process = size / time, sent bytes"
)
_KINDS = {
    "pingpong_latency": Benchmark(
        "PingPongLatency",
        "half_round_trip",
        "pingpong",
        "loop time / (2 x round trips), one pair at a time; mean over the pairs of each pair's "
        "best of 5",
        waits=True,
    ),
    "pingpong_bandwidth": Benchmark(
        "PingPongBandwidth",
        "bandwidth",
        "pingpong",
        "size / half a round trip, one pair at a time; mean over the pairs of each pair's best of "
        "2",
        waits=True,
    ),
    "natural_latency": Benchmark(
        "NaturallyOrderedRingLatency",
        "latency",
        "ring",
        _RING_FORMULA.format("ranks in order:"),
    ),
    "natural_bandwidth": Benchmark(
        "NaturallyOrderedRingBandwidth",
        "bandwidth",
        "ring",
        _RING_FORMULA.format("ranks in order:"),
    ),
    "random_latency": Benchmark(
        "RandomlyOrderedRingLatency",
        "latency",
        "ring",
        _RING_FORMULA.format("geometric mean over 30 random rings:"),
    ),
    "random_bandwidth": Benchmark(
        "RandomlyOrderedRingBandwidth",
        "bandwidth",
        "ring",
        _RING_FORMULA.format("geometric mean over 10 random rings:"),
    ),
}
"""Formulas by the key of the figure; for ping-pong, the file has mean, minimum and maximum."""


def _main(figures: Figures, key: str) -> str:
    """Return the key of the figure for a kind: the mean, or the worst pair if an old version prints
    only that.
    """
    if not key.startswith("pingpong"):
        return key
    worst = "max" if "latency" in key else "min"
    mean = f"{key}_avg"
    return f"{key}_{worst}" if figures.closed and mean not in figures.values else mean


def _point(figures: Figures, key: str) -> SeriesPoint | None:
    main = _main(figures, key)
    value = figures.values.get(main)
    if value is None:
        return None
    low, high = figures.values.get(f"{key}_min"), figures.values.get(f"{key}_max")
    if "latency" in key:
        hrt, time = times(value, key.startswith("pingpong"))
        return SeriesPoint(
            message_bytes=SMALL_BYTES,
            hrt_ns=hrt,
            time_ns=time,
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
        [f"left out, not a positive number: {', '.join(figures.refused[:5])}"]
        if figures.refused
        else []
    )


def _notes(
    figures: Figures, key: str, processes: int | None, pairs: dict[str, int], failed: bool
) -> list[str]:
    notes = []
    what = "latency" if "latency" in key else "bandwidth"
    if key.startswith("pingpong"):
        count = f"{pairs[what]} pairs" if what in pairs else "all pairs"
        of = f" of {processes} processes" if processes else ""
        notes.append(f"over {count}{of}: this includes pairs inside one node, if any")
        if not _main(figures, key).endswith("_avg"):
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
    """Return up to six series of one point, made from ``base``, an empty series with the common
    fields.

    If the part had ``begun`` and figures are missing, an additional empty series reports that.
    ``pairs``: number of pairs measured, by ``latency`` and ``bandwidth``.
    """
    found = [
        structs.replace(
            base,
            benchmark=kind.name,
            metric=kind.metric,
            traffic=kind.traffic,
            points=[point],
            formula=kind.formula,
            unit=figures.unit,
            waits=kind.waits,
            notes=_notes(figures, key, base.processes, pairs, failed),
            first_line=point.line,
            last_line=point.line,
        )
        for key, kind in _KINDS.items()
        if (point := _point(figures, key)) is not None
    ]
    if begun and not figures.closed and len(found) < len(_KINDS):
        found.append(_missing(base, figures, {one.benchmark for one in found}))
    return found


def _missing(base: Series, figures: Figures, found: set[str]) -> Series:
    what = "are not in the text"
    if figures.refused:
        what = "were not measured: no positive number is printed"
    names = ", ".join(kind.name for kind in _KINDS.values() if kind.name not in found)
    return structs.replace(
        base,
        unit=figures.unit,
        complete=False,
        incomplete=f"line {base.last_line}: these results {what}: {names}",
        notes=_refused(figures),
    )


# --- Their printed form.


@dataclass(slots=True)
class _Reading:
    """The lines of one run. ``words``: numbers of the detailed results; ``keys``: numbers of the
    summary.
    """

    words: Figures = field(default_factory=lambda: Figures("msec; MB = 10^6 bytes"))
    keys: Figures = field(default_factory=lambda: Figures("us; GB = 10^9 bytes"))
    version: str = ""
    processes: int | None = None
    pairs: dict[str, int] = field(default_factory=dict)
    release: list[str] = field(default_factory=list)
    detailed: bool = False
    seen: bool = False
    failed: bool = False

    def take_words(self, line: str, at: int) -> None:
        """Read one line of the detailed part; only lines after "Detailed benchmark results" are
        results.
        """
        if self.detailed:
            self._take_result(line, at)
        elif "Detailed benchmark results" in line:
            self.detailed = True
        if self.processes is None and "processes" in line and (found := _PROCESSES.search(line)):
            self.processes = int(found.group(1))

    def _take_result(self, line: str, at: int) -> None:
        three, ring, pairs = _THREE.search(line), _RING.search(line), _PAIRS.search(line)
        if three is not None:
            what = "latency" if three.group(4) == "msecs" else "bandwidth"
            for name, text in zip(("min", "avg", "max"), three.groups(), strict=False):
                self.words.add(f"pingpong_{what}_{name}", text, 1e6, at)
        elif ring is not None:
            kind = "natural" if ring.group(1) == "naturally" else "random"
            self.words.add(f"{kind}_latency", ring.group(2), 1e6, at)
            self.words.add(f"{kind}_bandwidth", ring.group(3), 1e6, at)
        elif pairs is not None:
            self.pairs[pairs.group(2)] = int(pairs.group(1))

    def take_key(self, line: str, at: int) -> None:
        """Read one line of the summary."""
        found = _KEY.match(line)
        if found is None:
            return
        key, text = found.groups()
        if key in _KEYS:
            self.seen = True
            self.keys.add(_KEYS[key], text, 1e9 if key.endswith("GBytes") else 1e3, at)
            return
        self.keys.closed = bool(self.keys.values)
        if key == "CommWorldProcs":
            self.processes = whole(text) or self.processes
        elif key in ("VersionMajor", "VersionMinor", "VersionMicro") and text.isdigit():
            self.release.append(text[:6])
        elif key == "Success":
            self.failed = text == "0"

    def take_heading(self, line: str) -> None:
        """Read the title, or the first line of the latency and bandwidth part."""
        found = _VERSION.search(line)
        if found is not None:
            self.version = found.group(1)
        self.seen = self.seen or "LatencyBandwidth section" in line or _PART.match(line) is not None

    def stale(self, line: str) -> bool:
        """Return True if the line begins the results of another run."""
        return _TITLE.search(line) is not None or (
            self.words.full() and _PART.search(line) is not None
        )


def _scan(page: Page, start: int, reading: _Reading) -> int:
    """Fill ``reading``; return the index of the first line that does not belong to this run."""
    lines = page.lines
    last = len(lines) - 1
    for index in range(start, min(len(lines), start + _PATIENCE)):
        line = lines[index]
        own = _OWN.search(line) is not None
        if index > start and (reading.stale(line) if own else starts_result(line)):
            return index
        if own or "End of HPC" in line:
            if _LAST.match(line):
                return index + 1
            reading.take_heading(line)
        if "=" in line and (index < last or not page.cut):
            reading.take_key(line, index + 1)
        reading.take_words(line, index + 1)
    return min(len(lines), start + _PATIENCE)


def parse(page: Page, start: int) -> Parsed:
    """Parse the latency and bandwidth results of the run that begins on line index ``start``."""
    reading = _Reading()
    after = _scan(page, start, reading)
    use_words = reading.words.full() or not (reading.keys.values or reading.keys.refused)
    base = Series(
        tool="hpcc",
        version=reading.version or ".".join(reading.release),
        benchmark="LatencyBandwidth",
        metric="latency",
        traffic="other",
        points=[],
        formula="ping-pong and rings of 8 and of 2,000,000 bytes",
        unit="",
        processes=reading.processes,
        source=page.source,
        first_line=start + 1,
        last_line=max(after, start + 1),
    )
    found = results(
        base,
        reading.words if use_words else reading.keys,
        reading.pairs,
        begun=reading.seen or _TITLE.search(page.lines[start]) is not None,
        failed=reading.failed,
    )
    return Parsed(found, max(after, start + 1))


def argv(request: ToolRequest) -> tuple[str, ...]:
    """Return ``hpcc``: the file hpccinf.txt in its working directory configures it."""
    refuse_others(request, "hpcc (it reads hpccinf.txt)")
    return (request.program, *request.extra)


ADAPTER: Adapter = Adapter(name="hpcc", parse=parse, argv=argv)
