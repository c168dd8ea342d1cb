"""What a late counter spoils and what it does not: it may add to what is seen, and takes nothing
away.
"""

import msgspec
import pytest

from wireproof.instrument.plan_text import write_plan
from wireproof.ledger.catalogue import (
    AT_ONCE_MS,
    Patience,
    by_driver,
    families,
    late_drivers,
    patience,
    settle_ms,
)
from wireproof.ledger.changes import WitnessChanges
from wireproof.ledger.ledger import HostPorts
from wireproof.model.claim import Criteria
from wireproof.model.plan import Plan, Transport, WitnessPolicy
from wireproof.model.record import Nic, Rdma, Total, WitnessReading
from wireproof.verdict.path.sight import Due, Sighting, look

NEED = 100e6
OCTETS = "ib/dev0/1/hw_counters/ip4OutOctets"


def port(driver: str, rdma_driver: str, function: str = "") -> Nic:
    rdma = Rdma(device="dev0", port=1, link_layer="Ethernet", driver=rdma_driver)
    return Nic(name="eth0", driver=driver, kind="ethernet", rdma=rdma, function=function)  # type: ignore[arg-type]


def sighting(nic: Nic, *, settled_s: float = 0.0, **moved: float) -> Sighting:
    """100 MB were due at ``nic``; its counters rose by ``moved``."""
    counters = {
        name.replace("__", "/").replace("DOT", "."): (0, int(count))
        for name, count in moved.items()
    }
    reading: WitnessReading | Total = WitnessReading(rank=0, interval_ns=1e9, counters=counters)
    if settled_s:
        reading = Total(rank=0, interval_ns=1e9, settled_ns=settled_s * 1e9, counters=counters)
    ledger = HostPorts("a", [nic]).ledger(WitnessChanges(reading, None))
    due = Due(own=NEED, need=NEED, most=1.2 * NEED, payload=NEED)
    return look(ledger, 0, "eth0", "tx", due, Criteria())


IAVF = port("iavf", "iavf", "virtual")


def test_exact_rdma_bytes_that_cover_the_need_are_proof_beside_a_late_counter_at_0():
    seen = sighting(IAVF, **{OCTETS.replace("/", "__"): 1.01 * NEED}, net__eth0__tx_bytes=0)
    assert (seen.kind, seen.quality, seen.level) == ("on-wire", "exact", "function")
    assert seen.by == (("rdma", 1.01 * NEED),)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.97])
def test_what_is_fresh_and_too_little_is_no_proof_of_absence_beside_a_late_counter(share):
    """The rest may have gone through the kernel, whose counter is 2 s late."""
    octets = {OCTETS.replace("/", "__"): share * NEED}
    assert sighting(IAVF, **octets, net__eth0__tx_bytes=0).kind == "stale"


def test_after_the_wait_the_same_counters_are_proof_of_absence():
    octets = {OCTETS.replace("/", "__"): 0}
    gone = sighting(IAVF, settled_s=2.5, **octets, net__eth0__tx_bytes=0)
    assert (gone.kind, gone.quality) == ("off-wire", "exact")


def test_a_late_counter_on_the_wire_may_yet_show_that_the_adapter_turned_the_bytes_round():
    rdma = {"ib__dev0__1__hw_counters__tx_rdma_ucast_bytes": 1.01 * NEED}
    ionic = port("ionic", "ionic_rdma", "physical")
    assert sighting(ionic, **rdma, ethtool__eth0__octets_tx_total=0).kind == "stale"
    assert sighting(ionic, **rdma).kind == "on-wire", "the port's own row is not there"


def test_a_late_sum_of_the_port_does_not_hide_the_rdma_counter_of_the_same_level():
    moved = {"ib__dev0__1__counters__port_xmit_data": 1.01 * NEED / 4}
    late = {f"ethtool__eth0__tx_prio_{number}_bytes": 0 for number in range(8)}
    mlx4 = port("mlx4_en", "mlx4_core", "physical")
    assert sighting(mlx4, **moved, **late).kind == "on-wire"


