"""What the counters say, in which unit, and what they cannot say."""

from typing import Any

import msgspec
import pytest
from tests.records import point_record

from wireproof.ledger.changes import counter_delta, trouble_counters
from wireproof.ledger.crossed import Crossed, crossed_at
from wireproof.ledger.traffic import ports_of, readers, watch
from wireproof.model.record import Host, Idle, Nic, PointRecord, Rdma, WitnessReading


def nic(driver: str = "ixgbe", device: str = "", layer: str = "InfiniBand") -> Nic:
    rdma = (
        Rdma(device=device, port=1, link_layer=layer, driver="rxe" if device == "rxe0" else driver)
        if device
        else None
    )
    kind: Any = "infiniband" if rdma is not None and layer == "InfiniBand" else "ethernet"
    link_kind = driver if driver in ("veth", "bonding") else ""
    return Nic(
        name="hsn0",
        driver=driver,
        mtu=9000,
        carrier=True,
        rdma=rdma,
        kind=kind,
        link_kind=link_kind,
        function="" if link_kind else "physical",
    )


def host(port: Nic, rank: int = 0, boot: str = "b", netns: int = 1) -> Host:
    lo = Nic(name="lo", kind="loopback")
    return Host(
        rank=rank, host=f"n{rank}", hostname=f"n{rank}", boot_id=boot, netns=netns, nics=[lo, port]
    )


def point(*readings: WitnessReading) -> PointRecord:
    return point_record(elapsed_ns=1e9, witness=list(readings))


def seen(
    port: Nic, counters: dict[str, tuple[int, int]], *unreadable: str, idle: Idle | None = None
) -> Crossed:
    reading = WitnessReading(
        rank=0, interval_ns=1e9, counters=counters, unreadable=list(unreadable)
    )
    ledgers = watch(point(reading), ports_of({0: host(port)}), {} if idle is None else {0: idle})
    return crossed_at(ledgers[0], "hsn0", "tx")


@pytest.mark.parametrize(
    ("driver", "device", "layer", "counter", "unit"),
    [
        ("ixgbe", "", "", "net/hsn0/tx_bytes", 1),
        ("mlx5_core", "mlx5_0", "InfiniBand", "ib/mlx5_0/1/counters/port_xmit_data", 4),
        ("mlx5_core", "mlx5_0", "Ethernet", "net/hsn0/tx_bytes", 1),
        ("mlx5_core", "mlx5_0", "Ethernet", "ethtool/hsn0/tx_bytes_phy", 1),
        ("mlx5_core", "mlx5_0", "Ethernet", "ib/mlx5_0/1/counters/port_xmit_data", 4),
        ("mlx4_core", "mlx4_0", "InfiniBand", "ib/mlx4_0/1/counters/port_xmit_data", 4),
        ("ib_qib", "qib0", "InfiniBand", "ib/qib0/1/counters/port_xmit_data", 4),
        ("hfi1", "hfi1_0", "InfiniBand", "ib/hfi1_0/1/counters/port_xmit_data", 8),
        ("ice", "irdma0", "Ethernet", "ib/irdma0/1/hw_counters/ip4OutOctets", 1),
        ("ice", "rocep1s0f0", "Ethernet", "ib/rocep1s0f0/hw_counters/ip4OutOctets", 1),
        ("bnxt_en", "bnxt_re0", "Ethernet", "ib/bnxt_re0/1/hw_counters/tx_bytes", 1),
        ("efa", "efa_0", "", "ib/efa_0/1/hw_counters/tx_bytes", 1),
        ("veth", "rxe0", "Ethernet", "net/hsn0/tx_bytes", 1),
    ],
)
def test_each_driver_has_its_counter_and_unit(
    driver: str, device: str, layer: str, counter: str, unit: int
) -> None:
    found = seen(nic(driver, device, layer), {counter: (1000, 1000 + 500)})
    assert found.bytes == 500 * unit
    assert counter in found.counters


def test_what_is_read_never_follows_from_a_claim() -> None:
    """Sockets and RDMA of one RoCE port are two parts of what crossed; the physical port's counter
    has both.
    """
    parts = {"net/hsn0/tx_bytes": (0, 700), "ib/mlx5_0/1/counters/port_xmit_data": (0, 500)}
    port = nic("mlx5_core", "mlx5_0", "Ethernet")
    assert seen(port, parts).bytes == 2700
    assert seen(port, parts).carried("rdma") == 2000
    whole = seen(port, {**parts, "ethtool/hsn0/tx_bytes_phy": (0, 2750)})
    assert (whole.bytes, whole.level, whole.inside) == (2750, "wire", 2700)


def test_a_counter_that_stands_at_its_end_is_not_a_zero() -> None:
    data = "ib/qib0/1/counters/port_xmit_data"
    packets = {"ib/qib0/1/counters/port_xmit_packets": (5, 250_005)}
    assert seen(nic("ib_qib", "qib0"), packets).quality == "pegged"
    assert seen(nic("ib_qib", "qib0"), {**packets, data: (2**32 - 1, 2**32 - 1)}).bytes is None


