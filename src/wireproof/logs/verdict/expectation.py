# pure
"""Check whether a series is as fast as its link should be.

Goodput is judged if the sizes are large enough to show it, otherwise the start.
"""

import math

from wireproof.logs.verdict.curve import SMALL, Case, CurveRow
from wireproof.logs.verdict.published import as_published, idle_beside
from wireproof.model.claim import LinkClaim
from wireproof.model.finding import Evidence, Severity
from wireproof.model.quantity import short_time, size, throughput
from wireproof.model.series import IN_GPU, Series
from wireproof.physics.bounds import (
    FILL_BYTES,
    HANDSHAKE,
    WAITED_BYTES,
    CurveBounds,
    expected_share,
    fill_bytes,
    late_start,
)
from wireproof.physics.framing import over_fabric
from wireproof.physics.limits import narrower_slot

# a ping-pong whose transfer takes this many times its start shows the rate at smaller sizes too
_STARTS = 10
# a table of times is not a bandwidth test, so a small shortfall is only a warning
_LATENCY_SHARE = 0.75
# The rate that Amazon EC2 gives one flow outside a cluster placement group, less headers ("Amazon
# EC2 instance network bandwidth", docs.aws.amazon.com).
_EC2_FLOW, _NEAR_FLOW = 5e9 / 8, 0.96
_OF_EC2 = (
    "Amazon EC2 limits one flow to 5 Gb/s outside a cluster placement group; several streams "
    "reach more there"
)
_BARELY = 1.1  # multiple of a usual start: a slow processor alone can cause it
_MIDDLE = 4096
_RISES = 1.05  # share reached at a size / share at the smaller sizes: noise is less than this
_CRAWL = 0.25  # share of attainable: the link alone cannot cause a lower rate
_NARROWER = 0.4  # a slot is seldom narrower than this share of the link


def judge_expectation(case: Case, bounds: CurveBounds, attainable: float | None) -> bool:
    """Check the goodput against ``attainable``.

    Return True if the sizes are large enough for that.
    """
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
        case.add(
            "usual-shortfall",
            "note",
            f"{throughput(best)} is {best / attainable:.1%} of attainable, as usual: {as_slow}",
        )
        return True
    _short_of(case, bounds, best, closest, shares, attainable, as_slow)
    if closest.wait_ns and case.series.traffic == "pingpong" and 0.9 <= 2 * reached <= 1.02:
        case.add(
            "wrong-formula",
            "note",
            f"twice {throughput(best)} would fit {case.kind}: is this the time of a full round "
            "trip instead of half a round trip?",
        )
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
    """Report the shortfall. ``shares``: the share of attainable at each size that shows the
    rate."""
    share, reached = _share(case), max(shares)
    part = f"{best / attainable:.1%} of the attainable {throughput(attainable)}"
    text = f"{throughput(best)} is {part}"
    evidence: Evidence = {
        "goodput_bytes_per_s": best,
        "attainable_bytes_per_s": attainable,
        "share": reached,
        "expected": share,
        "size": closest.size,
    }
    enough, guide_text = as_one_ip_stream(case, bounds.link, best)
    if guide_text:
        by_core = best >= case.constant("allow.tcp_stream")
        severity: Severity = "note" if enough else "inconclusive" if by_core else "fail"
        case.add("below-expectation", severity, f"{text}; {guide_text}", evidence)
        return
    text += f"; at least {share:.0%} is expected of {case.kind}"
    if closest.wait_ns and case.start_ns is not None:
        text += f", less {HANDSHAKE} starts of {short_time(case.start_ns)}"
    why = as_slow or allowance(case, bounds, shares, closest)
    severity = "inconclusive"
    if not why:
        severity, why = _unexcused(case, bounds, reached, best)
    case.add("below-expectation", severity, f"{text}; {why}" if why else text, evidence)


