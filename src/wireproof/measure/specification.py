"""The specifications of the jobs: one frozen value per job, built once from the options and
settings of the command line or by a Python caller. While a requested Slurm job is queued, its state
is reported; it is always released.
"""

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

from wireproof.launch.registry import Allocation
from wireproof.launch.schedulers.slurm_job import JobRequest, JobState, allocate, release
from wireproof.measure.resume import ASKED, Invocation, recall
from wireproof.measure.session import Method, Storage
from wireproof.model.errors import BadInput
from wireproof.model.plan import ModelFault
from wireproof.options.hosts import fold_hosts, parse_hosts
from wireproof.options.resolve import faults_of
from wireproof.options.sizes import parse_duration, time_limit_s
from wireproof.options.table import ROWS, Options
from wireproof.report.reporter import Reporter
from wireproof.target import Target
from wireproof.target.resolve import allocated, claimed_link, prefix_of

DEFAULT_LIMIT_S = 600.0
LONGEST_WAIT_S = 3600.0
AGAIN_S = 60.0
"""Time in seconds after which an unchanged state is reported again; long, to keep the log of a long
wait short.
"""


def job_request(options: Options) -> JobRequest:
    """Return the job to request.

    Raises ``BadInput`` if neither a number of nodes nor names are given.
    """
    nodes, named = options.nodes, options.job_nodelist
    if nodes is None and not named:
        raise BadInput("--slurm needs -N (the number of nodes), or --nodelist (their names).")
    hosts = parse_hosts(named) if named else ()
    if (nodes or len(hosts)) == 1:
        raise BadInput("one node has no partner: request two or more with -N.")
    limit, wait, exclude = options.job_time, options.job_wait, options.job_exclude
    return JobRequest(
        nodes=nodes or len(hosts),
        partition=options.job_partition,
        limit_s=time_limit_s(limit) if limit else DEFAULT_LIMIT_S,
        account=options.job_account,
        qos=options.job_qos,
        hosts=hosts,
        exclude=parse_hosts(exclude) if exclude else (),
        reservation=options.job_reservation,
        constraint=options.job_constraint,
        wait_s=parse_duration(wait) if wait else LONGEST_WAIT_S,
    )


def job_of(options: Options) -> JobRequest | None:
    """Return the job that ``--slurm`` requests.

    Raises ``BadInput`` if options of a job are given without it.
    """
    if options.slurm:
        return job_request(options)
    given = [
        row.typed(name)
        for name, row in ROWS.items()
        if row.group == "job" and getattr(options, name)
    ]
    if given:
        names = ", ".join(sorted(given))
        raise BadInput(f"{names} applies to a job that --slurm requests: also give --slurm.")
    return None


def state_teller(reporter: Reporter) -> Callable[[JobState], None]:
    """Return a function that reports the job's state when it changes, and a pending state again
    every ``AGAIN_S``.
    """
    before, at_s = "", 0.0

    def tell(state: JobState) -> None:
        nonlocal before, at_s
        waits = state.state == "PENDING"
        why = f" ({state.reason})" if waits and state.reason and state.reason != "None" else ""
        starts = f", expected to start {state.starts}" if waits and state.starts else ""
        words = f"Slurm job {state.job}: {state.state.lower()}{why}{starts}"
        if words == before and not (waits and state.waited_s - at_s >= AGAIN_S):
            return
        before, at_s = words, state.waited_s
        reporter.say(f"{words}, {state.waited_s:.0f} s" if waits else words)

    return tell


