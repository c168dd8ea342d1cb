"""Starts the servers that a command talks to on their hosts before it, and waits until they
listen.
"""

import dataclasses
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence

from wireproof.audit.facts import HostFacts
from wireproof.instrument.facts import collect
from wireproof.instrument.watch_command import WatchedCommand
from wireproof.launch.engines import find_engine
from wireproof.model.errors import CouldNotMeasure
from wireproof.model.plan import FactRequest
from wireproof.workflow.prove.watch import Sinks, Watch
from wireproof.workflow.reporter import Reporter
from wireproof.workflow.target.target import Target, guarded, reach

PATIENCE_S = 10.0
_LOOK_EVERY_S = 0.2
_LISTENING_STATES = {"tcp": "0A", "tcp6": "0A", "udp": "07", "udp6": "07"}
"""States in the tables below /proc/net: a listening TCP socket, a UDP socket without a peer."""
_RDMA_LISTENERS = ("rdma", "resource", "show", "cm_id")
_RDMA_LISTENER = re.compile(r"state LISTEN .*?\bpid (\d+) .*?src-addr (\S+)")
_REQUESTS = (
    *(
        FactRequest(kind="file", path=f"/proc/net/{name}", limit_bytes=1 << 18)
        for name in _LISTENING_STATES
    ),
    FactRequest(kind="command", argv=_RDMA_LISTENERS, limit_bytes=1 << 18),
)


@dataclasses.dataclass(frozen=True)
class Companion:
    """A server that the command talks to.

    It is started on ``host`` before the command and stopped after it.
    """

    host: str
    argv: tuple[str, ...]


def start_servers(
    watch: Watch, servers: Sequence[Companion], sinks: Sinks, reporter: Reporter
) -> list[WatchedCommand]:
    """Start the servers, and wait until each host has as many new listeners as servers: TCP, UDP,
    or the RDMA connection manager. Hosts without visible listeners are reported after
    ``PATIENCE_S``. Raises ``CouldNotMeasure`` if a server ends before that.
    """
    if not servers:
        return []
    hosts = Counter(server.host for server in servers)
    before = {host: listeners(watch.target, host) for host in hosts}
    commands = [
        watch.start(
            guarded(watch.target, server.host, server.argv), (None, sinks[1]), hold_stdin=True
        )
        for server in servers
    ]
    deadline = time.monotonic() + PATIENCE_S
    while late := _late(watch, hosts, before):
        if time.monotonic() >= deadline or any(command.gone for command in commands):
            break
        watch.wait(_LOOK_EVERY_S)
        hosts = Counter({host: hosts[host] for host in late})
    for command, server in zip(commands, servers, strict=True):
        _check_that_it_runs(watch, command, server)
        if server.host in late:
            reporter.warn(
                f"{server.argv[0]} on {server.host} has opened no visible port after"
                f" {PATIENCE_S:.0f} s: the command is started anyway."
            )
    watch.mark()  # traffic of the servers' start does not count as background
    return commands


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
    raise CouldNotMeasure(f"{what}; {watch.node}, which starts it, must be at the same path there.")


def _late(
    watch: Watch, hosts: Mapping[str, int], before: Mapping[str, frozenset[str] | None]
) -> list[str]:
    """Return the hosts that do not show a new listener for each of their servers."""
    return [host for host in hosts if not _listens(watch.target, host, before[host], hosts[host])]


def _listens(target: Target, host: str, before: frozenset[str] | None, count: int) -> bool:
    now = listeners(target, host)
    return now is not None and before is not None and len(now - before) >= count


def listeners(target: Target, host: str) -> frozenset[str] | None:
    """Return a unique name for each listener of a host, or None if the host does not respond."""
    argv = reach(target, host, [str(find_engine("nompi")), "facts", "--spec", "-"])
    facts = HostFacts.of(host, collect({host: argv}, _REQUESTS)[0].frames)
    tables = {name: facts.file(f"/proc/net/{name}").text for name in _LISTENING_STATES}
    if all(table is None for table in tables.values()):
        return None
    sockets = {inode for name, table in tables.items() for inode in _sockets(name, table or "")}
    rdma = _RDMA_LISTENER.findall(facts.command(_RDMA_LISTENERS).text or "")
    return frozenset(sockets | {" ".join(words) for words in rdma})


def _sockets(name: str, table: str) -> list[str]:
    """Return the inodes of the sockets that wait for peers, from a table of /proc/net."""
    rows = [line.split() for line in table.splitlines()[1:]]
    return [row[9] for row in rows if len(row) > 9 and row[3] == _LISTENING_STATES[name]]
