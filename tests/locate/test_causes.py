"""Causes: each rule on its own case, not on its neighbour, never without evidence; hostile facts
break nothing.
"""

import inspect
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests import records
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
from wireproof.model.record import FactFrame, Host, Nic, PairResult, PointRecord, Rdma, Sentinel
from wireproof.model.run import Run
from wireproof.verdict import catalogue
from wireproof.workflow.explain import causes as causes_explained
from wireproof.workflow.explain import explain as explained

set_ = msgspec.structs.replace
NODES = 6
BAD = 2  # n3
RUN = run_of(World(link="100gbe", mtu=9000, nodes=NODES, sizes=(1 << 20,), patterns=("stream",)))
TABLES = tomllib.loads(Path(__file__).with_name("tables.toml").read_text(encoding="utf-8"))
NET = "/sys/class/net/hsn0"


def blame(**changes: Any) -> Blame:
    node = {"kind": "node", "direction": "", "confidence": 0.99, "value": 6e9, "expected": 12e9}
    return records.blame(**(node | {"slowdown": 0.5, "low": 0.49, "high": 0.51} | changes))


def located(one: Blame, **changes: Any) -> Located:
    whole = {"metric": one.metric, "nodes": NODES, "measured": NODES, "blames": [one]}
    return records.located(**(whole | changes))


def fact(rank: int, path: str, text: str) -> FactFrame:
    return FactFrame(rank=rank, kind="file", status="ok", path=path, text=text)


def said(rank: int, argv: str, text: str) -> FactFrame:
    return FactFrame(rank=rank, kind="command", status="ok", argv=argv.split(), text=text)


Make = Callable[[int], list[FactFrame]]


def facts(bad: Make, good: Make) -> Run:
    return set_(
        RUN, facts=[one for rank in range(NODES) for one in (bad if rank == BAD else good)(rank)]
    )


def at(path: str, text: str) -> Make:
    return lambda rank: [fact(rank, path, text)]


def output(argv: str, text: str) -> Make:
    return lambda rank: [said(rank, argv, text)]


def files(**values: str) -> Make:
    paths = {"width": "current_link_width", "most": "max_link_width", "speed": "current_link_speed"}
    return lambda rank: [
        fact(rank, f"{NET}/device/{paths[name]}", text + "\n") for name, text in values.items()
    ]


def hosts(change: Callable[[Host], Host], only: bool = True, run: Run = RUN) -> Run:
    """The run with the bad host (or every host) changed."""
    return set_(run, hosts=[change(h) if h.rank == BAD or not only else h for h in run.hosts])


def nics(change: Callable[[Nic], Nic], only: bool = True, run: Run = RUN) -> Run:
    def one(host: Host) -> Host:
        return set_(host, nics=[change(nic) if nic.name == "hsn0" else nic for nic in host.nics])

    return hosts(one, only, run)


def pairs(change: Callable[[PairResult], PairResult]) -> Run:
    return set_(
        RUN, points=[set_(one, pairs=[change(pair) for pair in one.pairs]) for one in RUN.points]
    )


def readings(change: Callable[[dict[str, Any]], dict[str, Any]], everybody: bool = False) -> Run:
    """The run with the counters of the bad node (or of every node) changed in each point."""

    def one(point: PointRecord) -> PointRecord:
        seen = [
            set_(reading, counters=change(reading.counters))
            if everybody or reading.rank == BAD
            else reading
            for reading in point.witness
        ]
        return set_(point, witness=seen)

    return set_(RUN, points=[one(point) for point in RUN.points])


def counters(everybody: bool = False, **rises: int) -> Run:
    """Counters (``a__b`` is ``net/hsn0/..``) that rise at the bad node in each point."""
    rising = {name.replace("__", "/"): (5, 5 + n) for name, n in rises.items()}
    return readings(lambda before: before | rising, everybody)


def busy(share: float, everybody: bool = False) -> Run:
    def change(pair: PairResult) -> PairResult:
        marks = len(pair.sentinels)
        taken = [
            Sentinel(
                clock_read_ns=8.0,
                involuntary_switches=50 if i < share * marks else 0,
                steal_ns=0.0,
            )
            for i in range(marks)
        ]
        return set_(pair, sentinels=taken) if everybody or pair.origin == BAD else pair

    return pairs(change)


