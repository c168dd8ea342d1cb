"""A wide sample is settled by a repeat of its route that passes, and by nothing else."""

from typing import Any

import msgspec
import pytest
from tests.changed_runs import set_
from tests.synthetic import run_of
from tests.verdict.test_margins import STREAM, TRUE, interval, slower, waiting

from wireproof.measure.session import Session
from wireproof.measure.session.again import AGAIN_S, FIRST, LEAST_LONGER, LONGER, open_points
from wireproof.model.finding import Finding, Judgement, Node, PairVerdict, Route
from wireproof.model.plan import Point, Policy
from wireproof.model.run import Run
from wireproof.report.judged_run import passing, results
from wireproof.verdict.run import judge
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


# --- What one more sample may settle is measured once more, and nothing else is.


def wish(run: Run, **more: Any) -> Session:
    points = tuple(
        Point(
            id=p.id, pattern=p.pattern, form=p.form, message_bytes=p.message_bytes, pairs=((0, 1),)
        )
        for p in run.points
    )
    return Session(title="", seed=1, points=points, **more)


def test_open_points_are_measured_again_within_their_time() -> None:
    run = waiting(slower(run_of(STREAM), 1.5), 0.3)
    again = open_points(wish(run), judge(run))
    assert [point.id for point in again] == [FIRST, FIRST + 1]
    assert {point.repeat for point in again} == {1}
    assert sum(point.budget_ms or 0 for point in again) <= AGAIN_S * 1e3, (
        "for both, with what is beside"
    )
    assert len({point.budget_ms for point in again}) == 1
    assert (again[0].budget_ms or 0) > Policy().point_budget_ms
    assert (
        open_points(wish(run, policy=Policy(point_budget_ms=round(AGAIN_S * 1e3))), judge(run))
        == ()
    )


def test_a_lone_point_with_too_few_bytes_is_measured_again_and_longer() -> None:
    run = run_of(STREAM)
    judgement = judge(run)
    few = [
        set_(pair, verdict="inconclusive", proof="unproven", codes=["unproven-too-few-bytes"])
        if pair.point == run.points[0].id
        else pair
        for pair in judgement.pairs
    ]
    again = open_points(wish(run), set_(judgement, pairs=few))
    assert [(point.id, point.message_bytes) for point in again] == [
        (FIRST, run.points[0].message_bytes)
    ]
    assert again[0].budget_ms == LEAST_LONGER * Policy().point_budget_ms
    none = [set_(pair, expected_bytes=10) for pair in few]
    slow = open_points(wish(run), set_(judgement, pairs=none))
    assert slow[0].budget_ms == LONGER * Policy().point_budget_ms, "at its pace, and bounded"


def test_pairs_that_waited_for_a_processor_are_measured_again_alone_and_once() -> None:
    run = run_of(STREAM)
    pairs = ((0, 1), (2, 3))
    points = tuple(
        Point(id=n, pattern="stream", form="", message_bytes=1 << 20, pairs=pairs) for n in (0, 1)
    )
    row = judge(run).pairs[0]

    def open_(*codes: str) -> list[tuple[tuple[int, int], ...]]:
        rows = [
            set_(
                row, point=n, origin=a, target=b, verdict="inconclusive", codes=["unstable", *codes]
            )
            for n in (0, 1)
            for a, b in pairs
        ]
        session = Session(title="", seed=1, points=points)
        return [one.pairs for one in open_points(session, set_(judge(run), pairs=rows))]

    assert open_() == [pairs]
    assert open_("oversubscribed") == [((0, 1),), ((2, 3),)]


@pytest.mark.parametrize(
    ("median", "high", "asked"), [(0.93, 0.99, True), (0.93, 1.3, True), (0.5, 0.51, False)]
)
def test_a_point_whose_interval_reaches_down_to_the_ceiling_is_measured_again(
    median: float, high: float, asked: bool
) -> None:
    run = interval(run_of(STREAM), median * TRUE, 0.99 * median * TRUE, high * TRUE)
    quick = [set_(point, elapsed_ns=point.elapsed_ns * median) for point in run.points]
    run = set_(run, points=quick)
    judgement = judge(run)
    assert "above-ceiling" in {finding.code for finding in judgement.findings}
    assert bool(open_points(wish(run), judgement)) is asked


@pytest.mark.parametrize("waited", [0.0, 0.01])
def test_what_is_slow_without_a_disturbance_is_not_asked_again(waited: float) -> None:
    run = waiting(slower(run_of(STREAM), 1.5), waited)
    assert open_points(wish(run), judge(run)) == ()
    good = waiting(run_of(STREAM), 0.3)
    assert open_points(wish(good), judge(good)) == ()


def twice(first: Run, second: Run) -> Run:
    more = [set_(point, id=FIRST + point.id, repeat=1) for point in second.points]
    return set_(
        first, points=[*first.points, *more], close=set_(first.close, points=2 * len(first.points))
    )


def test_a_repeat_settles_what_was_disturbed_and_confirms_what_is_slow() -> None:
    disturbed = waiting(slower(run_of(STREAM), 1.5), 0.3)
    settled = settled_by_repeats(judge(twice(disturbed, run_of(STREAM))))
    assert settled.verdict == "pass", settled.findings
    assert judge(twice(disturbed, slower(run_of(STREAM), 1.5))).verdict == "fail"
    still = settled_by_repeats(judge(twice(disturbed, disturbed)))
    assert still.verdict == "inconclusive"


def test_repeats_of_one_route_are_judged_together() -> None:
    """Nine healthy labs of ten stayed undecided because each sample alone straddled 90 %."""
    wide = interval(run_of(STREAM), 1.05 * TRUE, 0.95 * TRUE, 1.25 * TRUE)
    assert judge(wide).verdict == "inconclusive", "one sample has nobody to speak for it"
    assert judge(twice(wide, wide)).verdict == "pass", "the batches of both lie above 90 %"
    slow = interval(run_of(STREAM), 1.2 * TRUE, TRUE, 1.4 * TRUE)
    assert [judge(one).verdict for one in (slow, twice(slow, slow))] == ["inconclusive", "fail"]


def test_nothing_is_measured_again_if_the_verdict_stays_open_in_any_case() -> None:
    """A screen that has lost a host took 7 s more, and a link of 10 Mb/s that nobody claims a
    minute, to be as open as before.
    """
    run = waiting(slower(run_of(STREAM), 1.5), 0.3)
    judgement = judge(run)

    def asked(*codes: str) -> int:
        more = [Finding(code=code, severity="inconclusive", message="") for code in codes]
        known = [one for one in judgement.findings if one.code != "direction-slow"]
        return len(open_points(wish(run), set_(judgement, findings=[*known, *more])))

    assert asked() == asked("no-limit-known", "direction-slow") == 2
    assert asked("rank-lost") == asked("no-limit-known") == 0
