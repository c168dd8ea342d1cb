"""What the streams say of a link: only those that did not go another way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.synthetic import run_of
from tests.unit.test_verdict_margins import SMALL

from wireproof.model.claim import Criteria
from wireproof.model.finding import Proof
from wireproof.verdict.context import context
from wireproof.verdict.run.plateau import Streams

SIZES = (1 << 17, 1 << 19, 1 << 20)
RUN = run_of(replace(SMALL, sizes=SIZES, patterns=("stream",)))


def streams(proof: Proof, at: tuple[int, ...] = SIZES) -> Streams:
    """The good streams of a run; those of the sizes ``at`` have this proof."""
    found: list[Any] = [
        ((point, pair), proof if point.message_bytes in at else "on-wire")
        for point in RUN.points
        for pair in point.pairs
    ]
    return Streams(context(RUN, Criteria(), None, None), found)


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
