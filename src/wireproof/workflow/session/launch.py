"""How a session's ranks are started: the MPI, the commands that can start it, best first, and the one
that does.
"""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import PurePath
from typing import TYPE_CHECKING

from wireproof.cli.signals import as_interrupt
from wireproof.instrument.measure import Outcome
from wireproof.launch.command import build_command, prepare, request_for
from wireproof.launch.mpi.discovery import choose_mpi
from wireproof.launch.mpi.install import MpiInstall
from wireproof.launch.request import LaunchCommand
from wireproof.model.errors import BadInput
from wireproof.workflow.session.broken_off import named
from wireproof.workflow.target.target import Target

if TYPE_CHECKING:
    from wireproof.workflow.session.session import Session

__all__ = ["LaunchOption", "install_for", "launch_options", "started"]


@dataclasses.dataclass(frozen=True)
class LaunchOption:
    """One command that can start the ranks; ``why`` this one, where there was a choice."""

    command: LaunchCommand
    why: str = ""


def install_for(session: Session) -> MpiInstall | None:
    """The MPI that starts the ranks; None where none is needed."""
    if session.transport == "mpi":
        return choose_mpi(session.mpi)
    # Any Hydra starts plain processes; the embedded one is always there.
    return choose_mpi("mpich") if session.transport == "tcp" else None


def launch_options(
    session: Session, target: Target, install: MpiInstall | None
) -> list[LaunchOption]:
    """The commands that can start ``session`` on ``target``, best first. Raises ``BadInput`` when there
    is none.
    """
    wishes: dict[str, object] = {
        "hosts": target.start_on,
        "ranks": target.ranks,
        "nics": target.nics,
        "agent": target.agent,
        "nic_selection": session.nic_selection,
        "fabric": session.fabric,
        "machine_ranks": target.machine_ranks,
        "meet": target.meet() if session.transport == "tcp" else "",
        "extra": session.extra,
        "prefix": target.prefix,
    }
    job = target.allocation
    if job is None or (target.reached_by_agent and PurePath(target.agent).name != "jsrun"):
        return [LaunchOption(target.enter(prepare(session.transport, install, **wishes)))]
    in_job = {**wishes, "scheduler": job.scheduler, "job": job.job, "starter": target.starter}
    if job.scheduler != "slurm":
        return _options_beside_ssh(
            job.scheduler,
            in_job,
            wishes,
            lambda given: target.enter(prepare(session.transport, install, **given)),
        )
    from wireproof.launch.schedulers.slurm_probe import slurm_requests

    request = request_for(session.transport, install, **in_job)
    found = slurm_requests(request, job_hosts=job.hosts, through=target.through())
    return [
        LaunchOption(_noted(target.enter(build_command(session.transport, one)), why), why)
        for one, why in found
    ]


_STARTS = {"pbs": "pbs_tmrsh", "lsf": "blaunch", "flux": "flux"}
"""The scheduler's program that starts ranks; without it on PATH that way is not the first to be
tried.
"""


def _options_beside_ssh(
    scheduler: str,
    in_job: dict[str, object],
    by_ssh: dict[str, object],
    build: Callable[[dict[str, object]], LaunchCommand],
) -> list[LaunchOption]:
    """The scheduler's way and the MPI's own over ssh, which reaches a job's nodes on most sites;
    best first.
    """
    program = _STARTS[scheduler]
    if in_job["starter"] == "mpi" or in_job["agent"]:
        return [LaunchOption(build(in_job))]
    own = build(by_ssh)
    try:
        theirs = build(in_job)
    except BadInput as error:
        # one environment for all ranks, an order of its own: the MPI's launcher has neither
        return [_ssh_option(own, str(error).rstrip("."))]
    first = LaunchOption(theirs, f"started by {theirs.launcher} in a job of {scheduler}")
    if theirs.argv == own.argv:
        return [first]
    if "tm" not in theirs.argv and shutil.which(program) is None:
        return [_ssh_option(own, f"{program} is not on PATH"), first]
    return [first, _ssh_option(own, f"should the way of {scheduler} not start")]


def _ssh_option(command: LaunchCommand, reason: str) -> LaunchOption:
    why = f"started by the MPI's own launcher over ssh: {reason}"
    return LaunchOption(_noted(command, why), why)


def _noted(command: LaunchCommand, why: str) -> LaunchCommand:
    return dataclasses.replace(command, notes=(why, *command.notes))


def started(
    ways: list[LaunchOption],
    target: Target,
    run: Callable[[LaunchOption, bool], Outcome],
    say: Callable[[str], None],
) -> Outcome:
    """The outcome of the first way that starts. ``run`` is told whether the folder was begun by a
    way before.

    SIGTERM ends the run as Ctrl-C does, and a run that broke off because its job ended says so.
    """
    for number, way in enumerate(ways):
        with as_interrupt() as signals:
            outcome = run(way, number > 0)
        outcome, before = named(outcome, target, signals), outcome
        if outcome is not before:
            if outcome.ending.ended == "interrupted":
                say(outcome.ending.reason)
            return outcome
        left = ways[number + 1 :]
        # the way is good, some hosts are not
        few_lost = 0 < len(outcome.ending.lost) <= target.size // 2
        if outcome.ending.ended != "not-started" or few_lost or not left:
            return outcome
        say(f"{outcome.ending.reason}; trying another way: {left[0].why}")
    raise AssertionError("there is always a way")
