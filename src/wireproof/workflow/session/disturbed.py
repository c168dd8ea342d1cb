"""What other work on the hosts kept open is measured once more, within a bounded time."""

from __future__ import annotations

import dataclasses
import time

import msgspec

from wireproof.instrument.measure import Outcome
from wireproof.model.errors import CouldNotMeasure
from wireproof.model.finding import Judgement
from wireproof.model.plan import Point
from wireproof.model.quantity import counted
from wireproof.report.section import Section
from wireproof.verdict.run.repeated import settled_by_repeats
from wireproof.workflow.reporter import Reporter
from wireproof.workflow.session.merge import merged_run
from wireproof.workflow.session.run import judged, run_session
from wireproof.workflow.session.session import Session
from wireproof.workflow.target.target import Target

__all__ = ["disturbed_points", "run_settled"]

AGAIN_S = 8.0
"""What all repeats together may take at most."""
PAUSE_S = 1.0
"""Before the repeats: what disturbs is often short."""
FIRST = 2_000_000
"""First point number of the repeats; sweeps, rounds and confirm stages never get there."""


def disturbed_points(session: Session, judgement: Judgement) -> tuple[Point, ...]:
    """The points whose hosts were disturbed and that are open for it, as many as ``AGAIN_S``
    allows; numbered anew.
    """
    open_ = {
        pair.point
        for pair in judgement.pairs
        if pair.verdict == "inconclusive"
        and pair.proof == "on-wire"
        and "oversubscribed" in pair.codes
    }
    found: list[Point] = []
    left_s = AGAIN_S
    for point in session.points:
        left_s -= (
            2e-3 * (point.budget_ms or session.policy.point_budget_ms) if point.id in open_ else 0.0
        )
        if point.id in open_ and left_s >= 0:
            found.append(
                msgspec.structs.replace(point, id=FIRST + len(found), repeat=point.repeat + 1)
            )
    return tuple(found)


def run_settled(
    session: Session, target: Target, reporter: Reporter
) -> tuple[Section, list[Outcome]]:
    """``run_session``, and the disturbed points once more: a point that passes then is settled."""
    section, outcomes = run_session(session, target, reporter)
    bounded = session.resume or session.until is not None or session.deadline_s is not None
    if bounded or session.plays_hosts or outcomes[-1].ending.ended != "done":
        return section, outcomes
    points = disturbed_points(session, section.judgement)
    if not points:
        return section, outcomes
    reporter.say(
        f"{counted(len(points), 'point')} disturbed by other work on the hosts: measured again"
    )
    time.sleep(PAUSE_S)
    again = dataclasses.replace(
        session,
        points=points,
        out=session.out and session.out.with_name(f"{session.out.name}-again"),
        title=f"{session.title}: the disturbed points again",
        facts=(),
        launches=1,
    )
    try:
        more, repeated = run_session(again, target, reporter)
    except CouldNotMeasure as error:  # what was measured stands
        reporter.warn(f"the disturbed points could not be measured again: {error}")
        return section, outcomes
    records = (*section.records, *more.records)
    whole = judged(merged_run([section.run, more.run]), session, records)
    judgement = settled_by_repeats(whole.judgement)
    settled = dataclasses.replace(whole, judgement=judgement, settled=True)
    return settled, [*outcomes, *repeated]
