"""Find the hosts that a command uses: from the user, a Slurm allocation, or the command's
arguments.
"""

import dataclasses
import re
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

from wireproof.audit.facts import HostFacts
from wireproof.files.hostile import read_bounded
from wireproof.instrument.plan_text import collect
from wireproof.instrument.watch_command import WatchedCommand
from wireproof.launch.engines import find_engine
from wireproof.model import gathered
from wireproof.model.claim import LinkClaim
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.plan import FactRequest
from wireproof.options.hosts import parse_hosts
from wireproof.options.table import Options
from wireproof.report.reporter import Reporter
from wireproof.target import Target, fastest, guarded, lab_target, reach
from wireproof.target.resolve import agent_of, lab_of
from wireproof.watch.command import Sinks, Watch

# --- Start the servers of a command on their hosts, and wait until they listen.

PATIENCE_S = 10.0
_LOOK_EVERY_S = 0.2
_LISTENING_STATES = {"tcp": "0A", "tcp6": "0A", "udp": "07", "udp6": "07"}
"""Socket states in the tables below /proc/net: a listening TCP socket, a UDP socket without a
peer.
"""
_RDMA_LISTENERS = ("rdma", "resource", "show", "cm_id")
_RDMA_LISTENER = re.compile(r"state LISTEN .*?\bpid (\d+) .*?src-addr (\S+)")
_REQUESTS = (
    *(
        FactRequest(kind="file", path=f"/proc/net/{name}", limit_bytes=1 << 18)
        for name in _LISTENING_STATES
    ),
    FactRequest(kind="command", argv=_RDMA_LISTENERS, limit_bytes=1 << 18),
)


_LIMITS = {
    "late": f"has opened no visible port after {PATIENCE_S:.0f} s: the command is started anyway.",
    "perhaps": "does not show its sockets: the command is started after a port was opened on the"
    " host, perhaps by another program.",
}


@dataclasses.dataclass(frozen=True)
class Companion:
    """A server that the command talks to.

    It is started on ``host`` before the command and stopped after it.
    """

    host: str
    argv: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class _Started:
    """``mark``: a variable that distinguishes the server's processes from all others on the
    host.
    """

    server: Companion
    mark: str
    command: WatchedCommand


@dataclasses.dataclass(frozen=True)
class Listeners:
    """The listeners on a host; ``of``: only those of marked processes, None if they cannot be
    read.
    """

    everybody: frozenset[str]
    of: Mapping[str, frozenset[str] | None]


def start_servers(
    watch: Watch, servers: Sequence[Companion], sinks: Sinks, reporter: Reporter
) -> list[WatchedCommand]:
    """Start the servers, and wait until the processes of each listen: TCP, UDP, or the RDMA
    connection manager. Servers without visible listeners are reported after ``PATIENCE_S``. Raises
    ``CouldNotMeasure`` if a server ends before that.
    """
    if not servers:
        return []
    before = {host: listeners(watch, host) for host in {server.host for server in servers}}
    started = [_start(watch, server, sinks) for server in servers]
    deadline = time.monotonic() + PATIENCE_S
    while "late" in (seen := _look(watch, started, before)).values():
        if time.monotonic() >= deadline or any(each.command.gone for each in started):
            break
        watch.wait(_LOOK_EVERY_S)
    for each in started:
        _check_that_it_runs(watch, each.command, each.server)
        if limit := _LIMITS.get(seen[each]):
            watch.notes.append(f"{each.server.argv[0]} on {each.server.host} {limit}")
    for note in watch.notes:
        reporter.warn(note)
    watch.mark()  # traffic caused by starting the servers does not count as background
    return [each.command for each in started]


def _start(watch: Watch, server: Companion, sinks: Sinks) -> _Started:
    mark = f"WIREPROOF_SERVER={secrets.token_hex(16)}"
    argv = guarded(watch.target, server.host, server.argv, mark)
    return _Started(server, mark, watch.start(argv, (None, sinks[1]), stdin="held"))


def _check_that_it_runs(watch: Watch, command: WatchedCommand, server: Companion) -> None:
    if not command.gone:
        return
    status = command.end()
    watch.hearing.listen(1.0, command.ended)
    what = f"{server.argv[0]} on {server.host} ended with status {status} before the command began"
    if words := command.last_words():
        raise CouldNotMeasure(f"{what}: {words}")
    if status == 0:
        raise CouldNotMeasure(f"{what}: start it so that it stays in the foreground.")
    raise CouldNotMeasure(
        f"{what}; {watch.node}, which starts it, must exist at the same path there."
    )


