"""Foreign results, judged, for people: a few lines and a small picture per series, one line when
there are many.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from wireproof.model import quantity
from wireproof.model.finding import Verdict
from wireproof.model.series import SeriesPoint, software_of
from wireproof.report.json.judgement import JudgedSeries
from wireproof.report.text.dots import place_lines
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
    best = _best_by_size(judged)
    if len(best) < 4 or len(best) > _WIDEST_CURVE:
        return ""
    full = judged.attainable_bytes_per_s or max(best.values())
    blocks = _ASCII_BLOCKS if look.ascii else _BLOCKS
    bars = "".join(_bar(best[size], full, blocks) for size in sorted(best))
    above = any(reason.code == "above-ceiling" for reason in judged.reasons)
    over = " (above it!)" if above and max(best.values()) > full else ""
    what = "attainable" if judged.attainable_bytes_per_s else "the best"
    first, last = quantity.size(min(best)), quantity.size(max(best))
    return f"{first} |{bars}| {last}   goodput by size, full bar = {what}{over}"


def _best_by_size(judged: JudgedSeries) -> dict[int, float]:
    """The best goodput of one direction at each size that says one."""
    best: dict[int, float] = {}
    for point in judged.points:
        goodput = _goodput(point)
        if goodput is not None and math.isfinite(goodput) and point.message_bytes:
            known = best.get(point.message_bytes, 0.0)
            best[point.message_bytes] = max(goodput / judged.directions, known)
    return best


def _goodput(point: SeriesPoint) -> float | None:
    """As printed, else of the half round trip."""
    if point.goodput_bytes_per_s is not None or not point.hrt_ns:
        return point.goodput_bytes_per_s
    return point.message_bytes / point.hrt_ns * 1e9


def _bar(value: float, full: float, blocks: str) -> str:
    return blocks[min(8, max(0, math.ceil(8 * value / full - 0.25)))] if full else ""


def _value(judged: JudgedSeries) -> str:
    """The number in every unit that people use, and what share of what it is."""
    parts = []
    if judged.start_ns is not None:
        parts.append(f"{quantity.microseconds(judged.start_ns)} µs at the smallest size")
    small = judged.start_ns is not None and all(
        point.message_bytes < _TELLING for point in judged.points
    )
    if judged.best_bytes_per_s is not None and not (small and judged.efficiency is None):
        parts.append(_rate(judged, judged.best_bytes_per_s))
    return "; ".join(parts) or _printed(judged)


def _printed(judged: JudgedSeries) -> str:
    """What a ring or a collective has printed for its smallest and its largest size."""
    parts = []
    ends = sorted(judged.points, key=lambda point: point.message_bytes)
    for point in ends[:1] + ends[1:][-1:]:
        if point.time_ns:
            time = quantity.microseconds(point.time_ns)
            parts.append(f"{time} µs at {quantity.size(point.message_bytes)}")
        elif point.goodput_bytes_per_s:
            each = " of each process" if judged.traffic == "ring" else ""
            parts.append(f"{quantity.in_every_unit(point.goodput_bytes_per_s)}{each}")
    return "; ".join(parts)


def _rate(judged: JudgedSeries, best: float) -> str:
    attainable = judged.attainable_bytes_per_s
    if judged.efficiency is None or not attainable:
        return quantity.in_every_unit(best)
    # What is held against the link: a size that a bucket of tokens let through at once is no rate
    # of it.
    held, share = judged.efficiency * attainable, judged.share_of_nominal
    share = share * held / best if share and best else share
    nominal = "" if share is None else f", {share:.1%} of nominal"
    return (
        f"{quantity.in_every_unit(held)}: {judged.efficiency:.1%} of attainable "
        f"{quantity.rate(attainable)}{nominal}"
    )


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
    software = software_of(judged.notes)
    if software:
        lines.append(f"  {'measured on':<12} {look.say(software, 200)}")
    for place in judged.places:
        first, *rest = place_lines(place, look)
        lines.append(f"  {'published':<12} {first}")
        lines += [f"  {' ' * 12} {line}" for line in rest]
    for reason in judged.reasons[:_MOST_REASONS]:
        lines.append(f"  {reason.severity:<12} {reason.code}: {look.say(reason.message, 600)}")
    if len(judged.reasons) > _MOST_REASONS:
        lines.append(f"  and {len(judged.reasons) - _MOST_REASONS} more reasons (--json has all)")
    return "\n".join(lines) + "\n"


def totals(
    counts: Mapping[Verdict, int],
    files: int,
    errors: int,
    what: str = "series",
    *,
    skipped: int = 0,
) -> str:
    """One sentence over all files; ``what``: how the things judged are called; ``skipped``: the
    files that are no log at all.
    """
    said = ", ".join(
        f"{counts[verdict]} {verdict}"
        for verdict in ("pass", "fail", "inconclusive")
        if counts.get(verdict)
    )
    without = f"; {errors} of them could not be judged" if errors else ""
    if skipped:
        without += f"; {skipped} skipped, which {'is' if skipped == 1 else 'are'} no log"
    total = sum(counts.get(verdict, 0) for verdict in ("pass", "fail", "inconclusive"))
    return (
        f"{total} {what} in {files} {'file' if files == 1 else 'files'}: {said or 'none'}{without}"
    )
