"""Measure again, within a bounded time: points that another sample may decide (a wide interval, too
few bytes), and the suspects of a screen of many nodes, each alone.
"""

from __future__ import annotations

import dataclasses
import operator
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from wireproof.audit.job import settings_by_id
from wireproof.instrument import Outcome
from wireproof.measure.points import numbered
from wireproof.measure.session import Session
from wireproof.measure.session.campaign import CampaignResult
from wireproof.measure.session.merge import merged_run
from wireproof.measure.session.run import campaign_run, judged, run_session
from wireproof.measure.session.screen_plan import confirm_points, crowded
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.finding import Judgement, PairVerdict
from wireproof.model.located import Fabric, Metric
from wireproof.model.plan import Point
from wireproof.model.quantity import counted
from wireproof.model.run import Run
from wireproof.report.names import fold
from wireproof.report.reporter import Reporter
from wireproof.store.load import load_document
from wireproof.target import Target

if TYPE_CHECKING:
    from wireproof.locate.screen.screened import Screened
    from wireproof.report.judged_run import JudgedRun

T = TypeVar("T")
AGAIN_S = 12.0
"""Time limit for all repeats together in s."""
LONGER = 6.0
"""Factor on the budget of an undecided point, if there is time for all repeats; a point that moved
too few bytes gets the time that it needs.
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
    """Return a point for each measurement that another sample may decide, as many as ``AGAIN_S``
    allows, renumbered and with a longer budget if there is time for all. Pairs whose processes
    waited for a processor are measured alone, so that they do not compete. Return no points if the
    verdict stays undecided in any case.
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
    """Return the factor on each budget: the factor that points with too few bytes need, else the
    factor that the rest of ``AGAIN_S`` allows for all.
    """
    needed = [max(map(partial(_needed, least_bytes), group)) for group in groups]
    costs_s = [_COST * budget for budget in budgets_ms]
    fixed_s = sum(cost * more for cost, more in zip(costs_s, needed, strict=True) if more)
    others_s = sum(cost for cost, more in zip(costs_s, needed, strict=True) if not more)
    free = (AGAIN_S - fixed_s) / others_s if others_s else 1.0
    return [more or min(LONGER, max(1.0, free)) for more in needed]


def _needed(least_bytes: int, pair: PairVerdict) -> float:
    """Return the factor on its budget with which a pair moves ``least_bytes``; 0 if it moved
    enough.
    """
    from wireproof.verdict.run.quality import too_few_bytes

    if not too_few_bytes(pair):
        return 0.0
    times = _SPARE * least_bytes / max(1, pair.expected_bytes or 0)
    return min(LONGER, max(LEAST_LONGER, times))


def again(session: Session, points: tuple[Point, ...], reporter: Reporter) -> Session:
    """Return the session that measures the undecided ``points`` once more, after a pause."""
    what = counted(len(points), "point")
    reporter.say(
        f"measuring again {what} with a wide interval, above the ceiling or with too few bytes"
    )
    time.sleep(PAUSE_S)
    return dataclasses.replace(
        session,
        points=points,
        out=session.out and session.out.with_name(f"{session.out.name}-again"),
        title=f"{session.title}: the undecided points again",
        facts=(),
        launches=1,
    )


def run_settled(
    session: Session, target: Target, reporter: Reporter
) -> tuple[JudgedRun, list[Outcome]]:
    """Run the session, then the undecided points once more; a point that then passes is decided."""
    section, outcomes = run_session(session, target, reporter)
    if outcomes[-1].ending.ended != "done":
        return section, outcomes
    repeats = _measured_again(
        session, section, reporter, lambda more: run_session(more, target, reporter)
    )
    if repeats is None:
        return section, outcomes
    more, repeated = repeats
    from wireproof.verdict.run.quality import settled_by_repeats

    whole = judged(merged_run([section.run, more.run]), session, (*section.records, *more.records))
    judgement = settled_by_repeats(whole.judgement)
    settled = dataclasses.replace(whole, judgement=judgement, settled=True)
    return settled, [*outcomes, *repeated]


def _measured_again(
    session: Session, section: JudgedRun, reporter: Reporter, run: Callable[[Session], T]
) -> T | None:
    """Return the result of ``run`` for the undecided points; None if there are none, there is no
    time for them, or they cannot be measured.
    """
    bounded = session.resume or session.until is not None or session.deadline_s is not None
    if section.judgement.verdict != "inconclusive" or bounded or session.plays_hosts:
        return None
    points = open_points(session, section.judgement)
    if not points:
        return None
    try:
        return run(again(session, points, reporter))
    except CouldNotMeasure as error:  # the first measurement stands
        reporter.warn(f"the undecided points could not be measured again: {error}")
        return None


# --- The screen of many nodes: rounds of disjoint pairs, and suspects, which are measured again.

METRICS: tuple[Metric, ...] = ("goodput", "hrt")
CONFIRM_BASE = 1_000_000
"""First point number of the confirm stage, above those of all rounds."""


_CarriedScreen = tuple[Run, CampaignResult]


