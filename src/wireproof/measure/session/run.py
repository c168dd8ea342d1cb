"""Run one session from plan to judged section: choose the MPI, launch, read the frames, judge."""

from __future__ import annotations

import dataclasses
import importlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

import msgspec

from wireproof.instrument import Outcome, Recording, measure
from wireproof.launch.command import provenance
from wireproof.launch.registry import LaunchCommand
from wireproof.ledger.catalogue import late_drivers
from wireproof.measure.points import provable
from wireproof.measure.session import Session
from wireproof.measure.session.campaign import (
    GOES_ON,
    MOST_ATTEMPTS,
    Campaign,
    CampaignResult,
    attempt_folder,
    large_messages_hang,
    smallest_first,
    with_error,
)
from wireproof.measure.session.launch import install_for, launch_options, started
from wireproof.measure.session.merge import merged_run, with_lost
from wireproof.model.claim import Claim, Criteria, Limits
from wireproof.model.errors import BadInput, CouldNotMeasure, WireproofError
from wireproof.model.plan import (
    ModelFault,
    Plan,
    Point,
    RankPlace,
    Transport,
    WitnessPolicy,
)
from wireproof.model.record import EngineError
from wireproof.model.run import Run
from wireproof.physics.limits import bandwidth_threshold_bytes, limits, shaper_credit_bytes
from wireproof.physics.table import Table, changed_constants
from wireproof.report.reporter import Reporter
from wireproof.store.seal import seal
from wireproof.target import Target
from wireproof.target.availability import Availability

if TYPE_CHECKING:
    from wireproof.report.judged_run import JudgedRun

_NOT_TO_BE_HAD = (
    *("ofi-depth", "ofi-disagree", "ofi-exchange", "ofi-library", "ofi-provider", "ofi-size"),
    *("bad-plan", "tcp-no-address", "tcp-no-nic"),
)
"""Errors of a rank that another option corrects; they do not concern the fabric."""
SEALING = ("duckdb",)
JUDGING = ("numpy", "wireproof.verdict.run", "wireproof.measure.result")
"""Modules that are needed after a launch, the slowest first. Loading them takes 0.2 s of processor
time, about as long as the start of the ranks.
"""
LEAST_LAUNCH_S = 3.0
"""Shortest time in s in which a launch can start."""


def _plan(session: Session, target: Target, expect: str) -> Plan:
    claims = target.claim().hosts
    addresses = target.addresses or ("",) * len(claims)
    here = max(target.machine_ranks, 0 if target.hosts else target.ranks)
    policy = session.policy
    if here > len(os.sched_getaffinity(0)):
        policy = msgspec.structs.replace(policy, yield_=1)
    return Plan(
        run_id=f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{token_hex(3)}",
        seed=session.seed,
        transport=Transport(
            kind=session.transport,
            expect=expect,
            ofi=msgspec.structs.replace(
                session.ofi, exchange="mpi" if session.by_mpi else "meeting"
            )
            if session.transport == "ofi"
            else None,
        ),
        ranks=tuple(
            RankPlace(index=rank.rank, host=rank.host, nic=rank.nic, address=addresses[rank.rank])
            for rank in claims
        ),
        points=(
            provable(session.points, session.criteria.min_payload_bytes)
            if target.wire and session.transport != "model"
            else session.points
        ),
        policy=policy,
        witness=WitnessPolicy(root=target.sysfs_root or "/", late=late_drivers()),
        model=session.model if session.transport == "model" else None,
        model_faults=session.model_faults,
        facts=session.facts,
    )


