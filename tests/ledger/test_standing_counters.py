"""Counters that a setting stops: where none of the port's moved over a whole run, they may be
stopped, and their silence proves nothing. One that moved at all is alive.
"""

import pytest

from wireproof.ledger.changes import MarkedChanges, WitnessChanges
from wireproof.ledger.ledger import HostPorts
from wireproof.model.claim import Criteria
from wireproof.model.record import Idle, Nic, Rdma, Total, WitnessReading
from wireproof.model.traffic import CounterMark
from wireproof.verdict.path.sight import Due, Sighting, look

NEED = 100e6
STANDING = {f"net/hsn0/{way}_bytes": 0 for way in ("tx", "rx")}
PORT_STANDING = {f"ethtool/hsn0/{way}_bytes": 0 for way in ("tx", "rx")}
ETH0 = Nic(name="eth0", driver="igb")
SETTING = "stats-block-usecs 0"


def nic(driver: str = "bnxt_en", **more: object) -> Nic:
    return Nic(name="hsn0", driver=driver, function="physical", **more)  # type: ignore[arg-type]


def sighting(port: Nic, eth0: float = 0.0, moved: frozenset[str] = frozenset(), **counted: int):
    """What the whole run shows at ``port``, when 100 MB were due there."""
    names = {name.replace("__", "/"): (0, count) for name, count in counted.items()}
    names |= {f"net/eth0/{way}_bytes": (0, int(eth0 * NEED)) for way in ("tx", "rx")}
    total = Total(rank=0, interval_ns=30e9, settled_ns=3e9, counters=names)
    standing = STANDING | PORT_STANDING | dict.fromkeys(names, 0)
    idle = Idle(rank=0, interval_ns=1e9, counters={}, standing=standing)
    ports = HostPorts("a", [port, ETH0], moved=moved)
    due = Due(own=NEED, need=NEED, most=1.2 * NEED, payload=NEED)
    return look(ports.ledger(WitnessChanges(total, idle)), 0, "hsn0", "tx", due, Criteria())


@pytest.mark.parametrize("driver", ["bnxt_en", "bnx2", "qede"])
def test_counters_at_a_dead_stop_are_no_evidence_of_absence(driver: str) -> None:
    seen: Sighting = sighting(nic(driver))
    assert seen.kind == "blind"
    assert SETTING in seen.remark


@pytest.mark.parametrize(
    "alive", ["net__hsn0__rx_packets", "net__hsn0__tx_bytes", "ethtool__hsn0__rx_bytes"]
)
def test_one_packet_shows_that_the_counters_are_alive(alive: str) -> None:
    """A neighbour's broadcast is enough: then what is missing did not cross."""
    assert sighting(nic(), **{alive: 60}).kind == "off-wire"


def test_what_moved_before_the_interval_was_alive() -> None:
    assert sighting(nic(), moved=frozenset({"net/hsn0/rx_bytes"})).kind == "off-wire"
    assert sighting(nic(), moved=frozenset({"net/eth0/rx_bytes"})).kind == "blind"


def test_over_a_run_that_is_known_late_counters_need_no_long_interval_to_be_stopped() -> None:
    """A point of a second is too short for counters that come once a second, and says nothing of
    them by itself.
    """
    counters = {"net/eth0/rx_bytes": (0, 90)}
    idle = Idle(rank=0, interval_ns=1e9, counters={}, standing=STANDING | PORT_STANDING)
    reading = WitnessReading(rank=0, interval_ns=1e9, counters=counters)
    for moved, quality in ((None, "stale"), ({"net/eth0/rx_bytes"}, "lower-bound")):
        ledger = HostPorts("a", [nic(), ETH0], moved=moved).ledger(WitnessChanges(reading, idle))
        assert {entry.quality for entry in ledger.ports["hsn0"].tx} == {quality}


def test_messages_of_nothing_but_headers_are_not_proven_by_a_counter_that_shows_none() -> None:
    ledger = HostPorts("a", [nic()]).ledger(
        WitnessChanges(
            Total(rank=0, interval_ns=30e9, settled_ns=3e9),
            Idle(rank=0, interval_ns=1e9, counters={}, standing=STANDING),
        )
    )
    due = Due(own=NEED, need=NEED, most=1.2 * NEED, payload=0.0)
    assert look(ledger, 0, "hsn0", "tx", due, Criteria()).kind == "blind"


def test_another_port_that_carried_all_of_it_still_decides() -> None:
    assert sighting(nic(), eth0=1.02).kind == "wrong-path"


@pytest.mark.parametrize("driver", ["tg3", "igb", "virtio_net", "mlx5_core"])
def test_counters_that_no_setting_stops_are_evidence_when_they_stand(driver: str) -> None:
    assert sighting(nic(driver)).kind == "off-wire"


def test_rdma_counters_of_their_own_prove_beside_counters_that_stand() -> None:
    port = nic(rdma=Rdma(device="bnxt_re0", port=1, link_layer="Ethernet", driver="bnxt_en"))
    moved = {"ib__bnxt_re0__1__hw_counters__tx_bytes": int(1.01 * NEED)}
    assert sighting(port, **moved).kind == "on-wire"


def test_prove_sees_the_same_between_its_marks() -> None:
    names = STANDING | PORT_STANDING
    marks = [CounterMark(t_ns=int(t * 1e9), counters=dict(names)) for t in (0, 3, 33)]
    ledger = HostPorts("a", [nic()]).ledger(MarkedChanges(*marks, {}, 3000.0))
    (first, *_) = ledger.ports["hsn0"].tx
    assert (first.bytes, first.quality) == (0.0, "lower-bound")
    assert SETTING in first.remark
