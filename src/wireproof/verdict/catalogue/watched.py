"""Entries about watched commands (``wireproof prove``)."""

from __future__ import annotations

__all__ = ["WATCHED"]

WATCHED = """\
## a watched command

# traffic-on-wire: The printed bytes crossed the port
means: At least as many bytes crossed the claimed port (or, without a claim, the ports) as the
  printed rows account for.
detected: Bytes of the busiest sender and of the busiest receiver, less the background, are 98 % or
  more of iterations x size; without printed iterations, of one window per row, and the port's peak
  is 70 % or more of the best printed rate or five times as many bytes crossed.
next: Nothing; hold the rate against the link with --link, or judge the log.

# traffic-off-wire: The printed bytes crossed no port
means: The command printed rates of messages that no port of the watched hosts carried: they went
  through memory.
detected: Less than 5 % of the least bytes that the printed rows account for (and 256 KiB for the
  start of the programs) crossed the claimed port, other ports and loopback.
next: Check placement (-ppn 1, --map-by node) and transport (UCX_TLS, FI_PROVIDER, btl); do not use
  these numbers.

# traffic-loopback: The printed bytes went over loopback
means: The programs talked through the kernel's sockets within one host.
detected: The claimed port carried less than 5 % of the least bytes, and lo carried 90 % or more of
  them.
next: Give the address of another host, and one rank per host; do not use these numbers as a link's.

# traffic-wrong-path: Another port carried the printed bytes
means: The traffic used a wire, but not the NIC that was claimed.
detected: The claimed port carried less than 5 % of the least bytes, another one 90 % or more of
  them.
next: Select the NIC (FI_TCP_IFACE, UCX_NET_DEVICES, btl_tcp_if_include, PSM3_NIC), or claim the one
  that was used.

# traffic-mixed: Part of the printed bytes crossed the port
means: Some messages used the claimed port and some another port or memory; the printed rate is a
  mixture of paths.
detected: Between 5 % and 98 % of the least bytes that the printed rows account for crossed the
  claimed port.
next: Put one rank on each host, select one NIC, and run again; benchmarks of several process counts
  also print rows whose ranks share a host.

# traffic-inside-adapter: The adapter turned the printed bytes round inside
means: Both ends are functions of one adapter, whose own switch passed the bytes: no wire.
detected: Counters of the function or the interface saw the bytes, and those of the physical port
  did not.
next: Run the ends on hosts with adapters of their own.

# traffic-one-adapter: Both ends are functions of one adapter
means: What is counted at a function of an adapter includes what its own switch turns round.
detected: The claimed ports of two hosts state one identity, and no counter of the physical port can
  be read.
next: Run the ends on hosts with adapters of their own, or read the physical function's counters.

# traffic-adapter-unknown: The adapter is not in the catalogue
means: What this driver's counters include is not known here, so they are no evidence.
detected: The driver that sysfs names for the port is in no family of docs/adapters.md.
next: Report the driver with `ethtool -S`; use the switch's own counters meanwhile.

# traffic-one-kernel: Two of the hosts are one machine
means: Two of the hosts run on one kernel (containers, network namespaces, a name twice): their
  bytes need no wire, whatever their interfaces counted.
detected: Equal boot ids at both ends, and no counter of a physical port.
next: Run the command between two machines; --lab for a virtual cluster that is meant to be one.

# traffic-not-its-own: The bytes on the port are other traffic
means: Enough bytes crossed, but not in the packets or not at the rate that the printed
  results imply.
detected: Fewer packets than messages that cannot be merged, a peak below what a row's bytes and
  time need, or one far above what any row can put on a port.
next: Keep other traffic off the port and run again; check placement and transport.

# traffic-contradicted: The printed numbers exclude the wire
means: The port carried enough bytes, and the program printed numbers that no such link can give.
detected: The judgement of the log (`wireproof judge`) calls it off-wire.
next: As for traffic-off-wire: check placement and transport; keep other traffic off the port.

# traffic-rival-port: Two ports could have carried it
means: Another port moved as many bytes, in as many packets, as fast as was printed.
detected: Bytes of other ports of 98 % of the least or more, and a peak of 70 % of the printed rate
  or more.
next: Keep other traffic off that port.

# traffic-rate-above-peak: A rate was printed that no port ever had
means: Without iterations in the output the bytes alone prove little, but no port came near the
  printed rate.
detected: The peak over one interval is below 10 % of the best printed rate, and less crossed than
  10 ms of it (and 4 MiB).
next: As for traffic-off-wire; let the program print its iterations, or run longer.

# traffic-rate-unseen: The printed rate was not seen at the port
means: Bytes crossed the port, but its peak over one interval is well below the best printed rate.
detected: The peak is below 70 % of the best printed rate.
next: Run longer (-i, -iter, -t), or read more often (--interval 20ms); then the phase is longer
  than an interval.

# traffic-no-number: There is nothing to hold the traffic against
means: The command printed no result that is known here; its traffic is reported, and proves nothing
  about a number.
detected: No table of a known benchmark in the output or in the files given with --results.
next: Let the program print its usual table; for files use --results FILE.

# traffic-too-little: Too few bytes to tell
means: The rows account for so few bytes that the start of the programs could hide them, or be taken
  for them.
detected: Less than 512 KiB in one direction, by iterations x size (one window per row without
  iterations).
next: Measure larger messages, or more iterations.

# traffic-background: The background is as large as the doubt
means: Other traffic on the port before the command is too large to say whose bytes were counted.
detected: The bytes crossed are enough or not enough, depending on the background of the idle
  second.
next: Run on a quiet port, or longer.

# traffic-unreadable: A counter that would tell is not there
means: No counter of the claimed port could be read before and after, or its unit is not known.
detected: The port is missing, a host gave no readings, or the driver's counter is not readable or
  of unknown unit.
next: Name the port with --nic as `ip link` or `ibv_devices` does; see `wireproof doctor` for what
  can be read.

# traffic-unwatched: A host's ports were not read
means: The command touches a host that was not watched; what its ports carried is unknown.
detected: The watch could not be started or broke off, or the output names a host that is not among
  the watched.
next: Give all hosts with --hosts; the engine must be at the same path there, and ssh must need no
  password.

# traffic-one-end: Only one end of the wire was watched
means: One host was read; that bytes left it does not say where they arrived.
detected: One host with readings.
next: Give both hosts with --hosts.

# traffic-above-link: The port was faster than the claimed link
means: The peak of a port is above the line rate that was claimed: another link, several of them, or
  a wrong claim.
detected: Peak over one interval above 105 % of the claimed line rate.
next: Correct --link; see the NIC's own speed in the table.

# traffic-retransmits: Messages were sent again
means: TCP or the NIC repeated packets while the command ran: loss, reordering or a full buffer on
  the way.
detected: RetransSegs of /proc/net/snmp or retransmission counters of the NIC rose; a warning above
  0.1 % of segments.
next: Look at drops of both ends and of the switch; for RoCE at PFC and ECN.

# traffic-drops: A host dropped packets
means: A port, a queue or a socket had no room, or received damaged frames.
detected: Drop or error counters of a NIC, or UDP's buffer errors, rose while the command ran.
next: Look at ring sizes, socket buffers, the cable and the switch's port.

# traffic-pauses: A port was paused
means: Flow control stopped a sender: a slow receiver or a congested switch.
detected: Pause, PFC or xmit-wait counters rose while the command ran.
next: On a lossless fabric this is its normal work; many pauses without load name the slow receiver.
"""
