"""Causes: each rule on its own case, not on its neighbour, never without evidence; hostile facts
break nothing.
"""

import inspect
import re
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from tests.synthetic import World, run_of

from wireproof.ledger.relations import claimed_nic
from wireproof.ledger.traffic import speed_of
from wireproof.locate import causes as causes_of
from wireproof.locate.causes import MOST_CAUSES, explain, properties
from wireproof.locate.causes.properties import NAMES, fact_requests, properties_of, settings_of
from wireproof.locate.causes.rules import rules as all_causes
from wireproof.locate.causes.rules import rules_in
from wireproof.model.errors import BadInput
from wireproof.model.located import Blame, Contention, Located
from wireproof.model.plan import FactRequest
from wireproof.model.record import FactFrame, Host, Nic, PointRecord, Rdma, Sentinel
from wireproof.model.run import Run
from wireproof.verdict import catalogue
from wireproof.workflow.explain import causes as causes_explained
from wireproof.workflow.explain import explain as explained

set_ = msgspec.structs.replace
NODES = 6
BAD = 2  # n3
RUN = run_of(World(link="100gbe", mtu=9000, nodes=NODES, sizes=(1 << 20,), patterns=("stream",)))
NET = "/sys/class/net/hsn0"


def blame(**changes: Any) -> Blame:
    whole: dict[str, Any] = {
        "kind": "node",
        "subject": "n3",
        "slowdown": 0.5,
        "low": 0.49,
        "high": 0.51,
        "confidence": 0.99,
        "stage": "confirmed",
        "value": 6e9,
        "expected": 12e9,
    }
    return Blame(**(whole | changes))


def located(one: Blame, **changes: Any) -> Located:
    return Located(
        metric=one.metric,
        nodes=NODES,
        measured=NODES,
        rounds=5,
        samples=30,
        noise=0.01,
        alpha=0.01,
        practical=0.05,
        detectable=0.03,
        blames=[one],
        **changes,
    )


def fact(rank: int, path: str, text: str) -> FactFrame:
    return FactFrame(rank=rank, kind="file", status="ok", path=path, text=text)


def said(rank: int, argv: str, text: str) -> FactFrame:
    return FactFrame(rank=rank, kind="command", status="ok", argv=argv.split(), text=text)


Make = Callable[[int], list[FactFrame]]


def facts(bad: Make, good: Make) -> Run:
    return set_(
        RUN, facts=[one for rank in range(NODES) for one in (bad if rank == BAD else good)(rank)]
    )


def files(**values: str) -> Make:
    paths = {"width": "current_link_width", "most": "max_link_width", "speed": "current_link_speed"}
    return lambda rank: [
        fact(rank, f"{NET}/device/{paths[name]}", text + "\n") for name, text in values.items()
    ]


def nics(change: Callable[[Nic], Nic], only: bool = True) -> Run:
    def one(host: Host) -> Host:
        if only and host.rank != BAD:
            return host
        return set_(host, nics=[change(nic) if nic.name == "hsn0" else nic for nic in host.nics])

    return set_(RUN, hosts=[one(host) for host in RUN.hosts])


def counters(everybody: bool = False, **rises: int) -> Run:
    """Counters (``a__b`` is ``net/hsn0/..``) that rise at the bad node in each point."""

    rising = {name.replace("__", "/"): (5, 5 + n) for name, n in rises.items()}

    def change(point: PointRecord) -> PointRecord:
        readings = [
            set_(reading, counters=reading.counters | rising)
            if everybody or reading.rank == BAD
            else reading
            for reading in point.witness
        ]
        return set_(point, witness=readings)

    return set_(RUN, points=[change(point) for point in RUN.points])


def busy(share: float, everybody: bool = False) -> Run:
    def change(point: PointRecord) -> PointRecord:
        pairs = []
        for pair in point.pairs:
            marks = len(pair.sentinels)
            taken = [
                Sentinel(
                    clock_read_ns=8.0,
                    involuntary_switches=50 if i < share * marks else 0,
                    steal_ns=0.0,
                )
                for i in range(marks)
            ]
            pairs.append(set_(pair, sentinels=taken) if everybody or pair.origin == BAD else pair)
        return set_(point, pairs=pairs)

    return set_(RUN, points=[change(point) for point in RUN.points])


