"""nccl-tests: what its bus bandwidth says of a link, where its list of devices says which hosts
took part.
"""

from __future__ import annotations

import msgspec

from wireproof.model.quantity import size, throughput
from wireproof.model.series import Series
from wireproof.verdict.external.case import Case

__all__ = ["as_stream", "far_too_slow", "neighbours"]

_TELLING = 4 << 20  # smaller messages are bound by the start of kernels
_LARGE = 16 << 20
_TENTH = 0.1
# One ring through all hosts: its bus bandwidth crosses every host's adapters. Of the others it is
# one GPU's.
_RINGS = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce")


def as_stream(series: Series) -> Series:
    """Two ranks on two hosts: whatever the collective, its bus bandwidth crosses the link in each
    direction.
    """
    alone = any("each process ran alone" in note for note in series.notes)
    if series.tool != "nccl_tests" or series.processes != 2 or len(series.hosts) != 2 or alone:
        return series
    points = [
        msgspec.structs.replace(
            point, time_ns=None, goodput_bytes_per_s=point.values.get("bus_bytes_per_s")
        )
        for point in series.points
        if point.message_bytes >= _TELLING
    ]
    if not points:
        return series
    return msgspec.structs.replace(series, points=points, traffic="exchange", metric="bandwidth")


def neighbours(series: Series) -> bool:
    """False when each rank is on a host of its own, so that no two of them share memory."""
    hosts = {name.rpartition(":")[0] or name for name in series.hosts}
    return not (
        series.processes is not None and series.processes > 1 and len(hosts) == series.processes
    )


def far_too_slow(case: Case) -> bool:
    """Several hosts whose ring moves less than a tenth of what all rails carry: that is no
    library's choice.
    """
    series = case.series
    most = case.bounds.most if case.bounds is not None else None
    ring = series.benchmark.partition("_perf")[0] in _RINGS
    if series.tool != "nccl_tests" or len(series.hosts) < 2 or most is None or not ring:
        return False
    large = [
        (p.values.get("bus_bytes_per_s", 0.0), p.message_bytes)
        for p in series.points
        if p.message_bytes >= _LARGE
    ]
    best, at = max(large, default=(0.0, 0))
    if not large or best >= _TENTH * most:
        return False
    text = (
        f"bus bandwidth of {throughput(best)} at {size(at)} is {best / most:.1%} of the "
        f"{throughput(most)} of {case.kind}; "
        f"less than {_TENTH:.0%} is no ring over it: sockets, one slow rail, or another network"
    )
    evidence: dict[str, str | float | int | bool | list[str] | None] = {
        "bus_bytes_per_s": best,
        "attainable_bytes_per_s": most,
        "size": at,
    }
    case.add("below-expectation", "fail", text, evidence)
    return True
