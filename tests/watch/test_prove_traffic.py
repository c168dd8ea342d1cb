"""From raw readings to bytes per port: units, RDMA beside sockets, wraps, background, peaks."""

import msgspec
import pytest

from wireproof.ledger.traffic import host_traffic, not_watched, speed_of
from wireproof.model.record import Nic, Rdma
from wireproof.model.traffic import CounterMark, HostTraffic, PortTraffic, Watched, WatchStart

SECOND = 1_000_000_000
ETH = Nic(name="eth0", kind="ethernet", driver="ixgbe", speed_mbps=10_000)


def watched(
    nic: Nic,
    before: dict[str, int],
    after: dict[str, int],
    *,
    start: dict[str, int] | None = None,
    peaks: dict[str, float] | None = None,
) -> Watched:
    """One quiet second, then ten seconds of the command."""
    return Watched(
        host="n1",
        about=WatchStart(schema=1, hostname="n1", interval_ms=100, nics=[nic]),
        start=CounterMark(t_ns=0, counters=before if start is None else start),
        before=CounterMark(t_ns=SECOND, counters=before),
        after=CounterMark(t_ns=11 * SECOND, counters=after),
        peaks=peaks or {},
    )


def port(traffic: HostTraffic, name: str) -> PortTraffic:
    return next(one for one in traffic.ports if one.nic == name)


def rdma_nic(driver: str, device: str, layer: str, rate: str = "100 Gb/sec (4X EDR)") -> Nic:
    rdma = Rdma(device=device, port=1, link_layer=layer, rate=rate)
    return Nic(
        name="ib0",
        kind="ethernet" if layer == "Ethernet" else "infiniband",
        driver=driver,
        rdma=rdma,
    )


def test_bytes_of_a_plain_nic_with_its_peak() -> None:
    names = {"net/eth0/tx_bytes": 1000, "net/eth0/rx_bytes": 50}
    found = host_traffic(
        watched(
            ETH,
            names,
            {"net/eth0/tx_bytes": 5_001_000, "net/eth0/rx_bytes": 70},
            peaks={"net/eth0/tx_bytes": 9e5},
        )
    )
    eth = port(found, "eth0")
    assert (eth.tx.bytes, eth.rx.bytes, eth.tx.peak_bytes_per_s) == (5_000_000, 20, 9e5)
    assert found.seconds == 10
    assert eth.speed_bits_per_s == 1e10


def test_the_background_is_subtracted_for_the_commands_time() -> None:
    found = host_traffic(
        watched(
            ETH,
            {"net/eth0/tx_bytes": 10_000, "net/eth0/rx_bytes": 0},
            {"net/eth0/tx_bytes": 1_010_000, "net/eth0/rx_bytes": 0},
            start={"net/eth0/tx_bytes": 9_000, "net/eth0/rx_bytes": 0},
        )
    )
    tx = port(found, "eth0").tx
    assert tx.background == pytest.approx(10_000)  # 1000 in the idle second, ten seconds of command
    assert tx.bytes == pytest.approx(990_000)


@pytest.mark.parametrize(
    ("driver", "device", "unit"),
    [("mlx5_core", "mlx5_0", 4), ("hfi1", "hfi1_0", 8), ("ib_qib", "qib0", 4)],
)
def test_port_counters_in_the_unit_of_their_driver(driver: str, device: str, unit: int) -> None:
    name = f"ib/{device}/1/counters/port_xmit_data"
    other = f"ib/{device}/1/counters/port_rcv_data"
    nic = rdma_nic(driver, device, "InfiniBand")
    found = host_traffic(
        watched(
            nic,
            {name: 100, other: 0, "net/ib0/tx_bytes": 0, "net/ib0/rx_bytes": 0},
            {name: 1100, other: 10, "net/ib0/tx_bytes": 4000, "net/ib0/rx_bytes": 0},
        )
    )
    # IPoIB's bytes are in the port's already.
    assert port(found, "ib0").tx.bytes == 1000 * unit
    assert port(found, "ib0").rx.bytes == 10 * unit


