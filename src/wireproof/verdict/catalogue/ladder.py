"""Entries about ladders (``wireproof ladder``)."""

from __future__ import annotations

__all__ = ["LADDER"]

LADDER = """\
## layers of one path

# layer-latency: A layer loses time
means: Between two hosts this layer takes longer before the first byte than the layer below it, by
  more than the threshold: every message pays that.
detected: The start o of t(s) = o + s/R, fitted in each round, is compared round by round with that
  of the layer below (signed-rank test of the logarithms); claimed by Holm's rule over all steps,
  at 5 % for all together, when the ratio exceeds 1 + the threshold. A note where a layer further
  up is proven not to pay it; inconclusive where the processes of both layers waited for a
  processor for more than 25 % of the time.
next: Look at the knobs of that layer that are printed below it; `wireproof tune try` says of each
  whether it helps here.

# layer-rate: A layer loses rate
means: Large messages are slower in this layer than in the one below it, by more than the
  threshold: the rate that perftest or the kernel's sockets reach does not arrive at the job.
detected: As for layer-latency, with R of the lines beyond the eager limit.
next: Look at the knobs of that layer that are printed below it; `wireproof tune try` says of each
  whether it helps here.

# lowest-layer-slow: The lowest layer itself is slow
means: Already the lowest measured layer moves much less than the link can carry, and no layer above
  does better: the loss is in the link, the adapter or the host.
detected: The upper ends of R of all layers are below 80 % of the attainable goodput of the claimed
  link.
next: Run `wireproof check --hosts A,B` for the link and `wireproof audit --hosts A,B` for the
  hosts' settings (MTU, PCIe slot, socket buffers, CPU frequency) before any MPI is tuned.

# layer-off-wire: A layer did not use the claimed wire
means: The port counters do not show this layer's bytes on the claimed port of both hosts, so its
  numbers say nothing of the wire; no step that it belongs to is claimed, and the next one spans
  over it.
detected: The proof of its points, launch by launch.
next: Select the NIC and the transport of that layer (--nic, --provider, --fabric), and see
  `wireproof doctor --providers`.

# layer-undecided: A step is open
means: The rounds neither prove that this step loses more than the threshold, nor that it does not.
detected: Neither of the two signed-rank tests reaches its level.
next: Give more --rounds, or keep other work away from the hosts.

# ladder-too-short: No step can be compared
means: Fewer than two layers were measured and proven on the wire.
detected: The layers that take part in a claim.
next: See why the others are missing or take no part.

# layer-missing: A layer could not be measured here
means: What this layer needs is not on the hosts; the step next to it spans over it.
detected: Its first launch, or the list of what is installed.
next: Install what is named, or leave the layer out with --layers.
"""
