"""An allocation that is requested with salloc from outside a job: wait for it and release it. Also
the states of nodes and the topology.

The job is held by a salloc under ``wireproof-node guard``: regardless of how this process ends, the
guard ends salloc, and salloc releases the nodes.
"""

import contextlib
import os
import re
import selectors
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence

from wireproof.files.programs import by_path
from wireproof.launch.engines import find_program, start_guarded
from wireproof.launch.registry import Allocation, NodeState
from wireproof.launch.schedulers.slurm_answers import (
    JobState,
    hopeless,
    parse_job,
    parse_node_states,
    parse_queue,
    refusal,
    why_ended,
)
from wireproof.launch.schedulers.slurm_commands import (
    JobRequest,
    batch_script,
    job_argv,
    node_states_argv,
    queue_argv,
    salloc_argv,
)
from wireproof.model.errors import BadInput, CouldNotMeasure

__all__ = [
    "JobRequest",
    "JobState",
    "allocate",
    "allocated",
    "asked",
    "batch_script",
    "job_ended",
    "node_states",
    "release",
    "topology_text",
]

OnState = Callable[[JobState], None]
HOLD = ("sleep", "infinity")
"""The command that salloc runs meanwhile. It ends with the job, so the end of the job is noticed at
once.
"""
_TIMEOUT_S = 30.0
_MOST_BYTES = 16 << 20
_KEPT = ("SLURM_CONF", "SLURM_CLUSTERS", "SLURM_JWT", "SLURM_TIME_FORMAT")
_ID = re.compile(r"job allocation (\d{1,12})\b|\bjob (\d{1,12}) (?:queued|has been)", re.ASCII)
_GRANTED = re.compile(r"Granted job allocation (\d{1,12})\b", re.ASCII)
_TICK_S = 0.2
_GONE_S = 20.0


