# pure
"""The shape of the curve: cache-shaped falls, cliffs at protocol switches, noise, two paths in one
table, copies in memory.
"""

from collections.abc import Callable, Sequence

import msgspec

from wireproof.logs.verdict.curve import Case, CurveRow, curve_of, host_of
from wireproof.logs.verdict.declared import carrier
from wireproof.logs.verdict.published import idle_beside
from wireproof.model.finding import Evidence, Severity
from wireproof.model.quantity import short_time, size, throughput
from wireproof.model.series import Reason, Series, SeriesVerdict
from wireproof.physics.bounds import CurveBounds
from wireproof.physics.table import Table, default_table

_INVERTED = 1.10  # a smaller message takes this many times as long as a larger one
_CLIFF = 0.08  # goodput falls by this share at the next size, and recovers later
_CLIFF_FROM = 1024
_NO_MEMORY_NS = 5000.0  # shared memory never starts this late, unless two ranks share a core
_NO_MEMORY_RATE = 3e9  # and no cache is as slow as this
_MIXED_FROM = 64 << 10

_KNOBS = {
    "omnipath": "PSM2_MQ_RNDV_HFI_THRESH",
    "truescale": "PSM_MQ_RNDV_IPATH_THRESH",
    "psm3": "PSM3_MQ_RNDV_NIC_THRESH",
    "efa": "FI_EFA_INTER_MIN_READ_MESSAGE_SIZE",
    "slingshot": "FI_CXI_RDZV_THRESHOLD",
    "infiniband": "UCX_RNDV_THRESH (UCX) or FI_OFI_RXM_BUFFER_SIZE (libfabric verbs)",
    "rocev2": (
        "UCX_RNDV_THRESH (UCX), FI_OFI_RXM_BUFFER_SIZE (libfabric verbs) or "
        "PSM3_MQ_RNDV_NIC_THRESH (PSM3)"
    ),
}


def judge_shape(case: Case) -> None:
    """Add the reasons that follow from the shape of the curve."""
    if case.series.traffic in ("collective", "other"):
        return
    _cache(case)
    if case.bounds is not None and case.bounds.wire:
        _two_paths(case, case.bounds)
    _inversions(case)
    _cliff(case)


def _cache(case: Case) -> None:
    """Report a fall in goodput at large sizes, as copies through a cache show it. Together with
    another contradiction it fails; alone it is inconclusive; with a start too slow for memory, it
    is only a hint.
    """
    if case.curve.fall is None:
        return
    peak, end = case.curve.fall
    best, last = peak.goodput, end.goodput
    text = (
        f"goodput peaks at {size(peak.size)} with {throughput(best)} and falls to"
        f" {throughput(last)} at {size(end.size)} ({1 - last / best:.0%} less)"
    )
    start = case.start_ns
    slow = best < _NO_MEMORY_RATE if start is None else start >= _NO_MEMORY_NS
    severity: Severity = "fail" if case.off else "warning" if slow else "inconclusive"
    if case.bounds is not None and not case.bounds.wire:
        severity = "note"
    if severity == "warning":
        text += (
            "; it is too slow for copies through a cache, so check socket buffers and NUMA "
            "placement"
        )
    else:
        text += ", as copies through a cache do, but a wire does not"
    case.add(
        "cache-shaped",
        severity,
        text,
        {
            "peak_size": peak.size,
            "peak_bytes_per_s": best,
            "end_size": end.size,
            "end_bytes_per_s": last,
        },
    )


def _two_paths(case: Case, bounds: CurveBounds) -> None:
    """Detect two paths in one table: small sizes faster than the link's floor, and large ones at
    the link's rate.
    """
    large = [row for row in case.curve.waited if row.size >= _MIXED_FROM]
    if not case.too_quick or len(large) < 2 or case.curve.fall is not None:
        return
    if not _as_a_wire(large, bounds):
        return
    case.mixed = True
    quick = [row.size for row in case.curve.waited if row.wait_ns < bounds.hard]
    small = max(quick, default=0)
    case.add(
        "mixed-paths",
        "fail",
        (
            f"up to {size(small)} the times are those of memory, from {size(large[0].size)} on "
            f"those of {case.kind}: this table mixes two paths"
        ),
        {"small_size": small, "large_size": large[0].size},
    )


def _as_a_wire(large: list[CurveRow], bounds: CurveBounds) -> bool:
    """Return whether the rows reach the link's rate, each after a start that the wire allows.
    Otherwise they show one path, and the rate is a coincidence.
    """
    best = max(row.goodput for row in large)
    if bounds.most is None or not 0.8 <= best / bounds.most <= 1.005:
        return False
    others = [row for row in large if row.goodput != best]
    return all(row.wait_ns - row.size / best * 1e9 >= bounds.hard for row in others)


