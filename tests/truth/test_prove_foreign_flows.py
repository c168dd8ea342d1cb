"""Latency tables beside another job's flow, at random: payload in memory never passes, and an
honest run never fails.
"""

import random
from collections import Counter

from tests.conftest import seeds
from tests.records import osu_times
from tests.watch.test_prove_verdict import host

from wireproof.model.claim import Claim, HostClaim, LinkClaim
from wireproof.model.series import Series, SeriesPoint
from wireproof.model.traffic import DirectionTraffic, PortTraffic, Traffic
from wireproof.watch.verdict import judge_traffic

LINE = 125e6
"""Bytes per second of the link, 1 Gb/s."""
SEEDS, EACH_TURN = 2000, 400


def _table(dice: random.Random) -> tuple[Series, float, float]:
    """A ping-pong's rows, the bytes of one direction, and the mean rate of the largest row."""
    counted = dice.random() < 0.5
    top = dice.choice([12, 16, 20, 22])
    points, moved, rate = [], 0.0, 0.0
    for bits in range(dice.choice([0, 3, 10]), top + 1, 2):
        size, repeated = 1 << bits, dice.choice([100, 1000])
        half_s = dice.uniform(10e-6, 40e-6) + size / (LINE * dice.uniform(0.6, 0.94))
        points.append(
            SeriesPoint(
                message_bytes=size, hrt_ns=half_s * 1e9, iterations=repeated if counted else None
            )
        )
        moved += repeated * 1.06 * (size + 78)
        rate = 1.06 * (size + 78) / (2 * half_s)
    return osu_times(points), moved, rate


def _seen(moved: float, peak: float) -> DirectionTraffic:
    return DirectionTraffic(bytes=moved, background=2000.0, peak_bytes_per_s=peak)


def _world(there: tuple[float, float], back: tuple[float, float]) -> Traffic:
    sent, received = _seen(*there), _seen(*back)
    ends = [("n1", sent, received), ("n2", received, sent)]
    hosts = [
        host(name, PortTraffic(nic="eth0", kind="ethernet", driver="x", tx=tx, rx=rx))
        for name, tx, rx in ends
    ]
    return Traffic(hosts=hosts, seconds=10, idle_s=1, interval_s=0.1)


def _flow(dice: random.Random) -> tuple[float, float, float]:
    """Bytes and peak of a one-way flow, and the share of its acknowledgements."""
    peak = dice.uniform(0.02, 0.95) * LINE
    return peak * dice.uniform(0.5, 10.0), peak, dice.uniform(0.005, 0.04)


CLAIM = Claim(
    hosts=[HostClaim(rank=i, host=name, nic="eth0") for i, name in enumerate(("n1", "n2"))],
    link=LinkClaim(kind="1gbe", protocol="tcp", rate_bits_per_s=8 * LINE, mtu=1500),
)


def _memory(seed: int) -> str:
    dice = random.Random(seed)
    table, _, _ = _table(dice)
    moved, peak, acks = _flow(dice)
    return judge_traffic(_world((moved, peak), (acks * moved, acks * peak)), [table], CLAIM).verdict


def _honest(seed: int) -> str:
    dice = random.Random(seed)
    table, own, rate = _table(dice)
    moved, peak, acks = _flow(dice)
    there = (own + moved, min(rate + peak, LINE))
    return judge_traffic(
        _world(there, (own + acks * moved, rate + acks * peak)), [table], CLAIM
    ).proof


def test_an_honest_ping_pong_beside_a_flow_is_on_the_wire_or_open(slow_turn: int | None) -> None:
    proofs = Counter(map(_honest, seeds(SEEDS, slow_turn, EACH_TURN)))
    assert set(proofs) <= {"on-wire", "unproven"}
    assert proofs["on-wire"] > 0.9 * proofs.total()


def test_payload_in_memory_beside_a_flow_never_passes(slow_turn: int | None) -> None:
    tried = seeds(SEEDS, slow_turn, EACH_TURN)
    assert [seed for seed in tried if _memory(seed) == "pass"] == []
