"""The simulation against closed forms, a slow reference, and its own full runs."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wireproof.model.errors import BadInput
from wireproof.plan import Scale
from wireproof.plan.document import scale_chart, scale_csv, scale_document
from wireproof.plan.job import machine_options, plan_scale, scales_of
from wireproof.plan.scale import alltoall, natural, random_ring, ring_time
from wireproof.plan.scale.network import (
    SHORT_BYTES,
    MachineCosts,
    ScaleTopology,
    SimulatedNetwork,
    allreduce,
    barrier,
    serve,
)
from wireproof.report.figure.file import standalone
from wireproof.report.ink import Look
from wireproof.report.text import document_text

START, BYTE, OVERHEAD, GAP = 1500.0, 0.08, 200.0, 50.0
MACHINE = MachineCosts(start_ns=START, byte_ns=BYTE, overhead_ns=OVERHEAD, gap_ns=GAP, hop_ns=150.0)
SIZES = (0, 8, 4096, 1 << 20)


def one_switch(nodes: int, ppn: int = 1) -> SimulatedNetwork:
    return SimulatedNetwork(MACHINE, ScaleTopology(nodes=nodes, ppn=ppn, kind="one-switch"))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("nodes", [2, 3, 7, 64])
def test_a_ring_takes_its_closed_form(nodes: int, size: int) -> None:
    """start + G s + max(o, g + G s), in natural and in any other order."""
    wanted = START + BYTE * size + max(OVERHEAD, GAP + BYTE * size)
    for order in (natural(nodes), random_ring(nodes, 3)):
        assert ring_time(one_switch(nodes), order, size) == pytest.approx(wanted)


@pytest.mark.parametrize("nodes", [2, 4, 64, 1024])
def test_collectives_take_their_closed_forms(nodes: int) -> None:
    rounds = math.log2(nodes)
    assert barrier(one_switch(nodes)) == pytest.approx(rounds * START)
    assert allreduce(one_switch(nodes), 8) == pytest.approx(rounds * (START + 8 * BYTE))
    large = 1 << 20
    wanted = 2 * rounds * START + 2 * BYTE * large * (nodes - 1) / nodes
    assert allreduce(one_switch(nodes), large) == pytest.approx(wanted)
    if nodes <= 64:
        found = alltoall(one_switch(nodes), 1024)
        assert found.time_ns == pytest.approx((nodes - 1) * (START + BYTE * 1024))
        assert found.simulated == found.total == nodes - 1


@pytest.mark.parametrize(("nodes", "rounds"), [(3, 2), (5, 3), (1000, 10)])
def test_other_numbers_of_ranks_take_one_more_round_or_two(nodes: int, rounds: int) -> None:
    assert barrier(one_switch(nodes)) == pytest.approx(rounds * START)
    most = (math.floor(math.log2(nodes)) + 2) * (START + 8 * BYTE)
    found = allreduce(one_switch(nodes), 8)
    assert most - 2 * START < found <= most * (1 + 1e-9)  # who has no neighbour to fold is early


def test_a_single_rank_needs_nothing() -> None:
    network = one_switch(1)
    assert ring_time(network, natural(1), 8) == barrier(network) == allreduce(network, 8) == 0.0
    assert alltoall(network, 8).time_ns == 0.0


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 5)), min_size=1, max_size=60),
    st.floats(0, 1e5),
)
def test_a_server_takes_one_message_after_another(
    messages: list[tuple[int, int]], cost: float
) -> None:
    """Against the recurrence, message by message."""
    arrival = np.asarray([float(at) for at, _ in messages])
    server = np.asarray([number for _, number in messages])
    ends = np.full(6, -np.inf)
    wanted = np.empty_like(arrival)
    free: dict[int, float] = {}
    for index in np.lexsort((arrival, server)).tolist():
        own = int(server[index])
        wanted[index] = free[own] = max(arrival[index], free.get(own, -math.inf) + cost)
    assert serve(arrival, server, cost, ends) == pytest.approx(wanted, abs=1e-3)
    if cost:
        assert {number: ends[number] for number in free} == pytest.approx(free, abs=1e-3)


def test_ranks_of_a_node_share_its_adapter() -> None:
    """28 ranks with 2 messages each: a random ring of two nodes waits for the adapter."""
    gap = 300.0
    machine = MachineCosts(start_ns=2000.0, byte_ns=0.0, overhead_ns=100.0, gap_ns=gap)
    topology = ScaleTopology(nodes=64, ppn=28, kind="one-switch")
    found = ring_time(SimulatedNetwork(machine, topology), random_ring(topology.ranks, 1), 8)
    across = 2 * 28 * (1 - 27 / (topology.ranks - 1))  # messages of a node that leave it
    assert found >= 0.9 * across * gap
    alone = ring_time(SimulatedNetwork(machine, ScaleTopology(nodes=64)), random_ring(64, 1), 8)
    assert found > 4 * alone


@settings(deadline=None, max_examples=30)
@given(
    nodes=st.integers(2, 60),
    ppn=st.integers(1, 4),
    size=st.sampled_from(SIZES),
    kind=st.sampled_from(["one-switch", "fat-tree", "dragonfly"]),
)
def test_nothing_is_faster_than_one_message_and_more_links_are_not_slower(
    nodes: int, ppn: int, size: int, kind: str
) -> None:
    def time(uplinks: int) -> float:
        topology = ScaleTopology(
            nodes=nodes,
            ppn=ppn,
            kind=kind,
            leaf=4,
            group=3,
            uplinks=uplinks,
        )
        return ring_time(SimulatedNetwork(MACHINE, topology), random_ring(topology.ranks, 2), size)

    free = time(0)
    assert free >= MACHINE.local_start_ns
    if ppn == 1:
        assert free >= START + BYTE * size
    assert time(1) >= free * 0.99  # who waits for a link may find an adapter free


def test_far_nodes_cost_hops() -> None:
    machine = MachineCosts(start_ns=START, byte_ns=0.0, hop_ns=150.0)

    def time(nodes: int, leaf: int, group: int) -> float:
        topology = ScaleTopology(nodes=nodes, leaf=leaf, group=group)
        return ring_time(SimulatedNetwork(machine, topology), natural(nodes), 8)

    assert time(32, 32, 1) == pytest.approx(START)
    assert time(33, 32, 2) == pytest.approx(START + 2 * 150)
    assert time(64, 4, 2) == pytest.approx(START + 4 * 150)


def test_shifts_do_not_collide_when_routed_by_destination() -> None:
    """D-mod-k on as many uplinks as nodes of a leaf: an alltoall is as fast as without limits."""

    def time(uplinks: int, routing: str) -> float:
        topology = ScaleTopology(
            nodes=64,
            leaf=8,
            uplinks=uplinks,
            routing=routing,
        )
        return alltoall(SimulatedNetwork(MACHINE, topology), 1 << 16).time_ns

    free = time(0, "destination")
    assert time(8, "destination") == pytest.approx(free, rel=1e-6)
    assert time(8, "chance") > 1.2 * free
    assert time(2, "destination") > 2 * free


def sampled_topology(seed: int) -> ScaleTopology:
    return ScaleTopology(nodes=80, ppn=4, leaf=16, uplinks=8, seed=seed)


def test_a_sample_of_phases_holds_the_whole_in_its_interval() -> None:
    """All 319 phases against samples of 48, from 12 seeds."""
    whole = alltoall(
        SimulatedNetwork(MACHINE, sampled_topology(0)), 4096, most_phases=10_000
    ).time_ns
    inside = 0
    for seed in range(12):
        found = alltoall(SimulatedNetwork(MACHINE, sampled_topology(seed)), 4096, most_phases=48)
        assert found.simulated < found.total == 319
        assert found.time_ns == pytest.approx(whole, rel=0.05)
        inside += found.spread_ns.low <= whole <= found.spread_ns.high
    assert inside >= 10


def test_noise_grows_with_the_number_of_ranks() -> None:
    noisy = MachineCosts(start_ns=1500.0, byte_ns=0.0, noise=0.2)

    def time(nodes: int) -> float:
        topology = ScaleTopology(nodes=nodes, kind="one-switch")
        return ring_time(SimulatedNetwork(noisy, topology), natural(nodes), 8)

    assert START < time(2) < time(64)
    assert time(2) < time(2048)


def test_allreduce_changes_its_algorithm_at_2_kib() -> None:
    short, long = (allreduce(one_switch(64), size) for size in (SHORT_BYTES, SHORT_BYTES + 8))
    assert short < long < 2.5 * short


def slides() -> Scale:
    return plan_scale((2, 8, 112), 28, start_ns=1900.0, byte_ns=0.087, gap_ns=60.0, noise=0.0)


def test_a_scale_is_a_typed_document_a_chart_and_a_table() -> None:
    found = slides()
    assert [(one.order, one.nodes) for one in found.predictions] == [
        *(("natural", 2), ("random", 2), ("natural", 8), ("random", 8)),
        *(("natural", 112), ("random", 112)),
    ]
    assert found.predictions[-1].ranks == 3136
    for one in found.predictions:
        assert one.latency_ns == one.time_ns / 2
        assert one.spread_ns.low <= one.time_ns <= one.spread_ns.high * (1 + 1e-9)
    text = document_text(scale_document(found))
    assert "112 nodes, 3,136 ranks: natural ring" in text
    assert "given" in text
    assert "assumed" in text
    document_text(scale_document(found), Look(ascii=True)).encode("ascii")
    rows = scale_csv(found).splitlines()
    assert len(rows) == 7
    assert rows[0].startswith("pattern,order,nodes")
    chart = scale_chart(found)
    assert [len(line.marks) for line in chart.lines] == [3, 3]
    assert "112 nodes" in standalone(chart)


@pytest.mark.parametrize("nodes", [(1,), (4,), (2, 64), (2, 1000)])
def test_any_scales_are_drawn(nodes: tuple[int, ...]) -> None:
    """On an axis from 0 or a logarithmic one; a time of zero has no place."""
    found = plan_scale(
        nodes, 1, patterns=("barrier", "ring"), order="natural", start_ns=1900.0, byte_ns=0.087
    )
    chart = scale_chart(found)
    drawn = sum(len(line.marks) for line in chart.lines) if chart else 0
    assert drawn == sum(one.time_ns > 0 for one in found.predictions)
    if chart is None:
        return
    drawing = standalone(chart)
    assert "nan" not in drawing
    assert drawing.rstrip().endswith("</svg>")


def test_the_same_seed_gives_the_same_numbers() -> None:
    first, second = (plan_scale((2, 16), 4, start_ns=1900.0, byte_ns=0.087) for _ in range(2))
    assert first == second


def test_times_and_rates_are_read_as_typed() -> None:
    found = machine_options({"start": "1.5us", "rate": "12.5GB/s", "gap": None, "order": "both"})
    assert found == {
        "start_ns": pytest.approx(1500),
        "byte_ns": pytest.approx(0.08),
        "order": "both",
    }
    assert scales_of("2, 4,8") == (2, 4, 8)
    for typed in ({"start": "12GB/s"}, {"rate": "3us"}, {"rate": "0GB/s"}, {"start": "x"}):
        with pytest.raises(BadInput):
            machine_options(typed)
    with pytest.raises(BadInput, match="not a list of numbers"):
        scales_of("2,,4")
