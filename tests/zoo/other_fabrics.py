"""Omni-Path, True Scale, Slingshot, EFA and the software RDMA devices; sources as in `fabric`."""

from dataclasses import replace

from tests.zoo.counters import (
    OPA_HEADER,
    ROCE_HEADER,
    WHOLE,
    ethtool,
    hw,
    netdev,
    port_data,
)
from tests.zoo.fabric import LINK_IB
from tests.zoo.parts import ALL, RDMA, Adapter, File, Port, alone, both_directions, stuck

_RXE_PACKETS = (
    File("ib/{device}/{port}/hw_counters/sent_pkts", "tx", "packets", RDMA, "stack", age_ms=12.0),
    File("ib/{device}/{port}/hw_counters/rcvd_pkts", "rx", "packets", RDMA, "stack", age_ms=12.0),
)


_QIB = Port(
    "ib0",
    "ib_qib",
    (*netdev(), *port_data(ALL, "wire")),
    device="qib0",
    rdma_driver="ib_qib",
    rate="40 Gb/sec (4X QDR)",
    identity={"system_guid": "0011:7500:0070:1122", "node_guid": "0011:7500:0070:1122"},
    pci="0000:05:00.0",
    **LINK_IB,
)


_HFI = Port(
    "ib0",
    "hfi1",
    (*netdev(), *port_data(ALL, "wire", unit=8, header=OPA_HEADER)),
    device="hfi1_0",
    rdma_driver="hfi1",
    rate="100 Gb/sec (4X EDR)",
    pci="0000:06:00.0",
    identity={"system_guid": "0011:7501:0170:1122", "node_guid": "0011:7501:0170:1122"},
    link_layer="InfiniBand",
    kind="infiniband",
    mtu=10236,
)


_TELEMETRY = both_directions(
    "cxi/{device}/hni_sts_{way}_ok_octets", ALL, "wire", header=ROCE_HEADER, width=56
)


ADAPTERS = (
    alone(
        "qib",
        "qib (True Scale), PSM",
        _QIB,
        "infiniband/hw/qib/qib_mad.c: WORDSEND and WORDRCV of the chip, 4-byte words",
        fast="psm",
        rate=3.5e9,
    ),
    alone(
        "qib-32",
        "qib, 32-bit port counters",
        replace(_QIB, files=(*netdev(), *port_data(ALL, "wire", width=32, pegs=True))),
        "infiniband/core/sysfs.c",
        fast="psm",
        rate=3.5e9,
    ),
    alone(
        "hfi1",
        "hfi1 (Omni-Path 100), PSM2",
        _HFI,
        "infiniband/hw/hfi1/mad.c: C_DC_XMIT_FLITS, 8-byte flits, unconverted",
        fast="psm",
    ),
    alone(
        "cn5000",
        "hfi1 (CN5000), OPX",
        replace(
            _HFI,
            rate="400 Gb/sec (4X NDR)",
            mtu=10236,
            files=(*netdev(), *stuck(port_data(ALL, "wire", unit=8))),
        ),
        "hfi2 as proposed, chip.h: C_DC_XMIT_FLITS is of Omni-Path 100 alone; what fills "
        "port_xmit_data is not known",
        fast="psm",
        rate=50e9,
    ),
    alone(
        "cxi",
        "cxi (Slingshot 11), telemetry readable",
        Port(
            "hsn0",
            "cxi_ss1",
            (*netdev(), *_TELEMETRY),
            device="cxi0",
            rdma_driver="cxi_ss1",
            speed_mbps=200000,
            pci="0000:21:00.0",
            function="physical",
        ),
        "HewlettPackard/shs-cxi-driver cass_telem.c: the octets of the network interface",
        fast="rdma",
        rate=25e9,
    ),
    alone(
        "cxi-dark",
        "cxi (Slingshot 11), telemetry hidden",
        Port(
            "hsn0", "cxi_ss1", netdev(), speed_mbps=200000, pci="0000:21:00.0", function="physical"
        ),
        "HewlettPackard/shs-cxi-driver: cxi_eth counts sockets; RDMA is in the telemetry alone",
        fast="rdma",
        rate=25e9,
    ),
    Adapter(
        "efa",
        "EFA beside ena",
        (
            Port("ens5", "ena", netdev(), speed_mbps=None, pci="0000:00:05.0", mtu=9001),
            Port(
                "",
                "efa",
                (
                    *hw("tx_bytes", "rx_bytes", RDMA, header=0),
                    *hw("tx_pkts", "rx_pkts", RDMA, what="packets"),
                ),
                kind="infiniband",
                device="efa_0",
                rdma_driver="efa",
                link_layer="Unspecified",
                rate="100 Gb/sec (4X EDR)",
                pci="0000:00:06.0",
            ),
        ),
        "efa_0:1",
        {"rdma": {"efa_0:1": WHOLE}},
        "infiniband/hw/efa/efa_verbs.c, net/ethernet/amazon/ena",
        fast="rdma",
        unsure=True,
    ),
    alone(
        "rxe",
        "rxe (soft RoCE) over ixgbe",
        Port(
            "hsn0",
            "ixgbe",
            (
                *netdev(counts=ALL),
                *ethtool("tx_bytes_nic", "rx_bytes_nic", ALL, "wire"),
                *_RXE_PACKETS,
            ),
            device="rxe0",
            rdma_driver="rdma_rxe",
            link_layer="Ethernet",
            rate="10 Gb/sec (4X SDR)",
            speed_mbps=10000,
            pci="0000:07:00.0",
        ),
        "infiniband/sw/rxe/rxe_net.c: packets leave as UDP through the interface",
        fast="rdma",
        rate=1.25e9,
    ),
    alone(
        "siw",
        "siw (soft iWARP) over ixgbe",
        Port(
            "hsn0",
            "ixgbe",
            (*netdev(counts=ALL), *ethtool("tx_bytes_nic", "rx_bytes_nic", ALL, "wire")),
            device="siw0",
            rdma_driver="siw",
            link_layer="Ethernet",
            rate="10 Gb/sec (4X SDR)",
            speed_mbps=10000,
            pci="0000:07:00.0",
        ),
        "infiniband/sw/siw: kernel TCP sockets",
        fast="rdma",
        rate=1.25e9,
    ),
)
