"""What the catalogue says of a row, the ledger keeps: a lower bound is no absence, a counter that
pegs never wraps.
"""

import pytest

from wireproof.ledger.changes import MarkedChanges, WitnessChanges
from wireproof.ledger.crossed import crossed_at
from wireproof.ledger.ledger import HostPorts
from wireproof.model.record import Nic, Rdma, WitnessReading
from wireproof.model.traffic import CounterMark


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
        CounterMark(t_ns=0, counters=before),
        CounterMark(t_ns=ns, counters=before),
        CounterMark(t_ns=2 * ns, counters=after),
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


def turned_round(tx: int, rx: int, loopback: int) -> dict[str, float | None]:
    """Bytes that left and reached a function of mlx5 whose switch turned ``loopback`` round."""
    guest = Nic(
        name="eth0",
        driver="mlx5_core",
        rdma=Rdma(device="dev0", port=1, link_layer="Ethernet", driver="mlx5_core"),
    )
    counters = {
        "ethtool/eth0/tx_vport_rdma_unicast_bytes": (0, tx),
        "ethtool/eth0/rx_vport_rdma_unicast_bytes": (0, rx),
        "ethtool/eth0/vport_loopback_bytes": (7, 7 + loopback),
        "ib/dev0/1/counters/port_xmit_data": (0, tx // 4),
        "ib/dev0/1/counters/port_rcv_data": (0, rx // 4),
    }
    reading = WitnessReading(rank=0, interval_ns=1e9, counters=counters)
    ledger = HostPorts("a", [guest]).ledger(WitnessChanges(reading, None))
    found = {way: crossed_at(ledger, "eth0", way) for way in ("tx", "rx")}
    return {way: one.bytes for way, one in found.items()} | {"inside": found["tx"].inside}


MB = 1_000_000


@pytest.mark.parametrize(
    ("tx", "rx", "loopback", "left", "reached"),
    [
        (100 * MB, 6 * MB, 0, 100 * MB, 6 * MB),
        (100 * MB, 6 * MB, 106 * MB, 0, 0),  # all of it, counted both ways
        (100 * MB, 100 * MB, 200 * MB, 0, 0),
        (100 * MB, 6 * MB, 56 * MB, 50 * MB, 6 * MB),  # half of it
        (100 * MB, 90 * MB, 90 * MB, 100 * MB, 90 * MB),  # what came in may be what was turned
        (100 * MB, 100 * MB, 100 * MB, 100 * MB, 100 * MB),
        (100 * MB, 6 * MB, 6 * MB + 60_000, 100 * MB, 6 * MB),
    ],
)
def test_what_the_adapter_turned_round_for_certain_did_not_cross_the_wire(
    tx: int, rx: int, loopback: int, left: int, reached: int
) -> None:
    """vport_loopback_bytes holds both directions in one number."""
    seen = turned_round(tx, rx, loopback)
    assert (seen["tx"], seen["rx"]) == (left, reached)
    assert seen["inside"] == tx


EFA = port("efa", "Unspecified")


@pytest.mark.parametrize("operation", ["send_bytes", "rdma_write_bytes", "rdma_read_resp_bytes"])
def test_what_any_operation_of_efa_moved_was_sent(operation: str) -> None:
    """Nobody has read whether the device's own sum holds RDMA: what each operation moved does."""
    moved = {f"ib__DEVICE__1__hw_counters__{operation}": (0, 5 * MB)}
    seen = crossed(EFA, **moved, ib__DEVICE__1__hw_counters__tx_bytes=(0, 9000))
    assert (seen.bytes, seen.quality) == (5 * MB, "lower-bound")


def test_of_what_efa_s_operations_moved_and_what_the_device_sent_the_larger_counts() -> None:
    moved = {"ib__DEVICE__1__hw_counters__send_bytes": (0, 9000)}
    seen = crossed(EFA, **moved, ib__DEVICE__1__hw_counters__tx_bytes=(0, 5 * MB))
    assert seen.bytes == 5 * MB


def test_the_sum_of_mlx4_s_port_is_read_where_the_driver_shows_it() -> None:
    port = Nic(name="eth0", driver="mlx4_en", function="physical")
    reading = WitnessReading(
        rank=0,
        interval_ns=100e9,
        counters={"ethtool/eth0/tx_bytes_phy": (0, 5 * MB), "net/eth0/tx_bytes": (0, 90)},
    )
    seen = crossed_at(HostPorts("a", [port]).ledger(WitnessChanges(reading, None)), "eth0", "tx")
    assert (seen.bytes, seen.level) == (5 * MB, "function")
