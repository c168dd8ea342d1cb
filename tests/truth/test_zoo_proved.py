"""``prove`` around a program on every adapter of the zoo: never a verdict that the files
contradict.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest
from tests.conftest import some_of
from tests.zoo.animals import ZOO
from tests.zoo.arranged import ARRANGED
from tests.zoo.frames import run_of
from tests.zoo.matrix import verdict_of
from tests.zoo.parts import Adapter
from tests.zoo.ramp import Machine
from tests.zoo.scene import Move, Other, Scene, timeline
from tests.zoo.situations import SITUATIONS
from tests.zoo.watched import proved

from wireproof.ledger.changes import MarkedChanges
from wireproof.model.traffic import CounterMark
from wireproof.verdict.run import judge

_LEFT_OPEN = {
    "busy-healthy": ("bnxt-vf", "iavf", "idpf", "irdma-idpf", "newcomer", "vlan-mlx5-lag"),
}
"""What an expert decides: counters 2 to 10 s late, a bond's RDMA."""


# Every fourth in each turn: makers and kinds are neighbours in the zoo.
_ANIMALS = sorted(ZOO, key=lambda one: ZOO.index(one) % 4)


@pytest.mark.parametrize(
    "one",
    [*some_of(_ANIMALS, len(ZOO) // 4), *some_of(ARRANGED, 16)],
    ids=lambda one: one.key,
)
def test_no_situation_of_an_adapter_is_proved_wrong(one):
    for situation in SITUATIONS:
        scene = situation.scene(one)
        if scene is None:
            continue
        right = situation.expected(one).proofs
        found = proved(scene)
        unsure = one.key in _LEFT_OPEN.get(situation.key, ()) or one.key.endswith("-nolower")
        allowed = (*right, "unproven") if unsure else right
        if situation.key == "busy-healthy" and not unsure:
            allowed = right[:1]  # late counters, too
        assert found.proof in allowed, (situation.key, [reason.code for reason in found.reasons])


def _without(one: Adapter, part: str) -> Adapter:
    """The adapter where a container, a guest or a driver lacks these counters."""
    ports = (
        replace(port, files=tuple(file for file in port.files if part not in file.path))
        for port in one.ports
    )
    return replace(one, ports=tuple(ports))


@pytest.mark.parametrize("part", ["ib/", "/hw_counters/", "/counters/", "ethtool/"])
@pytest.mark.parametrize("key", ["mlx5-vlan", "vlan-bnxt_re", "vlan-irdma"])
def test_rdma_of_a_vlan_that_no_counter_shows_is_not_the_port_s_below(key: str, part: str) -> None:
    """The whole port's counter had the bytes, the VLAN's none: a fail (wrong-path)."""
    one = _without(next(one for one in ZOO if one.key == key), part)
    scene = Scene(one, Move(claimed=1.0, carrier="rdma"), nic=one.claimed, rate=0.8 * one.rate)
    assert proved(scene).proof in ("on-wire", "unproven")
    assert verdict_of(judge(run_of(timeline(scene))))[0] in ("on-wire", "unproven")


def test_the_kernel_s_bytes_of_the_port_below_a_vlan_are_on_another_path() -> None:
    one = _without(next(one for one in ZOO if one.key == "mlx5-vlan"), "ib/")
    below = replace(one, shares={"kernel": {"hsn0": (1.0, 1.0)}})
    scene = Scene(below, Move(claimed=1.0), nic=one.claimed, rate=0.8 * one.rate)
    assert proved(scene).proof == "wrong-path"


def test_a_rail_of_eight_that_another_port_replaces_is_told_from_memory() -> None:
    """The other port had the missing eighth, and "the rest" was said to be in memory."""
    one = next(one for one in ZOO if one.key == "cxi-8")
    rails = [port.name for port in one.ports]
    used = dict.fromkeys(rails[:7], (0.125, 0.125))
    move = Move(claimed=1.0, eth0=0.125, carrier="rdma")
    scene = Scene(replace(one, shares={"rdma": used}), move, nic=",".join(rails), rate=0.9e9)
    found = proved(scene)
    assert found.proof == "mixed"
    assert " crossed eth0: " in found.reasons[0].message
    alone = proved(replace(scene, move=replace(move, eth0=0.0)))
    assert "memory" in alone.reasons[0].message


@pytest.mark.parametrize("key", ["mlx5-roce-pf", "igb", "ionic", "hfi1", "tg3"])
@pytest.mark.parametrize("flow", [0.5, 0.7, 1.5])
@pytest.mark.parametrize("until", ["later", "its end"])
def test_a_flow_that_starts_with_the_command_is_not_its_payload(key: str, flow: float, until: str):
    """Half of the payload in memory and another job that starts meanwhile: a pass."""
    one = next(one for one in ZOO if one.key == key)
    rate = 0.3 * one.rate
    carrier = "kernel" if one.speaks_kernel() else one.carrier
    job = Other("claimed", flow * rate, start_s=2.25, carrier=carrier)
    if until == "its end":
        job = replace(job, start_s=-math.inf, during_points=True)
    move = Move(claimed=0.5, carrier=one.carrier)
    scene = Scene(one, move, nic=one.claimed, rate=rate, others=(job,))
    assert proved(scene).proof == "unproven"
    if until == "its end":
        assert proved(replace(scene, move=replace(move, claimed=1.0))).proof == "on-wire"


@pytest.mark.parametrize("key", ["macvlan", "vlan", "bridge", "vlan-bond"])
def test_the_port_below_is_no_other_path_if_the_claimed_one_is_reset(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody reloads a stacked interface meanwhile: its bytes below it were on a wrong path."""
    one, whole = next(one for one in ZOO if one.key == key), Machine.reading

    def reading(machine: Machine, t_s: float) -> Mapping[str, int]:
        then = whole(machine, min(t_s, 3.2))
        return {
            name: count - (then[name] if f"/{one.claimed}/" in name and t_s > 3.2 else 0)
            for name, count in whole(machine, t_s).items()
        }

    monkeypatch.setattr(Machine, "reading", reading)
    scene = Scene(one, Move(claimed=1.0, carrier="kernel"), nic=one.claimed, rate=5e8)
    assert proved(scene).reasons[0].code == "traffic-unreadable"


@pytest.mark.parametrize("when", [(1.1, 1.4), (4.6, 5.0)])
def test_a_burst_beside_the_command_is_no_flow_that_went_on(when: tuple[float, float]) -> None:
    """A login in the quiet second before the command, or while late counters settle."""
    one = next(one for one in ZOO if one.key == "mlx5-roce-pf")
    burst = Other("eth0", 30e6, *when)
    scene = Scene(one, Move(eth0=1.0, carrier="kernel"), nic=one.claimed, rate=0.115e9)
    assert proved(replace(scene, others=(burst,))).proof == "wrong-path"


def test_background_is_at_most_what_was_counted() -> None:
    """A flow that began late in a long command seemed to have moved more than its port."""
    values = (0, 0, 100, 200, 300)
    start, before, end, after, later = (
        CounterMark(t_ns=t * 10**9, counters={"net/a/tx_bytes": value})
        for t, value in zip((0, 1, 61, 62, 63), values, strict=True)
    )
    changes = MarkedChanges(start, before, after, {}, aside=[end, later])
    assert changes.background("net/a/tx_bytes") == 200


@pytest.mark.parametrize("key", ["tg3", "ionic"])
def test_a_steady_flow_that_late_counters_underestimate_does_not_replace_the_payload(key: str):
    """The quiet second held a single refresh, the run four more of the flow: a pass."""
    one = next(one for one in ZOO if one.key == key)
    rate = 0.5 * one.rate
    flow = Other("claimed", 0.6 * rate, carrier="kernel")
    scene = Scene(one, Move(claimed=0.7, carrier=one.carrier), nic=one.claimed, rate=rate)
    proofs = {proved(replace(scene, others=(flow,), seed=seed)).proof for seed in range(12)}
    assert proofs == {"unproven"}
