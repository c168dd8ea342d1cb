"""Turns logs of other benchmarks into a source of the atlas, after our own judge has seen them.

Usage: ``python tools/atlas_source.py LOG... --link hdr200 --id NAME --title TEXT --where URL``. A
series that the judge calls off-wire or mixed, or that another fact excludes, is left out and named
on stderr, and with it the other series of its log: if the ranks of one table share a host, so may
those of another. Several logs of one program and pattern become one series of medians.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median

from wireproof.logs.job import judge
from wireproof.logs.json import JudgedSeries

_SIZES = (0, 1, 2, 4, 8, 64, 1024, 8192, 65_536, 1 << 20, 4 << 20)
_PATTERNS = ("pingpong", "stream", "exchange", "put", "get")
_EXCLUDED = {
    "above-ceiling",
    "below-floor",
    "faster-than-transfer",
    "below-any-nic",
    "cache-shaped",
    "mixed-paths",
    "only-a-floor",
}
_FEW = 5  # rows of a table that is taken whole
Key = tuple[str, str, str, str]


def _values(series: JudgedSeries) -> tuple[str, list[tuple[int, float]]]:
    """Unit and rows: rates where the table is about them, else times."""
    rates = "bandwidth" in series.metric or all(
        one.hrt_ns is None and one.time_ns is None for one in series.points
    )
    rows = []
    for point in series.points:
        if len(series.points) > _FEW and point.message_bytes not in _SIZES:
            continue
        time = point.hrt_ns if point.hrt_ns is not None else point.time_ns
        value = point.goodput_bytes_per_s if rates else time
        if value:
            rows.append((point.message_bytes, value / (1e6 if rates else 1e3)))
    return "MB/s" if rates else "us", rows


def _memory(series: JudgedSeries) -> str:
    """Why a series may have stayed in the memory of a host; "" if nothing says so."""
    if series.proof in ("off-wire", "mixed"):
        return series.proof
    doubts = {one.code for one in series.reasons if one.severity in ("fail", "inconclusive")}
    return ", ".join(sorted(_EXCLUDED & doubts))


def _one_pair(series: JudgedSeries) -> bool:
    return series.traffic in _PATTERNS and series.pairs == 1


def _why_not(series: JudgedSeries) -> str:
    return _memory(series) if _one_pair(series) else "not of one pair"


def _crossed(log: Path, link: str) -> list[JudgedSeries]:
    """The series of a log that may be rows; none if a table of it did not cross the wire."""
    series = judge(log, link=link).series
    doubted = next((one for one in series if _one_pair(one) and _memory(one)), None)
    kept = []
    for one in series:
        if why := _why_not(one) or (doubted and f"{doubted.benchmark} of this log is doubtful"):
            print(f"{log}:{one.first_line}: {one.benchmark} left out: {why}", file=sys.stderr)
        else:
            kept.append(one)
    return kept


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _series_text(key: Key, found: list[JudgedSeries], given: argparse.Namespace) -> list[str]:
    benchmark, traffic, formula, version = key
    rows: dict[int, list[float]] = defaultdict(list)
    unit = "us"
    for one in found:
        unit, values = _values(one)
        for size, value in values:
            rows[size].append(value)
    shown = ", ".join(f"[{size}, {median(rows[size]):.6g}]" for size in sorted(rows))
    told = {"link": given.link, "adapter": given.adapter, "pcie": given.pcie, "mpi": given.mpi}
    told |= {"path": given.path, "pattern": traffic, "formula": formula}
    told |= {"tool": f"{benchmark} {version}".strip(), "unit": unit}
    lines = ["", "[[source.series]]"]
    lines += [f"{name} = {_quoted(value)}" for name, value in told.items() if value]
    lines += [f"launches = {len(found)}"] if len(found) > 1 else []
    return [*lines, f"rows = [{shown}]"] if rows else []


def main() -> int:
    """Prints the block; 1 when nothing is left of the logs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("logs", nargs="+", type=Path)
    for name in ("link", "id", "title", "where"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("date", "adapter", "pcie", "mpi", "path"):
        parser.add_argument(f"--{name}", default="")
    parser.add_argument("--trust", default="log")
    given = parser.parse_args()
    groups: dict[Key, list[JudgedSeries]] = defaultdict(list)
    for log in given.logs:
        for one in _crossed(log, given.link):
            groups[one.benchmark, one.traffic, one.formula, one.version].append(one)
    if not groups:
        return 1
    told = {"id": given.id, "title": given.title, "where": given.where, "date": given.date}
    told["trust"] = given.trust
    print("[[source]]")
    print("\n".join(f"{name} = {_quoted(value)}" for name, value in told.items() if value))
    for key, found in groups.items():
        print("\n".join(_series_text(key, found, given)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
