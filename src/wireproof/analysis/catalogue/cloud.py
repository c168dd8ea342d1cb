"""Adapters of clouds and hypervisors: EFA and ena, gve, mana and netvsc, erdma, virtio, vmxnet3,
Xen.
"""

from __future__ import annotations

from wireproof.analysis.catalogue.build import hw_counters, netdev
from wireproof.analysis.catalogue.row import Family

__all__ = ["CLOUD"]

EFA = Family(
    name="Amazon EFA (efa)",
    drivers=("efa*",),
    rows=(
        hw_counters(
            "tx_bytes",
            "rx_bytes",
            "linux drivers/infiniband/hw/efa/efa_verbs.c efa_fill_port_stats (linux 5.15 and "
            "later: of the port); unchecked: whether the bytes of RDMA read and write are in it",
            packets_tx="tx_pkts",
            packets_rx="rx_pkts",
            quality="lower-bound",
        ),
        hw_counters(
            "tx_bytes",
            "rx_bytes",
            "linux 5.4 to 5.14 drivers/infiniband/hw/efa/efa_verbs.c efa_alloc_hw_stats: of the "
            "device too; unchecked: whether the bytes of RDMA read and write are in it",
            of_port=False,
            packets_tx="tx_pkts",
            packets_rx="rx_pkts",
            quality="lower-bound",
        ),
    ),
    source="linux drivers/infiniband/hw/efa; github amzn/amzn-drivers kernel/linux/efa",
    note="A virtual adapter: two instances on one server may exchange bytes that never leave it.",
)

ENA = Family(
    name="Amazon ENA (ena)",
    drivers=("ena",),
    rows=(
        netdev(
            "linux drivers/net/ethernet/amazon/ena/ena_netdev.c ena_get_stats64: rings, live",
            misses="EFA, which is another adapter",
        ),
    ),
    source="linux drivers/net/ethernet/amazon/ena",
)

GVE = Family(
    name="Google gVNIC (gve)",
    drivers=("gve", "gvnic"),
    rows=(netdev("linux drivers/net/ethernet/google/gve/gve_main.c gve_get_stats: rings, live"),),
    source="linux drivers/net/ethernet/google/gve",
)

MANA = Family(
    name="Microsoft Azure Network Adapter (mana, mana_ib)",
    drivers=("mana", "mana_ib*"),
    rows=(
        hw_counters(
            "tx_bytes",
            "rx_bytes",
            "linux drivers/infiniband/hw/mana/counters.c mana_ib_get_hw_port_stats (2025 and "
            "later; before that events only): bytes and packets of the function, asked for on "
            "request",
            packets_tx="tx_packets",
            packets_rx="rx_packets",
        ),
        netdev(
            "linux drivers/net/ethernet/microsoft/mana/mana_en.c mana_get_stats64: rings, live",
            misses="RDMA",
        ),
    ),
    source="linux drivers/net/ethernet/microsoft/mana, drivers/infiniband/hw/mana",
)

NETVSC = Family(
    name="Hyper-V and Azure synthetic adapter (hv_netvsc)",
    drivers=("hv_netvsc", "netvsc"),
    kinds=("netvsc", "hv_netvsc"),
    rows=(
        netdev(
            "linux drivers/net/hyperv/netvsc_drv.c netvsc_get_stats64: rings and the virtual "
            "function's packets together",
            misses="RDMA",
            quality="double",
        ),
    ),
    source="linux drivers/net/hyperv/netvsc_drv.c",
    stacked=True,
    note="With accelerated networking the packets go by a virtual function beneath; its interface "
    "counts them too.",
)

FAILOVER = Family(
    name="failover of a virtual machine (net_failover)",
    drivers=("net_failover", "failover"),
    kinds=("failover",),
    rows=(
        netdev(
            "linux drivers/net/net_failover.c net_failover_get_stats: the sum of both",
            quality="double",
        ),
    ),
    source="linux drivers/net/net_failover.c",
    stacked=True,
    note="A virtio interface and a virtual function beneath it count the same packets.",
)

ERDMA = Family(
    name="Alibaba eRDMA (erdma)",
    drivers=("erdma*",),
    rows=(
        hw_counters(
            "tx_bytes_cnt",
            "rx_bytes_cnt",
            "linux drivers/infiniband/hw/erdma/erdma_verbs.c erdma_descs (2023 and later): the "
            "firmware's numbers; unchecked: whether the bytes of retransmissions and headers are "
            "in it",
            packets_tx="tx_packets_cnt",
            packets_rx="rx_packets_cnt",
            quality="lower-bound",
        ),
    ),
    source="linux drivers/infiniband/hw/erdma",
    note="Its Ethernet side is a virtio_net interface.",
)

VIRTIO = Family(
    name="virtio (virtio_net)",
    drivers=("virtio_net",),
    rows=(netdev("linux drivers/net/virtio_net.c virtnet_stats: queues, live"),),
    source="linux drivers/net/virtio_net.c",
    note="Two guests of one hypervisor may exchange bytes that never leave it.",
)

VMXNET3 = Family(
    name="VMware (vmxnet3)",
    drivers=("vmxnet3",),
    rows=(
        netdev("linux drivers/net/vmxnet3/vmxnet3_ethtool.c vmxnet3_get_stats64: read on request"),
    ),
    source="linux drivers/net/vmxnet3",
)

PVRDMA = Family(
    name="VMware paravirtual RDMA (vmw_pvrdma)",
    drivers=("vmw_pvrdma*",),
    rows=(),
    source="linux drivers/infiniband/hw/vmw_pvrdma: no counters",
    blind=("rdma",),
)

XEN = Family(
    name="Xen (xen-netfront)",
    drivers=("vif", "xen_netfront", "xen-netfront"),
    rows=(netdev("linux drivers/net/xen-netfront.c xennet_get_stats64: software, live"),),
    source="linux drivers/net/xen-netfront.c",
)

CLOUD = (EFA, ENA, GVE, MANA, NETVSC, FAILOVER, ERDMA, VIRTIO, VMXNET3, PVRDMA, XEN)
