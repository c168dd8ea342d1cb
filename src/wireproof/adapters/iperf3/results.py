"""What iperf3 and iperf measured, as a Series: the rate at which payload arrived, summed over the
streams.
"""

from dataclasses import dataclass, field
from typing import Literal

from wireproof.adapters.page import Page
from wireproof.model.series import Series, SeriesPoint

_MOST = 1e15
_DEFAULT_BLOCK = 128 << 10
_FORMULA = "payload that arrived / time, summed over the streams"


@dataclass(frozen=True, slots=True)
class IperfFlow:
    """One direction. ``basis``: which end counted (``received`` is what a link is judged by)."""

    bytes_per_s: float
    basis: str
    values: dict[str, float] = field(default_factory=dict)
    step: float = 0.0


def _values(flows: list[IperfFlow], values: dict[str, float]) -> dict[str, float]:
    found = dict(flows[0].values)
    for flow in flows[1:]:
        for name in ("retransmits", "bytes", "lost_packets", "packets"):
            if name in flow.values:
                found[name] = found.get(name, 0.0) + flow.values[name]
    if len(flows) > 1:
        found |= {
            "forward_bytes_per_s": flows[0].bytes_per_s,
            "backward_bytes_per_s": flows[1].bytes_per_s,
        }
    return found | values


@dataclass(frozen=True, slots=True)
class RunInfo:
    """Information about a run. ``message_bytes``: length of one write, None if the log does not
    tell (TCP's default is then assumed). ``lines``: first and last, from 1. ``both``: payload
    went in both directions at the same time.
    """

    lines: tuple[int, int]
    message_bytes: int | None
    protocol: Literal["", "tcp", "udp"]
    benchmark: str
    version: str
    streams: int
    incomplete: str
    hosts: list[str]
    both: bool = False
    values: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    tool: str = "iperf3"


def _notes(info: RunInfo, flows: list[IperfFlow], known: list[IperfFlow]) -> list[str]:
    notes = list(info.notes)
    if len(info.hosts) == 2 and info.hosts[0] == info.hosts[1]:
        notes.append(f"local and remote address are one: both ranks are on {info.hosts[0]}")
    if len(known) < len(flows):
        notes.append("an impossible rate is left out")
    if info.message_bytes is None and known:
        notes.append(
            f"the length of a write is not printed: {_DEFAULT_BLOCK} bytes, TCP's default, is taken"
        )
    basis = next((flow.basis for flow in known if flow.basis != "received"), "")
    if basis:
        notes.append(f"the rate is what was {basis}: the receiver's own count is not in the log")
    return notes


def _point(info: RunInfo, known: list[IperfFlow]) -> SeriesPoint:
    return SeriesPoint(
        message_bytes=info.message_bytes or _DEFAULT_BLOCK,
        goodput_bytes_per_s=sum(flow.bytes_per_s for flow in known),
        goodput_step=sum(flow.step for flow in known),
        values=_values(known, info.values),
        line=info.lines[1],
    )


def spread(rates: list[float]) -> dict[str, float]:
    """Return the slowest and the fastest interval; empty if there is only one."""
    if len(rates) < 2:
        return {}
    return {
        "interval_min_bytes_per_s": min(rates),
        "interval_max_bytes_per_s": max(rates),
        "intervals": len(rates),
    }


def _missing(info: RunInfo, known: list[IperfFlow]) -> str:
    """Return why there is no result; "" if every direction has its rate."""
    if len(known) >= (2 if info.both else 1):
        return ""
    return "one of the two directions is missing" if known else "no payload arrived"


def series_of(page: Page, flows: list[IperfFlow], info: RunInfo) -> Series:
    """Return one point per run; none if a direction is missing."""
    known = [flow for flow in flows if 0 < flow.bytes_per_s < _MOST]
    missing = _missing(info, known)
    if missing:
        known = []
    incomplete = info.incomplete or missing
    both = info.both
    return Series(
        tool=info.tool,
        benchmark=info.benchmark + ("_bidir" if both else ""),
        metric="bidirectional_bandwidth" if both else "bandwidth",
        traffic="exchange" if both else "stream",
        points=[_point(info, known)] if known else [],
        formula=_FORMULA + (", both directions added" if both else ""),
        unit="bits and bit rates in powers of 1000, bytes and byte rates in powers of 1024",
        version=info.version,
        directions=2 if both else 1,
        pairs=max(1, info.streams),
        protocol=info.protocol,
        complete=not incomplete,
        incomplete=incomplete,
        hosts=list(dict.fromkeys(info.hosts)),
        notes=_notes(info, flows, known),
        source=page.source,
        first_line=info.lines[0],
        last_line=info.lines[1],
    )
