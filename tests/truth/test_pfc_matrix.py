"""Every adapter in every situation: what is planted is found, and nothing else passes."""

import pytest
from tests.zoo.pfc_adapters import ADAPTERS, LOSSLESS
from tests.zoo.pfc_worlds import SITUATIONS, record_of

from wireproof.pfc.job import judged

PASSING = {"lossless", "wrapped"}


def _shown_by(situation, adapter) -> bool:
    """Whether the adapter has counters for what is planted."""
    own = {
        "lost": not adapter.lost.startswith("ip/"),  # what TCP sends again may only be late
        "no-xon": "xon-xoff" in adapter.proves and adapter.shows_no_xon,
        "sent": adapter.by_priority and adapter.key != "ionic",
        "rate": adapter.by_priority and adapter.rated,
    }
    return all(own.get(need, need in adapter.proves) for need in situation.needs)


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda one: one.key)
@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda one: one.key)
def test_the_planted_situation_is_found(adapter, situation):
    report = judged(record_of(adapter, situation.world), LOSSLESS)
    codes = {one.code for one in report.findings}
    if situation.key not in PASSING or not adapter.able:
        assert report.verdict != "pass"
        assert codes, "a report that does not pass says why"
    else:
        assert report.verdict == "pass", report.findings
    if _shown_by(situation, adapter):
        if situation.code:
            assert situation.code in codes
        if situation.verdict == "fail":
            assert report.verdict == "fail"
    elif situation.verdict == "fail":
        assert report.verdict in ("fail", "inconclusive")
    if situation.verdict != "fail":
        assert report.verdict != "fail", report.findings
