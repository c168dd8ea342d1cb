"""What one more sample may settle (a wide interval, too few bytes) is measured once more, longer,
and within a bounded time.
"""

from __future__ import annotations

import dataclasses
import time

import msgspec

from wireproof.instrument.measure import Outcome
from wireproof.model.errors import CouldNotMeasure
from wireproof.model.finding import Judgement
from wireproof.model.plan import Point
from wireproof.model.quantity import counted
from wireproof.report.judged_run import JudgedRun
from wireproof.verdict.run.repeated import may_settle, settled_by_repeats
from wireproof.workflow.reporter import Reporter
from wireproof.workflow.session.merge import merged_run
from wireproof.workflow.session.run import judged, run_session
from wireproof.workflow.session.session import Session
from wireproof.workflow.target.target import Target

__all__ = ["FIRST", "again", "open_points", "run_settled"]

AGAIN_S = 8.0
"""What all repeats together may take at most."""
LONGER = 3.0
"""Times the budget of a point that was open with it, if all repeats have the time."""
PAUSE_S = 1.0
"""Before the repeats: what disturbs is often short."""
FIRST = 2_000_000
"""First point number of the repeats; sweeps, rounds and confirm stages never get there."""


def open_points(session: Session, judgement: Judgement) -> tuple[Point, ...]:
    """The points that another sample may settle, as many as ``AGAIN_S`` allows; numbered anew, with
    a longer budget if that leaves time for all of them.
    """
    open_ = {pair.point for pair in judgement.pairs if may_settle(pair)}
    points = [point for point in session.points if point.id in open_]
    budgets_ms = [float(point.budget_ms or session.policy.point_budget_ms) for point in points]
    left_s = AGAIN_S
    longer = min(LONGER, max(1.0, left_s / (2e-3 * sum(budgets_ms)))) if points else 1.0
    found: list[Point] = []
    for point, budget_ms in zip(points, budgets_ms, strict=True):
        left_s -= 2e-3 * budget_ms * longer
        if left_s >= -1e-9:
            number, budget = FIRST + len(found), int(budget_ms * longer)
            found.append(
                msgspec.structs.replace(point, id=number, repeat=point.repeat + 1, budget_ms=budget)
            )
    return tuple(found)


def again(session: Session, points: tuple[Point, ...], reporter: Reporter) -> Session:
    """The session that measures the open ``points`` once more, after a pause."""
    what = counted(len(points), "point")
    reporter.say(
        f"{what} with a wide interval, above the ceiling or with too few bytes: measured again"
    )
    time.sleep(PAUSE_S)
    return dataclasses.replace(
        session,
        points=points,
        out=session.out and session.out.with_name(f"{session.out.name}-again"),
        title=f"{session.title}: the open points again",
        facts=(),
        launches=1,
    )


def run_settled(
    session: Session, target: Target, reporter: Reporter
) -> tuple[JudgedRun, list[Outcome]]:
    """``run_session``, and the open points once more: a point that passes then is settled."""
    section, outcomes = run_session(session, target, reporter)
    bounded = session.resume or session.until is not None or session.deadline_s is not None
    if bounded or session.plays_hosts or outcomes[-1].ending.ended != "done":
        return section, outcomes
    points = open_points(session, section.judgement)
    if not points:
        return section, outcomes
    try:
        more, repeated = run_session(again(session, points, reporter), target, reporter)
    except CouldNotMeasure as error:  # what was measured stands
        reporter.warn(f"the open points could not be measured again: {error}")
        return section, outcomes
    records = (*section.records, *more.records)
    whole = judged(merged_run([section.run, more.run]), session, records)
    judgement = settled_by_repeats(whole.judgement)
    settled = dataclasses.replace(whole, judgement=judgement, settled=True)
    return settled, [*outcomes, *repeated]
