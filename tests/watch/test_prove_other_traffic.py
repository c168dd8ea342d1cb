"""Other traffic on the ports: what it must not prove, and what it must not spoil."""

import msgspec
import pytest
from tests.records import osu_times
from tests.watch.test_prove_verdict import (
    FULL,
    LINK,
    MB,
    QUIET,
    claim,
    codes,
    entry,
    host,
    ledgers,
    one_way,
    pair,
    port,
    stream,
    traffic,
    way,
)

from wireproof.model.claim import Claim, HostClaim, LinkClaim
from wireproof.model.record import AdapterIdentity, Nic, Rdma
from wireproof.model.series import Series, SeriesPoint
from wireproof.model.traffic import (
    DirectionTraffic,
    HostTraffic,
    PortLedger,
    Traffic,
    TrafficVerdict,
)
from wireproof.watch.verdict import judge_traffic


def pingpong(*rows: tuple[int, float], iterations: int | None = None) -> Series:
    """Sizes with half a round trip in us, as OSU prints them."""
    points = [
        SeriesPoint(message_bytes=size, hrt_ns=us * 1e3, iterations=iterations) for size, us in rows
    ]
    return osu_times(points)


LATENCY = pingpong((8, 20.0), (1024, 31.0), (65536, 700.0), (1 << 20, 10_500.0))
"""Its largest row puts 50 MB/s on a direction."""
FORTH, BACK = 303 * MB, 6 * MB
"""Another job's flow of 118 MB/s and its acknowledgements."""


def flows(there: DirectionTraffic, back: DirectionTraffic) -> Traffic:
    return traffic(host("n1", port("eth0", there, back)), host("n2", port("eth0", back, there)))


@pytest.mark.parametrize("peak", [118e6, 12.5e6, 40e6, 60e6])
@pytest.mark.parametrize("iterations", [None, 100])
def test_one_way_traffic_of_another_job_proves_no_ping_pong(
    peak: float, iterations: int | None
) -> None:
    """The payload in memory, and a foreign flow that starts with the command, was a PASS."""
    rows = pingpong(*[(p.message_bytes, (p.hrt_ns or 0) / 1e3) for p in LATENCY.points])
    rows = msgspec.structs.replace(
        rows, points=[msgspec.structs.replace(p, iterations=iterations) for p in rows.points]
    )
    found = judge_traffic(flows(way(FORTH, peak), way(BACK, peak / 40)), [rows], claim("eth0"))
    assert found.verdict != "pass", found.reasons


def test_full_directions_are_more_than_a_ping_pong_can_put_there() -> None:
    found = judge_traffic(flows(way(FORTH, 118e6), way(FORTH, 118e6)), [LATENCY], claim("eth0"))
    assert (found.proof, codes(found)[0]) == ("unproven", "traffic-not-its-own")


@pytest.mark.parametrize(
    ("moved", "iterations", "proof"),
    [
        (1010 * MB, 1000, "on-wire"),
        (1240 * MB, 1000, "on-wire"),
        (1400 * MB, 1000, "unproven"),
        (4000 * MB, 1000, "unproven"),
        (1010 * MB, None, "unproven"),
    ],
)
def test_a_stream_that_stood_still_is_proven_by_its_count(
    moved: float, iterations: int | None, proof: str
) -> None:
    """`iperf3 -R` whose client had no processor for 1.5 of 2 s: 29 MB/s on average, and 120 MB/s
    at its peak.
    """
    found = judge_traffic(pair(moved, 120e6), [stream(iterations, rate=29e6)], claim("eth0"))
    assert found.proof == proof
    assert ("traffic-not-its-own" in codes(found)) == (proof == "unproven")


def test_a_ping_pong_beside_a_one_way_flow_is_proven_by_the_other_direction() -> None:
    own = 2000 * MB
    found = judge_traffic(
        flows(way(own + FORTH, 110e6), way(own + BACK, 52e6)), [LATENCY], claim("eth0")
    )
    assert (found.proof, found.verdict) == ("on-wire", "pass")
    assert found.crossed_bytes == own + BACK


