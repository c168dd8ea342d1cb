"""What one more sample may settle is measured once more, and nothing else is."""

from typing import Any

import pytest
from tests.changed_runs import set_
from tests.synthetic import run_of
from tests.verdict.test_margins import STREAM, TRUE, interval, slower, waiting

from wireproof.measure.session import Session
from wireproof.measure.session.again import AGAIN_S, FIRST, LEAST_LONGER, LONGER, open_points
from wireproof.model.finding import Finding
from wireproof.model.plan import Point, Policy
from wireproof.model.run import Run
from wireproof.verdict.run import judge
from wireproof.verdict.run.quality import settled_by_repeats


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
