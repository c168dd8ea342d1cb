"""``wireproof check``: measure, prove, judge, locate, report."""

from __future__ import annotations

import contextlib
import dataclasses
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
import msgspec

from wireproof.cli.measure import claimed_rate, pinned, policy_of
from wireproof.cli.options import (
    job_options,
    link_options,
    output_options,
    place_options,
    settings_of,
)
from wireproof.model.plan import FactRequest, Point, Policy
from wireproof.settings.resolve import Settings
from wireproof.workflow.target.target import Target, TargetOptions, resolve_target, this_machine

if TYPE_CHECKING:
    from wireproof.model.fabric import Fabric

__all__ = ["command", "measured"]

QUICK_PINGPONG = (0, 8, 1024, 16384, 65536, 262144, 1 << 20)
QUICK_STREAM = (8, 4096, 65536, 262144, 1 << 20, 4 << 20)
LAUNCHES = {"quick": 1, "standard": 3, "acceptance": 10}
"""Independent launches are a factor of their own (Hunold and Carpen-Amarie 2016): inner repetitions
do not show it.
"""


def _sweeps(settings: Settings, target: Target, *, back: bool) -> list[Point]:
    """The curves of the first pair: half round trip and stream over the sizes; ``back``: also the
    other way.
    """
    from wireproof.plan.pace import affordable
    from wireproof.plan.sweep import SIZES, sweep

    quick, rate = settings.profile.value == "quick", claimed_rate(target)
    pingpongs, streams = (
        affordable(sizes, rate)
        for sizes in ((QUICK_PINGPONG, QUICK_STREAM) if quick else (SIZES, SIZES))
    )
    points = sweep("pingpong", pingpongs, [(0, 1)]) + sweep("stream", streams, [(0, 1)])
    return points + (sweep("stream", streams, [(1, 0)]) if back else [])


def _points(
    target: Target, settings: Settings, options: dict[str, Any], fabric: Fabric | None, seed: int
) -> list[Point]:
    """One machine or two hosts: sweeps. More: rounds of pairs."""
    if not target.hosts or target.size == 2:
        return _sweeps(settings, target, back=bool(target.hosts))
    from wireproof.workflow.session.screen import screen_points

    size = MODEL_BYTES if settings.transport.value == "model" else None
    return screen_points(
        target,
        fabric,
        seed=seed,
        rounds=options["rounds"],
        all_pairs=options["all_pairs"],
        size=size,
    )


COMMANDS_UP_TO = 256
"""Hosts whose commands' output (ethtool, tc: 20 kB each) is collected; of more only the files of
/sys.
"""


def _facts(target: Target) -> tuple[FactRequest, ...]:
    """What is read on every host: enough to tell a cause where a node is slow."""
    from wireproof.locate.causes.fact_requests import fact_requests
    from wireproof.probes.snapshot import quick

    nic = target.nics[0] if target.nics else ""
    wanted = (
        *quick(),
        *(fact_requests(nic, commands=target.size <= COMMANDS_UP_TO) if target.hosts else ()),
    )
    return tuple({(fact.kind, fact.path, fact.argv): fact for fact in wanted}.values())


MANY = 64
"""Above so many hosts connections are given up after each round: to keep them all costs memory on
every host.
"""
SCREEN_DEADLINE_MS = 15_000
MODEL_DEADLINE_MS, MODEL_BYTES = 300_000, 16384


def _policy(settings: Settings, target: Target) -> Policy:
    """A screen's points are short: who has not ended soon after its budget is hung, and the rest is
    to go on.
    """
    from wireproof.plan.pace import paced

    policy = policy_of(settings)
    # its time is made up, and its bytes are really moved: few of them tell all
    if settings.transport.value == "model":
        return msgspec.structs.replace(
            policy,
            block_us=20,
            warmup_min_us=20,
            warmup_min_operations=10,
            point_deadline_ms=MODEL_DEADLINE_MS,
        )
    policy = paced(pinned(policy, target), claimed_rate(target))
    if target.size > MANY:
        policy = msgspec.structs.replace(policy, teardown="point")
    if target.size <= 2 or settings.budget.value is not None:
        return policy
    return msgspec.structs.replace(policy, point_deadline_ms=SCREEN_DEADLINE_MS)


def _wish(
    settings: Settings, options: dict[str, Any], target: Target, folder: Path, fabric: Fabric | None
) -> Any:
    from wireproof.plan.sweep import numbered
    from wireproof.settings.model_world import faults_of, model_of
    from wireproof.settings.physics_table import read_table
    from wireproof.workflow.resume import stored_seed
    from wireproof.workflow.session.session import Session

    profile = settings.profile.value
    seed = settings.seed.value
    if seed is None:
        seed = (stored_seed(folder) if options["resume"] else None) or secrets.randbelow(1 << 31)
    points = _points(target, settings, options, fabric, seed)
    return Session(
        title=f"check of {target.size} hosts" if target.hosts else "check of this machine",
        points=numbered(points, seed=seed, repeats=settings.repeat.value),
        seed=seed,
        transport=cast(Any, settings.transport.value),
        mpi=settings.mpi.value,
        fabric=cast(Any, settings.fabric.value),
        nic_selection=cast(Any, settings.nic_selection.value),
        policy=_policy(settings, target),
        model=model_of(options["model_world"]) if settings.transport.value == "model" else None,
        model_faults=faults_of(options["model_fault"], target.size),
        facts=_facts(target) if settings.transport.value != "model" else (),
        out=folder / "run",
        resume=options["resume"],
        deadline_s=settings.deadline.value,
        until=options.get("until"),
        table=read_table(options["physics"]),
        launches=LAUNCHES[profile],
    )