def causes(run: Run, one: Blame | None = None, **changes: Any) -> list[str]:
    (found,) = explain(located(one or blame(), **changes), run).blames
    for cause in found.causes:
        assert cause.evidence
        assert 0.0 < cause.confidence < 1.0
        assert "{" not in cause.sentence + cause.fix
        assert cause.sentence
        assert cause.fix
    assert [c.confidence for c in found.causes] == sorted(
        (c.confidence for c in found.causes), reverse=True
    )
    return [cause.code for cause in found.causes]


def test_nothing_seen_is_no_cause_and_says_so() -> None:
    (found,) = explain(located(blame()), RUN).blames
    assert found.causes == []
    assert "cause: none found (counters were read" in found.evidence[-1]
    (nobody,) = explain(located(blame(subject="n99")), RUN).blames
    assert nobody.causes == []
    assert "nothing is known about the machines of n99" in nobody.evidence[-1]


NARROW = files(width="8", most="16", speed="16.0 GT/s PCIe")
WIDE = files(width="16", most="16", speed="16.0 GT/s PCIe")


def test_half_the_ceiling_and_pcie_x4() -> None:
    few = files(width="4", most="16", speed="16.0 GT/s PCIe")
    (found,) = explain(located(blame()), facts(few, WIDE)).blames
    assert found.causes[0].code == "pcie-narrow"
    assert found.causes[0].confidence == 0.95
    assert "pcie current width 4, pcie max width 16" in found.causes[0].evidence[0]


def test_pcie_lanes_that_are_enough_or_usual_are_no_cause() -> None:
    enough = blame(value=4e9, expected=8e9)
    assert causes(facts(NARROW, WIDE), enough) == []
    assert (
        causes(
            facts(
                files(width="4", most="16", speed="16.0 GT/s PCIe"),
                files(width="4", most="16", speed="16.0 GT/s PCIe"),
            )
        )
        == []
    )
    assert causes(facts(files(width="x", most="16", speed="??"), WIDE)) == []
    assert (
        causes(
            facts(files(width="4", most="16", speed="16.0 GT/s PCIe"), WIDE), blame(metric="hrt")
        )
        == []
    )


def test_a_slower_slot_than_that_of_the_peers() -> None:
    slow, fast = files(width="16", speed="2.5 GT/s PCIe"), files(width="16", speed="16.0 GT/s PCIe")
    assert causes(facts(slow, fast), blame(value=3e9)) == ["pcie-unlike-peers"]


def test_six_per_cent_and_mtu_1500() -> None:
    small = nics(lambda nic: set_(nic, mtu=1500))
    (found,) = explain(located(blame(slowdown=0.055, value=11.3e9)), small).blames
    assert [(c.code, c.confidence) for c in found.causes] == [("mtu-small", 0.9)]
    assert "n3: mtu 1500 B; 5 of 5 other nodes have 9000 B" in found.causes[0].evidence
    assert explain(located(blame(slowdown=0.5)), small).blames[0].causes[0].confidence < 0.9
    assert (
        "the headers of packets of this size cost 4.9 %, and the loss is 5.5 %"
        in found.causes[0].evidence
    )
    tiny = nics(lambda nic: set_(nic, mtu=400))
    assert explain(located(blame(slowdown=0.2)), tiny).blames[0].causes[0].confidence == 0.9
    assert explain(located(blame(slowdown=0.05)), tiny).blames[0].causes[0].confidence < 0.9
    assert causes(nics(lambda nic: set_(nic, mtu=1500), only=False)) == []


def test_speed_duplex_and_carrier() -> None:
    for rank_all in (True, False):
        fast = nics(lambda nic: set_(nic, speed_mbps=100_000), only=False)
        slow = set_(
            fast,
            hosts=[
                set_(
                    h, nics=[set_(n, speed_mbps=25_000) if n.name == "hsn0" else n for n in h.nics]
                )
                if h.rank == BAD or not rank_all
                else h
                for h in fast.hosts
            ],
        )
        assert causes(slow) == (["speed-low"] if rank_all else [])
    half: Make = lambda rank: [fact(rank, f"{NET}/duplex", "half\n")]  # noqa: E731
    full: Make = lambda rank: [fact(rank, f"{NET}/duplex", "full\n")]  # noqa: E731
    assert causes(facts(half, full)) == ["duplex-half"]
    assert causes(facts(half, half)) == []
    assert causes(nics(lambda nic: set_(nic, operstate="down", carrier=False))) == ["link-down"]


