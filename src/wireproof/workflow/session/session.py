"""One measurement from plan to judged section: choose the MPI, launch, listen, judge."""

from __future__ import annotations

import dataclasses
import os
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex

import msgspec

from wireproof.analysis.totals import joined_totals
from wireproof.cli.console import say
from wireproof.instrument.measure import Outcome, measure
from wireproof.lab.wire import wire_observer
from wireproof.launch.command import provenance
from wireproof.launch.request import Fabric, LaunchCommand, NicSelection
from wireproof.model.claim import Claim, Criteria, Limits
from wireproof.model.errors import CouldNotMeasure
from wireproof.model.plan import (
    FactRequest,
    ModelFault,
    ModelWorld,
    Plan,
    Point,
    Policy,
    RankPlace,
    Transport,
    TransportKind,
    WitnessPolicy,
)
from wireproof.model.record import EngineError, Host
from wireproof.model.run import Run
from wireproof.physics.limits import limits
from wireproof.physics.table import Table
from wireproof.plan.pace import provable
from wireproof.report.section import Section
from wireproof.report.text.look import Look
from wireproof.report.text.progress import Progress
from wireproof.verdict import judge
from wireproof.verdict.context import context
from wireproof.workflow.session.campaign import (
    GOES_ON,
    MOST_ATTEMPTS,
    CampaignResult,
    attempt_folder,
    carry_out,
)
from wireproof.workflow.session.launch import LaunchOption, install_for, launch_options, started
from wireproof.workflow.target.availability import absent, nobody, unfit
from wireproof.workflow.target.target import Target

__all__ = ["Session", "carried_run", "command_of", "judged", "merged_run", "run_session"]


LEAST_LAUNCH_S = 3.0
"""Less is not enough to start anything."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Session:
    """What to measure and by what; the target says where. ``until``: no launch goes on after this
    moment (monotonic).

    ``kept``: the folder ``out`` stays, so that a reader can be sent to it.
    """

    title: str
    points: tuple[Point, ...]
    seed: int
    transport: TransportKind = "mpi"
    mpi: str = ""
    fabric: Fabric = ""
    nic_selection: NicSelection = "claimed"
    policy: Policy = dataclasses.field(default_factory=Policy)
    model: ModelWorld | None = None
    model_faults: tuple[ModelFault, ...] = ()
    facts: tuple[FactRequest, ...] = ()
    out: Path | None = None
    resume: bool = False
    kept: bool = True
    deadline_s: float | None = None
    until: float | None = None
    extra: tuple[tuple[str, str], ...] = ()
    lead: str = ""
    launches: int = 1
    table: Table | None = None
    criteria: Criteria = dataclasses.field(default_factory=Criteria)


def command_of(session: Session, target: Target) -> LaunchCommand:
    """The command that would start ``session`` on ``target``."""
    return launch_options(session, target, install_for(session))[0].command


def _plan(session: Session, target: Target, expect: str) -> Plan:
    claims = target.claim().hosts
    addresses = target.addresses or ("",) * len(claims)
    crowded = max(target.machine_ranks, 0 if target.hosts else target.ranks) > len(
        os.sched_getaffinity(0)
    )
    policy = msgspec.structs.replace(session.policy, yield_=1) if crowded else session.policy
    return Plan(
        run_id=f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{token_hex(3)}",
        seed=session.seed,
        transport=Transport(kind=session.transport, expect=expect),
        ranks=tuple(
            RankPlace(index=one.rank, host=one.host, nic=one.nic, address=addresses[one.rank])
            for one in claims
        ),
        points=(
            provable(session.points, session.criteria.min_payload_bytes)
            if target.wire
            else session.points
        ),
        policy=policy,
        witness=WitnessPolicy(root=target.sysfs_root or "/"),
        model=session.model,
        model_faults=session.model_faults,
        facts=session.facts,
    )


def run_session(
    session: Session, target: Target, *, claim: Claim | None = None
) -> tuple[Section, list[Outcome]]:
    """Measure (``session.launches`` times) and judge. Progress goes to stderr; the records stay in the
    outcomes' folders.

    ``claim``: what is claimed, where that is not what the target is (a lie that is planted on
    purpose). Raises ``CouldNotMeasure`` when not one point was sealed: there is nothing to judge
    then.
    """
    outcomes: list[Outcome] = []
    for launch in range(session.launches):
        outcomes += _attempts(_relaunched(session, launch), target, claim or target.claim())
        if outcomes[-1].ending.ended != "done":
            break
    return judged(merged_run([outcome.run for outcome in outcomes]), session), outcomes


def carried_run(
    session: Session, target: Target, *, lost: Mapping[int, str] | None = None
) -> tuple[Run, CampaignResult]:
    """Measure ``session`` in as many launches as it takes: who is lost (or is known to be, ``lost``)
    is named, and the rest is measured. The run has the target's ranks, whoever took part.
    """
    carried: list[CampaignResult] = []
    for launch in range(session.launches):
        one = _relaunched(session, launch)
        known = {**(lost or {}), **(carried[-1].lost if carried else {})}
        carried.append(_carry_out(one, target, known))
        if carried[-1].ended not in ("done", *GOES_ON):
            break
    whole = CampaignResult(
        runs=[run for one in carried for run in one.runs],
        outcomes=[outcome for one in carried for outcome in one.outcomes],
        lost=carried[-1].lost,
        missing={point: why for one in carried for point, why in one.missing.items()},
        ended=carried[-1].ended,
    )
    return _with_lost(merged_run(whole.runs), whole), whole


def _carry_out(session: Session, target: Target, lost: Mapping[int, str]) -> CampaignResult:
    def launch(
        points: tuple[Point, ...], where: Target, claim: Claim, folder: Path | None, said: str
    ) -> Outcome:
        faults = _faults_of(session.model_faults, target, where)
        part = dataclasses.replace(
            session,
            points=points,
            out=folder,
            resume=False,
            title=session.title + said,
            model_faults=faults,
        )
        outcome = _launch(part, where, claim)
        if outcome.ending.ended == "disk-full":
            say(outcome.ending.reason)
        return outcome

    probe, examine = (nobody, nobody) if session.transport in ("null", "model") else (absent, unfit)
    return carry_out(
        session.points,
        target,
        target.claim(),
        launch,
        out=session.out,
        resume=session.resume,
        probe=probe,
        examine=examine,
        lost=lost,
    )


def _faults_of(faults: Sequence[ModelFault], whole: Target, part: Target) -> tuple[ModelFault, ...]:
    """The model's faults under the numbers that their hosts have in a launch."""
    number = {host: rank for rank, host in enumerate(part.hosts)}
    return tuple(
        msgspec.structs.replace(fault, rank=number[whole.hosts[fault.rank]])
        for fault in faults
        if fault.rank < len(whole.hosts) and whole.hosts[fault.rank] in number
    )


