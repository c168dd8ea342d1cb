"""HPC Challenge."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from wireproof.adapters.hpcc.results import Figures, results
from wireproof.adapters.options import refuse_others
from wireproof.adapters.page import Page
from wireproof.adapters.registry import Adapter, Parsed, Sign, starts_result
from wireproof.adapters.rows import integer, number, step_of
from wireproof.model.series import Series
from wireproof.model.tool import ToolRequest

__all__ = ["ADAPTER"]


# --- HPC Challenge: the latency and bandwidth part of ``hpccoutf.txt``. The program has no options:
# hpccinf.txt rules it.
#
# The same numbers stand in the file twice: in words (msec, MB/s) and in the summary (``KEY=value``,
# us, GB/s). The words come first and have more digits, so they are used where they are whole; the
# summary alone is enough.

_SIGNS = (
    Sign("HPC Challenge", r"This is the DARPA/DOE HPC Challenge Benchmark"),
    Sign("Bandwidth-Benchmark", r"Latency-Bandwidth-Benchmark R\d"),
    Sign("Begin of", r"Begin of (?:LatencyBandwidth|Summary) section"),
    Sign("PingPong", r"PingPong(?:Latency_usec|Bandwidth_GBytes) ?="),
    Sign("OrderedRing", r"OrderedRing(?:Latency_usec|Bandwidth_GBytes) ?="),
)
_OWN = re.compile("|".join(sign.pattern for sign in _SIGNS))
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
"""Lines of other parts (HPL, PTRANS ...) between the title and what is looked for."""

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


@dataclass(slots=True)
class _Reading:
    """``words``: the numbers of the detailed results, ``keys``: those of the summary; ``about``:
    both.
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
        """One line of the part in words; only what follows "Detailed benchmark results" is a
        result.
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
            what, scale = ("latency", 1e6) if three.group(4) == "msecs" else ("bandwidth", 1e6)
            for name, text in zip(("min", "avg", "max"), three.groups()[:3], strict=True):
                self.words.add(f"pingpong_{what}_{name}", number(text), scale, step_of(text), at)
        elif ring is not None:
            kind = "natural" if ring.group(1) == "naturally" else "random"
            self.words.add(
                f"{kind}_latency", number(ring.group(2)), 1e6, step_of(ring.group(2)), at
            )
            self.words.add(
                f"{kind}_bandwidth", number(ring.group(3)), 1e6, step_of(ring.group(3)), at
            )
        elif pairs is not None:
            self.pairs[pairs.group(2)] = int(pairs.group(1))

    def take_key(self, line: str, at: int) -> None:
        """One line of the summary."""
        found = _KEY.match(line)
        if found is None:
            return
        key, text = found.groups()
        if key in _KEYS:
            self.seen = True
            self.keys.add(
                _KEYS[key], number(text), 1e9 if key.endswith("GBytes") else 1e3, step_of(text), at
            )
            return
        self.keys.closed = bool(self.keys.values)
        if key == "CommWorldProcs":
            self.processes = integer(text) or self.processes
        elif key in ("VersionMajor", "VersionMinor", "VersionMicro") and text.isdigit():
            self.release.append(text[:6])
        elif key == "Success":
            self.failed = text == "0"

    def take_heading(self, line: str) -> None:
        """The title, or the line that the latency and bandwidth part begins with."""
        found = _VERSION.search(line)
        if found is not None:
            self.version = found.group(1)
        self.seen = self.seen or "LatencyBandwidth section" in line or _PART.match(line) is not None

    def stale(self, line: str) -> bool:
        """True when the line begins another run's results."""
        return _TITLE.search(line) is not None or (
            self.words.full() and _PART.search(line) is not None
        )


def _scan(page: Page, start: int, reading: _Reading) -> int:
    """Fills ``reading``; the index of the first line that is not of this run."""
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
    """The latency and bandwidth results of the run that begins on line index ``start``."""
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
    """``hpcc``: what it does stands in the file hpccinf.txt of the folder that it is started in."""
    refuse_others(request, "hpcc (it reads hpccinf.txt)")
    return (request.program, *request.extra)


ADAPTER: Adapter = Adapter(name="hpcc", signs=_SIGNS, parse=parse, argv=argv)