BNXT_VF = port("bnxt_en", "bnxt_en", "virtual")
ROCE = "ib__dev0__1__hw_counters__"


def test_what_the_firmware_is_asked_for_proves_beside_the_same_bytes_that_come_late():
    moved = {f"{ROCE}tx_bytes": 0, f"{ROCE}tx_roce_only_bytes": 1.01 * NEED}
    seen = sighting(BNXT_VF, **moved, net__eth0__tx_bytes=0)
    assert (seen.kind, seen.by) == ("on-wire", (("rdma", 1.01 * NEED),))
    little = {f"{ROCE}tx_bytes": 0, f"{ROCE}tx_roce_only_bytes": 0.3 * NEED}
    assert sighting(BNXT_VF, **little, net__eth0__tx_bytes=0).kind == "stale"


def test_after_the_wait_the_exact_counter_decides_and_not_its_lower_bound():
    little = {f"{ROCE}tx_bytes": 900, f"{ROCE}tx_roce_only_bytes": 900}
    gone = sighting(BNXT_VF, settled_s=2.5, **little, net__eth0__tx_bytes=90)
    assert (gone.kind, gone.quality) == ("off-wire", "exact")


def test_more_than_the_payload_explains_is_no_proof_however_fresh():
    octets = {OCTETS.replace("/", "__"): 3 * NEED}
    assert sighting(IAVF, **octets, net__eth0__tx_bytes=0).kind != "on-wire"


def _port_of(driver: str, kind: str = "ethernet", **more: object) -> Nic:
    return Nic(name="eth0", driver=driver, kind=kind, **more)  # type: ignore[arg-type]


def test_each_late_driver_of_the_catalogue_is_waited_for_longer_than_its_slowest_counter():
    for driver, ms in late_drivers():
        family = by_driver(driver)
        slowest = max(row.refresh_ms for row in family.rows)
        assert slowest < ms <= 60_000, driver
        assert settle_ms([_port_of(driver.replace("*", ""))]) >= ms


def test_every_driver_that_is_not_listed_shows_its_bytes_at_once():
    late = {driver for driver, _ in late_drivers()}
    for family in families():
        for driver in set(family.drivers) - late:
            assert all(row.refresh_ms <= AT_ONCE_MS for row in family.rows), driver
            assert settle_ms([_port_of(driver.replace("*", ""))]) == 0, driver


def test_only_ports_that_are_up_are_waited_for():
    assert settle_ms([]) == 0
    assert settle_ms([_port_of("bnxt_en", carrier=True)]) == 2500
    assert settle_ms([_port_of("bnxt_en", carrier=False)]) == 0
    assert settle_ms([IAVF, _port_of("idpf"), _port_of("mlx5_core")]) == 12_100


def test_a_watch_of_ports_waits_on_both_sides_of_the_command():
    assert patience([]) == Patience(1.0, 0.1, 0.0)
    assert patience([_port_of("veth", "virtual")]) == Patience(1.0, 0.1, 0.0)
    assert patience([_port_of("mlx5_core")]) == Patience(1.0, 1.2, 1.0)
    assert patience([_port_of("idpf")]) == Patience(12.1, 12.1, 12.1)
    assert patience([_port_of("tg3", "virtual")]).settled_s == 1.3, "a late driver is no software"


def test_the_plan_tells_the_engine_whom_to_wait_for():
    policy = WitnessPolicy(late=(("idpf*", 12100), ("a b,c", 5)))
    plan = Plan(run_id="r", seed=1, transport=Transport(kind="null"), ranks=(), points=())
    text = write_plan(msgspec.structs.replace(plan, witness=policy))
    assert "witness idle_ms=200 root=/ late=idpf*:12100,a%20b%2Cc:5\n" in text
    assert " late=" not in write_plan(plan)
