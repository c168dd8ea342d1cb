"""Why a shortfall may not be the link's: the test itself, its pattern, the library, the slot.

A log has no counters: what a healthy pair may show depends on whether it waits for each answer and
on what carries the bytes. These allowances make a failure a doubt; they pass nothing.
"""

from __future__ import annotations

from wireproof.model.claim import LinkClaim
from wireproof.model.quantity import throughput
from wireproof.physics.bounds import Bounds, expected_share
from wireproof.physics.pcie import narrower_slot
from wireproof.physics.table import default_table
from wireproof.verdict.external.case import Case
from wireproof.verdict.external.curve import SMALL, Row

__all__ = ["allowance", "as_one_ip_stream", "scattered"]

# of attainable: a GPU behind another switch or socket than its adapter reaches that much
_GPUS = 0.5
_TCP_ABOVE = 10e9  # bits/s that one core fills with one TCP stream
_SLOT = (0.9, 1.02)  # share of what a slot carries at which it is the narrower
# Links whose next slower training leaves more than half: FDR10 of FDR, QDR of FDR10.
_SLOWER_TRAINING = {"fdr": 0.78, "fdr10": 0.9}
_FEWEST = 4  # small sizes that tell a scatter
_LATE = 2  # of them that were delayed: the first alone may have warmed up
_FEW = 3  # large sizes that tell whether the rate is the same at each


def allowance(case: Case, bounds: Bounds, shares: list[float], row: Row, reached: float) -> str:
    """Why ``reached`` by ``row`` is only a doubt; "" if nothing excuses it. ``shares``: what each
    size that tells the rate has reached of attainable.
    """
    series = case.series
    if any(reason.code == "too-few-iterations" for reason in case.reasons):
        return "of too few iterations"
    if series.tool == "nccl_tests" and reached >= _GPUS:
        return "the way between GPU and adapter may be the narrower"
    if case.unit_wrong:
        return "its unit is in doubt"
    if series.protocol == "udp":
        return "UDP sends at the rate that was requested, not at the link's"
    share = expected_share(case.criteria, both_ways=series.traffic == "exchange")
    known = bounds.excuse(reached, share, one_pair=series.pairs == 1)
    return known or _of_pattern(case, bounds, row, reached) or _uneven(case, shares)


def _value(case: Case, key: str) -> float:
    return (case.table or default_table())[key].value


def _waits(case: Case) -> bool:
    return case.series.waits or case.series.traffic == "pingpong"


def _of_pattern(case: Case, bounds: Bounds, row: Row, reached: float) -> str:
    """What is usual of this pattern over this kind of link."""
    series, link = case.series, bounds.link
    if series.pairs > 1:
        return ""
    if link.protocol == "efa":
        return _of_efa(case, link, reached)
    if link.protocol == "tcp":
        return _of_tcp(case, link, row)
    if series.protocol == "rdma" or series.tool == "nccl_tests":
        return ""
    return _of_library(case, bounds, row, reached)


def _of_efa(case: Case, link: LinkClaim, reached: float) -> str:
    key = "allow.efa_pingpong" if _waits(case) else "allow.efa_stream"
    rails = 1 if link.stripes else link.rails
    if reached * rails < _value(case, key):
        return ""
    what = "ping-pong" if _waits(case) else "pair of endpoints"
    return f"one {what} rarely fills an EFA device: measure several pairs"


def _of_tcp(case: Case, link: LinkClaim, row: Row) -> str:
    if (link.rate_bits_per_s or 0.0) <= _TCP_ABOVE or _guide(case, link):
        return ""
    key = "allow.tcp_pingpong" if _waits(case) else "allow.tcp_stream"
    if (row.goodput or 0.0) < _value(case, key):
        return ""
    return "one TCP stream is bound by one core: RDMA or several streams carry more"


def _of_library(case: Case, bounds: Bounds, row: Row, reached: float) -> str:
    """An MPI over RDMA."""
    moved, link_said = row.goodput or 0.0, bool(bounds.link.pcie)
    slot = narrower_slot(bounds.link)
    if slot is not None and any(_SLOT[0] * rate <= moved <= _SLOT[1] * rate for rate in slot.rates):
        return (
            f"{throughput(moved)} is what {slot.name} carries, in which such adapters are"
            f" met: say the slot (--pcie {slot.claim})"
        )
    if _waits(case):
        copied = moved >= _value(case, "allow.copied")
        if reached >= _value(case, "allow.pingpong") or copied:
            return (
                "a ping-pong of large messages waits for its library, too (registration,"
                " rendezvous, copies): a stream tells the link's rate"
            )
        return ""
    if link_said or case.series.traffic == "exchange":
        return ""
    least = max(_value(case, "allow.stream"), _SLOWER_TRAINING.get(bounds.link.kind, 0.0))
    if reached >= least:
        return (
            "no slower training of the link leaves so much: ranks that are not bound to a core"
            " near the adapter, a virtual machine or other traffic may"
        )
    return ""


def _guide(case: Case, link: LinkClaim) -> bool:
    """One IP stream over Omni-Path 100, for which the tuning guide says what to expect."""
    one = case.series.pairs == 1 and not _waits(case) and case.series.protocol == "tcp"
    return one and link.kind.startswith("ipofabric") and link.rails == 1


def as_one_ip_stream(case: Case, link: LinkClaim, best: float) -> tuple[bool, str]:
    """(whether ``best`` bytes/s is as much as the tuning guide of Omni-Path expects, the sentence);
    "" for any other series.
    """
    if not _guide(case, link):
        return False, ""
    least = _value(case, "expect.ipofabric_stream")
    said = (
        f"the tuning guide of Omni-Path expects more than {throughput(least)} of one stream in"
        " connected mode with an 8 KiB MTU, bound as it is by one core"
    )
    return best >= least, said


def scattered(case: Case) -> str:
    """Why the start is only doubted: processes of this table waited for a processor; "" if they did
    not.
    """
    small = [row.wait_ns for row in case.curve.waited if row.wait_ns and row.size <= SMALL]
    if len(small) < _FEWEST:
        return ""
    limit = _value(case, "allow.scatter")
    # A longer message is never the quicker of two that nothing has delayed.
    late = [time for at, time in enumerate(small) if time >= limit * min(small[at:])]
    if len(late) < _LATE:
        return ""
    return "the small sizes scatter, as they do where processes wait for a processor"


def _uneven(case: Case, shares: list[float]) -> str:
    """Why the rate is only doubted: large messages reach shares that differ, and a slower line is
    flat; "" if they do not. Both directions at once share bus and memory, and differ by themselves.
    """
    if case.series.traffic == "exchange" or len(shares) < _FEW:
        return ""
    if max(shares) < _value(case, "allow.uneven") * min(shares):
        return ""
    return (
        f"large sizes reach {min(shares):.0%} to {max(shares):.0%}: a slower line is as slow at"
        " each size, so something else delays them, too (memory, other jobs, waits for a processor)"
    )
