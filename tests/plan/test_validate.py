"""Rounds that a power needs: closed form, monotonicity, and worlds that are really screened."""

from collections.abc import Callable

import msgspec
import pytest

from wireproof.locate.screen import screen
from wireproof.locate.significance import LocateCriteria, found_with, least_found_by, rounds_for
from wireproof.locate.world import World, WorldFault
from wireproof.measure.schedule import screen_rounds
from wireproof.model.errors import BadInput
from wireproof.plan.document import validation_document
from wireproof.plan.job import plan_footprint, plan_pfc, plan_scale, plan_validate
from wireproof.report.text import document_text

CRITERIA = LocateCriteria()


@pytest.mark.parametrize(
    ("noise", "nodes", "low", "high"),
    [(0.02, 16, 6, 12), (0.02, 1024, 8, 12), (0.02, 10_000, 9, 13), (0.05, 1024, 45, 70)],
)
def test_rounds_for_a_twentieth_are_those_of_the_formula(
    noise: float, nodes: int, low: int, high: int
) -> None:
    """((z + z_beta) 1.2533 sigma / d)^2 is 5, 8, 10 and 49 rounds; the spread adds some."""
    found = rounds_for(nodes, 0.05, noise, 0.95, "goodput", CRITERIA)
    assert low <= found <= high


def test_a_power_is_reached_with_the_rounds_that_it_needs_and_not_with_fewer() -> None:
    for slowdown in (0.05, 0.07, 0.1, 0.3):
        for power in (0.8, 0.95, 0.99):
            rounds = rounds_for(1000, slowdown, 0.02, power, "goodput", CRITERIA)
            assert found_with(rounds, 1000, slowdown, 0.02, "goodput", CRITERIA) >= power
            if rounds > 1:
                assert found_with(rounds - 1, 1000, slowdown, 0.02, "goodput", CRITERIA) < power


def test_more_is_found_with_more_rounds_and_less_noise_and_larger_faults() -> None:
    def found(rounds: int = 8, slowdown: float = 0.06, noise: float = 0.02) -> float:
        return found_with(rounds, 1000, slowdown, noise, "goodput", CRITERIA)

    assert found(2) < found(4) < found(8) < found(16)
    assert found(slowdown=0.03) < found(slowdown=0.06) < found(slowdown=0.2)
    assert found(noise=0.05) < found(noise=0.03) < found(noise=0.02)
    least = [least_found_by(rounds, 1000, 0.02, 0.95, "goodput", CRITERIA) for rounds in (4, 8, 16)]
    assert least == sorted(least, reverse=True)


def test_far_below_the_practical_threshold_no_number_of_rounds_does() -> None:
    assert rounds_for(1000, 0.01, 0.02, 0.95, "goodput", CRITERIA) is None
    found = plan_validate(1000, slowdown=0.01)
    assert found.least is None
    assert not found.enough
    assert "no number of rounds" in found.sentences[0]


def test_real_screens_find_what_is_promised() -> None:
    """256 nodes, twelve of them 7 % slow in one direction; the tail of the noise included."""
    rounds = rounds_for(256, 0.07, 0.02, 0.95, "goodput", CRITERIA)
    assert rounds is not None
    hits = trials = 0
    for seed in range(4):
        bad = range(seed, 256, 21)
        faults = tuple(
            WorldFault(kind="port", node=node, share=0.93, direction="tx") for node in bad
        )
        world = World(nodes=256, leaves=16, seed=seed + 1, faults=faults)
        samples = world.measure(screen_rounds(256, world.leaf.tolist(), seed, rounds), "goodput")
        suspects = {one.nodes[0] for one in screen(samples, world.fabric()).suspects}
        hits += len(suspects & {world.names[node] for node in bad})
        trials += len(bad)
    assert hits / trials >= 0.85


def test_a_check_of_a_thousand_nodes_is_enough_for_a_twentieth() -> None:
    found = plan_validate(1000)
    assert found.enough
    assert found.check.rounds == 12
    assert found.check.pairs == 12 * 500
    assert 0 < found.check.seconds.low < found.check.seconds.high
    assert found.least.rounds <= 12
    text = document_text(validation_document(found))
    assert "rounds find a slowdown of 5 %" in text


def test_few_nodes_repeat_their_rounds() -> None:
    assert plan_validate(4, slowdown=0.1).check.rounds == 12  # 3 rounds, four times
    assert "some rounds repeat" in " ".join(plan_validate(4, noise=0.1).sentences)