def found(run: Run, one: Blame | None = None, **changes: Any) -> Blame:
    """The culprit with its causes, each complete and the surest first."""
    (culprit,) = explain(located(one or blame(), **changes), run).blames
    for cause in culprit.causes:
        assert cause.evidence
        assert 0.0 < cause.confidence < 1.0
        assert "{" not in cause.sentence + cause.fix
        assert cause.sentence
        assert cause.fix
    sure = [cause.confidence for cause in culprit.causes]
    assert sure == sorted(sure, reverse=True)
    return culprit


def causes(run: Run, one: Blame | None = None, **changes: Any) -> list[str]:
    return [cause.code for cause in found(run, one, **changes).causes]


def test_nothing_seen_is_no_cause_and_says_so() -> None:
    assert found(RUN).causes == []
    assert "cause: none found (counters were read" in found(RUN).evidence[-1]
    nobody = found(RUN, blame(subject="n99"))
    assert nobody.causes == []
    assert "nothing is known about the machines of n99" in nobody.evidence[-1]


FEW = files(width="4", most="16", speed="16.0 GT/s PCIe")
WIDE = files(width="16", most="16", speed="16.0 GT/s PCIe")
NARROW = files(width="8", most="16", speed="16.0 GT/s PCIe")
HALF, FULL = at(f"{NET}/duplex", "half\n"), at(f"{NET}/duplex", "full\n")
GOVERNOR = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
SAVING, FAST = at(GOVERNOR, "powersave\n"), at(GOVERNOR, "performance\n")
OFF, ON = (
    output("ethtool -k hsn0", f"Features for hsn0:\ntcp-segmentation-offload: {state}\n")
    for state in ("off", "on")
)
TC = "tc -s qdisc show dev hsn0"
FREE = output(TC, "qdisc mq 0: root\nqdisc fq_codel 0: parent :1\n")
BARE = output(TC, "qdisc htb 1: root\n")
SENDS = blame(kind="port", direction="tx", value=6e9)
LEAF = blame(kind="switch", subject="leaf1", nodes=["n1", "n2", "n3"])
PAIR = blame(kind="pair", subject="n1 -> n3")
LSCPU = "NUMA node0 CPU(s):   0-15,32-47\nNUMA node1 CPU(s):   16-31\n"


def shaped(rate: str) -> Make:
    shown = f"class htb 1:1 root prio 0 rate {rate} ceil {rate} burst 1000b\n"
    return lambda rank: [
        said(rank, TC, "qdisc htb 1: root refcnt 2 r2q 10 default 0x1\n"),
        said(rank, "tc class show dev hsn0", shown),
    ]


def mtu(only: bool = True) -> Run:
    return nics(lambda nic: set_(nic, mtu=1500), only)


def speeds(bad: int, good: int) -> Run:
    every = nics(lambda nic: set_(nic, speed_mbps=good), only=False)
    return nics(lambda nic: set_(nic, speed_mbps=bad), run=every)


def far_socket() -> Run:
    near = nics(lambda nic: set_(nic, numa_node=0), only=False)
    apart = [set_(h, core=20 if h.rank == BAD else 3) for h in near.hosts]
    return set_(near, hosts=apart, facts=[said(r, "lscpu", LSCPU) for r in range(NODES)])


def clock_apart(pair: PairResult) -> PairResult:
    apart = 1.3 if BAD in (pair.origin, pair.target) else 1.001
    batches = [2e6, *pair.batch_ns]
    return set_(pair, batch_ns=batches, target_elapsed_ns=sum(batches) * apart)


def swapped(before: dict[str, Any]) -> dict[str, Any]:
    return {
        name.replace("hsn0", "X").replace("eth0", "hsn0").replace("X", "eth0"): value
        for name, value in before.items()
    }