def test_roce_without_phy_counters_adds_sockets_and_rdma() -> None:
    nic = rdma_nic("mlx5_core", "mlx5_0", "Ethernet")
    data, received = (f"ib/mlx5_0/1/counters/port_{way}_data" for way in ("xmit", "rcv"))
    before = {data: 0, received: 0, "net/ib0/tx_bytes": 0, "net/ib0/rx_bytes": 0}
    found = host_traffic(watched(nic, before, {**before, data: 1000, "net/ib0/tx_bytes": 500}))
    assert port(found, "ib0").tx.bytes == 4500
    assert port(found, "ib0").tx.trouble == ""


def test_the_phy_counter_has_both_and_is_taken_alone() -> None:
    nic = msgspec.structs.replace(rdma_nic("mlx5_core", "mlx5_0", "Ethernet"), function="physical")
    phy = "ethtool/ib0/tx_bytes_phy"
    before = {phy: 0, "ib/mlx5_0/1/counters/port_xmit_data": 0, "net/ib0/tx_bytes": 0}
    after = {phy: 9000, "ib/mlx5_0/1/counters/port_xmit_data": 2000, "net/ib0/tx_bytes": 900}
    # It is not read while the command runs: the peak is that of the two parts.
    peaks = {"ib/mlx5_0/1/counters/port_xmit_data": 50.0, "net/ib0/tx_bytes": 30.0}
    tx = port(host_traffic(watched(nic, before, after, peaks=peaks)), "ib0").tx
    assert (tx.bytes, tx.peak_bytes_per_s) == (9000, 230)


def test_rdma_that_cannot_be_read_is_a_trouble_not_a_zero() -> None:
    nic = rdma_nic("ice", "irdma0", "Ethernet")
    before = {"net/ib0/tx_bytes": 0, "net/ib0/rx_bytes": 0}
    tx = port(host_traffic(watched(nic, before, before)), "ib0").tx
    assert tx.bytes == 0
    assert "no counter for its RDMA" in tx.trouble


def test_an_unknown_drivers_counters_are_no_evidence() -> None:
    nic = rdma_nic("newhca", "newhca_0", "InfiniBand")
    name = "ib/newhca_0/1/counters/port_xmit_data"
    found = host_traffic(watched(nic, {name: 0}, {name: 77}))
    assert port(found, "ib0").tx.trouble == "the adapter is not in the catalogue"
    assert not found.ledger.ports["ib0"].known


def test_a_port_without_an_interface_is_read() -> None:
    name = "ib/rdmap0s31/1/hw_counters/"
    rdma = Rdma(device="rdmap0s31", port=1, driver="efa")
    efa = Nic(name="rdmap0s31:1", kind="infiniband", driver="efa", rdma=rdma)
    before, after = (
        {f"{name}tx_bytes": 5, f"{name}rx_bytes": 5},
        {f"{name}tx_bytes": 905, f"{name}rx_bytes": 15},
    )
    found = port(host_traffic(watched(efa, before, after)), "rdmap0s31:1")
    assert (found.tx.bytes, found.rx.bytes) == (900, 10)
    unreadable = port(host_traffic(watched(efa, {}, {})), "rdmap0s31:1")
    assert unreadable.tx.bytes is None


def test_rdma_that_shows_nowhere_is_a_trouble() -> None:
    names = {"net/eth0/tx_bytes": 0, "net/eth0/rx_bytes": 0}
    slingshot = Nic(name="eth0", kind="ethernet", driver="cxi_ss1")
    assert port(host_traffic(watched(slingshot, names, names)), "eth0").tx.trouble
    foreign = watched(ETH, names, names)
    assert foreign.about is not None
    foreign = msgspec.structs.replace(
        foreign, about=msgspec.structs.replace(foreign.about, foreign_sysfs=True)
    )
    assert "another network namespace" in port(host_traffic(foreign), "eth0").tx.trouble


@pytest.mark.parametrize(
    ("before", "after", "moved", "trouble"),
    [(2**32 - 100, 100, 200, ""), (2**64 - 1, 9, 10, ""), (5000, 10, None, "reset")],
)
def test_wraps_and_resets(before: int, after: int, moved: float | None, trouble: str) -> None:
    found = host_traffic(watched(ETH, {"net/eth0/tx_bytes": before}, {"net/eth0/tx_bytes": after}))
    tx = port(found, "eth0").tx
    assert (tx.bytes, tx.trouble) == (moved, trouble)


