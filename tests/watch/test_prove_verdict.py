"""What the ports saw compared with what was printed: each proof in a world where it must be given,
and where not.
"""

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from tests.records import imb_rates, osu_rates

from wireproof.ledger.traffic_printed import printed, row_bytes
from wireproof.model.claim import Claim, HostClaim, LinkClaim
from wireproof.model.quantity import goodput
from wireproof.model.record import Nic, Rdma
from wireproof.model.series import Series, SeriesPoint
from wireproof.model.traffic import (
    DirectionTraffic,
    HostTraffic,
    Ledger,
    LedgerEntry,
    PortLedger,
    PortTraffic,
    Traffic,
    TrafficVerdict,
)
from wireproof.watch.verdict import judge_traffic

MB = 1_000_000
LINK = LinkClaim(kind="1gbe", protocol="tcp", rate_bits_per_s=1e9, mtu=1500)


def way(
    moved: float | None, peak: float = 117e6, background: float = 0.0, trouble: str = ""
) -> DirectionTraffic:
    return DirectionTraffic(
        bytes=moved, peak_bytes_per_s=peak if moved else 0.0, background=background, trouble=trouble
    )


def port(
    nic: str,
    tx: DirectionTraffic,
    rx: DirectionTraffic,
    *,
    kind: str = "ethernet",
    stacked: bool = False,
) -> PortTraffic:
    return PortTraffic(nic=nic, kind=kind, driver="x", tx=tx, rx=rx, stacked=stacked)


def host(name: str, *ports: PortTraffic) -> HostTraffic:
    return with_ledger(HostTraffic(host=name, seconds=10, ports=list(ports)))


def with_ledger(host: HostTraffic) -> HostTraffic:
    """The host with a ledger of what is shown of each port."""
    real = [
        port.nic
        for port in host.ports
        if port.kind in ("ethernet", "infiniband") and not port.stacked
    ]
    ports = {port.nic: _port_from_view(port, real if port.stacked else []) for port in host.ports}
    ledger = Ledger(host=host.host, interval_ns=host.seconds * 1e9, ports=ports)
    return msgspec.structs.replace(host, ledger=ledger)


def _port_from_view(port: PortTraffic, lower: list[str]) -> PortLedger:
    device, _, number = port.rdma.partition(":")
    rdma = Rdma(device=device, port=int(number or 1)) if device else None
    kind = (
        port.kind if port.kind in ("ethernet", "infiniband", "loopback", "virtual") else "virtual"
    )
    nic = Nic(name=port.nic, kind=kind, driver=port.driver, rdma=rdma, lower=lower)  # type: ignore[arg-type]
    return PortLedger(nic=nic, tx=list(_entries(port.tx)), rx=list(_entries(port.rx)))


def _entries(direction: DirectionTraffic) -> Iterable[LedgerEntry]:
    yield LedgerEntry(
        carrier="kernel" if direction.trouble else "any",
        level="stack",
        bytes=direction.bytes,
        background=direction.background,
        quality="exact" if direction.bytes is not None else "unreadable",
        peak_bytes_per_s=direction.peak_bytes_per_s,
        counters=direction.counters,
        remark=direction.trouble,
    )
    if direction.trouble and direction.bytes is not None:
        yield LedgerEntry(
            carrier="rdma",
            level="function",
            quality="unreadable",
            bytes=None,
            remark=direction.trouble,
        )


def traffic(*hosts: HostTraffic) -> Traffic:
    return Traffic(hosts=list(hosts), seconds=10, idle_s=1, interval_s=0.1)


def entry(moved: float, peak: float = 117e6, **more: Any) -> LedgerEntry:
    whole: dict[str, Any] = {"carrier": "kernel", "level": "stack", "quality": "exact"}
    return LedgerEntry(bytes=moved, peak_bytes_per_s=peak, **(whole | more))


def ledgers(name: str, *ports: PortLedger, machine: str = "") -> HostTraffic:
    found = {port.nic.name: port for port in ports}
    ledger = Ledger(host=name, interval_ns=1e10, ports=found)
    return HostTraffic(host=name, machine=machine, seconds=10, ledger=ledger)


def one_way(*ports: tuple[Nic, list[LedgerEntry], list[LedgerEntry]]) -> Traffic:
    """n1 sends what n2 receives: what each port has there, and back."""
    there = [PortLedger(nic=nic, tx=out, rx=home) for nic, out, home in ports]
    back = [PortLedger(nic=nic, tx=home, rx=out) for nic, out, home in ports]
    return traffic(ledgers("n1", *there), ledgers("n2", *back))


