"""Entries about rails: several NICs that are claimed to carry the payload together."""

from __future__ import annotations

__all__ = ["RAILS"]

RAILS = """\
## several rails

# one-rail: Only one of the rails carried the traffic
means: Several NICs were claimed to carry the payload together, and one carried all of it: the
  others add nothing.
detected: At the largest one-way messages of a route the other rails carried less than 5 % of their
  share.
next: Let the library use them (UCX_MAX_RNDV_RAILS, PSM3_MULTIRAIL=1, btl_tcp_if_include with both
  names, I_MPI_MULTIRAIL=1), and look whether the rails' networks reach the other host.

# unequal-rails: The rails did not carry their shares
means: The payload was not shared in proportion to the rails' line rates: together they carry less
  than they could.
detected: At the largest one-way messages of a route some rail's share differs by more than 25 % of
  itself from its part of the sum of the line rates.
next: Measure each rail alone (wireproof measure stream --nic hsn0,hsn1 --gain); mend the slow one,
  or tell the library the rates (btl_tcp_bandwidth_<nic>), or leave it out.

# slow-rail: One rail of a node is slow
means: All that this node sends or receives goes less through this rail than its share, and
  everywhere else the rail carries its share.
detected: All routes of the node in this direction are short of the same rail, routes without the
  node are not.
next: Look at this NIC's cable, port, speed and slot on this node, and at its switch port.

# rail-not-told: Which rail of a slow node it is, is not known
means: A node with several claimed NICs is slow, and each of its rails carried its share of the
  bytes: a library that shares evenly waits for the slow one.
detected: The node is located as slow, and its rails' shares are as due.
next: Measure each rail alone with the command that is given, then mend or leave out the slow one.

# rail-down: A claimed rail cannot carry anything
means: One of the NICs that were claimed together has no carrier or no address, so the others carry
  its share.
detected: The kernel says that the NIC has no carrier or is down, or an Ethernet NIC without RDMA
  has no address.
next: Bring it up (ip link, ip addr, cable, switch port), or leave it out of --nic.

# rails-shared: How the rails shared the traffic
means: Several NICs were claimed; this is what each carried while the command ran.
detected: The counters of each rail, in the directions that carried payload.
next: Nothing, when each carried its share; whether a command is to use all rails, its author knows.

# no-rail-gain: Several rails carry no more than one
means: Large one-way messages are no faster over all rails than over the best of them alone.
detected: The upper end of the gain's 95 % interval, over interleaved launches, is below 1.1.
next: Look at the shares of each rail: the library may use one, or share evenly with a slow one. On
  one host also look at the slot, the processor and the memory that the rails have in common.

# rails-below-sum: Several rails carry less than their sum
means: Large one-way messages are faster over all rails than over one, and slower than the sum of
  what each carries alone.
detected: The upper end of the interval of (all rails / sum of each alone) is below 90 %.
next: Mend the slowest rail or leave it out when the library shares evenly; else give more
  messages in flight (--window), and look at what the rails share: slot, processor, memory.
"""