@pytest.mark.parametrize(
    ("fell", "moved"),
    [("", 4_000_000), ("net/eth0/tx_bytes", None), ("net/eth1/tx_bytes", 4_000_000)],
)
def test_a_counter_reset_while_the_command_ran_shows_nothing(fell: str, moved: int | None) -> None:
    """It was at 1 MB, fell to 0 within the run, and then reached 5 MB: a rise of 4 MB was a lie."""
    names = {"net/eth0/tx_bytes": 1_000_000, "net/eth0/rx_bytes": 50}
    seen = watched(ETH, names, names | {"net/eth0/tx_bytes": 5_000_000})
    found = host_traffic(msgspec.structs.replace(seen, fell=[fell] if fell else []))
    eth = port(found, "eth0")
    assert (eth.tx.bytes, eth.tx.trouble) == (moved, "" if moved else "reset")
    assert eth.rx.bytes == 0


def test_a_driver_whose_interface_was_made_anew_says_nothing_either() -> None:
    """Its own statistics are read before and after the command alone."""
    nic = Nic(name="eth0", kind="ethernet", driver="igb")
    names = {"ethtool/eth0/tx_bytes": 1_000_000, "net/eth0/tx_bytes": 900_000}
    after = dict.fromkeys(names, 5_000_000)
    seen = watched(nic, names, after)
    assert port(host_traffic(seen), "eth0").tx.bytes == 4_000_000
    reset = msgspec.structs.replace(seen, fell=["net/eth0/tx_bytes"])
    assert port(host_traffic(reset), "eth0").tx.bytes is None
    others = msgspec.structs.replace(seen, fell=["ib/mlx5_0/1/counters/port_xmit_data"])
    assert port(host_traffic(others), "eth0").tx.bytes == 4_000_000


def test_troubles_are_named_and_loopbacks_are_none() -> None:
    before = dict.fromkeys(
        (
            "ip/Tcp/RetransSegs",
            "ip/Tcp/OutSegs",
            "net/eth0/rx_dropped",
            "ethtool/eth0/rx_prio3_pause",
            "net/lo/rx_dropped",
            "ip/Udp/RcvbufErrors",
        ),
        0,
    )
    found = host_traffic(watched(ETH, before, dict.fromkeys(before, 7)))
    assert found.retransmits == {"ip/Tcp/RetransSegs": 7}
    assert found.tcp_segments == 7
    assert found.drops == {"net/eth0/rx_dropped": 7, "ip/Udp/RcvbufErrors": 7}
    assert found.pauses == {"ethtool/eth0/rx_prio3_pause": 7}


def test_a_watch_that_broke_off_has_an_error_and_no_ports() -> None:
    found = host_traffic(Watched(host="n1", error="the watch ended"))
    assert found.error == "the watch ended"
    assert found.ports == []
    assert host_traffic(Watched(host="n2")).error


def test_speeds() -> None:
    assert speed_of(rdma_nic("mlx5_core", "mlx5_0", "InfiniBand")) == 100e9
    assert speed_of(rdma_nic("mlx5_core", "mlx5_0", "InfiniBand", "2.5 Gb/sec (1X SDR)")) == 2.5e9
    assert speed_of(Nic(name="x")) is None


@pytest.mark.parametrize("driver", ["rdma_rxe", "siw"])
def test_the_rate_that_software_rdma_guesses_is_no_port_s_speed(driver: str) -> None:
    """linux 6.1 rdma_rxe takes an unknown speed for 1 Gb/s and prints 2.5 Gb/s for that."""
    rxe = Rdma(
        device="rxe0", port=1, link_layer="Ethernet", rate="2.5 Gb/sec (1X SDR)", driver=driver
    )
    assert speed_of(Nic(name="eth0", driver="virtio_net", rdma=rxe)) is None
    assert speed_of(Nic(name="eth0", driver="igb", speed_mbps=1000, rdma=rxe)) == 1e9


def test_hosts_that_the_output_names() -> None:
    nic = Nic(name="hsn0", address=["10.20.1.1"])
    seen = [
        Watched(
            host="n1", about=WatchStart(schema=1, hostname="n1.site", interval_ms=100, nics=[nic])
        )
    ]
    assert not_watched(["n1", "10.20.1.1", "n1-ib0", "n1.site", "localhost"], seen) == []
    assert not_watched(["n10", "10.20.1.2", "n1"], seen) == ["10.20.1.2", "n10"]
