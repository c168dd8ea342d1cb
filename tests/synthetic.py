"""Synthetic runs with a known truth: good worlds and planted lies, for tests of the judgement.

Noise, all seeded: every batch time is ``median x (1 + |N(0, noise)|)`` with one in 50 batches 3 to
20 times longer (stalls are one-sided in practice); the claimed ports carry headers,
acknowledgements and up to 2 kB/s of neighbour discovery; the management port carries 1 kB to 3 MB
per point (launcher, ssh) in full packets; counters start anywhere, and packets are counted beside
bytes.
"""

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import numpy as np
from tests.records import PROVENANCE, opened, pair_result, point_record

from wireproof.model.claim import Claim, HostClaim, LinkClaim
from wireproof.model.record import (
    Close,
    Host,
    Idle,
    Nic,
    PairResult,
    PointRecord,
    Rdma,
    Sentinel,
    Warmup,
    WitnessReading,
)
from wireproof.model.run import Run
from wireproof.physics import limits, link_from_name
from wireproof.stats import estimate

_DRIVERS = {"mlx5": "mlx5_core", "mlx4": "mlx4_core", "irdma": "ice", "qib": "ib_qib"}
"""What sysfs names as the RDMA device's driver."""
_INTERFACES = {"mlx4": "mlx4_en", "hfi1": "hfi1_vnic"}
"""And as the interface's, where that is another."""

Path = str
"""wire, mgmt, stripe, shm, loopback: where the payload really goes."""

SIZES = (0, 8, 1024, 16384, 65536, 262144, 1 << 20, 4 << 20)


@dataclass(frozen=True)
class World:
    """A cluster and what is true about it. ``speed`` maps (origin, target) numbers to a share of
    the goodput.
    """

    link: str = "1gbe"
    mtu: int | None = 1500
    nodes: int = 2
    virtual: bool = False
    path: Path = "wire"
    latency_ns: float = 25_000.0
    noise: float = 0.004
    efficiency: float = 0.985
    speed: Callable[[int, int], float] = field(default=lambda a, b: 1.0)
    shared_ranks: int = 1
    one_machine: bool = False
    one_namespace: bool = False
    sizes: tuple[int, ...] = SIZES
    patterns: tuple[str, ...] = ("pingpong", "stream")
    claim_nic: bool = True
    wire: bool = True
    driver: str = ""
    seed: int = 1
    management: int = 3_000_000


def lab(**changes: object) -> World:
    """A virtual world of 1 Gb/s: nodes are namespaces of one machine."""
    return replace(World(virtual=True, latency_ns=9_000.0, efficiency=0.992), **changes)  # type: ignore[arg-type]


def link_of(world: World) -> LinkClaim:
    link = link_from_name(world.link, mtu=world.mtu)
    return msgspec.structs.replace(link, preamble_counted=not world.virtual)


def rdma(world: World) -> bool:
    return link_of(world).protocol not in ("tcp", "shm", "loopback")


def run_of(world: World) -> Run:
    """A complete run of the world: ordered pairs stream, unordered ones play ping-pong, one pair
    per point.
    """
    rng = np.random.default_rng(world.seed)
    counters = [
        _Counters(world, random.Random(world.seed * 1000 + rank)) for rank in range(world.nodes)
    ]
    points = [
        _point(world, rng, counters, number, planned)
        for number, planned in enumerate(_planned(world))
    ]
    nic = "hsn0" if world.claim_nic else ""
    claims = [HostClaim(rank=r, host=f"n{r + 1}", nic=nic) for r in range(world.nodes)]
    return Run(
        claim=Claim(hosts=claims, link=link_of(world), wire=world.wire, virtual=world.virtual),
        provenance=PROVENANCE,
        open=opened(seed=world.seed, ranks=world.nodes),
        hosts=[_host(world, rank) for rank in range(world.nodes)],
        points=points,
        idle=[_idle(r) for r in ([0] if world.one_namespace else range(world.nodes))],
        close=Close(points=len(points), failed=0, elapsed_ns=1e9, peak_rss_bytes=10_000_000),
    )


def _planned(world: World) -> Iterator[tuple[str, int, tuple[int, int]]]:
    """Pattern, size and pair of each point."""
    for pattern in world.patterns:
        ordered = pattern in ("stream", "put", "get")
        pairs = itertools.permutations if ordered else itertools.combinations
        for (a, b), size in itertools.product(pairs(range(world.nodes), 2), world.sizes):
            if size or pattern == "pingpong":
                yield pattern, size, (a, b)


def _idle(rank: int) -> Idle:
    counters = {"net/hsn0/tx_bytes": 200, "net/hsn0/rx_bytes": 200}
    return Idle(rank=rank, interval_ns=2e8, counters=counters)


