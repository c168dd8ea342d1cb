"""Is it as fast as the link should be: goodput where the sizes tell it, the start where they do
not.
"""

import math

from wireproof.model.claim import LinkClaim
from wireproof.model.finding import Evidence, Severity
from wireproof.model.quantity import short_time, size, throughput
from wireproof.physics.bounds import (
    FILL_BYTES,
    HANDSHAKE,
    WAITED_BYTES,
    CurveBounds,
    expected_share,
    fill_bytes,
)
from wireproof.physics.framing import over_fabric
from wireproof.physics.pcie import narrower_slot
from wireproof.verdict.curve import late_start
from wireproof.verdict.external.curve import SMALL, Case, CurveRow
from wireproof.verdict.external.published import as_published

# a ping-pong whose transfer takes this many starts tells the rate at smaller sizes too
_STARTS = 10
# a table that prints times only is no bandwidth test: a little less is a warning
_LATENCY_SHARE = 0.75
_BARELY = 1.1  # times a usual start: a slow processor makes that of a whole link
_MIDDLE = 4096
_CRAWL = 0.25  # of attainable: less is no link's own doing
_NARROWER = 0.4  # a slot is seldom narrower than this share of the link


def _filling(case: Case, bounds: CurveBounds) -> int:
    """Bytes in flight from which a stream tells the rate of the link; a size for those that wait
    for each answer.
    """
    if case.waits:
        return max(WAITED_BYTES, bounds.least_size)
    return fill_bytes(bounds.most, bounds.least_size)


def judge_expectation(case: Case, bounds: CurveBounds, attainable: float | None) -> bool:
    """Holds the goodput against ``attainable``; True when the sizes reach far enough to tell."""
    if attainable is None or case.chain or case.series.traffic in ("collective", "atomic", "other"):
        return False
    telling = [row for row in case.limited if _tells(case, bounds, row, attainable)]
    if not telling:
        return False
    shares = [_reached(case, bounds, row, attainable) for row in telling]
    reached = max(shares)
    closest = telling[shares.index(reached)]
    case.held = True
    if reached * (1 + closest.doubt) >= _share(case):
        return True
    best = max(row.goodput for row in telling)
    usual, as_slow = as_published(case, closest)
    if usual:
        text = f"{throughput(best)} is {best / attainable:.1%} of attainable, as usual: {as_slow}"
        case.add("usual-shortfall", "note", text)
        return True
    _short_of(case, bounds, best, closest, shares, attainable, as_slow)
    if closest.wait_ns and case.series.traffic == "pingpong":
        _halved_twice(case, best, reached)
    return True


def _short_of(
    case: Case,
    bounds: CurveBounds,
    best: float,
    closest: CurveRow,
    shares: list[float],
    attainable: float,
    as_slow: str,
) -> None:
    """``shares``: what each size that tells the rate has reached of attainable."""
    share, reached = _share(case), max(shares)
    text = (
        f"{throughput(best)} is {best / attainable:.1%} of the attainable "
        f"{throughput(attainable)}; at least {share:.0%} is expected of {case.kind}"
    )
    if closest.wait_ns and case.start_ns is not None:
        text += f", less {HANDSHAKE} starts of {short_time(case.start_ns)}"
    evidence: Evidence = {
        "goodput_bytes_per_s": best,
        "attainable_bytes_per_s": attainable,
        "share": reached,
        "expected": share,
        "size": closest.size,
    }
    enough, said = as_one_ip_stream(case, bounds.link, best)
    if said:
        severity: Severity = "note" if enough else "fail"
        case.add("below-expectation", severity, f"{text}; {said}", evidence)
        return
    why = as_slow or allowance(case, bounds, shares, closest)
    severity = "inconclusive"
    if not why:
        severity, why = _unexcused(case, bounds, reached)
    case.add("below-expectation", severity, f"{text}; {why}" if why else text, evidence)


def _halved_twice(case: Case, best: float, reached: float) -> None:
    if 0.9 <= 2 * reached <= 1.02:
        text = (
            f"twice {throughput(best)} would fit {case.kind}: is the time a whole round trip and "
            "not half of one?"
        )
        case.add("wrong-formula", "note", text)


def _tells(case: Case, bounds: CurveBounds, row: CurveRow, attainable: float) -> bool:
    if not row.wait_ns:
        fills = row.size * case.in_flight >= _filling(case, bounds)
        return fills or row.goodput >= case.criteria.min_efficiency * attainable
    starts_ns = _STARTS * HANDSHAKE * (case.start_ns or math.inf)
    long = row.size >= FILL_BYTES and row.size / attainable * 1e9 >= starts_ns
    return long or bounds.tells(row.size, attainable, case.start_ns)


def _reached(case: Case, bounds: CurveBounds, row: CurveRow, attainable: float) -> float:
    """Share of attainable; of a waited operation, that of its time less its start and a
    rendezvous.
    """
    if row.wait_ns:
        return bounds.reached(row.wait_ns, row.size, attainable, case.start_ns)
    if case.series.waits:  # a ping-pong that prints no time
        return bounds.reached(row.size / row.goodput * 1e9, row.size, attainable, None)
    return row.goodput / attainable


