"""What an adversarial reading found wrong about ``prove``, each case with the verdict that is
right.
"""

from pathlib import Path

import pytest
from tests.records import imb_rates

from wireproof.ledger.traffic import host_traffic
from wireproof.ledger.traffic_printed import printed
from wireproof.logs.readers import read
from wireproof.model.claim import Claim, HostClaim
from wireproof.model.record import Nic, Rdma
from wireproof.model.series import Series, SeriesPoint
from wireproof.model.traffic import CounterMark, Traffic, TrafficVerdict, Watched, WatchStart
from wireproof.physics import link_from_name
from wireproof.watch.verdict import judge_traffic

LOGS = Path(__file__).resolve().parent.parent / "golden" / "logs"
MOVED = 1000 * 10**6
SERIES = imb_rates([SeriesPoint(message_bytes=1000000, goodput_bytes_per_s=2.4e9, iterations=1000)])


def watched(host: str, nics: list[Nic], rises: dict[str, int], seconds: float = 1.0) -> Watched:
    about = WatchStart(schema=1, hostname=host, interval_ms=100, boot_id=host, netns=1, nics=nics)
    start = dict.fromkeys(rises, 10**6)
    end = {name: start[name] + rise for name, rise in rises.items()}
    return Watched(
        host=host,
        about=about,
        start=CounterMark(t_ns=0, counters=start),
        before=CounterMark(t_ns=10**9, counters=dict(start)),
        after=CounterMark(t_ns=10**9 + int(seconds * 1e9), counters=end),
        peaks={name: rise / seconds for name, rise in rises.items()},
    )


def proved(
    nics: list[Nic],
    first: dict[str, int],
    second: dict[str, int],
    *,
    nic: str = "",
    link: str = "",
    series: list[Series] | None = None,
    seconds: float = 1.0,
) -> TrafficVerdict:
    hosts = [
        host_traffic(watched("n1", nics, first, seconds)),
        host_traffic(watched("n2", nics, second, seconds)),
    ]
    claim = Claim(
        hosts=[HostClaim(rank=rank, host=name, nic=nic) for rank, name in enumerate(("n1", "n2"))],
        link=link_from_name(link, mtu=1500) if link else None,
    )
    traffic = Traffic(hosts=hosts, seconds=seconds, idle_s=1, interval_s=0.1)
    return judge_traffic(traffic, series or [SERIES], claim)


def port(name: str, driver: str = "x", device: str = "", layer: str = "Ethernet") -> Nic:
    rdma = Rdma(device=device, port=1, link_layer=layer) if device else None
    return Nic(name=name, driver=driver, carrier=True, operstate="up", mtu=1500, rdma=rdma)


def both(name: str, tx: int, rx: int) -> dict[str, int]:
    return {f"{name}/tx_bytes": tx, f"{name}/rx_bytes": rx}


@pytest.mark.parametrize(
    "log", ["osu74-latency-validate-shm.out", "imb_mpi1_pingpong_SHM_same_node.txt"]
)
@pytest.mark.parametrize("factor", [1.05, 1.5, 5.0])
def test_t5_other_traffic_does_not_make_a_shared_memory_log_on_wire(log, factor):
    series = read((LOGS / log).read_bytes(), log)
    claims = printed(series, visible_s=0.25)
    moved = int(claims.least_bytes * factor)
    seconds = max(1.0, moved / 110e6)
    first, second = both("net/eth0", moved, 10**6), both("net/eth0", 10**6, moved)
    found = proved(
        [port("eth0", "igb")],
        first,
        second,
        nic="eth0",
        link="1gbe",
        series=series,
        seconds=seconds,
    )
    assert found.proof != "on-wire"
    assert found.verdict != "pass"