def pair(
    moved: float, peak: float = 117e6, *, nic: str = "eth0", background: float = 0.0
) -> Traffic:
    """n1 sends, n2 receives."""
    quiet = way(1000, 0)
    return traffic(
        host("n1", port(nic, way(moved, peak, background), quiet)),
        host("n2", port(nic, quiet, way(moved, peak, background))),
    )


def claim(nic: str = "", link: LinkClaim | None = LINK) -> Claim:
    return Claim(
        hosts=[HostClaim(rank=i, host=name, nic=nic) for i, name in enumerate(("n1", "n2"))],
        link=link,
    )


def stream(iterations: int | None = 1000, size: int = MB, rate: float = 117e6) -> Series:
    point = SeriesPoint(message_bytes=size, goodput_bytes_per_s=rate, iterations=iterations)
    return imb_rates([point])


def beside(moved: float, other: float) -> Traffic:
    """n1 sends to n2, and another port of both moves bytes the same way."""
    quiet = way(1000, 0)
    return traffic(
        host("n1", port("eth0", way(moved), quiet), port("eth1", way(other, 40e6), quiet)),
        host("n2", port("eth0", quiet, way(moved)), port("eth1", quiet, way(other, 40e6))),
    )


@pytest.mark.parametrize(
    ("moved", "other", "proof"),
    [
        (1020, 300, "on-wire"),  # another job beside the whole payload
        (990, 300, "unproven"),  # a flow may have filled what the other port took
        (1200, 300, "unproven"),
        (1200, 20, "on-wire"),  # too little to be part of the payload
    ],
)
def test_a_flow_that_fills_what_another_port_took(moved: int, other: int, proof: str) -> None:
    found = judge_traffic(beside(moved * MB, other * MB), [stream()], claim("eth0"))
    assert found.proof == proof
    assert ("traffic-rival-port" in codes(found)) == (proof == "unproven")


def codes(verdict: TrafficVerdict) -> list[str]:
    return [one.code for one in verdict.reasons]


def test_the_bytes_crossed() -> None:
    found = judge_traffic(pair(1020 * MB), [stream()], claim())
    assert (found.proof, found.verdict) == ("on-wire", "pass")
    assert codes(found) == ["traffic-on-wire"]
    assert found.crossed_bytes == 1020 * MB
    assert found.attainable_bytes_per_s == pytest.approx(117.7e6, rel=0.01)


FULL, STILL, QUIET = way(1020 * MB), way(0.0), way(500.0, 0)
PART, FEW, DARK = way(220 * MB, 112e6), way(20_000, 2e5), way(0.0, trouble="unreadable")
QPERF = stream(iterations=None, size=65536, rate=110e6)
SHORT = stream(iterations=10, size=8)
RATE = stream(iterations=None)
STREAM, ANY_PORT = stream(), claim()
TWO_PORTS = traffic(
    host("n1", port("eth0", FULL, QUIET), port("ib0", QUIET, QUIET)),
    host("n2", port("eth0", QUIET, FULL), port("ib0", QUIET, QUIET)),
)
SHM = claim(link=LinkClaim(kind="shm", protocol="shm"))
LOST = Traffic(hosts=[HostTraffic(host="n1", error="gone")], seconds=1, idle_s=1, interval_s=0.1)
ONE_MACHINE = [msgspec.structs.replace(one, machine="boot/1") for one in pair(1020 * MB).hosts]
THIRD = msgspec.structs.replace(pair(1020 * MB), unwatched=["n3"])


def alone(*ports: PortTraffic) -> Traffic:
    return traffic(host("n1", *ports))


def other(kind: str) -> Traffic:
    """eth0 had little, and something else the printed rate."""
    return alone(port("eth0", FEW, FEW), port("x0", PART, PART, kind=kind))


def carried(nic: str, moved: DirectionTraffic, kind: str) -> PortTraffic:
    return port(nic, moved, moved, kind=kind)


