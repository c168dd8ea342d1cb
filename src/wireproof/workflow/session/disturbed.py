"""Measures points once more, longer and within a bounded time, if another sample may settle them (a
wide interval, too few bytes).
"""

from __future__ import annotations

import dataclasses
import operator
import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from wireproof.instrument import Outcome
from wireproof.model.errors import CouldNotMeasure
from wireproof.model.finding import Judgement, PairVerdict
from wireproof.model.plan import Point
from wireproof.model.quantity import counted
from wireproof.workflow.reporter import Reporter
from wireproof.workflow.session import Session
from wireproof.workflow.session.merge import merged_run
from wireproof.workflow.session.run import judged, run_session
from wireproof.workflow.target import Target

if TYPE_CHECKING:
    from wireproof.report.judged_run import JudgedRun

AGAIN_S = 12.0
"""Longest time of all repeats together in s."""
LONGER = 6.0
"""Factor on the budget of an open point, if there is time for all repeats; a point that moved too
few bytes gets the time that it needs.
"""
LEAST_LONGER = 3.0
_COST = 1.3e-3
"""Duration of a point in s for each ms of its budget."""
_SPARE = 1.5
PAUSE_S = 1.0
"""Pause before the repeats in s, because disturbances are often short."""
FIRST = 2_000_000
"""First point number of the repeats, above those of sweeps, rounds and confirm stages."""


def open_points(session: Session, judgement: Judgement) -> tuple[Point, ...]:
    """Return a point for each measurement that another sample may settle, as many as ``AGAIN_S``
    allows, renumbered and with a longer budget if there is time for all. Pairs whose processes
    waited for a processor are measured alone, so that they do not compete. Empty if the verdict
    stays open in any case.
    """
    from wireproof.verdict.run.quality import may_settle

    if _stays_open(judgement):
        return ()
    planned = {point.id: point for point in session.points}
    pairs: dict[object, list[PairVerdict]] = {}
    seen: set[object] = set()
    for pair in judgement.pairs:
        same = pair.origin, pair.target, pair.pattern, pair.form, pair.message_bytes
        if may_settle(pair) and pair.point in planned and same not in seen:
            seen.add(same)
            alone = "oversubscribed" in pair.codes
            pairs.setdefault(same if alone else pair.point, []).append(pair)
    groups = list(pairs.values())
    budgets_ms = [
        float(planned[group[0].point].budget_ms or session.policy.point_budget_ms)
        for group in groups
    ]
    times = _longer(groups, budgets_ms, session.criteria.min_payload_bytes)
    left_s = AGAIN_S
    points: list[Point] = []
    for group, budget_ms in zip(groups, map(operator.mul, budgets_ms, times), strict=True):
        left_s -= _COST * budget_ms
        if left_s >= -1e-9:
            point = planned[group[0].point]
            points.append(
                msgspec.structs.replace(
                    point,
                    id=FIRST + len(points),
                    pairs=tuple((pair.origin, pair.target) for pair in group),
                    repeat=point.repeat + 1,
                    budget_ms=int(budget_ms),
                )
            )
    return tuple(points)


def _stays_open(judgement: Judgement) -> bool:
    """Return whether no repeat can decide: without a known rate only the directions can be
    compared.
    """
    codes = {finding.code for finding in judgement.findings if finding.severity == "inconclusive"}
    relative = codes & {"direction-slow", "node-direction-slow"}
    return "rank-lost" in codes or ("no-limit-known" in codes and not relative)


def _longer(
    groups: Sequence[Sequence[PairVerdict]], budgets_ms: Sequence[float], least_bytes: int
) -> list[float]:
    """Return the factor on each budget: what too few bytes need, else what is left of ``AGAIN_S``
    for all.
    """
    needed = [max(map(partial(_needed, least_bytes), group)) for group in groups]
    costs_s = [_COST * budget for budget in budgets_ms]
    fixed_s = sum(cost * more for cost, more in zip(costs_s, needed, strict=True) if more)
    others_s = sum(cost for cost, more in zip(costs_s, needed, strict=True) if not more)
    free = (AGAIN_S - fixed_s) / others_s if others_s else 1.0
    return [more or min(LONGER, max(1.0, free)) for more in needed]


def _needed(least_bytes: int, pair: PairVerdict) -> float:
    """Return the factor on its budget that a pair needs to move ``least_bytes``; 0 if it moved
    enough.
    """
    from wireproof.verdict.run.quality import too_few_bytes

    if not too_few_bytes(pair):
        return 0.0
    times = _SPARE * least_bytes / max(1, pair.expected_bytes or 0)
    return min(LONGER, max(LEAST_LONGER, times))


def again(session: Session, points: tuple[Point, ...], reporter: Reporter) -> Session:
    """Return the session that measures the open ``points`` once more, after a pause."""
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
    """Run the session, then the open points once more; a point that passes then is settled."""
    section, outcomes = run_session(session, target, reporter)
    bounded = session.resume or session.until is not None or session.deadline_s is not None
    if bounded or session.plays_hosts or outcomes[-1].ending.ended != "done":
        return section, outcomes
    is_open = section.judgement.verdict == "inconclusive"
    points = open_points(session, section.judgement) if is_open else ()
    if not points:
        return section, outcomes
    try:
        more, repeated = run_session(again(session, points, reporter), target, reporter)
    except CouldNotMeasure as error:  # the first measurement stands
        reporter.warn(f"the open points could not be measured again: {error}")
        return section, outcomes
    from wireproof.verdict.run.quality import settled_by_repeats

    records = (*section.records, *more.records)
    whole = judged(merged_run([section.run, more.run]), session, records)
    judgement = settled_by_repeats(whole.judgement)
    settled = dataclasses.replace(whole, judgement=judgement, settled=True)
    return settled, [*outcomes, *repeated]
