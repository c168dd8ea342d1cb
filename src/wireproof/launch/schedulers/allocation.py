"""The scheduler's allocation that we run in, or that was made for us.

Each scheduler has one detector, registered by a decorator line. What the environment says was
written by others: a value that cannot be what its name says is refused with one sentence, never
used in an argument list.
"""

from __future__ import annotations

import dataclasses
import math
import os
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence

from wireproof.launch.request import Scheduler
from wireproof.model.errors import BadInput
from wireproof.settings.hosts import MOST_HOSTS, host_lines, parse_hosts

__all__ = [
    "DETECTORS",
    "Allocation",
    "Ask",
    "current",
    "detector",
    "flux_hosts_argv",
    "flux_job_hosts_argv",
]

_TIMEOUT_S = 15.0
_ANSWER_BYTES = 4 << 20
_JOB = re.compile(r"[A-Za-z0-9ƒ][A-Za-z0-9ƒ._\[\]-]{0,127}")
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._,@+-]{0,127}", re.ASCII)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Allocation:
    """``hosts``: the nodes granted, in the scheduler's order, each once. ``owned``: made for us, to
    be given back.

    ``ends_unix_s``: when the scheduler will end it, None when it does not say.
    """

    scheduler: Scheduler
    job: str
    hosts: tuple[str, ...]
    partition: str = ""
    owned: bool = False
    ends_unix_s: float | None = None
    notes: tuple[str, ...] = ()


Ask = Callable[[Sequence[str], Mapping[str, str]], str]
"""Runs an argument list in an environment and gives what it printed, "" when it failed."""
Detector = Callable[[Mapping[str, str], Ask], Allocation | None]
DETECTORS: dict[Scheduler, Detector] = {}
"""In the order of asking: Flux can run inside an allocation of another scheduler, so it is asked
first.
"""


def detector(scheduler: Scheduler) -> Callable[[Detector], Detector]:
    """Make the decorated function the detector of ``scheduler``."""

    def register(function: Detector) -> Detector:
        DETECTORS[scheduler] = function
        return function

    return register


