"""The causes, as data: signature of the culprit, signs, confidence, sentence and fix. ``explain``
matches them.

A new cause is one entry; ``{node}`` and ``{nic}`` in its sentences are filled in.
"""

from __future__ import annotations

from wireproof.locate.causes.rule import Rule, Shape
from wireproof.locate.causes.signs import (
    Above,
    Below,
    Differs,
    Explains,
    Grows,
    HeadersExplain,
    Is,
    IsNot,
    Less,
    Most,
    SettingDiffers,
    Unusual,
)

__all__ = ["OVERSUBSCRIBED", "ROUTE_BETWEEN", "RULES", "Rule"]

_NODE = frozenset({"node", "port", "switch"})
_WIRE = frozenset({"node", "port", "switch", "link", "pair"})
_BOTH = frozenset({"goodput", "hrt"})
_RATE = frozenset({"goodput"})
_ANY = {"": 1.0, "tx": 1.0, "rx": 1.0}
_MOSTLY_SENDS = {"": 0.8, "tx": 1.0, "rx": 0.5}
_MOSTLY_RECEIVES = {"": 0.8, "tx": 0.5, "rx": 1.0}


OVERSUBSCRIBED = Shape(
    "oversubscribed",
    0.8,
    "{subject} is slow only while many use it at once",
    "Nothing to repair: more up-links, or jobs placed below one switch.",
)
ROUTE_BETWEEN = Shape(
    "route-between",
    0.5,
    "neither end of {subject} is slow with others: what lies between them is",
    "Trace the route between the two (ibtracert, traceroute) and look at the errors of each port.",
    "slow in this pair only; both ends reach what is expected with their other partners",
)


_ERRORS = (
    "crc",
    "symbol_err",
    "symbolerr",
    "align_err",
    "link_error_recovery",
    "local_link_integrity",
    "excessive_buffer",
    "port_rcv_errors",
    "remote_physical",
    "rx_errors",
    "tx_errors",
    "rx_frame_errors",
    "tx_carrier_errors",
    "err_lane",
    "fec_uncorr",
    "uncorrectable",
    "lanes_err",
    "pcs_",
)
_DROPS = (
    "dropped",
    "discard",
    "missed",
    "no_buf",
    "nobuf",
    "out_of_buffer",
    "fifo_err",
    "over_err",
    "overrun",
    "rcvqdrop",
    "backlogdrop",
    "rcvbuferrors",
)
_PAUSE = ("pause", "xoff", "xmit_wait", "rx_pfc", "tx_pfc")
_RETRANSMITS = (
    "retrans",
    "tx_replay",
    "rcresend",
    "rcseqnak",
    "out_of_sequence",
    "packet_seq_err",
    "ack_timeout",
)

