"""Priority flow control: the single parts against known truths."""

import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.zoo.pfc_adapters import ADAPTERS, LOSSLESS, Happened
from tests.zoo.pfc_worlds import PAUSED, SITUATIONS, SLOW, World, record_of

from wireproof.model.errors import BadInput
from wireproof.model.record import Nic, Rdma
from wireproof.options.hosts import parse_hosts
from wireproof.pfc import Count, PfcLoad, PfcReport
from wireproof.pfc.counters import by_counters, by_driver, pausing, ports_of
from wireproof.pfc.document import pfc_document
from wireproof.pfc.host_files import counters_of, settings_of, split
from wireproof.pfc.job import judged
from wireproof.pfc.live import check_incast, incast_points
from wireproof.pfc.pauses import slow_receivers
from wireproof.report.document import Findings

BY_KEY = {one.key: one for one in ADAPTERS}


def _judged(adapter: str, world: World, priority: int | None = LOSSLESS) -> PfcReport:
    return judged(record_of(BY_KEY[adapter], world), priority)


def _codes(report: PfcReport) -> set[str]:
    return {one.code for one in report.findings}


# --- who pauses whom


@pytest.mark.parametrize(
    ("frames", "slow"),
    [
        ([], []),
        ([10**9], []),
        ([0, 0, 0, 0], []),
        ([500, 700, 600, 800, 550], []),
        ([500, 700, 600, 800, 550, 244_655_362], [5]),
        ([0, 0, 5_000, 0, 0, 0], [2]),
        ([9_000_000, 3, 8_000_000, 2, 1, 0, 4, 2], [0, 2]),
        ([5, 5_000_000], [1]),
        ([1000, 9000, 1000, 1000], []),
    ],
)
def test_slow_receivers_are_far_from_the_others(frames: list[int], slow: list[int]) -> None:
    assert slow_receivers(frames) == slow


@given(st.lists(st.integers(0, 10**9), min_size=2, max_size=40), st.randoms())
def test_the_order_of_hosts_is_no_matter(frames: list[int], random: object) -> None:
    order = list(range(len(frames)))
    random.shuffle(order)  # type: ignore[attr-defined]
    found = {order.index(index) for index in slow_receivers(frames)}
    assert found == set(slow_receivers([frames[index] for index in order]))
    assert len(found) <= len(frames) // 2 + 1


def test_only_senders_are_no_measure_for_receivers() -> None:
    """Four hosts received in their turn and paused a little; the others could not."""
    paused = replace(PAUSED, tx_xoff={LOSSLESS: 4000}, tx_xon={LOSSLESS: 900}, tx_us={3: 400_000})
    hosts = {f"n{i}": paused if i <= 4 else PAUSED for i in range(1, 13)}
    record = record_of(BY_KEY["ice"], World(hosts))
    assert "pfc-slow-receiver" in _codes(judged(record, LOSSLESS))
    load = PfcLoad(kind="incast", receivers=["n1", "n2", "n3", "n4"], senders=8)
    own = judged(type(record)(**{**_fields(record), "load": load}), LOSSLESS)
    assert own.verdict == "pass", own.findings


def _fields(record: object) -> dict[str, object]:
    return {name: getattr(record, name) for name in record.__struct_fields__}  # type: ignore[attr-defined]


def test_a_host_alone_is_held_against_what_it_gets() -> None:
    assert "pfc-slow-receiver" in _codes(_judged("ice", World({"n1": SLOW})))
    assert "pfc-slow-receiver" not in _codes(_judged("ice", World({"n1": PAUSED})))


# --- the four conditions


def test_drops_of_another_priority_are_not_this_ones() -> None:
    record = record_of(BY_KEY["mlx5"], World({f"n{i}": PAUSED for i in range(1, 4)}))
    first = record.hosts[0]
    for name in ("rx_prio1_discards", "rx_discards_phy"):
        first.after.counters[f"ethtool/hsn0/{name}"] += 50
    report = judged(record, LOSSLESS)
    assert report.verdict == "pass", report.findings
    first.after.counters["ethtool/hsn0/rx_discards_phy"] += 1  # one that nobody accounts for
    assert _codes(judged(record, LOSSLESS)) == {"pfc-dropped"}


