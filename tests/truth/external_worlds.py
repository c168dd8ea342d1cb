"""Worlds whose truth is known: tables as real fabrics and as shared memory give them, with noise
from a seed.

Figures are of published tables: OSU, IMB and perftest over 1 to 100 GbE, RoCE, InfiniBand EDR to
NDR, Omni-Path, True Scale, EFA, Slingshot and IPoIB; shared memory of Intel MPI, Open MPI, MPICH
and of two ranks on one core.
"""

import random
from dataclasses import dataclass, field

from wireproof.model.claim import LinkClaim
from wireproof.model.series import Series, SeriesPoint
from wireproof.physics import claim_from_text, limits

SIZES = [0, *(1 << n for n in range(23))]


@dataclass(frozen=True)
class Fabric:
    """``start``: half round trip of small messages, us; ``share``: of attainable at the largest
    size; ``handshake``: starts that a rendezvous adds from ``eager`` on; ``sag``: fall of the
    largest two sizes.
    """

    link: str
    start: tuple[float, float]
    share: tuple[float, float] = (0.94, 0.99)
    path: str = ""
    eager: int = 16384
    handshake: float = 1.0
    sag: float = 0.0
    noise: float = 0.01
    mtu: int | None = None
    forms: tuple[str, ...] = field(default=("latency", "bw", "bibw", "pingpong", "put_bw"))


HEALTHY = (
    Fabric("1gbe", (20, 55), mtu=1500, noise=0.02),
    Fabric("1gbe", (20, 55), share=(0.96, 0.99), noise=0.02),
    Fabric("10gbe", (9, 25), mtu=9000, share=(0.95, 0.99)),
    Fabric("10gbe", (9, 25), mtu=1500, share=(0.95, 0.99)),
    Fabric("ethernet:25", (9, 22), mtu=9000, share=(0.93, 0.98)),
    Fabric("40gbe", (10, 22), mtu=9000, share=(0.93, 0.97)),
    Fabric("100gbe", (10, 20), mtu=9000, share=(0.92, 0.97)),
    Fabric("roce100", (1.3, 2.4)),
    Fabric("roce:200", (1.3, 2.2), mtu=4200),
    Fabric("100gbe", (1.4, 2.2), forms=("latency", "pingpong"), share=(0.95, 0.98)),
    Fabric("ethernet:100", (2.5, 4.0), path="psm3", share=(0.95, 0.99)),
    Fabric("qdr", (1.4, 1.9)),
    Fabric("fdr", (1.0, 1.3)),
    Fabric("edr", (0.9, 1.2), share=(0.96, 0.985)),
    Fabric("hdr200", (0.9, 1.2), share=(0.95, 0.99), sag=0.02),
    Fabric("hdr200", (0.9, 1.3), share=(0.97, 0.99), sag=0.125, forms=("bw", "pingpong")),
    Fabric("ndr400", (0.9, 1.3), share=(0.95, 0.99)),
    Fabric("opa100", (0.95, 1.2), share=(0.95, 0.995), eager=65536, path="psm2"),
    Fabric("truescale", (1.2, 1.6), share=(0.95, 0.99), eager=65536),
    Fabric("slingshot:200", (1.4, 2.2), share=(0.93, 0.97)),
    Fabric("efa:100", (10, 20), share=(0.93, 0.97), forms=("mbw_mr",)),
    Fabric("edr", (0.9, 1.2), forms=("write_lat", "write_bw", "mbw_mr")),
    Fabric("roce100", (0.98, 1.3), forms=("write_lat", "write_bw")),
    Fabric("hdr", (0.78, 1.0), forms=("write_lat", "write_bw")),
)

# Real too, and slow for a reason that must be told as what it is.
SLOW = (
    Fabric("10gbe", (40, 80), share=(0.22, 0.35), noise=0.03, mtu=1450),
    Fabric("ethernet:25", (25, 60), share=(0.2, 0.6), noise=0.03),
    Fabric("100gbe", (12, 30), share=(0.2, 0.5), mtu=9000, noise=0.03),
    Fabric("edr", (9, 20), share=(0.2, 0.4), path="tcp"),
    Fabric("opa100", (9, 18), share=(0.3, 0.5), path="tcp"),
    Fabric("efa:100", (10, 20), share=(0.45, 0.6), forms=("latency", "bw")),
    Fabric("hdr200", (1.0, 1.4), share=(0.5, 0.55)),
    Fabric("edr", (4.5, 12.0), share=(0.9, 0.97), forms=("latency",)),
)


def claim(fabric: Fabric) -> LinkClaim:
    return claim_from_text(fabric.link, path=fabric.path, mtu=fabric.mtu)


def truth(fabric: Fabric) -> LinkClaim:
    """The link that carries the bytes: a claim of Ethernet with a start of RDMA is RoCE."""
    if fabric.link == "100gbe" and fabric.start[0] < 5:
        return claim_from_text("roce:100")
    return claim(fabric)


