"""The catalogue of port counters: every fact has a source, every driver one family, no name is
believed.
"""

import re
from pathlib import Path

import pytest

from wireproof.ledger.catalogue import CounterRow, Family, by_driver, by_kind, families, family_of
from wireproof.ledger.catalogue.read import families_in
from wireproof.model.errors import BadInput
from wireproof.model.record import Nic, Rdma

ROWS = [(family, row) for family in families() for row in family.rows]
PATTERNS = [(family, pattern) for family in families() for pattern in family.drivers]
ROOT = Path(__file__).resolve().parents[2]
PREFIXES = (
    "net/{nic}/",
    "ethtool/{nic}/",
    "ib/{device}/{port}/",
    "ib/{device}/hw_counters/",
    "cxi/{device}/",
)

ROW = """[[family]]
name = "an adapter"
drivers = ["adapter"]
source = "nobody"

[[family.counters]]
of = "ethtool"
tx = "tx_octets"
rx = "rx_octets"
source = "nobody"
"""

CLUSTER_DRIVERS = (
    *("mlx4_core", "mlx4_en", "mlx5_core", "mlx5_core.sf", "ib_mthca", "ib_qib", "ib_ipath"),
    *("hfi1", "irdma", "ice", "i40e", "ixgbe", "igb", "igc", "e1000e", "tg3", "bnxt_en"),
    *("bnxt_re", "ionic", "qede", "qedr", "hns3", "hns_roce", "cxgb4", "iw_cxgb4", "siw"),
    *("rdma_rxe", "cxi_ss1", "efa", "ena", "gve", "mana", "hv_netvsc", "virtio_net", "vmxnet3"),
    *("veth", "bridge", "bonding", "team", "macvlan", "ipvlan", "tun", "vxlan", "openvswitch"),
    *("dummy", "enic", "usnic_verbs", "mvneta", "ixgbevf", "rk_gmac-dwmac", "meson8b-dwmac"),
    *("socfpga-dwmac", "dwmac-sun8i", "intel-eth-pci", "xilinx_axienet", "vnet_port", "fsl_dpa"),
    *("fsl_enetc4", "octeon_ep_vf", "hisdk3", "hiroce3", "hinic3", "bng_en", "bng_re", "xsc_pci"),
)
LATE_WITHOUT_RDMA = {
    "atl1e": 400.0,
    "b44": 1000.0,
    "atlantic": 1000.0,
    "tg3": 1000.0,
    "nvethernet": 2000.0,
}
"""Adapters without RDMA whose drivers fetch what the hardware counted from time to time."""
LIVE_DRIVERS = (
    *("bcmgenet", "macb", "ax88179_178a", "cdc_ncm", "lan78xx", "thunderbolt-net", "fbnic", "fec"),
    *("mvneta", "mvpp2", "rk_gmac-dwmac", "stmmaceth", "ibmvnic", "qeth", "am65-cpsw-nuss"),
    *("hinic", "myri10ge", "txgbe", "fsl_dpaa2_eth", "amd-xgbe", "alx", "skge", "sky2"),
)


def nic(
    driver: str = "", *, rdma: str | None = None, link_layer: str = "Ethernet", **more: object
) -> Nic:
    port = (
        None if rdma is None else Rdma(device="mlx5_0", port=1, link_layer=link_layer, driver=rdma)
    )
    return Nic(name="hfi1", driver=driver, rdma=port, **more)  # type: ignore[arg-type]


def family(*args: object, **more: object) -> Family:
    found = family_of(nic(*args, **more))  # type: ignore[arg-type]
    assert found is not None
    return found


def named(row: CounterRow) -> tuple[str, ...]:
    return row.tx + row.rx + row.packets_tx + row.packets_rx


def carriers(found: Family, port: Nic) -> list[tuple[str, str]]:
    return [(row.carrier, row.level) for row in found.rows_for(port)]