def _alone(session: Any) -> list[tuple[Any, Target]]:
    """One plain machine: shared memory through the MPI, and loopback through the kernel. Neither is
    a wire.
    """
    from wireproof.physics.links import link_from_name

    shm = dataclasses.replace(
        session,
        title="shared memory of this machine",
        lead="Two ranks on one machine: this is what memory does, so that a wire can be told from it.",
    )
    loopback = dataclasses.replace(
        session,
        title="loopback of this machine",
        transport="tcp",
        out=session.out.with_name("loopback"),
        lead="Kernel sockets over the loopback interface: the floor under every MPI over IP.",
    )
    return [
        (shm, this_machine(link_from_name("shm", source="one machine"))),
        (loopback, this_machine(link_from_name("loopback", source="one machine"))),
    ]


@contextlib.contextmanager
def _where(settings: Settings, options: dict[str, Any]) -> Iterator[Target]:
    """The target; with ``--slurm`` a job of our own, given back whatever happens."""
    if options["slurm"]:
        from wireproof.workflow.target.job import imagined_target, job_target

        if options["dry_run"]:
            yield imagined_target(settings, options)
            return
        with job_target(settings, options) as target:
            yield target
        return
    yield resolve_target(settings, TargetOptions.of(options))


def _parts(session: Any, target: Target, settings: Settings, fabric: Fabric | None) -> list[Any]:
    """One measured and judged part for each thing that is checked; an interrupted one is the
    last.
    """
    from wireproof.workflow.session.disturbed import run_settled

    if target.size > 2 and target.hosts:
        from wireproof.workflow.session.screen import run_screen

        parts = [run_screen(session, target, fabric)]
        curves = settings.profile.value != "quick" and settings.transport.value != "model"
        more = [(_curves(session, target, settings), target.only((0, 1)))] if curves else []
    else:
        parts, more = [], [(session, target)] if target.hosts else _alone(session)
    for one, where in more:
        if parts and parts[-1][1] and parts[-1][1][-1].ending.ended == "interrupted":
            break
        parts.append(run_settled(one, where))
    return parts


def _curves(session: Any, target: Target, settings: Settings) -> Any:
    """Beyond quick the curves of one pair too: what this link is like, over the sizes."""
    from wireproof.plan.sweep import numbered

    out = session.out.with_name("pair")
    return dataclasses.replace(
        session,
        title=f"{target.hosts[0]} and {target.hosts[1]} over the sizes",
        points=numbered(_sweeps(settings, target, back=True), seed=session.seed),
        out=out,
        resume=session.resume and any(out.parent.glob(f"{out.name}*/run.json")),
    )


@click.command("check")
@click.option(
    "--profile", metavar="quick|standard|acceptance", help="how much is measured; default quick."
)
@click.option(
    "--repeat", metavar="N", help="how often each point is measured in a launch; default 1."
)
@click.option(
    "--topology",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="which switch each node hangs on: "
    "topology.conf, ibnetdiscover, opareport, lldpctl or TOML.",
)
@click.option(
    "--rounds",
    type=click.IntRange(1, 100_000),
    metavar="N",
    help="rounds of pairs; default: all up to 64 hosts, 12 to 20 above.",
)
@click.option("--all-pairs", is_flag=True, help="every pair, however many hosts.")
@click.option("--dry-run", is_flag=True, help="print every command and script, and start nothing.")
@click.option(
    "--prolog",
    is_flag=True,
    help="health check before a job: one line, at most 60 s, nothing changed.",
)
@click.option("--model", "model_world", metavar="NAME=N,...", help="world of the model transport.")
@click.option(
    "--model-fault", multiple=True, metavar="rank=N,tx=SHARE", help="a fault planted in that world."
)
@place_options
@job_options
@link_options
@output_options
def command(**options: Any) -> int:
    """Measure, prove, locate, judge and report.

    With --hosts, in an allocation, or with --slurm -N 16: do they reach what their link can do, in
    each direction, did the bytes use that link, and which node, port or link is slow? Without: what
    works on this machine alone; no wire can be proven then (exit status 3).
    """
    from wireproof.cli.console import say
    from wireproof.cli.delivery import deliver, result_folder
    from wireproof.workflow.target.availability import check_nics

    if options["prolog"]:
        from wireproof.cli.prolog import run_prolog

        return run_prolog(options)
    settings = settings_of(options)
    with _where(settings, options) as target:
        for line in target.said:
            say(line)
        fabric = _fabric(options, target) if not (options["slurm"] and options["dry_run"]) else None
        if options["dry_run"]:
            from wireproof.cli.dry_run import show

            return show(
                _wish(settings, options, target, Path("RUN"), fabric), target, settings, options
            )
        if settings.transport.value not in ("null", "model"):
            check_nics(target)
        with result_folder(
            settings.out.value, "check", resume=options["resume"], origin=settings.out.origin
        ) as folder:
            from wireproof.workflow.resume import remember
            from wireproof.workflow.session.launch import install_for

            session = _wish(settings, options, target, folder, fabric)
            install_for(session)  # an MPI that is not there is told before anything is written
            remember(folder, session.seed, target)
            parts = _parts(session, target, settings, fabric)
            return deliver(
                parts, title="wireproof check", folder=folder, as_json=settings.json.value
            )


def measured(
    settings: Settings, options: dict[str, Any], target: Target, folder: Path
) -> list[Any]:
    """Measured and judged parts of a check, with its records in ``folder`` and nothing told."""
    fabric = _fabric(options, target)
    return _parts(_wish(settings, options, target, folder, fabric), target, settings, fabric)


def _fabric(options: dict[str, Any], target: Target) -> Fabric | None:
    from wireproof.workflow.target.fabric import fabric_for

    return fabric_for(options["topology"], target)
