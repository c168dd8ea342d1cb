"""The names of the patterns, apart so that ``--help`` loads nothing else."""

from __future__ import annotations

__all__ = ["GROUP_PATTERNS", "PAIR_PATTERNS", "PATTERNS", "SATURATED"]

PAIR_PATTERNS = (
    "pingpong",
    "stream",
    "exchange",
    "put",
    "get",
    "accumulate",
    "fetch_and_op",
    "compare_and_swap",
    "persistent",
    "partitioned",
    "threads",
)
GROUP_PATTERNS = (
    "message_rate",
    "ring",
    "incast",
    "all_to_all",
    "congestion",
    "barrier",
    "broadcast",
    "allreduce",
    "allgather",
    "alltoall",
)
PATTERNS = (*PAIR_PATTERNS, *GROUP_PATTERNS, "saturation")
SATURATED = 8
"""Ranks on each host of a saturation, when --ppn is not given."""
