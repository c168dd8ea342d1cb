"""Entries about priority flow control (``wireproof pfc``)."""

from __future__ import annotations

__all__ = ["PFC"]

PFC = """\
## priority flow control

# pfc-dropped: Packets were dropped
means: The fabric is not lossless: a port had no buffer for what arrived, or could not send.
detected: A drop counter of a port rose; on adapters that tell priorities apart, not those of other
  priorities alone.
next: PFC on for this priority on adapters and on every switch port of the path; then headroom
  (`wireproof plan pfc`), then the receiver that is too slow.

# pfc-lost: RDMA packets were lost between the hosts
means: Hosts dropped nothing, and packets were missed or sent again: a switch dropped them.
detected: Counters of the RDMA device rose (out_of_sequence, packet_seq_err, local_ack_timeout_err,
  RetransSegs ...).
next: Read the switches' drop counters by port and queue; PFC and headroom on every hop, leaves and
  spines.

# pfc-no-xoff: Packets were dropped and no host was paused
means: PFC is not in force: it is off, on for another priority, or not on both ends of the link.
detected: Drops rose while no pause of this priority was sent or received by the port.
next: `dcb pfc show dev NIC` and the switch port's configuration; the priority that the traffic is
  marked with.

# pfc-no-xon: Pauses began and were never taken back
means: Xoff was counted and Xon was not: the link waits until each pause runs out.
detected: Xoff rose on a port; Xon, or the counter of ends of pauses, stood still.
next: XON threshold of that switch port (or of the adapter's buffer); firmware of both ends.

# pfc-wrong-priority: The pressure or the traffic is in another priority
means: Packets are not marked as agreed, so what was meant to be lossless is not, or PFC is on for
  more than one class.
detected: Another priority paused too (priorities that only count in unison are left out), or more
  than 90 % of a port's traffic was in others.
next: Marking (DSCP or VLAN priority) and trust on adapter and switch: cma_roce_tos, traffic_class,
  PSM3_NIC_SL, UCX_IB_TRAFFIC_CLASS, NCCL_IB_TC; `--priority` if another one is meant.

# pfc-mixed-priorities: Other priorities carried a part of the traffic
means: It cannot be said whether the load was in the lossless priority.
detected: Between 10 and 90 % of a port's traffic was in the lossless priority.
next: Keep other traffic away, or look at what marks it; run again.

# pfc-link-flow-control: Link-level flow control is on
means: Pauses of the whole link (802.3x) stop every priority, the lossy ones too; beside PFC it has
  to be off.
detected: `ethtool -a` says on, or pause frames of the link were counted.
next: `ethtool -A NIC rx off tx off` (`wireproof explain flow-control-rx`), and the same on the
  switch port.

# pfc-off: PFC is not on for this priority
means: The adapter's own setting does not have this priority among the lossless ones.
detected: `dcb pfc show`, `mlnx_qos` or `lldptool`.
next: `wireproof explain pfc-enabled`; the same priority on the switch port.

# pfc-slow-receiver: A host pauses its switch far more than the others do
means: It cannot take what arrives; its pauses fill the switch and then stop others.
detected: Its pauses sent are ten times the median of all hosts and more, and an outlier by median
  and MAD (Holm over all ports); of a single port, a hundred times what it gets.
next: Its PCIe slot and link, memory and NUMA placement, CPU frequency, receive buffers
  (`wireproof audit`); compare a run without it.

# pfc-storm: A host stops its switch port most of the time
means: A pause storm: what is behind that port, and soon others, stands still.
detected: Paused for more than half of the time, pauses enough for all of it while less than half of
  the line rate arrived, or the adapter's own alarm.
next: Take the host out; look at its adapter (firmware, PCIe errors); a PFC watchdog on the switch
  ends storms.

# pfc-congestion-spreading: Hosts were stopped most of the time
means: Pauses from a slow receiver or a full switch reach hosts that may not be its senders.
detected: A port was paused by its switch for more than half of the time.
next: Find who pauses the switch (the slow receiver, the deepest queue); ECN so that senders slow
  down before they are stopped.

# pfc-one-way: Pauses do not show that the switch answers pressure
means: The load showed pressure, and no host was ever paused by its switch in this priority.
detected: Pauses sent by hosts alone, or drops and pauses elsewhere.
next: More senders to one receiver behind other switch ports; the switch's own PFC counters.

# pfc-no-pressure: The load made no pressure
means: Nothing was paused and nothing dropped, so nothing shows whether PFC would work.
detected: No pause and no drop on any port.
next: More senders at once (`--hosts` with more of them), larger messages, a transport without
  congestion control; or watch the real job with --no-load.

# pfc-counters-missing: A condition cannot be seen
means: The driver has no counter that shows it, or what it printed was not read: unproven, not
  passed.
detected: None of the names known for this driver is there (docs/pfc.md has the table).
next: A newer driver, the switch's counters, or the missing text (`ethtool -S`, `ethtool -a`).

# pfc-adapter-unknown: No pause counters are known of this adapter
means: What its driver counts of priority flow control, if anything, is not in our table.
detected: The driver is none of docs/pfc.md, and no statistic has the name of one of them.
next: The switch's counters; report the driver with `ethtool -S`.

# pfc-counters-unreadable: A counter says nothing of this time
means: It began anew, stopped at its end or was not there all the time.
detected: A value below the one before without a wrap, a value at its end, a counter that appeared
  or vanished.
next: Run again without a reset of counters, driver or link between the readings.

# pfc-no-priority: Which priority is lossless is not known
means: Neither the command line nor the settings name it, so nothing can be in the wrong one.
detected: No --priority, and no DCB settings that name exactly one.
next: Give --priority.

# pfc-settings-differ: Hosts differ in their lossless priorities
means: Traffic of a host whose PFC is on for another priority is not protected.
detected: The lists of `dcb pfc show` (or `mlnx_qos`, `lldptool`) are not the same.
next: One configuration on all hosts and switches (`wireproof audit pfc-enabled`).

# pfc-load-failed: The load did not end well
means: What the counters show is of a load that was not whole.
detected: Its exit status.
next: See what it said; run again.

# pfc-load-elsewhere: The load did not use the claimed port
means: The counters tell of a port that the load went past.
detected: The engine's own evidence of the incast's path: off-wire, wrong-path or mixed.
next: `--nic`, `--transport` and the MPI's selection of NICs (`wireproof explain wrong-path`).

# pfc-before-the-load: Pauses moved before the load began
means: Other traffic, or a storm, is there without it; a part of what was counted may be theirs.
detected: Pause counters rose in the quiet second before the load.
next: Look at it alone: `wireproof pfc --no-load`; keep other jobs off the hosts.

# pfc-unwatched: A host was not read
means: Its port may be the one that drops or pauses.
detected: Its readings before and after are not complete, or it has no such port.
next: Reach it (ssh, the engine at the same path), or leave it out of --hosts.
"""
