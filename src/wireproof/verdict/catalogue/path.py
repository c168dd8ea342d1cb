"""Entries about the path that the bytes took. A code, once printed, keeps its meaning."""

from __future__ import annotations

__all__ = ["PATH"]

PATH = """\
## the path

# shared-memory-suspected: The bytes went through shared memory
means: Two hosts were claimed, but both ranks share a machine or the library sees them as
  neighbours; memory was measured, not a wire.
detected: Same boot id (in a lab: same network namespace), or a shared-memory communicator of 2 or
  more, and no bytes on the claimed port.
next: Place one rank per host (-ppn 1, --map-by node; under Slurm --ntasks-per-node=1) and measure
  again.

# one-kernel: The hosts are namespaces of one machine
means: The hosts have one boot id and different network namespaces: what lies between them is
  virtual, whatever the counters say about its path.
detected: Ranks with one boot id in different network namespaces, and they were not declared
  virtual.
next: For nodes that are virtual on purpose give --lab NAME or --virtual; else find out why the
  hosts are one machine.

# wrong-host: A rank runs on another host than it was meant for
means: The launcher has placed the ranks in another order than the hosts were given in: numbers,
  slow ports and blame would carry the wrong name.
detected: The host name found by the rank is that of another claimed host.
next: Look at the order of hosts that the launcher or scheduler uses (a sorted node list, a host
  file, rank reordering).

# nolocal-shm: Remote to the library, shared memory below
means: The MPI library believes that the ranks are remote, yet nothing crossed: a layer below (UCX,
  CMA) used shared memory.
detected: Shared-memory communicator of size 1, and next to no bytes on the claimed port at either
  end.
next: Separate the nodes' IPC namespace and /dev/shm, or forbid shared memory below
  (UCX_TLS=tcp,self); do not use these numbers.

# off-wire: The bytes did not use the wire
means: The payload is missing on the claimed port and on every other port.
detected: The claimed port's counters moved less than 5 % of the payload at both ends, and no other
  port made up for it.
next: Check placement and transport (FI_PROVIDER, UCX_TLS, btl); do not use these numbers.

# loopback: The bytes went through loopback
means: The payload crossed the loopback interface of one machine.
detected: Interface lo carried at least half the payload; the claimed port did not.
next: Check name resolution (/etc/hosts must not give 127.x for a node) and place the ranks on
  different hosts.

# wrong-path: Another NIC carried the traffic
means: The payload crossed a wire, but not the claimed one: the number belongs to another network.
detected: The claimed port moved less than 5 % of the payload; other ports moved at least half of
  it.
next: Name the NIC to the transport (FI_TCP_IFACE, UCX_NET_DEVICES, btl_tcp_if_include, PSM3_NIC)
  and check routes.

# striped: The traffic was spread over several NICs
means: Part of the payload used the claimed port and part another: the sum is not the rate of one
  link.
detected: The claimed port and others each carried more than 5 % of the payload, and the claimed one
  less than all.
next: Pin the transport to one NIC (btl_tcp_if_include, UCX_NET_DEVICES), or claim the rails that
  you mean to use.

# partly-off-wire: Part of the bytes is not on any port
means: The claimed port carried some of the payload and no port carried the rest.
detected: The claimed port moved between 5 % and 98 % of the payload; other ports and lo stayed
  quiet.
next: Look for shared memory or a second device beside the claimed one, and for counters that lag
  behind.

# ends-disagree: The two ends saw different traffic
means: One end's port carried the payload and the other end's did not: one of the counters cannot be
  believed.
detected: A direction is full at one end and empty at the other.
next: Read both ports by hand (ethtool -S, perfquery) during a run; check that the claimed NICs face
  each other.

# unproven-no-counters: No counter could be read
means: Without port counters the path is not proven, and what is not proven does not pass.
detected: The claimed port's byte counters are missing or unreadable, or a carrier has none (RDMA of
  some drivers).
next: Name the NIC (--nic), give read access to /sys/class/net and /sys/class/infiniband, or mount
  /sys inside the container.

# inside-adapter: The adapter turned the bytes round inside
means: The ports are functions of one adapter, whose own switch passed the bytes from one to the
  other: no wire.
detected: Counters of the function or the interface saw the payload, and those of the physical port
  did not.
next: Place the ranks on hosts with adapters of their own.

# same-adapter: Both ports are functions of one adapter
means: What is counted at a function of an adapter includes what its own switch turns round, so it
  proves no wire.
detected: Both ports state the same system image GUID, switch identifier or serial number, and no
  counter of the physical port can be read.
next: Place the ranks on hosts with adapters of their own, or read the physical function's counters.

# identity-shared: Two hosts state the identity of one machine
means: Boot id and network namespace are equal, as for virtual machines cloned while they ran; yet
  each host's port saw the payload.
detected: Equal boot ids, different host names, and readings of their own that agree with a wire.
next: Restart the clones, so that each has a boot id of its own, and measure again.

# adapter-unknown: The adapter is not in the catalogue
means: What this driver's counters include is not known here, so they are no evidence.
detected: The driver that sysfs names for the claimed port is in no family of docs/adapters.md.
next: Report the driver with `ethtool -S` and the files under /sys/class/infiniband; use the
  switch's own counters meanwhile.

# port-uncounted: Another port may have carried it uncounted
means: The claimed port did not carry the payload, and a port beside it has traffic that no counter
  shows.
detected: A port of an adapter with a blind carrier (RDMA without byte counters), or with counters
  that cannot be read.
next: Forbid that port to the library (UCX_NET_DEVICES, FI_PROVIDER), or take it down, and measure
  again.

# counters-late: The counters are refreshed too late
means: The driver shows what it counted only now and then, so one short point cannot be told from
  its neighbours.
detected: The counter's refresh time is above 2 % of the point, and the sum over the run does not
  settle it.
next: Refresh more often (ethtool -C NIC stats-block-usecs on bnxt), give points a longer budget, or
  measure fewer.

# rival-port: Two ports could have carried it
means: Another port moved as many bytes and packets as the payload needs, at both ends: either may
  have been the path.
detected: Bytes of another port of 98 % of what is due or more, in every direction, and its packets
  where counted.
next: Keep other traffic off that port, or measure more bytes than it carries.

# points-disagree: Points of one route took different paths
means: This point's bytes are on the claimed port, and those of a larger point between the same
  hosts are not: traffic of others may make up what is missing here.
detected: A point on the wire, and one with more bytes due that is off-wire, mixed or on another
  port.
next: Repair what the larger point shows, keep other traffic off the port, and measure again.

# rdma-instead-of-tcp: RDMA carried what a plain Ethernet link was claimed for
means: The claimed port was used, by RDMA: the numbers are held against the limits of RoCE on that
  link.
detected: An Ethernet link was claimed, and the RDMA counters of the claimed port carried the
  payload.
next: Claim what is used (--link roce100, --path rdma); to measure sockets, choose them
  (UCX_TLS=tcp, FI_PROVIDER=tcp).

# link-from-port: The link was taken from the port
means: No --link was given: the limits are those of the rate, width and MTU that the port itself
  states.
detected: The run claims no link, and every claimed port states its rate.
next: Nothing; give --link to hold the run against what was bought.

# unproven-too-few-bytes: Too few bytes to prove the path
means: The point moved so little that its payload cannot be separated from other traffic.
detected: Payload (and headers of a ping-pong) below criteria.min_payload_bytes in each direction.
next: Give the point a longer budget or more iterations.

# counter-wrapped: A counter wrapped, saturated or was reset
means: A counter went backwards or stuck at its end, so that the bytes moved are not known; a single
  clean wrap is repaired and noted.
detected: After < before, or the value 2^32 - 1.
next: Clear 32-bit counters before the run (perfquery -R), use the 64-bit ones, and let nothing
  reset them meanwhile.

# background-traffic: Other traffic on the ports
means: The ports carried much more than this measurement sent: foreign traffic could hide a missing
  payload.
detected: Idle-window background above 20 % of the payload, or more bytes than payload, headers and
  acknowledgements explain.
next: Measure on an idle network (no other job, no storage on this link), or give the point more
  bytes.

# tcp-instead-of-rdma: Kernel TCP carried what RDMA was claimed for
means: The claimed NIC was used, through the kernel: the library fell back from RDMA to TCP.
detected: An RDMA link was claimed, the claimed port's sockets carried 90 % of the payload or more,
  and its RDMA counters less than half.
next: Check the provider (FI_PROVIDER, UCX_TLS) and the RDMA device's state; RDMA must not appear in
  netdev statistics.

# no-wire-claimed: No wire was proven
means: Only one machine took part: shared memory or loopback was asked for, so nothing is said about
  a network.
detected: The claim names no wire.
next: Name at least two hosts: wireproof check --hosts n1,n2.

# instrument-only: Measured on no transport at all
means: The null and model transports test the instrument itself; they move nothing.
detected: The engine opened transport null or model.
next: Choose --transport mpi or tcp.

# placement-unknown: The machines could not be distinguished
means: No boot id was readable on a host; the counters alone must prove the path.
detected: The boot id of a rank's machine is empty.
next: Make /proc/sys/kernel/random/boot_id readable.
"""
