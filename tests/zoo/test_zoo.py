"""The counter zoo itself: its adapters are whole, and its counters move as they say."""

import pytest
from tests.zoo.animals import ZOO, adapter
from tests.zoo.frames import run_of
from tests.zoo.scene import Move, Scene, timeline
from tests.zoo.situations import SITUATIONS


def test_there_are_120_adapters_and_9_situations_at_least():
    assert len({one.key for one in ZOO}) == len(ZOO) >= 120
    assert len(SITUATIONS) >= 9


@pytest.mark.parametrize("one", ZOO, ids=lambda one: one.key)
def test_every_path_of_an_adapter_leads_to_its_ports(one):
    assert one.port(one.claimed)
    assert one.carrier in one.shares
    for shares in one.shares.values():
        for name in shares:
            assert one.port(name)


def _rise(key: str, name: str, **changes: object) -> float:
    scene = Scene(adapter(key), Move(claimed=1.0, carrier=adapter(key).carrier), **changes)
    point = run_of(timeline(scene)).points[2]
    before, after = point.witness[0].counters.get(name, (0, 0))
    return (after - before) / point.pairs[0].payload_forward_bytes


def test_hfi1_counts_flits_and_infiniband_words():
    assert _rise("hfi1", "ib/hfi1_0/1/counters/port_xmit_data") == pytest.approx(1 / 8, rel=0.02)
    assert _rise("mlx5-ib-pf", "ib/mlx5_0/1/counters/port_xmit_data") == pytest.approx(
        1 / 4, rel=0.02
    )


def test_what_the_adapter_turns_round_moves_its_function_and_not_its_port():
    turned = {"move": Move(claimed=1.0, carrier="rdma", turned=True)}
    one = adapter("mlx5-roce-pf")
    point = run_of(timeline(Scene(one, **turned))).points[2]
    names = {
        name for name, (first, last) in point.witness[0].counters.items() if last - first > 1e7
    }
    assert names == {
        "ethtool/hsn0/tx_vport_rdma_unicast_bytes",
        "ib/mlx5_0/1/counters/port_xmit_data",
    }


def test_a_counter_refreshed_once_a_second_shows_nothing_of_a_short_point():
    assert _rise("ena", "net/hsn0/tx_bytes", late_s=5.0) == 0
    assert _rise("efa", "ib/efa_0/1/hw_counters/tx_bytes") == pytest.approx(1, rel=0.01)