@pytest.mark.parametrize(
    ("direction", "counter", "first"),
    [
        ("rx", "net__hsn0__rx_crc_errors", "errors-received"),
        ("rx", "ethtool__hsn0__rx_symbol_err_phy", "errors-received"),
        ("tx", "net__hsn0__tx_errors", "errors-sent"),
        ("tx", "ip__Tcp__RetransSegs", "sends-again"),
        ("rx", "net__hsn0__rx_dropped", "drops-received"),
        ("rx", "ethtool__hsn0__out_of_buffer", "drops-received"),
        ("tx", "ethtool__hsn0__rx_prio3_pause", "paused"),
        ("rx", "ethtool__hsn0__tx_pause_ctrl_phy", "pauses-others"),
        ("tx", "net__hsn0__tx_carrier_errors", "link-flaps"),
    ],
)
def test_one_direction_and_its_counter(direction: str, counter: str, first: str) -> None:
    one = blame(kind="port", direction=direction)
    assert causes(counters(**{counter: 500}), one)[0] == first
    # The same at every node tells nothing of this one, and the same of another NIC nothing of this
    # port.
    assert causes(counters(everybody=True, **{counter: 500}), one) == []
    if "hsn0" in counter:
        assert causes(counters(**{counter.replace("hsn0", "eth9"): 500}), one) == []


def test_the_other_direction_is_less_sure() -> None:
    run = counters(net__hsn0__rx_crc_errors=500)
    into, out = (
        explain(located(blame(kind="port", direction=way)), run).blames[0].causes[0]
        for way in ("rx", "tx")
    )
    assert into.confidence > 1.5 * out.confidence


def test_bytes_and_packets_are_no_trouble() -> None:
    usual = {
        "ethtool__hsn0__rx_prio0_bytes": 10**9,
        "net__hsn0__multicast": 10**5,
        "ethtool__hsn0__rx_corrected_bits_phy": 999,
    }
    assert causes(counters(**usual)) == []


def test_a_busy_processor() -> None:
    assert causes(busy(0.6)) == ["busy"]
    assert causes(busy(0.6, everybody=True)) == []
    assert causes(busy(0.05)) == []


def test_another_nic_carried_the_bytes() -> None:
    def change(point: PointRecord) -> PointRecord:
        readings = []
        for reading in point.witness:
            if reading.rank == BAD:
                swapped = {
                    k.replace("hsn0", "X").replace("eth0", "hsn0").replace("X", "eth0"): v
                    for k, v in reading.counters.items()
                }
                reading = set_(reading, counters=swapped)
            readings.append(reading)
        return set_(point, witness=readings)

    (found,) = explain(located(blame()), set_(RUN, points=[change(p) for p in RUN.points])).blames
    assert found.causes[0].code == "other-nic"


def test_software_that_differs_from_the_majority() -> None:
    hosts = [set_(h, library="Other MPI 9" if h.rank == BAD else h.library) for h in RUN.hosts]
    assert causes(set_(RUN, hosts=hosts)) == ["library-differs"]
    assert causes(nics(lambda nic: set_(nic, driver="old"))) == ["driver-differs"]
    governor = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
    saving: Make = lambda rank: [fact(rank, governor, "powersave\n")]  # noqa: E731
    fast: Make = lambda rank: [fact(rank, governor, "performance\n")]  # noqa: E731
    assert causes(facts(saving, fast)) == ["governor"]
    assert causes(facts(fast, saving)) == []
    mixed = [set_(h, library=f"MPI {h.rank % 3}") for h in RUN.hosts]
    assert causes(set_(RUN, hosts=mixed)) == []


def test_a_setting_that_differs() -> None:
    def off(rank):
        return [
            said(rank, "ethtool -k hsn0", "Features for hsn0:\ntcp-segmentation-offload: off\n")
        ]

    def on(rank):
        return [said(rank, "ethtool -k hsn0", "Features for hsn0:\ntcp-segmentation-offload: on\n")]

    (found,) = explain(located(blame()), facts(off, on)).blames
    assert [c.code for c in found.causes] == ["setting-differs"]
    assert "tcp-segmentation-offload off; 5 of 5 other nodes have on" in found.causes[0].evidence[0]