VETH = carried("veth1", FULL, "virtual")
JUDGED: dict[str, dict[str, tuple[Any, ...]]] = {
    "on-wire pass traffic-on-wire": {
        # A steady flow of 3 %, as of a file server, left nearly every command open.
        "faint background": (pair(1020 * MB, background=30 * MB),),
        "the claimed port": (TWO_PORTS, stream(), claim("eth0")),
        "any port": (TWO_PORTS,),
        "rate alone, at the peak": (pair(220 * MB, 112e6), QPERF),
        "rate borne out by the port": (pair(800 * MB, 110e6), RATE),
    },
    "unproven inconclusive traffic-background": {
        "background of a tenth": (pair(1020 * MB, background=100 * MB),),
        "background as large as the doubt": (pair(900 * MB, background=300 * MB),),
    },
    "mixed fail traffic-mixed": {
        "background, some missing": (pair(970 * MB, background=5 * MB),),
        "background, half missing": (pair(500 * MB, background=30 * MB),),
        "half crossed": (pair(500 * MB),),
    },
    "off-wire fail traffic-off-wire": {
        "nothing crossed": (pair(0.0, 1e6), stream(rate=9e9)),
        "only the start-up crossed": (pair(200_000.0, 1e6), stream(rate=9e9)),
        # A table pasted into a log: rows to 64 KiB, and nothing crossed anything.
        "few bytes, none crossed": (pair(0.0), stream(iterations=None, size=65536, rate=5e9)),
    },
    "off-wire fail traffic-loopback": {
        "loopback, not memory": (
            alone(carried("eth0", STILL, "ethernet"), carried("lo", way(1100 * MB), "loopback")),
            stream(rate=5e9),
        ),
        "rate alone, on loopback": (other("loopback"), QPERF, claim("eth0")),
    },
    "wrong-path fail traffic-wrong-path": {
        "another port": (TWO_PORTS, stream(), claim("ib0")),
        "rate alone, on another port": (other("ethernet"), QPERF, claim("eth0")),
        "between containers of a host": (alone(VETH, carried("eth0", STILL, "ethernet")),),
    },
    "unproven inconclusive ends-disagree": {
        # A counter may stand still in one direction, or another job may use one end.
        "ends disagree": (
            traffic(host("n1", port("eth0", FULL, STILL)), host("n2", port("eth0", STILL, STILL))),
        )
    },
    "on-wire pass traffic-on-wire traffic-one-end": {
        "one end watched": (alone(port("eth0", FULL, STILL)),),
        "veth alone": (alone(VETH),),
    },
    "on-wire pass traffic-on-wire traffic-one-end traffic-one-end": {
        "two names of one machine": (traffic(*ONE_MACHINE),)
    },
    "unproven inconclusive traffic-no-number": {"no number": (pair(1020 * MB), None)},
    "unproven inconclusive traffic-unreadable traffic-unwatched": {"no reading": (LOST,)},
    "unproven inconclusive traffic-unreadable": {
        "counter unreadable": (alone(port("eth0", DARK, DARK)),),
        "claimed port is not there": (pair(1020 * MB), stream(), claim("ib7")),
    },
    "unproven inconclusive traffic-too-little": {
        "few bytes": (pair(9e6), SHORT),
        "too few bytes": (pair(300_000), SHORT),
        "rate alone, slow peak": (pair(220 * MB, 30e6), QPERF),
    },
    "off-wire fail traffic-rate-above-peak": {
        "rate alone, nothing crossed": (pair(20_000, 2e5), QPERF),
        # Ten windows' worth of bytes crossed, at a thousandth of the printed rate.
        "rate far above every port": (pair(2 * MB, 10e6), stream(iterations=None, rate=12e9)),
    },
    "unproven inconclusive traffic-rate-unseen": {
        # The payload went through memory, and another job's flow of 50 MB/s began with the command.
        "another flow of half the rate": (pair(800 * MB, 50e6), RATE),
        "another flow at 100 MB/s": (pair(800 * MB, 50e6), stream(iterations=None, rate=100e6)),
        "another flow, counted": (pair(800 * MB, 50e6), stream(iterations=100)),
        "another flow, counted, no peak": (pair(800 * MB, 0.0), stream(iterations=100)),
        "too short to be seen": (pair(4 * MB, 50e6), RATE),
        "short stream, many bytes": (pair(30 * MB, 50e6), RATE),
    },
    "off-wire pass traffic-off-wire": {
        "memory that was claimed": (pair(0.0), stream(rate=9e9), SHM)
    },
    "on-wire pass traffic-on-wire traffic-above-link": {
        "peak above the claimed link": (pair(1020 * MB, 500e6),)
    },
    "on-wire pass traffic-on-wire traffic-unwatched": {"host that nobody watched": (THIRD,)},
}


def judged(
    seen: Traffic, series: Series | None = STREAM, claimed: Claim = ANY_PORT
) -> TrafficVerdict:
    return judge_traffic(seen, [series] if series else [], claimed)


@pytest.mark.parametrize(("outcome", "case"), [(o, case) for o in JUDGED for case in JUDGED[o]])
def test_what_is_proven(outcome: str, case: str) -> None:
    found = judged(*JUDGED[outcome][case])
    assert " ".join((found.proof, found.verdict, *codes(found))) == outcome


