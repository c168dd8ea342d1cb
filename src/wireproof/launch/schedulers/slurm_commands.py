"""Commands for Slurm: argument lists and job scripts. Pure.

Options according to the manuals of 22.05 to 24.05 (salloc(1), squeue(1), sinfo(1), scontrol(1)).
"""

import dataclasses
import math
import re
import shlex
from collections.abc import Sequence

from wireproof.model.errors import BadInput

_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.,@+:/&|*()!=\[\]-]{0,1023}", re.ASCII)
_JOB = re.compile(r"[0-9]{1,12}(?:[_+][0-9]{1,9})?", re.ASCII)
_MOST_NODES = 100_000
_LONGEST_LIMIT_S = 366 * 86400


@dataclasses.dataclass(frozen=True, kw_only=True)
class JobRequest:
    """A job to request. ``nodes`` 0: as many as ``hosts``. ``limit_s`` 0: the limit of the
    partition.

    ``wait_s``: how long to wait in the queue, ``poll_s``: how often its state is read. ``extra``:
    options of the site for salloc and sbatch. ``through``: argv before every command, a program
    that runs the rest (a lab's ``enter``).
    """

    nodes: int = 0
    partition: str = ""
    limit_s: float = 0
    account: str = ""
    qos: str = ""
    hosts: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    reservation: str = ""
    constraint: str = ""
    exclusive: bool = True
    ranks_per_node: int = 1
    name: str = "wireproof"
    wait_s: float = 3600.0
    poll_s: float = 3.0
    extra: tuple[str, ...] = ()
    through: tuple[str, ...] = ()


def check_request(request: JobRequest) -> None:
    """Raise ``BadInput`` for values that cannot be options of salloc; no value may become another
    option.
    """
    _check_amounts(request)
    for what in ("partition", "account", "qos", "reservation", "constraint", "name"):
        value = getattr(request, what)
        if value and _WORD.fullmatch(value) is None:
            raise BadInput(
                f"the {what} {value[:60]!r} is no name in Slurm: use letters, digits and _ . , -"
                " without spaces."
            )
    for word in request.extra:
        if not word.startswith("-") or not word.isprintable():
            raise BadInput(f"{word[:60]!r} is no option of salloc: write --option=value.")


def _check_amounts(request: JobRequest) -> None:
    if not (0 <= request.nodes <= _MOST_NODES) or not (request.nodes or request.hosts):
        raise BadInput(f"{request.nodes} nodes cannot be requested: give 1 to {_MOST_NODES}.")
    if request.hosts and request.nodes > len(request.hosts):
        raise BadInput(
            f"{request.nodes} nodes are wanted and only {len(request.hosts)} are named: name more,"
            " or none."
        )
    if not 0 <= request.limit_s <= _LONGEST_LIMIT_S:
        raise BadInput(
            f"a time limit of {request.limit_s:g} s cannot be requested: give up to a year."
        )
    if not 1 <= request.ranks_per_node <= 4096:
        raise BadInput(
            f"{request.ranks_per_node} ranks per node cannot be requested: give 1 to 4096."
        )


def job_options(request: JobRequest) -> list[str]:
    """Return the common options of salloc and sbatch."""
    check_request(request)
    words = [
        f"--nodes={request.nodes or len(request.hosts)}",
        f"--ntasks-per-node={request.ranks_per_node}",
    ]
    for option in ("partition", "account", "qos", "reservation", "constraint"):
        if value := getattr(request, option):
            words.append(f"--{option}={value}")
    if request.limit_s:
        # Slurm counts whole minutes
        words.append(f"--time={max(1, math.ceil(request.limit_s / 60))}")
    if request.hosts:
        words.append(f"--nodelist={','.join(request.hosts)}")
    if request.exclude:
        words.append(f"--exclude={','.join(request.exclude)}")
    words += ["--exclusive"] if request.exclusive else []
    return [*words, f"--job-name={request.name}", *request.extra]


def salloc_argv(request: JobRequest, held: Sequence[str] = ()) -> list[str]:
    """Return ``salloc`` for the request. ``held``: the command that holds the job; without it
    ``--no-shell`` is used, and the job stays.
    """
    options = job_options(request)
    return ["salloc", *options, *(held or ["--no-shell"])]


def batch_script(argv: Sequence[str], request: JobRequest) -> str:
    """Return a script for ``sbatch`` with the same request that runs ``argv`` on the first node."""
    options = job_options(request)
    lines = [
        "#!/bin/bash",
        *(f"#SBATCH {option}" for option in options),
        f"#SBATCH --output={request.name}-%j.out",
    ]
    return "\n".join([*lines, "", shlex.join(argv), ""])


def queue_argv(job: str) -> list[str]:
    return ["squeue", "--noheader", "--states=all", f"--jobs={_checked(job)}", "--format=%T|%r|%S"]


def job_argv(job: str) -> list[str]:
    return ["scontrol", "--oneliner", "show", "job", _checked(job)]


def node_states_argv(hosts: Sequence[str] = ()) -> list[str]:
    """Return ``sinfo`` for ``hosts``; for all nodes if the list would be too long for
    an argument.
    """
    argv = ["sinfo", "--noheader", "--Node", "--format=%N|%T|%E"]
    return [*argv, f"--nodes={','.join(hosts)}"] if 0 < len(hosts) <= 1000 else argv


def _checked(job: str) -> str:
    if _JOB.fullmatch(job) is None:
        raise BadInput(f"{job[:40]!r} is not the id of a Slurm job.")
    return job
