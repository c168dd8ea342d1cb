"""A wide sample is settled by a repeat of its route that passes, and by nothing else."""

from typing import Any

import msgspec
import pytest

from wireproof.model.finding import Finding, Judgement, Node, PairVerdict, Route
from wireproof.report.judged_run import passing, results
from wireproof.verdict.run.quality import may_settle, settled_by_repeats


def pair(verdict: str, *codes: str, target: str = "b", **changes: Any) -> PairVerdict:
    ends = {"origin": 0, "target": 1, "origin_host": "a", "target_host": target}
    number = {"value": 1.0, "low": 0.9, "high": 1.1, "half_width": 0.1, "limit": 1.0}
    plain: dict[str, Any] = {"point": 1, "pattern": "stream", "message_bytes": 65536}
    plain |= {"unit": "bytes_per_s", "label": "stable", "proof": "on-wire"}
    return PairVerdict(verdict=verdict, codes=list(codes), **(plain | ends | number | changes))


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
    assert [one.settled for one in found.pairs] == [False, True], "the samples stay as they were"
    assert results(found) == [found.pairs[0]]
    assert (
        passing(found) == "1 of 1 results pass (1 sample that varied too much was measured again)"
    )


def test_a_repeat_that_passes_settles_a_lone_sample_above_the_ceiling() -> None:
    wide = pair("inconclusive", "above-ceiling", "unstable", value=1.1, high=1.5)
    found = settled_by_repeats(judged(pair("pass"), wide, code="above-ceiling"))
    assert (found.verdict, found.findings[0].severity) == ("pass", "warning")
    assert [one.settled for one in found.pairs] == [False, True]


FEW = {"proof": "unproven"}
WIDE = pair("inconclusive", "unstable")


def test_a_repeat_that_passes_settles_too_few_bytes() -> None:
    few = pair("inconclusive", "unproven-too-few-bytes", **FEW)
    found = settled_by_repeats(judged(pair("pass"), few, code="unproven-too-few-bytes"))
    assert (found.verdict, found.proof) == ("pass", "on-wire")
    assert [finding.severity for finding in found.findings] == ["warning"]


def test_too_few_bytes_stay_open_without_a_repeat_that_passes() -> None:
    for other in (
        pair("pass", message_bytes=8),
        pair("inconclusive", "unproven-too-few-bytes", **FEW),
        pair("inconclusive", "unstable"),
    ):
        few = pair("inconclusive", "unproven-too-few-bytes", **FEW)
        found = settled_by_repeats(judged(other, few, code="unproven-too-few-bytes"))
        assert (found.verdict, found.proof) != ("pass", "on-wire")


def test_too_few_bytes_each_time_stay_open_beside_larger_messages_that_are_proven() -> None:
    """Small messages may take another path than large ones."""
    few = pair("inconclusive", "unproven-too-few-bytes", message_bytes=8, **FEW)
    found = settled_by_repeats(judged(pair("pass"), few, few, code="unproven-too-few-bytes"))
    assert found.verdict == "inconclusive"
    assert not any(one.settled for one in found.pairs), "zero evidence never passes"


@pytest.mark.parametrize(
    ("row", "worth"),
    [
        (pair("inconclusive", "unproven-too-few-bytes", **FEW), True),
        (pair("inconclusive", "unproven-too-few-bytes", "unstable", **FEW), True),
        (pair("inconclusive", "below-expectation"), True),
        (pair("inconclusive", "above-ceiling"), True),
        (pair("inconclusive", "above-ceiling", "unstable", "oversubscribed"), True),
        (pair("fail", "above-ceiling"), False),
        (pair("inconclusive", "above-ceiling", proof="unproven"), False),
        (pair("inconclusive", "above-ceiling", "cache-shaped"), False),
        (pair("inconclusive", "unproven-too-few-bytes", "above-ceiling", **FEW), False),
        (pair("inconclusive", "background-traffic", **FEW), False),
        (pair("inconclusive", "unstable", **FEW), False),
        (pair("inconclusive"), False),
        (pair("fail", "below-expectation"), False),
        (pair("pass", "oversubscribed"), False),
        (pair("inconclusive", "slow-start", "oversubscribed"), True),
        (pair("inconclusive", "slow-start"), False),
    ],
)
def test_only_what_a_sample_may_settle_is_asked_again(row: PairVerdict, worth: bool) -> None:
    assert may_settle(row) is worth


OPEN = {
    "alone": judged(pair("inconclusive", "unstable")),
    "another route": judged(pair("pass", target="c"), WIDE),
    "another size": judged(pair("pass", message_bytes=8), WIDE),
    "no proof": judged(pair("pass"), pair("inconclusive", "unstable", "unproven-no-counters")),
    "too fast": judged(pair("pass"), pair("fail", "above-ceiling"), code="above-ceiling"),
    "too fast twice": judged(*[pair("inconclusive", "above-ceiling")] * 2),
    "too fast off the wire": judged(pair("pass"), pair("inconclusive", "above-ceiling", **FEW)),
    "a lost node": judged(pair("pass"), WIDE, code="node-missing", subject="c"),
    "off the wire": judged(pair("pass"), pair("fail", "off-wire")),
    "no reason": judged(pair("pass"), pair("inconclusive")),
    "unproven": judged(pair("pass"), pair("inconclusive", "unstable", **FEW)),
}


@pytest.mark.parametrize("judgement", OPEN.values(), ids=OPEN)
def test_nothing_else_does(judgement: Judgement) -> None:
    assert settled_by_repeats(judgement).verdict != "pass"


@pytest.mark.parametrize(
    ("per_million", "severity"), [(300.0, "warning"), (18_000.0, "inconclusive")]
)
def test_a_sample_that_passes_settles_no_link_that_loses_packets(
    per_million: float, severity: str
) -> None:
    """2 % of loss at a port of eight hosts passed: its wide samples were repeated, and passed."""
    judgement = judged(pair("inconclusive", "unstable"), pair("pass", point=2), code="packet-loss")
    (found,) = judgement.findings
    lost = {"evidence": {"per_million": per_million}, "subject": "a", "about": Node("a")}
    judgement.findings[0] = msgspec.structs.replace(found, **lost)
    settled = settled_by_repeats(judgement)
    assert settled.findings[0].severity == severity
    assert settled.verdict == ("pass" if severity == "warning" else "inconclusive")
