"""Shortest and usual latency of each kind of link: half a round trip of a small message, with where
it is known from.

A floor is never above what anybody has published as measured. All of them are literature: adapters
are not bound to the generation of the link that they happen to run at.
"""

from __future__ import annotations

__all__ = ["ROWS"]

_L = "fabric practice and data sheets (L)"
_EST = (
    "an estimate: no measured value is known here, the adapter's generation before it taken as "
    "the bound (L)"
)

ROWS: tuple[tuple[str, float, str, str, bool], ...] = (
    ("floor.shm", 150, "ns", f"same socket, {_L}", True),
    (
        "floor.loopback",
        1500,
        "ns",
        f"two passes through the kernel's sockets without a device, {_L}",
        True,
    ),
    ("floor.tcp", 8000, "ns", f"kernel TCP below 10 GbE, {_L}", True),
    (
        "floor.tcp_10",
        6000,
        "ns",
        f"kernel TCP at 10 to 24 Gb/s, polling sockets (net.core.busy_poll), {_L}",
        True,
    ),
    (
        "floor.tcp_25",
        5000,
        "ns",
        f"kernel TCP from 25 Gb/s, polling sockets: about 5 us (Solarflare's page), {_L}",
        True,
    ),
    (
        "floor.tcp_virtual",
        2500,
        "ns",
        "kernel TCP over virtual Ethernet: no device, no wire; 6.4 us measured",
        True,
    ),
    (
        "floor.tcp_bypass",
        900,
        "ns",
        f"TCP or UDP in user space: libvma 1.2 us, Onload and TCPDirect about 1 us, {_L}",
        True,
    ),
    ("floor.tcp_ipoib", 7000, "ns", f"IPoIB, IPoFabric, {_L}", True),
    (
        "floor.rocev2",
        1000,
        "ns",
        f"from 100 Gb/s: ConnectX-6 Dx 1.0 us by MPI, 0.75 to 0.85 us by verbs, {_L}",
        True,
    ),
    ("floor.rocev2_25", 1100, "ns", f"25 to 56 Gb/s: ConnectX-4 Lx and later, {_L}", True),
    ("floor.rocev2_10", 1200, "ns", f"below 25 Gb/s: ConnectX-2 and -3 EN 1.3 us, {_L}", True),
    (
        "floor.sdr",
        1200,
        "ns",
        "InfiniPath 1.26 us (QLogic IB6054601-00 D, osu_latency); HTX 1.29 us (EuroBen 2008)",
        True,
    ),
    (
        "floor.ddr",
        1000,
        "ns",
        "InfiniPath 1.05 us (QLogic IB6054601-00 H); ConnectX 1.4 us (Open MPI devel 2158)",
        True,
    ),
    (
        "floor.qdr",
        900,
        "ns",
        f"ConnectX-2 1 us (its data sheet), True Scale 1.0 to 1.2 us, {_L}",
        True,
    ),
    ("floor.fdr", 850, "ns", f"FDR10 and FDR: Connect-IB 0.99 to 1.05 us, {_L}", True),
    (
        "floor.infiniband",
        700,
        "ns",
        "of an unknown generation: the least of them; set it, and it holds for all",
        True,
    ),
    (
        "floor.edr",
        750,
        "ns",
        "0.90 us osu_latency, 0.81 us ib_send_lat back to back (public tables)",
        True,
    ),
    (
        "floor.hdr",
        750,
        "ns",
        "ConnectX-6: less than 0.6 us for the adapter alone (NVIDIA); 0.9 us by MPI (L)",
        True,
    ),
    ("floor.ndr", 700, "ns", _EST, True),
    ("floor.xdr", 700, "ns", _EST, True),
    ("floor.omnipath", 750, "ns", f"Omni-Path 100 back to back, {_L}", True),
    ("floor.cn5000", 700, "ns", f"{_EST}; its switch takes less than 0.1 us (Cornelis)", True),
    (
        "floor.omnipath_switched",
        850,
        "ns",
        f"Omni-Path 100 over one switch of 100 to 110 ns, {_L}",
        True,
    ),
    ("floor.truescale", 1000, "ns", _L, True),
    (
        "floor.fabric",
        490,
        "ns",
        "fabrics of one maker; TofuD: 0.49 us for a put of 8 B (Ajima and others, Cluster 2018)",
        True,
    ),
    ("floor.iwarp", 1400, "ns", f"Chelsio T5 and T6 1.5 us; X722 5 us and more, {_L}", True),
    (
        "floor.any_nic",
        600,
        "ns",
        f"no discrete PCIe NIC is below 0.6 to 0.7 us half round trip, {_L}",
        True,
    ),
    (
        "floor.literature_margin",
        0.6,
        "1",
        "below this share of a literature floor is a contradiction, not a doubt",
        True,
    ),
    (
        "floor.literature_doubt",
        0.8,
        "1",
        "between this share of a literature floor and the floor: only a note",
        True,
    ),
    (
        "floor.any_nic_margin",
        0.8,
        "1",
        "below this share of floor.any_nic no NIC is left as an explanation",
        True,
    ),
    (
        "floor.verbs_share",
        0.75,
        "1",
        "raw verbs (perftest) need no MPI: this share of the protocol's floor",
        True,
    ),
    ("floor.psm3", 1500, "ns", f"PSM3 datagrams over RoCE, {_L}", True),
    (
        "floor.efa",
        6000,
        "ns",
        (
            "to 100 Gb/s: 9.9 us by MPI on hpc6a (aws-parallelcluster 6449), 24 us cold "
            f"(magic_castle 331), {_L}"
        ),
        True,
    ),
    (
        "floor.efa_200",
        4000,
        "ns",
        f"from 200 Gb/s, generations 2 and 3: a third less than the one before, {_EST}",
        True,
    ),
    (
        "floor.slingshot_10",
        1200,
        "ns",
        f"Slingshot 10 (ConnectX-5, 100 Gb/s) within a group, {_L}",
        True,
    ),
    ("floor.slingshot", 1200, "ns", f"Slingshot 11 (200 Gb/s) within a group, {_L}", True),
    ("floor.slingshot_400", 1000, "ns", _EST, True),
    ("typical.shm", 1500, "ns", f"across sockets, {_L}", True),
    ("typical.loopback", 30000, "ns", _L, True),
    (
        "typical.tcp",
        60000,
        "ns",
        f"10 to 25 us at 10 GbE, 20 to 60 at 1 GbE or in containers, {_L}",
        True,
    ),
    ("typical.tcp_ipoib", 25000, "ns", _L, True),
    ("typical.rocev2", 3500, "ns", f"E810 up to 3.5 us, ConnectX 1.3 to 2.2, {_L}", True),
    ("typical.iwarp", 12000, "ns", f"6 to 12 us, {_L}", True),
    ("typical.psm3", 4000, "ns", _L, True),
    (
        "typical.sdr",
        5000,
        "ns",
        "4.1 us by MPI over PCI Express (IBM 2005), 3 to 5 us (Microsoft 2007)",
        True,
    ),
    ("typical.ddr", 3000, "ns", f"1.4 to 2.5 us, {_L}", True),
    (
        "typical.infiniband",
        1600,
        "ns",
        (
            "0.86 to 1.1 us at EDR and later, up to 1.9 at QDR; 2.5 is taken as a fault "
            "(ngc_multinode_perf 97)"
        ),
        True,
    ),
    ("typical.omnipath", 1600, "ns", _L, True),
    ("typical.truescale", 2000, "ns", _L, True),
    ("typical.efa", 25000, "ns", "10 to 18 us warm, 24 to 30 cold (the same tables)", True),
    ("typical.fabric", 4000, "ns", "1 to 2 us (Aries, Tofu-D), 3 us and more (Myrinet) (L)", True),
    ("typical.slingshot", 2500, "ns", _L, True),
    ("typical.margin", 2.5, "1", "slower than this many times the usual is not usual", True),
)
