"""Every figure of the tables of physical limits, within the rounding that they are printed with."""

import msgspec
import pytest
from tests.physics.tables import TABLES

from wireproof.model.claim import LinkClaim
from wireproof.model.errors import BadInput
from wireproof.model.pattern import Form, Pattern
from wireproof.physics import (
    PhysicsError,
    bandwidth_threshold_bytes,
    default_table,
    limits,
    link_from_name,
    link_names,
    override,
    pcie_goodput,
    shaper_credit_bytes,
    unslowed_bytes,
)


def goodput(link: LinkClaim) -> float:
    found = limits(link, "stream", "stream", 1 << 20).attainable_bytes_per_s
    assert found is not None
    return found


@pytest.mark.parametrize(("speed", "printed"), TABLES["ethernet_goodput"])
def test_goodput_of_ethernet_is_the_printed_one(speed: str, printed: list[float]) -> None:
    tcp = [goodput(link_from_name(f"{speed}gbe", mtu=mtu)) / 1e6 for mtu in (1500, 9000)]
    roce = [goodput(link_from_name(f"roce{speed}", mtu=mtu)) / 1e6 for mtu in (1024, 2048, 4096)]
    assert [*tcp, *roce] == pytest.approx(printed, abs=0.06)


@pytest.mark.parametrize(
    ("name", "mtu", "data_gb_s", "payload_gb_s", "rounding"), TABLES["rdma_goodput"]
)
def test_goodput_of_rdma_fabrics_is_the_printed_one(
    name: str, mtu: int, data_gb_s: float, payload_gb_s: float, rounding: float
) -> None:
    link = link_from_name(name, mtu=mtu or None)
    assert link.rate_bits_per_s / 8e9 == pytest.approx(data_gb_s, abs=0.005)
    assert goodput(link) / 1e9 == pytest.approx(payload_gb_s, abs=rounding)


@pytest.mark.parametrize(("slot", "raw", "by_payload"), TABLES["pcie_goodput"])
def test_goodput_of_pcie_slots_is_the_printed_one(
    slot: str, raw: float, by_payload: tuple[float, ...]
) -> None:
    for payload, printed in zip((128, 256, 512), by_payload, strict=True):
        value, line = pcie_goodput(f"{slot} mps{payload}")
        assert value / 1e9 == pytest.approx(printed, rel=2e-3)
        assert f"{raw:.1f}"[:-1] in line


def test_old_pcie_generations_lose_a_fifth_to_their_code() -> None:
    assert "2.00 GB/s" in pcie_goodput("gen1 x8")[1]
    assert "4.00 GB/s" in pcie_goodput("gen2 x8")[1]


def test_a_wide_link_in_a_narrow_slot_is_bound_by_the_slot() -> None:
    found = limits(link_from_name("edr", pcie="gen3 x8 mps256"), "stream", "stream", 1 << 20)
    assert found.attainable_bytes_per_s == pytest.approx(7.09e9, rel=2e-3)
    assert any("PCIe is the bottleneck" in line for line in found.derivation)
    wide = limits(link_from_name("edr", pcie="gen4 x16"), "stream", "stream", 1 << 20)
    assert wide.attainable_bytes_per_s == pytest.approx(12.41e9, rel=1e-3)


FLOORS_US = {
    "shm": 0.15,
    "opa100": 0.75,
    "edr": 0.75,
    "hdr200": 0.75,
    "truescale": 1.0,
    "roce25": 1.1,
    "10gbe": 6.0,
    "1gbe": 8.0,
}


@pytest.mark.parametrize("name", FLOORS_US)
def test_latency_floor_is_the_printed_one(name: str) -> None:
    assert limits(link_from_name(name), "pingpong", "latency", 0).floor_ns == pytest.approx(
        FLOORS_US[name] * 1e3
    )


def test_floors_from_literature_are_marked_so() -> None:
    assert all(
        row.literature
        for key, row in default_table().items()
        if key.startswith("floor.") and key != "floor.any"
    )
    assert default_table()["floor.omnipath_switched"].value == 850
    assert default_table()["floor.iwarp"].value == 1400
    assert default_table()["floor.tcp_ipoib"].value == 7000
    assert all(row.source and row.unit for row in default_table().values())


def test_time_grows_by_the_payload_over_the_rate() -> None:
    link = link_from_name("40gbe", mtu=1500)
    found = limits(link, "pingpong", "latency", 16384)
    assert found.floor_ns == pytest.approx(5000 + 16384 / 4707.4e6 * 1e9, rel=1e-4)
    assert limits(link, "stream", "stream", 16384).floor_ns == pytest.approx(
        16384 / 4707.4e6 * 1e9, rel=1e-4
    )


@pytest.mark.parametrize(
    ("pattern", "form"), [("exchange", "stream"), ("put", "stream"), ("get", "stream")]
)
def test_a_link_is_full_duplex(pattern: Pattern, form: Form) -> None:
    link = link_from_name("10gbe", mtu=9000)
    assert limits(link, pattern, form, 1 << 20).attainable_bytes_per_s == goodput(link)