def _tells(case: Case, bounds: CurveBounds, row: CurveRow, attainable: float) -> bool:
    if not row.wait_ns:
        # the bytes in flight that show a stream's rate; for a ping-pong, the message size
        waited = max(WAITED_BYTES, bounds.least_size)
        least = waited if case.waits else fill_bytes(bounds.most, bounds.least_size)
        fills = row.size * case.in_flight >= least
        return fills or row.goodput >= case.criteria.min_efficiency * attainable
    starts_ns = _STARTS * HANDSHAKE * (case.start_ns or math.inf)
    long = row.size >= FILL_BYTES and row.size / attainable * 1e9 >= starts_ns
    return long or bounds.tells(row.size, attainable, case.start_ns)


def _reached(case: Case, bounds: CurveBounds, row: CurveRow, attainable: float) -> float:
    """Return the share of attainable; for an operation that waits, without the time of a start and
    a rendezvous.
    """
    if row.wait_ns:
        return bounds.reached(row.wait_ns, row.size, attainable, case.start_ns)
    if case.series.waits:  # a ping-pong that prints no time
        return bounds.reached(row.size / row.goodput * 1e9, row.size, attainable, None)
    return row.goodput / attainable


def _share(case: Case) -> float:
    return expected_share(case.criteria, both_ways=case.series.traffic == "exchange")


def _unexcused(
    case: Case, bounds: CurveBounds, reached: float, best: float
) -> tuple[Severity, str]:
    """Return the severity of a shortfall that nothing excuses, and a hint on its cause."""
    series, link = case.series, bounds.link
    if link.protocol == "tcp" and (link.rate_bits_per_s or 0.0) > 10e9 and series.pairs == 1:
        if _NEAR_FLOW <= best / _EC2_FLOW <= 1:
            return "fail", _OF_EC2
        return "fail", "one TCP stream is limited by one core: RDMA or several streams are faster"
    printed = any(row.point.goodput_bytes_per_s is not None for row in case.curve.rows)
    if series.waits and not printed and reached >= _LATENCY_SHARE:
        return "warning", "the table is about latency"
    if link.protocol != "tcp" and not link.pcie and reached >= _NARROWER:
        return "fail", "if the slot is narrower than the link, state it (--pcie gen3x8)"
    return "fail", ""


