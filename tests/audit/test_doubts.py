"""What may be right is undecided; what other evidence decides is not."""

import pytest
from tests.audit.test_conditions import (
    BESIDE,
    DRIVER_OF,
    MTU,
    PKEY,
    RDMA,
    ROCE,
    ROUTE,
    STATE,
    WIRED,
    status,
)

from wireproof.audit.interfaces import CHOSEN

RV = {"/proc/modules": "ice 1 0\nirdma 1 0\nrv 1 0\n"}
ICE = {"/proc/modules": "ice 1 0\nirdma 1 0\n"}
X722 = {"/proc/modules": "i40e 1 0\nirdma 1 0\n"}
ROCE_ENA, LIMITS_SEL = (
    f"/sys/module/irdma/parameters/{name}" for name in ("roce_ena", "limits_sel")
)
CONTROL = "/proc/sys/net/ipv4/tcp_congestion_control"
_IDS = "PCI_ID=15B3:101D\nPCI_SUBSYS_ID=15B3:0016"
PKEY_1 = PKEY.replace("pkeys/0", "pkeys/1")
OTHER_BOARD = "/sys/class/net/eth1/device/uevent"
BOARDS = WIRED | {
    DRIVER_OF: f"DRIVER=mlx5_core\n{_IDS}",
    OTHER_BOARD: f"DRIVER=mlx5_core\n{_IDS}",
    "/sys/class/net/eth1/speed": "100000",
}
RATE = "/sys/class/net/eth0/speed"
OFF = ROCE | {RATE: "100000", "ethtool --show-fec eth0": "Active FEC encoding: Off"}


def optics(modes: str, port: str = "FIBRE") -> dict[str, str]:
    return {"ethtool eth0": f"Settings:\n\tSupported link modes:   {modes}\n\tPort: {port}\n"}


DOWNED = "/sys/class/infiniband/mlx5_0/ports/1/counters/link_downed"
OTHER_CARD, CHANGES = (
    "/sys/class/infiniband/mlx5_1/device/uevent", "/sys/class/net/eth0/carrier_changes"
)  # fmt: skip
ADDRESSED = '[{"name": "eth0", "kind": "ethernet", "address": ["10.0.0.7"]}]'
TWO_OF_A_CARD = RDMA | {
    "/sys/class/infiniband/mlx5_0/device/uevent": "DRIVER=mlx5_core\nPCI_SLOT_NAME=0000:17:00.0",
    STATE: "1: DOWN",
    "/sys/class/infiniband/mlx5_0/ports/1/phys_state": "2: Polling",
    OTHER_CARD: "DRIVER=mlx5_core\nPCI_SLOT_NAME=0000:17:00.1",
    "/sys/class/infiniband/mlx5_1/ports/1/link_layer": "InfiniBand",
    "/sys/class/infiniband/mlx5_1/ports/1/state": "4: ACTIVE",
}

UNUSED = WIRED | {
    RATE: "-1",
    "/sys/class/net/eth0/operstate": "down",
    "interfaces": '[{"name": "eth0", "kind": "ethernet", "operstate": "down"}]',
}
OPA = {
    "/sys/class/infiniband/hfi1_0/ports/1/link_layer": "InfiniBand",
    "/sys/class/infiniband/hfi1_0/device/uevent": "DRIVER=hfi1",
}
SPEEDS = "hfi1_0:1   PortGID:0xfe80\n   LinkSpeed      Act: {}         En: {}\n"


