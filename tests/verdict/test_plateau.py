"""What the streams say of a link: only those that did not go another way."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from tests.synthetic import run_of
from tests.verdict.test_margins import SMALL

from wireproof.model.claim import Criteria
from wireproof.model.finding import Proof
from wireproof.verdict.context import context
from wireproof.verdict.run.plateau import LongStreams

SIZES = (1 << 17, 1 << 19, 1 << 20)
RUN = run_of(replace(SMALL, sizes=SIZES, patterns=("stream",)))


def streams(proof: Proof, at: tuple[int, ...] = SIZES) -> LongStreams:
    """The good streams of a run; those of the sizes ``at`` have this proof."""
    found: list[Any] = [
        ((point, pair), proof if point.message_bytes in at else "on-wire")
        for point in RUN.points
        for pair in point.pairs
    ]
    return LongStreams(context(RUN, Criteria(), None, None), found)


@pytest.mark.parametrize("proof", ["on-wire", "unproven"])
def test_streams_that_nothing_refutes_fill_the_link(proof: Proof) -> None:
    found = streams(proof)
    assert found.filled((0, 1))
    assert found.steady((0, 1))
    assert found.reached_beside((0, 1), SIZES[1]) >= 0.9


@pytest.mark.parametrize("proof", ["off-wire", "wrong-path", "mixed"])
def test_what_went_another_way_says_nothing_of_the_link(proof: Proof) -> None:
    found = streams(proof)
    assert not found.filled((0, 1))
    assert not found.steady((0, 1))
    assert found.reached_beside((0, 1), SIZES[1]) == 0.0


def test_a_size_that_went_through_memory_excuses_no_neighbour() -> None:
    found = streams("off-wire", at=(SIZES[2],))
    assert found.filled((0, 1)), "the other sizes crossed"
    assert not found.steady((0, 1))
    assert found.reached_beside((0, 1), SIZES[1]) == 0.0


def slowed(
    factor: float, waited: float, *, back: float, sizes: int = 3, noise: float = 0.0
) -> bool:
    """Whether the direction 1 -> 0 is capped if it takes ``factor`` times as long and its processes
    wait for ``waited`` of the time, and for ``back`` of it in the other direction.
    """
    found: list[Any] = []
    for point in RUN.points:
        for pair in point.pairs:
            if point.message_bytes not in SIZES[:sizes]:
                continue
            mine = (pair.origin, pair.target) == (1, 0)
            times = [
                one * (factor * (1 + noise * (at // 4 % 3)) if mine else 1.0)
                for at, one in enumerate(pair.batch_ns)
            ]
            share = waited if mine else back
            one = msgspec.structs.replace(
                pair,
                batch_ns=times,
                estimate=None,
                target_elapsed_ns=0.0,
                origin_waited_ns=share * sum(times),
            )
            found.append(((point, one), "on-wire"))
    return LongStreams(context(RUN, Criteria(), None, None), found).capped((1, 0))


def test_no_wait_explains_a_plateau_at_half_of_the_other_direction() -> None:
    assert slowed(2.0, 0.8, back=0.8)
    assert slowed(2.0, 0.85, back=0.8), "a longer wait explains a quarter, not a half"


def test_a_direction_is_not_capped_if_a_wait_may_explain_it() -> None:
    assert not slowed(1.0, 0.8, back=0.8), "as quick as the other"
    assert not slowed(2.0, 0.8, back=0.5), "its processes ran for less than half of the time"
    assert not slowed(2.0, 0.8, back=0.8, noise=0.2), "it keeps to no rate"
    assert not slowed(2.0, 0.8, back=0.8, sizes=1), "a single size may be the protocol's"
