"""The confirm stage of a port that is all but dead: looked at twice with each partner, not five
times.
"""

from __future__ import annotations

import numpy as np

from wireproof.locate.samples import Samples
from wireproof.locate.screen.sweep import screen
from wireproof.plan.schedule import screen_rounds
from wireproof.workflow.session.screen_plan import confirm_points
from wireproof.workflow.target.target import Target

HOSTS = tuple(f"n{number}" for number in range(1, 9))


def confirmed_pairs(share: float) -> dict[frozenset[int], int]:
    """How often each pair is streamed alone when n4 sends at ``share`` of what the others reach."""
    ends = [(a, b, i) for i, pairs in enumerate(screen_rounds(8, None, 1)) for a, b in pairs]
    ends += [(b, a, i) for a, b, i in ends]
    noise = np.random.default_rng(5).normal(0.0, 0.01, len(ends))
    value = np.array([1e7 * (share if a == 3 else 1.0) for a, _, _ in ends]) * np.exp(noise)
    samples = Samples(
        nodes=HOSTS,
        metric="goodput",
        origin=np.array([a for a, _, _ in ends]),
        target=np.array([b for _, b, _ in ends]),
        round=np.array([i for _, _, i in ends]),
        value=value,
        half_width=np.full(len(ends), 0.01),
    )
    place = Target(hosts=HOSTS, start_on=HOSTS, ranks=8)
    found: dict[frozenset[int], int] = {}
    for point in confirm_points([screen(samples)], place, None, seed=1)[0]:
        for pair in point.pairs if point.pattern == "stream" else ():
            found[frozenset(pair)] = found.get(frozenset(pair), 0) + 1
    return found


def test_a_port_at_one_percent_is_looked_at_twice_a_partner_and_the_controls_five_times() -> None:
    found = confirmed_pairs(0.01)
    own = [count for pair, count in found.items() if 3 in pair]
    assert own == [4, 4, 4], "two repeats, each direction, with three partners"
    assert {count for pair, count in found.items() if 3 not in pair} == {10}


def test_a_port_at_half_is_looked_at_five_times() -> None:
    assert set(confirmed_pairs(0.5).values()) == {10}