RULES: tuple[Rule, ...] = (
    Rule(
        "link-down",
        (Is("link_state", "down"),),
        0.95,
        "{node} {nic} has no carrier",
        "Look at cable and transceiver of {node} {nic}, and at the switch port's state.",
        no_setting="the state of a cable, which nothing sets",
    ),
    Rule(
        "other-nic",
        (Above("other_share", 0.5),),
        0.95,
        "another NIC of {node} than {nic} carried the bytes",
        "Name the NIC to the transport on {node} (UCX_NET_DEVICES, FI_TCP_IFACE,"
        " btl_tcp_if_include, PSM3_NIC) and "
        "check its routes.",
        no_setting="counted: which NIC a library chooses is a variable of each library",
    ),
    Rule(
        "bytes-on-no-nic",
        (Most("claimed_share", 0.05), Unusual("claimed_share")),
        0.6,
        "the bytes of {node} are on no NIC: shared memory or loopback carried them",
        "Place one rank on each host, and forbid shared memory below the library"
        " (UCX_TLS=tcp,self).",
        no_setting="counted: where the ranks run",
    ),
    Rule(
        "kernel-tcp",
        (Above("kernel_share", 0.5),),
        0.9,
        "kernel TCP carried the bytes of {node} {nic}, RDMA was claimed",
        "Check the provider and the RDMA device's state on {node} (ibv_devinfo, FI_PROVIDER,"
        " UCX_TLS).",
        no_setting="counted: which provider a library chooses is a variable of each library",
    ),
    Rule(
        "pcie-narrow",
        (
            Less("pcie_current_width", "pcie_max_width"),
            Unusual("pcie_current_width"),
            Explains("pcie_goodput"),
        ),
        0.85,
        "{nic} of {node} runs with fewer PCIe lanes than it has",
        metrics=_RATE,
        surer=(Explains("pcie_goodput", tight=True),),
        setting="pcie-width",
    ),
    Rule(
        "pcie-slow",
        (
            Less("pcie_current_speed", "pcie_max_speed"),
            Unusual("pcie_current_speed"),
            Explains("pcie_goodput"),
        ),
        0.85,
        "{nic} of {node} runs at a lower PCIe speed than it can",
        metrics=_RATE,
        surer=(Explains("pcie_goodput", tight=True),),
        setting="pcie-speed",
    ),
    Rule(
        "pcie-unlike-peers",
        (Below("pcie_goodput"), Explains("pcie_goodput")),
        0.8,
        "{nic} of {node} has a narrower PCIe link than the same NIC of other nodes",
        metrics=_RATE,
        surer=(Explains("pcie_goodput", tight=True),),
        setting="pcie-width-maximum",
    ),
    Rule(
        "speed-low",
        (Below("speed"),),
        0.9,
        "{nic} of {node} negotiated a lower speed than the others'",
        setting="link-speed",
    ),
    Rule(
        "duplex-half",
        (Is("duplex", "half"), Unusual("duplex")),
        0.9,
        "{nic} of {node} runs half duplex",
        setting="duplex",
    ),
    Rule(
        "mtu-small",
        (Below("mtu"),),
        0.6,
        "the MTU of {nic} on {node} is smaller than the others'",
        metrics=_RATE,
        surer=(HeadersExplain(),),
        sure=0.9,
        setting="mtu",
    ),
    Rule(
        "mtu-large",
        (Above("mtu", 1500.0, 1.01), Differs("mtu"), Grows(_RETRANSMITS + _DROPS)),
        0.8,
        "the MTU of {nic} on {node} is larger than the others', and packets are lost",
        setting="mtu",
    ),
    Rule(
        "link-flaps",
        (Grows(("link_downed", "link_down", "carrier_changes", "tx_carrier_errors"), least=1),),
        0.85,
        "the link of {node} {nic} went down and came back",
        kinds=_WIRE,
        setting="carrier-changes",
    ),
    Rule(
        "errors-received",
        (Grows(_ERRORS, without=("tx_", "xmit"), least=3),),
        0.9,
        "link errors rise at the receiving side of {node} {nic}",
        "Clean or replace the cable and transceiver between {node} and its switch; read the switch"
        " port's errors too.",
        kinds=_WIRE,
        directions=tuple(_MOSTLY_RECEIVES.items()),
        no_setting="counters of a link",
    ),
    Rule(
        "errors-sent",
        (Grows(_ERRORS, without=("rx_", "rcv"), least=3),),
        0.8,
        "link errors rise at the sending side of {node} {nic}",
        "Replace the cable or transceiver of {node} {nic}; read the switch port's receive errors.",
        kinds=_WIRE,
        directions=tuple(_MOSTLY_SENDS.items()),
        no_setting="counters of a link",
    ),
    Rule(
        "drops-received",
        (Grows(_DROPS, without=("tx_", "xmit", "outdisc"), least=20),),
        0.6,
        "{node} drops what arrives: it cannot take it as fast as it comes",
        "Raise the receive ring (ethtool -G) and socket buffers, spread interrupts, look for a"
        " busy core on {node}.",
        directions=tuple(_MOSTLY_RECEIVES.items()),
        no_setting="counters: rings, buffers and a busy core may each be the reason",
    ),
    Rule(
        "drops-sent",
        (Grows(("tx_dropped", "xmit_discards", "outdiscards", "tx_discard"), least=20),),
        0.6,
        "{node} drops what it should send",
        "Look at queueing (tc -s qdisc), the transmit ring and rate limits of {node} {nic}.",
        directions=tuple(_MOSTLY_SENDS.items()),
        no_setting="counters: queueing, rings and limits may each be the reason",
    ),
    Rule(
        "paused",
        (Grows(_PAUSE, without=("tx_",), least=100),),
        0.6,
        "{node} {nic} is asked to stop sending (pause frames, no credits)",
        "Look for the receiver or the switch behind it that cannot keep up, and for pause storms.",
        kinds=_WIRE,
        directions=tuple(_MOSTLY_SENDS.items()),
        no_setting="counters: the reason is at the other end",
    ),
    Rule(
        "pauses-others",
        (Grows(_PAUSE, without=("rx_", "xmit_wait"), least=100),),
        0.7,
        "{node} {nic} asks others to stop: it cannot take what arrives",
        "Look at PCIe, memory and receive buffers of {node}; a stuck NIC that pauses its switch"
        " hurts others too.",
        directions=tuple(_MOSTLY_RECEIVES.items()),
        no_setting="counters: PCIe, memory and buffers may each be the reason",
    ),
    Rule(
        "sends-again",
        (Grows(_RETRANSMITS, least=20),),
        0.5,
        "{node} retransmits what was lost on its path",
        "Look for drops and errors along the path of {node}: its switch port, pause and ECN"
        " settings, MTU.",
        kinds=_WIRE,
        directions=tuple(_MOSTLY_SENDS.items()),
        no_setting="counters: loss, errors and MTU of the path may each be the reason",
    ),
    Rule(
        "queue-limits-rate",
        (Below("queue_goodput"), Explains("queue_goodput")),
        0.9,
        "a queueing rule on {nic} of {node} limits its rate",
        "Look at `tc -s qdisc show dev {nic}` and `tc class show dev {nic}` on {node}; remove the"
        " limit.",
        metrics=_RATE,
        directions=(("", 0.7), ("tx", 1.0), ("rx", 0.2)),
        surer=(Explains("queue_goodput", tight=True),),
        no_setting="a rule set by hand, without a value of its own",
    ),
    Rule(
        "queueing-differs",
        (Differs("queueing"),),
        0.5,
        "{nic} of {node} has another queueing discipline than the others: it may limit the rate",
        "Compare `tc -s qdisc show dev {nic}` with another node; remove the limit (tc qdisc del"
        " dev {nic} root).",
        no_setting="a rule set by hand, without a value of its own",
    ),
    Rule(
        "busy",
        (Above("busy_share", 0.2, 3.0),),
        0.7,
        "the scheduler takes the processor away on {node}: it is oversubscribed",
        "Look for other jobs and daemons on {node}, pin one rank per core, and check what the"
        " job's cgroup may use.",
        no_setting="contention: what else runs",
    ),
    Rule(
        "loaded",
        (Above("load", 1.0, 2.0),),
        0.5,
        "{node} is under load by other programs",
        setting="load",
    ),
    Rule(
        "governor",
        (IsNot("governor", "performance"), Differs("governor")),
        0.5,
        "{node} has another frequency governor than the others",
        setting="cpu-governor",
    ),
    Rule(
        "frequency-capped",
        (Below("max_frequency"),),
        0.5,
        "the processors of {node} may not run as fast as the others'",
        setting="clock-of-hardware",
    ),
    Rule(
        "no-turbo",
        (Is("no_turbo", "1"), Differs("no_turbo")),
        0.4,
        "turbo is off on {node} and on for the others",
        setting="turbo",
    ),
    Rule(
        "processor-slow",
        (Above("clock_read", 5.0, 1.4),),
        0.35,
        "the processor of {node} is slow: reading its clock takes longer than elsewhere",
        "Look for throttling (temperature, power cap), a low frequency or another clock source on"
        " {node}.",
        no_setting="a sign of many reasons",
    ),
    Rule(
        "numa-far",
        (Is("numa_far", "yes"), Differs("numa_far")),
        0.6,
        "the rank of {node} runs on another socket than {nic}",
        "Bind the rank to the NIC's socket on {node}, as on the other nodes.",
        no_setting="where the rank runs",
    ),
    Rule(
        "clock-apart",
        (Above("clock_apart", 0.03, 5.0),),
        0.6,
        "the clock of {node} runs differently from its partners': its times are not reliable",
        "Look at the clock source and time synchronisation of {node}; measure it again.",
        no_setting="measured, and nothing sets it",
    ),
    Rule(
        "adapter-differs",
        (Differs("adapter"),),
        0.5,
        "{node} has another model of NIC than the others",
        setting="board",
    ),
    Rule(
        "driver-differs",
        (Differs("driver"),),
        0.5,
        "{node} has another NIC driver than the others",
        "Give {node} the driver of the other nodes.",
        no_setting="a package that is installed",
    ),
    Rule(
        "firmware-differs",
        (Differs("firmware"),),
        0.4,
        "{node} has another NIC firmware than the others",
        setting="firmware",
    ),
    Rule(
        "library-differs",
        (Differs("library"),),
        0.4,
        "{node} runs another MPI library than the others",
        "Start the same MPI on {node}: compare modules, LD_LIBRARY_PATH and containers.",
        no_setting="a package that a job loads",
    ),
    Rule(
        "setting-differs",
        (SettingDiffers(),),
        0.3,
        "{node} is set up differently from the others",
        "Bring the settings of {node} in line with the other nodes.",
        no_setting="any of them: the evidence names it",
    ),
    Rule(
        "kernel-differs",
        (Differs("kernel"),),
        0.25,
        "{node} runs another kernel than the others",
        setting="kernel-release",
    ),
    Rule(
        "bios-differs",
        (Differs("bios"),),
        0.2,
        "{node} has another BIOS version than the others",
        setting="bios-version",
    ),
)