def test_namespaces_of_one_kernel_prove_no_wire() -> None:
    """Two containers of one machine were on-wire (PASS)."""
    names = ("boot-7/4026531840", "boot-7/4026532201")
    for nic in ("", "eth0"):
        ends = [
            msgspec.structs.replace(one, machine=name)
            for one, name in zip(pair(1020 * MB).hosts, names, strict=True)
        ]
        found = judge_traffic(traffic(*ends), [stream()], claim(nic))
        assert (found.proof, codes(found)[0]) == ("unproven", "traffic-one-kernel")
        lab = msgspec.structs.replace(claim(nic), virtual=True)
        assert judge_traffic(traffic(*ends), [stream()], lab).proof == "on-wire"
    apart = [
        msgspec.structs.replace(one, machine=f"boot-{n}/1")
        for n, one in enumerate(pair(1020 * MB).hosts)
    ]
    assert judge_traffic(traffic(*apart), [stream()], claim("eth0")).proof == "on-wire"


def test_clones_of_a_running_machine_are_two_machines_by_their_addresses() -> None:
    """Equal boot ids and namespaces: what the second end's other port carried was not looked at."""
    ends = [
        host("n1", port("hsn0", FULL, QUIET), port("eth0", QUIET, QUIET)),
        host("n2", port("hsn0", QUIET, QUIET), port("eth0", QUIET, FULL)),
    ]
    clones = [
        msgspec.structs.replace(_at(one, f"10.0.0.{n}"), machine="boot-7/1")
        for n, one in enumerate(ends)
    ]
    assert judge_traffic(traffic(*clones), [stream()], claim("hsn0")).proof == "wrong-path"
    whole = [
        msgspec.structs.replace(_at(one, f"10.0.0.{n}"), machine="boot-7/1")
        for n, one in enumerate(pair(1020 * MB).hosts)
    ]
    found = judge_traffic(traffic(*whole), [stream()], claim("eth0"))
    assert (found.proof, codes(found)) == ("on-wire", ["traffic-on-wire"])


def test_a_container_beside_clones_may_be_on_the_kernel_of_either() -> None:
    """Two clones and a container of the first: the container's traffic with it was on the wire."""
    ends = [*pair(1020 * MB).hosts, host("n3", port("eth0", QUIET, QUIET))]
    sender, receiver, clone = (
        msgspec.structs.replace(_at(one, f"10.0.0.{n}"), machine=f"boot-7/{netns}")
        for n, (one, netns) in enumerate(zip(ends, (1, 2, 1), strict=True))
    )
    found = judge_traffic(traffic(sender, receiver, clone), [stream()], claim("eth0"))
    assert (found.proof, codes(found)[0]) == ("unproven", "traffic-one-kernel")


@pytest.mark.parametrize(
    ("addresses", "one_machine"),
    [
        # an address that came between the readings of its two names
        ((("10.0.0.1", "10.0.0.9"), ("10.0.0.1",)), True),
        ((("10.0.0.1",), ("10.0.0.2",)), False),
        (((), ()), True),
    ],
)
def test_only_addresses_to_the_outside_tell_clones(
    addresses: tuple[tuple[str, ...], tuple[str, ...]], one_machine: bool
) -> None:
    everywhere = [
        Nic(name="docker0", address=["172.17.0.1"], kind="virtual", link_kind="bridge"),
        Nic(name="lo", address=["127.0.0.1", "::1"], kind="loopback"),
    ]
    ends = []
    for given, end in zip(addresses, pair(1020 * MB).hosts, strict=True):
        ledger = _at(end, *given).ledger
        silent = host("n", *(port(nic.name, QUIET, QUIET, kind=nic.kind) for nic in everywhere))
        beside = {
            nic.name: msgspec.structs.replace(silent.ledger.ports[nic.name], nic=nic)
            for nic in everywhere
        }
        whole = msgspec.structs.replace(ledger, ports={**ledger.ports, **beside})
        ends.append(msgspec.structs.replace(end, ledger=whole, machine="boot-7/1"))
    found = judge_traffic(traffic(*ends), [stream()], claim())
    assert ("traffic-one-end" in codes(found)) == one_machine


def _at(one: HostTraffic, *address: str) -> HostTraffic:
    ports = {
        name: msgspec.structs.replace(
            each, nic=msgspec.structs.replace(each.nic, address=list(address))
        )
        for name, each in one.ledger.ports.items()
    }
    return msgspec.structs.replace(one, ledger=msgspec.structs.replace(one.ledger, ports=ports))


def on(kernel: str, name: str, sent: float, received: float, peak: float = 117e6) -> HostTraffic:
    ends = port("eth0", way(sent, peak), way(received, peak))
    return msgspec.structs.replace(host(name, ends), machine=f"{kernel}/{name}")


ALL, NONE = 1010 * MB, 1000.0


