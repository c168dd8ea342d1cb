"""What ``wireproof plan scale`` prints for people, and its table as CSV."""

from __future__ import annotations

from collections.abc import Sequence

from wireproof.model.planning.scale import Prediction, Scale
from wireproof.report.text.look import Look

__all__ = ["BAR", "bar", "csv_text", "scale_lines", "time_text"]

_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns"))
_EIGHTHS = " ▏▎▍▌▋▊▉█"
BAR = 24
_COLUMNS = (
    "pattern",
    "order",
    "nodes",
    "ppn",
    "ranks",
    "message_bytes",
    "time_ns",
    "latency_ns",
    "low_ns",
    "high_ns",
    "simulated",
    "total",
)


def time_text(ns: float) -> str:
    """Three digits and the unit that fits."""
    for size, name in _UNITS:
        if ns >= size:
            return f"{ns / size:.3g} {name}" if ns < 1000 * size else f"{ns / size:,.0f} {name}"
    return f"{ns:.3g} ns"


def csv_text(found: Scale) -> str:
    """One row per prediction; times in ns."""
    rows = [",".join(_COLUMNS)]
    for one in found.predictions:
        values = {name: getattr(one, name, None) for name in _COLUMNS}
        values |= {"low_ns": one.spread_ns.low, "high_ns": one.spread_ns.high}
        rows.append(",".join(_cell(values[name]) for name in _COLUMNS))
    return "\n".join(rows) + "\n"


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def scale_lines(found: Scale, look: Look) -> list[str]:
    """Parameters with their sources, then a chart for each pattern: one bar per scale."""
    lines = [f"topology: {found.topology}; seed {found.seed}"]
    for one in found.parameters:
        lines.append(f"  {one.name:17} {one.value:>10.4g} {one.unit:5} {one.source}")
    groups: dict[tuple[str, str, int], list[Prediction]] = {}
    for each in found.predictions:
        groups.setdefault((each.pattern, each.order, each.message_bytes), []).append(each)
    for rows in groups.values():
        lines += ["", _title(rows[0]), *_chart(rows, look)]
    lines += ["", *(f"source: {line}" for line in found.sources)]
    return lines + [f"valid: {line}" for line in found.validity]


def _title(one: Prediction) -> str:
    order = f"{one.order} " if one.order else ""
    what = ", per message (HPCC)" if one.pattern == "ring" else ""
    size = "" if one.pattern == "barrier" else f", {one.message_bytes:,} B"
    return f"{order}{one.pattern}{size}{what}: {one.method}"


def _chart(rows: Sequence[Prediction], look: Look) -> list[str]:
    most = max(one.latency_ns for one in rows) or 1.0
    return [
        f"  {one.nodes:>9,} nodes {one.ranks:>9,} ranks  {time_text(one.latency_ns):>9}"
        f"  {bar(one.latency_ns / most, look):{BAR}}{_spread(one)}".rstrip()
        for one in rows
    ]


def _spread(one: Prediction) -> str:
    if one.spread_ns.known:
        return ""
    share = one.latency_ns / one.time_ns if one.time_ns else 1.0
    low, high = (time_text(edge * share) for edge in (one.spread_ns.low, one.spread_ns.high))
    return f"  {low} to {high} ({one.simulated} of {one.total})"


def bar(share: float, look: Look) -> str:
    """A bar of ``share`` of the width, in eighths where the place has them."""
    if look.ascii:
        return "#" * max(1, round(share * BAR))
    eighths = max(1, round(share * BAR * 8))
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