def _with_lost(run: Run, carried: CampaignResult) -> Run:
    """The hosts that were lost, as errors of the run: zero evidence about them is never a pass."""
    errors = [
        EngineError(code="rank-lost", message=why, rank=rank)
        for rank, why in sorted(carried.lost.items())
    ]
    close = run.close and msgspec.structs.replace(
        run.close, points=len(run.points), failed=run.close.failed
    )
    done = carried.ended == "done"
    return msgspec.structs.replace(
        run,
        errors=[*run.errors, *errors],
        missing=dict(carried.missing),
        close=close if done else None,
    )


def _relaunched(session: Session, launch: int) -> Session:
    """The same points in the same order, numbered apart, in a folder of their own."""
    if session.launches == 1:
        return session
    count = len(session.points)
    points = tuple(
        msgspec.structs.replace(
            point, id=point.id + launch * count, repeat=point.repeat + launch * count
        )
        for point in session.points
    )
    out = session.out and session.out.with_name(f"{session.out.name}-{launch + 1}")
    title = f"{session.title}, launch {launch + 1} of {session.launches}"
    resume = session.resume and out is not None and (out / "run.json").is_file()
    return dataclasses.replace(session, points=points, out=out, title=title, resume=resume)


def merged_run(runs: Sequence[Run]) -> Run:
    """Several launches as one run: all points, all errors; who ran where is that of the first, and
    must stay so.
    """
    if len(runs) == 1:
        return runs[0]
    errors = [error for run in runs for error in run.errors]
    hosts = {host.rank: host for host in runs[0].hosts}
    for launch, run in enumerate(runs[1:], start=2):
        if _moved(hosts, run):
            text = f"launch {launch} put ranks on other hosts than launch 1: check each placement by itself"
            errors.append(EngineError(code="placement-changed", message=text))
        hosts = {**{host.rank: host for host in run.hosts}, **hosts}
    idle = {idle.rank: idle for run in reversed(runs) for idle in run.idle}
    sealed = {point.id for run in runs for point in run.points}
    # An attempt that did not start (a dead host) says nothing of how the others were measured.
    begun = next((run for run in runs if run.open is not None), runs[0])
    return msgspec.structs.replace(
        begun,
        hosts=[hosts[rank] for rank in sorted(hosts)],
        points=[point for run in runs for point in run.points],
        idle=[idle[rank] for rank in sorted(idle)],
        totals=joined_totals(total for run in runs for total in run.totals),
        facts=[fact for run in runs for fact in run.facts],
        floors=list({(one.pattern, one.form): one for run in runs for one in run.floors}.values()),
        errors=errors,
        missing={
            point: why for run in runs for point, why in run.missing.items() if point not in sealed
        },
        close=runs[-1].close,
    )