def test_a_limit_by_a_queueing_discipline() -> None:
    tc = "tc -s qdisc show dev hsn0"

    def limited(rank):
        return [said(rank, tc, "qdisc tbf 8001: root refcnt 2 rate 50Gbit burst 1Mb\n")]

    free: Make = lambda rank: [said(rank, tc, "qdisc mq 0: root\nqdisc fq_codel 0: parent :1\n")]  # noqa: E731
    assert causes(facts(limited, free)) == ["queue-limits-rate", "queueing-differs"]
    other: Make = lambda rank: [said(rank, tc, "qdisc fq 8001: root refcnt 2\n")]  # noqa: E731
    assert causes(facts(other, free)) == ["queueing-differs"]


def test_a_limit_of_the_rate_in_tc() -> None:
    def shaped(rate: str) -> Make:
        return lambda rank: [
            said(
                rank, "tc -s qdisc show dev hsn0", "qdisc htb 1: root refcnt 2 r2q 10 default 0x1\n"
            ),
            said(
                rank,
                "tc class show dev hsn0",
                f"class htb 1:1 root prio 0 rate {rate} ceil {rate} burst 1000b\n",
            ),
        ]

    sends = blame(kind="port", direction="tx", value=6e9)
    (found,) = explain(located(sends), facts(shaped("50Gbit"), shaped("100Gbit"))).blames
    assert [(c.code, c.confidence) for c in found.causes] == [("queue-limits-rate", 0.95)]
    assert (
        "queue goodput 6.25 GB/s; 5 of 5 other nodes have 12.5 GB/s" in found.causes[0].evidence[0]
    )
    bare: Make = lambda rank: [said(rank, "tc -s qdisc show dev hsn0", "qdisc htb 1: root\n")]  # noqa: E731
    (alone,) = explain(located(sends), facts(shaped("50Gbit"), bare)).blames
    assert "other nodes have no limit" in alone.causes[0].evidence[0]
    assert causes(facts(shaped("100Gbit"), shaped("100Gbit")), sends) == []
    assert causes(facts(shaped("400Gbit"), bare), sends) == []


def test_bytes_on_no_nic() -> None:
    def change(point: PointRecord) -> PointRecord:
        still = [
            set_(r, counters={k: (v[0], v[0] + 10) for k, v in r.counters.items()})
            if r.rank == BAD
            else r
            for r in point.witness
        ]
        return set_(point, witness=still)

    assert causes(set_(RUN, points=[change(p) for p in RUN.points])) == ["bytes-on-no-nic"]


TEXTS = {
    "speed": "100000",
    "duplex": "half",
    "current_link_width": "8",
    "max_link_width": "16",
    "vendor": "0x15b3",
    "current_link_speed": "16.0 GT/s",
    "max_link_speed": "16.0 GT/s",
    "device": "0x101b",
    "fw_ver": "20.1",
    "version": "Linux version 6.1.0",
    "loadavg": "1.5 0 0",
}
OUTPUTS = {"tc -s": "qdisc tbf 1: root rate 1Gbit", "lscpu": "NUMA node0 CPU(s): 0-7\n"}
READ = {
    *("kernel", "load", "governor", "max_frequency", "no_turbo", "bios", "speed", "duplex"),
    *("firmware", "adapter", "pcie_current_width", "pcie_max_width", "pcie_current_speed"),
    *("pcie_max_speed", "pcie_goodput", "numa_far"),
}
MLX5 = Nic(name="hsn0", numa_node=0, driver="mlx5_core", rdma=Rdma(device="mlx5_0", port=1))


def answer(request: FactRequest) -> FactFrame:
    """What a machine with one NIC, hsn0, answers."""
    path = request.path.replace("/net/*", "/net/hsn0").replace(
        "/infiniband/*", "/infiniband/mlx5_0"
    )
    if request.argv:
        argv = " ".join(request.argv)
        return said(0, argv, OUTPUTS.get(argv[:5], "x: y"))
    return fact(0, path, TEXTS.get(path.rsplit("/", 1)[-1], "5"))


