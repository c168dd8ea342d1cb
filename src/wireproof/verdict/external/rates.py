"""Messages per second: what the packets of a link and the cores of its hosts allow."""

from __future__ import annotations

from wireproof.model.finding import Evidence
from wireproof.model.quantity import size, throughput
from wireproof.model.series import Series
from wireproof.physics.bounds import Bounds
from wireproof.physics.shaper import is_shaped
from wireproof.physics.table import default_table
from wireproof.verdict.external.case import Case
from wireproof.verdict.external.curve import Row

__all__ = ["judge_message_rate", "judge_one_pair"]

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