def _inversions(case: Case) -> None:
    """Find sizes that take longer than a larger size: isolated small sizes are noise; from 1 KiB
    on, the cause is a protocol.
    """
    groups: list[list[CurveRow]] = []
    least = 0.0
    before = False
    for row in reversed(case.curve.waited):
        above = least > 0 and _certain(row) > _INVERTED * least
        if above and not before:
            groups.append([])
        if above:
            groups[-1].append(row)
        before = above
        least = min(least, _longest(row)) if least else _longest(row)
    for group in reversed(groups[:8]):
        _inversion(case, group[::-1])


def _certain(row: CurveRow) -> float:
    return row.wait_ns * (1 - row.doubt)


def _inversion(case: Case, group: list[CurveRow]) -> None:
    row = max(group, key=lambda row_of_group: row_of_group.wait_ns)
    larger = next(
        other
        for other in case.curve.waited
        if other.size > row.size and _certain(row) > _INVERTED * _longest(other) > 0
    )
    wait, later = row.wait_ns, larger.wait_ns
    sizes = ", ".join(size(row_of_group.size) for row_of_group in group[:6])
    text = (
        f"{size(row.size)} takes {short_time(wait)}, {wait / later - 1:.0%} more than the larger "
        f"{size(larger.size)} ({short_time(later)})"
    )
    evidence: Evidence = {
        "size": row.size,
        "time_ns": row.wait_ns,
        "larger_size": larger.size,
        "larger_time_ns": larger.wait_ns,
        "sizes": sizes,
    }
    if row.size >= _CLIFF_FROM and len(group) > 1:
        text += f"; {sizes}: the protocol for smaller sizes costs more; {_advice(case)}"
        case.add("protocol-switch-cliff", "warning", text, evidence)
        return
    rest = ", ".join(size(other.size) for other in group if other is not row)
    text += f" (also {rest})" if rest else ""
    case.add("non-monotone", "note", f"{text}: noise or a disturbance", evidence)


def _longest(row: CurveRow) -> float:
    return row.wait_ns * (1 + row.doubt)


def _cliff(case: Case) -> None:
    """Report a fall in goodput that recovers later: the library switches its protocol there."""
    found = _deepest_fall([row for row in case.curve.moved if row.size >= _CLIFF_FROM])
    if found is None:
        return
    before, after = found
    low, high = before.goodput, after.goodput
    case.add(
        "protocol-switch-cliff",
        "warning",
        (
            f"goodput falls from {throughput(low)} at {size(before.size)} to {throughput(high)} "
            f"at {size(after.size)} and recovers later: the library changes its protocol there; "
            f"{_advice(case)}"
        ),
        {
            "size": before.size,
            "next_size": after.size,
            "fall": 1 - high / low,
            "bytes_per_s": before.goodput,
            "next_bytes_per_s": after.goodput,
        },
    )


def _deepest_fall(moved: list[CurveRow]) -> tuple[CurveRow, CurveRow] | None:
    """Return the neighbouring rows with the deepest fall that a later row recovers from."""
    pair: tuple[CurveRow, CurveRow] | None = None
    deepest = _CLIFF
    later = 0.0
    for before, after in zip(moved[-2::-1], moved[:0:-1], strict=True):
        low, high = before.goodput, after.goodput
        later = max(later, high)
        fall = 1 - high / low
        if fall > _CLIFF and fall >= deepest and later >= 0.97 * low:
            deepest, pair = fall, (before, after)
    return pair


def _advice(case: Case) -> str:
    """Return the setting that moves the switch if library and link are known, else a hint."""
    if case.series.tool.lower() in ("perftest", "iperf3", "iperf", "qperf", "sockperf"):
        return "no MPI is involved, so check MTU, inline size and buffers"
    return f"{_knob(case)} moves the switch"


def _knob(case: Case) -> str:
    if case.bounds is not None and case.bounds.link.protocol in _KNOBS:
        return _KNOBS[case.bounds.link.protocol]
    series = case.series
    text = f"{series.tool} {series.version} {' '.join(series.notes[:20])}".lower()
    for words, knob in (
        (("open mpi", "openmpi"), "btl_tcp_eager_limit (ob1) or UCX_RNDV_THRESH (UCX)"),
        (("mpich",), "MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD (ch4:ofi) or UCX_RNDV_THRESH (ch4:ucx)"),
        (
            ("intel", "imb"),
            (
                "FI_OFI_RXM_BUFFER_SIZE (libfabric tcp, verbs) or I_MPI_SHM_EAGER_THRESHOLD "
                "(within a node)"
            ),
        ),
    ):
        if any(word in text for word in words):
            return knob
    return (
        "btl_tcp_eager_limit (Open MPI), MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD (MPICH), "
        "FI_OFI_RXM_BUFFER_SIZE (Intel MPI) "
        "or UCX_RNDV_THRESH (UCX)"
    )