@pytest.mark.parametrize(
    ("run", "one", "codes"),
    [
        (facts(NARROW, WIDE), blame(value=4e9, expected=8e9), []),  # enough for what is expected
        (facts(FEW, FEW), blame(), []),
        (facts(files(width="x", most="16", speed="??"), WIDE), blame(), []),
        (facts(FEW, WIDE), blame(metric="hrt"), []),
        (
            facts(
                files(width="16", speed="2.5 GT/s PCIe"), files(width="16", speed="16.0 GT/s PCIe")
            ),
            blame(value=3e9),
            ["pcie-unlike-peers"],
        ),
        (mtu(only=False), blame(), []),
        (speeds(25_000, 100_000), blame(), ["speed-low"]),
        (speeds(25_000, 25_000), blame(), []),
        (facts(HALF, FULL), blame(), ["duplex-half"]),
        (facts(HALF, HALF), blame(), []),
        (
            nics(lambda nic: set_(nic, operstate="down", carrier=False)),
            blame(),
            ["link-down"],
        ),
        (
            counters(
                ethtool__hsn0__rx_prio0_bytes=10**9,
                net__hsn0__multicast=10**5,
                ethtool__hsn0__rx_corrected_bits_phy=999,
            ),
            blame(),
            [],
        ),
        (busy(0.6), blame(), ["busy"]),
        (busy(0.6, everybody=True), blame(), []),
        (busy(0.05), blame(), []),
        (hosts(lambda h: set_(h, library="Other MPI 9")), blame(), ["library-differs"]),
        (hosts(lambda h: set_(h, library=f"MPI {h.rank % 3}"), only=False), blame(), []),
        (nics(lambda nic: set_(nic, driver="old")), blame(), ["driver-differs"]),
        (facts(SAVING, FAST), blame(), ["governor"]),
        (facts(FAST, SAVING), blame(), []),
        (
            facts(output(TC, "qdisc tbf 8001: root refcnt 2 rate 50Gbit burst 1Mb\n"), FREE),
            blame(),
            ["queue-limits-rate", "queueing-differs"],
        ),
        (facts(output(TC, "qdisc fq 8001: root refcnt 2\n"), FREE), blame(), ["queueing-differs"]),
        (facts(shaped("100Gbit"), shaped("100Gbit")), SENDS, []),
        (facts(shaped("400Gbit"), BARE), SENDS, []),
        (
            readings(lambda before: {k: (v[0], v[0] + 10) for k, v in before.items()}),
            blame(),
            ["bytes-on-no-nic"],
        ),
        (far_socket(), blame(), ["numa-far"]),
        (pairs(clock_apart), blame(), ["clock-apart"]),
        (RUN, LEAF, []),
        (nics(lambda nic: set_(nic, mtu=1500)), LEAF, []),  # one of the three nodes of the switch
        (RUN, PAIR, ["route-between"]),
    ],
)
def test_the_causes_of_a_world(run: Run, one: Blame, codes: list[str]) -> None:
    assert causes(run, one) == codes


@pytest.mark.parametrize(
    ("run", "one", "first", "confidence", "seen"),
    [
        (facts(FEW, WIDE), blame(), "pcie-narrow", 0.95, "width 4, pcie max width 16"),
        (
            mtu(),
            blame(slowdown=0.055, value=11.3e9),
            "mtu-small",
            0.9,
            "n3: mtu 1500 B; 5 of 5 other nodes have 9000 B",
        ),
        (
            mtu(),
            blame(slowdown=0.055),
            "mtu-small",
            0.9,
            "the headers of packets of this size cost 4.9 %, and the loss is 5.5 %",
        ),
        (nics(lambda nic: set_(nic, mtu=400)), blame(slowdown=0.2), "mtu-small", 0.9, "400 B"),
        (readings(swapped), blame(), "other-nic", None, ""),
        (
            facts(OFF, ON),
            blame(),
            "setting-differs",
            None,
            "tcp-segmentation-offload off; 5 of 5 other nodes have on",
        ),
        (
            facts(shaped("50Gbit"), shaped("100Gbit")),
            SENDS,
            "queue-limits-rate",
            0.95,
            "queue goodput 6.25 GB/s; 5 of 5 other nodes have 12.5 GB/s",
        ),
        (facts(shaped("50Gbit"), BARE), SENDS, "queue-limits-rate", 0.95, "have no limit"),
    ],
)
def test_a_cause_is_as_sure_as_its_evidence_and_shows_it(
    run: Run, one: Blame, first: str, confidence: float | None, seen: str
) -> None:
    cause = found(run, one).causes[0]
    assert (cause.code, confidence or cause.confidence) == (first, cause.confidence)
    assert any(seen in line for line in cause.evidence), cause.evidence


