"""Nothing above the line rate passes, whatever tolerance stands on top of the ceiling."""

import msgspec
import pytest
from tests.logs.tables import codes, pingpong, stream

from wireproof.logs.verdict import judge_series
from wireproof.model.claim import Criteria
from wireproof.physics import claim_from_text, link_names

NAMES = [name for name in link_names() if name not in ("shm", "loopback")]


@pytest.mark.parametrize("name", NAMES)
def test_no_stream_above_the_line_passes(name: str) -> None:
    link = claim_from_text(name)
    if not link.line_rate:
        pytest.skip("a family without a rate has no line")
    line = link.line_rate / 8e6
    for over in (1.0005, 1.004, 1.01, 1.019):
        found = judge_series(stream({1 << 20: over * line, 1 << 22: over * line}), link)
        assert found.verdict == "fail", (over, found.reasons)
        both = stream({1 << 22: 2 * over * line}, traffic="exchange", directions=2)
        assert judge_series(both, link).verdict == "fail", over
        waited = pingpong({1 << 26: (1 << 26) / (over * line)})
        assert judge_series(waited, link).verdict == "fail", over


def test_a_wider_tolerance_does_not_lift_the_line() -> None:
    link, wide = claim_from_text("1gbe"), Criteria(ceiling_tolerance=0.5)
    found = judge_series(stream({1 << 20: 125.5}), link, criteria=wide)
    assert codes(found, "fail") == {"above-ceiling"}


def test_what_rounding_hides_is_no_excess() -> None:
    coarse = stream({1 << 20: 126.0})
    points = [msgspec.structs.replace(one, goodput_step=4e6) for one in coarse.points]
    found = judge_series(msgspec.structs.replace(coarse, points=points), claim_from_text("1gbe"))
    assert "above-ceiling" not in codes(found)
