"""What no wire can do: quicker than the floor, faster than the link, more packets than it has room
for.
"""

from __future__ import annotations

import math

from wireproof.model.finding import Evidence
from wireproof.model.quantity import size, throughput
from wireproof.model.series import Series
from wireproof.physics.bounds import Bounds
from wireproof.physics.shaper import is_shaped
from wireproof.physics.table import default_table
from wireproof.verdict.external.case import Case
from wireproof.verdict.external.curve import Row
from wireproof.verdict.external.explained import cache_fall
from wireproof.verdict.external.floor import (
    TRANSFER_FROM,
    judge_any_nic,
    judge_collective,
    judge_floor,
    judge_transfer,
)

__all__ = ["judge_physics"]


# --- Faster than the link: its ceiling, and what else may explain a number above it: a rate
# limiter's bucket, another unit, several links.

_WAITED_TOLERANCE = 0.005  # a ping-pong pays its start too: it cannot even come near the ceiling
_MOST_RAILS = 8.2
_BUCKET = 4 << 20  # the largest bucket that a rate limiter is believed to have, bytes
_AFTER = 0.5
_MEBI = 1.048576
_OWN_UNITS = ("osu", "imb", "hpcc", "perftest", "nccl_tests")  # no option of theirs prints bits


def limited_after_burst(case: Case, bounds: Bounds) -> bool:
    """A rate limiter lets a bucket of bytes pass at once: only sizes up to that break the rate,
    larger ones keep it.

    Kernel TCP only, and only from a start that TCP has, so that no memory is taken for a limited
    wire.
    """
    start, most = case.curve.start, bounds.most
    if bounds.link.protocol != "tcp" or most is None or start is None:
        return False
    if (start.wait_ns or 0.0) < bounds.hard:
        return False
    broken, after = _around_bucket(case, bounds, most)
    if not broken or not after or min(after) < _AFTER * most:
        return False
    case.bucket = broken[-1].size
    quickest = max(row.goodput or 0.0 for row in broken)
    text = (
        f"messages up to {size(case.bucket)} pass at up to {throughput(quickest)}, larger ones "
        f"keep to the {throughput(most)} of {case.kind}: a rate limiter (cloud, container, lab) "
        "lets a bucket of bytes through at once"
    )
    evidence: Evidence = {"size": case.bucket, "attainable_bytes_per_s": most}
    case.add("rate-limited", "inconclusive", text, evidence)
    return True


def _around_bucket(case: Case, bounds: Bounds, most: float) -> tuple[list[Row], list[float]]:
    """Rows that break the rate, up to the size of a bucket, and the goodput of all larger ones."""
    least = max(TRANSFER_FROM, bounds.least_size)
    rows = [row for row in case.curve.waited if row.goodput is not None and row.size >= least]
    broken = [row for row in rows if _breaks(case, bounds, row, most)]
    if not broken or broken[-1].size > _BUCKET:
        return [], []
    return broken, [row.goodput or 0.0 for row in rows if row.size > broken[-1].size]


def _breaks(case: Case, bounds: Bounds, row: Row, most: float) -> bool:
    quick = (row.wait_ns or 0.0) * (1 + row.doubt) < bounds.shortest(row.size)
    least = bounds.ceiling(_WAITED_TOLERANCE) or most
    return quick or case.held_goodput(row) * (1 - row.doubt) > least


def judge_ceiling(case: Case, bounds: Bounds) -> None:
    """The fastest row against the most that the link can carry."""
    best, most = case.fastest, bounds.most
    if best is None or best.goodput is None or most is None or case.chain:
        return
    tolerance = _WAITED_TOLERANCE if best.wait_ns is not None else case.criteria.ceiling_tolerance
    if case.held_goodput(best) * (1 - best.doubt) <= (bounds.ceiling(tolerance) or most):
        return
    ratio = best.goodput / most
    ways = " in one direction" if case.series.directions > 1 else ""
    text = (
        f"{throughput(best.goodput)} at {size(best.size)} is {ratio:.4g} times the "
        f"{throughput(most)} that {case.kind} can carry{ways}"
    )
    evidence: Evidence = {
        "goodput_bytes_per_s": best.goodput,
        "attainable_bytes_per_s": most,
        "size": best.size,
        "ratio": ratio,
    }
    doubt = _doubt(case, best.goodput / most, tolerance)
    if doubt:
        case.add("above-ceiling", "inconclusive", f"{text}; {doubt}", evidence)
        return
    case.add("above-ceiling", "fail", text, evidence)
    _unit_hint(case, best.goodput, most, tolerance)
    if _striped(case, ratio):
        _several_links(case, ratio)
    else:
        case.off = True


