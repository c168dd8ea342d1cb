"""Entries about PSM3's and PSM2's own counters. A code, once printed, keeps its meaning."""

from __future__ import annotations

__all__ = ["PSM"]

PSM = """\
## PSM3's own counters

# psm-shared-memory: PSM3 sent next to nothing by a NIC
means: The library itself says that its messages went by shared memory or stayed within a process:
  no wire was measured.
detected: Less than 5 % of the sent bytes (of the messages, where all were empty) is left when
  shm_bytes_sent and self_bytes_sent are taken from Total_bytes_sent.
next: Put one rank on each host (-ppn 1; under Slurm --ntasks-per-node=1); PSM3_DEVICES=self,nic
  with PSM3_NIC_LOOPBACK=1 forces the NIC even within a host.

# psm-partly-memory: A part of PSM3's messages stayed within hosts
means: Ranks that share a host talk through shared memory: usual for an application, and a mixture
  of paths for a benchmark.
detected: shm_bytes_sent and self_bytes_sent are more than nothing, and NICs carried more than 5 %.
  A warning where a wire is claimed and more than 5 % stayed within hosts.
next: For a benchmark of the wire put one rank on each host.

# psm-rail-idle: A rail carried next to nothing
means: A process opened several NICs and one of them was not used: striping is not proven.
detected: Less than 5 % of the mean of the process's NICs, at 1 MiB or more in all.
next: Send several messages at once (whole messages alternate between the rails), and check
  PSM3_MULTIRAIL and PSM3_MULTIRAIL_MAP on both ends.

# psm-rails-unequal: The rails carried different amounts
means: PSM3 gives every rail an equal share whatever its speed; here the shares differ, so striping
  is not proven.
detected: A NIC of a process carried more than 1.10 times the mean, at 1 MiB or more in all.
next: Use rails of one speed, send more messages, and look at the errors of the rail that carried
  less.

# psm-retransmits: PSM3 sent packets again
means: Packets were lost, or came so late that they were taken for lost. A loss costs at least a
  round trip and the packets sent meanwhile, or PSM3_ERRCHK_TIMEOUT (160 ms).
detected: send_rexmit and rdma_rexmit, or nak_recv where these are zero. Rated by the lower bound
  (95 %) of the count over the packets: the larger of scb_alloc and bytes / PSM3_MTU, so that the
  true share may be smaller. Above 1e-6 a warning; above 1e-4 with the verbs HAL, which
  needs a lossless fabric, a failure; both limits are our own judgement.
next: Look at drops and pauses of NICs and switches (wireproof prove shows the hosts'); RoCE needs
  PFC on every hop. Fewer credits (PSM3_FLOW_CREDITS=16:32:4) show whether pacing helps: then PFC is
  wrong.

# psm-late-answers: Acknowledgements came late
means: A sender asked its peer after PSM3_ERRCHK_TIMEOUT (160 ms at first) and nothing was missing:
  the peer did not call the library for that long.
detected: err_chk_send, err_chk_recv or their RDMA forms, while nothing was sent again and no gap
  was named.
next: Look at the peer: more ranks than cores, or long computing without communication
  (PSM3_RCVTHREAD helps).

# psm-pfc-not-lossless: Packets were lost although ports paused
means: Flow control is at work and yet packets are sent again: headroom too small, a hop without
  PFC, or traffic in another priority.
detected: What psm-retransmits detects, with the verbs HAL, while pause or PFC counters of the
  hosts' ports rose.
next: Compare the headroom (wireproof plan pfc), PFC and priorities on every hop, switches between
  leaf and spine included.

# psm-credit-stalls: Sending waited for credits
means: The receiver's credits ran out: packets wait at the sender. Without losses this is flow
  control doing its work, or too few credits for the round trip; with losses it is congestion.
detected: pio_no_flow_credits and pio_no_flow_credit_bytes are more than 10 % of the packets sent. A
  warning where packets were sent again too; the limit is our own judgement.
next: Without losses try more credits (PSM3_FLOW_CREDITS=64:256:16) and keep them if it is faster;
  with losses first make the fabric lossless.

# psm-errors: PSM3 counted what should not occur
means: Packets of unknown kind or from unknown peers, failed work requests, lost connections: a
  broken link, two jobs with one key, or a device in trouble.
detected: Any count of unknown_packets, stray_packets, post_send_fail, connections_lost,
  reconnect_started, connect_req_rej, rep_proc_err or of a failed completion. Connections lost,
  failed completions and unknown packets are failures, the others warnings.
next: Read the error counters of the device (/sys/class/infiniband/*/ports/1/hw_counters) and the
  kernel log of the host.

# psm-rendezvous-without-rdma: Rendezvous messages did not use RDMA
means: Large messages were sent packet by packet by the CPU, although the mode promises RDMA.
detected: rndv_long_*_send_bytes above zero. A failure where PSM3_RDMA of 1 or more was set and
  nothing went by RDMA, a warning where a part did; without a mode it is a note.
next: Look for registrations that failed (failed_reg_mr, PSM3_RV_MR_CACHE_SIZE) and whether /dev/rv
  exists; wireproof study psm3 shows which mode was really taken.

# psm-rdma-not-in-use: The RDMA mode that was set is not in force
means: The build or the host lacks what the mode needs (rv module, user RC), and the library went on
  without RDMA: it prints a warning, and yet lists the mode as taken.
detected: PSM3_RDMA of 1 or more is stated, the HAL is verbs, and the file has neither
  TID_Flow_Statistics nor RV_Shared_Conn_RDMA_Statistics, which any RDMA mode registers (compared on
  soft-RoCE with modes 0 to 3).
next: Look for "PSM built without" in the output; take a mode that is there (2 or 3 without the rv
  module), or a build that has it.

# psm-ranks-disagree: The ranks are not alike
means: Ranks of one job use another transport, mode, build or setting than others.
detected: HAL, PSM3_RDMA (failures), build, flavour of sockets, number of rails, NIC speed, MTU,
  credits, rendezvous threshold (warnings) differ between files.
next: Give the settings to all ranks (mpiexec -genv, /etc/psm3.conf on every host) and load one
  library everywhere.

# psm-setting-refused: A setting was not taken
means: The library could not use the value and went on with another, which is easily overlooked.
detected: A line "Invalid value ... Using:", or a PSM3_NIC of nothing but hexadecimal digits, which
  PSM3 reads as a unit's number before it looks for a name.
next: Correct the value; a NIC called fab0 is found by the pattern fab?.

# psm-late-receives: Messages came before their receives were posted
means: More than half of the messages waited in buffers of the library and were copied once more.
detected: Unexpected_count_recv above half of Total_count_recv, at 1000 messages or more.
next: Post receives before the peers send (MPI_Irecv early); it is the application's pattern, not
  the network.

# psm-long-queues: Long queues of posted receives
means: Each message was compared with many posted receives before its own was found.
detected: Expected_avg_search_cmp above 64, from where on PSM3 hashes (PSM3_MQ_HASH_THRESH).
next: Post fewer receives at once, or use fewer wildcards (MPI_ANY_SOURCE), which cannot be hashed.

# psm-nothing-moved: No message was counted
means: The library was loaded and sent nothing: this says nothing about a network.
detected: Total_count_sent and Total_count_recv are absent or zero.
next: Check that the program communicates through PSM3 (FI_PROVIDER=psm3, I_MPI_FABRICS=ofi) and
  that a NIC was found.

# psm-no-files: No statistics of PSM3 were written
means: Nothing is known of what the library did.
detected: The folder given as PSM3_PRINT_STATS_PREFIX holds no statistics file when the command has
  ended.
next: Check that PSM3 was used (FI_PROVIDER=psm3), that all hosts see the working directory, and
  that the launcher passes PSM3_PRINT_STATS and PSM3_PRINT_STATS_PREFIX on (Open MPI: -x NAME).

# psm-file-incomplete: A statistics file is not whole
means: The process was killed, or the file was cut or changed: what it lacks is not known.
detected: The text ends within a line or a block, a group stands twice in a block, or a counter and
  its difference do not fit the block before.
next: Let the job end by itself, and copy the files after it has ended.

# psm-ranks-missing: Files of some ranks are missing
means: What these ranks did is not known.
detected: The identify line states more ranks than there are files of different ranks.
next: Give PSM3_PRINT_STATS_PREFIX a folder that all hosts share, or collect the files of all hosts.

# psm-jobs-mixed: Files of several jobs
means: Two files belong to the same rank: sums over them mean nothing.
detected: A process (its host and rank, or its number) occurs twice.
next: Judge the files of each job alone.

# psm-sums-differ: The counters do not add up
means: Two countings of the same bytes differ, so one of them is not complete.
detected: The summary's bytes by NIC and the sum of the NICs' own counters differ by more than 1 %,
  or what all ranks sent and received does.
next: Use the default PSM3_PRINT_STATSMASK, and PSM3_PRINT_STATS=-1 so that counting ends with the
  job.

# psm-layout-unchecked: A layout that was never seen for real
means: The file was read by the source code of its library alone.
detected: The file has the layout of libfabric before 1.20, or of PSM2_MQ_PRINT_STATS.
next: Compare a few numbers by hand, and report the file's first lines.

# psm-port-agrees: Port and library count the same
means: The port's counters and PSM3's own are two witnesses, and they agree.
detected: Bytes of the port are at least 98 % of the payload that PSM3 counted at the NIC, and at
  most what its packets' headers and answers explain.
next: Nothing is to be done.

# psm-port-disagrees: Port and library do not agree
means: PSM3 counts bytes at a NIC that its port did not see, or the port carried more than PSM3 and
  its headers explain.
detected: Per host and NIC, out and in: the port below 98 % of PSM3's payload is a failure; above it
  by more than headers, answers and the start of the programs it is a warning.
next: Below: find where the bytes went (a virtual device, another namespace). Above: keep other
  traffic off the port.

# psm-port-unread: A NIC that PSM3 used was not watched
means: There is no second witness for this NIC.
detected: PSM3 counted bytes at a NIC of which the host's reading has no port, or the host was not
  read.
next: Name the hosts with --hosts, and look at docs/adapters.md for what can be read of the adapter.
"""
