"""A series of one point per pair of hosts (mpiGraph): which pair, which node, which direction is
slow.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import median

from wireproof.model.quantity import throughput
from wireproof.verdict.external.case import Case

__all__ = ["judge_pairs"]

_FEWEST = 3  # pairs of a node, or nodes: fewer tell nothing of what is usual
_MOST_OF = 0.75  # of a node's pairs are slow in one direction: it is the node
_SHOWN = 4


@dataclass(frozen=True, slots=True)
class _Pair:
    source: str
    target: str
    goodput: float


def _host(name: str) -> str:
    """mpiGraph names a rank HOST:RANK."""
    return name.rpartition(":")[0] or name


def _pairs(case: Case) -> list[_Pair]:
    """Pairs of different hosts; two ranks of one host talk through memory."""
    names, found = case.series.hosts, []
    for point in case.series.points:
        source, target = point.values.get("from"), point.values.get("to")
        if source is None or target is None or not point.goodput_bytes_per_s:
            continue
        if not (0 <= source < len(names) and 0 <= target < len(names)):
            continue
        pair = _Pair(
            _host(names[int(source)]), _host(names[int(target)]), point.goodput_bytes_per_s
        )
        if pair.source != pair.target:
            found.append(pair)
    return found


def judge_pairs(case: Case) -> None:
    """Pairs below ``peer_ratio`` of the median of all: those of one node and direction are said as
    that node's.

    A pair above the link's ceiling fails. Nothing is said of a series that names no pairs.
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
    # What is printed for "from A to B" is A's sending or B's receiving: both are looked at.
    for direction in ("sends", "receives"):
        explained |= _nodes(case, pairs, slow, usual, direction)
    left = [p for p in slow if not explained & {("sends", p.source), ("receives", p.target)}]
    if left:
        _slow_pairs(case, sorted(left, key=lambda pair: pair.goodput), len(pairs), usual)


def _slow_pairs(case: Case, slow: list[_Pair], count: int, usual: float) -> None:
    shown = ", ".join(f"{p.source} -> {p.target} {throughput(p.goodput)}" for p in slow[:_SHOWN])
    more = f" and {len(slow) - _SHOWN} more" if len(slow) > _SHOWN else ""
    text = (
        f"{len(slow)} of {count} pairs {'is' if len(slow) == 1 else 'are'} below"
        f" {case.criteria.peer_ratio:.0%} of the median "
        f"{throughput(usual)}: {shown}{more}"
    )
    case.add("slow-pair", "fail", text, {"pairs": len(slow), "median_bytes_per_s": usual})


def _ceiling(case: Case, pairs: list[_Pair]) -> None:
    bounds = case.bounds
    most = bounds.most if bounds is not None else None
    if bounds is None or most is None:
        return
    least = bounds.ceiling(case.criteria.ceiling_tolerance) or most
    over = [pair for pair in pairs if pair.goodput > least]
    if over:
        worst = max(over, key=lambda p: p.goodput)
        text = (
            f"{worst.source} -> {worst.target}: {throughput(worst.goodput)} is more than the "
            f"{throughput(most)} that {case.kind} "
            f"can carry ({len(over)} of {len(pairs)} pairs)"
        )
        case.add(
            "above-ceiling",
            "fail",
            text,
            {"goodput_bytes_per_s": worst.goodput, "pairs": len(over)},
        )


def _nodes(
    case: Case, pairs: list[_Pair], slow: list[_Pair], usual: float, direction: str
) -> set[tuple[str, str]]:
    """Nodes most of whose pairs in one direction are slow, while the other nodes' are not."""
    of: dict[str, list[_Pair]] = defaultdict(list)
    for pair in pairs:
        of[pair.source if direction == "sends" else pair.target].append(pair)
    bad = set(slow)
    found = set()
    for node, own in sorted(of.items()):
        share = sum(pair in bad for pair in own) / len(own)
        if len(own) >= _FEWEST - 1 and len(of) >= _FEWEST and share >= _MOST_OF:
            found.add((direction, node))
            middle = median(pair.goodput for pair in own)
            text = (
                f"{node} {direction} at {throughput(middle)}, {middle / usual:.0%} of the median "
                f"{throughput(usual)} of all pairs"
            )
            case.add(
                "node-direction-slow",
                "fail",
                text,
                {"node": node, "direction": direction, "share": share},
            )
    return found