def _doubt(case: Case, ratio: float, tolerance: float) -> str:
    """Why a number above the ceiling is only doubted; "" when it is not."""
    pairs = case.series.pairs
    if case.series.unit_doubt and ratio / _MEBI <= 1 + tolerance:
        return "with MB for MiB it would fit"
    if case.unit_wrong:
        return "its unit is in doubt"
    if pairs > 1 and ratio <= pairs * (1 + tolerance):
        return f"{pairs} pairs may have used several links, which the output does not show"
    return ""


def _striped(case: Case, ratio: float) -> bool:
    """A plateau near a whole number of links, from a start that a wire has: several rails, not
    memory.
    """
    best = case.curve.best
    if case.too_quick or best is None or not 1.6 <= ratio <= _MOST_RAILS:
        return False
    if cache_fall(case.curve) is not None:
        return False
    moved = [row.goodput or 0.0 for row in case.curve.moved][-3:]
    flat = len(moved) == 3 and min(moved) >= 0.9 * (best.goodput or 0.0)
    return flat and ratio / math.ceil(ratio) >= 0.85


def _several_links(case: Case, ratio: float) -> None:
    case.mixed = True
    text = (
        f"the curve starts and stays flat as a wire's, at {ratio:.2g} times one link: "
        f"{math.ceil(ratio)} links carry it together, or the claimed rate is too low"
    )
    case.add("mixed-paths", "fail", text, {"ratio": ratio})


def judge_slowest_pair(case: Case, bounds: Bounds) -> None:
    """Of many pairs on several nodes at least the slowest crosses the wire: it too is bound by the
    link.
    """
    most = bounds.most
    if not case.chain or most is None:
        return
    least = bounds.ceiling(case.criteria.ceiling_tolerance) or most
    for row in case.curve.rows:
        slowest = row.point.values.get("goodput_min_bytes_per_s")
        if slowest is None or not least < slowest < math.inf:
            continue
        case.off = True
        text = (
            f"even the slowest pair moves {throughput(slowest)}, {slowest / most:.4g} times the "
            f"{throughput(most)} that {case.kind} can carry: no pair crossed it"
        )
        evidence: Evidence = {
            "goodput_bytes_per_s": slowest,
            "attainable_bytes_per_s": most,
            "size": row.size,
        }
        case.add("above-ceiling", "fail", text, evidence)
        return


def _unit_hint(case: Case, best: float, most: float, tolerance: float) -> None:
    """What the number would be in another unit or by another formula, where that would fit the
    link.
    """
    if case.too_quick or case.series.unit_doubt:
        return
    waited = case.curve.best is not None and case.curve.best.wait_ns is not None

    def fits(value: float) -> bool:
        return 0.85 * most <= value <= most * (1 + tolerance)

    def hint(code: str, divisor: str, value: float, why: str) -> None:
        text = f"{throughput(best)} / {divisor} = {throughput(value)} would fit: {why}"
        case.add(code, "note", text)

    if fits(best / 8) and case.series.tool not in _OWN_UNITS:
        hint("unit-doubt", "8", best / 8, "bits read as bytes?")
    elif fits(best / _MEBI) and not waited:
        hint("unit-doubt", "1.048576", best / _MEBI, "MB read as MiB?")
    elif fits(best / 2) and case.series.directions == 1:
        why = "is the time halved twice?" if waited else "is it the sum of both directions?"
        hint("wrong-formula", "2", best / 2, why)


# --- Messages per second: what the packets of a link and the cores of its hosts allow.

_SMALL_STREAM = 64  # messages up to this size tell what a core sends, bytes
_COUNTED = 4096  # larger messages take several packets, bytes
_LEAST_FRAME = 84.0  # of Ethernet on the line, bytes
_JOINED = ("tcp", "iwarp", "truescale")  # several messages share a packet
_FRAMED = ("rocev2", "psm3", "efa", "slingshot")
_STREAMS = ("stream", "rate", "exchange")
_SLOW = 0.04  # of what one core sends at most: less is no usual rate of a pair


def _value(case: Case, key: str) -> float:
    return (case.table or default_table())[key].value


def _of_one_core(case: Case, bounds: Bounds) -> float:
    slow = bounds.link.protocol in ("tcp", "efa")
    return _value(case, "rate.one_pair_tcp" if slow else "rate.one_pair")


def _packet(case: Case, bounds: Bounds, message_bytes: int) -> float:
    """The least that a message takes on the line, bytes: half of the usual headers, since a library
    may have shorter ones.
    """
    protocol = bounds.link.protocol
    table, key = case.table or default_table(), f"{protocol}.header"
    header = table[key].value if key in table else 0.0
    return max(_LEAST_FRAME if protocol in _FRAMED else 0.0, message_bytes + header / 2)


