"""What iperf3 and iperf measured, as a Series: the rate at which payload arrived, summed over the streams."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from wireproof.adapters.page import Page
from wireproof.model.series import Series, SeriesPoint

__all__ = ["Flow", "series_of"]

_MOST = 1e15
_DEFAULT_BLOCK = 128 << 10
_FORMULA = "payload that arrived / time, summed over the streams"


@dataclass(frozen=True, slots=True)
class Flow:
    """One direction. ``basis``: whose count it is (``received`` is what a link is judged by)."""

    bytes_per_s: float
    basis: str
    values: dict[str, float] = field(default_factory=dict)
    step: float = 0.0


def _values(flows: list[Flow], values: dict[str, float]) -> dict[str, float]:
    found = dict(flows[0].values)
    for flow in flows[1:]:
        for name in ("retransmits", "bytes", "lost_packets", "packets"):
            if name in flow.values:
                found[name] = found.get(name, 0.0) + flow.values[name]
    if len(flows) > 1:
        found |= {"forward_bytes_per_s": flows[0].bytes_per_s, "backward_bytes_per_s": flows[1].bytes_per_s}
    return found | values


def series_of(
    page: Page,
    lines: tuple[int, int],
    flows: list[Flow],
    *,
    message_bytes: int | None,
    protocol: Literal["", "tcp", "udp"],
    benchmark: str,
    version: str,
    streams: int,
    incomplete: str,
    step: float,
    values: dict[str, float],
    notes: list[str],
    hosts: list[str],
    both: bool,
    tool: str = "iperf3",
) -> Series:
    """One point per run. ``message_bytes``: length of one write; None: the log is silent, TCP's default is taken."""
    known = [flow for flow in flows if 0 < flow.bytes_per_s < _MOST]
    notes = list(notes)
    if len(known) < len(flows):
        notes.append("a rate that cannot be is left out")
    if both and len(known) < 2:
        incomplete = incomplete or "one of the two directions is missing"
    if message_bytes is None and known:
        notes.append(f"the length of a write is not printed: {_DEFAULT_BLOCK} bytes, TCP's default, is taken")
    if known and known[0].basis != "received":
        notes.append(f"the rate is what was {known[0].basis}: the receiver's own count is not in the log")
    points = []
    if known and not (both and len(known) < 2):
        total = sum(flow.bytes_per_s for flow in known)
        points.append(
            SeriesPoint(
                message_bytes=message_bytes or _DEFAULT_BLOCK,
                goodput_bytes_per_s=total,
                goodput_step=step or sum(flow.step for flow in known),
                values=_values(known, values),
                line=lines[1],
            )
        )
    elif not incomplete:
        incomplete = "no payload arrived"
    return Series(
        tool=tool,
        benchmark=benchmark + ("_bidir" if both else ""),
        metric="bidirectional_bandwidth" if both else "bandwidth",
        traffic="exchange" if both else "stream",
        points=points,
        formula=_FORMULA + (", both directions added" if both else ""),
        unit="bits and bit rates in powers of 1000, bytes and byte rates in powers of 1024",
        version=version,
        directions=2 if both else 1,
        pairs=max(1, streams),
        protocol=protocol,
        complete=not incomplete,
        incomplete=incomplete,
        hosts=hosts,
        notes=notes,
        source=page.source,
        first_line=lines[0],
        last_line=lines[1],
    )
