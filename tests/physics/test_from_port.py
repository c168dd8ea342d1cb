"""The link that a port states of itself, and the ports whose speed states nothing."""

import msgspec
import pytest
from tests.physics.tables import TABLES

from wireproof.model.claim import LinkClaim
from wireproof.model.record import Nic, Rdma
from wireproof.model.traffic import Carrier
from wireproof.physics.from_port import link_of_port, mac_rate, stated_rate
from wireproof.physics.limits import floor_constant, limits


def fabric(
    rate: str,
    driver: str = "mlx5_core",
    *,
    mtu: int = 2044,
    speed: int | None = None,
    pcie: str = "",
) -> Nic:
    rdma = Rdma(
        device="x0", port=1, rate=rate, link_layer="InfiniBand", state="4: ACTIVE", driver=driver
    )
    return Nic(
        name="ib0",
        kind="infiniband",
        driver="ib_ipoib",
        mtu=mtu,
        speed_mbps=speed,
        rdma=rdma,
        pcie=pcie,
    )


def ethernet(
    speed: int | None, driver: str = "mlx5_core", *, rdma: str = "", mtu: int = 1500, **more: str
) -> Nic:
    port = None
    if rdma:
        port = Rdma(
            device="x0", port=1, rate=rdma, link_layer="Ethernet", state="4: ACTIVE", driver=driver
        )
    nic = Nic(name="eth0", driver=driver, mtu=mtu, speed_mbps=speed, rdma=port, pci="0000:01:00.0")
    return msgspec.structs.replace(nic, **more)


SPEEDS = (10_000, 100_000, None, -1, 0)
CARRIERS: tuple[Carrier, ...] = ("any", "kernel", "rdma")


def gbps(link: LinkClaim | None) -> float | None:
    return link and link.rate_bits_per_s and round(link.rate_bits_per_s / 1e9, 3)


@pytest.mark.parametrize(("text", "driver", "kind", "rate"), TABLES["infiniband_ports"])
def test_the_rate_of_an_infiniband_port_is_that_after_encoding(
    text: str, driver: str, kind: str, rate: float
) -> None:
    link = link_of_port(fabric(text, driver), "rdma")
    assert (link.kind, gbps(link), link.mtu) == (kind, rate, None)
    assert link.source.startswith("the port itself: ib0 reports ")
    assert limits(link, "pingpong", "latency", 8).floor_ns
    assert floor_constant(link).value > 0


@pytest.mark.parametrize(("driver", "carrier", "protocol"), TABLES["carried_on_a_fabric"])
def test_what_carried_the_bytes_makes_the_protocol_of_a_fabric(
    driver: str, carrier: Carrier, protocol: str
) -> None:
    link = link_of_port(fabric("100 Gb/sec (4X EDR)", driver, pcie="gen3x16"), carrier)
    assert link.protocol == protocol
    assert link.pcie == "gen3x16"
    if carrier == "kernel":
        assert link.kind == ("ipofabric-opa100" if driver == "hfi1" else "ipoib-edr")
        assert link.mtu == 2044


@pytest.mark.parametrize(("driver", "carrier", "protocol", "kind"), TABLES["carried_on_ethernet"])
def test_what_carried_the_bytes_makes_the_protocol_of_ethernet(
    driver: str, carrier: Carrier, protocol: str, kind: str
) -> None:
    link = link_of_port(ethernet(100_000, driver, rdma="100 Gb/sec (4X EDR)"), carrier)
    assert (link.protocol, link.kind, gbps(link)) == (protocol, kind, 100)


@pytest.mark.parametrize(
    ("speed", "text", "rate"),
    [(40_000, "40 Gb/sec (4X QDR)", 40), (None, "10 Gb/sec (4X SDR)", 10)],
)
def test_the_nominal_rate_that_roce_prints_is_the_rate_of_the_mac(
    speed: int | None, text: str, rate: int
) -> None:
    assert gbps(link_of_port(ethernet(speed, "mlx4_core", rdma=text), "rdma")) == rate


@pytest.mark.parametrize(
    ("mtu", "path"),
    [(1500, 1024), (2200, 2048), (4096, 2048), (4200, 4096), (9000, 4096), (300, 256)],
)
def test_the_path_mtu_of_roce_is_what_the_kernel_makes_of_the_interfaces(
    mtu: int, path: int
) -> None:
    link = link_of_port(ethernet(25_000, rdma="25 Gb/sec (1X EDR)", mtu=mtu), "rdma")
    assert link.mtu == path


MADE_UP = ("veth", "tun", "virtio_net", "hv_netvsc", "vmxnet3", "ena", "gve", "dummy", "mana")
SOFTWARE = [
    Rdma(device="rxe0", port=1, rate="2.5 Gb/sec (1X SDR)", link_layer="Ethernet", driver=driver)
    for driver in ("rdma_rxe", "siw")
]
"""linux 6.1 rdma_rxe prints 2.5 Gb/s of an interface that states no speed."""
NO_RATES = (
    "",
    "fast",
    "40 Gb/sec",
    "9999999 Gb/sec (4X EDR)",
    "0 Gb/sec (4X)",
    "1 Gb/sec (99X EDR)",
)


