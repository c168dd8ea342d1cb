"""Start a session's ranks: the MPI, the commands that can start it (best first), the command that
succeeds, and external causes of its end.
"""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import PurePath

import msgspec

from wireproof.files.programs import find_program
from wireproof.instrument import Outcome
from wireproof.launch.command import build_command, request_for
from wireproof.launch.engines import MpiInstall
from wireproof.launch.known import SCHEDULERS
from wireproof.launch.mpi.discovery import choose_mpi
from wireproof.launch.registry import LaunchCommand, LaunchRequest, reach_of
from wireproof.measure.session import Session
from wireproof.model.errors import BadInput, WireproofError
from wireproof.model.record import EngineError
from wireproof.model.run import Ended, missing_code
from wireproof.report.reporter import Reporter
from wireproof.target import Target
from wireproof.target.availability import Availability


def install_for(session: Session) -> MpiInstall | None:
    """Return the MPI that starts the ranks, or None if none is needed."""
    if session.by_mpi:
        return choose_mpi(session.mpi)
    # Any Hydra starts plain processes; the embedded Hydra is always available.
    return choose_mpi("mpich") if session.transport in ("tcp", "ofi") else None


def launch_options(
    session: Session, target: Target, install: MpiInstall | None
) -> list[LaunchCommand]:
    """Return the commands that can start ``session`` on ``target``, best first.

    Raises ``BadInput`` if there is none.
    """
    started_as = "mpi" if session.by_mpi else session.transport
    by_ssh = request_for(
        started_as,
        install,
        hosts=target.start_on,
        ranks=target.ranks,
        nics=target.nics,
        agent=target.agent,
        nic_selection=session.nic_selection,
        fabric="psm3" if session.ofi.provider == "psm3" else session.fabric,
        machine_ranks=target.machine_ranks,
        meet=target.meet() if started_as in ("tcp", "ofi") else "",
        over="ofi" if session.transport == "ofi" else "",
        extra=session.extra,
        prefix=target.prefix,
    )

    def build(request: LaunchRequest) -> LaunchCommand:
        return target.enter(build_command(started_as, request))

    job = target.allocation
    if job is None or (target.reached_by_agent and PurePath(target.agent).name != "jsrun"):
        return [build(by_ssh)]
    in_job = dataclasses.replace(
        by_ssh, scheduler=job.scheduler, job=job.job, starter=target.starter
    )
    scheduler = SCHEDULERS[job.scheduler]
    if scheduler.options is None:
        return _options_beside_ssh(in_job, by_ssh, build)
    found = scheduler.options(in_job, job.hosts, target.through())
    return [_chosen(build(request), why) for request, why in found]


def _options_beside_ssh(
    in_job: LaunchRequest, by_ssh: LaunchRequest, build: Callable[[LaunchRequest], LaunchCommand]
) -> list[LaunchCommand]:
    """Return the scheduler's launch and the MPI's launch over ssh, which reaches a job's nodes on
    most sites, best first. Without the scheduler's program on PATH its launch comes second.
    """
    scheduler = SCHEDULERS[in_job.scheduler]
    if in_job.starter == "mpi" or in_job.agent:
        return [build(in_job)]
    over_ssh = build(by_ssh)
    try:
        scheduled = build(in_job)
    except BadInput as error:
        # the MPI's launcher can set a rank order, and a different environment for each rank
        return [_ssh_option(over_ssh, str(error).rstrip("."))]
    why = f"started by {scheduled.launcher} in a job of {in_job.scheduler}"
    first = dataclasses.replace(scheduled, why=why)
    if scheduled.argv == over_ssh.argv:
        return [first]
    component = reach_of(in_job).openmpi
    if component not in scheduled.argv and find_program(scheduler.program) is None:
        return [_ssh_option(over_ssh, f"{scheduler.program} is not on PATH"), first]
    return [first, _ssh_option(over_ssh, f"{in_job.scheduler} could not start the ranks")]