def judged(hosts: list[HostTraffic], series: Series, nic: str = "eth0") -> TrafficVerdict:
    claims = [HostClaim(rank=n, host=one.host, nic=nic) for n, one in enumerate(hosts)]
    return judge_traffic(traffic(*hosts), [series], Claim(hosts=claims, link=LINK))


@pytest.mark.parametrize(
    ("hosts", "proof"),
    [
        # c1 and c2 are containers of one machine, b and d machines.
        ([on("k", "c1", ALL, NONE), on("k", "c2", NONE, NONE), on("m", "b", NONE, ALL)], "on-wire"),
        ([on("k", "c1", NONE, NONE), on("k", "c2", NONE, ALL), on("m", "b", ALL, NONE)], "on-wire"),
        (
            [on("k", "c1", ALL, NONE), on("k", "c2", NONE, ALL), on("m", "b", NONE, NONE)],
            "unproven",
        ),
        ([on("k", "c1", ALL, ALL), on("k", "c2", ALL, ALL), on("m", "b", NONE, NONE)], "unproven"),
        (
            [
                on("k", "c1", ALL, ALL),
                on("k", "c2", ALL, ALL),
                on("m", "b", ALL, ALL),
                on("n", "d", ALL, ALL),
            ],
            "on-wire",
        ),
        (
            [
                on("k", "c1", 9 * ALL, NONE),
                on("k", "c2", NONE, 9 * ALL),
                on("m", "b", ALL, NONE),
                on("n", "d", NONE, ALL),
            ],
            "unproven",
        ),
        (
            [
                on("k", "c1", ALL, NONE),
                on("k", "c2", NONE, NONE),
                on("m", "d1", NONE, ALL),
                on("m", "d2", NONE, NONE),
            ],
            "on-wire",
        ),
    ],
    ids=["sends", "receives", "inside", "exchange", "ring", "mostly inside", "two machines"],
)
@pytest.mark.parametrize("nic", ["", "eth0"])
def test_containers_of_one_machine_do_not_spoil_what_crossed_between_machines(
    hosts: list[HostTraffic], proof: str, nic: str
) -> None:
    found = judged(hosts, stream(), nic)
    assert found.proof == proof, found.reasons
    shared = [one for one in found.reasons if one.code == "traffic-one-kernel"]
    assert shared[0].evidence["hosts"] == "c1, c2"
    assert shared[0].severity == ("warning" if proof == "on-wire" else "inconclusive")


PING_PONG = pingpong((1 << 20, 10_500.0), iterations=950)


def echo(kernel: str, name: str, moved: float) -> HostTraffic:
    return on(kernel, name, moved, moved, 50e6)


WITHIN = [on("k", "c1", ALL, NONE), on("k", "c2", NONE, ALL)]
UNPROVEN = {
    # Whatever c1 sent, c2 may have received, and what b heard may be another job's.
    **{
        f"ping-pong, {heard} heard": (
            [echo("k", "c1", ALL), echo("k", "c2", ALL), echo("m", "b", heard)],
            PING_PONG,
        )
        for heard in (NONE, 0.3 * ALL, ALL, 2 * ALL)
    },
    # c1 streams to c2 on the same machine while b moves as much for someone else.
    **{
        f"stream, {ways} of another job": ([*WITHIN, on("m", "b", *ways)], stream())
        for ways in ((NONE, ALL), (ALL, NONE), (ALL, ALL))
    },
    # The payload in memory, and at one host alone a flow of another job in both directions.
    "one silent": ([on("m", "b", ALL, ALL), on("k", "a", NONE, NONE)], stream()),
    "two silent": (
        [on("m", "b", ALL, ALL), on("k", "a", NONE, NONE), on("l", "c", NONE, NONE)],
        stream(),
    ),
}


@pytest.mark.parametrize("case", UNPROVEN)
def test_what_a_third_host_moved_is_no_proof(case: str) -> None:
    hosts, series = UNPROVEN[case]
    found = judged(hosts, series)
    shared = [one.evidence["hosts"] for one in found.reasons if one.code == "traffic-one-kernel"]
    if "silent" in case:
        assert found.proof not in ("on-wire", "wrong-path"), found.reasons
    else:
        assert (found.proof, shared) == ("unproven", ["c1, c2"]), found.reasons