def run_session(
    session: Session, target: Target, reporter: Reporter, *, claim: Claim | None = None
) -> tuple[JudgedRun, list[Outcome]]:
    """Measure (``session.launches`` times) and judge; the records stay in the outcomes' folders.

    ``claim``: replaces the target's claim (for a deliberately false claim). Raises
    ``CouldNotMeasure`` if not a single point was sealed, because there is nothing to judge.
    """
    attempts = _Attempts(target, claim or target.claim(), reporter)
    outcomes: list[Outcome] = []
    for number in range(session.launches):
        outcomes += attempts.run(session.launch(number))
        if outcomes[-1].ending.ended != "done":
            break
    records = [outcome.folder for outcome in outcomes]
    return judged(merged_run([outcome.run for outcome in outcomes]), session, records), outcomes


class _Attempts:
    """Launches of sessions on one target that need all hosts."""

    def __init__(self, target: Target, claim: Claim, reporter: Reporter) -> None:
        self._target, self._claim, self._reporter = target, claim, reporter
        self._availability = Availability(reporter)

    def run(self, session: Session) -> list[Outcome]:
        """Run the launches of ``session``.

        A point that exceeds its deadline is skipped, and the points after it are still measured.

        Raises ``CouldNotMeasure`` if no launch has sealed a point.
        """
        outcomes = [self.launch(session)]
        while rest := _behind(session, outcomes):
            number = len(outcomes) + 1
            while (out := attempt_folder(session.out, number)) is not None and out.exists():
                number += 1
            title = f"{session.title}, without the late point"
            again = dataclasses.replace(session, points=rest, out=out, resume=False, title=title)
            try:
                outcomes.append(self.launch(again))
            except CouldNotMeasure as error:
                self._reporter.warn(str(error))
                break
        hang = _large_hang(session, outcomes)
        if hang and all(hang[1] not in outcome.run.errors for outcome in outcomes):
            run = with_error(outcomes[-1].run, hang[1])
            outcomes[-1] = msgspec.structs.replace(outcomes[-1], run=run)
        interrupted = outcomes[-1].ending.ended == "interrupted"
        if not interrupted and not any(outcome.run.points for outcome in outcomes):
            raise self._nothing_measured(session, outcomes[-1])
        return outcomes

    def launch(self, session: Session) -> Outcome:
        """Run one launch. Raises ``CouldNotMeasure`` if a host does not respond."""
        if not session.plays_hosts:
            _raise_for(self._availability.absent(self._target, range(len(self._target.hosts))))
        return launched(session, self._target, self._claim, self._reporter)

    def _nothing_measured(self, session: Session, last: Outcome) -> WireproofError:
        if not session.plays_hosts:
            _raise_for(self._availability.unfit(self._target, range(len(self._target.hosts))))
        if session.transport in ("tcp", "ofi") and last.run.errors[:1]:
            asked = last.run.errors[0]
            if asked.code in _NOT_TO_BE_HAD:
                return BadInput(f"{asked.message}.")
        log = f"log: {last.folder / 'engine.log'}" if session.kept else "give --out to keep its log"
        return CouldNotMeasure(f"{last.ending.reason} ({log})")


def _raise_for(gone: Mapping[int, str]) -> None:
    """Raise ``CouldNotMeasure`` with the reasons if any hosts cannot take part."""
    if gone:
        raise CouldNotMeasure("; ".join(dict.fromkeys(gone.values())) + ".")


def _behind(session: Session, outcomes: Sequence[Outcome]) -> tuple[Point, ...]:
    """Return the points that were not reached because the point before them was late; empty after
    any other ending.
    """
    ending = outcomes[-1].ending
    if ending.ended != "deadline" or ending.culprit is None or len(outcomes) >= MOST_ATTEMPTS:
        return ()
    gone = {outcome.ending.culprit for outcome in outcomes} | {
        point.id for outcome in outcomes for point in outcome.run.points
    }
    hang = _large_hang(session, outcomes)
    return smallest_first(
        point
        for point in session.points
        if point.id not in gone and (hang is None or point.message_bytes < hang[0])
    )


