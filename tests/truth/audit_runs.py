"""The worlds of an adversarial reading, as runs: synthetic runs whose ports and counters are
replaced.
"""

from collections.abc import Callable, Mapping

import msgspec
from tests.synthetic import World, run_of

from wireproof.model.finding import Judgement
from wireproof.model.record import Nic, PointRecord, Rdma, WitnessReading
from wireproof.model.run import Run

replace = msgspec.structs.replace
SIZES = (8, 65536, 1 << 20, 4 << 20)
LO = Nic(name="lo", kind="loopback", mtu=65536, carrier=True)
Counted = Mapping[str, int | tuple[int, int]]


def base(link: str, latency_ns: float = 2500.0, mtu: int | None = None, **changes: object) -> Run:
    """A healthy run over a claimed link; its counters are to be replaced."""
    return run_of(
        World(
            link=link, mtu=mtu, latency_ns=latency_ns, **{"sizes": SIZES, "driver": "x", **changes}
        )
    )


def nic(name: str, driver: str, device: str = "", layer: str = "", **more: object) -> Nic:
    """A port as the audit describes it: without the fields that later engines add."""
    rdma = None
    if device:
        rate = str(more.pop("rate", "100 Gb/sec (4X EDR)"))
        rdma = Rdma(device=device, port=1, rate=rate, link_layer=layer, state="4: ACTIVE")
    more.pop("rate", None)
    return Nic(
        **{
            "name": name,
            "driver": driver,
            "mtu": 9000,
            "carrier": True,
            "operstate": "up",
            "rdma": rdma,
            **more,
        }
    )


ETH0 = nic("eth0", "igb", mtu=1500, speed_mbps=1000)


def wire(point: PointRecord, rank: int, mtu: int = 4096, header: int = 30) -> tuple[int, int]:
    """True bytes on the wire, sent and received by ``rank``, in a point of one pair."""
    pair = point.pairs[0]
    if rank not in (pair.origin, pair.target):
        return 0, 0
    forward = pair.payload_forward_bytes, pair.messages_forward
    backward = pair.payload_backward_bytes, pair.messages_backward
    sent, received = (forward, backward) if rank == pair.origin else (backward, forward)

    def framed(way: tuple[int, int]) -> int:
        return way[0] + way[1] * max(1, -(-point.message_bytes // mtu)) * header

    out, back = framed(sent), framed(received)
    return out + int(0.01 * back), back + int(0.01 * out)


def with_nics(run: Run, *nics: Nic, **changes: object) -> Run:
    """The run with these ports on every host."""
    return replace(run, hosts=[replace(host, nics=list(nics), **changes) for host in run.hosts])


def rewitness(run: Run, counters: Callable[[PointRecord, int], Counted]) -> Run:
    """``counters(point, rank)``: rises, or pairs of readings, of the counters that changed."""
    points = []
    for point in run.points:
        readings = [
            WitnessReading(
                rank=host.rank,
                interval_ns=point.elapsed_ns,
                counters=_pairs(counters(point, host.rank)),
            )
            for host in run.hosts
        ]
        points.append(replace(point, witness=readings))
    return replace(run, points=points, idle=[replace(idle, counters={}) for idle in run.idle])


def _pairs(counted: Counted) -> dict[str, tuple[int, int]]:
    return {
        name: one if isinstance(one, tuple) else (10**6, 10**6 + one)
        for name, one in counted.items()
        if one != 0
    }


def large(found: Judgement) -> set[str]:
    """Proofs of the points that move much."""
    return {pair.proof for pair in found.pairs if pair.message_bytes >= 65536}


def proofs(found: Judgement) -> set[str]:
    """Proofs of all points."""
    return {pair.proof for pair in found.pairs}