def judge_message_rate(case: Case, bounds: Bounds) -> None:
    """Messages/s x the least packet against the line; RDMA only, since TCP joins small messages."""
    link, line, series = bounds.link, bounds.line, case.series
    if link.protocol in _JOINED or is_shaped(link) or line is None:
        return
    if case.chain or case.unit_wrong or series.traffic not in _STREAMS:
        return
    rows = [row for row in case.curve.moved if 0 < row.size <= _COUNTED and row.goodput]
    if not rows:
        return
    row = max(rows, key=lambda one: _least_rate(one) * _packet(case, bounds, one.size))
    packet = _packet(case, bounds, row.size)
    if _least_rate(row) * packet > line:
        _above(case, bounds, row, packet)
    elif _counts_messages(case) and series.traffic != "exchange":
        _fits(case, bounds, max(rows, key=_least_rate))


def _above(case: Case, bounds: Bounds, row: Row, packet: float) -> None:
    series, messages = case.series, (row.goodput or 0.0) / row.size
    line = bounds.line or 0.0
    links = _least_rate(row) * packet / line
    text = (
        f"{messages / 1e6:.4g} M messages/s of {size(row.size)}: with {packet:g} B on the "
        f"line each, {throughput(messages * packet)} on a line of {throughput(line)}"
    )
    evidence: Evidence = {
        "messages_per_s": messages,
        "size": row.size,
        "most_per_s": line / packet,
        "links": links,
    }
    each, most = _least_rate(row) / max(1, series.pairs), _of_one_core(case, bounds)
    if not _one_wire(series) and links <= series.pairs and each <= most:
        text += (
            f"; the {series.pairs} pairs may have used several links, which the output does not"
            " show"
        )
        case.add("message-rate-above-link", "inconclusive", text, evidence)
        return
    if not _one_wire(series) and each > most:
        text += (
            f"; several links do not explain it: {each / 1e6:.3g} M/s of each pair is more than the"
            f" {most / 1e6:g} M/s that one core usually sends over any"
        )
    case.off = True
    case.add("message-rate-above-link", "fail", text, evidence)


def _counts_messages(case: Case) -> bool:
    """Whether the table counts messages and no size of it fills the link."""
    moved = case.curve.moved
    counted = all(row.size <= _COUNTED and row.point.messages_per_s for row in moved)
    return counted and not case.curve.waited


def _fits(case: Case, bounds: Bounds, row: Row) -> None:
    """A rate that one link carries and that a core usually sends is held, as a start is."""
    series = case.series
    each, most = _least_rate(row) / max(1, series.pairs), _of_one_core(case, bounds)
    if each > most:
        return  # the rule of one pair speaks, or nothing: memory is as likely
    total = _least_rate(row) / 1e6
    pairs = f"{series.pairs} pairs" if series.pairs > 1 else "one pair"
    if each < _SLOW * most:
        text = (
            f"{total:.3g} M messages/s of {size(row.size)} by {pairs}: one pair over {case.kind}"
            f" usually sends more than {_SLOW * most / 1e6:g} M/s"
        )
        case.add("message-rate-unusual", "inconclusive", text, {"messages_per_s": total * 1e6})
        return
    case.held = True


def _one_wire(series: Series) -> bool:
    """A stream whose messages all take one link."""
    return series.pairs <= 1 or len(series.hosts) == 2


def judge_one_pair(case: Case, bounds: Bounds) -> None:
    """Small messages of one pair, more in a second than one core sends over such a link: a warning,
    from literature.
    """
    series = case.series
    if case.off or series.traffic not in _STREAMS or series.pairs > 1 or series.protocol:
        return
    small = [row for row in case.curve.moved if 0 < row.size <= _SMALL_STREAM and row.goodput]
    if case.chain or case.unit_wrong or not small:
        return
    usual = _of_one_core(case, bounds)
    row = max(small, key=_least_rate)
    messages = _least_rate(row)
    if messages <= usual:
        return
    text = (
        f"{messages / 1e6:.3g} M messages/s of {size(row.size)} by one pair; over {case.kind} one "
        f"core usually sends less than {usual / 1e6:g} M/s, through memory it does"
    )
    evidence: Evidence = {"messages_per_s": messages, "usual_per_s": usual}
    case.add("message-rate-unusual", "warning", text, evidence)


def _least_rate(row: Row) -> float:
    """Messages/s, less what rounding hides."""
    return (row.goodput or 0.0) * (1 - row.doubt) / row.size


def judge_physics(case: Case) -> None:
    """Adds the reasons, and marks the case when they exclude the claimed wire."""
    bounds = case.bounds
    if bounds is not None and not bounds.wire:
        return
    judge_any_nic(case)
    if bounds is None:
        return
    judge_floor(case, bounds)
    judge_collective(case, bounds)
    if limited_after_burst(case, bounds):
        return
    judge_transfer(case, bounds)
    judge_ceiling(case, bounds)
    judge_slowest_pair(case, bounds)
    judge_message_rate(case, bounds)
    judge_one_pair(case, bounds)
