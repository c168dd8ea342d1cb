"""Judged results of other programs as documents: a section for each series and for each PSM3
job.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from wireproof.logs.json import JudgedSeries, JudgementDocument
from wireproof.model import quantity
from wireproof.model.finding import Verdict
from wireproof.model.psm3 import CountedHost, JudgedStatistics, NicCounted
from wireproof.model.series import Reason, SeriesPoint, software_of
from wireproof.report.document import (
    WORDS,
    Bar,
    Cell,
    Document,
    Dots,
    Facts,
    Findings,
    Head,
    Item,
    Part,
    Picture,
    Row,
    Section,
    Spark,
    Table,
    Text,
)
from wireproof.report.names import clean

if TYPE_CHECKING:
    from wireproof.report.figure import Chart


WORST_FIRST: tuple[Verdict, ...] = ("fail", "inconclusive", "pass")
_MOST_REASONS = 8
_MOST_SECTIONS = 100
_TELLING = 16_384  # a table of shorter messages only shows their time
_WIDEST_CURVE = 48
_MOST_HOSTS = 16
_MOST_OF_A_CODE = 4
_SERIES = (
    Head("verdict", 9, left=True),
    Head("log", 8, left=True),
    Head("what", 7, left=True),
    Head("why", 5, left=True),
    Head("of attainable", 6),
    Head("", 4, left=True),
)
_COUNTED = tuple(
    Head(title, 9, left=True)
    for title in ("host", "NIC", "sent", "received", "in host", "resent", "waits")
)


def judgement_document(
    found: JudgementDocument,
    answer: str = "",
    *,
    brief: bool = False,
    advice: Mapping[str, str] | None = None,
) -> Document:
    """Return all series; if ``brief``, only series that do not pass have a section.

    ``answer``: the answer for all files; "" uses the answer of the only series. ``advice``: the
    next action, by code of a reason.
    """
    parts: list[Part] = []
    if found.errors:
        unread = (Item("inconclusive", one.message, word="not judged:") for one in found.errors)
        parts.append(Findings(tuple(unread)))
    if len(found.series) > 1:
        ordered = sorted(found.series, key=lambda one: WORST_FIRST.index(one.verdict))
        parts.append(Table(_SERIES, tuple(map(_row, ordered))))
    shown = [one for one in found.series if not brief or one.verdict != "pass"]
    kept = shown[:_MOST_SECTIONS] if brief else shown
    parts += [series_section(one, advice or {}) for one in kept]
    parts += map(statistics_section, found.statistics)
    if len(shown) > len(kept):
        parts.append(Text(f"{len(shown) - len(kept)} more do not pass: --all shows them", "note"))
    by = f"compared with {found.link.kind}" if found.link else "without a link"
    return Document(
        f"Results of other programs, {by}", answer or _answer(found), tuple(parts), found.verdict
    )


def _answer(found: JudgementDocument) -> str:
    """Return the reason for the verdict on a single series, or the number of verdicts for
    several."""
    if len(found.series) == 1 and not found.statistics:
        telling = _telling(found.series[0])
        return telling.text if telling else f"{_value(found.series[0])}{_path(found.series[0])}"
    verdicts = Counter(one.verdict for one in found.series)
    verdicts.update(one.verdict for one in found.statistics)
    files = {one.source for one in found.series}
    files |= {source for job in found.statistics for source in job.sources}
    return totals(verdicts, len(files) + len(found.errors), len(found.errors))


def _row(judged: JudgedSeries) -> Row:
    telling = _telling(judged)
    share = judged.efficiency
    cells: tuple[Cell, ...] = (
        WORDS[judged.verdict],
        f"{judged.source}:{judged.first_line}",
        _name(judged),
        telling.code if telling else _path(judged).removeprefix(", "),
        "-" if share is None else f"{share:.1%}",
        Bar(share, 1.0),
    )
    return Row(cells, "" if judged.verdict == "pass" else judged.verdict)


def _telling(judged: JudgedSeries) -> Item | None:
    for reason in judged.reasons:
        if reason.severity in ("fail", "inconclusive"):
            return Item(reason.severity, reason.message, reason.code)
    return None


def brief_part(judged: JudgedSeries) -> Findings:
    """Return a series in one line."""
    share = "" if judged.efficiency is None else f", {judged.efficiency:.1%} of attainable"
    telling = _telling(judged)
    code = telling.code if telling else ""
    text = f"{_what(judged)}{share}{_path(judged)}"
    return Findings((Item(judged.verdict, text, code),), whole=True)


def series_section(judged: JudgedSeries, advice: Mapping[str, str] | None = None) -> Section:
    """Return verdict, number, curve, and reasons with evidence."""
    value = _value(judged)
    parts: list[Part] = [Text(value)] if value else []
    parts.append(Picture(partial(_charts, judged), _curve(judged)))
    if rows := tuple(_facts(judged)):
        parts.append(Facts(rows))
    if judged.reasons:
        reasons = tuple(_reason(one, advice or {}) for one in judged.reasons)
        parts.append(Findings(reasons, most=_MOST_REASONS))
    return Section(f"{_what(judged)}{_path(judged)}", tuple(parts), judged.verdict)


def _best_by_size(judged: JudgedSeries) -> dict[int, float]:
    best: dict[int, float] = {}
    for point in judged.points:
        goodput = _goodput(point)
        if goodput is not None and math.isfinite(goodput) and point.message_bytes:
            known = best.get(point.message_bytes, 0.0)
            best[point.message_bytes] = max(goodput / judged.directions, known)
    return best


def _goodput(point: SeriesPoint) -> float | None:
    """Return the printed goodput, otherwise the goodput derived from the half round trip."""
    if point.goodput_bytes_per_s is not None or not point.hrt_ns:
        return point.goodput_bytes_per_s
    return point.message_bytes / point.hrt_ns * 1e9


def _value(judged: JudgedSeries) -> str:
    """Return the number in every common unit, with its share of the attainable goodput."""
    parts = []
    if judged.start_ns is not None:
        parts.append(f"{quantity.microseconds(judged.start_ns)} µs at the smallest size")
    small = judged.start_ns is not None and all(
        point.message_bytes < _TELLING for point in judged.points
    )
    if judged.best_bytes_per_s is not None and not (small and judged.efficiency is None):
        parts.append(_rate(judged, judged.best_bytes_per_s))
    return "; ".join([*_message_rate(judged), *parts]) or _printed(judged)


def _message_rate(judged: JudgedSeries) -> list[str]:
    """Return the messages/s at the smallest size of a table about message rates."""
    sent = [point for point in judged.points if point.messages_per_s and point.message_bytes]
    if judged.metric != "message_rate" or not sent:
        return []
    least = min(sent, key=lambda point: point.message_bytes)
    rate = quantity.messages(least.messages_per_s or 0.0)
    pairs = f" by {judged.pairs} pairs" if judged.pairs > 1 else ""
    return [f"{rate} messages/s of {quantity.size(least.message_bytes)}{pairs}"]


def _printed(judged: JudgedSeries) -> str:
    """Return the printed times of a ring or a collective for its smallest and its largest size."""
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
    # This value is compared with the link: a size that a token bucket lets through at once does not
    # show the link's rate.
    held, share = judged.efficiency * attainable, judged.share_of_nominal
    share = share * held / best if share and best else share
    nominal = "" if share is None else f", {share:.1%} of nominal"
    return (
        f"{quantity.in_every_unit(held)}: {judged.efficiency:.1%} of attainable "
        f"{quantity.rate(attainable)}{nominal}"
    )


def totals(
    counts: Mapping[Verdict, int],
    files: int,
    errors: int,
    what: str = "series",
    *,
    skipped: int = 0,
) -> str:
    """Return one sentence about all files. ``what``: the name of the judged items; ``skipped``:
    number of files that are not logs.
    """
    said = ", ".join(
        f"{counts[verdict]} {verdict}"
        for verdict in ("pass", "fail", "inconclusive")
        if counts.get(verdict)
    )
    without = f"; {errors} could not be judged" if errors else ""
    if skipped:
        without += f"; {quantity.counted(skipped, 'file')} skipped: not a log"
    total = sum(counts.get(verdict, 0) for verdict in ("pass", "fail", "inconclusive"))
    return (
        f"{total} {what} in {files} {'file' if files == 1 else 'files'}: {said or 'none'}{without}"
    )


def _name(judged: JudgedSeries) -> str:
    version = f" {judged.version}" if judged.version else ""
    return f"{judged.tool} {judged.benchmark}{version}"


def _what(judged: JudgedSeries) -> str:
    where = clean(f"{judged.source}:{judged.first_line}", 120)
    rows = quantity.counted(len(judged.points), "row")
    return f"{where}  {clean(_name(judged), 80)}, {rows}"


def _path(judged: JudgedSeries) -> str:
    """Return the remark for a pass that is based only on a log, whose numbers prove no path."""
    alone = any(reason.code == "log-without-counters" for reason in judged.reasons)
    return ", path unproven" if alone and judged.verdict == "pass" else ""


def _facts(judged: JudgedSeries) -> Iterator[tuple[str, Cell]]:
    if software := software_of(judged.notes):
        yield "measured on", clean(software, 200)
    for place in judged.places:
        dotted = place.faster_than is not None
        yield "published", Dots.of(place) if dotted else clean(place.sentence, 600)


def _reason(reason: Reason, advice: Mapping[str, str]) -> Item:
    next_ = advice.get(reason.code, "") if reason.severity != "note" else ""
    return Item(reason.severity, reason.message, reason.code, (("next", next_),) if next_ else ())


def _curve(judged: JudgedSeries) -> Spark:
    """Return goodput by size as bars; a full bar is the attainable goodput, or the best if no link
    is claimed.
    """
    best = _best_by_size(judged)
    if len(best) < 4 or len(best) > _WIDEST_CURVE:
        return Spark((), 0.0, "")
    full = judged.attainable_bytes_per_s or max(best.values())
    above = any(reason.code == "above-ceiling" for reason in judged.reasons)
    over = " (above it!)" if above and max(best.values()) > full else ""
    what = "attainable" if judged.attainable_bytes_per_s else "the best"
    ends = f"{quantity.size(min(best))} to {quantity.size(max(best))}"
    words = f"goodput by size, {ends}, full bar = {what}{over}"
    return Spark(tuple(best[size] for size in sorted(best)), full, words)


def _charts(judged: JudgedSeries) -> list[Chart]:
    """Return time and goodput against message size, with the bounds of the claimed link."""
    from wireproof.report.figure.curves import printed_rates, printed_times

    halved = judged.metric == "half_round_trip"
    times = {
        point.message_bytes: time
        for point in judged.points
        if (time := point.hrt_ns if halved else point.time_ns)
    }
    name, rate = _name(judged), judged.attainable_bytes_per_s
    floors = (reason.evidence.get("floor_ns") for reason in judged.reasons)
    floor = next((float(one) for one in floors if isinstance(one, int | float)), 0.0)
    what = "half round trip" if halved else "time"
    charts = (
        printed_times(name, what, times, rate if halved else None, floor),
        printed_rates(name, _best_by_size(judged), rate),
    )
    return [chart for chart in charts if chart is not None]


def statistics_section(judged: JudgedStatistics) -> Section:
    """Return PSM3's counters of one job: a row for each host and NIC, then the findings."""
    what = quantity.counted(len(judged.sources), "process", "processes")
    if judged.wanted_ranks:
        what += f" of {judged.wanted_ranks}"
    build = f" ({judged.build})" if judged.build else ""
    hal = f", HAL {judged.hal}" if judged.hal else ""
    title = f"{judged.library} statistics{build}{hal}: {what}, path {judged.proof}"
    rows = [row for host in judged.hosts[:_MOST_HOSTS] for row in _rows(host)]
    parts: list[Part] = []
    if any(row.cells[1] != "-" or row.cells[2] != "0 B" for row in rows):
        more = len(judged.hosts) - _MOST_HOSTS
        note = f"{more} more hosts: --json has them all" if more > 0 else ""
        parts.append(Table(_COUNTED, tuple(rows), note=note, most=len(rows)))
    return Section(title, (*parts, *_findings(judged)), judged.verdict)