def test_a_row_of_a_file_is_a_family() -> None:
    (found,) = families_in(ROW, "site.toml")
    (row,) = found.rows
    assert (row.tx, row.carrier, row.level) == (("ethtool/{nic}/tx_octets",), "any", "wire")


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('"ethtool"', '"telemetry"', "line 7: counters 1: counters of 'telemetry' have"),
        ('"ethtool"', '"ethtol"', "line 8: counters 1, of: 'ethtol' is not one of"),
        ('"tx_octets"', '"tx_octets more"', "line 9: counters 1: 'tx' and"),
        ('rx = "rx_octets"\n', "", "line 7: counters 1: counters of"),
        ("source = ", "sauce = ", "line 5: 'sauce' is not known: did you mean source?"),
        ('name = "an adapter"', "name = 3", "line 3: name: expected"),
        ("[[family]]", "[[familie]]", "familie"),
    ],
)
def test_a_wrong_row_is_named_with_its_file_line_and_field(
    right: str, wrong: str, said: str
) -> None:
    text = f"# a comment\n{ROW.replace(right, wrong, 1)}"
    with pytest.raises(BadInput, match=r"^site\.toml") as error:
        families_in(text, "site.toml")
    assert said in str(error.value)


@pytest.mark.parametrize("one", families(), ids=lambda one: one.name)
def test_a_family_has_a_source_and_says_what_it_shows(one: Family) -> None:
    assert one.source
    assert one.name
    assert one.drivers or one.kinds
    assert one.rows or one.blind or one.name.startswith("RDMA in software")
    assert [row for row in one.rows if not row.source] == []
    assert len({row.tx for row in one.rows}) >= len({(row.tx, row.where) for row in one.rows}) - 1


@pytest.mark.parametrize(("one", "row"), ROWS)
def test_a_row_is_well_formed(one: Family, row: CounterRow) -> None:
    assert len(row.tx) == len(row.rx) > 0
    assert len(row.packets_tx) == len(row.packets_rx)
    for name in named(row):
        assert set(re.findall(r"\{(.*?)\}", name)) <= {"nic", "device", "port"}
        assert name.startswith(PREFIXES)
        assert name == name.strip()
        assert " " not in name
    assert row.unit in (1, 4, 8)
    assert row.width in (32, 56, 64)
    assert row.refresh_ms >= 0


@pytest.mark.parametrize(("one", "row"), ROWS)
def test_directions_are_not_crossed(one: Family, row: CounterRow) -> None:
    for names, mine in (
        (row.tx + row.packets_tx, ("tx", "xmit", "Out", "send", "rdma_write_bytes", "read_resp")),
        (row.rx + row.packets_rx, ("rx", "rcv", "In", "recv", "rdma_read_bytes")),
    ):
        assert all(any(word in name.rsplit("/", 1)[-1] for word in mine) for name in names)


@pytest.mark.parametrize("one", families(), ids=lambda one: one.name)
def test_everything_comes_before_its_parts_and_the_wire_before_the_stack(one: Family) -> None:
    for where in ("ethernet", "infiniband"):
        for function in ("", "physical", "virtual", "scalable"):
            kind = "infiniband" if where == "infiniband" else "ethernet"
            rows = one.rows_for(Nic(name="x", kind=kind, function=function))  # type: ignore[arg-type]
            order = [row.carrier == "any" for row in rows]
            assert order == sorted(order, reverse=True)
            for carrier in ("any", "kernel", "rdma", "psm"):
                levels = [
                    ("wire", "function", "stack").index(row.level)
                    for row in rows
                    if row.carrier == carrier
                ]
                assert levels == sorted(levels)


@pytest.mark.parametrize("one", families(), ids=lambda one: one.name)
def test_the_stack_never_counts_more_than_the_kernel_unless_rdma_is_software(one: Family) -> None:
    assert [row for row in one.rows if row.level == "stack" and row.carrier != "kernel"] == []


@pytest.mark.parametrize("one", families(), ids=lambda one: one.name)
def test_a_blind_carrier_has_no_row_of_its_own(one: Family) -> None:
    assert [row for row in one.rows if row.carrier in one.blind] == []


@pytest.mark.parametrize(("one", "pattern"), PATTERNS)
def test_a_driver_finds_exactly_one_family(one: Family, pattern: str) -> None:
    driver = pattern.replace("*", "")
    assert pattern == pattern.lower()
    assert by_driver(driver) == one
    assert by_driver(driver.upper()) == one
    assert [other for other in families() if other != one and by_driver(driver) == other] == []