def guest(name: str, serial: str, sent: float, received: float) -> HostTraffic:
    """A virtual machine with a function of the adapter of that serial number."""
    adapter = AdapterIdentity(serial=serial)
    nic = Nic(name="eth0", driver="iavf", speed_mbps=1000, mtu=1500, adapter=adapter)
    tx, rx = (
        [entry(count, 117e6 if count > MB else 0.0, carrier="any", level="function")]
        for count in (sent, received)
    )
    return ledgers(name, PortLedger(nic=nic, tx=tx, rx=rx), machine=f"{name}/1")


@pytest.mark.parametrize("nic", ["", "eth0"])
@pytest.mark.parametrize(
    ("moved", "proof"),
    [
        (((ALL, NONE), (NONE, NONE), (NONE, ALL)), "on-wire"),
        (((ALL, NONE), (NONE, ALL), (NONE, NONE)), "unproven"),
    ],
    ids=["between machines", "inside"],
)
def test_guests_on_one_adapter_do_not_spoil_what_crossed_to_another_machine(
    moved: tuple[tuple[float, float], ...], proof: str, nic: str
) -> None:
    """Two of three hosts on one adapter made the whole run inconclusive, and it named no host."""
    names = (("g1", "a0-01"), ("g2", "a0-01"), ("b", "a0-77"))
    hosts = [guest(*name, *counts) for name, counts in zip(names, moved, strict=True)]
    found = judged(hosts, stream(), nic)
    shared = [one for one in found.reasons if one.code == "traffic-one-adapter"]
    assert (found.proof, len(shared)) == (proof, 1), found.reasons
    assert shared[0].evidence["hosts"] == "g1, g2"


def test_the_claimed_port_at_one_end_and_another_at_the_other_is_a_wrong_path() -> None:
    """The peer's address was on the parent of the claimed macvlan: "went through memory"."""
    quiet, moved = way(800.0, 0), way(1020 * MB)
    seen = traffic(
        host("n1", port("mv0", moved, quiet), port("eth0", quiet, quiet)),
        host("n2", port("mv0", quiet, quiet), port("eth0", quiet, moved)),
    )
    found = judge_traffic(seen, [stream()], claim("mv0"))
    assert (found.proof, found.verdict) == ("wrong-path", "fail")
    assert "eth0" in found.reasons[0].message


def cluster(*, moved: float, peak: float, chatter: float) -> Traffic:
    """eth0 at 1 Gb/s, on which the system talks, beside hsn0 at 100 Gb/s, which carries the
    command's bytes.
    """
    eth0 = Nic(name="eth0", driver="igb", speed_mbps=1000, mtu=1500)
    hsn0 = Nic(name="hsn0", driver="ixgbe", speed_mbps=100_000, mtu=9000)
    talk = PortLedger(nic=eth0, tx=[entry(chatter, 1e6)], rx=[entry(chatter / 3, 1e6)])
    out, back = [entry(moved, peak)], [entry(1e5, 1e4)]
    return traffic(
        ledgers("n1", talk, PortLedger(nic=hsn0, tx=out, rx=back), machine="boot-0/1"),
        ledgers("n2", talk, PortLedger(nic=hsn0, tx=back, rx=out), machine="boot-1/1"),
    )


@pytest.mark.parametrize("chatter", [0.0, 3e6, 2e7])
def test_the_port_that_carried_most_is_held_to_its_own_link(chatter: float) -> None:
    """The first port by name was eth0, whose 1 Gb/s excluded what hsn0 had carried."""
    rows = stream(10_000, MB, 9.8e9)
    seen = cluster(moved=10_300 * MB, peak=9.9e9, chatter=chatter)
    found = judge_traffic(seen, [rows], claim("", None))
    assert (found.proof, found.verdict) == ("on-wire", "pass"), found.reasons


@pytest.mark.parametrize("chatter", [4e6, 3e7])
def test_a_chatty_port_that_carried_nothing_more_leaves_the_busy_port_proven(
    chatter: float,
) -> None:
    """The background of eth0 was taken off the bytes of hsn0, and its peak added to theirs."""
    eth0, hsn0 = (Nic(name=name, driver="igb", speed_mbps=1000) for name in ("eth0", "hsn0"))
    talk = PortLedger(nic=eth0, tx=[entry(2e4, chatter, background=10 * chatter)], rx=[entry(0.0)])
    out, back = [entry(1040 * MB, 1.2e8)], [entry(3e6, 1e6)]
    seen = traffic(
        ledgers("n1", talk, PortLedger(nic=hsn0, tx=out, rx=back), machine="boot-0/1"),
        ledgers("n2", talk, PortLedger(nic=hsn0, tx=back, rx=out), machine="boot-1/1"),
    )
    found = judge_traffic(seen, [stream()], claim("", None))
    assert (found.proof, found.verdict) == ("on-wire", "pass"), found.reasons
    assert found.peak_bytes_per_s == 1.2e8


