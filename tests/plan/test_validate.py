"""Rounds that a power needs: closed form, monotonicity, and worlds that are really screened."""

import msgspec
import pytest

from wireproof.locate.screen import screen
from wireproof.locate.significance import LocateCriteria, found_with, least_found_by, rounds_for
from wireproof.locate.world import World, WorldFault
from wireproof.measure.schedule import screen_rounds
from wireproof.model.errors import BadInput
from wireproof.plan import Validation
from wireproof.plan.document import validation_document
from wireproof.plan.job import plan_validate
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
    assert msgspec.json.decode(msgspec.json.encode(found), type=Validation) == found
    text = document_text(validation_document(found))
    assert "rounds find a slowdown of 5 %" in text


def test_few_nodes_repeat_their_rounds() -> None:
    assert plan_validate(4, slowdown=0.1).check.rounds == 12  # 3 rounds, four times
    assert "some rounds repeat" in " ".join(plan_validate(4, noise=0.1).sentences)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"nodes": 0}, "--nodes is 0"),
        ({"nodes": 10**30}, "--nodes is about 10^30"),
        ({"slowdown": 0.0}, "--slowdown is 0"),
        ({"noise": float("nan")}, "--noise is nan"),
        ({"power": 1.0}, "--power is 1"),
        ({"metric": "godput"}, "did you mean 'goodput'"),
        ({"rounds": 0}, "--rounds is 0"),
    ],
)
def test_bad_input_is_one_sentence(options: dict[str, object], words: str) -> None:
    with pytest.raises(BadInput) as raised:
        plan_validate(**({"nodes": 100} | options))  # type: ignore[arg-type]
    assert words in str(raised.value)