@pytest.mark.parametrize(
    ("name", "texts", "expected"),
    [
        ("irqbalance-service", {"systemctl is-active irqbalance.service": "failed"}, "unknown"),
        ("irqbalance-service", {"systemctl is-active irqbalance.service": "inactive"}, "pass"),
        ("link-speed", BOARDS | {RATE: "25000"}, "fail"),
        ("link-speed", BOARDS | {RATE: "100000"}, "pass"),
        ("link-speed", BOARDS | {RATE: "25000", OTHER_BOARD: "DRIVER=mlx5_core"}, "pass"),
        ("fec", OFF | optics("100000baseLR4_ER4/Full"), "pass"),
        ("fec", OFF | optics("100000baseDR/Full"), "pass"),
        ("fec", OFF | optics("100000baseSR4/Full"), "fail"),
        ("fec", OFF | optics("100000baseSR4/Full 100000baseLR4_ER4/Full"), "unknown"),
        ("fec", OFF | optics("100000baseCR4/Full", "Direct Attach Copper"), "fail"),
        ("fec", OFF | optics("200000baseLR4_ER4_FR4/Full") | {RATE: "200000"}, "fail"),
        ("fec", OFF, "unknown"),
        ("congestion-control", {CONTROL: "htcp"}, "pass"),
        ("congestion-control", {CONTROL: "reno"}, "fail"),
        ("irdma-roce", ICE | {ROCE_ENA: "65535"}, "pass"),
        ("irdma-roce", ICE | {ROCE_ENA: "0"}, "unknown"),
        ("irdma-roce", RV | {ROCE_ENA: "0"}, "fail"),
        ("irdma-roce", X722 | {ROCE_ENA: "0"}, "not-applicable"),
        ("irdma-limits", ICE | {LIMITS_SEL: "3"}, "pass"),
        ("irdma-limits", ICE | {LIMITS_SEL: "2"}, "fail"),
        ("irdma-limits", RV | {LIMITS_SEL: "3"}, "fail"),
        ("link-speed", UNUSED | {CHANGES: "1"}, "unknown"),
        ("link-speed", UNUSED | {CHANGES: "4"}, "fail"),
        ("link-speed", UNUSED | {CHANGES: "1", "interfaces": ADDRESSED}, "fail"),
        ("mtu", UNUSED | {MTU: "1500"}, "pass"),
        ("mtu", BESIDE | ROUTE | {MTU: "1500", RATE: "10000"}, "pass"),
        ("mtu", BESIDE | {MTU: "1500", RATE: "10000", CHOSEN: "eth0"}, "fail"),
        ("opa-link-speed", OPA | {"opainfo ": SPEEDS.format("25Gb", "25Gb")}, "pass"),
        ("opa-link-speed", OPA | {"opainfo ": SPEEDS.format("25Gb", "25Gb,100Gb")}, "fail"),
        ("partition-key", RDMA | {PKEY: "0x7fff"}, "fail"),
        ("partition-key", RDMA | {PKEY: "0x7fff", PKEY_1: "0x0000"}, "fail"),
        ("partition-key", RDMA | {PKEY: "0x7fff", PKEY_1: "0x0012"}, "fail"),
        ("partition-key", RDMA | {PKEY: "0x7fff", PKEY_1: "0x8012"}, "pass"),
        ("partition-key", RDMA | {PKEY: "0x7fff", PKEY_1: "0xffff"}, "pass"),
        ("port-state", TWO_OF_A_CARD | {DOWNED: "0"}, "unknown"),
        ("port-physical", TWO_OF_A_CARD | {DOWNED: "0"}, "unknown"),
        ("port-state", TWO_OF_A_CARD | {DOWNED: "2"}, "fail"),
        ("port-state", TWO_OF_A_CARD | {DOWNED: "0", STATE: "2: INIT"}, "fail"),
        (
            "port-state",
            TWO_OF_A_CARD | {DOWNED: "0", OTHER_CARD: "PCI_SLOT_NAME=0000:18:00.1"},
            "fail",
        ),
        ("port-state", TWO_OF_A_CARD | ROCE | {DOWNED: "0", "interfaces": ADDRESSED}, "fail"),
        ("port-state", TWO_OF_A_CARD | ROCE | {DOWNED: "0", CHANGES: "1"}, "unknown"),
        ("port-state", TWO_OF_A_CARD | ROCE | {DOWNED: "0", CHANGES: "2"}, "fail"),
    ],
)
def test_a_value_in_doubt_is_decided_by_what_else_was_seen(
    name: str, texts: dict[str, str], expected: str
) -> None:
    assert status(name, texts) == expected
