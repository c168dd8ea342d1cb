"""Mellanox and NVIDIA: mlx5, mlx4, mthca."""

from __future__ import annotations

from wireproof.analysis.catalogue.build import ethtool, netdev, of_the_port, port_data
from wireproof.analysis.catalogue.row import Family

__all__ = ["MELLANOX"]

_VPORT_KINDS = ("unicast", "multicast", "broadcast", "rdma_unicast", "rdma_multicast")


def _vport(direction: str, what: str) -> str:
    return " ".join(f"{direction}_vport_{kind}_{what}" for kind in _VPORT_KINDS)


def _prio(direction: str, what: str) -> str:
    return " ".join(
        f"{direction}_{kind}_{what}" for kind in (*(f"prio_{n}" for n in range(8)), "novlan")
    )


_MLX5_PMA = (
    "linux drivers/infiniband/hw/mlx5/mad.c process_pma_cmd, pma_cnt_ext_assign: octets of "
    "transmitted_ib_* of QUERY_VPORT_COUNTER, shifted right by 2; without the capability "
    "vport_counters the firmware answers (MAD_IFC)"
)


MLX5 = Family(
    name="NVIDIA ConnectX-4 and later, BlueField, Connect-IB (mlx5)",
    drivers=("mlx5_core*", "mlx5_ib*"),
    rows=(
        *of_the_port(
            ethtool(
                "tx_bytes_phy",
                "rx_bytes_phy",
                "linux "
                "Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst, "
                "physical port counters; drivers/net/ethernet/mellanox/mlx5/core/en_stats.c "
                "pport_802_3_stats_desc (register PPCNT, read on request)",
                packets_tx="tx_packets_phy",
                packets_rx="rx_packets_phy",
                where="ethernet",
                misses="what the adapter's own switch turned round; it holds the traffic of all "
                "functions of the port",
            )
        ),
        ethtool(
            _vport("tx", "bytes"),
            _vport("rx", "bytes"),
            "linux drivers/net/ethernet/mellanox/mlx5/core/en_stats.c vport_stats_desc "
            "(QUERY_VPORT_COUNTER, on request)",
            level="function",
            packets_tx=_vport("tx", "packets"),
            packets_rx=_vport("rx", "packets"),
            where="ethernet",
        ),
        port_data(
            _MLX5_PMA,
            "any",
            "function",
            where="infiniband",
            misses="nothing: RDMA and IPoIB are both in it",
        ),
        port_data(
            _MLX5_PMA, "rdma", "function", where="ethernet", misses="the kernel's Ethernet traffic"
        ),
        netdev(
            "linux drivers/net/ethernet/mellanox/mlx5/core/en_main.c mlx5e_get_stats: sums of the "
            "rings, live",
            misses="RDMA",
        ),
    ),
    source="linux drivers/infiniband/hw/mlx5, drivers/net/ethernet/mellanox/mlx5/core",
    note="PortXmitData comes from the function's virtual port: a loopback inside the adapter moves "
    "it while tx_bytes_phy stays. A function that may not read the port's registers lists "
    "tx_bytes_phy too, and it stays at 0: it is exact only where the kernel says that the function "
    "is the physical one. In switchdev mode the uplink's own interface statistics are those of the "
    "physical port, RDMA included (en_main.c mlx5e_get_stats), and one reading late. RoCE over a "
    "bond has one RDMA device for both ports; what crossed each is in tx_bytes_phy of each member.",
)

_MLX4_PMA = (
    "linux drivers/infiniband/hw/mlx4/mad.c mlx4_ib_process_mad: InfiniBand ports answer "
    "by firmware (MAD_IFC)"
)

MLX4 = Family(
    name="Mellanox ConnectX to ConnectX-3 (mlx4)",
    drivers=("mlx4_core*", "mlx4_ib*", "mlx4_en*"),
    rows=(
        port_data(
            _MLX4_PMA + "; unchecked: whether a loopback inside the adapter counts",
            "any",
            "function",
            where="infiniband",
            width=32,
            pegs=True,
        ),
        *of_the_port(
            ethtool(
                _prio("tx", "bytes"),
                _prio("rx", "bytes"),
                "linux drivers/net/ethernet/mellanox/mlx4/en_ethtool.c main_strings, en_port.c "
                "mlx4_en_DUMP_ETH_STATS (sums of the port by priority, asked for every 250 ms); "
                "unchecked: whether a loopback inside the adapter counts",
                level="function",
                packets_tx=_prio("tx", "packets"),
                packets_rx=_prio("rx", "packets"),
                refresh_ms=250.0,
                where="ethernet",
            )
        ),
        port_data(
            "linux drivers/infiniband/hw/mlx4/mad.c iboe_process_mad, edit_counter: bytes of the "
            "port's counters shifted right by 2; 32 bits that wrapped before Linux 4.3, since then "
            "64 bits or pegged",
            "rdma",
            "function",
            where="ethernet",
            width=32,
        ),
        netdev(
            "linux drivers/net/ethernet/mellanox/mlx4/en_port.c mlx4_en_fold_software_stats: rings",
            misses="RDMA",
        ),
    ),
    source="linux drivers/infiniband/hw/mlx4, drivers/net/ethernet/mellanox/mlx4",
)

MTHCA = Family(
    name="Mellanox InfiniHost (mthca)",
    drivers=("ib_mthca*",),
    rows=(
        port_data(
            "linux drivers/infiniband/hw/mthca/mthca_mad.c mthca_process_mad: the firmware answers "
            "(MAD_IFC); 32 bits that peg, without IB_PMA_CLASS_CAP_EXT_WIDTH; unchecked: whether a "
            "loopback inside the adapter counts",
            "any",
            "function",
            width=32,
            pegs=True,
        ),
        netdev("linux drivers/infiniband/ulp/ipoib/ipoib_main.c: software", misses="RDMA"),
    ),
    source="linux drivers/infiniband/hw/mthca",
)

MELLANOX = (MLX5, MLX4, MTHCA)
