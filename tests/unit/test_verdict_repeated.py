"""A wide sample is settled by a repeat of its route that passes, and by nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from wireproof.model.finding import Finding, Judgement, PairVerdict
from wireproof.model.subject import Node, Route
from wireproof.verdict.run.repeated import settled_by_repeats


def pair(verdict: str, *codes: str, target: str = "b", **changes: Any) -> PairVerdict:
    plain: dict[str, Any] = {
        "point": 1,
        "pattern": "stream",
        "message_bytes": 65536,
        "origin": 0,
        "target": 1,
        "origin_host": "a",
        "target_host": target,
        "unit": "bytes_per_s",
        "value": 1.0,
        "low": 0.9,
        "high": 1.1,
        "half_width": 0.1,
        "label": "stable",
        "proof": "on-wire",
        "verdict": verdict,
        "limit": 1.0,
        "codes": list(codes),
    }
    return PairVerdict(**(plain | changes))


def judged(*pairs: PairVerdict, code: str = "unstable", subject: str = "a -> b") -> Judgement:
    about = Node(subject) if subject == "c" else Route("a", "b")
    finding = Finding(
        code=code, severity="inconclusive", message="wide", subject=subject, about=about
    )
    return Judgement(verdict="inconclusive", proof="on-wire", findings=[finding], pairs=list(pairs))


def test_a_repeat_that_passes_settles_a_wide_sample() -> None:
    found = settled_by_repeats(
        judged(pair("pass"), pair("inconclusive", "oversubscribed", "unstable"))
    )
    assert found.verdict == "pass"
    assert [finding.severity for finding in found.findings] == ["warning"]
    assert len(found.pairs) == 2, "the results stay as they were"


@pytest.mark.parametrize(
    "judgement",
    [
        judged(pair("inconclusive", "unstable")),
        judged(pair("pass", target="c"), pair("inconclusive", "unstable")),
        judged(pair("pass", message_bytes=8), pair("inconclusive", "unstable")),
        judged(pair("pass"), pair("inconclusive", "unstable", "unproven-no-counters")),
        judged(pair("pass"), pair("inconclusive", "above-ceiling"), code="above-ceiling"),
        judged(pair("pass"), pair("inconclusive", "unstable"), code="node-missing", subject="c"),
        judged(pair("pass"), pair("fail", "off-wire")),
        judged(pair("pass"), pair("inconclusive")),
        judged(pair("pass"), pair("inconclusive", "unstable", proof="unproven")),
    ],
    ids=[
        "alone",
        "another route",
        "another size",
        "no proof",
        "too fast",
        "a lost node",
        "off the wire",
        "no reason",
        "unproven",
    ],
)
def test_nothing_else_does(judgement: Judgement) -> None:
    assert settled_by_repeats(judgement).verdict != "pass"
