"""What ``wireproof plan footprint`` and ``plan pfc`` print for people."""

from __future__ import annotations

from collections.abc import Iterable

from wireproof.model.planning.bounds import Bounds
from wireproof.model.planning.footprint import Footprint, Sums
from wireproof.model.planning.pfc import Fit, Pfc

__all__ = ["bytes_text", "footprint_lines", "pfc_lines"]

_UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def bytes_text(value: float) -> str:
    """Bytes with three digits."""
    for size, name in _UNITS:
        if value >= size:
            return (
                f"{value / size:.3g} {name}" if value < 1000 * size else f"{value / size:,.0f} TB"
            )
    return f"{value:.0f} B"


def _range(bounds: Bounds, *, size: bool) -> str:
    low, high = (bytes_text(x) if size else f"{x:,.0f}" for x in (bounds.low, bounds.high))
    return low if low == high else f"{low} to {high}"


def _table(rows: Iterable[tuple[str, ...]]) -> list[str]:
    listed = list(rows)
    widths = [max(map(len, column)) for column in zip(*listed, strict=True)]
    return [
        "  "
        + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in listed
    ]


def _sums(name: str, sums: Sums, *, size: bool) -> tuple[str, ...]:
    return (name, *(_range(one, size=size) for one in (sums.rank, sums.node, sums.job)))


def footprint_lines(found: Footprint) -> list[str]:
    """Sums, parts with their formulas, limits, what was seen, what the formulas hold for."""
    pairs = found.peers.node_pairs
    size = f"{found.nodes:,} nodes x {found.ppn:,} ranks, {found.rails} rail(s)"
    lines = [
        found.sources[0],
        f"{size}, packets of {found.mtu_bytes} B; {found.peers.assumed}",
        "",
        *_table(
            [
                ("", "a rank", "a node", "the job"),
                _sums("QPs", found.qps, size=False),
                _sums("memory", found.bytes, size=True),
            ]
        ),
    ]
    if not found.qps.job.known:
        lines.append(
            f"  lower bounds: {_range(Bounds(pairs.low, pairs.low), size=False)} pairs of nodes"
            f" talk; upper: {pairs.high:,.0f} of {found.peers.most_pairs:,}"
        )
    lines += ["", "made of (QPs and memory for each):", *_parts(found)]
    used = (f"{one.name}={one.value}{'' if one.given else ' (default)'}" for one in found.settings)
    lines += ["", "with " + ", ".join(used)]
    lines += [f"limit: {one.sentence} ({one.source})" for one in found.limits]
    for seen in found.observed:
        lines += [f"seen: {seen.sentences[0]}", *(f"  {line}" for line in seen.sentences[1:])]
    lines += [f"source: {line}" for line in found.sources[1:]]
    return lines + [f"valid: {line}" for line in found.validity]


def _parts(found: Footprint) -> list[str]:
    return _table(
        (
            part.name,
            f"per {part.per}",
            f"{_range(part.qps, size=False)} QP",
            _range(part.bytes, size=True),
            f"{part.formula} [{part.basis}]",
        )
        for part in found.parts
    )


def pfc_lines(found: Pfc) -> list[str]:
    """The round trip term by term, the thresholds, the totals, and a configured headroom."""
    link = f"{found.speed_gbps:g} Gb/s, MTU {found.mtu_bytes}, cable {found.cable_m:g} m"
    lines = [
        f"{link}, {found.ports} port(s), {found.priorities} lossless priority(s)",
        "",
        *_table(
            (one.name, _range(one.bits, size=False) + " bit times", one.formula, one.source)
            for one in found.delays
        ),
        "",
        f"headroom per port and priority: {_count(found.headroom_bytes)}",
    ]
    if found.cell_bytes:
        lines.append(
            f"  in cells of {found.cell_bytes} B: {_count(found.headroom_in_cells_bytes)} (full"
            " frames to worst frames)"
        )
    total = f"headroom {found.total_headroom_bytes:,} B, buffer {found.total_buffer_bytes:,} B"
    lines += [
        f"XOFF at {found.xoff_bytes:,} B, XON at {found.xon_bytes:,} B, or both higher",
        f"  the least buffer is {found.buffer_bytes:,} B",
        f"  with less than {found.refill_bytes:,} B below XON the link idles after a pause",
        f"all ports and priorities: {total}",
        *(f"note: {line}" for line in found.sentences),
    ]
    if found.configured is not None:
        lines += [f"configured: {line}" for line in found.configured.sentences]
        lines += _fits(found.configured.fits)
    lines += [f"source: {line}" for line in found.sources]
    return lines + [f"valid: {line}" for line in found.validity]


def _count(bounds: Bounds) -> str:
    return _range(bounds, size=False) + " B"


def _fits(fits: list[Fit]) -> list[str]:
    """The longest cable by speed and MTU: with instant interfaces, and with the slowest."""
    mtus = sorted({fit.mtu_bytes for fit in fits})
    cells = {(fit.speed_gbps, fit.mtu_bytes): fit for fit in fits}
    rows = [("longest cable", *(f"MTU {mtu}" for mtu in mtus))]
    for speed in sorted({fit.speed_gbps for fit in fits}):
        rows.append((f"{speed:g} Gb/s", *(_metres(cells[speed, mtu]) for mtu in mtus)))
    return [*_table(rows), "  (in brackets: with the slowest interfaces that the standard allows)"]


def _metres(fit: Fit) -> str:
    if fit.longest_m is None:
        return "none"
    worst = "none" if fit.worst_m is None else f"{fit.worst_m:.0f} m"
    return f"{fit.longest_m:.0f} m ({worst})"