def test_priorities_of_one_traffic_class_count_in_unison() -> None:
    """Intel's guide of the 800 series: equal counts are one class, others are another one."""
    frames = dict.fromkeys((0, 1, LOSSLESS), 5000)
    alike = replace(PAUSED, rx_xoff=frames, rx_xon=dict.fromkeys(frames, 2400))
    assert _judged("ice", World({"n1": alike, "n2": alike})).verdict == "pass"
    other = replace(alike, rx_xoff={**frames, 5: 77})
    assert "pfc-wrong-priority" in _codes(_judged("ice", World({"n1": alike, "n2": other})))


def test_a_priority_that_only_moved_is_not_proven_right() -> None:
    world = World({"n1": PAUSED, "n2": PAUSED}, lossless=None)
    report = _judged("ice", world, None)
    assert (report.priority, report.priority_from) == (LOSSLESS, "the only one that paused")
    assert report.verdict == "inconclusive"
    assert _codes(report) == {"pfc-no-priority"}


def test_another_reset_gives_a_lower_bound() -> None:
    """Counters that began anew and already show drops: at least so many."""
    world = World({"n1": replace(PAUSED, rx_dropped=12), "n2": PAUSED}, renewed=frozenset({"n1"}))
    report = _judged("ice", world)
    assert report.verdict == "fail"
    (dropped,) = [one for one in report.findings if one.code == "pfc-dropped"]
    assert "rx_dropped.nic +at least 12" in dropped.message


def test_drops_under_pauses_name_the_headroom() -> None:
    report = _judged("mlx5", World({"n1": replace(PAUSED, rx_dropped=9), "n2": PAUSED}))
    (dropped,) = [one for one in report.findings if one.code == "pfc-dropped"]
    assert "plan pfc" in dropped.advice
    assert {(one.speed_gbps, one.mtu) for one in report.headroom} == {(100.0, 9000)}
    least = min(one.least_bytes for one in report.headroom)
    assert f"{least:,}" in dropped.advice
    with_cable = judged(
        record_of(BY_KEY["mlx5"], World({"n1": replace(PAUSED, rx_dropped=9)})), 3, 30
    )
    assert [one.cable_m for one in with_cable.headroom] == [30]


@given(
    st.dictionaries(st.integers(0, 7), st.integers(0, 10**6), max_size=4),
    st.dictionaries(st.integers(0, 7), st.integers(0, 10**6), max_size=4),
    st.sampled_from([one.key for one in ADAPTERS]),
)
def test_nothing_passes_without_a_pause_that_ended(
    xoff: dict[int, int], xon: dict[int, int], key: str
) -> None:
    """Whatever moves: a pass needs Xoff and Xon from the switch in the lossless priority."""
    xon = {one: min(count, xoff.get(one, 0)) for one, count in xon.items()}
    happened = Happened(rx_xoff=xoff, rx_xon=xon, bytes_of={LOSSLESS: 10**9})
    report = _judged(key, World({"n1": happened, "n2": happened}))
    if report.verdict == "pass":
        assert xoff.get(LOSSLESS, 0) > 0
        assert xon.get(LOSSLESS, 0) > 0
        # in unison with it, or quiet
        assert {count for count in xoff.values() if count} <= {xoff[LOSSLESS]}


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda one: one.key)
def test_the_document_names_every_finding_and_every_port(situation: object) -> None:
    report = _judged("mlx5", situation.world)  # type: ignore[attr-defined]
    document = pfc_document(report)
    decisive = {one.code for one in report.findings if one.severity == report.verdict}
    assert all(code in document.answer for code in decisive)
    found = [part for part in document.parts if isinstance(part, Findings)]
    assert {item.code for part in found for item in part.items} == _codes(report)
    (ports,) = [part for part in document.parts if getattr(part, "title", "").startswith("Ports")]
    table = ports.parts[0]  # type: ignore[union-attr]
    failed = [row for row in table.rows if row.tone == "fail"]
    assert bool(failed) == any(port.answer == "fail" for port in report.ports)
    shown = {host for row in table.rows for host in parse_hosts(row.cells[0])}
    assert shown == {port.host for port in report.ports}


