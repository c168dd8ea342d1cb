"""The confirm stage of a port: the slower it is, the fewer looks it gets with each partner."""

import dataclasses

import numpy as np
import pytest
from tests.locate.test_screen import samples_from

from wireproof.locate.screen import screen
from wireproof.measure.schedule import screen_rounds
from wireproof.measure.session.screen_plan import confirm_points
from wireproof.target import Target

HOSTS = tuple(f"n{number}" for number in range(1, 9))


def confirmed_pairs(share: float) -> dict[frozenset[int], int]:
    """How often each pair is streamed alone when n4 sends at ``share`` of what the others reach."""
    ends = [(a, b, i) for i, pairs in enumerate(screen_rounds(8, None, 1)) for a, b in pairs]
    ends += [(b, a, i) for a, b, i in ends]
    noise = np.exp(np.random.default_rng(5).normal(0.0, 0.01, len(ends)))
    rows = [
        (*end, 1e7 * (share if end[0] == 3 else 1.0) * x)
        for end, x in zip(ends, noise, strict=True)
    ]
    samples = dataclasses.replace(samples_from(rows, 8), nodes=HOSTS)
    place = Target(hosts=HOSTS, start_on=HOSTS, ranks=8)
    found: dict[frozenset[int], int] = {}
    for point in confirm_points([screen(samples)], place, None, seed=1)[0]:
        for pair in point.pairs if point.pattern == "stream" else ():
            found[frozenset(pair)] = found.get(frozenset(pair), 0) + 1
    return found


@pytest.mark.parametrize(("share", "repeats"), [(0.01, 2), (0.5, 3), (0.7, 5)])
def test_the_slower_a_port_the_fewer_looks_it_needs(share: float, repeats: int) -> None:
    """The pairs that say what is to be expected now: three times at least."""
    found = confirmed_pairs(share)
    own = [count for pair, count in found.items() if 3 in pair]
    assert own == [2 * repeats] * 3, "each direction, with three partners"
    others = {count for pair, count in found.items() if 3 not in pair}
    assert others == {2 * max(3, repeats)}