def _moved(before: Mapping[int, Host], run: Run) -> bool:
    """By machine identity, (boot id, network namespace): some rank is on another machine than it
    was.
    """
    return any(
        (host.boot_id, host.netns) != (before[host.rank].boot_id, before[host.rank].netns)
        for host in run.hosts
        if host.rank in before
    )


def _left_s(session: Session) -> float | None:
    """Seconds that a launch may take: its own deadline, or what is left of the whole;
    ``CouldNotMeasure`` if none.
    """
    if session.until is None:
        return session.deadline_s
    left = session.until - time.monotonic()
    if left < LEAST_LAUNCH_S:
        raise CouldNotMeasure("no time was left for another launch.")
    return min(left, session.deadline_s or left)


def _launch(session: Session, target: Target, claim: Claim) -> Outcome:
    install = install_for(session)
    ways = launch_options(session, target, install)
    look = Look.of(sys.stderr, os.environ)

    def run(way: LaunchOption, begun: bool) -> Outcome:
        plan = _plan(session, target, way.command.expect)
        with Progress(plan, sys.stderr, look, title=session.title) as show:
            return measure(
                plan,
                way.command,
                claim=claim,
                provenance=provenance(way.command, install),
                out=session.out,
                on_frame=show,
                deadline_s=_left_s(session),
                resume=session.resume or (begun and session.out is not None),
                observed=wire_observer(target.lab),
                on_this_machine=target.lab is not None or not target.hosts,
            )

    return started(ways, target, run, say)


def _attempts(session: Session, target: Target, claim: Claim) -> list[Outcome]:
    """Launches of ``session``: a point that does not end in time costs itself, and not those behind
    it.

    Raises ``CouldNotMeasure`` when none of them has sealed a point.
    """
    outcomes = [_launch_once(session, target, claim)]
    while rest := _behind(session, outcomes):
        number = len(outcomes) + 1
        while (out := attempt_folder(session.out, number)) is not None and out.exists():
            number += 1
        title = f"{session.title}, without the point that was late"
        again = dataclasses.replace(session, points=rest, out=out, resume=False, title=title)
        try:
            outcomes.append(_launch_once(again, target, claim))
        except CouldNotMeasure as error:
            say(str(error))
            break
    last = outcomes[-1]
    if not any(one.run.points for one in outcomes) and last.ending.ended != "interrupted":
        why = (
            unfit(target, tuple(range(len(target.hosts))))
            if session.transport not in ("null", "model")
            else {}
        )
        if why:
            raise CouldNotMeasure("; ".join(dict.fromkeys(why.values())) + ".")
        log = f"log: {last.folder / 'engine.log'}" if session.kept else "give --out to keep its log"
        raise CouldNotMeasure(f"{last.ending.reason} ({log})")
    return outcomes


def _behind(session: Session, outcomes: Sequence[Outcome]) -> tuple[Point, ...]:
    """Points that were not reached because the one before them was late; none when the launch ended
    otherwise.
    """
    ending = outcomes[-1].ending
    if ending.ended != "deadline" or ending.culprit is None or len(outcomes) >= MOST_ATTEMPTS:
        return ()
    gone = {one.ending.culprit for one in outcomes} | {
        point.id for one in outcomes for point in one.run.points
    }
    return tuple(point for point in session.points if point.id not in gone)


def _launch_once(session: Session, target: Target, claim: Claim) -> Outcome:
    if session.transport not in ("null", "model") and (
        gone := absent(target, tuple(range(len(target.hosts))))
    ):
        raise CouldNotMeasure("; ".join(dict.fromkeys(gone.values())) + ".")
    return _launch(session, target, claim)


def _limits(run: Run, table: Table | None) -> Limits | None:
    """The limits to show: of the largest stream, else of the smallest ping-pong."""
    link = context(run, Criteria(), None, table).link  # with the MTU that the NICs have
    if link is None or not run.points:
        return None
    point = max(run.points, key=lambda one: (one.pattern == "stream", one.message_bytes))
    short = [one.message_bytes for one in run.points if one.pattern == "pingpong"]
    top = limits(link, point.pattern, point.form, point.message_bytes, table)
    low = limits(link, "pingpong", "latency", min(short, default=0), table)
    return msgspec.structs.replace(top, floor_ns=low.floor_ns)


def judged(run: Run, session: Session) -> Section:
    """The run with its judgement."""
    judgement = judge(run, session.criteria, table=session.table)
    return Section(
        title=session.title,
        run=run,
        judgement=judgement,
        limits=_limits(run, session.table),
        criteria=session.criteria,
        lead=session.lead,
    )