def _rows(host: CountedHost) -> Iterator[Row]:
    near = None
    if host.shm_bytes is not None and host.self_bytes is not None:
        near = host.shm_bytes + host.self_bytes
    inside = "-" if near is None else quantity.volume(near)
    nics = host.nics or [NicCounted(name="-", sent_bytes=host.nic_bytes or 0)]
    for index, nic in enumerate(nics):
        cells = (
            clean(host.host or "(unknown)", 24) if not index else "",
            clean(nic.name, 24),
            quantity.volume(nic.sent_bytes),
            quantity.volume(nic.received_bytes),
            inside if not index else "",
            str(nic.again),
            str(nic.stalls),
        )
        yield Row(cells)


def _findings(judged: JudgedStatistics) -> Iterator[Part]:
    """Yield some findings of each kind, with advice once per kind."""
    shown: Counter[tuple[str, str]] = Counter()
    items = []
    for one in judged.findings:
        kind = (one.severity, one.code)
        shown[kind] += 1
        if shown[kind] <= _MOST_OF_A_CODE:
            subject = "" if one.subject == "statistics" else f"{one.subject}: "
            told = one.severity != "note" and shown[kind] == 1
            details = (("next", one.advice),) if told else ()
            items.append(Item(one.severity, f"{subject}{one.message}", one.code, details))
    if items:
        yield Findings(tuple(items))
    if left := len(judged.findings) - len(items):
        yield Text(f"{left} more findings of the same kinds: --json has them all", "note")
