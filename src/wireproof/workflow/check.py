"""The main job: measure a set of hosts, or this machine; prove the paths, locate slow parts and
judge the results.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from wireproof.audit.job_facts import QUICK, REQUESTS
from wireproof.locate.causes.properties import fact_requests
from wireproof.measure.points import SIZES, affordable, covering, numbered, paced, sweep
from wireproof.measure.resume import remember, result_folder, stored_seed
from wireproof.measure.session import Session
from wireproof.measure.session.launch import install_for
from wireproof.measure.session.screen_plan import crowded, screen_points
from wireproof.measure.specification import CheckSpecification, imagined_target, job_target
from wireproof.model.claim import first_rail
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.located import Fabric
from wireproof.model.plan import FactRequest, ModelFault, Point, Policy
from wireproof.options.table import Profile
from wireproof.physics.table import link_from_name
from wireproof.report.reporter import Reporter, say_all
from wireproof.store.snapshot import SETTINGS
from wireproof.target import Target, this_machine
from wireproof.target.availability import Availability
from wireproof.target.resolve import fabric_for, refuse_lone_claims, resolve_target

if TYPE_CHECKING:
    from wireproof.instrument import Outcome
    from wireproof.measure.result import MeasuredPart, Result
    from wireproof.measure.session.dry_run import Planned
    from wireproof.model.tuning import Standing
    from wireproof.report.judged_run import JudgedRun


QUICK_PINGPONG = (0, 8, 1024, 16384, 65536, 262144, 1 << 20)
QUICK_STREAM = (8, 4096, 65536, 262144, 1 << 20, 4 << 20)
QUICK_LATENCY, QUICK_BANDWIDTH = 0.04, 0.02
"""Relative half-widths of the interval at which a point of a quick check (of two hosts, or of a
lab) ends: narrow enough to detect a difference of 10 %. A point that does not reach them uses its
whole budget.
"""
QUICK_LARGEST_MS, QUICK_IN_FLIGHT_MS = 25.0, 12.0
"""Longest message and window of a quick check, in time at the claimed rate; longer messages would
show the same plateau.
"""
QUICK_RATE = 1e9
"""Rate for which a quick check plans if no link claims a rate, in bits per second. Messages that
fill a link of 1 Gb/s also fill a faster link, and a link of 10 Mb/s still answers within a minute.
"""
LAUNCHES: dict[Profile, int] = {"quick": 1, "standard": 3, "acceptance": 10}
"""Independent launches vary among themselves (Hunold and Carpen-Amarie 2016); repetitions within a
launch do not show that variation.
"""
COMMANDS_UP_TO = 256
"""The output of commands (ethtool, tc: 20 kB a host) is collected up to this number of hosts; with
more hosts only files of /sys are read.
"""
MANY = 64
"""Above this number of hosts connections are closed after each round, because they cost memory on
every host.
"""
SCREEN_DEADLINE_MS = 15_000
MODEL_DEADLINE_MS, MODEL_BYTES = 300_000, 8192


def check(
    specification: CheckSpecification, reporter: Reporter, environment: Mapping[str, str]
) -> Result:
    """Measure, prove, locate and judge; store the records as specified.

    ``environment``: variables that may describe the allocation of this process. Raises ``BadInput``
    before anything is started, and ``CouldNotMeasure`` if nothing at all was measured.
    """
    specification = _narrowed(specification)
    with _target(specification, reporter, environment) as target:
        fabric = fabric_for(specification.topology, target, reporter)
        if not specification.method.plays_hosts:
            Availability(reporter).check_nics(target)
        with result_folder(specification.storage, "check", reporter) as folder:
            session = _session(specification, target, folder, fabric)
            if specification.storage.resume:
                from wireproof.archive.dossier import unseal

                unseal(folder, reporter)
            install_for(session)  # a missing MPI is an error before anything is written
            if specification.invocation is not None:
                remember(folder, specification.invocation, session.seed, target.hosts)
            standing = _standing(target) if specification.audit else None
            parts = _parts(specification, session, target, fabric, reporter)
            parts = [part.on_hosts_with(standing) for part in parts]
            parts = _with_settings(parts, specification, target, reporter, environment, folder)
            from wireproof.measure.result import keep_result  # loaded while the ranks start

            result = keep_result(
                parts,
                title="wireproof check",
                folder=folder,
                storage=specification.storage,
                reporter=reporter,
            )
            if specification.profile == "acceptance":
                from wireproof.archive.dossier import seal

                agreed = specification.method.agreed
                return seal(result, specification.profile, agreed, reporter)
            return result


def _standing(target: Target) -> Standing | None:
    from wireproof.tune.job import standing_on

    return standing_on(target)


def plan_check(
    specification: CheckSpecification, reporter: Reporter, environment: Mapping[str, str]
) -> Planned:
    """Plan the same check without starting anything.

    Nodes of a job that is not requested yet get made-up names.
    """

    if specification.request is not None:
        target, fabric = imagined_target(specification, specification.request), None
    else:
        target = resolve_target(specification, environment)
        refuse_lone_claims(specification, target)
        fabric = fabric_for(specification.topology, target, reporter)
    say_all(target.notes, reporter)
    session = _session(specification, target, Path("RUN"), fabric)
    from wireproof.measure.session.dry_run import planned

    return planned(session, target)


def _narrowed(specification: CheckSpecification) -> CheckSpecification:
    """Keep only the least proven hosts if ``--least-proven`` requests that; a resumed run gets the
    same hosts.
    """
    count = specification.least_proven
    if count is None:
        return specification
    from wireproof.archive.history import least_proven
    from wireproof.store.history import take_turns

    root = specification.storage.history
    if root is None or count > len(specification.hosts):
        raise BadInput(
            f"--least-proven {count} chooses among more --hosts by a --history: give both."
        )
    hosts = least_proven(root, specification.hosts, count)
    # Recorded now, because hosts that are down leave no result, and a concurrent job must choose
    # others.
    take_turns(root, hosts, datetime.now(UTC).isoformat(timespec="seconds"))
    invocation = specification.invocation
    return dataclasses.replace(
        specification,
        hosts=hosts,
        invocation=invocation and invocation.on(hosts),
    )


@contextlib.contextmanager
def _target(
    specification: CheckSpecification, reporter: Reporter, environment: Mapping[str, str]
) -> Iterator[Target]:
    """Yield the target; a job that wireproof requested is always released."""
    if specification.request is None:
        opened: contextlib.AbstractContextManager[Target] = contextlib.nullcontext(
            resolve_target(specification, environment)
        )
    else:
        storage = specification.storage
        resumed = storage.folder if storage.resume else None
        opened = job_target(specification, specification.request, reporter, resumed=resumed)
    with opened as target:
        refuse_lone_claims(specification, target)
        say_all(target.notes, reporter)
        yield target


def _session(
    specification: CheckSpecification, target: Target, folder: Path, fabric: Fabric | None
) -> Session:
    method, storage = specification.method, specification.storage
    _check_faults(specification.faults, target.size)
    seed = method.seed
    if seed is None and storage.resume:
        seed = stored_seed(folder)
    if seed is None:
        seed = method.chosen_seed()
    session = method.session(
        f"check of {target.size} hosts" if target.hosts else "check of this machine",
        _points(specification, target, fabric, seed),
        policy=_policy(specification, target),
        seed=seed,
        out=folder / "run",
        storage=storage,
    )
    return dataclasses.replace(
        session,
        model_faults=specification.faults,
        facts=() if method.transport == "model" else _facts(target),
        until=specification.until,
        launches=LAUNCHES[specification.profile],
    )


def _check_faults(faults: tuple[ModelFault, ...], ranks: int) -> None:
    for fault in faults:
        if fault.rank >= ranks:
            raise BadInput(f"--model-fault rank={fault.rank}: give a rank below {ranks}.")


def _points(
    specification: CheckSpecification, target: Target, fabric: Fabric | None, seed: int
) -> list[Point]:
    """Return sweeps for one machine or two hosts, and rounds of pairs for more hosts."""
    if not target.hosts or target.size == 2:
        return _sweeps(specification.profile, target, back=bool(target.hosts))
    return screen_points(
        target,
        fabric,
        seed=seed,
        rounds=specification.rounds,
        all_pairs=specification.all_pairs,
        size=MODEL_BYTES if specification.method.transport == "model" else None,
    )


def _sweeps(profile: Profile, target: Target, *, back: bool) -> list[Point]:
    """Return the curves of the first pair: half round trip and stream over the sizes.

    ``back`` adds the stream in the other direction.
    """
    if profile == "quick":
        rate = target.claimed_rate or QUICK_RATE
        pingpongs = affordable(QUICK_PINGPONG, rate, QUICK_LARGEST_MS)
        streams = affordable(QUICK_STREAM, rate, QUICK_LARGEST_MS)
    else:
        pingpongs = streams = affordable(SIZES, target.claimed_rate)
    points = sweep("pingpong", pingpongs, [(0, 1)]) + sweep("stream", streams, [(0, 1)])
    return points + (sweep("stream", streams, [(1, 0)]) if back else [])


def _facts(target: Target) -> tuple[FactRequest, ...]:
    """Return the facts to read on every host: enough to find out why a node is slow."""
    nic = first_rail(target.nics[0]) if target.nics else ""
    wanted = [*QUICK, *REQUESTS]
    if target.hosts:
        wanted += fact_requests(nic, commands=target.size <= COMMANDS_UP_TO)
    return tuple({(fact.kind, fact.path, fact.argv): fact for fact in wanted}.values())


def _policy(specification: CheckSpecification, target: Target) -> Policy:
    """Return the bounds of the points.

    Points of a screen are short: a rank that far exceeds its budget has hung, and the other ranks
    must continue.
    """
    method = specification.method
    policy = method.bounds()
    # The model's time is simulated but its bytes are really moved, so few bytes suffice.
    if method.transport == "model":
        return msgspec.structs.replace(
            policy,
            in_flight_bytes=covering(method.model, MODEL_BYTES) * MODEL_BYTES,
            block_us=10,
            warmup_min_us=20,
            warmup_min_operations=10,
            point_deadline_ms=MODEL_DEADLINE_MS,
        )
    pinned = target.pinned(policy)
    if specification.profile != "quick":
        policy = paced(pinned, target.claimed_rate)
    else:
        policy = paced(pinned, target.claimed_rate or QUICK_RATE, QUICK_IN_FLIGHT_MS)
    if specification.profile == "quick" and (target.size <= 2 or crowded(target)):
        policy = msgspec.structs.replace(
            policy, latency_half_width=QUICK_LATENCY, bandwidth_half_width=QUICK_BANDWIDTH
        )
    if target.size > MANY:
        policy = msgspec.structs.replace(policy, teardown="point")
    if target.size <= 2 or method.budget_s is not None:
        return policy
    return msgspec.structs.replace(policy, point_deadline_ms=SCREEN_DEADLINE_MS)


def _parts(
    specification: CheckSpecification,
    session: Session,
    target: Target,
    fabric: Fabric | None,
    reporter: Reporter,
) -> list[MeasuredPart]:
    """Return a measured and judged part for each subject of the check; no part follows an
    interrupted part.
    """
    from wireproof.measure.session.again import run_settled

    parts: list[MeasuredPart] = []
    if target.hosts and target.size > 2:
        from wireproof.measure.session.again import run_screen

        parts.append(_measured(*run_screen(session, target, fabric, reporter)))
        curves = specification.profile != "quick" and session.transport != "model"
        more = [(_curves(specification, session, target), target.only((0, 1)))] if curves else []
    else:
        more = [(session, target)] if target.hosts else _alone(session)
    for part_session, part_target in more:
        if parts and parts[-1].outcomes and parts[-1].outcomes[-1].ending.ended == "interrupted":
            break
        parts.append(_measured(*run_settled(part_session, part_target, reporter)))
    return parts


def _measured(section: JudgedRun, outcomes: list[Outcome]) -> MeasuredPart:
    from wireproof.measure.result import MeasuredPart

    return MeasuredPart(section, outcomes)


def _with_settings(
    parts: list[MeasuredPart],
    specification: CheckSpecification,
    target: Target,
    reporter: Reporter,
    environment: Mapping[str, str],
    folder: Path,
) -> list[MeasuredPart]:
    """Add the hosts' settings to the first part, and to each part the settings that can explain why
    it is slow. If the settings cannot be read, return the parts unchanged.
    """
    skipped = target.size > COMMANDS_UP_TO or (parts and parts[-1].ended("interrupted"))
    if not parts or not specification.audit or skipped:
        return parts
    from wireproof.audit.job import audit_target
    from wireproof.measure.conditions import with_settings

    try:
        run = parts[0].section.run
        settings = audit_target(target, reporter, environment, run, folder / SETTINGS)
    except CouldNotMeasure as error:
        reporter.warn(str(error))
        return parts
    sections = with_settings([part.section for part in parts], settings)
    return [part._replace(section=new) for part, new in zip(parts, sections, strict=True)]


def _alone(session: Session) -> list[tuple[Session, Target]]:
    """Return two sessions for one plain machine: shared memory through the MPI, and loopback
    through the kernel. Neither is a wire.
    """
    assert session.out is not None  # noqa: S101  set by _session
    shm = dataclasses.replace(
        session,
        title="shared memory of this machine",
        lead=(
            "Two ranks on one machine: this shows the speed of memory, so that a wire can be"
            " told from it."
        ),
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


def _curves(specification: CheckSpecification, session: Session, target: Target) -> Session:
    """Return the session that measures the curves of the first pair over the sizes."""
    assert session.out is not None  # noqa: S101  set by _session
    out = session.out.with_name("pair")
    return dataclasses.replace(
        session,
        title=f"{target.hosts[0]} and {target.hosts[1]} over the sizes",
        points=numbered(_sweeps(specification.profile, target, back=True), seed=session.seed),
        out=out,
        resume=session.resume and any(out.parent.glob(f"{out.name}*/run.json")),
    )
