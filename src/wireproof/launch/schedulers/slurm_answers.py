"""Read Slurm's answers: states of jobs and nodes, refusals, and the reason for the end of a job.
Pure.

According to the manuals of 22.05 to 24.05 (squeue(1), sinfo(1), scontrol(1)); the messages of
refusals were observed with Slurm 22.05.
"""

import dataclasses
import re
from datetime import datetime

from wireproof.launch.registry import NodeState
from wireproof.model.errors import BadInput, CouldNotMeasure, WireproofError
from wireproof.options.hosts import MOST_HOSTS, parse_hosts

_LONGEST = 300


@dataclasses.dataclass(frozen=True, kw_only=True)
class JobState:
    """A job: Slurm's state and reason.

    For a job in the queue, also the expected start ("" if unknown) and the waiting time so far.
    ``hosts`` (in Slurm's order) and ``limit`` (as Slurm writes it) come from ``scontrol show job``.
    """

    job: str
    state: str
    reason: str = ""
    starts: str = ""
    waited_s: float = 0.0
    hosts: tuple[str, ...] = ()
    partition: str = ""
    limit: str = ""
    ends_unix_s: float | None = None


def _plain(text: str) -> str:
    """Return a printable, bounded line of untrusted text."""
    return "".join(letter if letter.isprintable() else "?" for letter in " ".join(text.split()))[
        :_LONGEST
    ]


def parse_queue(text: str, job: str, waited_s: float = 0.0) -> JobState | None:
    """Parse the output of ``queue_argv``; return the state, None if the job is not in the queue."""
    for line in text.splitlines()[:16]:
        parts = line.strip().split("|")
        if len(parts) >= 3 and parts[0].isupper():
            starts = "" if parts[-1] in ("N/A", "Unknown") else _plain(parts[-1])
            reason = _plain("|".join(parts[1:-1]))
            return JobState(
                job=job,
                state=_plain(parts[0]),
                reason="" if reason == "None" else reason,
                starts=starts,
                waited_s=waited_s,
            )
    return None


_FIELD = re.compile(
    r"(?:^| )(JobId|JobState|Reason|EndTime|TimeLimit|Partition|NodeList)=([^ \n]{0,65536})"
)


def _moment(text: str) -> float | None:
    """Return the seconds since the epoch of ``2026-11-21T15:00:56`` in the local time zone, as
    Slurm prints times.
    """
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S").astimezone().timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def parse_job(text: str) -> JobState | None:
    """Parse the output of ``job_argv``; return the job, None if there is none. An invalid node list
    becomes empty.
    """
    fields: dict[str, str] = {}
    for name, value in _FIELD.findall(text[: 1 << 20].partition("\n")[0]):
        fields.setdefault(name, value)
    if "JobId" not in fields or "JobState" not in fields:
        return None
    listed = fields.get("NodeList", "")
    try:
        hosts = parse_hosts(listed) if listed not in ("", "(null)") else ()
    except BadInput:
        hosts = ()
    return JobState(
        job=fields["JobId"][:32],
        state=_plain(fields["JobState"]),
        reason=_plain(fields.get("Reason", "")),
        hosts=hosts,
        partition=_plain(fields.get("Partition", "")),
        limit=_plain(fields.get("TimeLimit", "")),
        ends_unix_s=_moment(fields.get("EndTime", "")),
    )


_UNUSABLE = (
    "drain",
    "down",
    "fail",
    "maint",
    "reserved",
    "unk",
    "no_respond",
    "power",
    "reboot",
    "error",
    "planned",
    "inval",
)


def parse_node_states(text: str) -> dict[str, NodeState]:
    """Parse the output of ``node_states_argv``; return each node once. Other lines are skipped.

    A state that ends in ``*`` belongs to a node that does not answer; ``~#!%@$^-`` are marks of
    power and reservation.
    """
    found: dict[str, NodeState] = {}
    for line in text.splitlines()[: 16 * MOST_HOSTS]:
        parts = line.strip().split("|", 2)
        if len(parts) != 3 or parts[0] in found or not parts[1]:
            continue
        name, marked, reason = parts
        state = _plain(marked.rstrip("*~#!%@$^-+")).lower()
        usable = "*" not in marked and not state.startswith(_UNUSABLE)
        said = "" if reason.strip().lower() in ("none", "") else _plain(reason)
        found[name] = NodeState(
            name=name,
            state=state + (", not responding" if "*" in marked else ""),
            reason=said,
            usable=usable,
        )
    return found


