"""What the counters say, in which unit, and what they cannot say."""

from __future__ import annotations

import pytest

from wireproof.analysis.counters import is_stacked, sources, trouble_counters
from wireproof.analysis.witness import counter_delta, readers, watch
from wireproof.model.claim import Protocol
from wireproof.model.record import Host, Idle, Nic, PointRecord, Rdma, WitnessReading


def nic(driver: str = "ixgbe", device: str = "", layer: str = "InfiniBand") -> Nic:
    rdma = Rdma(device=device, port=1, link_layer=layer) if device else None
    return Nic(name="hsn0", driver=driver, mtu=9000, carrier=True, rdma=rdma)


def host(port: Nic, rank: int = 0, boot: str = "b", netns: int = 1) -> Host:
    lo = Nic(name="lo", kind="loopback")
    return Host(rank=rank, host=f"n{rank}", hostname=f"n{rank}", boot_id=boot, netns=netns, nics=[lo, port])


def point(*readings: WitnessReading) -> PointRecord:
    return PointRecord(
        id=0, pattern="stream", form="stream", message_bytes=8, window=1, formula="robust", started_unix_ns=0,
        elapsed_ns=1e9, pairs=[], witness=list(readings),
    )  # fmt: skip


def seen(port: Nic, counters: dict[str, tuple[int, int]], protocol: Protocol, unreadable: tuple[str, ...] = (), **more):  # type: ignore[no-untyped-def]
    reading = WitnessReading(rank=0, interval_ns=1e9, counters=counters, unreadable=list(unreadable))
    return watch(point(reading), {0: host(port)}, more.get("idle", {}), protocol, more.get("units"))[0].ports["hsn0"].tx


@pytest.mark.parametrize(
    ("driver", "device", "layer", "protocol", "counter", "unit"),
    [
        ("ixgbe", "", "", "tcp", "net/hsn0/tx_bytes", 1),
        ("mlx5_core", "mlx5_0", "InfiniBand", "infiniband", "ib/mlx5_0/1/counters/port_xmit_data", 4),
        ("mlx5_core", "mlx5_0", "InfiniBand", "tcp", "net/hsn0/tx_bytes", 1),
        ("mlx5_core", "mlx5_0", "Ethernet", "rocev2", "ethtool/hsn0/tx_bytes_phy", 1),
        ("mlx5_core", "mlx5_0", "Ethernet", "rocev2", "ib/mlx5_0/1/counters/port_xmit_data", 4),
        ("mlx4_core", "mlx4_0", "InfiniBand", "infiniband", "ib/mlx4_0/1/counters/port_xmit_data", 4),
        ("ib_qib", "qib0", "InfiniBand", "truescale", "ib/qib0/1/counters/port_xmit_data", 4),
        ("hfi1", "hfi1_0", "InfiniBand", "omnipath", "ib/hfi1_0/1/counters/port_xmit_data", 8),
        ("ice", "irdma0", "Ethernet", "rocev2", "ib/irdma0/1/hw_counters/ip4OutOctets", 1),
        ("ice", "rocep1s0f0", "Ethernet", "rocev2", "ib/rocep1s0f0/hw_counters/ip4OutOctets", 1),
        ("bnxt_en", "bnxt_re0", "Ethernet", "rocev2", "ib/bnxt_re0/1/hw_counters/tx_bytes", 1),
        ("efa", "efa_0", "Ethernet", "rocev2", "ib/efa_0/1/hw_counters/tx_bytes", 1),
        ("veth", "rxe0", "Ethernet", "rocev2", "net/hsn0/tx_bytes", 1),
    ],
)
def test_each_driver_has_its_counter_and_unit(
    driver: str, device: str, layer: str, protocol: Protocol, counter: str, unit: int
) -> None:
    found = seen(nic(driver, device, layer), {counter: (1000, 1000 + 500)}, protocol)
    assert (found.bytes, found.counter, found.trouble) == (500 * unit, counter, "")


def test_rdma_does_not_show_in_netdev_statistics() -> None:
    found = seen(nic("mlx5_core", "mlx5_0"), {"net/hsn0/tx_bytes": (0, 10**9)}, "infiniband")
    assert found.bytes == 0


def test_idle_background_is_taken_off_in_proportion_to_time() -> None:
    idle = {0: Idle(rank=0, interval_ns=0.2e9, counters={"net/hsn0/tx_bytes": 100})}
    found = seen(nic(), {"net/hsn0/tx_bytes": (0, 10_000)}, "tcp", idle=idle)
    assert (found.bytes, found.background, found.raw) == (9_500, 500, 10_000)
    quiet = seen(nic(), {"net/hsn0/tx_bytes": (0, 100)}, "tcp", idle=idle)
    assert quiet.bytes == 0


@pytest.mark.parametrize(
    ("before", "after", "delta", "remark"),
    [
        (5, 9, 4, ""),
        (2**32 - 10, 20, 30, "wrapped"),
        (2**64 - 10, 20, 30, "wrapped"),
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


def test_a_silent_counter_is_zero_only_where_it_is_known_to_exist() -> None:
    assert seen(nic(), {}, "tcp").bytes == 0
    assert seen(nic(), {}, "tcp", ("net/hsn0/tx_bytes",)).trouble == "unreadable"
    assert seen(nic(), {}, "tcp", ("net/hsn0/*",)).trouble == "unreadable"
    assert seen(nic("newcomer", "new0"), {}, "infiniband").trouble == "silent"


def test_an_unknown_driver_needs_a_proven_unit() -> None:
    counters = {"ib/new0/1/counters/port_xmit_data": (0, 250)}
    assert seen(nic("newcomer", "new0"), counters, "infiniband").trouble == "unit"
    assert seen(nic("newcomer", "new0"), counters, "infiniband", units={"newcomer": 4}).bytes == 1000


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
    assert {group: sum(rose.values()) for group, rose in found.items()} == {"retransmits": 3, "pauses": 9, "drops": 2}


def test_bonds_and_bridges_count_twice() -> None:
    assert is_stacked(nic("bonding"))
    assert not is_stacked(nic("ixgbe"))
    assert not is_stacked(nic("veth"))


def test_loopback_is_read_from_its_netdev_whatever_the_protocol() -> None:
    lo = Nic(name="lo", kind="loopback")
    assert sources(lo, "infiniband", "tx")[0].names == ("net/lo/tx_bytes",)