def _ssh_option(command: LaunchCommand, reason: str) -> LaunchCommand:
    return _chosen(command, f"started by the MPI's own launcher over ssh: {reason}")


def _chosen(command: LaunchCommand, why: str) -> LaunchCommand:
    return dataclasses.replace(command, why=why, notes=(why, *command.notes))


def command_of(session: Session, target: Target) -> LaunchCommand:
    """Return the command that would start ``session`` on ``target``."""
    return launch_options(session, target, install_for(session))[0]


def started(
    options: Sequence[LaunchCommand],
    target: Target,
    run: Callable[[LaunchCommand, bool], Outcome],
    reporter: Reporter,
) -> Outcome:
    """Return the outcome of the first option that starts.

    ``run`` receives True if an earlier option has created the folder. If the run was ended by the
    end of its job or by a signal, the outcome contains this reason.
    """
    for number, option in enumerate(options):
        before = run(option, number > 0)
        outcome = ended_from_outside(before, target, reporter)
        if outcome is not before:
            if outcome.ending.ended == "interrupted":
                reporter.say(outcome.ending.reason)
            return outcome
        left = options[number + 1 :]
        # the command works, but some hosts do not respond
        few_lost = 0 < len(outcome.ending.lost) <= target.size // 2
        if outcome.ending.ended != "not-started" or few_lost or not left:
            return outcome
        reporter.warn(f"{outcome.ending.reason}; trying another launcher: {left[0].why}")
    raise AssertionError("there is at least one option")


_OWN_BUSINESS = ("done", "mismatch", "bad-frame", "disk-full")
"""Endings that cannot be caused by the end of a job."""
_FOLLOWED = ("-lost", "-gone", "interrupted")
"""Suffixes of the codes with which ranks report consequences of the end of their job."""


def ended_from_outside(outcome: Outcome, target: Target, reporter: Reporter) -> Outcome:
    """Return the outcome with the scheduler's reason if its job has ended, or with the name of the
    signal that ended it; otherwise unchanged.
    """
    if outcome.ending.ended in _OWN_BUSINESS:
        return outcome
    if why := _job_end(target, reporter):
        return _ended(outcome, why)
    signal = reporter.interruption()
    if signal and outcome.ending.ended == "interrupted":
        return _ended(outcome, f"{signal} ended the run")
    return outcome


def _job_end(target: Target, reporter: Reporter) -> str:
    """Return the reason why the job no longer runs, with its nodes that no longer respond, or ""
    while it runs.
    """
    job = target.allocation
    scheduler = target.scheduler
    if job is None or not job.job or scheduler is None or scheduler.queries is None:
        return ""
    try:
        why = scheduler.queries.job_ended(job.job, target.through())
        gone = Availability(reporter).absent(target, range(target.size)) if why else {}
    except WireproofError:  # the controller is gone too: only the launcher's message is known
        return ""
    return "; ".join(dict.fromkeys([why.rstrip("."), *list(gone.values())[:4]])) if why else ""


def _ended(outcome: Outcome, why: str) -> Outcome:
    """Return the outcome as ``interrupted`` or ``not-started`` without blaming a host: errors about
    hosts came from the end of the job.
    """
    before = outcome.ending.reason
    errors = [error for error in outcome.run.errors if not error.code.endswith(_FOLLOWED)]
    # for example if the variables of an ended job are still set
    nothing = outcome.ending.ended == "not-started" and not outcome.run.points
    ended: Ended = "not-started" if nothing else "interrupted"
    code = missing_code(ended)
    missing = {
        point: msgspec.structs.replace(reason, code=code, text=why)
        if before in ("", reason.text)
        else reason
        for point, reason in outcome.run.missing.items()
    }
    ending = msgspec.structs.replace(outcome.ending, ended=ended, reason=why, lost={})
    run = msgspec.structs.replace(
        outcome.run, missing=missing, errors=[EngineError(code="broken-off", message=why), *errors]
    )
    return msgspec.structs.replace(outcome, ending=ending, run=run)
