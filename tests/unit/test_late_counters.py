"""What a late counter spoils and what it does not: it may add to what is seen, and takes nothing
away.
"""

from __future__ import annotations

import pytest

from wireproof.analysis.changes import WitnessChanges
from wireproof.analysis.ledger import HostPorts
from wireproof.model.claim import Criteria
from wireproof.model.record import Nic, Rdma, Total, WitnessReading
from wireproof.verdict.path.sight import Due, Sighting, look

NEED = 100e6
OCTETS = "ib/dev0/1/hw_counters/ip4OutOctets"
KERNEL = "net/eth0/tx_bytes"


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
    assert seen.counter == OCTETS
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


def test_more_than_the_payload_explains_is_no_proof_however_fresh():
    octets = {OCTETS.replace("/", "__"): 3 * NEED}
    assert sighting(IAVF, **octets, net__eth0__tx_bytes=0).kind != "on-wire"