def test_background_that_hides_the_bytes_is_named_by_host_port_and_rate() -> None:
    """Beside another job `check` named them, and `prove` only the bytes that it took off."""
    (found,) = judged(pair(1020 * MB, background=100 * MB)).reasons
    seconds = pair(0.0).hosts[0].seconds
    assert "n1: eth0 sends" in found.message
    assert goodput(100 * MB / seconds) in found.message


def test_without_a_claim_the_background_of_a_port_beside_the_busiest_is_named() -> None:
    """It was "n1: hsn0 sends 0 Mb/s that the command did not send" beside a chatty eth0."""
    chatty = carried("eth1", way(40 * MB, 1e6, 300 * MB), "ethernet")
    seen = traffic(*(host(one.host, *one.ports, chatty) for one in pair(1020 * MB).hosts))
    assert any("n1: eth1 sends" in found.message for found in judged(seen).reasons)


@pytest.mark.parametrize(
    ("seen", "nic", "at", "said"),
    [
        (traffic(*ONE_MACHINE), "", 1, "the same machine"),
        (pair(1020 * MB), "ib7", 0, "ib7"),
        (THIRD, "", -1, "n3"),
    ],
)
def test_what_was_not_seen_is_named(seen: Traffic, nic: str, at: int, said: str) -> None:
    assert said in judge_traffic(seen, [stream()], claim(nic)).reasons[at].message


@pytest.mark.parametrize(
    ("packets", "proof"), [(20.0, "off-wire"), (20_000.0, "unproven"), (None, "unproven")]
)
def test_32_bits_start_anew_only_after_as_many_packets(packets: float | None, proof: str) -> None:
    """A driver's own counter shows no rate while the command runs: the payload in memory was
    inconclusive.
    """

    def narrow(host: HostTraffic) -> HostTraffic:
        one = host.ledger.ports["eth0"]
        more = {"wrap_bytes": 2.0**32, "packets": packets, "peak_bytes_per_s": None}
        tx, rx = (
            [msgspec.structs.replace(each, **more) for each in way] for way in (one.tx, one.rx)
        )
        ports = {"eth0": msgspec.structs.replace(one, tx=tx, rx=rx)}
        ledger = msgspec.structs.replace(host.ledger, ports=ports)
        return msgspec.structs.replace(host, ledger=ledger)

    seen = traffic(*map(narrow, pair(2000.0).hosts))
    found = judge_traffic(seen, [stream(iterations=10_000, rate=9e9)], claim())
    assert found.proof == proof, found.reasons


def test_bonds_are_not_counted_beside_their_members() -> None:
    quiet = way(0.0)
    full = way(1020 * MB)
    bonded = traffic(
        host("n1", port("bond0", full, quiet, stacked=True), port("eth0", full, quiet)),
        host("n2", port("bond0", quiet, full, stacked=True), port("eth0", quiet, full)),
    )
    for nic in ("", "bond0", "eth0"):
        found = judge_traffic(bonded, [stream()], claim(nic))
        assert found.proof == "on-wire"
        assert found.crossed_bytes == 1020 * MB


@pytest.mark.parametrize(
    ("benchmark", "kind", "window", "claimed"),
    [
        ("osu_bw", "stream", 64, 64 * 4096.0),
        ("osu_latency", "pingpong", None, 4120.0),
        ("osu_barrier", "ring", None, 0.0),
    ],
)
def test_a_row_without_iterations_claims_one_window(
    benchmark: str, kind: str, window: int | None, claimed: float
) -> None:
    series = osu_rates([], benchmark=benchmark, traffic=kind, window=window)
    assert row_bytes(series, SeriesPoint(message_bytes=4096)) == (claimed, False)


@pytest.mark.parametrize(
    ("tool", "benchmark", "claimed"),
    [
        ("imb", "Bcast", 1000 * 100 / 2 / 4),
        ("imb", "Allreduce", 1000 * 100 / 2),
        ("osu", "osu_bcast", 1000 * 100 / 2),
        ("imb", "Reduce_scatter", 0),
        ("imb", "Reduce_local", 0),
        ("imb", "Barrier", 0),
    ],
)
def test_what_a_collective_sends_at_least(tool: str, benchmark: str, claimed: float) -> None:
    series = imb_rates(
        [], tool=tool, benchmark=benchmark, metric="time", traffic="collective", processes=4
    )
    assert row_bytes(series, SeriesPoint(message_bytes=1000, iterations=100))[0] == claimed


