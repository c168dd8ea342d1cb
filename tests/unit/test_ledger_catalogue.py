"""What the catalogue says of a row, the ledger keeps: a lower bound is no absence, a counter that
pegs never wraps.
"""

from __future__ import annotations

import pytest

from wireproof.analysis.changes import MarkedChanges, WitnessChanges
from wireproof.analysis.crossed import crossed_at
from wireproof.analysis.ledger import HostPorts
from wireproof.model.record import Nic, Rdma, WitnessReading
from wireproof.model.traffic import Mark


def crossed(nic: Nic, **counters: tuple[int, int]):
    device = nic.rdma.device if nic.rdma is not None else ""
    names = {
        name.replace("__", "/").replace("DEVICE", device): pair for name, pair in counters.items()
    }
    reading = WitnessReading(rank=0, interval_ns=1e9, counters=names)
    return crossed_at(HostPorts("a", [nic]).ledger(WitnessChanges(reading, None)), nic.name, "tx")


def port(driver: str, link_layer: str, **more: object) -> Nic:
    rdma = Rdma(device="dev0", port=1, link_layer=link_layer, driver=driver)
    return Nic(name="dev0:1", driver=driver, kind="infiniband", rdma=rdma, **more)  # type: ignore[arg-type]


def test_too_little_on_a_lower_bound_is_no_evidence_of_absence():
    """Nobody has read whether EFA's tx_bytes hold RDMA write: a few bytes there do not say that
    none crossed.
    """
    seen = crossed(port("efa", "Unspecified"), ib__DEVICE__1__hw_counters__tx_bytes=(0, 4096))
    assert (seen.bytes, seen.quality, seen.complete) == (4096, "lower-bound", False)


def test_an_exact_counter_that_saw_too_little_is_evidence():
    seen = crossed(port("hfi1", "InfiniBand"), ib__DEVICE__1__counters__port_xmit_data=(0, 512))
    assert (seen.bytes, seen.complete) == (4096, True)


def test_a_counter_that_pegs_never_wraps():
    pegs = crossed(
        port("mlx4_core", "InfiniBand"), ib__DEVICE__1__counters__port_xmit_data=(0, 512)
    )
    wraps = crossed(port("ocrdma", "Ethernet"), ib__DEVICE__1__counters__port_xmit_data=(0, 512))
    assert pegs.wrap_bytes is None
    assert wraps.wrap_bytes == 4 * 2**32


def test_registers_at_0_in_a_guest_do_not_hide_what_the_function_counted():
    """mlx5 lists tx_bytes_phy on a virtual function too; in a guest nothing says that it is one."""
    guest = Nic(
        name="eth0",
        driver="mlx5_core",
        rdma=Rdma(device="dev0", port=1, link_layer="Ethernet", driver="mlx5_core"),
    )
    moved = {
        "ethtool__eth0__tx_bytes_phy": (0, 0),
        "ib__dev0__1__counters__port_xmit_data": (0, 1000),
    }
    healthy = crossed(guest, **moved, net__eth0__tx_bytes=(0, 50))
    assert (healthy.bytes, healthy.level, healthy.complete) == (4050, "stack", True)
    nothing = crossed(
        guest,
        ethtool__eth0__tx_bytes_phy=(0, 60),
        net__eth0__tx_bytes=(0, 50),
        ib__dev0__1__counters__port_xmit_data=(0, 1),
    )
    assert (nothing.bytes, nothing.complete) == (60, True)
    assert (
        crossed(guest, ethtool__eth0__tx_bytes_phy=(0, 9000), net__eth0__tx_bytes=(0, 50)).level
        == "wire"
    )


RXE = Nic(
    name="eth0",
    driver="virtio_net",
    rdma=Rdma(device="rxe0", port=1, link_layer="Ethernet", driver="rdma_rxe"),
)


def rxe_carried(
    seconds: float = 1.0, settled_ms: float = 100.0, **packets: int
) -> dict[str, float]:
    """What is known by carrier of 5 MB at the interface above which rxe sent and got so many
    packets.
    """
    before = {
        "net/eth0/tx_bytes": 0,
        "net/eth0/rx_bytes": 0,
        **{f"ib/rxe0/1/hw_counters/{name}": 7 for name in packets},
    }
    after = {"net/eth0/tx_bytes": 5_000_000, "net/eth0/rx_bytes": 8000}
    after |= {f"ib/rxe0/1/hw_counters/{name}": 7 + count for name, count in packets.items()}
    ns = int(seconds * 1e9)
    marks = [
        Mark(t_ns=0, counters=before),
        Mark(t_ns=ns, counters=before),
        Mark(t_ns=2 * ns, counters=after),
    ]
    seen = crossed_at(
        HostPorts("a", [RXE]).ledger(MarkedChanges(*marks, {}, settled_ms)), "eth0", "tx"
    )
    assert (seen.bytes, seen.complete) == (5_000_000, True)
    return dict(seen.by)


def test_what_crosses_an_interface_whose_rxe_moved_no_packet_is_the_kernel_s():
    assert rxe_carried(sent_pkts=0, rcvd_pkts=0) == {"kernel": 5_000_000, "rdma": 0}


@pytest.mark.parametrize(
    "packets", [{"sent_pkts": 1200, "rcvd_pkts": 90}, {"sent_pkts": 0, "rcvd_pkts": 90}, {}]
)
def test_nothing_tells_the_carriers_of_rxe_apart_once_its_packets_moved_or_are_not_counted(
    packets: dict[str, int],
):
    assert "kernel" not in rxe_carried(**packets)


def test_packets_of_rxe_that_may_be_old_say_nothing():
    """hw_counters are kept for some milliseconds."""
    assert "kernel" not in rxe_carried(seconds=0.01, settled_ms=0.0, sent_pkts=0, rcvd_pkts=0)
