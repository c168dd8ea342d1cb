"""What an adversarial reading found wrong about the path, each case with the verdict that is right.

The numbers in the names are those of the audit's table; the ports are described as its scripts
describe them.
"""

import random
from itertools import accumulate

import pytest
from tests.synthetic import World, run_of
from tests.truth.audit_runs import (
    ETH0,
    LO,
    base,
    large,
    nic,
    proofs,
    replace,
    rewitness,
    wire,
    with_nics,
)

from wireproof.model.claim import HostClaim
from wireproof.model.finding import Judgement
from wireproof.model.record import PointRecord
from wireproof.model.run import Run
from wireproof.physics import claim_from_text, link_from_name
from wireproof.verdict.run import judge

NOT_FALSE = {"on-wire", "unproven"}
IB = nic("hsn0", "mlx5_core", "mlx5_0", "InfiniBand", kind="infiniband", mtu=2044)
ROCE = nic("hsn0", "mlx5_core", "mlx5_0", "Ethernet", mtu=4200)


def fails(found: Judgement) -> set[str]:
    return {finding.code for finding in found.findings if finding.severity == "fail"}


def words(device: str, tx: int, rx: int, unit: int = 4) -> dict[str, int]:
    where = f"ib/{device}/1/counters/port_"
    return {
        f"{where}xmit_data": tx // unit,
        f"{where}rcv_data": rx // unit,
        f"{where}xmit_packets": tx // 4000,
        f"{where}rcv_packets": rx // 4000,
    }


def octets(device: str, tx: int, rx: int) -> dict[str, int]:
    where = f"ib/{device}/1/hw_counters/ip4"
    return {f"{where}OutOctets": tx, f"{where}InOctets": rx}


def netdev(name: str, tx: int, rx: int) -> dict[str, int]:
    return {f"net/{name}/tx_bytes": tx, f"net/{name}/rx_bytes": rx}


def infiniband(point: PointRecord, rank: int) -> dict[str, int]:
    return {**netdev("eth0", 3000, 3000), **words("mlx5_0", *wire(point, rank))}


def roce(point: PointRecord, rank: int) -> dict[str, int]:
    tx, rx = wire(point, rank, header=82)
    phy = {"ethtool/hsn0/tx_bytes_phy": tx, "ethtool/hsn0/rx_bytes_phy": rx}
    return {
        **netdev("eth0", 3000, 3000),
        **netdev("hsn0", 500, 500),
        **phy,
        **words("mlx5_0", tx, rx),
    }


def unclaimed(run: Run, link: str = "") -> Run:
    return replace(run, claim=replace(run.claim, link=link_from_name(link) if link else None))


def test_t1_infiniband_without_a_claimed_link_is_on_wire():
    run = rewitness(with_nics(base("edr", 1200.0), LO, ETH0, IB), infiniband)
    found = judge(unclaimed(run))
    assert large(found) == {"on-wire"}
    assert not fails(found)


def test_t1_infiniband_without_a_claimed_link_or_nic_is_on_wire():
    run = unclaimed(rewitness(with_nics(base("edr", 1200.0), LO, ETH0, IB), infiniband))
    run = replace(
        run, claim=replace(run.claim, hosts=[replace(host, nic="") for host in run.claim.hosts])
    )
    assert large(judge(run)) == {"on-wire"}


def test_t1_roce_without_a_claimed_link_is_on_wire():
    run = rewitness(with_nics(base("roce100", 1500.0), LO, ETH0, ROCE), roce)
    assert large(judge(unclaimed(run))) == {"on-wire"}


def test_t2_roce_on_a_claimed_ethernet_nic_is_not_off_wire():
    run = rewitness(with_nics(base("roce100", 1500.0), LO, ETH0, ROCE), roce)
    found = judge(unclaimed(run, "100gbe"))
    assert large(found) == {"on-wire"}
    said = " ".join(finding.code for finding in found.findings)
    assert "tcp" in said or "protocol" in said or "rdma" in said, said


IRDMA = ("ice", "irdma0", "Ethernet")


@pytest.mark.parametrize(
    ("link", "path", "driver", "right"),
    [
        ("psm3:100", "", IRDMA, {"on-wire"}),
        ("ethernet:100", "psm3", IRDMA, {"on-wire"}),
        ("ethernet:100", "psm3", ("mlx5_core", "mlx5_0", "Ethernet"), {"on-wire"}),
        ("edr", "psm3", ("mlx5_core", "mlx5_0", "InfiniBand"), {"on-wire"}),
        ("slingshot200", "", ("cxi_core", "", ""), NOT_FALSE),
        ("efa100", "", ("ena", "efa_0", "Ethernet"), NOT_FALSE),
    ],
)
def test_t2_a_claimed_psm3_slingshot_or_efa_link_is_never_off_wire(link, path, driver, right):
    claim = claim_from_text(link, path=path, mtu=None)
    run = base(_RATE_OF[claim.protocol], 12000.0, driver=driver[0], efficiency=0.95)
    run = replace(run, claim=replace(run.claim, link=claim))
    run = with_nics(
        run, LO, ETH0, nic("hsn0", *driver, mtu=2044 if driver[2] == "InfiniBand" else 9000)
    )

    def counted(point: PointRecord, rank: int) -> dict[str, int]:
        tx, rx = wire(point, rank, mtu=4000, header=80)
        return {
            **netdev("eth0", 3000, 4000),
            **netdev("hsn0", 120, 240),
            **_counters_of(driver, tx, rx),
        }

    assert large(judge(rewitness(run, counted))) <= right