def test_patterns_and_kinds_do_not_overlap() -> None:
    kinds = [kind for one in families() for kind in one.kinds]
    assert len(kinds) == len(set(kinds))
    plain = [(one, pattern.rstrip("*")) for one, pattern in PATTERNS]
    for one, pattern in PATTERNS:
        if pattern.endswith("*"):
            clash = [
                name for other, name in plain if other is not one and name.startswith(pattern[:-1])
            ]
            assert clash == [], pattern


@pytest.mark.parametrize("driver", CLUSTER_DRIVERS)
def test_the_drivers_of_clusters_are_there(driver: str) -> None:
    assert family_of(nic(driver)) is not None


@pytest.mark.parametrize("driver", LIVE_DRIVERS)
def test_statistics_that_are_up_to_date_when_read_are_not_late(driver: str) -> None:
    """A driver that adds up its packets itself, or reads the MAC when it is asked, hides nothing of
    a short point.
    """
    found = family(driver)
    assert {row.refresh_ms for row in found.rows} == {0.0}
    assert "unchecked" not in found.source


@pytest.mark.parametrize(("driver", "refresh_ms"), LATE_WITHOUT_RDMA.items())
def test_statistics_that_a_timer_fetches_are_late(driver: str, refresh_ms: float) -> None:
    assert {row.refresh_ms for row in family(driver).rows} == {refresh_ms}


def test_a_vlan_is_known_by_what_ethtool_calls_it() -> None:
    assert family("802.1Q VLAN Support").stacked
    assert family("", link_kind="vlan").stacked


def test_the_loopback_is_known_by_its_type() -> None:
    assert family_of(Nic(name="lo", kind="loopback")) is by_driver("loopback")


@pytest.mark.parametrize("driver", ["", "warp_drive", "mlx", "hf"])
def test_an_unknown_adapter_has_no_family(driver: str) -> None:
    assert family_of(nic(driver)) is None


def test_the_names_of_interface_and_device_are_not_believed() -> None:
    for name in ("mlx5_0", "hfi1_0", "irdma0", "bond0", "lo"):
        port = Nic(
            name=name, driver="warp_drive", rdma=Rdma(device=name, port=1, driver="warp_drive")
        )
        assert family_of(port) is None


def test_mlx5_shows_the_wire_on_ethernet_and_the_function_on_infiniband() -> None:
    ethernet = nic("mlx5_core", rdma="mlx5_core", function="physical")
    assert carriers(family("mlx5_core"), ethernet)[0] == ("any", "wire")
    infiniband = nic("mlx5_core", rdma="mlx5_core", link_layer="InfiniBand", kind="infiniband")
    assert carriers(family("mlx5_core"), infiniband) == [("any", "function"), ("kernel", "stack")]


@pytest.mark.parametrize("function", ["virtual", "scalable"])
def test_registers_of_the_port_are_not_believed_of_a_virtual_function(function: str) -> None:
    port = nic("mlx5_core", rdma="mlx5_core", function=function)
    assert carriers(family("mlx5_core"), port)[0] == ("any", "function")
    assert [
        row
        for row in family("cxi_ss1").rows_for(nic("cxi_ss1", function=function))
        if row.carrier == "any"
    ] == []


@pytest.mark.parametrize("driver", ["mlx5_core", "cxi_ss1"])
def test_registers_of_the_port_are_a_lower_bound_where_the_function_is_not_known(
    driver: str,
) -> None:
    """A virtual function in a guest has no link to its adapter, and lists the registers at 0."""
    first = {
        function: family(driver).rows_for(nic(driver, function=function))[0]
        for function in ("", "physical")
    }
    assert {function: row.quality for function, row in first.items()} == {
        "": "lower-bound",
        "physical": "exact",
    }
    assert first[""].tx == first["physical"].tx


def test_hfi1_counts_flits_and_all_others_words() -> None:
    units = {
        one.name: {row.unit for row in one.rows if "port_xmit_data" in row.tx[0]}
        for one in families()
    }
    assert {unit for name, found in units.items() for unit in found if "hfi1" not in name} == {4}
    assert [found for name, found in units.items() if "(hfi1" in name] == [{8}]