@pytest.mark.parametrize("name", ["hsn0", "mlx5_0:1", "", "odd name;*"])
def test_the_facts_that_are_asked_for_are_those_that_are_read(name: str) -> None:
    frames = [answer(request) for request in fact_requests(name)]
    found = properties_of(set_(RUN.hosts[0], core=3), MLX5, frames)
    assert set(found) >= READ, READ - set(found)
    assert ("queue_goodput" in found) == (name == "hsn0")
    assert all(not {";", " "} & set(request.path) for request in fact_requests(name))


def test_settings_are_read_and_commands_can_be_left_out() -> None:
    assert not any(request.argv for request in fact_requests("hsn0", commands=False))
    frames = [said(0, "ethtool -k hsn0", "a: on")]
    assert any(key.startswith("ethtool -k") for key in settings_of(MLX5, frames))


def test_without_a_claim_causes_look_at_the_port_below_a_vlan() -> None:
    vlan, lo = Nic(name="hsn0.5", lower=["hsn0"]), Nic(name="lo", kind="loopback")
    assert claimed_nic([lo, vlan, MLX5], "") is MLX5
    assert claimed_nic([MLX5, set_(MLX5, name="hsn1")], "") is None
    assert claimed_nic([lo, MLX5], "mlx5_0:1") is MLX5


def test_a_speed_that_the_driver_does_not_know_is_unknown() -> None:
    unknown = set_(MLX5, rdma=None, speed_mbps=-1)
    assert speed_of(unknown) is None
    assert speed_of(set_(unknown, speed_mbps=100_000)) == 100e9
    assert "speed" not in properties_of(RUN.hosts[0], unknown, [])


def test_the_rank_on_the_far_socket() -> None:
    lscpu = "NUMA node0 CPU(s):   0-15,32-47\nNUMA node1 CPU(s):   16-31\n"
    run = nics(lambda nic: set_(nic, numa_node=0), only=False)
    hosts = [set_(h, core=20 if h.rank == BAD else 3) for h in run.hosts]
    assert causes(
        set_(run, hosts=hosts, facts=[said(r, "lscpu", lscpu) for r in range(NODES)])
    ) == ["numa-far"]


def test_a_clock_that_runs_differently() -> None:
    def change(point: PointRecord) -> PointRecord:
        pairs = []
        for pair in point.pairs:
            apart = 1.3 if BAD in (pair.origin, pair.target) else 1.001
            batches = [2e6, *pair.batch_ns]
            pairs.append(set_(pair, batch_ns=batches, target_elapsed_ns=sum(batches) * apart))
        return set_(point, pairs=pairs)

    assert causes(set_(RUN, points=[change(p) for p in RUN.points])) == ["clock-apart"]


def test_a_leaf_that_is_slow_only_together_is_oversubscribed() -> None:
    leaf = blame(kind="switch", subject="leaf1", nodes=["n1", "n2", "n3"])
    told = [
        Contention(
            subject="leaf1", loaded=6e9, alone=12e9, sentence="6 GB/s together, 12 GB/s alone"
        )
    ]
    assert causes(RUN, leaf, contention=told) == ["oversubscribed"]
    assert causes(RUN, leaf) == []


def test_a_switch_needs_half_of_its_nodes() -> None:
    leaf = blame(kind="switch", subject="leaf1", nodes=["n1", "n2", "n3"])
    small = [
        set_(h, nics=[set_(n, mtu=1500) if n.name == "hsn0" else n for n in h.nics])
        if h.rank < 3
        else h
        for h in RUN.hosts
    ]
    assert causes(set_(RUN, hosts=small), leaf) == ["mtu-small"]
    assert causes(nics(lambda nic: set_(nic, mtu=1500)), leaf) == []


def test_a_single_pair_is_the_route_between() -> None:
    pair = blame(kind="pair", subject="n1 -> n3")
    assert causes(RUN, pair) == ["route-between"]
    assert "errors-received" in causes(counters(net__hsn0__rx_crc_errors=900), pair)
    also = set_(located(pair), blames=[pair, blame()])
    assert [c.code for c in explain(also, RUN).blames[0].causes] == []
    assert [c.code for c in explain(set_(located(pair), measured=2), RUN).blames[0].causes] == []


