"""Trouble counters of a port (retransmissions, drops, pauses), and totals over several launches.

Pure.
"""

from collections.abc import Iterable
from functools import lru_cache

from wireproof.model.record import Total

_TROUBLE = {
    "retransmits": (
        "retrans",
        "out_of_sequence",
        "packet_seq_err",
        "rnr_nak_retry_err",
        "local_ack_timeout_err",
        "implied_nak",
        "tx_replay",
        "rcresend",
        "rcseqnak",
        "oos_drop",
        "max_retry_exceeded",
    ),
    "drops": (
        "dropped",
        "discard",
        "_errors",
        "out_of_buffer",
        "indiscards",
        "symbol_error",
        "missed",
        "overrun",
    ),
    "pauses": ("pause", "xoff", "port_xmit_wait", "pfc_ena"),
}


def trouble_counters(deltas: dict[str, int]) -> dict[str, dict[str, int]]:
    """Return trouble counters that rose, grouped as retransmits, drops, pauses."""
    found: dict[str, dict[str, int]] = {}
    for name, delta in sorted(deltas.items()):
        if delta > 0 and (group := _group(name.rsplit("/", 1)[-1])):
            found.setdefault(group, {})[name] = delta
    return found


@lru_cache(maxsize=4096)
def _group(leaf: str) -> str:
    """Cached: the hosts of a cluster share the same names."""
    low = leaf.lower()
    return next((name for name, words in _TROUBLE.items() if any(w in low for w in words)), "")


def joined_totals(totals: Iterable[Total]) -> list[Total]:
    """Return one ``Total`` per rank: the rises of each launch's counters, added up.

    Traffic between launches is not included. A counter that one launch could not read, or that fell
    by more than it had risen, is unreadable.
    """
    by_rank: dict[int, Total] = {}
    for total in totals:
        known = by_rank.get(total.rank)
        by_rank[total.rank] = total if known is None else _joined(known, total)
    return [by_rank[rank] for rank in sorted(by_rank)]


def _joined(one: Total, other: Total) -> Total:
    counters = dict(one.counters)
    for name, (before, after) in other.counters.items():
        begin, end = counters.get(name, (before, before))
        counters[name] = (begin, end + after - before)
    unreadable = {
        *one.unreadable,
        *other.unreadable,
        *(name for name, (_, end) in counters.items() if end < 0),
    }
    return Total(
        rank=one.rank,
        interval_ns=one.interval_ns + other.interval_ns,
        settled_ns=max(one.settled_ns, other.settled_ns),
        counters={name: values for name, values in counters.items() if name not in unreadable},
        unreadable=sorted(unreadable),
        shared_with=one.shared_with,
        source=one.source,
        foreign_sysfs=one.foreign_sysfs or other.foreign_sysfs,
    )