def _share(case: Case) -> float:
    return expected_share(case.criteria, both_ways=case.series.traffic == "exchange")


def _unexcused(case: Case, bounds: CurveBounds, reached: float) -> tuple[Severity, str]:
    """How grave a shortfall is that nothing excuses, and where to look."""
    series, link = case.series, bounds.link
    if link.protocol == "tcp" and (link.rate_bits_per_s or 0.0) > 10e9:
        return "fail", "one TCP stream is bound by one core: RDMA or several streams carry more"
    printed = any(row.point.goodput_bytes_per_s is not None for row in case.curve.rows)
    if series.waits and not printed and reached >= _LATENCY_SHARE:
        return "warning", "the table is about latency"
    if link.protocol != "tcp" and not link.pcie and reached >= _NARROWER:
        return "fail", "where the slot is narrower than the link, say so (--pcie gen3x8)"
    return "fail", ""


def judge_start(case: Case, bounds: CurveBounds) -> None:
    """The start of small messages against what is usual; a whole one-sided operation takes a full
    round trip.
    """
    start = case.curve.start
    if start is None:
        return
    usual_ns = late_start(bounds, start.size, start.wait_ns, _ways(case))
    if usual_ns is None:
        return
    text = (
        f"{short_time(start.wait_ns)} at {size(start.size)}: small messages over {case.kind} "
        "usually take less than "
        f"{short_time(usual_ns)}"
    )
    evidence: Evidence = {
        "time_ns": start.wait_ns,
        "usual_ns": usual_ns,
        "size": start.size,
    }
    usual, as_slow = as_published(case, start)
    if usual:
        return
    why = as_slow or _start_excused(case, bounds, start.wait_ns / usual_ns)
    text += f"; {why}" if why else ""
    case.add("slow-start", "inconclusive" if why else "fail", text, evidence)


def _ways(case: Case) -> int:
    """Crossings that a printed time has."""
    return 1 if case.series.traffic == "pingpong" else 2


def _start_excused(case: Case, bounds: CurveBounds, times_usual: float) -> str:
    """Why a slow start is only a doubt; "" if nothing excuses it."""
    if over_fabric(bounds.link):
        return "IP over a fabric is as slow as its settings"
    if times_usual <= _BARELY:
        return "so little may be the processors' doing"
    return _of_few(case) or scattered(case)


def _of_few(case: Case) -> str:
    few = any(reason.code == "too-few-iterations" for reason in case.reasons)
    return "of too few iterations" if few else ""


def judge_middle(case: Case, bounds: CurveBounds, attainable: float | None) -> None:
    """A table that ends before the sizes that tell the rate: its largest must at least not
    crawl.
    """
    last = next(reversed(case.curve.waited), None)
    if last is None or attainable is None or last.size < _MIDDLE or case.chain:
        return
    most = _ways(case) * bounds.slow + last.size / (_CRAWL * attainable) * 1e9
    if case.series.traffic == "atomic" or last.wait_ns <= most:
        return
    text = (
        f"{size(last.size)} takes {short_time(last.wait_ns)}; a usual start and {_CRAWL:.0%} of "
        "the attainable "
        f"{throughput(attainable)} would make {short_time(most)}, and no larger size shows the rate"
    )
    evidence: Evidence = {"size": last.size, "time_ns": last.wait_ns, "usual_ns": most}
    case.add("below-expectation", "inconclusive", text, evidence)


# --- Why a shortfall may not be the link's: the test itself, its pattern, the library, the slot. A
# log has no counters: what a healthy pair may show depends on whether it waits for each answer and
# on what carries the bytes. These allowances make a failure a doubt; they pass nothing.

# of attainable: a GPU behind another switch or socket than its adapter reaches that much
_GPUS = 0.5
_TCP_ABOVE = 10e9  # bits/s that one core fills with one TCP stream
_SLOT = (0.9, 1.02)  # share of what a slot carries at which it is the narrower
# Links whose next slower training leaves more than half: FDR10 of FDR, QDR of FDR10.
_SLOWER_TRAINING = {"fdr": 0.78, "fdr10": 0.9}
_FEWEST = 4  # small sizes that tell a scatter
_LATE = 2  # of them that were delayed: the first alone may have warmed up
_FEW = 3  # large sizes that tell whether the rate is the same at each


def allowance(case: Case, bounds: CurveBounds, shares: list[float], row: CurveRow) -> str:
    """Why the best of ``shares``, reached by ``row``, is only a doubt; "" if nothing excuses it.
    ``shares``: what each size that tells the rate has reached of attainable.
    """
    series, reached = case.series, max(shares)
    if few := _of_few(case):
        return few
    if series.tool == "nccl_tests" and reached >= _GPUS:
        return "the way between GPU and adapter may be the narrower"
    if case.unit_wrong:
        return "its unit is in doubt"
    if series.protocol == "udp":
        return "UDP sends at the rate that was requested, not at the link's"
    known = bounds.excuse(reached, _share(case), one_pair=series.pairs == 1)
    return known or _of_pattern(case, bounds, row, reached) or _uneven(case, shares)


