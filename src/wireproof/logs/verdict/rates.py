# pure
"""Judge the rates of pairs: message rates that exceed what a link can carry, and slow pairs, nodes
or directions.

The latter need a series with one point for each pair of hosts (mpiGraph).
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

import msgspec

from wireproof.logs.verdict.curve import Case, CurveRow, curve_of, host_of
from wireproof.model.claim import Criteria
from wireproof.model.finding import Evidence
from wireproof.model.quantity import first_few, size, throughput
from wireproof.model.series import Reason, Series
from wireproof.physics.bounds import CurveBounds, exceeds
from wireproof.physics.limits import is_shaped
from wireproof.physics.table import default_table

# --- Messages per second: the limits of the link's packets and of the hosts' cores.

_SMALL_STREAM = 64  # messages up to this size show the send rate of a core, bytes
_COUNTED = 4096  # larger messages take several packets, bytes
_LEAST_FRAME = 84.0  # smallest Ethernet frame on the line, bytes
_JOINED = ("tcp", "iwarp", "truescale")  # several messages share a packet
_FRAMED = ("rocev2", "psm3", "efa", "slingshot")
_STREAMS = ("stream", "rate", "exchange")
_COALESCED = "; an MPI that coalesces small messages into one packet may print more"
_SLOW = 0.04  # share of the maximum rate of one core: a pair usually reaches more


def _of_one_core(case: Case, bounds: CurveBounds) -> float:
    slow = bounds.link.protocol in ("tcp", "efa")
    return case.constant("rate.one_pair_tcp" if slow else "rate.one_pair")


def _packet(case: Case, bounds: CurveBounds, message_bytes: int) -> float:
    """Return the fewest bytes that a message takes on the line.

    Half of the usual headers are assumed, because a library may have shorter headers.
    """
    protocol = bounds.link.protocol
    table, key = case.table or default_table(), f"{protocol}.header"
    header = table[key].value if key in table else 0.0
    return max(_LEAST_FRAME if protocol in _FRAMED else 0.0, message_bytes + header / 2)


def judge_message_rate(case: Case, bounds: CurveBounds) -> None:
    """Check messages/s x the smallest packet against the line; RDMA only, since TCP coalesces small
    messages.
    """
    link, line, series = bounds.link, bounds.line, case.series
    if link.protocol in _JOINED or is_shaped(link) or line is None:
        return
    if case.chain or case.unit_wrong or series.traffic not in _STREAMS:
        return
    rows = [row for row in case.curve.moved if 0 < row.size <= _COUNTED and row.goodput]
    if not rows:
        return
    row = max(rows, key=lambda row: _least_rate(row) * _packet(case, bounds, row.size))
    packet = _packet(case, bounds, row.size)
    if _least_rate(row) * packet > line:
        _above(case, bounds, row, packet)
    elif _counts_messages(case) and series.traffic != "exchange":
        _fits(case, bounds, max(rows, key=_least_rate))


def _above(case: Case, bounds: CurveBounds, row: CurveRow, packet: float) -> None:
    series, messages = case.series, row.goodput / row.size
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
    per_pair, most = _least_rate(row) / max(1, series.pairs), _of_one_core(case, bounds)
    joined = _COALESCED if row.size <= _SMALL_STREAM else ""
    if not _one_wire(series) and links <= series.pairs and per_pair <= most:
        text += (
            f"; the {series.pairs} pairs may have used several links, which the output does not"
            " show"
        )
        case.add("message-rate-above-link", "inconclusive", text + joined, evidence)
        return
    if not _one_wire(series) and per_pair > most:
        text += (
            f"; several links do not explain it: {per_pair / 1e6:.3g} M/s per pair is more than"
            f" the {most / 1e6:g} M/s that one core usually sends over any of them"
        )
    case.off = True
    case.add("message-rate-above-link", "fail", text + joined, evidence)


def _counts_messages(case: Case) -> bool:
    """Return whether the table counts messages and no size in it fills the link."""
    counted = all(row.size <= _COUNTED and row.point.messages_per_s for row in case.curve.moved)
    return counted and not case.curve.waited


def _fits(case: Case, bounds: CurveBounds, row: CurveRow) -> None:
    """Count the rate as checked if one link carries it and one core usually sends it."""
    series = case.series
    per_pair, most = _least_rate(row) / max(1, series.pairs), _of_one_core(case, bounds)
    if per_pair > most:
        return  # judge_one_pair may report it; memory is equally likely
    total = _least_rate(row) / 1e6
    pairs = f"{series.pairs} pairs" if series.pairs > 1 else "one pair"
    if per_pair < _SLOW * most:
        case.add(
            "message-rate-unusual",
            "inconclusive",
            f"{total:.3g} M messages/s of {size(row.size)} by {pairs}: one pair over {case.kind}"
            f" usually sends more than {_SLOW * most / 1e6:g} M/s",
            {"messages_per_s": total * 1e6},
        )
        return
    case.held = True


def _one_wire(series: Series) -> bool:
    """Return whether all messages of the stream use one link."""
    return series.pairs <= 1 or len(series.hosts) == 2


def judge_one_pair(case: Case, bounds: CurveBounds) -> None:
    """Make a pair inconclusive if it sends more small messages/s than one core usually sends over
    this kind of link: only memory allows that. If counters show the bytes on the wire, it gets only
    a warning. The usual rate comes from literature.
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
    case.add(
        "message-rate-unusual",
        "warning" if case.counted else "inconclusive",
        (
            f"{messages / 1e6:.3g} M messages/s of {size(row.size)} by one pair; over {case.kind} "
            f"one core usually sends less than {usual / 1e6:g} M/s, but reaches such rates "
            "through memory"
        ),
        {"messages_per_s": messages, "usual_per_s": usual},
    )


