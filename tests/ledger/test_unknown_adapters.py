"""An adapter whose driver nobody has read: without an RDMA device, what the kernel counted did
cross it; what it did not count may have crossed as well. A radio counts well and is not a wire.
"""

import pytest
from tests.records import imb_rates

from wireproof.ledger.catalogue import Patience, patience
from wireproof.ledger.changes import WitnessChanges
from wireproof.ledger.ledger import HostPorts, Ledger
from wireproof.model.claim import Claim, Criteria, HostClaim
from wireproof.model.record import Nic, Rdma, WitnessReading
from wireproof.model.series import SeriesPoint
from wireproof.model.traffic import HostTraffic, Traffic, TrafficVerdict
from wireproof.verdict.path.sight import Due, Sighting, look
from wireproof.watch.verdict import judge_traffic

NEED = 100e6
ETH1 = Nic(name="eth1", driver="igb")


def nic(driver: str = "newcomer", **more: object) -> Nic:
    return Nic(name="eth0", driver=driver, **more)  # type: ignore[arg-type]


def ledger(
    port: Nic, eth0: float, eth1: float = 0.0, seconds: float = 1.0, ways: str = "tx rx"
) -> Ledger:
    counters = {
        f"net/{name}/{way}_bytes": (0, int(count) if way in ways else 0)
        for name, count in (("eth0", eth0), ("eth1", eth1))
        for way in ("tx", "rx")
    }
    reading = WitnessReading(rank=0, interval_ns=seconds * 1e9, counters=counters)
    return HostPorts("a", [port, ETH1]).ledger(WitnessChanges(reading, None))


def sighting(port: Nic, eth0: float, eth1: float = 0.0) -> Sighting:
    due = Due(own=NEED, need=NEED, most=1.2 * NEED, payload=NEED)
    return look(ledger(port, eth0 * NEED, eth1 * NEED), 0, "eth0", "tx", due, Criteria())


def proved(port: Nic, eth0: float, eth1: float = 0.0, claimed: str = "eth0") -> TrafficVerdict:
    """A stream of 100 MB from n1 to n2."""
    hosts = [
        HostTraffic(host=name, seconds=10, ports=[], ledger=ledger(port, eth0, eth1, 10.0, way))
        for name, way in (("n1", "tx"), ("n2", "rx"))
    ]
    point = SeriesPoint(message_bytes=1_000_000, goodput_bytes_per_s=10e6, iterations=100)
    series = imb_rates([point])
    claim = Claim(hosts=[HostClaim(rank=i, host=f"n{i + 1}", nic=claimed) for i in (0, 1)])
    traffic = Traffic(hosts=hosts, seconds=10, idle_s=1, interval_s=0.1)
    return judge_traffic(traffic, [series], claim)


@pytest.mark.parametrize(
    ("eth0", "eth1", "kind"),
    [
        (1.02, 0.0, "on-wire"),
        (0.0, 1.02, "wrong-path"),
        (0.5, 0.52, "mixed"),
        (0.0, 0.0, "unknown"),
        (0.5, 0.0, "unknown"),
        (0.0, 0.5, "unknown"),
        (3.0, 0.0, "background"),
    ],
)
def test_what_the_kernel_counted_speaks_and_what_it_did_not_count_does_not(
    eth0: float, eth1: float, kind: str
) -> None:
    assert sighting(nic(), eth0, eth1).kind == kind


@pytest.mark.parametrize("share", [0.0, 0.5, 1.02])
def test_beside_an_rdma_device_of_an_unknown_driver_nothing_is_known(share: float) -> None:
    port = nic(rdma=Rdma(device="new_0", port=1, driver="newcomer"))
    assert sighting(port, share).kind == "unknown"


def test_an_unknown_virtual_interface_and_a_port_without_a_driver_stay_unknown() -> None:
    assert sighting(nic(kind="virtual", link_kind="novel"), 1.02).kind == "unknown"
    assert sighting(nic(driver=""), 1.02).kind == "unknown"


def test_prove_decides_by_what_the_kernel_counted() -> None:
    assert proved(nic(), 102e6).proof == "on-wire"
    assert proved(nic(), 1e3, 102e6).proof == "wrong-path"
    nothing = proved(nic(), 1e3)
    assert nothing.proof == "unproven"
    assert "newcomer is not in the catalogue" in nothing.reasons[0].message
    assert proved(nic(rdma=Rdma(device="new_0", port=1)), 102e6).proof == "unproven"


def test_prove_waits_for_an_unknown_adapter_as_long_as_for_the_slowest_that_is_known() -> None:
    assert patience([nic()]) == Patience(12.1, 12.1, 12.1)
    assert patience([nic(carrier=False), ETH1]) == patience([ETH1])
    rdma = nic(rdma=Rdma(device="new_0", port=1, driver="newcomer"))
    assert patience([rdma]) == patience([ETH1]), "no wait decides it"


def test_a_radio_is_no_wire_and_its_counters_are_exact() -> None:
    radio = nic("iwlwifi", link_kind="wlan")
    assert sighting(radio, 1.02).kind == "unknown"
    assert sighting(radio, 0.0).kind == "off-wire"
    assert sighting(radio, 0.0, 1.02).kind == "wrong-path"
    for claimed in ("eth0", ""):
        found = proved(radio, 102e6, claimed=claimed)
        assert (found.proof, found.reasons[0].code) == ("unproven", "traffic-adapter-unknown")
        assert "eth0 is a Wi-Fi interface" in found.reasons[0].message
