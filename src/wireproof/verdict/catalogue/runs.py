"""Entries about runs of our own: who is slow, limits, quality, faults."""

from __future__ import annotations

__all__ = ["RUNS"]

RUNS = """\
## directions and peers

# direction-slow: One direction is slow
means: One direction of a pair is slower than the other: ping-pong hides this, since it averages
  both.
detected: The whole interval of one way below direction_ratio of the other's. Inconclusive when the
  intervals do not say so, or when a host was disturbed.
next: Measure each of the two hosts against a third to tell sender from receiver; then look at
  cable, port errors and rate limits.

# node-direction-slow: One node sends or receives slowly
means: All streams out of (or into) one node are slow, and all others are fine.
detected: At least three nodes; every stream of that node and direction below peer_ratio of the
  others, with its whole interval. Inconclusive when not, or when its hosts waited longer for a
  processor than the others.
next: Look at that node's NIC, cable and switch port in the named direction: errors, speed, rate
  limits, pauses.

## limits

# above-ceiling: Faster than the link can be
means: The goodput is more than the claimed link can carry: the bytes took another way, or the claim
  is wrong.
detected: Lower end of the interval above attainable goodput plus tolerance. Inconclusive where the
  ports' own count over the whole point does not exceed the limit: then the times are doubted, not
  the link.
next: Check the path and the claimed rate (--link); compare the derivation of the limit with the
  negotiated rate and MTU.

# below-floor: Quicker than the link can be
means: The time is shorter than this kind of link needs for this size: memory, not a wire.
detected: Time below s / R + floor less tolerance. Against a floor from literature, nearly reached
  and with bytes proven on the wire, it is a doubt (inconclusive), not a disproof.
next: Check the path; when your system is known to be quicker, override the floor in a limits file.

# below-expectation: Slower than the link should be
means: The path is proven, and the goodput is short of what the link can carry.
detected: Upper end of the interval below min_efficiency x attainable, at sizes large enough to fill
  the link. Inconclusive when a process waited for a processor for more than 5 % of the time.
next: Look at MTU, PCIe slot, CPU frequency, NUMA placement, drops and pauses at both ends.

# no-limit-known: No limit to judge by
means: The link's rate is not known, so that the number can be neither too fast nor too slow.
detected: No --link, and no rate could be derived.
next: State the link: --link 10gbe, edr, opa100 ...

# cache-shaped: The curve is a cache's, not a wire's
means: Goodput peaks at a medium size and falls for large ones: copies through a processor's cache
  behave so, a wire does not.
detected: Maximum between 16 KiB and 1 MiB, then a fall of more than 15 % at larger sizes.
next: Check that the ranks are on different machines; on a proven wire look for cache-bound copies
  (NUMA, MTU, DDIO).

# row-arithmetic: The record contradicts itself
means: Times, messages and bytes of one record do not fit together.
detected: messages x size = bytes; timed messages <= messages; sum of batches <= elapsed time;
  estimate = median of batches.
next: Do not use the record; measure again, and report it when it repeats.

## quality

# unstable: The number does not repeat
means: The interval is too wide for a conclusion.
detected: Half-width of the 95 % interval above max_half_width, or fewer than 6 independent samples.
next: Give more time, keep other jobs away, pin ranks; trust the interval, not the median.

# multimodal: Two kinds of times
means: The samples fall in separate groups; the median stands for one of them.
detected: A gap parts the samples, far wider than the spread of each part.
next: Look for frequency changes, two paths, or two cores' distance (far-core-state); read the
  quantiles.

# launches-disagree: Repeats of one point differ
means: Each repeat was precise about a different state of the machine; the interval of one repeat is
  too hopeful.
detected: Intervals of repeats are apart and their medians differ by more than 10 %.
next: Use more launches (--profile acceptance), pin ranks, and read the two-level interval over
  launches.

# oversubscribed: More ranks than processors
means: Ranks wait for a processor; times include the scheduler's.
detected: More ranks than processors on a machine, involuntary switches or steal in many blocks, or
  a process that waited for a processor for more than 5 % of the time.
next: Use one rank per core, and no other load; in a lab more nodes than cores is a fact to live
  with.

# far-core-state: The cores' distance changed
means: The raw cache-line bounce between the two cores has two values: small latencies follow it.
detected: The bounce sentinel is bimodal.
next: Pin the ranks; on a virtual machine compare only blocks of equal bounce.

# clock-not-tsc: No constant-rate cycle counter
means: Batches are timed by system calls, which cost more and resolve less.
detected: The engine's clock is monotonic instead of tsc or cntvct.
next: Use clocksource tsc (kernel command line tsc=reliable only when it is known to be).

# protocol-switch: The library changes protocol at a size
means: Below this size messages are sent eagerly, above by rendezvous; latency and gap differ on
  both sides.
detected: A break in the curve of time against size.
next: Nothing is wrong; tune the switch point only with measured benefit.

## faults

# payload-unchecked: The payload was not looked at
means: The numbers are of messages whose content was not compared: a library that moves nothing
  would be as quick.
detected: The engine's own mark: no seeded payload was exchanged after the timing.
next: Measure again with a transport and pattern whose payload is checked.

# payload-corrupt: Bytes arrived changed
means: The received payload differs from the sent one.
detected: The check of contents, made outside the timing, failed.
next: Stop using this path; check cables, memory, offloads (checksum, TSO) and firmware.

# points-missing: Some points were not measured
means: The table is cut short: nothing is known about these points.
detected: Planned points without a sealed record, a run that did not close, or a pair without
  samples.
next: Read the reason: `wireproof resume FOLDER` measures what is missing; give a longer --budget
  when it was the time.

# deadline: A point ran into its deadline
means: The point hung or was too slow for the time that it was given.
detected: Status or stop reason deadline.
next: Check that the peer still answers; raise the deadline for slow links.

# large-messages-hang: Small messages pass and all larger ones hang
means: The path does not carry large frames. Often a switch port or a tunnel on the way has a
  smaller MTU than the hosts (an MTU black hole); a firewall or a driver's offload can do the same.
detected: Points of two sizes ran into their deadline while every smaller size passed; larger ones
  were not tried.
next: Send one large frame without fragmentation: `ping -M do -s SIZE PEER`, with SIZE the MTU less
  28. Then set one MTU on both hosts and on every switch port between them.

# rank-lost: A rank died
means: A process of the run ended before its work was done.
detected: The engine or the launcher reported the loss.
next: Look whether the host answers (power, ssh, NIC), then at the rank's standard error and the
  node's kernel log (OOM, signals); `wireproof resume` measures what is missing.

# library-mismatch: Another MPI library answered
means: The library that ran is not the one that was asked for, or the ranks ran different ones.
detected: MPI_Get_library_version lacks the expected text, or differs between ranks.
next: Check LD_LIBRARY_PATH and --mpi; the record names the file that was loaded.

# provider-fallback: Another libfabric provider than the one asked for
means: libfabric gave a provider, or a layer over it, that was not asked for, or one that does not
  leave the machine; its numbers look like the wanted one's.
detected: The provider's name in the host's record, against the claim and the layers that are usual.
next: Run `wireproof doctor --providers` on that host: it names the providers there and why one is
  missing; give --provider by its whole name to mean it.

# provider-differs: libfabric is not the same on all ranks
means: Some ranks have another version, completion, progress or exchange than others: what differs
  may be what is measured.
detected: The hosts' records of libfabric, against that of the first rank.
next: Give all hosts one libfabric (--libfabric PATH) and the same environment; `wireproof doctor
  --providers` on each shows what it has.

# completion-local: A remote access ended before the target had it
means: The provider completes a put when it has left, not when it is in the target's memory.
detected: The host's record: remote is local, neither the provider's completion at delivery nor a
  read-back behind the write.
next: Compare it only with numbers of the same completion level, or ask for --completion delivery.

# engine-error: The engine reported an error
means: A measurement could not be made.
detected: An error frame.
next: Read the message; wireproof doctor shows what works on this machine.

# interrupted: The run was interrupted
means: Ctrl-C, the time limit of a job or scancel ended it. That says nothing about the fabric.
detected: The engine was ended by a signal while it measured.
next: `wireproof resume FOLDER` measures what is missing.

# nothing-measured: Nothing was measured
means: There is no evidence, and no evidence never passes.
detected: No pair of any point was judged.
next: Read the errors above; wireproof doctor shows what works on this machine.

# nic-unknown: The claimed NIC is not on the host
means: The path cannot be proven on a port that does not exist.
detected: The host's list of NICs lacks the claimed name.
next: Name one of the NICs that the finding lists.

# nic-down: The claimed NIC has no carrier
means: The claimed port was down, or lost its carrier during the run.
detected: Carrier 0, operstate down, or carrier errors counted.
next: Check cable, transceiver and switch port (ip link, ethtool).

# nic-speed-disagrees: The NIC's rate is not the claimed one
means: The negotiated rate differs from the claimed link's: the limits may not hold.
detected: Speed of the claimed NIC against the claimed rate; in a virtual lab veth always says 10
  Gb/s and is not asked.
next: Check what was negotiated (ethtool, ibstat), or correct --link.

# retransmits: Packets were sent again, dropped or paused
means: The path lost or held packets during the measurement.
detected: Retransmission, drop or pause counters of a port rose, or RetransSegs of /proc/net/snmp.
next: Look at cable, flow control (PFC), buffers and MTU along the path.

# wire-late: The lab's own wire fell behind
means: The process that carries a virtual cluster's frames had no processor in time: its links were
  slower than stated.
detected: More than 0.1 % of the frames were handed over, or taken from an idle line, over 1 ms
  after they were due.
next: Measure when the machine is quiet, with fewer pairs at once, a lower rate or a larger MTU
  (docs/lab.md).

# setting-not-honoured: A value was asked for and is not in force
means: The library took another value, did not read the setting, its ranks disagree, or no run
  works with the value; numbers measured with it say nothing about it.
detected: `study` asks the library what it has read and chose (its own lines, by the catalogue of
  knobs), and holds runs with the value against runs without.
next: Correct the value as the finding says, or use a build that has the setting; do not put it into
  job scripts.
"""