def wire(fabric: Fabric, form: str, seed: int) -> Series:
    """A table of ``form`` as this fabric gives it."""
    draw = random.Random(f"{fabric.link} {fabric.start} {form} {seed}")
    attainable = limits(truth(fabric), "pingpong", "latency", 0).attainable_bytes_per_s
    if fabric.mtu is None and fabric.link.endswith("gbe"):
        attainable *= 0.951 if fabric.start[0] > 5 else 0.945
    rate = attainable * draw.uniform(*fabric.share)
    start = draw.uniform(*fabric.start) * 1e3
    sizes = {"write_lat": SIZES[2:13], "write_bw": [65536]}.get(
        form, SIZES if form in ("latency", "pingpong") else SIZES[1:]
    )

    def noisy(value: float) -> float:
        return value * (1 + abs(draw.gauss(0, fabric.noise)))

    points = []
    for size in sizes:
        sag = 1 - fabric.sag * (size >= 2 << 20)
        extra = fabric.handshake * start * (size > fabric.eager)
        once = noisy(start * (1 + 0.1 * (size > 64)) + extra + size / (rate * sag) * 1e9)
        # verbs overlap posting and sending
        gap = max(start / 8, 130.0) if form != "write_bw" else 30.0
        streamed = noisy(gap + extra / 64 + size / (rate * sag) * 1e9)
        points.append(_point(form, size, once, streamed))
    return _series(form, points)


def _point(form: str, size: int, once: float, streamed: float) -> SeriesPoint:
    if form in ("latency", "write_lat"):
        return SeriesPoint(message_bytes=size, hrt_ns=round(once, -1), time_step_ns=10.0)
    if form == "pingpong":
        shown = round(size / once * 1e3, 2) * 1e6
        return SeriesPoint(
            message_bytes=size,
            hrt_ns=round(once, -1),
            goodput_bytes_per_s=shown,
            time_step_ns=10.0,
            goodput_step=1e4,
            iterations=1000 if size < 65536 else max(5, (40 << 20) // size),
        )
    ways = 1.9 if form == "bibw" else 1.0
    shown = round(size / streamed * 1e3 * ways, 2) * 1e6
    return SeriesPoint(message_bytes=size, goodput_bytes_per_s=shown, goodput_step=1e4)


_BOTH_WAYS = {"directions": 2, "window": 64}
_FORMS: dict[str, tuple[str, str, str, str, dict[str, object]]] = {
    "latency": ("osu", "osu_latency", "half_round_trip", "pingpong", {"waits": True}),
    "pingpong": ("imb", "PingPong", "half_round_trip", "pingpong", {"waits": True}),
    "write_lat": ("perftest", "ib_write_lat", "half_round_trip", "pingpong", {"waits": True}),
    "bw": ("osu", "osu_bw", "bandwidth", "stream", {"window": 64}),
    "put_bw": ("osu", "osu_put_bw", "bandwidth", "put", {"window": 64}),
    "bibw": ("osu", "osu_bibw", "bidirectional_bandwidth", "exchange", _BOTH_WAYS),
    "mbw_mr": ("osu", "osu_mbw_mr", "message_rate", "rate", {"pairs": 8, "window": 64}),
    "write_bw": ("perftest", "ib_write_bw", "bandwidth", "stream", {"window": 128}),
}
"""Tool, benchmark, metric and traffic of each form, and what else its series has."""


def _series(form: str, points: list[SeriesPoint]) -> Series:
    tool, benchmark, metric, traffic, more = _FORMS[form]
    if tool == "perftest":
        more = more | {"protocol": "rdma"}
    return Series(
        tool=tool,
        benchmark=benchmark,
        formula="as the tool has it",
        metric=metric,
        unit="us; MB = 10^6",
        points=points,
        traffic=traffic,
        **more,
    )


@dataclass(frozen=True)
class Memory:
    """Shared memory: start in us, GB/s at the cache's best, share of it that main memory keeps,
    size of the peak.
    """

    name: str
    start: tuple[float, float]
    best: tuple[float, float]
    keeps: tuple[float, float]
    peak: int = 262144


MEMORIES = (
    Memory("intel near", (0.14, 0.19), (16, 33), (0.3, 0.7)),
    Memory("intel far", (0.30, 0.50), (8, 20), (0.3, 0.7)),
    Memory("open mpi", (0.12, 0.40), (9, 13.5), (0.6, 1.0), 1 << 20),
    Memory("open mpi, cma", (0.20, 0.45), (10, 14), (0.5, 0.9), 524288),
    Memory("mpich", (0.85, 1.2), (12.6, 16), (0.75, 1.0), 1 << 20),
    Memory("old socket", (0.40, 0.60), (4, 6), (0.6, 0.8), 262144),
    Memory("two ranks on one core", (900, 9000), (0.5, 5), (0.5, 0.9), 1 << 20),
)


def memory(world: Memory, form: str, seed: int) -> Series:
    """A table of ``form`` measured within one machine."""
    draw = random.Random(f"{world.name} {form} {seed}")
    start, best = draw.uniform(*world.start) * 1e3, draw.uniform(*world.best) * 1e9
    keeps = draw.uniform(*world.keeps)
    points = []
    for size in SIZES if form in ("latency", "pingpong") else SIZES[1:]:
        over = max(0.0, min(1.0, (size / world.peak - 1) / 4))
        rate = best * (1 - (1 - keeps) * over)
        once = start + 0.4 * start * (size > 4096) + size / rate * 1e9
        streamed = start / 3 + size / rate * 1e9
        wobble = 1 + abs(draw.gauss(0, 0.03))
        points.append(_point(form, size, once * wobble, streamed * wobble))
    return _series(form, points)