@pytest.mark.parametrize(("wire", "proof"), [(550, "mixed"), (30, "off-wire")])
def test_bytes_of_which_half_left_the_adapter_are_mixed(wire: int, proof: str) -> None:
    """The adapter's function counts all that passes it, its physical port what left."""
    nic = Nic(
        name="eth0",
        driver="mlx5_core",
        function="physical",
        rdma=Rdma(device="mlx5_0", port=1, link_layer="Ethernet"),
    )

    full = [
        entry(wire * MB, carrier="any", level="wire"),
        entry(1020 * MB, carrier="rdma", level="function"),
        entry(0.0),
    ]
    none = [msgspec.structs.replace(one, bytes=0.0, peak_bytes_per_s=0.0) for one in full]
    found = judge_traffic(one_way((nic, full, none)), [stream()], claim("eth0"))
    assert (found.proof, found.verdict) == (proof, "fail"), found.reasons


@pytest.mark.parametrize("kind", ["wireguard", "vxlan", "geneve", "ipip", "gre"])
@pytest.mark.parametrize("nic", ["", "eth0", "tun0"])
def test_a_tunnel_is_no_rival_of_the_port_that_carries_it(kind: str, nic: str) -> None:
    below = Nic(name="eth0", driver="igb", speed_mbps=1000)
    tunnel = Nic(name="tun0", kind="virtual", driver=kind, link_kind=kind)
    back = [entry(4000.0)]
    seen = one_way((below, [entry(1060 * MB)], back), (tunnel, [entry(1020 * MB)], back))
    found = judge_traffic(seen, [stream()], claim(nic))
    assert (found.proof, found.verdict) == ("on-wire", "pass"), found.reasons


@pytest.mark.parametrize(("count", "peak", "faster"), [(1020, 1.24e8, True), (20, 5e7, False)])
def test_a_claim_of_a_tenth_is_not_called_other_traffic(
    count: int, peak: float, faster: bool
) -> None:
    """117 MB/s over 1 Gb/s, claimed as 0.1 Gb/s: the bytes on the port were "other traffic"."""
    claimed = LinkClaim(kind="ethernet:0.1", protocol="tcp", rate_bits_per_s=1e8, mtu=1500)
    out = [entry(1.04 * count * MB, peak)]
    seen = one_way((Nic(name="eth0", driver="igb"), out, [entry(4000.0, 1e3)]))
    found = judge_traffic(seen, [stream(count, MB, 1.17e8)], claim("eth0", claimed))
    (doubt,) = [one for one in found.reasons if one.code == "traffic-contradicted"]
    assert (found.verdict, "link may be faster" in doubt.message) == ("inconclusive", faster)


def test_a_tenth_of_the_claimed_link_is_on_wire_and_no_pass() -> None:
    """The bytes crossed a port, and not over the link that was claimed."""
    claimed = LinkClaim(kind="10gbe", protocol="tcp", rate_bits_per_s=1e10, mtu=1500)
    found = judge_traffic(pair(1020 * MB), [stream(rate=110e6)], claim("eth0", claimed))
    assert (found.proof, found.verdict) == ("on-wire", "fail")
    assert "below-expectation" in codes(found)


def test_the_claimed_port_is_named_if_nothing_crossed_it() -> None:
    found = judge_traffic(pair(0.0, nic="hsn0"), [stream()], claim("hsn0"))
    assert found.port == "hsn0"


@pytest.mark.parametrize(("hidden", "proof"), [("/sys is another's", "unproven"), ("", "mixed")])
def test_a_bond_whose_members_are_hidden_is_no_second_path(hidden: str, proof: str) -> None:
    """Its counter was late, and its member's looked like another port that had the rest."""
    bond = Nic(name="bond0", kind="virtual", driver="bonding", hidden=hidden)
    member = Nic(name="p0", driver="igb", speed_mbps=1000, hidden=hidden)
    moved, back = [entry(500 * MB)], [entry(4000.0)]
    seen = one_way((bond, moved, back), (member, moved, back))
    found = judge_traffic(seen, [stream()], claim("bond0"))
    assert found.proof == proof, found.reasons