def _reached(lab: str | None) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the words to put in front of Slurm's commands, and the variables that are needed to
    reach it. In a lab, both are needed, because the commands run inside a node; else neither.
    """
    if lab is None:
        return (), {}
    from wireproof.lab.cluster import open_lab
    from wireproof.lab.slurm import open_slurm

    cluster = open_lab(lab)
    slurm = open_slurm(cluster)
    if slurm is None:
        raise BadInput(f"lab {lab} has no Slurm: start one with `wireproof lab slurm {lab}`.")
    environment = slurm.environment()
    variables = [f"{name}={value}" for name, value in environment.items()]
    return (*cluster.exec_argv(slurm.head, ["x"])[:-1], "env", *variables), environment


def imagined_target(asked: Options, request: JobRequest) -> Target:
    """Return the target that the job would provide, with made-up names for nodes that are not known
    yet.
    """
    hosts = request.hosts or tuple(f"node{number}" for number in range(1, request.nodes + 1))
    allocation = Allocation(scheduler="slurm", job="", hosts=hosts, partition=request.partition)
    return allocated(dataclasses.replace(asked, lab=None), allocation)


def _same_nodes(request: JobRequest, resumed: Path | None, reporter: Reporter) -> JobRequest:
    """Request by name the nodes on which a resumed run started, because the run must continue
    there.
    """
    if resumed is None or request.hosts or not (resumed / ASKED).is_file():
        return request
    hosts = parse_hosts(",".join(recall(resumed).hosts), repeats=True)
    reporter.say(f"the run was started on {fold_hosts(hosts)}: requesting a job on these nodes")
    return dataclasses.replace(request, hosts=hosts, nodes=len(hosts))


@contextlib.contextmanager
def job_target(
    asked: Options,
    request: JobRequest,
    reporter: Reporter,
    *,
    resumed: Path | None = None,
) -> Iterator[Target]:
    """Yield the nodes of a new job. The job ends with the block; no other job is touched.

    ``resumed``: the folder of a run to continue, whose nodes are requested again.
    """
    if asked.hosts:
        raise BadInput(
            "--hosts names existing hosts and --slurm requests nodes: use --nodelist to name the"
            " job's nodes."
        )
    through, environment = _reached(asked.lab)
    request = dataclasses.replace(request, through=through)
    request = _same_nodes(request, resumed, reporter)
    try:
        allocation = allocate(request, state_teller(reporter))
    except KeyboardInterrupt:  # while the job waits; ``allocate`` has already cancelled it
        reporter.warn("interrupted while waiting for the nodes: the job was cancelled.")
        raise
    try:
        target = allocated(asked, allocation)
        yield dataclasses.replace(target, environment=tuple(environment.items()))
    finally:
        release(allocation)


# --- The jobs.


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Job(Options):
    """The options of a job, the method derived from them, and the storage of its records."""

    method: Method = dataclasses.field(default_factory=Method)
    storage: Storage = dataclasses.field(default_factory=Storage)

    @classmethod
    def of(cls, options: Options, storage: Storage, **more: Any) -> Self:
        """Build the job from the options; ``more`` sets further fields.

        Raises ``BadInput``.
        """
        claimed_link(options)  # a wrong link or prefix is refused before a job is requested
        prefix_of(options.prefix)
        method = more.pop("method", None) or Method.from_options(options)
        return cls(**{**vars(options), "method": method, "storage": storage, **more})


@dataclasses.dataclass(frozen=True, kw_only=True)
class CheckSpecification(_Job):
    """A check of several hosts, or of this machine.

    ``request``: a Slurm job to request, whose nodes are the hosts. ``faults``: faults of the model.
    ``until``: the time (monotonic, s) after which no launch continues. ``invocation``: the command
    line that ``wireproof resume`` needs.
    """

    faults: tuple[ModelFault, ...] = ()
    request: JobRequest | None = None
    until: float | None = None
    invocation: Invocation | None = None

    @classmethod
    def of(cls, options: Options, storage: Storage, **more: Any) -> Self:
        fields = {"faults": faults_of(options.model_fault), "request": job_of(options), **more}
        return super().of(options, storage, **fields)

    @property
    def audit(self) -> bool:
        """Return whether the hosts' settings are read as well."""
        return not (self.no_audit or self.prolog or self.method.plays_hosts)


@dataclasses.dataclass(frozen=True, kw_only=True)
class MeasureSpecification(_Job):
    """One pattern over a range of sizes.

    Without ``sizes`` the pattern's default sizes are used, without ``form`` its default form.
    ``ranks`` applies to a single machine, ``ppn`` to each host.
    """

    pattern: str = ""