def judge_start(case: Case, bounds: CurveBounds) -> None:
    """Check the latency of small messages against the usual limit.

    A one-sided operation that waits for completion takes a full round trip.
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
    evidence: Evidence = {"time_ns": start.wait_ns, "usual_ns": usual_ns, "size": start.size}
    usual, as_slow = as_published(case, start)
    if usual:
        return
    why = as_slow or _start_excused(case, bounds, start.wait_ns / usual_ns)
    text += f"; {why}" if why else ""
    case.add("slow-start", "inconclusive" if why else "fail", text, evidence)


def _ways(case: Case) -> int:
    """Return the number of wire crossings that a printed time includes. A fence adds the
    acknowledgement, an exchange of counts and a barrier: over 1 Gb/s Ethernet it alone took two
    starts, and with a put or a get four to six (Open MPI 1.6).
    """
    if case.series.traffic == "pingpong":
        return 1
    return 6 if case.fenced else 2


def _start_excused(case: Case, bounds: CurveBounds, times_usual: float) -> str:
    """Return why a slow start makes the result only inconclusive, or "" if nothing excuses it."""
    if over_fabric(bounds.link):
        return "the settings of IP over the fabric limit its speed"
    if _in_gpu(case.series):
        return "a buffer is in GPU memory, so small messages are copied from there"
    if times_usual <= _BARELY:
        return "the CPUs alone may explain such a small delay"
    return _of_few(case) or scattered(case)


def _of_few(case: Case) -> str:
    few = any(reason.code == "too-few-iterations" for reason in case.reasons)
    return "it is the mean of too few iterations" if few else ""


def judge_middle(case: Case, bounds: CurveBounds, attainable: float | None) -> None:
    """If a table ends before the sizes that show the rate, check that its largest size is not far
    too slow.
    """
    last = next(reversed(case.curve.waited), None)
    if last is None or attainable is None or last.size < _MIDDLE or case.chain:
        return
    most = _ways(case) * bounds.slow + last.size / (_CRAWL * attainable) * 1e9
    if case.series.traffic == "atomic" or last.wait_ns <= most:
        return
    case.add(
        "below-expectation",
        "inconclusive",
        f"{size(last.size)} takes {short_time(last.wait_ns)}; a usual start and {_CRAWL:.0%} of "
        f"the attainable {throughput(attainable)} would take {short_time(most)}, and no larger "
        "size shows the rate",
        {"size": last.size, "time_ns": last.wait_ns, "usual_ns": most},
    )


# --- Reasons for a shortfall other than the link: the test, its pattern, the library, the slot. A
# log has no counters: the rate of a healthy pair depends on whether it waits for each answer and on
# the transport of the bytes. These allowances turn a failure into a doubt; they never make a series
# pass.

# share of attainable: reached by a GPU behind a different switch or socket from its adapter's
_GPUS = 0.5
_MEMORY = 1e9  # bytes/s: processes of one host move at least this
_TCP_ABOVE = 10e9  # bits/s that one core can fill with one TCP stream
_SLOT = (0.9, 1.02)  # share of a slot's rate that shows the slot to be the bottleneck
# Links whose next lower rate after training is more than half: FDR10 of FDR, QDR of FDR10.
_SLOWER_TRAINING = {"fdr": 0.78, "fdr10": 0.9}
_ONE_WAY = (0.97, 1.02)  # share of one direction: both directions together carry no more than that
_FEWEST = 4  # number of small sizes needed to see scatter
_LATE = 2  # number of delayed sizes that are needed: the first alone may be a warm-up
_FEW = 3  # large sizes needed to see whether all have the same rate


def allowance(case: Case, bounds: CurveBounds, shares: list[float], row: CurveRow) -> str:
    """Return why the best of ``shares``, reached by ``row``, makes the result only inconclusive, or
    "" if nothing excuses it.

    ``shares``: the share of attainable at each size that shows the rate."""
    series, reached = case.series, max(shares)
    if few := _of_few(case):
        return few
    if series.tool == "nccl_tests" and reached >= _GPUS:
        return "the path between GPU and adapter may be the bottleneck"
    if _in_gpu(series):
        return "a buffer is in GPU memory: its path to the adapter may be the bottleneck"
    if case.unit_wrong:
        return "its unit is in doubt"
    if (
        series.incomplete
        and len(case.curve.rows) > 1
        and shares[-1] > _RISES * max(shares[:-1], default=0.0)
    ):
        return "the table is cut where its rates still rise"
    if idle_beside(series) and row.goodput >= _MEMORY:
        return "other processes waited, perhaps on the same host: use one process per host"
    if series.protocol == "udp":
        return "UDP sends at the requested rate, not at the link's rate"
    known = bounds.excuse(reached, _share(case), one_pair=series.pairs == 1)
    return known or _of_pattern(case, bounds, row, reached) or _uneven(case, shares)


def _in_gpu(series: Series) -> bool:
    return any(IN_GPU in note for note in series.notes)


def _of_pattern(case: Case, bounds: CurveBounds, row: CurveRow, reached: float) -> str:
    """Return the reason if this shortfall is usual for this pattern on this kind of link, else
    ""."""
    series, link = case.series, bounds.link
    if series.pairs > 1 and not over_fabric(link):
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
    if case.series.pairs > 1:
        return "mode, MTU and cores limit IP over a fabric: RDMA is faster"
    return "one TCP stream is limited by one core: RDMA or several streams are faster"


def _of_library(case: Case, bounds: CurveBounds, row: CurveRow, reached: float) -> str:
    """Return the excuse for the shortfall of an MPI over RDMA, or ""."""
    moved, pcie_claimed = row.goodput, bool(bounds.link.pcie)
    slot = narrower_slot(bounds.link)
    if slot is not None and any(_SLOT[0] * rate <= moved <= _SLOT[1] * rate for rate in slot.rates):
        return (
            f"{throughput(moved)} is the rate of {slot.name}, a common slot for such "
            f"adapters: state the slot (--pcie {slot.claim})"
        )
    if case.waits:
        copied = moved >= case.constant("allow.copied")
        if reached >= case.constant("allow.pingpong") or copied:
            return (
                "a ping-pong of large messages also waits for its library (registration, "
                "rendezvous, copies): measure the link's rate with a stream"
            )
        return ""
    if case.series.traffic == "exchange":
        return _of_both_ways(case, reached)
    if pcie_claimed:
        return ""
    least = max(case.constant("allow.stream"), _SLOWER_TRAINING.get(bounds.link.kind, 0.0))
    if reached >= least:
        return (
            "a link trained to a lower rate would be slower still: the cause may be ranks "
            "that are not bound to a core near the adapter, a virtual machine or other "
            "traffic"
        )
    return ""


def _of_both_ways(case: Case, reached: float) -> str:
    """Return the excuse for the shortfall of a single pair that loads both directions at once, or
    ""."""
    if reached < case.constant("allow.exchange"):
        return ""
    why = (
        "one process per host posts and completes both directions, and its library may copy or"
        " register memory: a stream in one direction shows the link's rate"
    )
    if _ONE_WAY[0] <= 2 * reached <= _ONE_WAY[1]:
        why += (
            "; both together carry as much as one direction can: if streams do not fill the link "
            "either, look for a half-rate link, a half-duplex slot, or ranks behind one port of "
            "one host"
        )
    return why


def _guide(case: Case, link: LinkClaim) -> bool:
    """Return whether this is one IP stream over Omni-Path 100, which the tuning guide covers."""
    single_stream = case.series.pairs == 1 and not case.waits and case.series.protocol == "tcp"
    return single_stream and link.kind.startswith("ipofabric") and link.rails == 1


def as_one_ip_stream(case: Case, link: LinkClaim, best: float) -> tuple[bool, str]:
    """Return (whether ``best`` bytes/s is as fast as Omni-Path's tuning guide expects, the
    sentence).

    The sentence is "" for any other series.
    """
    if not _guide(case, link):
        return False, ""
    least = case.constant("expect.ipofabric_stream")
    sentence = (
        f"the tuning guide of Omni-Path expects more than {throughput(least)} of one stream in"
        " connected mode with an 8 KiB MTU, which is limited by one core of a Xeon E5-2600 v3"
    )
    if best < least:
        sentence += "; a slower core or datagram mode reduces it (wireproof explain ipoib-mode)"
    return best >= least, sentence


def scattered(case: Case) -> str:
    """Return why a slow start makes the result only inconclusive: processes waited for a CPU; "" if
    they did not."""
    small = [row.wait_ns for row in case.curve.waited if row.size <= SMALL]
    if len(small) < _FEWEST:
        return ""
    limit = case.constant("allow.scatter")
    # Without delays, a longer message is never faster than a shorter one.
    late = [time for at, time in enumerate(small) if time >= limit * min(small[at:])]
    sentence = "the small sizes scatter, as they do when processes wait for a CPU"
    return sentence if len(late) >= _LATE else ""


def _uneven(case: Case, shares: list[float]) -> str:
    """Return why a low rate makes the result only inconclusive: large sizes reach different shares,
    whereas a slower line gives a flat curve.

    "" if the shares are even. Both directions at once share bus and memory, and differ anyway.
    """
    if case.series.traffic == "exchange" or len(shares) < _FEW:
        return ""
    if max(shares) < case.constant("allow.uneven") * min(shares):
        return ""
    return (
        f"large sizes reach {min(shares):.0%} to {max(shares):.0%}: a slow line would be "
        "equally slow at each size, so something else also delays them (memory, other jobs, "
        "waits for a processor)"
    )