# --- Copies in memory, which may explain a rate as well as the claimed wire does. A table of rates
# has no start-up time that a floor would exclude. Through memory, one pair moves from 4.5 to more
# than 20 GB/s, which includes the rates of 50 to 200 Gb/s links. Only its shape differs: a full
# line is equally fast at every large size, copies are not.

_LARGE = 65_536  # bytes; smaller messages do not fill a line
_LARGEST = 4  # number of sizes of a table that show whether the line is full
_FEWEST = 3
_FULL = 0.95  # share of attainable, at each of them
_FLAT = 0.015  # their largest difference; copies differ by 1.4 to 50 %
_RATES = ("stream", "exchange", "put", "get")
_WIRE = "log-without-counters"  # the reason that every series over a claimed wire gets
_DOUBTFUL = ("below-floor", "below-any-nic", "one-host", "mixed-paths", "outruns-published")


def doubt_rates(
    series: Sequence[Series],
    verdicts: Sequence[SeriesVerdict],
    table: Table | None,
    same_run: Callable[[Series, Series], bool],
) -> list[SeriesVerdict]:
    """Make passed tables of rates inconclusive if memory explains them and nothing in the log
    shows a wire.

    The evidence is a start of the same run that is no faster than the link, two host names, or a
    full line. ``same_run``: returns true if two series had the same processes.
    """
    least = (table or default_table())["rate.memory"].value
    both = list(zip(series, verdicts, strict=True))
    wires = [one for one, judged in both if _starts_as_a_wire(one, judged) or _full(one, judged)]
    return [
        judged
        if not _like_memory(one, judged, least) or any(same_run(one, wire) for wire in wires)
        else _doubted(one, judged)
        for one, judged in both
    ]


def _like_memory(series: Series, judged: SeriesVerdict, least: float) -> bool:
    return (
        judged.verdict == "pass"
        and judged.start_ns is None
        and series.traffic in _RATES
        and series.pairs == 1  # several pairs of one host are faster than the links of that range
        and len(set(map(host_of, series.hosts))) < 2
        and not carrier(series)
        and (judged.attainable_bytes_per_s or 0.0) >= least
        and any(reason.code == _WIRE for reason in judged.reasons)
    )


def _starts_as_a_wire(series: Series, judged: SeriesVerdict) -> bool:
    quick = any(reason.code in _DOUBTFUL for reason in judged.reasons)
    alone = judged.start_ns is not None and not idle_beside(series)
    return alone and judged.proof == "unproven" and not quick


def _large(series: Series) -> list[tuple[int, float]]:
    """Return (size, goodput of one direction) of the largest sizes."""
    moved = [(row.size, row.goodput) for row in curve_of(series).moved if row.size >= _LARGE]
    return moved[-_LARGEST:]


def _full(series: Series, judged: SeriesVerdict) -> bool:
    """Return whether the largest sizes all have the link's rate."""
    rates, most = [rate for _, rate in _large(series)], judged.attainable_bytes_per_s
    if series.traffic not in _RATES or judged.proof != "unproven" or not most:
        return False
    least = min(rates, default=0.0)
    even = len(rates) >= _FEWEST and 1 - least / max(rates) <= _FLAT
    return even and least >= _FULL * most


def _doubted(series: Series, judged: SeriesVerdict) -> SeriesVerdict:
    large, most = _large(series), judged.attainable_bytes_per_s or 0.0
    best = judged.best_bytes_per_s or 0.0
    rates = [rate for _, rate in large]
    evidence: Evidence = {"goodput_bytes_per_s": best, "attainable_bytes_per_s": most}
    if len(rates) < _FEWEST:
        shape = (
            f"the table has fewer than {_FEWEST} sizes from {size(_LARGE)} on: too few to show "
            "whether the line is full"
        )
    else:
        spread = 1 - min(rates) / max(rates)
        evidence["spread"] = spread
        shape = (
            f"from {size(large[0][0])} on it reaches {min(rates) / most:.0%} to "
            f"{max(rates) / most:.0%} of attainable; a full line reaches {_FULL:.0%}, with "
            f"differences up to {_FLAT:.1%}"
        )
    reason = Reason(
        code="rate-like-memory",
        severity="inconclusive",
        message=(
            f"copies in memory also reach {throughput(best)}: {shape}; without a latency or two "
            "host names in this log, wire and memory look the same"
        ),
        evidence=evidence,
    )
    return msgspec.structs.replace(
        judged, verdict="inconclusive", reasons=[reason, *judged.reasons]
    )
