"""Rules for the command lines of benchmarks."""

from __future__ import annotations

from wireproof.lint.rule import Rule

__all__ = ["RULES"]

_IMB = "Intel MPI Benchmarks user guide; the names that IMB 2021 itself lists"
_OSU = "OSU Micro-Benchmarks: 'This test requires exactly two processes'"

RULES: tuple[Rule, ...] = (
    Rule(
        "benchmark-misspelt",
        "There is no benchmark program of this name.",
        "The launcher does not find it and stops.",
        "IMB-MPI1",
        _IMB + "; the OSU Micro-Benchmarks' README",
        safe=True,
    ),
    Rule(
        "imb-unknown-benchmark",
        "This IMB program has no such benchmark.",
        "It prints its heading and measures nothing.",
        "IMB-MPI1 PingPong, IMB-P2P PingPong, IMB-RMA Unidir_put",
        _IMB,
    ),
    Rule(
        "pingpong-is-not-rma",
        "IMB PingPong is called an RMA test.",
        "It is two-sided (MPI_Send, MPI_Recv); one-sided transfers are measured by IMB-RMA and "
        "cost something else.",
        "IMB-RMA Unidir_put",
        _IMB,
        severity="warning",
    ),
    Rule(
        "osu-needs-two",
        "This OSU benchmark runs with exactly two ranks.",
        "With another number it stops: 'This test requires exactly two processes'.",
        "mpirun -np 2 osu_latency",
        _OSU,
    ),
    Rule(
        "osu-needs-even",
        "This OSU benchmark pairs its ranks: their number should be even.",
        "With an odd number one rank has no partner.",
        "mpirun -np 4 osu_mbw_mr",
        "OSU Micro-Benchmarks README, osu_mbw_mr and osu_multi_lat",
        severity="warning",
    ),
    Rule(
        "perftest-mtu",
        "perftest does not take this MTU.",
        "-m knows 256 to 4096. The 8 KiB of Omni-Path come with -R (rdma_cm) over the server's "
        "IPoIB address.",
        "ib_write_bw -F -R -s 1048576 SERVER-IPOIB-ADDRESS",
        "perftest man page, -m and -R",
    ),
    Rule(
        "perftest-without-cm",
        "perftest over Omni-Path has no -R.",
        "Without rdma_cm its queue pair takes an MTU of InfiniBand, 4096 bytes at most; the 8 KiB "
        "that large messages want come with -R over the server's IPoIB address.",
        "ib_write_bw -F -R -s 1048576 SERVER-IPOIB-ADDRESS",
        "Omni-Path performance tuning guide, RDMA performance; perftest man page, -R",
        severity="warning",
    ),
    Rule(
        "pinned-to-core-0",
        "The benchmark is pinned to core 0.",
        "Interrupts and the kernel's own work run there first: the number is smaller and varies.",
        "qperf SERVER -m 1M -ca 6 tcp_bw; iperf3 -c HOST -A 4: a core of the adapter's NUMA node",
        "Omni-Path performance tuning guide, qperf",
        severity="warning",
    ),
    Rule(
        "perftest-sides-differ",
        "Server and client of one perftest have different options.",
        "Both must agree on -R, -a, -s and -m: they wait for each other or stop with 'Couldn't "
        "exchange data'.",
        "the same options on both sides; the client has the server's address too",
        "perftest README: both sides need the same parameters",
        severity="warning",
    ),
    Rule(
        "iperf3-client-option",
        "This option is for iperf3's client, but is on the server's line.",
        "The server stops: 'some option you are trying to set is client only'.",
        "iperf3 -s -1 -f G -A 4",
        "iperf3(1), client specific options",
    ),
    Rule(
        "iperf3-server-option",
        "This option is for iperf3's server, but is on the client's line.",
        "The client stops: 'some option you are trying to set is server only'.",
        "iperf3 -c HOST -t 12 -O 2",
        "iperf3(1), server specific options",
    ),
    Rule(
        "iperf3-both-sides",
        "iperf3 is started as server and client at once.",
        "It stops: 'cannot be both server and client'.",
        "iperf3 -s on one node, iperf3 -c HOST on the other",
        "iperf3(1)",
    ),
    Rule(
        "qperf-option-order",
        "An option comes after the last test of qperf.",
        "qperf goes from left to right and has run the test already: the option has no effect.",
        "qperf SERVER -m 1M -ca 6 tcp_bw",
        "qperf(1): qperf SERVERNODE [OPTIONS] TESTS",
    ),
    Rule(
        "taskset-list",
        "taskset reads this as a mask, but it is a list.",
        "It stops: 'failed to parse CPU mask'; a list needs -c.",
        "taskset -c 0-3 PROGRAM",
        "taskset(1)",
        safe=True,
    ),
)