def _host(world: World, rank: int) -> Host:
    same = world.one_machine or world.virtual
    driver = _DRIVERS.get(world.driver, world.driver)
    device = (
        Rdma(device=f"{world.driver}_0", port=1, link_layer=_layer(world), driver=driver)
        if rdma(world)
        else None
    )
    nics = [
        Nic(name="lo", kind="loopback", mtu=65536, carrier=True),
        Nic(name="eth0", driver="igb", mtu=1500, carrier=True, operstate="up", speed_mbps=1000),
        Nic(
            name="hsn0",
            driver=_INTERFACES.get(world.driver, driver) or "ixgbe",
            kind="infiniband"
            if device is not None and _layer(world) == "InfiniBand"
            else "ethernet",
            mtu=world.mtu or 1500,
            carrier=True,
            operstate="up",
            rdma=device,
        ),
    ]
    return Host(
        rank=rank,
        host=f"n{rank + 1}",
        hostname=f"n{rank + 1}",
        boot_id="boot-0" if same else f"boot-{rank}",
        netns=4026531840 + (0 if world.one_namespace or not same else rank + 1),
        ipcns=1,
        cpu_count=8,
        library="Synthetic MPI 1.0",
        shared_ranks=world.shared_ranks,
        nics=nics,
    )


def _layer(world: World) -> str:
    return "Ethernet" if link_of(world).protocol == "rocev2" else "InfiniBand"


class _Counters:
    """Port counters of one host, in the drivers' own units."""

    def __init__(self, world: World, rng: random.Random) -> None:
        self.world, self.rng = world, rng
        self.now: dict[str, int] = {}
        for way in ("tx", "rx"):
            self.hsn(way, 0)
            for nic in ("lo", "eth0", "hsn0"):
                self.add(f"net/{nic}/{way}_bytes", 0)
                self.packets(nic, way, 0)

    def add(self, name: str, count: float) -> None:
        self.now[name] = self.now.get(name, self.rng.randrange(1 << 34)) + round(count)

    def hsn(self, way: str, count: float) -> None:
        """Bytes over the claimed port by the protocol that the world uses."""
        if not rdma(self.world):
            self.add(f"net/hsn0/{way}_bytes", count)
            return
        data = "port_xmit_data" if way == "tx" else "port_rcv_data"
        unit = 8 if self.world.driver == "hfi1" else 4
        device = f"{self.world.driver}_0"
        if self.world.driver == "irdma":
            octets = "ip4OutOctets" if way == "tx" else "ip4InOctets"
            self.add(f"ib/{device}/1/hw_counters/{octets}", count)
        else:
            self.add(f"ib/{device}/1/counters/{data}", count / unit)

    def packets(self, nic: str, way: str, count: float) -> None:
        """Packets, where the port's driver counts them beside the bytes."""
        if nic == "hsn0" and rdma(self.world):
            if self.world.driver != "irdma":
                name = "port_xmit_packets" if way == "tx" else "port_rcv_packets"
                self.add(f"ib/{self.world.driver}_0/1/counters/{name}", count)
            return
        self.add(f"net/{nic}/{way}_packets", count)


def operation_ns(world: World, pattern: str, size: int, a: int, b: int) -> float:
    """True time of one operation (half round trip for pingpong)."""
    link = link_of(world)
    rate = limits(link, "stream", "stream", max(1, size)).attainable_bytes_per_s or 10e9
    if world.path in ("shm", "loopback"):
        start, rate = (250.0, 12e9) if world.path == "shm" else (4_000.0, 5e9)
        cache = 2.2 if size > 1 << 20 else 1.0
        return start * (1.0 if pattern == "pingpong" else 0.4) + size / rate * 1e9 * cache
    if world.path == "stripe":
        rate *= 1.9
    forward, backward = (
        size / (rate * world.efficiency * world.speed(a, b)),
        size / (rate * world.efficiency * world.speed(b, a)),
    )
    if pattern == "pingpong":
        return world.latency_ns + (forward + backward) / 2 * 1e9
    if pattern == "exchange":
        return world.latency_ns * 0.1 + max(forward, backward) * 1e9
    return max(world.latency_ns * 0.05, 300.0) * (1 if size < 65536 else 0) + forward * 1e9


_BLOCKS, _PER_BLOCK = 40, 4