Wrong = tuple[dict[str, object], str]
BAD_INPUT: dict[Callable[..., object], tuple[dict[str, object], list[Wrong]]] = {
    plan_footprint: (
        {"mode": "psm3-rdma1", "nodes": 64, "ppn": 28},
        [
            ({"nodes": 0}, "--nodes is 0"),
            ({"ppn": 0}, "--ppn is 0"),
            ({"nodes": 10**30}, "--nodes is about 10^30"),
            ({"nodes": -5}, "--nodes is -5"),
            ({"mode": "psm3-rdma5"}, "did you mean 'psm3-rdma"),
            ({"mode": ""}, "give --mode: psm3-rdma0"),
            ({"rails": 33}, "--rails is 33"),
            ({"rails": 8, "settings": {"PSM3_QP_PER_NIC": 8}}, "more than the 32"),
            ({"settings": {"PSM3_RV_QP_PER_CON": 4}}, "did you mean 'PSM3_RV_QP_PER_CONN'"),
            ({"settings": {"PSM3_RV_QP_PER_CONN": 17}}, "from 1 to 16"),
            ({"peers": 64 * 28}, "--peers is 1792"),
            ({"node_pairs": 2017}, "--node-pairs is 2017"),
            ({"peers": 28, "node_pairs": 1}, "between 32 and 2016 pairs"),
            ({"mtu": 0}, "--mtu is 0"),
        ],
    ),
    plan_pfc: (
        {"speed_gbps": 100, "mtu": 9000, "cable_m": 3, "ports": 32},
        [
            ({"cable_m": -1.0}, "--cable is -1"),
            ({"cable_m": float("nan")}, "--cable is nan"),
            ({"speed_gbps": float("inf")}, "--speed is inf"),
            ({"speed_gbps": -100}, "--speed is -100"),
            ({"mtu": 0}, "--mtu is 0"),
            ({"ports": 0}, "--ports is 0"),
            ({"priorities": 9}, "--priorities is 9"),
            ({"headroom": 10**30}, "--headroom is about 10^30"),
        ],
    ),
    plan_scale: (
        {"nodes": 4, "ppn": 1, "start_ns": 1500.0, "byte_ns": 0.08},
        [
            ({"nodes": 0}, "--nodes is 0"),
            ({"nodes": 10**30}, "--nodes is about 10^30"),
            ({"ppn": 0}, "--ppn is 0"),
            ({"nodes": 1_000_000, "ppn": 2}, "up to 1,000,000 ranks"),
            ({"start_ns": float("nan")}, "the start of a message is nan"),
            ({"start_ns": -1.0}, "the start of a message is -1"),
            ({"overhead_ns": 900.0}, "half of the start"),
            ({"patterns": ("rnig",)}, "did you mean 'ring'"),
            ({"topology": "torus"}, "--topology 'torus' is not known"),
            ({"order": "odd"}, "--order 'odd' is not known"),
            ({"start_ns": None}, "give --start"),
            ({"uplinks": -1}, "--uplinks is -1"),
        ],
    ),
    plan_validate: (
        {"nodes": 100},
        [
            ({"nodes": 0}, "--nodes is 0"),
            ({"nodes": 10**30}, "--nodes is about 10^30"),
            ({"slowdown": 0.0}, "--slowdown is 0"),
            ({"noise": float("nan")}, "--noise is nan"),
            ({"power": 1.0}, "--power is 1"),
            ({"metric": "godput"}, "did you mean 'goodput'"),
            ({"rounds": 0}, "--rounds is 0"),
        ],
    ),
}
"""The usual options of each plan, and wrong ones with words of the sentence about them."""


@pytest.mark.parametrize(
    ("plan", "options", "words"),
    [
        (plan, usual | options, words)
        for plan, (usual, rows) in BAD_INPUT.items()
        for options, words in rows
    ],
)
def test_bad_input_is_one_sentence(
    plan: Callable[..., object], options: dict[str, object], words: str
) -> None:
    with pytest.raises(BadInput) as raised:
        plan(**options)
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "found",
    [
        plan_footprint(64, 28, "psm3-rdma1"),
        plan_pfc(100, 9000, 30, 32, headroom=18_560, cell=80),
        plan_scale((2, 8), 28, start_ns=1900.0, byte_ns=0.087, gap_ns=60.0, noise=0.0),
        plan_validate(1000),
    ],
    ids=lambda found: type(found).__name__,
)
def test_the_document_is_typed_json_and_has_its_sources(found: object) -> None:
    assert msgspec.json.decode(msgspec.json.encode(found), type=type(found)) == found
    assert found.sources
    assert found.validity