def _answer(argv: Sequence[str], environment: Mapping[str, str]) -> str:
    try:
        done = subprocess.run(
            argv,
            env=dict(environment),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""
    return "" if done.returncode else done.stdout[:_ANSWER_BYTES].decode("utf-8", "replace")


def current(environment: Mapping[str, str] | None = None, ask: Ask = _answer) -> Allocation | None:
    """The allocation that ``environment`` (default: our own) belongs to, None when it belongs to
    none.

    A task of a job step belongs to the step's whole job. Raises ``BadInput``, naming the variable,
    for a value that cannot be used.
    """
    environment = os.environ if environment is None else environment
    for detect in DETECTORS.values():
        if (found := detect(environment, ask)) is not None:
            return found
    return None


# --- what all have in common
# ---------------------------------------------------------------------------------------


def _job(environment: Mapping[str, str], name: str) -> str:
    value = environment.get(name, "").strip()
    if value and _JOB.fullmatch(value) is None:
        raise BadInput(
            f"{name}={value[:60]!r} is not the id of a job: unset it, or run inside the job."
        )
    return value


def _word(environment: Mapping[str, str], *names: str) -> str:
    """The first that is set; it is only shown and recorded, so that a strange one is left out."""
    value = next((environment[name] for name in names if environment.get(name)), "")
    return value if _WORD.fullmatch(value) else ""


def _hosts(text: str, origin: str) -> tuple[str, ...]:
    """Hosts in order, each once. ``origin`` names the variable or file in the sentence of an
    error.
    """
    try:
        if (strange := re.search(r"[@!&^]|^file:", text)) is not None:
            raise BadInput(f"{strange.group()!r} is no part of a host's name.")
        return tuple(dict.fromkeys(parse_hosts(text, repeats=True)))
    except BadInput as error:
        raise BadInput(f"{origin} cannot be used: {error}") from error


def _slot_file(path: str, variable: str) -> tuple[str, ...]:
    """The hosts of a file with one host name a line, one line for each slot."""
    origin = f"{variable}={path[:200]}"
    names = list(dict.fromkeys(host_lines(path, origin)))
    if len(names) > MOST_HOSTS:
        raise BadInput(f"{origin} names more than {MOST_HOSTS} hosts: that is no list of hosts.")
    return _hosts(",".join(names), origin)


# --- the schedulers
# ------------------------------------------------------------------------------------------------


def flux_hosts_argv() -> list[str]:
    """Prints the hosts of the enclosing Flux instance, one set a line (flux-resource(1) of
    flux-core 0.6x).
    """
    return ["flux", "resource", "list", "-s", "all", "-no", "{nodelist}"]


def flux_job_hosts_argv(job: str) -> list[str]:
    """Prints the hosts of one Flux job (flux-jobs(1))."""
    return ["flux", "jobs", "-no", "{nodelist}", job]


@detector("flux")
def _flux(environment: Mapping[str, str], ask: Ask) -> Allocation | None:
    """A batch or alloc job is an instance of its own (``FLUX_URI``), told by ``FLUX_ENCLOSING_ID``;
    a task that the system's own instance started has its job's id only. In an instance without an
    id all its hosts are ours.
    """
    if not environment.get("FLUX_URI") and not environment.get("FLUX_JOB_ID"):
        return None
    enclosing, task = _job(environment, "FLUX_ENCLOSING_ID"), _job(environment, "FLUX_JOB_ID")
    ways = [flux_hosts_argv(), ["flux", "getattr", "hostlist"]]
    if task and not enclosing:
        ways.insert(0, flux_job_hosts_argv(task))
    for argv in ways:
        text = ",".join(ask(argv, environment).split())
        if text:
            hosts = _hosts(text, f"what `{' '.join(argv[:3])}` printed")
            return Allocation(scheduler="flux", job=enclosing or task, hosts=hosts)
    if environment.keys() & {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"}:
        return None  # left over from where the job was submitted
    raise BadInput(
        "FLUX_URI or FLUX_JOB_ID is set, but `flux resource list` names no hosts: put flux on PATH, or unset them."
    )


def _end(environment: Mapping[str, str], name: str) -> float | None:
    try:
        seconds = float(environment.get(name, ""))
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds > 0 else None


@detector("slurm")
def _slurm(environment: Mapping[str, str], _ask: Ask) -> Allocation | None:
    """sbatch(1), salloc(1): ``SLURM_JOB_NODELIST`` is the whole job's, also in a task of a step;
    the older name without JOB is the step's there, and is asked second.
    """
    job = _job(environment, "SLURM_JOB_ID") or _job(environment, "SLURM_JOBID")
    if not job:
        return None
    origin = next(
        (name for name in ("SLURM_JOB_NODELIST", "SLURM_NODELIST") if environment.get(name)), ""
    )
    if not origin:
        raise BadInput(
            f"SLURM_JOB_ID={job} is set, but SLURM_JOB_NODELIST is not: run inside the job, or unset SLURM_JOB_ID."
        )
    notes: tuple[str, ...] = ()
    if environment.get("SLURM_HET_SIZE", "1") not in ("", "0", "1"):
        notes = ("a job of several components: only the first one's nodes are used",)
    return Allocation(
        scheduler="slurm",
        job=job,
        hosts=_hosts(environment[origin], origin),
        partition=_word(environment, "SLURM_JOB_PARTITION"),
        ends_unix_s=_end(environment, "SLURM_JOB_END_TIME"),
        notes=notes,
    )


@detector("pbs")
def _pbs(environment: Mapping[str, str], _ask: Ask) -> Allocation | None:
    """PBS Professional, OpenPBS and Torque: ``PBS_NODEFILE`` is on the first node of the job
    only.
    """
    job = _job(environment, "PBS_JOBID")
    if not job:
        return None
    path = environment.get("PBS_NODEFILE", "")
    if not path:
        raise BadInput(
            f"PBS_JOBID={job} is set, but PBS_NODEFILE is not: run inside the job, or unset PBS_JOBID."
        )
    return Allocation(
        scheduler="pbs",
        job=job,
        hosts=_slot_file(path, "PBS_NODEFILE"),
        partition=_word(environment, "PBS_QUEUE"),
    )


@detector("lsf")
def _lsf(environment: Mapping[str, str], _ask: Ask) -> Allocation | None:
    """IBM Spectrum LSF 10.1: ``LSB_MCPU_HOSTS`` is ``host slots host slots ...``; a file holds one
    line for each slot (some versions leave ``LSB_HOSTS`` out when the list is long).
    """
    job = _job(environment, "LSB_JOBID")
    if not job:
        return None
    partition = _word(environment, "LSB_QUEUE")
    if words := environment.get("LSB_MCPU_HOSTS", "").split():
        if len(words) % 2 or not all(count.isdecimal() for count in words[1::2]):
            raise BadInput(
                "LSB_MCPU_HOSTS is not a list of hosts and slots: run inside the job, or unset LSB_JOBID."
            )
        hosts = _hosts(",".join(words[::2]), "LSB_MCPU_HOSTS")
    elif path := environment.get("LSB_DJOB_HOSTFILE", ""):
        hosts = _slot_file(path, "LSB_DJOB_HOSTFILE")
    elif words := environment.get("LSB_HOSTS", "").split():
        hosts = _hosts(",".join(words), "LSB_HOSTS")
    else:
        raise BadInput(
            f"LSB_JOBID={job} is set, but no LSB_MCPU_HOSTS: run inside the job, or unset LSB_JOBID."
        )
    return Allocation(scheduler="lsf", job=job, hosts=hosts, partition=partition)