def _look(
    watch: Watch, started: Sequence[_Started], before: Mapping[str, Listeners | None]
) -> dict[_Started, str]:
    """Return whether each server listens: "yes", "late", or "perhaps" if the sockets of its
    processes are not readable. In that case any new listener on the host is accepted.
    """
    found: dict[_Started, str] = {}
    for host, there in gathered((each.server.host, each) for each in started).items():
        now, earlier = listeners(watch, host, [each.mark for each in there]), before[host]
        owned = {each: now.of[each.mark] if now else frozenset() for each in there}
        hidden = [each for each, names in owned.items() if names is None]
        new = now.everybody - earlier.everybody if now and earlier else ()
        found |= {each: "yes" if names else "late" for each, names in owned.items()}
        found |= dict.fromkeys(hidden, "perhaps" if len(new) >= len(hidden) else "late")
    return found


def listeners(watch: Watch, host: str, marks: Sequence[str] = ()) -> Listeners | None:
    """Return the listeners on a host, or None if it does not respond."""
    owned = {mark: (str(watch.node), "sockets", mark) for mark in marks}
    asked = [FactRequest(kind="command", argv=each, limit_bytes=1 << 18) for each in owned.values()]
    argv = reach(watch.target, host, [str(find_engine("nompi")), "facts", "--spec", "-"])
    facts = HostFacts.of(host, collect({host: argv}, (*_REQUESTS, *asked))[0].frames)
    tables = {name: facts.file(f"/proc/net/{name}").text for name in _LISTENING_STATES}
    if all(table is None for table in tables.values()):
        return None
    waiting = {inode for name, table in tables.items() for inode in _sockets(name, table or "")}
    rdma = set(_RDMA_LISTENER.findall(facts.command(_RDMA_LISTENERS).text or ""))
    return Listeners(
        frozenset(waiting | {" ".join(words) for words in rdma}),
        {mark: _owned(facts.command(each).text, waiting, rdma) for mark, each in owned.items()},
    )


def _owned(
    text: str | None, waiting: AbstractSet[str], rdma: AbstractSet[tuple[str, str]]
) -> frozenset[str] | None:
    """Return the listeners of the processes that ``wireproof-node sockets`` lists; None if it could
    not run, or if it lists no listener and could not read every process.
    """
    rows = [line.split() for line in (text or "").splitlines()]
    pids = {row[0] for row in rows if row}
    found = {word for row in rows for word in row[1:]}
    listening = (found & waiting) | {" ".join(words) for words in rdma if words[0] in pids}
    hidden = text is None or "?" in found
    return None if hidden and not listening else frozenset(listening)


def _sockets(name: str, table: str) -> list[str]:
    """Return the inodes of sockets that wait for peers, from a table in /proc/net."""
    rows = [line.split() for line in table.splitlines()[1:]]
    return [row[9] for row in rows if len(row) > 9 and row[3] == _LISTENING_STATES[name]]


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
    """Return the target to watch: a lab's nodes, hosts reached by ssh, or this machine.

    A single host is a valid target too.
    """
    hosts, notes = _hosts(settings, argv, environment)
    if lab and not settings.hosts:  # all nodes of the lab
        hosts, notes = (), ()
    cluster = lab_of(hosts, lab, settings.launcher) if hosts or lab else None
    if cluster is not None:
        target = lab_target(cluster, hosts or cluster.nodes, nic=settings.nic, link=link)
        if settings.nic or len(fastest(cluster)) == 1:
            return dataclasses.replace(target, notes=(*notes, *target.notes))
        # nothing says which of several equal networks the command uses: its traffic shows it
        return dataclasses.replace(target, nics=(), notes=(*notes, *cluster.notes))
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
        return named, (
            f"watching {shown} from the command's arguments; choose others with --hosts",
        )
    if allocated := hosts_of_allocation(environment):
        count = len(allocated)
        return allocated, (
            f"watching the {count} nodes of the Slurm job; choose others with --hosts",
        )
    return (), ()


def _read_text(path: str) -> str:
    return read_bounded(path, LONGEST_FILE).decode("utf-8", "replace")


def hosts_of_allocation(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the nodes of the Slurm job in which wireproof runs, or ()."""
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
    """Return the hosts in an MPI launcher's options, in order: ``-hosts a,b``, ``--host
    a:2``, ``-hostfile F``.

    ``read_text`` reads a host file (bounded; raises OSError). Unknown words are skipped.
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
