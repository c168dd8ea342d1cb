"""Foreign results, judged, for people: a few lines and a small picture per series, one line when
there are many.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from wireproof.model import quantity
from wireproof.report.json.judgement import JudgedSeries
from wireproof.report.text.look import Look

__all__ = ["long_text", "short_text", "totals"]

_BLOCKS = " ▁▂▃▄▅▆▇█"
_ASCII_BLOCKS = " .:-=+*#@"
_COLORS = {"pass": "\x1b[1;32m", "fail": "\x1b[1;31m", "inconclusive": "\x1b[1;33m"}
_MOST_REASONS = 8
_TELLING = 16_384  # a table of shorter messages is about their time alone
_WIDEST_CURVE = 48
_NO_COLOR = "\x1b[0m"


def _verdict(judged: JudgedSeries, look: Look) -> str:
    word = f"{judged.verdict.upper():<12}"
    return f"{_COLORS[judged.verdict]}{word}{_NO_COLOR}" if look.color else word


def _curve(judged: JudgedSeries, look: Look) -> str:
    """Goodput by size as bars; a full bar is the attainable goodput, or the best when no link is
    claimed.
    """
    best: dict[int, float] = {}
    for point in judged.points:
        time = point.hrt_ns or point.time_ns
        goodput = point.goodput_bytes_per_s
        if goodput is None and time and point.hrt_ns:
            goodput = point.message_bytes / time * 1e9
        if goodput is not None and math.isfinite(goodput) and point.message_bytes:
            best[point.message_bytes] = max(
                goodput / judged.directions, best.get(point.message_bytes, 0.0)
            )
    if len(best) < 4 or len(best) > _WIDEST_CURVE:
        return ""
    full = judged.attainable_bytes_per_s or max(best.values())
    blocks = _ASCII_BLOCKS if look.ascii else _BLOCKS
    bars = (
        "".join(
            blocks[min(8, max(0, math.ceil(8 * best[size] / full - 0.25)))] for size in sorted(best)
        )
        if full
        else ""
    )
    above = any(reason.code == "above-ceiling" for reason in judged.reasons)
    over = " (above it!)" if above and max(best.values()) > full else ""
    what = "attainable" if judged.attainable_bytes_per_s else "the best"
    first, last = quantity.size(min(best)), quantity.size(max(best))
    return f"{first} |{bars}| {last}   goodput by size, full bar = {what}{over}"


def _value(judged: JudgedSeries) -> str:
    """The number in every unit that people use, and what share of what it is."""
    parts = []
    if judged.start_ns is not None:
        parts.append(f"{quantity.microseconds(judged.start_ns)} µs at the smallest size")
    best, share = judged.best_bytes_per_s, judged.share_of_nominal
    small = judged.start_ns is not None and all(
        point.message_bytes < _TELLING for point in judged.points
    )
    if best is not None and not (small and judged.efficiency is None):
        if judged.efficiency is not None and judged.attainable_bytes_per_s:
            # What is held against the link: a size that a bucket of tokens let through at once is
            # no rate of it.
            held = judged.efficiency * judged.attainable_bytes_per_s
            share, best = share * held / best if share and best else share, held
        text = f"{best / 1e6:.2f} MB/s = {best / 2**20:.2f} MiB/s = {best * 8 / 1e9:.4g} Gb/s"
        if judged.efficiency is not None and judged.attainable_bytes_per_s:
            text += (
                f": {judged.efficiency:.1%} of attainable "
                f"{judged.attainable_bytes_per_s / 1e6:.1f} MB/s"
            )
            text += "" if share is None else f", {share:.1%} of nominal"
        parts.append(text)
    return "; ".join(parts)


def _what(judged: JudgedSeries, look: Look) -> str:
    where = look.say(f"{judged.source}:{judged.first_line}", 120)
    name = look.say(
        f"{judged.tool} {judged.benchmark}" + (f" {judged.version}" if judged.version else ""), 80
    )
    return f"{where}  {name}, {len(judged.points)} {'row' if len(judged.points) == 1 else 'rows'}"


def short_text(judged: JudgedSeries, look: Look) -> str:
    """One line."""
    telling = next(
        (reason.code for reason in judged.reasons if reason.severity in ("fail", "inconclusive")),
        "",
    )
    share = "" if judged.efficiency is None else f"  {judged.efficiency:.1%} of attainable"
    return (
        f"{_verdict(judged, look)} "
        f"{_what(judged, look)}{share}{'  ' + telling if telling else ''}\n"
    )


def long_text(judged: JudgedSeries, look: Look) -> str:
    """Verdict, number, picture, reasons with what was seen."""
    lines = [f"{_verdict(judged, look)} {_what(judged, look)}"]
    for text in (_value(judged), _curve(judged, look)):
        if text:
            lines.append(f"  {look.say(text, 300) if '|' not in text else text}")
    for reason in judged.reasons[:_MOST_REASONS]:
        lines.append(f"  {reason.severity:<12} {reason.code}: {look.say(reason.message, 600)}")
    if len(judged.reasons) > _MOST_REASONS:
        lines.append(f"  and {len(judged.reasons) - _MOST_REASONS} more reasons (--json has all)")
    return "\n".join(lines) + "\n"


def totals(counts: Mapping[str, int], files: int, errors: int) -> str:
    """One sentence over all files."""
    said = ", ".join(
        f"{counts[verdict]} {verdict}"
        for verdict in ("pass", "fail", "inconclusive")
        if counts.get(verdict)
    )
    without = f"; {errors} of them could not be judged" if errors else ""
    total = sum(counts.get(verdict, 0) for verdict in ("pass", "fail", "inconclusive"))
    return (
        f"{total} series in {files} {'file' if files == 1 else 'files'}: {said or 'none'}{without}"
    )
