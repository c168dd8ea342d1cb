"""A scene as the values that the product judges: a ``Run`` of our own measurement."""

import functools
import operator
from collections.abc import Mapping, Sequence
from itertools import pairwise

import msgspec
import numpy as np
from tests.records import PROVENANCE, opened, pair_result, point_record
from tests.zoo.parts import Port
from tests.zoo.ramp import LOOPBACK, Machine
from tests.zoo.scene import GAP_S, IDLE_S, QUIET_S, Played, Scene, Timeline

from wireproof.ledger.catalogue import settle_ms
from wireproof.ledger.traffic import goes_on
from wireproof.model.claim import Claim, HostClaim
from wireproof.model.record import (
    AdapterIdentity,
    Close,
    Estimate,
    Host,
    Idle,
    Nic,
    PairResult,
    PointRecord,
    QuietWindows,
    Rdma,
    Sentinel,
    Total,
    Warmup,
    WitnessReading,
)
from wireproof.model.run import Run
from wireproof.model.traffic import CounterMark, Watched
from wireproof.physics import link_from_name
from wireproof.stats import estimate

_BLOCKS, _PER_BLOCK = 12, 2
_NS = 1e9
_TELLING, _LOOK_S = 1_000_000, 1.5


def nic_of(port: Port, *, hidden: bool = False) -> Nic:
    """As the engine describes the port."""
    rdma = None
    if port.device and not hidden:
        rdma = Rdma(
            device=port.device,
            port=port.ib_port,
            rate=port.rate,
            link_layer=port.link_layer,
            state="4: ACTIVE" if port.rate else "",
            driver=port.rdma_driver,
        )
    return Nic(
        name=port.name,
        address=list(port.address),
        driver=port.driver,
        mtu=port.mtu,
        speed_mbps=port.speed_mbps,
        carrier=True,
        operstate="up",
        pci="" if hidden else port.pci,
        kind=port.kind,
        rdma=rdma,
        lower=[] if hidden else list(port.lower),
        master="" if hidden else port.master,
        link_kind=port.link_kind,
        function="" if hidden else port.function,
        adapter=None if hidden or not port.identity else AdapterIdentity(**port.identity),
        hidden="/sys shows another network namespace" if hidden else "",
    )


def nics_of(scene: Scene, machine: Machine) -> list[Nic]:
    """All ports; in a container without its own /sys those without an interface are not found."""
    ports = [port for port in machine.ports if port.nic or not scene.hidden]
    return [nic_of(port, hidden=scene.hidden) for port in (LOOPBACK, *ports)]


def claim_of(scene: Scene) -> Claim:
    """What the user said: two hosts, perhaps a NIC, perhaps a link."""
    link = link_from_name(scene.link) if scene.link else None
    return Claim(
        hosts=[HostClaim(rank=rank, host=f"n{rank + 1}", nic=scene.claim(rank)) for rank in (0, 1)],
        link=link,
    )


def run_of(world: Timeline) -> Run:
    """The scene as our own engine would have recorded it."""
    scene = world.scene
    return Run(
        claim=claim_of(scene),
        provenance=PROVENANCE,
        open=opened(seed=scene.seed),
        hosts=[_host(scene, world.machines[rank], rank) for rank in (0, 1)],
        points=[_point(world, number, played) for number, played in enumerate(world.played)],
        idle=[_idle(world, rank) for rank in (0, 1)],
        totals=[_total(world, rank) for rank in (0, 1)],
        close=Close(
            points=len(world.played),
            failed=0,
            elapsed_ns=world.end_s * _NS,
            peak_rss_bytes=10_000_000,
        ),
    )


def _host(scene: Scene, machine: Machine, rank: int) -> Host:
    return Host(
        rank=rank,
        host=f"n{rank + 1}",
        hostname=f"n{rank + 1}",
        boot_id=boot_id(scene, rank),
        machine_id=f"machine-{rank}",
        netns=4026531840 + rank * scene.one_kernel,
        ipcns=1,
        cpu_count=8,
        library="Zoo MPI 1.0",
        shared_ranks=1,
        nics=nics_of(scene, machine),
    )


def boot_id(scene: Scene, rank: int) -> str:
    """Of the kernel below one host."""
    return f"boot-{0 if scene.one_kernel else rank}"