_RATE_OF = {"psm3": "roce100", "slingshot": "slingshot200", "efa": "efa100", "infiniband": "edr"}


def _counters_of(driver: tuple[str, str, str], tx: int, rx: int) -> dict[str, int]:
    match driver[0]:
        case "ice":
            return octets("irdma0", tx, rx)
        case "mlx5_core" if driver[2] == "InfiniBand":
            return words("mlx5_0", tx, rx)
        case "mlx5_core":
            return {
                "ethtool/hsn0/tx_bytes_phy": tx,
                "ethtool/hsn0/rx_bytes_phy": rx,
                **words("mlx5_0", tx, rx),
            }
        case "cxi_core":
            return {"ethtool/hsn0/hni_tx_ok_octets": tx}
        case _:
            return {"ib/efa_0/1/hw_counters/tx_bytes": tx, "ib/efa_0/1/hw_counters/rx_bytes": rx}


@pytest.mark.parametrize(("driver", "device"), [("hns3", "hns_0"), ("qede", "qedr0")])
@pytest.mark.parametrize("chatter", [0, 120])
def test_t3_an_adapter_without_a_byte_counter_for_rdma_is_unproven(driver, device, chatter):
    run = base("roce100", 2200.0, mtu=4200, driver=driver)
    run = with_nics(
        run, LO, ETH0, nic("hsn0", driver, device, "Ethernet", mtu=4200, speed_mbps=100000)
    )

    def counted(point: PointRecord, rank: int) -> dict[str, int]:
        tx, rx = wire(point, rank)
        packets = f"ib/{device}/1/hw_counters/ROCE_"
        some = {f"{packets}TX_PKT_CNT": tx // 4000 + 1, f"{packets}RX_PKT_CNT": rx // 4000 + 1}
        return {
            **netdev("eth0", 3000, 4000),
            **netdev("hsn0", chatter, 2 * chatter),
            **(some if "hns" in driver else {}),
        }

    assert proofs(judge(rewitness(run, counted))) == {"unproven"}


def _lagged(run: Run, period_ns: float) -> Run:
    """Every counter shows its value of the last full period; the points follow each other
    closely.
    """
    ends = list(accumulate(point.elapsed_ns + 2e6 for point in run.points))
    starts = [end - point.elapsed_ns - 2e6 for end, point in zip(ends, run.points, strict=True)]
    points = []
    for point, start in zip(run.points, starts, strict=True):
        readings = []
        for reading in point.witness:
            shown = {
                name: (
                    _shown(run, starts, reading.rank, name, start, period_ns),
                    _shown(run, starts, reading.rank, name, start + point.elapsed_ns, period_ns),
                )
                for name in reading.counters
            }
            readings.append(
                replace(
                    reading, counters={n: pair for n, pair in shown.items() if pair[0] != pair[1]}
                )
            )
        points.append(replace(point, witness=readings))
    return replace(run, points=points)


def _shown(
    run: Run, starts: list[float], rank: int, name: str, t_ns: float, period_ns: float
) -> int:
    t_ns = t_ns // period_ns * period_ns
    total = 10**9
    for point, start in zip(run.points, starts, strict=True):
        first, last = next(
            (one.counters.get(name, (0, 0)) for one in point.witness if one.rank == rank), (0, 0)
        )
        share = min(1.0, max(0.0, (t_ns - start) / point.elapsed_ns))
        total += round((last - first) * share)
    return total


def test_t4_counters_refreshed_once_a_second_are_not_off_wire():
    run = run_of(
        World(link="25gbe", mtu=9000, latency_ns=14000.0, driver="bnxt_en", management=5000)
    )
    hosts = [
        replace(
            host,
            nics=[
                replace(one, driver="bnxt_en") if one.name == "hsn0" else one for one in host.nics
            ],
        )
        for host in run.hosts
    ]
    assert proofs(judge(_lagged(replace(run, hosts=hosts), 1e9))) <= NOT_FALSE


def _mgmt_run(rate: float) -> Run:
    world = World(
        link="10gbe",
        mtu=9000,
        latency_ns=24000.0,
        path="mgmt",
        sizes=(0, 8, 64),
        patterns=("pingpong",),
        management=2000,
    )
    run = run_of(world)
    points = []
    for point in run.points:
        readings = []
        for reading in point.witness:
            counters = dict(reading.counters)
            for way in ("tx", "rx"):
                first, last = counters.get(f"net/hsn0/{way}_bytes", (10**6, 10**6))
                counters[f"net/hsn0/{way}_bytes"] = (
                    first,
                    last + int(rate * point.elapsed_ns * 1e-9),
                )
            readings.append(replace(reading, counters=counters))
        points.append(replace(point, witness=readings))
    return replace(run, points=points)


@pytest.mark.parametrize("rate", [5e6, 15e6, 30e6, 60e6, 100e6])
def test_t6_other_traffic_on_the_claimed_port_does_not_make_short_messages_on_wire(rate):
    assert "on-wire" not in proofs(judge(_mgmt_run(rate)))


def test_t7_netvsc_and_its_virtual_function_count_the_same_bytes_once():
    run = base("25gbe", 30000.0, mtu=1500)
    run = with_nics(
        run,
        LO,
        nic("hsn0", "hv_netvsc", mtu=1500, speed_mbps=25000),
        nic("enP5s1", "mlx5_core", mtu=1500),
    )

    def counted(point: PointRecord, rank: int) -> dict[str, int]:
        tx, rx = wire(point, rank, mtu=1448, header=66)
        return {**netdev("hsn0", tx, rx), **netdev("enP5s1", tx, rx)}

    found = judge(rewitness(run, counted))
    assert large(found) == {"on-wire"}
    assert not fails(found)


QDR = nic(
    "hsn0",
    "mlx4_core",
    "mlx4_0",
    "InfiniBand",
    kind="infiniband",
    mtu=2044,
    rate="40 Gb/sec (4X QDR)",
)


def test_t8_a_pegged_counter_that_the_reading_leaves_out_is_unproven():
    run = with_nics(base("qdr", 1800.0), LO, QDR)

    def counted(point: PointRecord, rank: int) -> dict[str, int]:
        tx, rx = wire(point, rank)
        where = "ib/mlx4_0/1/counters/port_"
        return {
            "net/hsn0/tx_bytes": 120,
            f"{where}xmit_packets": tx // 2000,
            f"{where}rcv_packets": rx // 2000,
        }

    assert large(judge(rewitness(run, counted))) == {"unproven"}


def test_t8_a_pegged_counter_that_is_given_is_unproven():
    end = 2**32 - 1
    counted = {f"ib/mlx4_0/1/counters/port_{way}_data": (end, end) for way in ("xmit", "rcv")}
    run = rewitness(with_nics(base("qdr", 1800.0), LO, QDR), lambda point, rank: counted)
    assert proofs(judge(run)) == {"unproven"}


def test_t9_bytes_that_crossed_another_rdma_port_are_wrong_path():
    other = nic("ib0", "mlx5_core", "mlx5_0", "InfiniBand", kind="infiniband", mtu=2044)
    run = with_nics(
        base("10gbe", 20000.0, mtu=9000), LO, nic("hsn0", "ixgbe", speed_mbps=10000), other
    )
    run = rewitness(run, lambda p, r: {**netdev("hsn0", 300, 400), **words("mlx5_0", *wire(p, r))})
    assert large(judge(run)) == {"wrong-path"}


def test_t9_tcp_over_another_irdma_port_is_wrong_path():
    ports = nic("hsn0", "ice", "irdma0", "Ethernet"), nic("eth3", "ice", "irdma1", "Ethernet")
    run = with_nics(base("roce100"), LO, *ports)
    run = rewitness(
        run, lambda p, r: {**octets("irdma0", 100, 100), **netdev("eth3", *wire(p, r, 8948, 66))}
    )
    assert large(judge(run)) == {"wrong-path"}


def test_t9_tcp_over_the_claimed_rdma_port_is_another_protocol_and_not_off_wire():
    run = with_nics(base("roce100"), LO, nic("hsn0", "ice", "irdma0", "Ethernet"))
    run = rewitness(
        run, lambda p, r: {**octets("irdma0", 100, 100), **netdev("hsn0", *wire(p, r, 8948, 66))}
    )
    found = judge(run)
    assert large(found) == {"on-wire"}
    assert "tcp-instead-of-rdma" in {finding.code for finding in found.findings}


@pytest.mark.parametrize("lower", [[], ["ib0", "ib1"]])
def test_t10_verbs_over_a_member_of_the_claimed_ipoib_bond_are_on_wire(lower):
    ports = [
        nic("hsn0", "bonding", kind="infiniband", mtu=2044, lower=lower),
        nic("ib0", "mlx5_core", "mlx5_0", "InfiniBand", kind="infiniband", mtu=2044),
        nic("ib1", "mlx5_core", "mlx5_1", "InfiniBand", kind="infiniband", mtu=2044),
    ]
    run = with_nics(base("edr", 1200.0), LO, *ports)
    run = rewitness(run, lambda p, r: {"net/hsn0/tx_bytes": 300, **words("mlx5_0", *wire(p, r))})
    assert large(judge(run)) == {"on-wire"}


@pytest.mark.parametrize("lower", [[], ["eth2"]])
def test_t10_roce_on_a_vlan_whose_device_has_a_predictable_name_is_on_wire(lower):
    device = "rocep24s0f0"
    ports = [
        nic(
            "hsn0", "802.1Q VLAN Support", device, "Ethernet", kind="virtual", mtu=4200, lower=lower
        ),
        nic("eth2", "ice", device, "Ethernet", mtu=4200),
    ]
    run = with_nics(base("roce100"), LO, *ports)
    few = {**netdev("hsn0", 300, 300), **netdev("eth2", 400, 400)}
    run = rewitness(run, lambda p, r: {**few, **octets(device, *wire(p, r, header=82))})
    assert large(judge(run)) == {"on-wire"}


def test_t11_ip_traffic_beside_healthy_roce_is_no_fallback_to_tcp():
    run = with_nics(
        base("roce100", 2200.0, mtu=4200, sizes=(1, 8, 65536, 4 << 20)),
        LO,
        nic("hsn0", "ice", "irdma0", "Ethernet", mtu=4200),
    )

    def counted(point: PointRecord, rank: int) -> dict[str, int]:
        beside = int(1.5e6 * point.elapsed_ns * 1e-9) + 2000
        return {**octets("irdma0", *wire(point, rank, header=82)), **netdev("hsn0", beside, beside)}

    found = judge(rewitness(run, counted))
    assert "tcp-instead-of-rdma" not in {finding.code for finding in found.findings}
    assert not fails(found)
    assert large(found) == {"on-wire"}


def test_t17_a_32_bit_counter_that_wraps_past_its_start_is_no_fail():
    run = with_nics(base("100gbe", 20000.0, mtu=9000), LO, nic("hsn0", "olddrv", speed_mbps=100000))

    def counted(point: PointRecord, rank: int) -> dict[str, tuple[int, int]]:
        tx, rx = wire(point, rank, mtu=8948, header=66)
        start = 10**9
        return {
            "net/hsn0/tx_bytes": (start, (start + tx) % 2**32),
            "net/hsn0/rx_bytes": (start, (start + rx) % 2**32),
        }

    found = judge(rewitness(run, counted))
    assert proofs(found) <= NOT_FALSE
    assert not fails(found)


def test_t17_cloned_machines_with_one_boot_id_are_not_off_wire_when_both_ports_counted_all():
    run = run_of(World(link="10gbe", mtu=9000, latency_ns=15000.0))
    run = replace(
        run, hosts=[replace(host, boot_id="same", netns=4026531840) for host in run.hosts]
    )
    found = judge(run)
    assert proofs(found) <= NOT_FALSE
    assert not fails(found)


def test_t19_payloads_that_nobody_checked_do_not_pass():
    run = run_of(World(link="10gbe", mtu=9000, latency_ns=15000.0))
    points = [
        replace(point, pairs=[replace(pair, integrity="unchecked") for pair in point.pairs])
        for point in run.points
    ]
    found = judge(replace(run, points=points))
    assert found.verdict == "inconclusive"


def test_traffic_of_others_that_equals_the_payload_does_not_make_it_on_wire():
    """From t19: the payload crosses eth0, and the claimed port carries as much of somebody
    else's.
    """
    run = run_of(World(link="25gbe", mtu=9000, latency_ns=15000.0, path="mgmt"))
    rng = random.Random(1)
    points = []
    for point in run.points:
        count = int(1.05 * max(point.pairs[0].payload_forward_bytes, 1)) + rng.randrange(1000)
        readings = []
        for reading in point.witness:
            counters = dict(reading.counters)
            for way in ("tx", "rx"):
                first, last = counters.get(f"net/hsn0/{way}_bytes", (10**6, 10**6))
                counters[f"net/hsn0/{way}_bytes"] = first, last + count
            readings.append(replace(reading, counters=counters))
        points.append(replace(point, witness=readings))
    assert "on-wire" not in large(judge(replace(run, points=points)))


def test_a_host_claim_by_the_rdma_devices_name_is_the_same_port():
    run = unclaimed(rewitness(with_nics(base("edr", 1200.0), LO, ETH0, IB), infiniband))
    hosts = [HostClaim(rank=rank, host=f"n{rank + 1}", nic="mlx5_0") for rank in (0, 1)]
    assert large(judge(replace(run, claim=replace(run.claim, hosts=hosts)))) == {"on-wire"}
