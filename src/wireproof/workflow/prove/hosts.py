"""Finds the hosts that a command uses: named by the user, by a Slurm allocation, or by the
command's arguments.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from wireproof.files.hostile import read_bounded
from wireproof.model.claim import LinkClaim
from wireproof.model.errors import BadInput
from wireproof.settings.hosts import parse_hosts
from wireproof.settings.options import Options
from wireproof.workflow.target.resolve import agent_of, lab_of
from wireproof.workflow.target.target import Target, lab_target

_LISTS = {"-hosts", "--hosts", "-host", "--host", "-H", "-w", "--nodelist"}
_FILES = {"-f", "-hostfile", "--hostfile", "-machinefile", "--machinefile", "-machine"}
_LAUNCHERS = (
    *(
        "mpirun",
        "mpiexec",
        "mpiexec.hydra",
        "mpiexec.mpich",
        "mpirun.mpich",
        "mpirun.openmpi",
        "mpiexec.openmpi",
    ),
    *("orterun", "prterun", "prun", "srun", "ibrun", "aprun"),
)
_WRAPPERS = ("env", "time", "nice", "numactl", "taskset", "timeout", "stdbuf", "sudo")
MOST_WORDS = 4000
LONGEST_FILE = 1 << 20


def target_of_command(
    settings: Options,
    argv: Sequence[str],
    *,
    lab: str | None,
    link: LinkClaim | None,
    environment: Mapping[str, str],
) -> Target:
    """Return where to watch: a lab's nodes, hosts by ssh, or this machine.

    A single host is a valid target too.
    """
    hosts, notes = _hosts(settings, argv, environment)
    if lab and not settings.hosts:  # all nodes of the lab
        hosts, notes = (), ()
    cluster = lab_of(hosts, lab, settings.launcher) if hosts or lab else None
    if cluster is not None:
        target = lab_target(cluster, hosts or cluster.nodes, nic=settings.nic, link=link)
        return dataclasses.replace(target, notes=(*notes, *target.notes))
    count = max(len(hosts), 1)
    return Target(
        hosts=hosts,
        start_on=hosts,
        nics=(settings.nic,) * count if settings.nic else (),
        link=link,
        agent=agent_of(settings.launcher),
        wire=bool(hosts),
        ranks=count,
        notes=notes,
    )


def _hosts(
    settings: Options, argv: Sequence[str], environment: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the hosts to watch, and a note about how they were found (none if the user named
    them).
    """
    if settings.hosts:
        return settings.hosts, ()
    if named := hosts_of_command(argv, _read_text):
        shown = ", ".join(named[:8])
        return named, (f"watching {shown}, which the command names; choose others with --hosts",)
    if allocated := hosts_of_allocation(environment):
        count = len(allocated)
        return allocated, (
            f"watching the {count} nodes of the Slurm job; choose others with --hosts",
        )
    return (), ()


def _read_text(path: str) -> str:
    return read_bounded(path, LONGEST_FILE).decode("utf-8", "replace")


def hosts_of_allocation(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the nodes of the Slurm job that we run in, or ()."""
    text = environment.get("SLURM_JOB_NODELIST") or environment.get("SLURM_NODELIST") or ""
    return parse_hosts(text) if text else ()


def entered_node(argv: Sequence[str]) -> tuple[str, str, tuple[str, ...]] | None:
    """Return (lab, node, argv) of ``wireproof lab exec LAB NODE ARGV...``; None for any other
    command.
    """
    rest = list(argv)
    if Path(rest[0]).name.startswith("python") and rest[1:3] == ["-m", "wireproof"]:
        rest = rest[2:]
    if Path(rest[0]).name != "wireproof" or rest[1:3] != ["lab", "exec"]:
        return None
    words = rest[6:] if rest[5:6] == ["--"] else rest[5:]
    return (rest[3], rest[4], tuple(words)) if words else None


def _is_launcher(argv: Sequence[str]) -> bool:
    for word in argv[:8]:
        name = Path(word).name
        if name in _LAUNCHERS:
            return True
        if name not in _WRAPPERS and not word.startswith("-") and "=" not in word:
            return False
    return False


def hosts_of_command(argv: Sequence[str], read_text: Callable[[str], str]) -> tuple[str, ...]:
    """Return the hosts that an MPI launcher's options name, in order: ``-hosts a,b``, ``--host
    a:2``, ``-hostfile F``.

    ``read_text`` reads a host file (bounded; raises OSError). Words that are not understood are
    skipped.
    """
    if not _is_launcher(argv):
        return ()
    hosts: dict[str, None] = {}
    words = list(argv[:MOST_WORDS])
    for position, word in enumerate(words):
        name, equals, value = word.partition("=")
        value = value if equals else (words[position + 1] if position + 1 < len(words) else "")
        if name in _LISTS:
            hosts.update(dict.fromkeys(_listed(value)))
        elif name in _FILES:
            hosts.update(dict.fromkeys(_in_file(value, read_text)))
    return tuple(hosts)


def _listed(text: str) -> tuple[str, ...]:
    """Parse ``n1:2,n2`` and ``n[1-2]``; () if the text is not a list of hosts."""
    names = ",".join(part.split(":")[0] for part in text.split(","))
    try:
        return tuple(dict.fromkeys(parse_hosts(names, repeats=True)))
    except BadInput:
        return ()


def _in_file(path: str, read_text: Callable[[str], str]) -> tuple[str, ...]:
    """Return the first word of each line: ``n1:2``, ``n1 slots=2``."""
    try:
        text = read_text(path)[:LONGEST_FILE]
    except OSError:
        return ()
    hosts: dict[str, None] = {}
    for line in text.splitlines()[:MOST_WORDS]:
        words = line.split("#")[0].split()
        if words:
            hosts.update(dict.fromkeys(_listed(words[0])))
    return tuple(hosts)