def _point(
    world: World,
    rng: np.random.Generator,
    counters: Sequence[_Counters],
    number: int,
    planned: tuple[str, int, tuple[int, int]],
) -> PointRecord:
    pattern, size, (a, b) = planned
    true = operation_ns(world, pattern, size, a, b)
    halves = 2 if pattern == "pingpong" else 1
    batch = max(1, round(200_000 / true / halves))
    batch_ns = (true * halves * batch * _noise(world, rng)).tolist()
    timed = batch * _BLOCKS * _PER_BLOCK
    messages = timed + max(1000, batch) if true < 1e6 else timed + 5
    both = pattern in ("pingpong", "exchange")
    elapsed = sum(batch_ns) * 1.05 + 1e6
    before = [dict(c.now) for c in counters]
    _move(world, counters, (a, b), messages, size, both, elapsed)
    readings = [_reading(counters[r], before[r], r, elapsed, world) for r in range(world.nodes)]
    pair = _pair((a, b), batch_ns, batch * halves, messages, size)
    back = {"messages_backward": messages, "payload_backward_bytes": messages * size}
    return point_record(
        number,
        pattern=pattern,
        form="latency" if pattern == "pingpong" else "stream",
        message_bytes=size,
        window=64,
        started_unix_ns=1_700_000_000_000_000_000 + number,
        elapsed_ns=elapsed,
        pairs=[msgspec.structs.replace(pair, operations_per_batch=batch, **(back if both else {}))],
        witness=readings,
    )


def _noise(world: World, rng: np.random.Generator) -> Any:
    """How many times longer than the truth each batch takes."""
    noise = np.abs(rng.normal(0, world.noise, _BLOCKS * _PER_BLOCK)) + 1.0
    stalls = rng.random(_BLOCKS * _PER_BLOCK) < 0.02
    return np.where(stalls, noise * rng.uniform(3, 20, noise.size), noise)


def _pair(
    ends: tuple[int, int], batch_ns: list[float], crossings: int, messages: int, size: int
) -> PairResult:
    """``crossings``: of the wire, in one batch. Nothing comes back."""
    per_crossing = np.asarray(batch_ns) / crossings
    medians = np.median(per_crossing.reshape(_BLOCKS, _PER_BLOCK), axis=1)
    return pair_result(
        *ends,
        operations_per_batch=crossings,
        batch_ns=batch_ns,
        block_batches=[_PER_BLOCK] * _BLOCKS,
        messages_forward=messages,
        payload_forward_bytes=messages * size,
        warmup=Warmup(operations=1000, elapsed_ns=2e6, stationary=True),
        window_used=64,
        estimate=estimate(medians),
        integrity="ok",
        sentinels=[Sentinel(clock_read_ns=8.0, involuntary_switches=0, steal_ns=0.0)] * _BLOCKS,
    )


def _reading(
    now: _Counters, before: dict[str, int], rank: int, elapsed: float, world: World
) -> WitnessReading:
    if world.one_namespace and rank > 0:
        return WitnessReading(rank=rank, interval_ns=elapsed, shared_with=0)
    changed = {
        name: (before[name], value) for name, value in now.now.items() if before[name] != value
    }
    return WitnessReading(rank=rank, interval_ns=elapsed, counters=changed)


def _move(
    world: World,
    counters: Sequence[_Counters],
    pair: tuple[int, int],
    messages: int,
    size: int,
    both: bool,
    elapsed: float,
) -> None:
    packet = 2048 if rdma(world) else 1448
    header = 30 if rdma(world) else 66
    for (origin, target), count in ((pair, messages), (pair[::-1], messages if both else 0)):
        packets = (
            count * max(1, -(-size // packet))
            if size >= packet or both
            else max(1, count * size // packet)
        )
        wire = count * (size + (40 if not rdma(world) else 0)) + packets * header
        acks = packets * header * 0.5 + 1
        _carry(world, counters, (origin, target), (wire, acks), packets)
    for c in counters:
        quiet = c.rng.random() * 2_000 * elapsed * 1e-9
        for way in ("tx", "rx"):
            c.add(f"net/hsn0/{way}_bytes", quiet + 1)
            login = c.rng.randrange(1_000, max(1_001, world.management))
            c.add(f"net/eth0/{way}_bytes", login)
            c.packets("eth0", way, login // 1000)


def _carry(
    world: World,
    counters: Sequence[_Counters],
    ends: tuple[int, int],
    moved: tuple[float, float],
    packets: float,
) -> None:
    """``moved``: bytes there, and acknowledgements back; ``packets`` there, half as many back."""
    (origin, target), (wire, acks) = ends, moved
    out, back = (counters[0 if world.one_namespace else rank] for rank in (origin, target))
    if world.path == "shm":
        return
    if world.path == "loopback":
        for way in ("tx", "rx"):
            out.add(f"net/lo/{way}_bytes", wire + acks)
            out.packets("lo", way, packets * 1.5)
        return
    share = {"wire": (1.0, 0.0), "mgmt": (0.0, 1.0), "stripe": (0.52, 0.48)}[world.path]
    there, here = (wire, packets), (acks, packets / 2)
    for side, way, (count, pieces) in (
        (out, "tx", there),
        (back, "rx", there),
        (back, "tx", here),
        (out, "rx", here),
    ):
        if share[0]:
            side.hsn(way, count * share[0])
            side.packets("hsn0", way, pieces * share[0])
        if share[1]:
            side.add(f"net/eth0/{way}_bytes", count * share[1])
            side.packets("eth0", way, pieces * share[1])
