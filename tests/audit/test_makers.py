"""What makers ship, and what their guides say of it: a healthy machine with it passes."""

import pytest
from tests.audit.test_conditions import (
    ADAPTIVE,
    GIDS,
    OPA,
    RDMA,
    ROCE,
    STATISTICS,
    status,
    variables,
)

FAST = ROCE | {"/sys/class/net/eth0/speed": "100000", "/sys/devices/system/cpu/online": "0-15"}
KVM = FAST | {"/sys/class/net/eth0/device/uevent": "DRIVER=virtio_net"}
RING, CHANNELS = "ethtool -g eth0", "ethtool -l eth0"
NOW = "Pre-set maximums:\nRX:\t4096\nTX:\t4096\nCombined:\t32\nCurrent hardware settings:\n"
RPS = "/sys/class/net/eth0/queues/rx-0/rps_cpus"
CNP = "/sys/class/net/eth0/ecn/roce_np/cnp_dscp"
MANA = ROCE | {"/sys/class/infiniband/mlx5_0/device/uevent": "DRIVER=mana"}
PFC, TRUST = "dcb pfc show dev eth0", "dcb app show dev eth0"
MARKED = ROCE | {PFC: "prio-pfc 0:off 3:on"}
RP_ALL = "/proc/sys/net/ipv4/conf/all/rp_filter"
RP_ETH0 = "/proc/sys/net/ipv4/conf/eth0/rp_filter"
INTEGRITY = "/sys/class/infiniband/DEV/ports/1/counters/local_link_integrity_errors"
PEERS = {
    "/proc/version": "Linux version 4.18.0",
    "/sys/bus/pci/drivers/nvidia/0000:17:00.0/numa_node": "0",
}


@pytest.mark.parametrize(
    ("name", "texts", "expected"),
    [
        ("local-integrity", RDMA | {INTEGRITY.replace("DEV", "mlx5_0"): "3"}, "fail"),
        ("local-integrity", OPA | {INTEGRITY.replace("DEV", "hfi1_0"): "15"}, "not-applicable"),
        ("gpu-peer-memory", PEERS | {"/proc/modules": "nvidia 1 0\nnv_peer_mem 1 0\n"}, "pass"),
        ("gpu-peer-memory", PEERS | {"/proc/modules": "nvidia 1 0\nnvidia_uvm 1 0\n"}, "fail"),
        (
            "ring-rx",
            FAST | {RING: f"{NOW}RX:\t511\nTX:\t511", STATISTICS: "rx_stat_discard: 0"},
            "pass",
        ),
        (
            "ring-rx",
            FAST | {RING: f"{NOW}RX:\t511\nTX:\t511", STATISTICS: "rx_stat_discard: 9"},
            "fail",
        ),
        ("ring-tx", FAST | {RING: f"{NOW}RX:\t2048\nTX:\t256"}, "pass"),
        ("ring-tx", FAST | {RING: f"{NOW}RX:\t2048\nTX:\t128"}, "fail"),
        ("channels", FAST | {CHANNELS: f"{NOW}RX:\t16\nCombined:\t0"}, "pass"),
        ("rps", FAST | {CHANNELS: f"{NOW}Combined:\t1", RPS: "ff"}, "pass"),
        ("rps", FAST | {CHANNELS: f"{NOW}Combined:\t16", RPS: "ff"}, "fail"),
        ("coalescing-adaptive", KVM | {ADAPTIVE: "Adaptive RX: off  TX: n/a"}, "not-applicable"),
        ("netdev-backlog", FAST | {"/proc/sys/net/core/netdev_max_backlog": "1000"}, "pass"),
        ("default-qdisc", {"/proc/sys/net/core/default_qdisc": "sfq"}, "pass"),
        ("cnp-dscp", ROCE | {CNP: "4"}, "pass"),
        ("roce-gid-type", MANA | {f"{GIDS}/1": "RoCE v2"}, "pass"),
        ("env-ompi-mca-btl", RDMA | variables(OMPI_MCA_btl="openib,self,tcp"), "pass"),
        ("env-ompi-mca-pml", RDMA | variables(OMPI_MCA_pml="ob1", OMPI_MCA_btl="openib"), "pass"),
        ("roce-trust", MARKED | {TRUST: "dscp-prio 0:0 26:3 48:6\n"}, "pass"),
        ("roce-trust", MARKED | {TRUST: "default-prio 0\n"}, "unknown"),
        ("roce-trust", MARKED | {PFC: "prio-pfc 0:on 3:off", TRUST: "\n"}, "not-applicable"),
        ("rp-filter-interface", ROCE | {RP_ALL: "1", RP_ETH0: "0"}, "fail"),
        ("rp-filter-interface", ROCE | {RP_ALL: "1", RP_ETH0: "2"}, "pass"),
        ("rp-filter-interface", ROCE | {RP_ALL: "0", RP_ETH0: "1"}, "fail"),
        ("rp-filter", ROCE | {RP_ALL: "1", RP_ETH0: "2"}, "pass"),
        ("mpi-selector", OPA | {"mpi-selector --query": "default:openmpi_gcc_ofi-4.1"}, "pass"),
    ],
)
def test_a_maker_s_default_passes_and_less_than_every_default_fails(
    name: str, texts: dict[str, str], expected: str
) -> None:
    assert status(name, texts) == expected
