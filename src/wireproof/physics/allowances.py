"""How much less than its link a healthy pair of processes may show, by what it does: constants that
excuse a number from being a failure, with where they are from.

They turn a failure into a doubt and nothing into a pass, but for the rule of one IP stream over
Omni-Path, which its tuning guide states.
"""

from __future__ import annotations

__all__ = ["ROWS"]

_L = "(L)"

ROWS: tuple[tuple[str, float, str, str, bool], ...] = (
    (
        "allow.efa_stream",
        0.25,
        "1",
        (
            "one pair of EFA endpoints, share of attainable: 30 to 40 % of c5n's 100 Gb/s "
            f"(flux performance study, AWS EKS; ParallelCluster's reference results), {_L}"
        ),
        True,
    ),
    (
        "allow.efa_pingpong",
        0.12,
        "1",
        (
            "EFA ping-pong of 4 MiB: 16 to 39 % of attainable on c5n, 22 % in the reference "
            f"results of ParallelCluster, {_L}"
        ),
        True,
    ),
    (
        "allow.pingpong",
        0.45,
        "1",
        (
            "ping-pong of an MPI over RDMA: registration, rendezvous and copies; SGI MPT over FDR "
            f"and Intel MPI over EDR verbs stay at 50 % where streams fill the link, {_L}"
        ),
        True,
    ),
    (
        "allow.copied",
        2.5e9,
        "B/s",
        (
            "a large ping-pong that an MPI copies by one core carries at least this much, whatever "
            f"the link, {_L}"
        ),
        True,
    ),
    (
        "allow.stream",
        0.65,
        "1",
        (
            "stream of one pair of an MPI over RDMA: above the 56 % that the next slower training "
            "of any link leaves; unpinned ranks, virtual machines and containers show 65 to"
            f" 89 %, {_L}"
        ),
        True,
    ),
    (
        "allow.tcp_stream",
        1e9,
        "B/s",
        (
            "one TCP stream on a link above 10 Gb/s is bound by one core: 1.2 GB/s and more on "
            f"virtual machines of 32 and 100 Gb/s (flux performance study), {_L}"
        ),
        True,
    ),
    (
        "allow.tcp_pingpong",
        0.5e9,
        "B/s",
        (
            "ping-pong of large messages over TCP on such a link: 0.9 GB/s and more in the same "
            f"tables, {_L}"
        ),
        True,
    ),
    (
        "expect.ipofabric_stream",
        3.9e9,
        "B/s",
        (
            "one IP stream over Omni-Path 100 in connected mode with an 8 KiB MTU on Xeon "
            "E5-2600 v3 (Intel Omni-Path performance tuning guide, qperf)"
        ),
        True,
    ),
    (
        "allow.scatter",
        1.3,
        "1",
        (
            "small messages that take this many times a larger one of the same table: their "
            "processes waited for a processor"
        ),
        True,
    ),
    (
        "allow.uneven",
        1.2,
        "1",
        (
            "rates of large messages that differ by this: no slower line does that, it is as slow "
            f"at each size, {_L}"
        ),
        True,
    ),
)