def lab_link(name: str, mtu: int = 1500) -> LinkClaim:
    return msgspec.structs.replace(link_from_name(name, mtu=mtu), preamble_counted=False)


def test_a_lab_link_counts_no_preamble() -> None:
    assert goodput(lab_link("1gbe")) / 1e6 == pytest.approx(119.5, abs=0.06)
    assert goodput(lab_link("1gbe", 9000)) / 1e6 == pytest.approx(124.1, abs=0.06)


def test_a_token_bucket_lets_short_messages_pass() -> None:
    assert unslowed_bytes(lab_link("1gbe")) == 16384
    assert unslowed_bytes(lab_link("10gbe")) == 65536
    assert bandwidth_threshold_bytes(lab_link("1gbe")) == 65536
    assert bandwidth_threshold_bytes(lab_link("10gbe")) == 262144
    assert bandwidth_threshold_bytes(link_from_name("10gbe")) == 0
    assert shaper_credit_bytes(link_from_name("10gbe"), idle_between_messages=True) == 0
    assert shaper_credit_bytes(lab_link("10gbe"), idle_between_messages=False) == 80_000


def test_without_timestamps_a_tcp_packet_carries_twelve_bytes_more() -> None:
    table = override(default_table(), "[tcp]\ntimestamp_option = 0\n")
    found = limits(link_from_name("1gbe", mtu=1500), "stream", "stream", 1 << 20, table)
    assert found.attainable_bytes_per_s == pytest.approx(125e6 * 0.9493, rel=1e-4)


def test_the_mtu_of_a_netdev_is_rounded_down_to_one_of_roce() -> None:
    for netdev, path in ((1500, 1024), (2200, 2048), (4200, 4096), (9000, 4096)):
        assert goodput(link_from_name("roce100", mtu=netdev)) == goodput(
            link_from_name("roce100", mtu=path)
        )


def test_an_unknown_mtu_gives_the_highest_ceiling_and_says_so() -> None:
    found = limits(link_from_name("10gbe"), "stream", "stream", 1 << 20)
    assert found.attainable_bytes_per_s == goodput(link_from_name("10gbe", mtu=9000))
    assert "MTU unknown" in found.derivation[0]


def test_no_line_no_ceiling() -> None:
    for name in ("shm", "loopback"):
        assert (
            limits(link_from_name(name), "stream", "stream", 1 << 20).attainable_bytes_per_s is None
        )
    rateless = LinkClaim(kind="mystery", protocol="tcp")
    assert limits(rateless, "stream", "stream", 1 << 20).attainable_bytes_per_s is None


@pytest.mark.parametrize("name", link_names())
def test_every_known_link_has_its_arithmetic(name: str) -> None:
    found = limits(link_from_name(name), "pingpong", "latency", 4096)
    assert found.derivation
    assert found.sources
    assert found.floor_ns > 0


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("EDR", "edr"),
        ("hdr", "hdr200"),
        ("opa", "opa100"),
        ("ib-ndr", "ndr400"),
        (" 10GbE ", "10gbe"),
    ],
)
def test_the_usual_other_names_are_understood(alias: str, name: str) -> None:
    assert link_from_name(alias).kind == name


@pytest.mark.parametrize(
    ("wrong", "near"), [("10gb", "10gbe"), ("edrr", "edr"), ("opa10", "opa100"), ("zzz", "1gbe")]
)
def test_an_unknown_link_is_refused_with_near_names(wrong: str, near: str) -> None:
    with pytest.raises(BadInput, match=near):
        link_from_name(wrong)


@pytest.mark.parametrize("slot", ["gen9 x8", "x8", "gen3", "gen3 x7", "", "gen3 x8 mps100"])
def test_a_slot_that_is_not_understood_is_refused(slot: str) -> None:
    with pytest.raises(PhysicsError, match="gen3 x8"):
        pcie_goodput(slot)


@pytest.mark.parametrize(
    ("mtu", "rate"), [(10, 1e9), (1_000_000, 1e9), (1500, 0.0), (1500, -1.0), (1500, float("nan"))]
)
def test_impossible_links_are_refused(mtu: int, rate: float) -> None:
    link = LinkClaim(kind="x", protocol="tcp", mtu=mtu, rate_bits_per_s=rate)
    with pytest.raises(PhysicsError):
        limits(link, "stream", "stream", 1)


def test_a_user_may_override_a_constant_with_a_source() -> None:
    text = '[floor]\ntcp = 6000\nrocev2 = {value = 1100, source = "measured here"}\n'
    table = override(default_table(), text)
    assert table["floor.tcp"].value == 6000
    assert not table["floor.tcp"].literature
    assert table["floor.rocev2"].source == "measured here"
    assert limits(link_from_name("10gbe"), "pingpong", "latency", 0, table).floor_ns == 6000
    assert default_table()["floor.tcp"].value == 8000


@pytest.mark.parametrize(("text", "said"), TABLES["bad_limits"])
def test_a_bad_limits_file_is_refused_in_one_sentence(text: str, said: str) -> None:
    with pytest.raises(PhysicsError, match=said) as error:
        override(default_table(), text)
    assert f"limits file, line {text.count(chr(10))}: " in str(error.value)