def test_a_count_that_is_a_lower_bound_of_nothing_is_not_known() -> None:
    assert Count(value=0, least=True).moved is None
    assert Count(value=3, least=True).moved is True
    assert Count(value=0).moved is False
    assert Count(value=None).moved is None


def test_a_port_without_ethernet_has_no_pfc() -> None:
    record = record_of(BY_KEY["ice"], World({"n1": PAUSED}))
    about = record.hosts[0].about
    about.nics.append(Nic(name="ib0", kind="infiniband"))
    record.nics["n1"] = "ib0"
    with pytest.raises(BadInput, match="lossless by credits"):
        judged(record, LOSSLESS)


def test_marks_explain_a_load_without_pauses() -> None:
    record = record_of(BY_KEY["mlx5"], World({f"n{i}": Happened() for i in range(1, 4)}))
    first = record.hosts[0]
    for mark, value in ((first.before, 0), (first.after, 7)):
        mark.counters["ib/mlx5_0/1/hw_counters/np_cnp_sent"] = value
    (finding,) = judged(record, LOSSLESS).findings
    assert finding.code == "pfc-no-pressure"
    assert "ECN was active: 7 packets" in finding.message
    assert "Try it without ECN" in finding.advice


# --- the table of drivers


def test_each_family_is_found_by_its_driver_and_its_counters() -> None:
    for family in pausing():
        assert by_driver(family.drivers[0].rstrip("*")) is family
        signs = [one for pair in (family.xoff, family.frames, family.paused_us) for one in pair]
        first = next((one for one in (*signs, *family.total) if one), ())
        assert first, family.name
        statistics = {name.format(p=0) for name in first[0].split()}
        assert by_counters(statistics) in (family, None), family.name


def test_each_family_says_where_its_names_are_from() -> None:
    for family in pausing():
        assert "linux" in family.source
        assert family.note or family.unchecked


def test_statistics_of_two_families_name_none() -> None:
    assert by_counters({"tx_prio3_pause", "tx_priority_3_xoff.nic"}) is None
    assert by_counters({"rx_packets"}) is None


# --- what is configured


MLNX_QOS = (
    "DCBX mode: OS controlled\nPriority trust state: dscp\nPFC configuration:\n"
    "\tpriority    0   1   2   3   4   5   6   7\n"
    "\tenabled     0   0   0   1   0   0   0   0\n"
    "\tbuffer      0   0   0   1   0   0   0   0\n"
)
LLDP = "PFC TLV\n\t Willing: yes\n\t PFC capable traffic classes: 8\n\t PFC enabled: 3 4\n"
NIC = Nic(name="eth_1", driver="ice", rdma=Rdma(device="rocep1s0", port=1))


@pytest.mark.parametrize(
    ("texts", "lossless"),
    [
        ({"dcb pfc show dev eth_1": "prio-pfc 0:off 1:off 2:off 3:on 4:off 5:on\n"}, [3, 5]),
        ({"mlnx_qos -i eth_1": MLNX_QOS}, [3]),
        ({"lldptool -ti eth_1 -V PFC": LLDP}, [3, 4]),
        ({"lldptool -ti eth_1 -V PFC": "PFC TLV\n\t PFC enabled: none\n"}, []),
        ({"dcb pfc show dev eth_1": "\x00\xff garbage"}, None),
        ({"dcb pfc show dev eth_9": "prio-pfc 0:on"}, None),
        ({}, None),
    ],
)
def test_priorities_that_pfc_is_on_for(texts: dict[str, str], lossless: list[int] | None) -> None:
    assert settings_of("n1", NIC, texts).lossless == lossless