def _environment() -> dict[str, str]:
    """Return our environment without the variables of an enclosing job, with times in Slurm's
    default format.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("SLURM_") or name in _KEPT
    }
    return {**kept, "SLURM_TIME_FORMAT": "standard", "LC_ALL": "C"}


def _ask(argv: Sequence[str], through: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    """Run one of Slurm's programs; raise ``CouldNotMeasure`` if it is missing or does
    not answer.
    """
    try:
        return subprocess.run(
            **by_path([*through, *argv], _environment()),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError:
        raise CouldNotMeasure(
            f"{argv[0]} is not on PATH: run wireproof on a host from which jobs are submitted, or"
            " load Slurm's module."
        ) from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CouldNotMeasure(
            f"{argv[0]} did not answer within {_TIMEOUT_S:g} s ({type(error).__name__}): is Slurm"
            " up?"
        ) from error


class _Held:
    """A salloc that holds (or waits for) a job, under the guard."""

    def __init__(self, request: JobRequest) -> None:
        self.request = request
        self.job = ""
        self.talk = ""
        reading, self._control = os.pipe()
        argv = [*request.through, *salloc_argv(request, HOLD)]
        node = find_program("wireproof-node")
        try:
            self._process = start_guarded(
                node, reading, argv, _environment(), subprocess.DEVNULL, subprocess.DEVNULL
            )
        except OSError as error:
            os.close(self._control)
            raise CouldNotMeasure(f"salloc cannot be started: {error.strerror}.") from error
        finally:
            os.close(reading)
        assert self._process.stderr is not None  # noqa: S101 - a pipe was requested
        self._stderr = self._process.stderr
        os.set_blocking(self._stderr.fileno(), False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._stderr, selectors.EVENT_READ)

    @property
    def granted(self) -> bool:
        return _GRANTED.search(self.talk) is not None

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def hear(self, seconds: float) -> None:
        """Return the output of salloc within ``seconds``."""
        if not self._selector.get_map():
            time.sleep(min(seconds, _TICK_S))
        for key, _ in self._selector.select(seconds):
            data = os.read(key.fd, 1 << 16)
            if not data:
                self._selector.unregister(self._stderr)
            self.talk = (self.talk + data.decode("utf-8", "replace"))[-(1 << 16) :]
        if not self.job and (found := _ID.search(self.talk)):
            self.job = found.group(1) or found.group(2)

    def give_back(self) -> None:
        """Cancel the job, end salloc (which releases the nodes) and wait for it, but only once."""
        if self._control < 0:
            return
        if self.job:
            _cancel(self.job, self.request.through)
        os.close(self._control)
        self._control = -1
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_GONE_S)
        self._selector.close()
        self._stderr.close()


def _show(job: str, through: Sequence[str]) -> JobState | None:
    done = _ask(job_argv(job), through)
    return parse_job(done.stdout) if done.returncode == 0 else None


def _cancel(job: str, through: Sequence[str]) -> None:
    with contextlib.suppress(CouldNotMeasure):
        _ask(["scancel", job], through)


def _too_late(state: JobState, request: JobRequest) -> CouldNotMeasure:
    why = (
        f" (Slurm: {state.reason}{f', expected start {state.starts}' if state.starts else ''})"
        if state.reason
        else ""
    )
    hint = ""
    with contextlib.suppress(CouldNotMeasure):
        lost = [
            node for node in node_states(request.hosts, request.through).values() if not node.usable
        ]
        if lost:
            named = ", ".join(
                f"{node.name} {node.state}{f' ({node.reason})' if node.reason else ''}"
                for node in lost[:4]
            )
            hint = (
                f"; not usable now: {named}{f' and {len(lost) - 4} more' if len(lost) > 4 else ''}"
            )
    return CouldNotMeasure(
        f"job {state.job} was still pending after {request.wait_s:g} s{why}{hint}; it was"
        " cancelled: wait longer, or request fewer nodes."
    )


def _what(request: JobRequest) -> str:
    count = request.nodes or len(request.hosts)
    return f"a job on {count} node{'' if count == 1 else 's'}"


def _wait(held: _Held, on_state: OnState | None) -> None:
    """Wait until the job is granted. Raise an error for a refusal, for a request that can never
    start, and after the time limit.
    """
    begin = time.monotonic()
    asked = -held.request.poll_s
    while not held.granted:
        held.hear(_TICK_S)
        if held.ended:
            held.hear(0)
            raise refusal(held.talk, _what(held.request))
        waited = time.monotonic() - begin
        if not held.job and waited > max(held.request.wait_s, _TIMEOUT_S):
            raise refusal(held.talk or f"no answer within {waited:.0f} s", _what(held.request))
        if not held.job or waited - asked < held.request.poll_s:
            continue
        asked = waited
        state = parse_queue(
            _ask(queue_argv(held.job), held.request.through).stdout, held.job, waited
        )
        if state is None:
            continue
        if sentence := hopeless(state):
            raise BadInput(sentence)
        if on_state is not None:
            on_state(state)
        if state.state == "PENDING" and waited > held.request.wait_s:
            raise _too_late(state, held.request)


def allocate(request: JobRequest, on_state: OnState | None = None) -> Allocation:
    """Request nodes from Slurm, wait for them, and hold them until ``release`` (or until this
    process ends).

    ``on_state`` receives state and reason every ``poll_s`` seconds while the job waits. Raise
    ``BadInput`` for a request that Slurm reports as invalid and ``CouldNotMeasure`` if the nodes
    are not available, with Slurm's message; then, and on Ctrl-C, the job is cancelled.
    """
    held = _Held(request)
    try:
        _wait(held, on_state)
        info = _show(held.job, request.through)
        if info is None or not info.hosts:
            raise CouldNotMeasure(
                f"Slurm granted job {held.job} but does not list its nodes: try again."
            )
        if on_state is not None:
            on_state(JobState(job=held.job, state=info.state))
    except BaseException:
        held.give_back()
        raise
    return Allocation(
        scheduler="slurm",
        job=held.job,
        hosts=info.hosts,
        partition=info.partition,
        give_back=held.give_back,
        ends_unix_s=info.ends_unix_s,
        notes=(
            (
                f"Slurm job {held.job} on {len(info.hosts)} nodes of partition {info.partition},"
                " requested by wireproof"
            ),
        ),
    )


def release(allocation: Allocation) -> None:
    """Release the job of ``allocate``; other jobs are not affected."""
    if allocation.give_back is not None:
        allocation.give_back()


@contextlib.contextmanager
def allocated(request: JobRequest, on_state: OnState | None = None) -> Iterator[Allocation]:
    """Return a context whose job of ``allocate`` ends with the block."""
    allocation = allocate(request, on_state)
    try:
        yield allocation
    finally:
        release(allocation)


def job_ended(job: str, through: Sequence[str] = ()) -> str:
    """Return a sentence with the reason why the job no longer runs, "" while it runs; for a run
    that was aborted inside a job.

    Also "" if Slurm does not answer, because then the job may still be running.
    """
    done = _ask(job_argv(job), through)
    if done.returncode != 0:
        return f"Slurm no longer knows job {job}." if "Invalid job id" in done.stderr else ""
    info = parse_job(done.stdout)
    if info is not None and info.state.split("+")[0] == "PENDING":  # it has run, and is queued
        return (
            f"job {job} was ended and put back into the queue by Slurm: one of its nodes failed, or"
            " it was requeued."
        )
    return why_ended(info) if info is not None else ""


def node_states(hosts: Sequence[str] = (), through: Sequence[str] = ()) -> dict[str, NodeState]:
    """Return Slurm's states of ``hosts`` (none: all nodes), in their order. Hosts that Slurm does
    not know are left out.
    """
    done = _ask(node_states_argv(hosts), through)
    if done.returncode != 0 and "contact slurm controller" in done.stderr:
        raise refusal(done.stderr, "to report the states of the nodes")
    found = parse_node_states(done.stdout[:_MOST_BYTES])
    return {host: found[host] for host in hosts if host in found} if hosts else found


def asked(argv: Sequence[str], through: Sequence[str] = ()) -> str:
    """Return the output of one of Slurm's programs. Raise ``CouldNotMeasure`` if it is missing or
    fails.
    """
    done = _ask(argv, through)
    if done.returncode != 0:
        raise refusal(done.stderr, f"to answer {argv[0]}")
    return done.stdout[:_MOST_BYTES]


def topology_text(through: Sequence[str] = ()) -> str:
    """Return the output of ``scontrol show topology``, in the format of topology.conf; "" if none
    is configured.
    """
    try:
        done = _ask(["scontrol", "show", "topology"], through)
    except CouldNotMeasure:
        return ""
    return (
        done.stdout[:_MOST_BYTES] if done.returncode == 0 and "SwitchName=" in done.stdout else ""
    )