def _rises(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    both = [name for name in first if name in second]
    return {name: second[name] - first[name] for name in both if second[name] != first[name]}


def _changed(machine: Machine, start_s: float, end_s: float) -> dict[str, tuple[int, int]]:
    first, second = machine.reading(start_s), machine.reading(end_s)
    both = [name for name in first if name in second]
    top = {name for name in both if first[name] == second[name] == (1 << 32) - 1}
    return {
        name: (first[name], second[name])
        for name in both
        if first[name] != second[name] or name in top
    }


def _unreadable(machine: Machine, start_s: float, end_s: float) -> list[str]:
    """Counters that the engine met and that one of the readings lacks."""
    first, second = machine.reading(start_s).keys(), machine.reading(end_s).keys()
    return sorted((machine.reading(0.0).keys() | first | second) - (first & second))


def _idle(world: Timeline, rank: int) -> Idle:
    machine = world.machines[rank]
    rises = _rises(machine.reading(world.begin_s), machine.reading(world.begin_s + IDLE_S))
    return Idle(
        rank=rank,
        interval_ns=IDLE_S * _NS,
        counters=rises,
        standing=standing(machine, world.begin_s + IDLE_S),
        source="netlink",
        foreign_sysfs=world.scene.hidden,
    )


def _total(world: Timeline, rank: int) -> Total:
    settled_s = _settled_s(world)
    start, end = world.begin_s, world.end_s + settled_s
    marks = (world.played[-1].end_s + GAP_S / 2, end, end + settled_s)
    on = settled_s > 0 and any(_goes_on(world, machine, *marks[:2]) for machine in world.machines)
    return Total(
        rank=rank,
        interval_ns=(end - start) * _NS,
        settled_ns=settled_s * _NS,
        source="netlink",
        counters=_changed(world.machines[rank], start, end),
        unreadable=_unreadable(world.machines[rank], start, end),
        foreign_sysfs=world.scene.hidden,
        tail=[_quiet(world.machines[rank], *each) for each in pairwise(marks) if on],
    )


def _goes_on(world: Timeline, machine: Machine, last_s: float, end_s: float) -> bool:
    """The engine looks at byte counters alone."""
    start, before, last, after = (
        CounterMark(t_ns=round(t_s * _NS), counters=standing(machine, t_s))
        for t_s in (world.begin_s, world.begin_s + IDLE_S, last_s, end_s)
    )
    return goes_on(Watched(host="", start=start, before=before, after=after, aside=[last]))


def _quiet(machine: Machine, start_s: float, end_s: float) -> QuietWindows:
    rises = _rises(machine.reading(start_s), machine.reading(end_s))
    return QuietWindows(interval_ns=(end_s - start_s) * _NS, counters=rises)


def _settled_s(world: Timeline) -> float:
    """The engine waits as long as the plan says of the ports' drivers, where ports that are not
    late do not show the payload of every point; and 1.5 s where it sees that counters still rise.
    """
    every = [nics_of(world.scene, machine) for machine in world.machines]
    known_s = max(settle_ms(nics) / 1e3 for nics in every)
    claims = [world.scene.claim(host) for host in (0, 1)]
    at_once = [
        [nic for nic in nics if not settle_ms([nic]) and claim in ("", nic.name)]
        for nics, claim in zip(every, claims, strict=True)
    ]
    needed = not all(_explained(world, played, at_once) for played in world.played)
    return max(known_s if needed else 0.0, _learnt_s(world, every))


def _learnt_s(world: Timeline, every: Sequence[Sequence[Nic]]) -> float:
    """It watches after the first large point that no port showed at once, in each direction: late
    counters rise then, and so does other traffic.
    """
    scene = world.scene
    late = scene.late_s or any(
        file.age_ms for machine in world.machines for port in machine.ports for file in port.files
    )
    for played in world.played:
        payload = _payload(played)
        if payload >= _TELLING and not _explained(world, played, every):
            loud = any(
                one.rate * _LOOK_S > payload / 512
                for one in scene.others
                if not one.during_points and one.start_s < played.end_s < one.end_s
            )
            return _LOOK_S if late or loud else 0.0
    return 0.0


def _payload(played: Played) -> int:
    return (played.forward + played.backward) * played.point.size


def _explained(world: Timeline, played: Played, every: Sequence[Sequence[Nic]]) -> bool:
    """On each host one of these ports showed the payload around the point."""
    due = sorted(each * played.point.size for each in (played.forward, played.backward))
    return all(
        any(_shows(_moved(machine, nic, played), due) for nic in nics)
        for machine, nics in zip(world.machines, every, strict=True)
    )


def _shows(moved: Mapping[str, tuple[int, int]], due: Sequence[int]) -> bool:
    """Whether a port moved the payload of each direction."""
    return any(all(map(operator.ge, sorted(each), due)) for each in moved.values())


def _moved(machine: Machine, nic: Nic, played: Played) -> dict[str, tuple[int, int]]:
    """What the interface and the RDMA port rose by, sent and received, in the units that the
    engine knows.
    """
    interface = f"net/{nic.name}/"
    fabric = f"ib/{nic.rdma.device}/{nic.rdma.port}/counters/port_" if nic.rdma else "-"
    rises = _rises(
        machine.reading(played.start_s - GAP_S / 2), machine.reading(played.end_s + GAP_S / 2)
    )
    return {
        "kernel": (rises.get(interface + "tx_bytes", 0), rises.get(interface + "rx_bytes", 0)),
        "fabric": (4 * rises.get(fabric + "xmit_data", 0), 4 * rises.get(fabric + "rcv_data", 0)),
    }


def standing(machine: Machine, t_s: float) -> dict[str, int]:
    """Byte counters that can be read, and the packet counters of RDMA in software."""
    listed = {
        port.spelled(file)
        for port in (LOOPBACK, *machine.ports)
        for file in port.files
        if file.what == "bytes" or file.path.endswith(("/sent_pkts", "/rcvd_pkts"))
    }
    return {name: value for name, value in machine.reading(t_s).items() if name in listed}


def _reading(world: Timeline, played: Played, rank: int) -> WitnessReading:
    machine = world.machines[rank]
    start, end = played.start_s - GAP_S / 2, played.end_s + GAP_S / 2
    before = _rises(machine.reading(start - QUIET_S), machine.reading(start))
    after = _rises(machine.reading(end), machine.reading(end + QUIET_S))
    both = {name: before.get(name, 0) + after.get(name, 0) for name in standing(machine, end)}
    return WitnessReading(
        rank=rank,
        interval_ns=(end - start) * _NS,
        counters=_changed(machine, start, end),
        unreadable=_unreadable(machine, start, end),
        source="netlink",
        foreign_sysfs=world.scene.hidden,
        quiet=QuietWindows(
            interval_ns=2 * QUIET_S * _NS,
            counters={name: rise for name, rise in both.items() if rise},
        ),
    )


@functools.cache
def _shape(seed: int) -> tuple[list[float], Estimate]:
    """Batch times around 1 with one-sided noise, and their estimate."""
    rng = np.random.default_rng(seed)
    noise = np.abs(rng.normal(0, 0.004, _BLOCKS * _PER_BLOCK)) + 1.0
    return noise.tolist(), estimate(np.median(noise.reshape(_BLOCKS, _PER_BLOCK), axis=1))


def _point(world: Timeline, number: int, played: Played) -> PointRecord:
    point = played.point
    latency = point.pattern == "pingpong"
    elapsed = (played.end_s - played.start_s) * _NS
    return point_record(
        number,
        pattern=point.pattern,
        form="latency" if latency else "stream",
        message_bytes=point.size,
        window=64,
        started_unix_ns=1_700_000_000_000_000_000 + number,
        elapsed_ns=elapsed,
        pairs=[_pair(played, world.scene.seed)],
        witness=[_reading(world, played, rank) for rank in (0, 1)],
    )


def _pair(played: Played, seed: int) -> PairResult:
    point = played.point
    halves = 2 if point.pattern == "pingpong" else 1
    shape, about = _shape(seed % 16)
    batch = max(1, played.forward // (_BLOCKS * _PER_BLOCK))
    true_ns = played.operation_s * _NS
    scale = msgspec.structs.replace(
        about,
        median_ns=about.median_ns * true_ns,
        low_ns=about.low_ns * true_ns,
        high_ns=about.high_ns * true_ns,
    )
    return pair_result(
        point.origin,
        point.target,
        operations_per_batch=batch,
        batch_ns=[true_ns * halves * batch * one for one in shape],
        block_batches=[_PER_BLOCK] * _BLOCKS,
        messages_forward=played.forward,
        messages_backward=played.backward,
        payload_forward_bytes=played.forward * point.size,
        payload_backward_bytes=played.backward * point.size,
        warmup=Warmup(operations=100, elapsed_ns=2e6, stationary=True),
        window_used=64,
        estimate=scale,
        integrity="ok",
        sentinels=[Sentinel(clock_read_ns=8.0, involuntary_switches=0, steal_ns=0.0)] * _BLOCKS,
    )