def _of_pattern(case: Case, bounds: CurveBounds, row: CurveRow, reached: float) -> str:
    """What is usual of this pattern over this kind of link."""
    series, link = case.series, bounds.link
    if series.pairs > 1:
        enough = reached >= expected_share(case.criteria, both_ways=True)
        shared = series.directions > 1 and enough
        return "both directions at once share bus and memory" if shared else ""
    if link.protocol == "efa":
        return _of_efa(case, link, reached)
    if link.protocol == "tcp":
        return _of_tcp(case, link, row)
    if series.protocol == "rdma" or series.tool == "nccl_tests":
        return ""
    return _of_library(case, bounds, row, reached)


def _of_efa(case: Case, link: LinkClaim, reached: float) -> str:
    key = "allow.efa_pingpong" if case.waits else "allow.efa_stream"
    rails = 1 if link.stripes else link.rails
    if reached * rails < case.constant(key):
        return ""
    what = "ping-pong" if case.waits else "pair of endpoints"
    return f"one {what} rarely fills an EFA device: measure several pairs"


def _of_tcp(case: Case, link: LinkClaim, row: CurveRow) -> str:
    if (link.rate_bits_per_s or 0.0) <= _TCP_ABOVE or _guide(case, link):
        return ""
    key = "allow.tcp_pingpong" if case.waits else "allow.tcp_stream"
    if row.goodput < case.constant(key):
        return ""
    return "one TCP stream is bound by one core: RDMA or several streams carry more"


def _of_library(case: Case, bounds: CurveBounds, row: CurveRow, reached: float) -> str:
    """An MPI over RDMA."""
    moved, link_said = row.goodput, bool(bounds.link.pcie)
    slot = narrower_slot(bounds.link)
    if slot is not None and any(_SLOT[0] * rate <= moved <= _SLOT[1] * rate for rate in slot.rates):
        return (
            f"{throughput(moved)} is what {slot.name} carries, in which such adapters are"
            f" met: say the slot (--pcie {slot.claim})"
        )
    if case.waits:
        copied = moved >= case.constant("allow.copied")
        if reached >= case.constant("allow.pingpong") or copied:
            return (
                "a ping-pong of large messages waits for its library, too (registration,"
                " rendezvous, copies): a stream tells the link's rate"
            )
        return ""
    if link_said or case.series.traffic == "exchange":
        return ""
    least = max(case.constant("allow.stream"), _SLOWER_TRAINING.get(bounds.link.kind, 0.0))
    if reached >= least:
        return (
            "no slower training of the link leaves so much: ranks that are not bound to a core"
            " near the adapter, a virtual machine or other traffic may"
        )
    return ""


def _guide(case: Case, link: LinkClaim) -> bool:
    """One IP stream over Omni-Path 100, for which the tuning guide says what to expect."""
    one = case.series.pairs == 1 and not case.waits and case.series.protocol == "tcp"
    return one and link.kind.startswith("ipofabric") and link.rails == 1


def as_one_ip_stream(case: Case, link: LinkClaim, best: float) -> tuple[bool, str]:
    """(whether ``best`` bytes/s is as much as the tuning guide of Omni-Path expects, the sentence);
    "" for any other series.
    """
    if not _guide(case, link):
        return False, ""
    least = case.constant("expect.ipofabric_stream")
    said = (
        f"the tuning guide of Omni-Path expects more than {throughput(least)} of one stream in"
        " connected mode with an 8 KiB MTU, bound as it is by one core"
    )
    return best >= least, said


def scattered(case: Case) -> str:
    """Why the start is only doubted: processes of this table waited for a processor; "" if they did
    not.
    """
    small = [row.wait_ns for row in case.curve.waited if row.size <= SMALL]
    if len(small) < _FEWEST:
        return ""
    limit = case.constant("allow.scatter")
    # A longer message is never the quicker of two that nothing has delayed.
    late = [time for at, time in enumerate(small) if time >= limit * min(small[at:])]
    said = "the small sizes scatter, as they do where processes wait for a processor"
    return said if len(late) >= _LATE else ""


def _uneven(case: Case, shares: list[float]) -> str:
    """Why the rate is only doubted: large messages reach shares that differ, and a slower line is
    flat; "" if they do not. Both directions at once share bus and memory, and differ by themselves.
    """
    if case.series.traffic == "exchange" or len(shares) < _FEW:
        return ""
    if max(shares) < case.constant("allow.uneven") * min(shares):
        return ""
    return (
        f"large sizes reach {min(shares):.0%} to {max(shares):.0%}: a slower line is as slow at"
        " each size, so something else delays them, too (memory, other jobs, waits for a processor)"
    )
