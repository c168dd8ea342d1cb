"""One measurement from plan to judged section: choose the MPI, launch, listen, judge."""

from __future__ import annotations

import dataclasses
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex

import msgspec

from wireproof.cli.place import Place
from wireproof.instrument.measure import Outcome, measure
from wireproof.launch.command import prepare, provenance
from wireproof.launch.find import choose_mpi
from wireproof.launch.install import MpiInstall
from wireproof.launch.request import Fabric, LaunchCommand, NicSelection
from wireproof.model.claim import Claim, Criteria, Limits
from wireproof.model.errors import CouldNotMeasure
from wireproof.model.plan import FactRequest, ModelWorld, Plan, Point, Policy, RankPlace, Transport, TransportKind
from wireproof.model.record import EngineError
from wireproof.model.run import Run
from wireproof.physics.limits import limits
from wireproof.physics.table import Table
from wireproof.report.progress import Progress
from wireproof.report.section import Section
from wireproof.report.text import Look
from wireproof.verdict import judge

__all__ = ["Wish", "judged", "run_session"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Wish:
    """What to measure and by what; the place says where."""

    title: str
    points: tuple[Point, ...]
    seed: int
    transport: TransportKind = "mpi"
    mpi: str = ""
    fabric: Fabric = ""
    nic_selection: NicSelection = "claimed"
    policy: Policy = dataclasses.field(default_factory=Policy)
    model: ModelWorld | None = None
    facts: tuple[FactRequest, ...] = ()
    out: Path | None = None
    resume: bool = False
    deadline_s: float | None = None
    extra: tuple[tuple[str, str], ...] = ()
    lead: str = ""
    launches: int = 1
    table: Table | None = None
    criteria: Criteria = dataclasses.field(default_factory=Criteria)


def _install(wish: Wish) -> MpiInstall | None:
    if wish.transport == "mpi":
        return choose_mpi(wish.mpi)
    # Any Hydra starts plain processes; the embedded one is always there.
    return choose_mpi("mpich") if wish.transport == "tcp" else None


def _command(wish: Wish, place: Place, install: MpiInstall | None) -> LaunchCommand:
    command = prepare(
        wish.transport,
        install,
        hosts=place.start_on,
        ranks=place.ranks,
        nics=place.nics,
        agent=place.agent,
        nic_selection=wish.nic_selection,
        fabric=wish.fabric,
        machine_ranks=place.machine_ranks,
        meet=place.meet() if wish.transport == "tcp" else "",
        extra=wish.extra,
    )
    return place.enter(command)


def _plan(wish: Wish, place: Place, expect: str) -> Plan:
    claims = place.claim().hosts
    addresses = place.addresses or ("",) * len(claims)
    crowded = max(place.machine_ranks, 0 if place.hosts else place.ranks) > len(os.sched_getaffinity(0))
    policy = msgspec.structs.replace(wish.policy, yield_=1) if crowded else wish.policy
    return Plan(
        run_id=f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{token_hex(3)}",
        seed=wish.seed,
        transport=Transport(kind=wish.transport, expect=expect),
        ranks=tuple(
            RankPlace(index=one.rank, host=one.host, nic=one.nic, address=addresses[one.rank]) for one in claims
        ),
        points=wish.points,
        policy=policy,
        model=wish.model,
        facts=wish.facts,
    )


def run_session(wish: Wish, place: Place, *, claim: Claim | None = None) -> tuple[Section, list[Outcome]]:
    """Measure (``wish.launches`` times) and judge. Progress goes to stderr; the records stay in the outcomes' folders.

    ``claim``: what is claimed, where that is not what the place is (a lie that is planted on purpose).
    Raises ``CouldNotMeasure`` when not one point was sealed: there is nothing to judge then.
    """
    outcomes: list[Outcome] = []
    for launch in range(wish.launches):
        outcomes.append(_launch_once(_relaunched(wish, launch), place, claim or place.claim()))
        if outcomes[-1].ending.ended != "done":
            break
    return judged(_merged([outcome.run for outcome in outcomes]), wish), outcomes


def _relaunched(wish: Wish, launch: int) -> Wish:
    """The same points in the same order, numbered apart, in a folder of their own."""
    if wish.launches == 1:
        return wish
    count = len(wish.points)
    points = tuple(
        msgspec.structs.replace(point, id=point.id + launch * count, repeat=point.repeat + launch * count)
        for point in wish.points
    )
    out = wish.out and wish.out.with_name(f"{wish.out.name}-{launch + 1}")
    title = f"{wish.title}, launch {launch + 1} of {wish.launches}"
    resume = wish.resume and out is not None and (out / "run.json").is_file()
    return dataclasses.replace(wish, points=points, out=out, title=title, resume=resume)


def _merged(runs: list[Run]) -> Run:
    """Several launches as one run: all points, all errors; who ran where is that of the first, and must stay so."""
    if len(runs) == 1:
        return runs[0]
    errors = [error for run in runs for error in run.errors]
    for launch, run in enumerate(runs[1:], start=2):
        if _placement(run) != _placement(runs[0]):
            text = f"launch {launch} put ranks on other hosts than launch 1: check each placement by itself"
            errors.append(EngineError(code="placement-changed", message=text))
    return msgspec.structs.replace(
        runs[0],
        points=[point for run in runs for point in run.points],
        errors=errors,
        missing={point: reason for run in runs for point, reason in run.missing.items()},
        close=runs[-1].close,
    )


def _placement(run: Run) -> dict[int, tuple[str, int]]:
    """By machine identity: rank to (boot id, network namespace)."""
    return {host.rank: (host.boot_id, host.netns) for host in run.hosts}


def _launch_once(wish: Wish, place: Place, claim: Claim) -> Outcome:
    install = _install(wish)
    command = _command(wish, place, install)
    plan = _plan(wish, place, command.expect)
    look = Look.of(sys.stderr, os.environ)
    with Progress(plan, sys.stderr, look, title=wish.title) as show:
        outcome = measure(
            plan,
            command,
            claim=claim,
            provenance=provenance(command, install),
            out=wish.out,
            on_frame=show,
            deadline_s=wish.deadline_s,
            resume=wish.resume,
        )
    if not outcome.run.points and outcome.ending.ended != "interrupted":
        raise CouldNotMeasure(f"{outcome.ending.reason} (log: {outcome.folder / 'engine.log'})")
    return outcome


def _limits(run: Run, table: Table | None) -> Limits | None:
    """The limits to show: of the largest stream, else of the smallest ping-pong."""
    link = run.claim.link
    if link is None or not run.points:
        return None
    point = max(run.points, key=lambda one: (one.pattern == "stream", one.message_bytes))
    small = min(one.message_bytes for one in run.points)
    top = limits(link, point.pattern, point.form, point.message_bytes, table)
    low = limits(link, "pingpong", "latency", small, table)
    return msgspec.structs.replace(top, floor_ns=low.floor_ns)


def judged(run: Run, wish: Wish) -> Section:
    """The run with its judgement."""
    judgement = judge(run, wish.criteria, table=wish.table)
    return Section(
        title=wish.title,
        run=run,
        judgement=judgement,
        limits=_limits(run, wish.table),
        criteria=wish.criteria,
        lead=wish.lead,
    )