def _large_hang(session: Session, outcomes: Sequence[Outcome]) -> tuple[int, EngineError] | None:
    """Return whether the launches so far show that every larger message hangs."""
    sealed = {point.id for outcome in outcomes for point in outcome.run.points}
    late = {
        outcome.ending.culprit
        for outcome in outcomes
        if outcome.ending.ended == "deadline" and outcome.ending.culprit is not None
    }
    return large_messages_hang(session.points, sealed, late, [outcome.run for outcome in outcomes])


def campaign_run(
    session: Session, target: Target, reporter: Reporter, *, lost: Mapping[int, str] | None = None
) -> tuple[Run, CampaignResult]:
    """Measure ``session`` in as many launches as necessary: lost hosts (also those in ``lost``) are
    reported, and the rest is measured. The run contains all ranks of the target, including those
    that did not take part.
    """
    availability = Availability(reporter)
    results: list[CampaignResult] = []
    for number in range(session.launches):
        known = {**(lost or {}), **(results[-1].lost if results else {})}
        launch = session.launch(number)
        results.append(_carry_out(launch, target, known, availability, reporter))
        if results[-1].ended not in ("done", *GOES_ON):
            break
    whole = CampaignResult(
        runs=[run for result in results for run in result.runs],
        outcomes=[outcome for result in results for outcome in result.outcomes],
        folders=[folder for result in results for folder in result.folders],
        lost=results[-1].lost,
        missing={point: why for result in results for point, why in result.missing.items()},
        ended=results[-1].ended,
    )
    run = merged_run(whole.runs)
    return with_lost(run, whole.lost, whole.missing, complete=whole.ended == "done"), whole


def _carry_out(
    session: Session,
    target: Target,
    lost: Mapping[int, str],
    availability: Availability,
    reporter: Reporter,
) -> CampaignResult:
    def launch(
        points: tuple[Point, ...], where: Target, claim: Claim, folder: Path | None, suffix: str
    ) -> Outcome:
        part = dataclasses.replace(
            session,
            points=points,
            out=folder,
            resume=False,
            title=session.title + suffix,
            model_faults=_faults_of(session.model_faults, target, where),
        )
        outcome = launched(part, where, claim, reporter)
        if outcome.ending.ended == "disk-full":
            reporter.warn(outcome.ending.reason)
        return outcome

    played = session.plays_hosts
    campaign = Campaign(
        session.points,
        target,
        target.claim(),
        launch,
        probe=_nobody if played else availability.absent,
        examine=_nobody if played else availability.unfit,
    )
    return campaign.run(out=session.out, resume=session.resume, lost=lost)


def _nobody(_target: Target, _ranks: Sequence[int]) -> dict[int, str]:
    """Return no absent hosts: simulated hosts are only names and cannot be absent."""
    return {}


def _faults_of(faults: Sequence[ModelFault], whole: Target, part: Target) -> tuple[ModelFault, ...]:
    """Return the model's faults with the rank numbers of their hosts in a launch."""
    number = {host: rank for rank, host in enumerate(part.hosts)}
    return tuple(
        msgspec.structs.replace(fault, rank=number[whole.hosts[fault.rank]])
        for fault in faults
        if fault.rank < len(whole.hosts) and whole.hosts[fault.rank] in number
    )


def left_s(session: Session) -> float | None:
    """Return the time limit of a launch in seconds: its deadline, or the rest of the total time.

    Raises ``CouldNotMeasure`` if no time is left.
    """
    if session.until is None:
        return session.deadline_s
    left = session.until - time.monotonic()
    if left < LEAST_LAUNCH_S:
        raise CouldNotMeasure("no time was left for another launch.")
    return min(left, session.deadline_s or left)


