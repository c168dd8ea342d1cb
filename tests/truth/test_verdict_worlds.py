"""Known truths: 200 good worlds never fail; every planted lie is caught every time."""

import random
from dataclasses import replace

import pytest
from tests.conftest import some_of
from tests.processes import frames_of
from tests.records import made_plan
from tests.synthetic import World, lab, run_of

from wireproof.ledger.measured import measure
from wireproof.model.finding import Judgement
from wireproof.model.plan import ModelWorld, Point, Policy
from wireproof.model.record import PointRecord
from wireproof.stats.fit import fit_sizes
from wireproof.verdict.run import judge

GOOD = ("1gbe", "10gbe", "roce25", "roce100", "edr", "hdr200", "opa100", "lab-1g", "lab-10g")
DRIVERS = {
    "roce25": ("irdma", 9000, 2_500.0),
    "roce100": ("mlx5", 4200, 2_000.0),
    "edr": ("mlx5", None, 1_000.0),
    "hdr200": ("mlx5", None, 1_000.0),
    "opa100": ("hfi1", None, 1_000.0),
}


def good_world(seed: int) -> World:
    """A fabric, two to four nodes, noise of 0.1 to 2 %, 0.93 to 0.995 of attainable, up to 3 MB of
    management.
    """
    rng = random.Random(seed)
    kind = GOOD[seed % len(GOOD)]
    common = {
        "seed": seed,
        "nodes": rng.choice((2, 2, 3, 4)),
        "noise": rng.uniform(0.001, 0.02),
        "efficiency": rng.uniform(0.93, 0.995),
        "management": rng.choice((2_000, 100_000, 3_000_000)),
    }
    if kind.startswith("lab"):
        rate, mtu = ("1gbe", 1500) if kind == "lab-1g" else ("10gbe", 9000)
        return lab(link=rate, mtu=mtu, latency_ns=rng.uniform(6_500, 15_000), **common)
    if kind in DRIVERS:
        driver, mtu, latency = DRIVERS[kind]
        return World(
            link=kind, driver=driver, mtu=mtu, latency_ns=latency * rng.uniform(0.9, 1.5), **common
        )
    return World(
        link=kind, mtu=rng.choice((1500, 9000)), latency_ns=rng.uniform(9_000, 40_000), **common
    )


def told(judgement: Judgement) -> str:
    return "\n".join(f"{f.severity} {f.code}: {f.message}" for f in judgement.findings)


@pytest.mark.parametrize("seed", some_of(range(200), len(GOOD)))
def test_a_good_world_passes(seed: int) -> None:
    found = judge(run_of(good_world(seed)))
    assert found.verdict == "pass", told(found)
    assert found.proof == "on-wire"
    assert {pair.verdict for pair in found.pairs} == {"pass"}
    assert not [f for f in found.findings if f.severity in ("fail", "inconclusive")]


_TEN = {"link": "10gbe", "mtu": 9000}
_EDR = {"link": "edr", "mtu": None, "driver": "mlx5"}
_ONE = {"one_machine": True, "one_namespace": True}
_SHM, _NODE = "shared-memory-suspected", "node-direction-slow"
LIES = {
    "shared memory, one namespace": (lab(path="shm", one_namespace=True, shared_ranks=2), _SHM),
    "shared memory, real hosts claimed": (World(path="shm", shared_ranks=2, **_ONE), _SHM),
    "NOLOCAL with UCX shared memory below": (lab(path="shm", shared_ranks=1), "nolocal-shm"),
    "UCX sharing the IPC namespace": (lab(path="shm", shared_ranks=1, **_TEN), "nolocal-shm"),
    "traffic on the management NIC": (World(path="mgmt", **_TEN), "wrong-path"),
    "traffic on the management NIC, lab": (lab(path="mgmt"), "wrong-path"),
    "RDMA claimed, management NIC used": (World(path="mgmt", **_EDR), "wrong-path"),
    "both NICs striped": (lab(path="stripe"), "striped"),
    "both NICs striped, real": (World(path="stripe", **_TEN), "striped"),
    "loopback": (World(path="loopback", **_ONE), "loopback"),
    "loopback in a lab": (lab(path="loopback", one_namespace=True), "loopback"),
    "one direction limited": (lab(speed=lambda a, b: 0.3 if a == 0 else 1.0), "direction-slow"),
    "one node sends slowly": (lab(nodes=4, speed=lambda a, b: 0.3 if a == 2 else 1.0), _NODE),
    "one node receives slowly": (lab(nodes=4, speed=lambda a, b: 0.3 if b == 1 else 1.0), _NODE),
}
PROOFS = {
    "shared-memory-suspected": "off-wire",
    "nolocal-shm": "off-wire",
    "loopback": "off-wire",
    "wrong-path": "wrong-path",
    "striped": "mixed",
}


@pytest.mark.parametrize("seed", some_of(range(6), 1))
@pytest.mark.parametrize("name", LIES)
def test_a_planted_lie_is_caught(name: str, seed: int) -> None:
    world, code = LIES[name]
    rng = random.Random(seed)
    changed = {
        "seed": seed,
        "noise": rng.uniform(0.001, 0.03),
        "management": rng.choice((2_000, 3_000_000)),
    }
    found = judge(run_of(_with(world, **changed)))
    assert found.verdict == "fail", told(found)
    assert code in {f.code for f in found.findings if f.severity == "fail"}, told(found)
    assert found.proof == PROOFS.get(code, "on-wire")


PATH_LIES = [name for name, (_, code) in LIES.items() if code in PROOFS and code != "striped"]