@pytest.mark.parametrize(
    ("rate", "units"),
    [("100 Gb/sec (4X EDR)", [8]), ("", [8]), ("400 Gb/sec (4X NDR)", []), ("¹", [8])],
)
def test_cn5000_under_hfi1_is_not_read_as_omni_path_100(rate: str, units: list[int]) -> None:
    port = Nic(
        name="ib0",
        driver="hfi1",
        kind="infiniband",
        rdma=Rdma(device="x", port=1, driver="hfi1", rate=rate),
    )
    found = family_of(port)
    assert [row.unit for row in found.rows if row.carrier == "any"] == units
    assert ("psm" in found.blind) == (not units)


def test_roce_on_a_vlan_is_shown_by_the_device_beneath() -> None:
    found = family("802.1q vlan support", link_kind="vlan", rdma="mlx5_core")
    port = nic(rdma="mlx5_core", link_kind="vlan")
    assert found.stacked
    assert carriers(found, port) == [("rdma", "function"), ("kernel", "stack")]


def test_a_bond_of_rdma_ports_shows_at_least_one_member() -> None:
    found = family("bonding", link_kind="bond", rdma="mlx5_core")
    assert [row.quality for row in found.rows if row.carrier == "rdma"] == ["lower-bound"]


def test_rdma_above_an_adapter_that_counts_none_of_it_is_blind() -> None:
    assert "rdma" in family("802.1q", link_kind="vlan", rdma="cxgb4").blind
    assert "rdma" in family("802.1q", link_kind="vlan", rdma="qede").blind
    assert "rdma" in family("802.1q", link_kind="vlan", rdma="").blind
    assert "rdma" in family("ixgbe", rdma="").blind
    assert "rdma" in family("virtio_net", rdma="warp_drive").blind


@pytest.mark.parametrize(
    ("driver", "rdma"),
    [("veth", "rdma_rxe"), ("virtio_net", "rdma_rxe"), ("veth", ""), ("igb", "siw")],
)
def test_rdma_in_software_is_in_the_interface_s_own_counters(driver: str, rdma: str) -> None:
    found = family(driver, rdma=rdma)
    assert {row.carrier for row in found.rows} == {"any"}
    assert not found.blind


@pytest.mark.parametrize(
    ("driver", "rdma"),
    [
        ("virtio_net", "virtio_net"),
        ("igb", "igb"),
        ("ena", "ena"),
        ("", "ixgbe"),
        ("veth", "r8169"),
    ],
)
def test_hardware_rdma_of_a_driver_that_is_known_without_it_is_blind(
    driver: str, rdma: str
) -> None:
    """A new generation of an adapter may do RDMA that nobody has read the counters of."""
    found = family(driver, rdma=rdma)
    assert "rdma" in found.blind
    assert ("any", "stack") not in {(row.carrier, row.level) for row in found.rows}


def test_soft_rdma_over_an_rdma_adapter_keeps_the_wire_first() -> None:
    port = nic("mlx5_core", rdma="rxe", function="physical")
    assert carriers(family("mlx5_core", rdma="rxe"), port)[0] == ("any", "wire")


def test_a_family_of_the_interface_and_of_its_rdma_device_agree() -> None:
    assert family("ib_ipoib", link_kind="ipoib", rdma="mlx5_core", kind="infiniband") is by_driver(
        "mlx5_core"
    )
    assert family("ice", rdma="ice") is by_driver("irdma")
    assert family("", rdma="efa") is by_driver("efa")


def test_a_counter_is_pegged_at_its_largest_value_only() -> None:
    (row,) = [row for row in family("ib_mthca").rows if row.carrier == "any"]
    assert row.is_pegged(2**32 - 1)
    assert not row.is_pegged(2**32)
    assert not row.is_pegged(0)


def test_the_kinds_that_stand_on_others_are_stacked() -> None:
    for kind in (
        "bond",
        "team",
        "bridge",
        "vlan",
        "macvlan",
        "ipvlan",
        "vxlan",
        "tun",
        "openvswitch",
    ):
        found = by_kind(kind)
        assert found.stacked
    for kind in ("veth", "dummy", "ipoib"):
        found = by_kind(kind)
        assert not found.stacked
