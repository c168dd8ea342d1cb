"""Whatever was measured with whomever: an answer that adds up, and never a crash."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.locate.test_screen import samples_from

from wireproof.locate.confirm import conclude
from wireproof.locate.samples import Samples
from wireproof.locate.screen import screen
from wireproof.model.located import Attachment, Cable, Fabric, Metric

NODES = 7
Row = tuple[int, int, int, float]

rows = st.lists(
    st.tuples(
        st.integers(0, NODES - 1),
        st.integers(1, NODES - 1),
        st.integers(0, 3),
        st.floats(1e-3, 1e12),
    ),
    max_size=60,
)
metrics = st.sampled_from(["goodput", "hrt"])
leaves = st.none() | st.lists(
    st.sampled_from(["", "leaf0", "leaf1", "leaf2"]), min_size=NODES, max_size=NODES
)


def _samples(metric: Metric, table: list[Row]) -> Samples:
    """Rows as samples; the second number is the distance to the target, so that nobody measures
    with itself.
    """
    rows = [(a, (a + step) % NODES, number, value) for a, step, number, value in table]
    return samples_from(rows, NODES, metric)


def _fabric(names: list[str] | None) -> Fabric | None:
    if names is None:
        return None
    return Fabric(
        attachments=tuple(
            Attachment(node=f"n{number}", switch=name) for number, name in enumerate(names) if name
        ),
        levels={"leaf0": 1, "leaf1": 1, "leaf2": 1, "spine": 2},
        cables=tuple(Cable(one=name, other="spine") for name in ("leaf0", "leaf1")),
    )


@settings(max_examples=50, deadline=None)
@given(metrics, rows, rows, leaves)
def test_any_samples_have_an_answer(
    metric: Metric, first: list[Row], second: list[Row], names: list[str] | None
) -> None:
    samples, fabric = _samples(metric, first), _fabric(names)
    screened = screen(samples, fabric)
    for located in (
        screened.located,
        conclude(screened, None),
        conclude(screened, _samples(metric, second)),
    ):
        assert located.samples == len(first)
        assert (
            located.measured + sum(said == "no sample" for said in located.missing.values())
            == NODES
        )
        assert math.isfinite(located.noise)
        assert located.detectable >= 0.0
        assert sum(tier.samples for tier in located.tiers) == len(first)
        for one in located.blames:
            assert one.low <= one.slowdown <= one.high
            assert 0.0 <= one.confidence < 1.0
            assert one.value > 0 < one.expected
            assert set(one.nodes) <= set(samples.nodes)
    assert not {name for one in screened.suspects for name in one.nodes} & set(screened.good)


@settings(max_examples=20, deadline=None)
@given(st.integers(3, NODES), st.floats(0.05, 0.9), st.floats(1e3, 1e12))
def test_the_unit_does_not_matter(nodes: int, share: float, rate: float) -> None:
    """The same shares of any rate name the same culprit."""
    table: list[Row] = [
        (a, (b - a) % NODES, 0, rate * (share if a == 1 else 1.0))
        for a in range(nodes)
        for b in range(nodes)
        if a != b
    ]
    screened = screen(_samples("goodput", table))
    suspects = {one.nodes[0] for one in screened.suspects}
    assert suspects <= {"n1"}
    assert suspects or share > 0.8
