"""Entries about culprits (``wireproof locate``)."""

from __future__ import annotations

__all__ = ["LOCATED"]

LOCATED = """\
## who is slow

# node-slow: One node is slow
means: Everything that this node sends and receives is slower than what its peers reach over the
  same kind of path.
detected: Its samples against all partners lie below the expectation of their tier by more than the
  practical threshold, with the family-wise error of the whole sweep under control; a confirmed one
  is slow alone, against known-good partners, too.
next: Look at the node itself: PCIe width and speed of the NIC, processor frequency and load,
  memory, NIC firmware; move it to another switch port to tell node from port.

# port-slow: One direction of a node's port is slow
means: The node sends (or receives) slowly, and does the other as fast as its peers.
detected: As for node-slow, in one direction only.
next: Look at cable, transceiver and switch port in the named direction: errors, rate limits,
  pauses; then swap the cable.

# link-slow: One link between switches is slow
means: The paths that share this link are slow, whichever nodes use them; the nodes are fast on
  other paths.
detected: The samples whose route takes the link are slow and its nodes' other samples are not.
next: Look at the errors, width and speed of both ends of this link; take it out of the routing
  until it is replaced.

# switch-slow: One switch is slow
means: Everything that goes through this switch is slow; one cause explains all its nodes and links.
detected: Nodes or links of one switch are slow together and those of its peers are not.
next: Look at the switch: firmware, temperature, lost spine or up-links, buffer and pause counters;
  compare with a peer.

# pair-slow: One pair of nodes is slow
means: Two nodes are slow with each other only, and fast with everybody else.
detected: The pair's samples are below what both nodes reach with others, and so they are when
  measured again alone.
next: Look at the route between the two (static routes, link aggregation, a cable that only they
  use).

# not-confirmed: A suspect was not measured again alone
means: The screen found it slow while others were measured too; without the confirm stage contention
  is not excluded.
detected: A culprit of the screen for which no confirm stage ran, or whose confirm stage gave no
  sample.
next: Run wireproof locate again with more time, or measure the suspect alone against a good
  partner.

# node-missing: A node has no sample
means: The node was to be measured and nothing is known about it: it may be the bad one.
detected: No sample of the sweep names the node; the reason seen is in the sentence.
next: Look whether the node is up and reachable, then run wireproof resume, or locate it against two
  good nodes.

# nothing-screened: There is nothing to compare
means: The sweep gave no sample, so no node is known to be slow and none is known to be good.
detected: No sample at all, or no node with one.
next: Read the other findings: the measurement itself failed.

# noise-too-high: A fault of interest would have been missed
means: The samples scatter so much that a slowdown of the practical threshold is not found reliably;
  silence proves little.
detected: The slowdown that is found with 95 % power at this size and noise is above the practical
  threshold. Only a warning where every pair passes by its own limit.
next: Use more rounds or a longer time per pair, on an idle fabric.

# tier-oversubscribed: One kind of path is slower by design
means: Paths across switches share fewer links than there are nodes; this is a property of the
  fabric, not a fault.
detected: The median of a tier is lower than that of the best tier, for all its pairs alike.
next: Nothing; place jobs that talk much below one switch, and expect this share across.

# contention: Slow together, fast alone
means: The pair was slow while others used the same links and is as fast as expected alone: no part
  is at fault.
detected: The confirm stage's sample alone reaches the expectation that the loaded one missed.
next: Nothing to repair; when it happens often, look at the routing (static routes that collide) and
  at placement.

# other-traffic: Another job, or another check, uses a port that was measured
means: Bytes crossed the port that this run did not send. What others take is missing from the
  measurement; cable and port may be as good as any.
detected: The port's byte counters rose by more than the payload with its headers and
  acknowledgements, or in the quiet windows right before and after the points. Inconclusive where it
  explains a shortfall, else a warning.
next: Find who uses the port (ss -tnp, squeue -w NODE, another wireproof), and measure again when it
  is quiet; not the cable.

# packet-loss: Goodput is missing, and segments were sent again
means: Packets are lost on the way, and TCP slows down for each of them: the link loses, or a queue
  overflows.
detected: The kernel's RetransSegs rose by 200 of a million segments or more while the host's
  streams missed what is expected; the drops that its own ports counted are named.
next: Look at the error and drop counters of both ends' ports and of the switch ports between them;
  swap the cable, then the transceiver; look for a speed step (fast to slow) whose queue overflows.

# suspect-cleared: A suspect of the screen was acquitted
means: The screen called it slow, and measured alone against known-good partners it is not.
detected: The confirm stage's samples lie within the expectation.
next: Nothing; when the same one is suspected again and again, look for contention near it.
"""