def test_a_loss_that_headers_do_not_cost_is_less_sure() -> None:
    assert found(mtu(), blame(slowdown=0.5)).causes[0].confidence < 0.9
    tiny = nics(lambda nic: set_(nic, mtu=400))
    assert found(tiny, blame(slowdown=0.05)).causes[0].confidence < 0.9


@pytest.mark.parametrize(("direction", "counter", "first"), TABLES["counters"])
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
        found(run, blame(kind="port", direction=way)).causes[0].confidence for way in ("rx", "tx")
    )
    assert into > 1.5 * out


MLX5 = Nic(name="hsn0", numa_node=0, driver="mlx5_core", rdma=Rdma(device="mlx5_0", port=1))


def answer(request: FactRequest) -> FactFrame:
    """What a machine with one NIC, hsn0, answers."""
    path = request.path.replace("/net/*", "/net/hsn0").replace(
        "/infiniband/*", "/infiniband/mlx5_0"
    )
    if request.argv:
        argv = " ".join(request.argv)
        return said(0, argv, TABLES["outputs"].get(argv[:5], "x: y"))
    return fact(0, path, TABLES["texts"].get(path.rsplit("/", 1)[-1], "5"))


@pytest.mark.parametrize("name", ["hsn0", "mlx5_0:1", "", "odd name;*"])
def test_the_facts_that_are_asked_for_are_those_that_are_read(name: str) -> None:
    frames = [answer(request) for request in fact_requests(name)]
    found = properties_of(set_(RUN.hosts[0], core=3), MLX5, frames)
    assert set(found) >= set(TABLES["read"]), set(TABLES["read"]) - set(found)
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


def test_a_leaf_that_is_slow_only_together_is_oversubscribed() -> None:
    seen = "6 GB/s together, 12 GB/s alone"
    told = [Contention(subject="leaf1", loaded=6e9, alone=12e9, sentence=seen)]
    assert causes(RUN, LEAF, contention=told) == ["oversubscribed"]


def test_a_switch_needs_half_of_its_nodes() -> None:
    below = [set_(h, rank=BAD) if h.rank < 3 else h for h in RUN.hosts]
    small = nics(lambda nic: set_(nic, mtu=1500), run=set_(RUN, hosts=below)).hosts
    ranked = [set_(h, rank=old.rank) for h, old in zip(small, RUN.hosts, strict=True)]
    assert causes(set_(RUN, hosts=ranked), LEAF) == ["mtu-small"]


def test_a_pair_whose_end_is_slow_or_that_nothing_is_compared_with_has_no_route_between() -> None:
    assert "errors-received" in causes(counters(net__hsn0__rx_crc_errors=900), PAIR)
    for alone in ({"blames": [PAIR, blame()]}, {"measured": 2}):
        assert explain(set_(located(PAIR), **alone), RUN).blames[0].causes == []


def test_several_causes_are_ranked_and_bounded() -> None:
    rises = {"net__hsn0__rx_crc_errors": 900, "ip__Tcp__RetransSegs": 900}
    run = counters(**rises, net__hsn0__rx_dropped=900)
    old = nics(lambda nic: set_(nic, mtu=1500, driver="old"), run=run)
    run = hosts(lambda h: set_(h, library="other"), run=old)
    codes = causes(run, blame(kind="port", direction="rx", slowdown=0.05))
    assert len(codes) == MOST_CAUSES
    assert set(codes[:2]) == {"errors-received", "mtu-small"}


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
    paths = TABLES["hostile_paths"]
    commands = TABLES["hostile_commands"]
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


@pytest.mark.parametrize(("wrong", "said"), TABLES["wrong_causes"])
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