def test_iterations_of_perftest_are_messages_and_of_osu_windows() -> None:
    point = SeriesPoint(message_bytes=1000, iterations=10)
    fields = {
        "metric": "bandwidth",
        "traffic": "stream",
        "window": 8,
        "points": [],
        "formula": "",
        "unit": "",
    }
    assert row_bytes(Series(tool="perftest", benchmark="ib_write_bw", **fields), point) == (
        10_000,
        True,
    )  # type: ignore[arg-type]
    assert row_bytes(Series(tool="osu", benchmark="osu_bw", **fields), point) == (80_000, True)  # type: ignore[arg-type]


def test_a_servers_table_in_the_same_log_is_not_counted_again() -> None:
    def iperf(moved: float) -> Series:
        point = SeriesPoint(message_bytes=131072, goodput_bytes_per_s=1e8, values={"bytes": moved})
        return imb_rates([point], tool="iperf3", benchmark="tcp")

    def least(*moved: float) -> float:
        found = printed([iperf(one) for one in moved], visible_s=0.25)
        return found.least_bytes

    assert least(1000 * MB, 995 * MB) == 1000 * MB
    assert least(1000 * MB, 500 * MB) == 1500 * MB
    assert least(1000 * MB, 995 * MB, 990 * MB) == 1990 * MB
    twice = printed([stream(), stream()], visible_s=0.25)
    assert twice.least_bytes == 2000 * MB


def test_the_fastest_row_that_lasted_is_held_against_the_peak() -> None:
    points = [
        SeriesPoint(message_bytes=MB, goodput_bytes_per_s=1e9, iterations=1),
        SeriesPoint(message_bytes=MB, goodput_bytes_per_s=1e8, iterations=1000),
    ]
    series = imb_rates(points, tool="x", benchmark="y")
    found = printed([series], visible_s=0.25)
    assert found.rate_bytes_per_s == 1e8
    assert found.lasted_s == pytest.approx(10)
    assert found.least_bytes == 1001 * MB
    assert printed([], visible_s=0.25) is None


ROCE = LinkClaim(kind="roce1", protocol="rocev2", rate_bits_per_s=1e9)


def by_carrier(**moved: float) -> Traffic:
    """n1 sends and n2 receives so many bytes of each carrier."""
    nic = Nic(name="eth0", kind="ethernet", driver="mlx5_core", rdma=Rdma(device="mlx5_0", port=1))
    entries = [entry(count, carrier=name, level="function") for name, count in moved.items()]
    none = [msgspec.structs.replace(one, bytes=0.0, peak_bytes_per_s=0.0) for one in entries]
    return one_way((nic, entries, none))


@pytest.mark.parametrize("nic", ["", "eth0", "mlx5_0"])
def test_sockets_on_the_port_of_a_claimed_rdma_link_are_on_wire_and_a_finding(nic: str) -> None:
    found = judge_traffic(by_carrier(kernel=1020.0 * MB, rdma=0.0), [stream()], claim(nic, ROCE))
    assert (found.proof, found.verdict) == ("on-wire", "fail")
    assert codes(found)[:2] == ["traffic-on-wire", "tcp-instead-of-rdma"]


def test_rdma_on_the_port_of_a_claimed_ethernet_link_is_on_wire_and_a_warning() -> None:
    found = judge_traffic(by_carrier(kernel=1000.0, rdma=1020.0 * MB), [stream()], claim())
    assert (found.proof, found.verdict) == ("on-wire", "pass")
    assert "rdma-instead-of-tcp" in codes(found)


@pytest.mark.parametrize(
    ("moved", "link"),
    [
        ({"kernel": 1000.0, "rdma": 1020.0 * MB}, ROCE),
        ({"kernel": 1020.0 * MB, "rdma": 0.0}, LINK),
        ({"kernel": 1020.0 * MB, "rdma": 0.0}, None),
        ({"any": 1020.0 * MB}, ROCE),
        ({"kernel": 1020.0 * MB, "rdma": 1020.0 * MB}, ROCE),
        ({"kernel": 500.0 * MB, "rdma": 520.0 * MB}, ROCE),
    ],
)
def test_no_other_protocol_is_found_where_it_was_the_claimed_one_or_nothing_tells(
    moved: dict[str, float], link: LinkClaim | None
) -> None:
    found = judge_traffic(by_carrier(**moved), [stream()], claim("", link))
    assert found.proof == "on-wire"
    assert not {"tcp-instead-of-rdma", "rdma-instead-of-tcp"} & set(codes(found))


def test_without_a_number_a_failed_command_is_named_first() -> None:
    found = judge_traffic(pair(1020 * MB), [], claim(), exit_status=139)
    assert codes(found) == ["traffic-no-number"]
    assert found.reasons[0].message.startswith("the command ended with status 139")