@pytest.mark.parametrize("size", some_of([8, 4 << 20, 1024, 65536], 2))
@pytest.mark.parametrize("pattern", ["pingpong", "stream", "exchange"])
@pytest.mark.parametrize("name", PATH_LIES)
def test_a_single_point_is_enough_to_catch_a_lie_about_the_path(
    name: str, pattern: str, size: int
) -> None:
    """Also at 8 B: thousands of messages carry enough bytes, or the point is unproven; it never
    passes.
    """
    world, _ = LIES[name]
    found = judge(run_of(_with(world, sizes=(size,), patterns=(pattern,), management=2_000)))
    assert found.verdict == "fail", told(found)
    assert {pair.proof for pair in found.pairs} == {PROOFS[LIES[name][1]]}
    assert {pair.verdict for pair in found.pairs} == {"fail"}


@pytest.mark.parametrize("bad", [0, 1, 2, 3])
@pytest.mark.parametrize("way", ["sends", "receives"])
def test_the_bad_node_and_direction_are_named(bad: int, way: str) -> None:
    def speed(a: int, b: int) -> float:
        return 0.3 if (a if way == "sends" else b) == bad else 1.0

    found = judge(run_of(lab(nodes=4, speed=speed, seed=bad)))
    worst = found.findings[0]
    assert worst.code == "node-direction-slow"
    assert worst.subject == f"n{bad + 1} {'tx' if way == 'sends' else 'rx'}"
    assert worst.message.startswith(f"n{bad + 1} {way} at 28")
    assert [f.code for f in found.findings if f.severity == "fail"] == ["node-direction-slow"]
    slow = {
        (p.origin, p.target) for p in found.pairs if p.pattern == "stream" and p.verdict == "fail"
    }
    assert slow == {
        (a, b) for a in range(4) for b in range(4) if a != b and (a if way == "sends" else b) == bad
    }


def test_two_bad_nodes_are_both_named() -> None:
    found = judge(run_of(lab(nodes=5, speed=lambda a, b: 0.3 if a == 0 or b == 3 else 1.0)))
    assert {f.subject for f in found.findings if f.code == "node-direction-slow"} == {
        "n1 tx",
        "n4 rx",
    }


def test_one_slow_link_blames_no_node() -> None:
    found = judge(run_of(lab(nodes=4, speed=lambda a, b: 0.3 if (a, b) == (0, 1) else 1.0)))
    codes = {f.code: f.subject for f in found.findings if f.severity == "fail"}
    assert codes["direction-slow"] == "n1 -> n2"
    assert "node-direction-slow" not in codes


def test_a_uniformly_slow_network_blames_nobody() -> None:
    found = judge(run_of(lab(nodes=4, efficiency=0.5)))
    codes = {f.code for f in found.findings if f.severity == "fail"}
    assert codes == {"below-expectation"}


@pytest.mark.parametrize("seed", some_of(range(10), 1))
def test_small_differences_between_good_nodes_blame_nobody(seed: int) -> None:
    rng = random.Random(seed)
    share = {(a, b): rng.uniform(0.95, 1.0) for a in range(4) for b in range(4)}
    found = judge(run_of(lab(nodes=4, speed=lambda a, b: share[a, b], seed=seed)))
    assert found.verdict == "pass", told(found)


def _with(world: World, **changes: object) -> World:
    return replace(world, **changes)  # type: ignore[arg-type]


# --- The engine's model transport has a known latency, gap and switch point: the analysis finds
# them within 1 %.


SIZES = [0, *(1 << k for k in range(23))]


def swept(world: ModelWorld, pattern: str, seed: int) -> dict[int, float]:
    """Message size -> median time of one message in the model world."""
    sizes = SIZES if pattern == "pingpong" else SIZES[1:]
    points = tuple(
        Point(id=i, pattern=pattern, form="stream", message_bytes=size, pairs=((0, 1),))  # type: ignore[arg-type]
        for i, size in enumerate(sizes)
    )
    plan = made_plan(
        points, kind="model", seed=seed, model=world, policy=Policy(point_budget_ms=200)
    )
    found = {}
    for frame in frames_of(plan):
        if isinstance(frame, PointRecord):
            number = measure(frame, frame.pairs[0])
            found[frame.message_bytes] = number.time.median_ns
    assert sorted(found) == sizes
    return found


@pytest.mark.engine
@pytest.mark.parametrize("seed", some_of([1, 2, 3], 1))
@pytest.mark.parametrize(
    "world",
    [
        ModelWorld(
            latency_ns=1_200,
            gap_ns_per_byte=0.08,
            eager_limit_bytes=16384,
            rendezvous_ns=4_000,
            noise=0.01,
        ),
        ModelWorld(
            latency_ns=25_000,
            gap_ns_per_byte=8.5,
            eager_limit_bytes=65536,
            rendezvous_ns=900_000,
            noise=0.01,
        ),
        ModelWorld(latency_ns=900, gap_ns_per_byte=0.02, overhead_ns=150, noise=0.005, stall=0.01),
    ],
    ids=["rdma", "tcp", "no switch"],
)
def test_latency_gap_and_switch_point_are_recovered(world: ModelWorld, seed: int) -> None:
    found = fit_sizes(swept(world, "pingpong", seed))
    assert found.start_ns == pytest.approx(world.latency_ns + 2 * world.overhead_ns, rel=0.01)
    assert found.gap_ns_per_byte == pytest.approx(world.gap_ns_per_byte, rel=0.01)
    assert found.eager_limit_bytes == (world.eager_limit_bytes or None)


@pytest.mark.engine
def test_the_goodput_of_a_stream_is_the_gap() -> None:
    world = ModelWorld(latency_ns=1_200, gap_ns_per_byte=0.08, overhead_ns=50, noise=0.01)
    times = swept(world, "stream", 1)
    for size in (1 << 16, 1 << 20, 1 << 22):
        assert size / times[size] == pytest.approx(1 / world.gap_ns_per_byte, rel=0.01)