def test_link_flow_control_and_the_rest() -> None:
    texts = {
        "ethtool -a eth_1": "Pause parameters for eth_1:\nAutonegotiate:\ton\nRX:\ton\nTX:\toff\n",
        "mlnx_qos -i eth_1": MLNX_QOS,
        "lldptool -ti eth_1 -V PFC": LLDP,
        "/sys/class/infiniband/rocep1s0/tc/1/traffic_class": "106\n",
    }
    found = settings_of("n1", NIC, texts)
    assert (found.link_rx, found.link_tx) == (True, False)
    assert (found.trust, found.willing, found.traffic_class) == ("dscp", True, 106)


# --- texts


def test_a_terminal_is_split_at_its_commands() -> None:
    text = "$ ethtool -S eth0 | grep prio\na: 1\n$ ethtool -a eth0\nRX: off\n# ls\nb: 2\n"
    parts = split(text)
    assert list(parts) == ["ethtool -S eth0", "ethtool -a eth0"]
    assert counters_of(parts["ethtool -S eth0"], "eth0") == {"ethtool/eth0/a": 1}


def test_statistics_are_numbers_with_names() -> None:
    text = "NIC statistics:\n     [0]: rx_ucast: 5\n  a b: 7\n x: -1\n y: 1e3\n z: ٣\n"
    text += " w: 99999999999999999999\n"
    assert counters_of(text, "e") == {"ethtool/e/[0]: rx_ucast": 5, "ethtool/e/a b": 7}


@pytest.mark.parametrize("garbage", [" " * 400_000, "\n" * 400_000, ":" * 400_000, "| " * 200_000])
def test_garbage_is_read_in_linear_time(garbage: str) -> None:
    began = time.process_time()
    split(garbage)
    counters_of(garbage, "e")
    settings_of("n1", NIC, {"mlnx_qos -i eth_1": garbage, "lldptool -ti eth_1 -V PFC": garbage})
    small = time.process_time() - began
    began = time.process_time()
    split(garbage * 4)
    counters_of(garbage * 4, "e")
    assert time.process_time() - began < 40 * small + 1.0


# --- ports and load


def test_a_vlan_or_bond_leads_to_its_ports() -> None:
    nics = [
        Nic(name="p0", master="bond0"),
        Nic(name="p1", master="bond0"),
        Nic(name="bond0", kind="virtual", link_kind="bond"),
        Nic(name="bond0.7", kind="virtual", link_kind="vlan", lower=["bond0"]),
        Nic(name="eth9", rdma=Rdma(device="mlx5_9", port=1)),
    ]
    assert ports_of(nics, "bond0.7") == ["p0", "p1"]
    assert ports_of(nics, "mlx5_9") == ["eth9"]
    assert ports_of(nics, "p1,eth9") == ["p1", "eth9"]
    assert ports_of(nics) == ["eth9"]
    assert ports_of(nics, "nowhere") == []


@pytest.mark.parametrize("by_pairs", [False, True])
def test_each_receiver_has_its_turn(by_pairs: bool) -> None:
    points = incast_points(5, 3, 10.0, by_pairs=by_pairs)
    assert len(points) == 5
    for number, point in enumerate(points):
        if by_pairs:
            ends = [end for pair in point.pairs for end in pair]
            assert len(ends) == len(set(ends)) == 6
            assert {target // 3 for _, target in point.pairs} == {number}
            senders = {origin // 3 for origin, _ in point.pairs}
        else:
            assert point.members[0] == number
            senders = set(point.members[1:])
        assert len(senders) == 3
        assert number not in senders
    assert len(incast_points(10_000, 16, 10.0)) == 10


def test_an_incast_needs_two_senders() -> None:
    assert check_incast(3, None) == 2
    assert check_incast(100, None) == 16
    assert check_incast(100, 99) == 99
    for hosts, senders in ((2, None), (1, None), (0, None), (3, 3), (5, 1)):
        with pytest.raises(BadInput):
            check_incast(hosts, senders)