def launched(session: Session, target: Target, claim: Claim, reporter: Reporter) -> Outcome:
    """Run one launch by the first command that starts, and seal its records.

    They are sealed here, because the judgement of many nodes needs the memory afterwards.
    """
    install = install_for(session)

    def run(option: LaunchCommand, begun: bool) -> Outcome:
        plan = _plan(session, target, option.expect)
        outcome = attempt(plan, option, begun)
        if not any(map(_says_older, outcome.run.errors)):
            return outcome
        reporter.warn("the engine is older than this wireproof: it waits less for delayed counters")
        witness = msgspec.structs.replace(plan.witness, late=())
        again = attempt(msgspec.structs.replace(plan, witness=witness), option, begun=True)
        errors = [error for error in again.run.errors if not _says_older(error)]
        return msgspec.structs.replace(again, run=msgspec.structs.replace(again.run, errors=errors))

    def attempt(plan: Plan, option: LaunchCommand, begun: bool) -> Outcome:
        with reporter.progress(plan, session.title) as show:
            recording = Recording(
                out=session.out,
                on_frame=show,
                deadline_s=left_s(session),
                resume=session.resume or (begun and session.out is not None),
                observed=_wire_observer(target),
                on_this_machine=target.lab is not None or not target.hosts,
                meanwhile=_loads(session),
            )
            asked = session.ofi.provider if session.transport == "ofi" else ""
            return measure(
                plan,
                option,
                claim=msgspec.structs.replace(claim, provider=asked) if asked else claim,
                provenance=provenance(option, install),
                recording=recording,
            )

    outcome = started(launch_options(session, target, install), target, run, reporter)
    if session.kept:
        seal(outcome.folder)
    return outcome


def _wire_observer(target: Target) -> Callable[[], Sequence[EngineError]]:
    """Return a function that reports, at the end of an attempt, whether a lab's wire fell
    behind.
    """
    if target.lab is None:
        return tuple
    from wireproof.lab.wire import wire_observer

    return wire_observer(target.lab.wire_status)


def _loads(session: Session) -> list[Callable[[], object]]:
    """Return functions that load the modules needed after a launch of ``session``."""
    names = (*(SEALING if session.kept else ()), *JUDGING)
    steps: list[Callable[[], object]] = [partial(importlib.import_module, name) for name in names]
    return [*steps, _compile_page] if session.kept else steps


def _compile_page() -> None:
    """Compile the template of the result's page, which takes 0.1 s."""
    from wireproof.report.html import compiled_page

    compiled_page()


def _says_older(error: EngineError) -> bool:
    """Return whether the engine does not support the list of drivers with late counters."""
    return error.code == "bad-plan" and 'unknown key "late"' in error.message


def _limits(run: Run, table: Table | None) -> Limits | None:
    """Return the limits to show: those of the largest stream, else of the smallest ping-pong."""
    from wireproof.verdict.context import context

    link = context(run, Criteria(), None, table).link  # with the MTU of the NICs
    if link is None or not run.points:
        return None
    point = max(run.points, key=lambda record: (record.pattern == "stream", record.message_bytes))
    short = [record.message_bytes for record in run.points if record.pattern == "pingpong"]
    top = limits(link, point.pattern, point.form, point.message_bytes, table)
    low = limits(link, "pingpong", "latency", min(short, default=0), table)
    return msgspec.structs.replace(
        top,
        floor_ns=low.floor_ns,
        credit_bytes=shaper_credit_bytes(link, idle_between_messages=True, table=table),
        judged_from_bytes=bandwidth_threshold_bytes(link, table),
    )


def judged(run: Run, session: Session, records: Sequence[Path]) -> JudgedRun:
    """Judge the run. ``records``: the folders from which it was read."""
    from wireproof.atlas.job import atlas
    from wireproof.report.judged_run import JudgedRun
    from wireproof.verdict.run import judge

    return JudgedRun(
        title=session.title,
        run=run,
        judgement=judge(run, session.criteria, table=session.table, atlas=atlas(session.site)),
        limits=_limits(run, session.table),
        criteria=session.criteria,
        lead=session.lead,
        records=tuple(records),
        constants=changed_constants(session.table),
    )
