"""Whatever a watch sends, a port counts or a program prints: no crash, and no proof without
evidence.
"""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from wireproof.instrument.watch import Follower
from wireproof.ledger.traffic import host_traffic
from wireproof.model.claim import Claim, HostClaim
from wireproof.model.record import Nic, Rdma
from wireproof.model.series import Series, SeriesPoint
from wireproof.model.traffic import (
    CounterMark,
    DirectionTraffic,
    HostTraffic,
    PortTraffic,
    Traffic,
    Watched,
    WatchStart,
)
from wireproof.report.json import json_text
from wireproof.report.text import document_text
from wireproof.watch.document import proof_document, watched_document
from wireproof.watch.hosts import entered_node, hosts_of_command
from wireproof.watch.verdict import judge_traffic

HELLO = b'{"frame":"watch","schema":1,"hostname":"n1","interval_ms":100,"nics":[{"name":"eth0"}]}\n'
FULL = HELLO + b"".join(
    b'{"frame":"reading","t_ns":%d,"asked":%d,"counters":{"net/eth0/tx_bytes":%d}}\n'
    % (n * 10**8, n, n * 1000)
    for n in range(3)
)
COUNT = st.integers(0, 2**64 - 1)
NAMES = st.sampled_from(
    [
        "net/eth0/tx_bytes",
        "net/eth0/rx_bytes",
        "net/lo/tx_bytes",
        "ib/mlx5_0/1/counters/port_xmit_data",
        "ib/mlx5_0/1/counters/port_rcv_data",
        "ib/x/1/counters/port_xmit_data",
        "ib/efa_0/1/hw_counters/tx_bytes",
        "ethtool/eth0/tx_bytes_phy",
        "ip/Tcp/RetransSegs",
        "ip/Tcp/OutSegs",
        "ib/",
        "",
        "net/eth0/rx_dropped",
    ]
)
COUNTERS = st.dictionaries(NAMES, COUNT, max_size=12)
NICS = st.lists(
    st.sampled_from(
        [
            Nic(
                name="eth0",
                driver="mlx5_core",
                rdma=Rdma(device="mlx5_0", port=1, link_layer="Ethernet"),
            ),
            Nic(name="eth0", driver="igb"),
            Nic(name="lo", kind="loopback"),
            Nic(
                name="ib0",
                kind="infiniband",
                driver="hfi1",
                rdma=Rdma(device="hfi1_0", port=1, rate="x Gb/sec"),
            ),
        ]
    ),
    max_size=3,
)
AMOUNT = st.one_of(st.none(), st.floats(0, 1e15))
WAYS = st.builds(
    DirectionTraffic,
    bytes=AMOUNT,
    background=st.floats(0, 1e12),
    peak_bytes_per_s=AMOUNT,
    trouble=st.sampled_from(["", "unit"]),
)
PORTS = st.builds(
    PortTraffic,
    nic=st.sampled_from(["eth0", "ib0", "lo"]),
    kind=st.sampled_from(["ethernet", "infiniband", "loopback", "virtual"]),
    driver=st.just("x"),
    tx=WAYS,
    rx=WAYS,
    stacked=st.booleans(),
    speed_bits_per_s=st.one_of(st.none(), st.floats(1e6, 1e12)),
)
HOSTS = st.builds(
    HostTraffic,
    host=st.sampled_from(["n1", "n2", "\x1b[2J"]),
    ports=st.lists(PORTS, max_size=3),
    error=st.sampled_from(["", "", "", "gone"]),
    machine=st.sampled_from(["", "a", "b"]),
    retransmits=st.dictionaries(NAMES, st.integers(1, 10**9), max_size=2),
    tcp_segments=st.one_of(st.none(), st.integers(0, 10**9)),
)
POINTS = st.builds(
    SeriesPoint,
    message_bytes=st.integers(0, 1 << 40),
    hrt_ns=st.one_of(st.none(), st.floats(0, 1e12)),
    goodput_bytes_per_s=AMOUNT,
    iterations=st.one_of(st.none(), st.integers(0, 10**9)),
    values=st.dictionaries(st.just("bytes"), st.floats(0, 1e15), max_size=1),
)
SERIES = st.builds(
    Series,
    tool=st.sampled_from(["osu", "imb", "iperf3", "qperf"]),
    benchmark=st.sampled_from(["osu_bw", "Barrier", "x"]),
    metric=st.just("bandwidth"),
    traffic=st.sampled_from(
        ["pingpong", "stream", "exchange", "rate", "ring", "collective", "other"]
    ),
    points=st.lists(POINTS, max_size=3),
    formula=st.just(""),
    unit=st.just(""),
    directions=st.integers(0, 2),
    window=st.one_of(st.none(), st.integers(0, 64)),
)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(FULL)), st.binary(max_size=60), st.integers(1, 50))
@example(257, b'\x80"\n', 1)
def test_a_watch_that_is_cut_or_spoilt_gives_an_error_or_the_truth(
    cut: int, spoilt: bytes, chunk: int
) -> None:
    follower = Follower("n1")
    data = FULL[:cut] + spoilt
    for start in range(0, len(data), chunk):
        follower.feed(data[start : start + chunk])
    seen = follower.watched()
    assert seen.error or (seen.after is not None and cut + 1 >= len(FULL))


@settings(max_examples=100, deadline=None)
@given(COUNTERS, COUNTERS, COUNTERS, NICS, st.booleans())
def test_any_counters_give_amounts_that_are_not_negative(
    start: dict[str, int],
    before: dict[str, int],
    after: dict[str, int],
    nics: list[Nic],
    foreign: bool,
) -> None:
    about = WatchStart(schema=1, hostname="n1", interval_ms=100, nics=nics, foreign_sysfs=foreign)
    marks = [
        CounterMark(t_ns=n * 10**9, counters=one) for n, one in enumerate((start, before, after))
    ]
    found = host_traffic(
        Watched(host="n1", about=about, start=marks[0], before=marks[1], after=marks[2])
    )
    for port in found.ports:
        assert all(way.bytes is None or way.bytes >= 0 for way in (port.tx, port.rx))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(HOSTS, max_size=3), st.lists(SERIES, max_size=2), st.sampled_from(["", "eth0", "zz"])
)
def test_no_proof_without_bytes_on_a_port_and_a_number(
    hosts: list[HostTraffic], series: list[Series], nic: str
) -> None:
    traffic = Traffic(hosts=hosts, seconds=1, idle_s=1, interval_s=0.1)
    claim = Claim(
        hosts=[HostClaim(rank=0, host="n1", nic=nic), HostClaim(rank=1, host="n2", nic=nic)]
    )
    found = judge_traffic(traffic, series, claim)
    if found.proof == "on-wire":
        assert found.printed is not None
        assert found.crossed_bytes
        assert any(not host.error for host in hosts)
    assert (found.verdict == "pass") == (found.proof == "on-wire")
    assert found.reasons
    assert "\x1b" not in document_text(watched_document(0, traffic, found))
    assert json_text(proof_document(["x\x1b"], 0, traffic, found, series))


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.sampled_from(
                ["mpirun", "-H", "--host=a,b", "-hostfile", "wireproof", "lab", "exec"]
            ),
            st.text(),
        ),
        min_size=1,
    )
)
def test_any_words_of_a_command(words: list[str]) -> None:
    assert all(name.isascii() for name in hosts_of_command(words, lambda _: "n1\n\x00\n"))
    assert entered_node(words) is None or len(words) > 5
