"""Entries about what other programs have printed (``wireproof judge``)."""

from __future__ import annotations

__all__ = ["EXTERNAL"]

EXTERNAL = """\
## external results

# one-host: The log itself names one host
means: The program or its MPI library printed that all ranks are on one host, that the peer is the
  loopback, or that shared memory carried the messages.
detected: The host of every rank, the peer's address, or the provider, in the log.
next: Place one rank per host (-ppn 1, --map-by node; under Slurm --ntasks-per-node=1) and forbid
  shared memory (I_MPI_FABRICS=ofi).

# below-any-nic: Quicker than any NIC
means: Small messages are quicker than a network adapter in a PCIe slot can answer, whatever the
  link: memory was measured.
detected: Half round trip below 0.8 x floor.any_nic, or below floor.any_nic on a curve of a cache's
  shape.
next: Place one rank per host (-ppn 1, --map-by node; under Slurm --ntasks-per-node=1) and measure
  again with wireproof check.

# faster-than-transfer: Quicker than the bytes alone can move
means: At some size the time is shorter than the link needs to move the bytes and to start, whatever
  the small sizes say.
detected: t(s) < s / attainable + floor, less the margins of a floor from literature, at 2 KiB or
  more.
next: Check placement and path; the size, its time and the bound are in the evidence.

# message-rate-above-link: More messages than the link has room for
means: The messages per second, each with the least packet of the protocol, are more than the line
  carries.
detected: Messages/s x (size + least header) above the line rate; RDMA only, since TCP joins small
  messages.
next: Check the path, and over how many pairs and directions the program sums.

# message-rate-unusual: More messages than one core usually sends
means: One pair of ranks sent more small messages in a second than MPI usually does over such a
  link; through shared memory it does.
detected: Messages/s of one pair, up to 64 B, above rate.one_pair (RDMA) or rate.one_pair_tcp
  (kernel TCP, EFA).
next: Check the placement of the ranks; where your system is that quick, say so in a limits file
  (--physics).

# small-path-mtu: A smaller path MTU than such links have
means: The program prints the path MTU that it used, and links of this kind have a larger one.
  Every packet carries the same headers, so bandwidth is lost.
detected: perftest's Mtu below 8192 B on Omni-Path, 4096 B on InfiniBand from FDR on (2048 B before)
  and on RoCE.
next: Omni-Path: allow 8 KiB in the fabric manager and the switch, and start perftest with -R. RoCE:
  an MTU of 9000 on every interface and switch leaves 4096 B.

# slow-start: Small messages take unusually long
means: The half round trip of small messages is far above what is usual for this kind of link:
  another transport, a power state or interrupt moderation.
detected: Above typical x typical.margin of the protocol.
next: Check which transport was used (UCX_TLS, FI_PROVIDER: kernel TCP over the same port is
  common), CPU power states and interrupt moderation.

# outruns-published: Quicker than everything that was published
means: Small messages take less than 0.8 of the shortest time that others have published of such a
  link. Shared memory and a faster link than the claimed one look like that.
detected: At least five sources of the atlas with the same link, pattern and layer, and a time below
  0.8 x the fastest.
next: Check that the ranks are on two hosts, and the claimed link. Where your link is that quick,
  measure it with wireproof check, and add it to the atlas (wireproof atlas, docs/atlas.md).

# trails-published: Slower than everything that was published
means: The number is within the limits or not, and every source of the atlas has a better one.
detected: At least five sources of the atlas with the same link, pattern and layer, all of them more
  than 5 % faster.
next: Compare adapter, MPI and settings with the nearest source (wireproof atlas --link LINK), then
  wireproof audit.

# usual-shortfall: Less than the limits allow, and usual
means: The number is below what is expected of the link by its limits, and half of the
  published ones are as slow.
detected: At least five sources of the atlas with the same link, pattern and layer.
next: Nothing, unless you need more: the nearest faster source shows what changes it.

# mixed-paths: Two paths in one table
means: The numbers need more than one path: several rails, or memory for small messages and a wire
  for large ones.
detected: A flat plateau near a whole number of links from a start that a wire has; or small sizes
  below the floor and large ones at the link's rate.
next: Pin the transport to one device (UCX_NET_DEVICES, UCX_MAX_RNDV_RAILS=1, btl_tcp_if_include) or
  claim all rails.

# slow-pair: Some pairs are slower than the others
means: In a table of all pairs some are well below the usual one, and no single node and direction
  explains them.
detected: Goodput of a pair below peer_ratio of the median over all pairs of different hosts.
next: Measure these pairs alone, in both directions: contention goes away then, a bad link stays.

# rate-limited: A rate limiter shapes the link
means: Short messages pass faster than the claimed rate and long ones keep to it: a token bucket, as
  clouds, containers and labs use it. Its bucket hides what the link does.
detected: Only sizes up to 4 MiB break the rate, larger ones keep it, and the start is one that
  kernel TCP has.
next: Judge by a long stream (iperf3 for 30 s, 1 MiB messages with a window), or by the lab's own
  claim.

# protocol-switch-cliff: A cliff where the protocol changes
means: Beside one size, time per byte gets worse: the library changes from eager to rendezvous too
  early or too late.
detected: Goodput falls by more than 8 % from one size to the next and comes back; or two sizes or
  more from 1 KiB on take over 10 % longer than a larger one.
next: Move the switch with the setting that the finding names, and measure that it helps.

# non-monotone: A size takes longer than a larger one
means: One or few small sizes stand out of the curve: noise, or a disturbance while they were
  measured.
detected: Time more than 10 % above that of a larger size, beyond rounding.
next: Repeat the measurement; where it stays, look for Nagle, delayed acknowledgements or interrupt
  moderation.

# too-few-iterations: Too few iterations for the claim
means: The mean of so few operations is made of first touches and the clock's steps.
detected: Fewer than 100 iterations up to 8 KiB, 3 above, or 20 messages of a stream.
next: Give more iterations (-i, -n, -I, -iter) and a warm-up.

# unit-doubt: The unit is in doubt
means: MB may be 10^6 or 2^20 bytes here, or bits may have been read as bytes.
detected: The program's version does not tell, or the number fits only after such a factor.
next: Look at the program's header and version; use an option with a clear unit (--report_gbits,
  JSON).

# wrong-formula: A number by another formula
means: A factor of two is in the numbers: a whole round trip for half of one, or both directions for
  one.
detected: Time x goodput / size is 2 or 0.5 in all rows; or twice or half the goodput would just fit
  the link.
next: Read the program's definition of both columns before comparing either with another program's.

# formula-differs: What this number may be compared with
means: The program's definition differs from the common one, so that numbers of other tests must not
  be held against it.
detected: One-sided operations, sums of directions, PingPing.
next: Compare with results of the same definition; `wireproof measure --help` names the patterns.

# bad-number: A number that is none
means: A row holds nan, an infinite, a negative or a zero time or rate; such rows are left out.
detected: The printed value.
next: Measure again, and report it to the program's authors when it repeats.

# incomplete-table: The table is cut short
means: The output ends before the table does, so that its missing part is unknown.
detected: The program's own end or the planned sizes are missing.
next: Use the whole log; a job's time limit or a full disk cuts such files.

# sizes-too-small: The sizes do not tell the rate
means: Messages this small do not fill the link, and no start was measured either.
detected: Bytes in flight below 50 us of the line, and no test that waits for each answer.
next: Measure 1 MiB messages as well, or a ping-pong.

# only-a-floor: Held against the floor only
means: A link's goodput is no limit of a collective or of a ring whose neighbours may share a node.
detected: The benchmark's traffic.
next: Measure point-to-point between two hosts for a verdict on the link.

# not-a-link-test: Not a test of the link
means: The benchmark measures something that no limit of a link bounds.
detected: The benchmark's name.
next: Nothing; judge a point-to-point test instead.

# judged-as-rdma: Held against RDMA
means: The claim left open what carries the bytes over Ethernet, and it was RDMA.
detected: The program uses verbs; or the start excludes kernel TCP and RoCE explains the whole
  curve.
next: Say --path rdma or --path tcp to decide it.

# judged-past-kernel: Held against sockets past the kernel
means: A library carries the program's sockets past the kernel (libvma, Onload, libxlio), so that
  the kernel's floor does not hold.
detected: Its banner or its name in the log, or --path.
next: None; without such a library the start would exclude the wire.

# judged-as-tcp: Held against kernel TCP
means: An RDMA link was claimed and the program uses sockets: its bytes go through the kernel
  (IPoIB, IPoFabric, plain Ethernet).
detected: The program's own protocol (iperf3, qperf tcp, sockperf).
next: Compare with the goodput of TCP; measure RDMA with a program that uses it.

# log-without-counters: A log proves no path
means: Printed numbers can contradict a wire and never prove one.
detected: No port counters are in a program's output.
next: Run the same command under wireproof prove, or measure with wireproof check.

# explained-by: Links that explain the curve
means: No link was claimed, or the claimed one is excluded; the limits of these fit start, goodput
  and every size. Named shm: copies within one machine.
detected: Floor, usual start, ceiling and s / R + floor of each known link.
next: Claim the link that you have (--link) for a verdict; where it is shm, check the placement of
  the ranks.
"""