def test_t7_half_of_the_bytes_counted_twice_is_mixed():
    nics = [port("eth0", "hv_netvsc"), port("enP5", "mlx5_core")]
    half = MOVED // 2
    first = {**both("net/eth0", half, 10**5), **both("net/enP5", half, 10**5)}
    second = {**both("net/eth0", 10**5, half), **both("net/enP5", 10**5, half)}
    assert proved(nics, first, second).proof == "mixed"


def test_an_rdma_adapter_without_byte_counters_is_unproven():
    nics = [port("hsn0", "hns3", "hns_0")]
    first = {**both("net/hsn0", 5000, 5000), "ib/hns_0/1/hw_counters/ROCE_TX_PKT_CNT": 250000}
    second = {**both("net/hsn0", 5000, 5000), "ib/hns_0/1/hw_counters/ROCE_RX_PKT_CNT": 250000}
    assert proved(nics, first, second, nic="hsn0").proof == "unproven"


@pytest.mark.parametrize("driver", ["cxi_ss1", "cxi_core"])
def test_slingshot_without_its_telemetry_is_unproven(driver):
    moved = both("net/hsn0", 5000, 5000)
    assert proved([port("hsn0", driver)], moved, moved, nic="hsn0").proof == "unproven"


def test_a_pegged_infiniband_port_is_unproven():
    nics = [port("hsn0", "mlx5_core", "mlx5_0", "InfiniBand")]
    where = "ib/mlx5_0/1/counters/port_"
    rises = {**both("net/hsn0", 5, 5), f"{where}xmit_data": 0, f"{where}rcv_data": 0}
    hosts = []
    for host in ("n1", "n2"):
        one = watched(host, nics, rises)
        assert one.before is not None
        assert one.after is not None
        for mark in (one.start, one.before, one.after):
            mark.counters.update({f"{where}xmit_data": 2**32 - 1, f"{where}rcv_data": 2**32 - 1})
        hosts.append(host_traffic(one))
    claim = Claim(
        hosts=[HostClaim(rank=0, host="n1", nic="hsn0"), HostClaim(rank=1, host="n2", nic="hsn0")]
    )
    found = judge_traffic(
        Traffic(hosts=hosts, seconds=1.0, idle_s=1, interval_s=0.1), [SERIES], claim
    )
    assert found.proof == "unproven"


_IRDMA = [
    ("ib/irdma0/1/hw_counters/", ("ip4", "ip6")),
    ("ib/irdma0/hw_counters/", ("ip4",)),
]


@pytest.mark.parametrize(("folder", "versions"), _IRDMA)
def test_roce_over_irdma_is_on_wire_in_either_folder(folder, versions):
    much, few = int(MOVED * 1.02), 500

    def octets(out: int, back: int) -> dict[str, int]:
        found = {f"{folder}{versions[0]}OutOctets": out, f"{folder}{versions[0]}InOctets": back}
        return found | {f"{folder}{v}{way}Octets": 0 for v in versions[1:] for way in ("Out", "In")}

    nics = [port("hsn0", "ice", "irdma0")]
    quiet = both("net/hsn0", 5, 5)
    found = proved(nics, {**quiet, **octets(much, few)}, {**quiet, **octets(few, much)}, nic="hsn0")
    assert found.proof == "on-wire"


def test_roce_over_bnxt_and_tcp_over_mana_are_on_wire():
    much, few = int(MOVED * 1.06), 9999
    bnxt = [port("hsn0", "bnxt_en", "bnxt_re0")]
    quiet, device = both("net/hsn0", 5000, 5000), "ib/bnxt_re0/1/hw_counters"
    found = proved(
        bnxt, {**quiet, **both(device, much, few)}, {**quiet, **both(device, few, much)}, nic="hsn0"
    )
    assert found.proof == "on-wire"
    mana = [port("eth0", "mana", "mana_0")]
    more = {"ib/mana_0/1/hw_counters/requester_timeout": 0}
    found = proved(
        mana,
        {**both("net/eth0", much, few), **more},
        {**both("net/eth0", few, much), **more},
        nic="eth0",
    )
    assert found.proof == "on-wire"
