"""What no wire can do: quicker than the floor, faster than the link, more packets than it has room
for.
"""

from __future__ import annotations

from wireproof.model.finding import Evidence
from wireproof.model.quantity import size, throughput
from wireproof.model.series import Series
from wireproof.physics.bounds import Bounds
from wireproof.physics.shaper import is_shaped
from wireproof.physics.table import default_table
from wireproof.verdict.external.case import Case
from wireproof.verdict.external.ceiling import (
    judge_ceiling,
    judge_slowest_pair,
    limited_after_burst,
)
from wireproof.verdict.external.curve import Row
from wireproof.verdict.external.floor import (
    judge_any_nic,
    judge_collective,
    judge_floor,
    judge_transfer,
)

__all__ = ["judge_physics"]

_SMALL_STREAM = 64  # messages up to this size tell what a core sends, bytes
_COUNTED = 4096  # larger messages take several packets, bytes
_LEAST_FRAME = 84.0  # of Ethernet on the line, bytes
_JOINED = ("tcp", "iwarp", "truescale")
_FRAMED = ("rocev2", "psm3", "efa", "slingshot")
_STREAMS = ("stream", "rate", "exchange")


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
    _message_rate(case, bounds)
    _one_pair(case, bounds)


def _message_rate(case: Case, bounds: Bounds) -> None:
    """Messages/s x the least packet against the line; RDMA only, since TCP joins small messages."""
    link = bounds.link
    if link.protocol in _JOINED or is_shaped(link) or link.line_rate is None:
        return
    if case.chain or case.unit_wrong or not _one_wire(case.series):
        return
    table = case.table or default_table()
    header = table[f"{link.protocol}.header"].value if f"{link.protocol}.header" in table else 0.0
    least = _LEAST_FRAME if link.protocol in _FRAMED else 0.0
    line = bounds.line or 0.0
    for row in case.curve.moved:
        if row.goodput is None or not 0 < row.size <= _COUNTED:
            continue
        messages = row.goodput / row.size
        packet = max(least, row.size + header / 2)
        if messages * packet * (1 - row.doubt) > line:
            case.off = True
            text = (
                f"{messages / 1e6:.4g} M messages/s of {size(row.size)}: with {packet:g} B on the "
                f"line each, {throughput(messages * packet)} on a line of {throughput(line)}"
            )
            evidence: Evidence = {"messages_per_s": messages, "size": row.size}
            case.add("message-rate-above-link", "fail", text, evidence)
            return


def _one_wire(series: Series) -> bool:
    """A stream whose messages all take one link."""
    return series.traffic in _STREAMS and (series.pairs <= 1 or len(series.hosts) == 2)


def _one_pair(case: Case, bounds: Bounds) -> None:
    """Small messages of one pair, more in a second than one core sends over such a link: a warning,
    from literature.
    """
    series = case.series
    if case.off or series.traffic not in _STREAMS or series.pairs > 1 or series.protocol:
        return
    small = [row for row in case.curve.moved if 0 < row.size <= _SMALL_STREAM and row.goodput]
    if case.chain or case.unit_wrong or not small:
        return
    slow = bounds.link.protocol in ("tcp", "efa")
    usual = (case.table or default_table())["rate.one_pair_tcp" if slow else "rate.one_pair"].value
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