def test_several_causes_are_ranked_and_bounded() -> None:
    run = counters(
        net__hsn0__rx_crc_errors=900, ip__Tcp__RetransSegs=900, net__hsn0__rx_dropped=900
    )
    hosts = [
        set_(h, library="other", nics=[set_(n, mtu=1500, driver="old") for n in h.nics])
        if h.rank == BAD
        else h
        for h in run.hosts
    ]
    found = causes(set_(run, hosts=hosts), blame(kind="port", direction="rx", slowdown=0.05))
    assert len(found) == MOST_CAUSES
    assert set(found[:2]) == {"errors-received", "mtu-small"}


def test_hostile_facts_and_names() -> None:
    junk = [
        "\x00\xff" * 4000,
        "9" * 5000,
        "{node}{0}{x!r}",
        ":" * 100_000,
        "NUMA node0 CPU(s): " + "," * 9000,
        "-1",
        "1e999",
    ]
    paths = [
        f"{NET}/duplex",
        f"{NET}/device/current_link_width",
        f"{NET}/device/max_link_width",
        "/proc/loadavg",
        "/proc/version",
        f"{NET}/mtu",
        "/proc/sys/{a}",
    ]
    commands = [
        "lscpu",
        "ethtool -k hsn0",
        "ethtool -i hsn0",
        "tc -s qdisc show dev hsn0",
        "ethtool hsn0",
    ]
    frames = [
        fact(r, p, j) for r in range(NODES) for p in paths for j in junk if r == BAD or j == "-1"
    ]
    frames += [said(BAD, c, j) for c in commands for j in junk]
    hosts = [
        set_(h, library="{node}" * 3, host="{0.__class__}", cpu_count=0) if h.rank == BAD else h
        for h in RUN.hosts
    ]
    explain(located(blame()), set_(RUN, facts=frames, hosts=hosts))


def test_an_empty_run_and_one_without_blame() -> None:
    empty = set_(RUN, hosts=[], points=[], facts=[], idle=[])
    assert explain(located(blame()), empty).blames[0].causes == []
    good = set_(located(blame()), blames=[])
    assert explain(good, RUN) is good


def test_the_table_is_sound() -> None:
    codes = [rule.code for rule in all_causes()]
    assert len(codes) == len(set(codes))
    for rule in all_causes():
        assert rule.when, rule.code
        assert 0 < rule.confidence <= 0.95 >= rule.sure > 0
        assert set(rule.directions) == {"both", "tx", "rx"}
        assert rule.setting or rule.fix.endswith(".")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ('when = [{ sign = "ist", name = "duplex" }]', "line 5: "),
        ('when = [{ sign = "is", name = "duplex" }]', "line 5: "),
        ('when = [{ sign = "below", name = "rx_queues" }]', "line 5: when 1: no node has 'rx_queu"),
        ('when = [{ sign = "less", name = "mtu", than = "mtus" }]', "did you mean mtu?"),
        ('when = [{ sign = "grows", words = ["@errata"] }]', "'errata'"),
        ("confidence = 'much'", "line 5: "),
        ("[[causes]]", "'causes'"),
    ],
)
def test_a_wrong_cause_is_named_with_its_file_line_and_field(wrong: str, said: str) -> None:
    right = ('when = [{ sign = "unusual", name = "duplex" }]', "confidence = 0.5")
    rest = [line for line in right if line.split(" ")[0] != wrong.split(" ")[0]]
    more = ('fix = "c."', 'no_setting = "d"')
    text = "\n".join(["[[cause]]", 'code = "a"', 'sentence = "b"', *rest, wrong, *more])
    with pytest.raises(BadInput, match=r"^site\.toml") as error:
        rules_in(text, "site.toml")
    assert said in str(error.value)


def test_every_property_of_a_node_can_be_named() -> None:
    text = inspect.getsource(properties) + inspect.getsource(causes_of)
    written = set(re.findall(r'(?m)^ +"(\w+)": |\[?"(\w+_share|numa_far|other_nic)"', text))
    found = {name for pair in written for name in pair if name}
    assert len(found & NAMES) > 20
    assert found - NAMES <= {"ip", "net", "ethtool", "ib"}  # folders of counters


def test_every_cause_is_explained_in_words() -> None:
    entries = causes_explained()
    assert set(entries) == {rule.code for rule in all_causes()}
    assert not set(entries) & set(catalogue.CATALOGUE)
    for code, entry in entries.items():
        assert "{" not in f"{entry}"
        assert [one.entry for one in explained(code)] == [entry]
    assert "pcie current width is less than pcie max width" in entries["pcie-narrow"].detection