def _least_rate(row: CurveRow) -> float:
    """Return messages/s, less the rounding error."""
    return row.goodput * (1 - row.doubt) / row.size


# --- One point for each pair of hosts.

_FEWEST = 3  # pairs of a node, or nodes: with fewer, no usual value is known
_MOST_OF = 0.75  # if this share of a node's pairs is slow in one direction, the node is slow
_SHOWN = 4
_SPREAD = 10.0  # distances of the lower quartile from the median: no pair is that slow by chance


@dataclass(frozen=True, slots=True)
class _Pair:
    source: str
    target: str
    goodput: float


def _pairs(case: Case) -> list[_Pair]:
    """Return the pairs of different hosts; two ranks of one host communicate through memory."""
    names, pairs = case.series.hosts, []
    for point in case.series.points:
        source, target = point.values.get("from"), point.values.get("to")
        if source is None or target is None or not point.goodput_bytes_per_s:
            continue
        if not (0 <= source < len(names) and 0 <= target < len(names)):
            continue
        pair = _Pair(
            host_of(names[int(source)]), host_of(names[int(target)]), point.goodput_bytes_per_s
        )
        if pair.source != pair.target:
            pairs.append(pair)
    return pairs


def judge_pairs(case: Case) -> None:
    """Report pairs below ``peer_ratio`` of the median; if they share a node and direction, report
    the node.

    A pair above the link's ceiling fails. A series that names no pairs gets no finding.
    """
    pairs = _pairs(case)
    if not pairs:
        return
    _ceiling(case, pairs)
    if len(pairs) < _FEWEST:
        return
    usual = median(pair.goodput for pair in pairs)
    slow = [pair for pair in pairs if pair.goodput < case.criteria.peer_ratio * usual]
    explained: set[tuple[str, str]] = set()
    # If A to B is slow, the cause may be A's transmit or B's receive side: check both.
    for direction in ("sends", "receives"):
        explained |= _nodes(case, pairs, slow, usual, direction)
    left = [p for p in slow if not explained & {("sends", p.source), ("receives", p.target)}]
    if left:
        _slow_pairs(case, sorted(left, key=lambda pair: pair.goodput), pairs, usual)


def slow_in_each(tables: Sequence[Series], criteria: Criteria) -> list[Reason]:
    """Return the pairs and nodes that are still slow if each pair counts with its best table."""
    points = [point for single in tables for point in single.points]
    points.sort(key=lambda point: point.goodput_bytes_per_s or 0.0)
    best = {(point.values.get("from"), point.values.get("to")): point for point in points}
    series = msgspec.structs.replace(tables[0], points=list(best.values()))
    case = Case(series, curve_of(series), criteria, None)
    judge_pairs(case)
    return case.reasons


def _slow_pairs(case: Case, slow: list[_Pair], pairs: list[_Pair], usual: float) -> None:
    shown = [f"{p.source} -> {p.target} {throughput(p.goodput)}" for p in slow]
    spread = usual - quantiles([pair.goodput for pair in pairs])[0]
    usual_spread = slow[0].goodput > usual - _SPREAD * spread
    case.add(
        "slow-pair",
        "inconclusive" if usual_spread else "fail",
        f"{len(slow)} of {len(pairs)} pairs {'is' if len(slow) == 1 else 'are'} below"
        f" {case.criteria.peer_ratio:.0%} of the median "
        f"{throughput(usual)}: {first_few(shown, _SHOWN)}"
        + (
            f"; a quarter of all pairs is {spread / usual:.0%} or more below the median, so that "
            "some are this slow by chance"
            if usual_spread
            else ""
        ),
        {"pairs": len(slow), "median_bytes_per_s": usual},
    )


def _ceiling(case: Case, pairs: list[_Pair]) -> None:
    bounds = case.bounds
    most = bounds.most if bounds is not None else None
    if bounds is None or most is None:
        return
    tolerance = case.criteria.ceiling_tolerance
    over = [pair for pair in pairs if exceeds(bounds, pair.goodput, tolerance)]
    if over:
        worst = max(over, key=lambda p: p.goodput)
        case.add(
            "above-ceiling",
            "fail",
            f"{worst.source} -> {worst.target}: {throughput(worst.goodput)} is more than the "
            f"{throughput(most)} that {case.kind} "
            f"can carry ({len(over)} of {len(pairs)} pairs)",
            {"goodput_bytes_per_s": worst.goodput, "pairs": len(over)},
        )


def _nodes(
    case: Case, pairs: list[_Pair], slow: list[_Pair], usual: float, direction: str
) -> set[tuple[str, str]]:
    """Return the nodes with mostly slow pairs in one direction, while other nodes' pairs are not
    slow."""
    by_node: dict[str, list[_Pair]] = defaultdict(list)
    for pair in pairs:
        by_node[pair.source if direction == "sends" else pair.target].append(pair)
    bad = set(slow)
    slow_nodes = set()
    for node, of_node in sorted(by_node.items()):
        share = sum(pair in bad for pair in of_node) / len(of_node)
        if len(of_node) >= _FEWEST - 1 and len(by_node) >= _FEWEST and share >= _MOST_OF:
            slow_nodes.add((direction, node))
            middle = median(pair.goodput for pair in of_node)
            case.add(
                "node-direction-slow",
                "fail",
                f"{node} {direction} at {throughput(middle)}, {middle / usual:.0%} of the median "
                f"{throughput(usual)} of all pairs",
                {"node": node, "direction": direction, "share": share},
            )
    return slow_nodes