def test_idle_background_is_taken_off_in_proportion_to_time() -> None:
    idle = Idle(rank=0, interval_ns=0.2e9, counters={"net/hsn0/tx_bytes": 100})
    found = seen(nic(), {"net/hsn0/tx_bytes": (0, 10_000)}, idle=idle)
    assert (found.bytes, found.background) == (9_500, 500)
    quiet = seen(nic(), {"net/hsn0/tx_bytes": (0, 100)}, idle=idle)
    assert quiet.bytes == 0


@pytest.mark.parametrize(
    ("before", "after", "delta", "remark"),
    [
        (5, 9, 4, ""),
        (2**32 - 10, 20, 30, "wrapped"),
        (2**64 - 10, 20, 30, ""),
        (2**33, 2**33 + 7, 7, ""),
        (5_000, 10, None, "reset"),
        (2**40, 10, None, "reset"),
        (100, 2**32 - 1, None, "saturated"),
        (-1, 5, None, "negative"),
    ],
)
def test_a_counter_may_wrap_once_and_never_run_backwards(
    before: int, after: int, delta: int | None, remark: str
) -> None:
    assert counter_delta(before, after) == (delta, remark)


def test_a_register_of_56_bits_wraps_and_a_wider_counter_is_reset() -> None:
    assert counter_delta(2**56 - 10, 20, 56) == (30, "")
    assert counter_delta(2**56 - 10, 20) == (None, "reset")


def test_a_silent_counter_is_zero_only_where_it_can_be_read() -> None:
    assert seen(nic(), {}).bytes == 0
    assert seen(nic(), {}, "net/hsn0/tx_bytes", "ethtool/hsn0/*").bytes is None
    standing = Idle(rank=0, interval_ns=0.2e9, standing={"net/hsn0/tx_bytes": 7})
    assert seen(nic("ice", "irdma0", "Ethernet"), {}, idle=standing).complete is False
    assert seen(nic("ixgbe"), {}, idle=standing).complete


def test_the_engine_tells_the_kernel_from_rdma_in_software_by_packets_that_stood_still() -> None:
    port = nic("virtio_net", "rxe0", "Ethernet")
    assert port.rdma is not None
    rdma = msgspec.structs.replace(port.rdma, driver="rdma_rxe")
    port = msgspec.structs.replace(port, rdma=rdma)
    packets = {f"ib/rxe0/1/hw_counters/{name}": 7 for name in ("sent_pkts", "rcvd_pkts")}
    moved = {"net/hsn0/tx_bytes": (0, 5_000_000), "net/hsn0/rx_bytes": (0, 8000)}
    both = Idle(rank=0, interval_ns=0.2e9, standing={"net/hsn0/tx_bytes": 0} | packets)
    old = Idle(rank=0, interval_ns=0.2e9, standing={"net/hsn0/tx_bytes": 0})
    some = {"ib/rxe0/1/hw_counters/sent_pkts": (7, 1207)}
    assert dict(seen(port, moved, idle=both).by) == {"kernel": 5_000_000, "rdma": 0}
    assert "kernel" not in dict(seen(port, moved | some, idle=both).by)
    assert "kernel" not in dict(seen(port, moved, idle=old).by)


def test_ranks_of_one_namespace_share_a_reader() -> None:
    hosts = {0: host(nic(), 0), 1: host(nic(), 1), 2: host(nic(), 2, "c"), 3: host(nic(), 3, "c")}
    found = readers(
        point(
            WitnessReading(rank=0, interval_ns=1.0),
            WitnessReading(rank=1, interval_ns=1.0, shared_with=0),
            WitnessReading(rank=2, interval_ns=1.0),
        ),
        hosts,
    )
    assert found == {0: 0, 1: 0, 2: 2, 3: 2}


def test_trouble_is_surfaced_by_group() -> None:
    found = trouble_counters(
        {
            "ib/mlx5_0/1/hw_counters/packet_seq_err": 3,
            "ethtool/hsn0/rx_prio3_pause": 9,
            "net/hsn0/rx_dropped": 2,
            "net/hsn0/tx_bytes": 10**9,
            "net/hsn0/tx_errors": 0,
        }
    )
    assert {group: sum(rose.values()) for group, rose in found.items()} == {
        "retransmits": 3,
        "pauses": 9,
        "drops": 2,
    }


def test_what_a_container_hides_may_have_carried_it() -> None:
    """/sys shows no RDMA device, and the kernel has one: sockets that stood still are no proof that
    nothing crossed.
    """
    hidden = msgspec.structs.replace(
        nic(), hidden="mlx5_ib is loaded and /sys/class/infiniband shows no device"
    )
    found = seen(hidden, {"net/hsn0/tx_bytes": (0, 120)})
    assert not found.complete
    assert "mlx5_ib" in found.remark
