"""A virtual link is slowed by a token bucket, which lets short messages pass at the CPU's speed.

Between two idle moments one bucket of tokens and one segment pass for nothing, so a ceiling can be
judged only well above that size (measured: 8 kB reads 236 MB/s on "1 Gb/s"; 64 kB reads 2.4 GB/s on
"10 Gb/s").
"""

from __future__ import annotations

from wireproof.model.claim import LinkClaim
from wireproof.physics.table import Table, default_table

__all__ = ["bandwidth_threshold_bytes", "is_shaped", "shaper_credit_bytes", "unslowed_bytes"]

_CLEAR = 4  # sizes below this many unslowed sizes are not held against a ceiling


def is_shaped(link: LinkClaim) -> bool:
    """True for the lab's links: the shaper counts neither preamble nor frame check."""
    return not link.preamble_counted


def unslowed_bytes(link: LinkClaim, table: Table | None = None) -> int:
    """Messages below this size are never slowed by the link: 16 KiB at 1 Gb/s, 64 KiB at 10 Gb/s; 0
    on a real link.
    """
    table = table or default_table()
    if not is_shaped(link) or link.rate_bits_per_s is None:
        return 0
    slow = link.rate_bits_per_s < table["shaper.slow_rate"].value
    return int(table["shaper.slow_segment" if slow else "shaper.segment"].value)


def bandwidth_threshold_bytes(link: LinkClaim, table: Table | None = None) -> int:
    """Smallest message whose goodput may be held against the ceiling: 64 KiB at 1 Gb/s, 256 KiB at
    10 Gb/s, on each rail; 0 when real.
    """
    return _CLEAR * link.rails * unslowed_bytes(link, table)


def shaper_credit_bytes(
    link: LinkClaim, *, idle_between_messages: bool, table: Table | None = None
) -> int:
    """Bytes that pass for nothing after an idle moment, on all rails. A stream idles between
    batches only and repays its segment.
    """
    table = table or default_table()
    if not is_shaped(link) or link.rate_bits_per_s is None:
        return 0
    burst = max(
        table["shaper.least_burst"].value,
        table["shaper.burst_time"].value * link.rate_bits_per_s / 8,
    )
    free = int(burst) + (unslowed_bytes(link, table) if idle_between_messages else 0)
    return link.rails * free