@pytest.mark.parametrize(
    ("nics", "carriers"),
    [
        ([ethernet(speed, driver) for driver in MADE_UP for speed in SPEEDS], ("kernel",)),
        ([ethernet(one, "", kind="virtual", link_kind="veth", pci="") for one in SPEEDS], CARRIERS),
        (
            [msgspec.structs.replace(ethernet(None, "ixgbe"), rdma=one) for one in SOFTWARE],
            CARRIERS,
        ),
        ([ethernet(speed) for speed in (None, -1, 0, 10**9)], ("kernel", "any")),
        ([fabric(text) for text in NO_RATES], ("rdma",)),
        # SDR of an adapter without SDR: a speed that the kernel does not know
        ([fabric("10 Gb/sec (4X SDR)", "mlx5_core")], ("rdma",)),
    ],
)
def test_what_states_no_rate(nics: list[Nic], carriers: tuple[Carrier, ...]) -> None:
    for nic in nics:
        for carrier in carriers:
            assert link_of_port(nic, carrier) is None, (nic, carrier)


@pytest.mark.parametrize("text", NO_RATES)
def test_a_rate_that_is_none_is_refused(text: str) -> None:
    assert stated_rate(text) is None
    assert mac_rate(text) is None


def test_the_constant_rate_of_old_efa_drivers_is_not_believed() -> None:
    old = link_of_port(ethernet(None, "efa", rdma="100 Gb/sec (4X EDR)"), "rdma")
    assert old.protocol == "efa"
    assert old.rate_bits_per_s is None
    assert gbps(link_of_port(ethernet(None, "efa", rdma="200 Gb/sec (4X HDR)"), "rdma")) == 200


def test_ipoib_without_its_rdma_port_takes_the_larger_of_two_generations() -> None:
    nic = msgspec.structs.replace(fabric(""), rdma=None, speed_mbps=40_000)
    link = link_of_port(nic, "kernel")
    assert (link.kind, gbps(link)) == ("ipoib-fdr10", 40)


def test_a_virtual_function_may_be_held_to_less_than_its_port() -> None:
    virtual = link_of_port(ethernet(100_000, function="virtual"), "kernel")
    assert virtual.at_most
    assert "may be limited to less" in virtual.source
    physical = link_of_port(ethernet(100_000, function="physical"), "kernel")
    assert not physical.at_most


def test_what_stands_on_a_port_is_that_port() -> None:
    lower = ethernet(25_000)
    made = {"driver": "802.1Q VLAN Support", "link_kind": "vlan", "mtu": 1496}
    vlan = Nic(name="eth0.7", speed_mbps=25_000, lower=["eth0"], **made)  # type: ignore[arg-type]
    link = link_of_port(vlan, "kernel", [vlan, lower])
    assert (gbps(link), link.mtu, link.rails) == (25, 1496, 1)
    assert link_of_port(vlan, "kernel") is None, "of what is below nothing is known"
    veth = ethernet(10_000, "veth")
    assert link_of_port(vlan, "kernel", [veth]) is None


def test_a_bond_has_a_rail_for_each_member() -> None:
    one, two = ethernet(25_000), ethernet(25_000, name="eth1")
    lower = {"lower": ["eth0", "eth1"], "speed_mbps": 50_000}
    bond = Nic(name="bond0", driver="bonding", link_kind="bond", **lower)  # type: ignore[arg-type]
    link = link_of_port(bond, "kernel", [one, two, bond])
    assert (gbps(link), link.rails) == (25, 2)
    slower = msgspec.structs.replace(two, speed_mbps=10_000)
    assert link_of_port(bond, "kernel", [one, slower]) is None
    # two ports of a bridge carry no flow together
    bridge = Nic(name="br0", driver="bridge", link_kind="bridge", **lower)  # type: ignore[arg-type]
    assert link_of_port(bridge, "kernel", [one, two]) is None
    loop = Nic(name="a", link_kind="vlan", lower=["a"])
    assert link_of_port(loop, "kernel", [loop]) is None


def test_iwarp_has_a_limit_of_its_own() -> None:
    link = link_of_port(ethernet(10_000, "cxgb4", rdma="10 Gb/sec (4X SDR)"), "rdma")
    assert link is not None
    found = limits(link, "stream", "stream", 1 << 20)
    assert found.attainable_bytes_per_s == pytest.approx(1.25e9 * (1500 - 60) / 1538)


@pytest.mark.parametrize("mtu", [-1, 0, 68, 255, 65537, 10**9])
def test_an_mtu_that_no_limit_can_be_computed_with_is_unknown(mtu: int) -> None:
    for carrier in ("kernel", "rdma", "psm"):
        link = link_of_port(ethernet(25_000, rdma="25 Gb/sec (1X EDR)", mtu=mtu), carrier)
        assert link.mtu is None
        limits(link, "stream", "stream", 1 << 20)


def test_a_vlan_that_uses_the_rdma_device_of_a_bond_has_the_bond_s_rails() -> None:
    device = Rdma(device="mlx5_bond_0", port=1, rate="100 Gb/sec (4X EDR)", link_layer="Ethernet")
    legs = [
        Nic(name=name, kind="ethernet", driver="mlx5_core", speed_mbps=100000, master="bond0")
        for name in ("p0", "p1")
    ]
    bond = Nic(
        name="bond0", kind="virtual", link_kind="bond", lower=["p0", "p1"], speed_mbps=200000
    )
    bond = msgspec.structs.replace(bond, rdma=device)
    vlan = Nic(name="bond0.7", kind="virtual", link_kind="vlan", lower=["bond0"], rdma=device)
    alone = link_of_port(bond, "rdma", [*legs, bond, vlan])
    above = link_of_port(vlan, "rdma", [*legs, bond, vlan])
    assert (above.line_rate, above.rails) == (alone.line_rate, alone.rails)