_HOPELESS = {
    "PartitionTimeLimit": "requests more time than the partition allows: give a shorter time limit",
    "PartitionNodeLimit": "requests more nodes than the partition allows: request fewer",
    "PartitionConfig": "requests more nodes or time than the partition has: request less",
    "BadConstraints": "requests a feature that no node has: leave out the constraint",
    "InvalidAccount": "uses an invalid account: give another with --account",
    "InvalidQOS": "uses an invalid quality of service: give another with --qos",
    "ReservationDeleted": "uses a reservation that no longer exists: leave it out",
}
"""Reasons for which a job never starts: Slurm queues the job anyway unless the site sets
EnforcePartLimits.
"""


def hopeless(state: JobState) -> str:
    """Return the message for a pending job that can never start as requested, else ""."""
    remedy = _HOPELESS.get(state.reason)
    return (
        f"job {state.job} {remedy} (Slurm: {state.reason})."
        if remedy and state.state == "PENDING"
        else ""
    )


_USAGE = (
    "invalid partition",
    "invalid account",
    "invalid qos",
    "invalid node name",
    "time limit is invalid",
    "node count specification",
    "node configuration is not available",
    "invalid feature",
    "reservation is invalid",
    "invalid --",
    "unrecognized option",
    "invalid option",
    "access denied to requested reservation",
    "group not permitted",
    "more processors requested",
    "invalid generic resource",
    "user's group",
)
_NOISE = re.compile(r"^(?:salloc|sbatch|srun|squeue|scontrol|sinfo|scancel): (?:error: )?")
_OUTCOME = re.compile(
    r"(?:Job submit/allocate failed|Unable to allocate resources|Batch job submission failed): (.*)"
)
_REVOKED = re.compile(
    r"Job allocation \S+ has been revoked|Pending job allocation|queued and waiting|try .*--help",
    re.I,
)


def refusal(stderr: str, what: str = "the job") -> WireproofError:
    """Return an error with Slurm's message in a sentence: ``BadInput`` if the request is at fault,
    else ``CouldNotMeasure``.
    """
    lines = [_plain(_NOISE.sub("", line.strip())) for line in stderr[: 1 << 16].splitlines()]
    lines = [line for line in lines if line and not _REVOKED.search(line)]
    found = [match.group(1) for line in lines if (match := _OUTCOME.search(line))]
    detail = [line for line in lines if line.lower().startswith("invalid ")]
    said = "; ".join(dict.fromkeys([*found, *detail])) or (
        lines[-1] if lines else "no reason was given"
    )
    sentence = f"Slurm refused {what}: {said.rstrip('.')}"
    if any(sign in said.lower() for sign in _USAGE):
        return BadInput(f"{sentence}; see `sinfo` for the available partitions and nodes.")
    if "contact slurm controller" in stderr or "configuration source" in stderr:
        return CouldNotMeasure(
            f"{sentence}; is this a machine of the cluster, and does `sinfo` answer here?"
        )
    return CouldNotMeasure(f"{sentence}.")


_ENDS = {
    "TIMEOUT": "was ended at its time limit of {limit}: give more time, or measure less",
    "DEADLINE": "was ended at its deadline",
    "NODE_FAIL": "was ended because one of its nodes failed",
    "PREEMPTED": "was preempted by another job",
    "CANCELLED": "was cancelled",
    "OUT_OF_MEMORY": "was ended because it ran out of memory",
    "BOOT_FAIL": "was ended because one of its nodes did not boot",
    "FAILED": "failed",
    "REVOKED": "was revoked",
    "COMPLETED": "has ended",
    "SUSPENDED": "is suspended",
    "REQUEUED": "was requeued",
}


def why_ended(info: JobState) -> str:
    """Return a sentence about a job that no longer runs, "" while it runs or waits.

    Inside its batch script, the state of an ending job is COMPLETING, and only Slurm's reason shows
    why.
    """
    state = info.state.split("+")[0]
    if state == "COMPLETING":
        if info.reason == "TimeLimit":
            state = "TIMEOUT"
        else:
            said = f" (Slurm: {info.reason})" if info.reason not in ("", "None") else ""
            return (
                f"Slurm ends job {info.job} before its time limit{said}: it was cancelled or"
                " preempted, or a node failed."
            )
    text = _ENDS.get(state)
    return f"job {info.job} {text.format(limit=info.limit)}." if text else ""