def run_screen(
    session: Session, target: Target, fabric: Fabric | None, reporter: Reporter
) -> tuple[JudgedRun, list[Outcome]]:
    """Measure the screen's points (``session.points``), find suspects, measure them alone, conclude
    and judge.
    """
    first, carried = campaign_run(session, target, reporter)
    screens = {metric: screened(first, metric, fabric) for metric in METRICS}
    found = [result for result in screens.values() if result]
    broken_off = carried.ended in ("interrupted", "disk-full")
    stage = None if broken_off else _confirm(session, target, fabric, found, carried.lost, reporter)
    again, more = stage or (None, CampaignResult())
    run = merged_run([first, again]) if again else first
    lead = (
        "Half round trips are not screened: the ranks share too few cores of one machine."
        if crowded(target)
        else ""
    )
    records = [*carried.folders, *more.folders]
    outcomes = [*carried.outcomes, *more.outcomes]
    led = dataclasses.replace(session, lead=session.lead or lead)

    def concluded(run: Run, records: Sequence[Path]) -> JudgedRun:
        return located_section(judged(run, led, records), screens, again, fabric)

    def measured(session: Session) -> _CarriedScreen:
        return campaign_run(session, target, reporter, lost=carried.lost)

    section = concluded(run, records)
    repeats = None if broken_off else _measured_again(led, section, reporter, measured)
    if repeats is None:
        return section, outcomes
    repeated, more = repeats
    whole = merged_run([run, repeated])
    return concluded(whole, [*records, *more.folders]), [*outcomes, *more.outcomes]


def located_section(
    section: JudgedRun,
    screens: Mapping[Metric, Screened | None],
    again: Run | None,
    fabric: Fabric | None,
) -> JudgedRun:
    """Add the slow nodes to the judged section, from the screens of its rounds and from ``again``,
    the suspects measured alone.
    """
    from wireproof.locate.causes import explain
    from wireproof.locate.confirm import conclude
    from wireproof.locate.samples import samples_of
    from wireproof.locate.verdict import with_located, with_other_traffic, with_rail_notes
    from wireproof.verdict.run.quality import settled_by_repeats

    known = settings_by_id()
    concluded = (
        conclude(result, samples_of(again, metric) if again else None)
        for metric, result in screens.items()
        if result
    )
    located = tuple(explain(result, section.run, settings=known) for result in concluded)
    settled = settled_by_repeats(section.judgement)
    located = tuple(with_other_traffic(one, settled.findings, settled.pairs) for one in located)
    judgement = settled_by_repeats(with_located(settled, located, section.criteria, fabric))
    return dataclasses.replace(
        section,
        judgement=with_rail_notes(judgement, section.run.claim),
        located=located,
        fabric=fabric,
        settled=True,
    )


def screened(run: Run, metric: Metric, fabric: Fabric | None) -> Screened | None:
    from wireproof.locate.samples import reasons_of, samples_of
    from wireproof.locate.screen import screen

    samples = samples_of(run, metric)
    return None if samples is None else screen(samples, fabric, reasons=reasons_of(run, metric))


def _confirm(
    session: Session,
    target: Target,
    fabric: Fabric | None,
    screens: Sequence[Screened],
    lost: Mapping[int, str],
    reporter: Reporter,
) -> _CarriedScreen | None:
    """Measure the suspects alone; return None if there are none or they could not be measured."""
    size = next(
        (point.message_bytes for point in session.points if point.pattern == "stream"), None
    )
    points, left = confirm_points(screens, target, fabric, seed=session.seed, size=size)
    if left:
        reporter.say(
            f"{len(left)} of the suspects are not measured again because time is short: "
            f"{fold(left)}"
        )
    if not points:
        return None
    ordered = tuple(
        msgspec.structs.replace(point, id=point.id + CONFIRM_BASE)
        for point in numbered(points, seed=session.seed)
    )
    out, begun = _confirm_folder(session.out, ordered)
    again = dataclasses.replace(
        session,
        points=ordered,
        title=f"{session.title}: the suspects again, each alone",
        out=out,
        resume=begun,
        facts=(),
        launches=1,
    )
    try:
        return campaign_run(again, target, reporter, lost=lost)
    except CouldNotMeasure as error:  # the screen's suspects remain, unconfirmed
        reporter.warn(f"the suspects could not be measured again: {error}")
        return None


def _confirm_folder(out: Path | None, points: Sequence[Point]) -> tuple[Path | None, bool]:
    """Return the folder of the confirm stage, and whether it was started there with the same
    points. A resumed screen may have other suspects than before, whose records are kept separately.
    """
    if out is None:
        return None, False
    for number in range(1, 1000):
        folder = out.with_name("confirm" if number == 1 else f"confirm-{number}")
        if not (folder / "run.json").is_file():
            return folder, False
        stored, wanted = (
            sorted((point.id, point.pattern, point.message_bytes) for point in plan)
            for plan in (load_document(folder).plan.points, points)
        )
        if stored == wanted:
            return folder, True
    raise BadInput(f"{out.parent} already contains 999 confirm stages: give another --out.")
