"""Contact many hosts at once with ClusterShell, over ssh or a program with the same calling
convention: determine which hosts can be reached, and read their facts.

Hosts are contacted before a launch, so that a dead host is reported at once and the others
continue. No process is left behind: commands that do not answer in time, or that the user
interrupts, are ended.
"""

from __future__ import annotations

import dataclasses
import os
import re
import shlex
import subprocess
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from wireproof.files.programs import by_path, find_program
from wireproof.launch.here import hosts_here
from wireproof.model.errors import BadInput

if TYPE_CHECKING:
    from ClusterShell.Worker.Ssh import WorkerSsh


Progress = Callable[[int, int], None]
"""Called with (number of hosts that have answered or failed, number of all hosts)."""
_MOST_LINES = 200
_LONGEST_LINE = 400
_SSH_OPTIONS = "-T -oLogLevel=ERROR -oNumberOfPasswordPrompts=0 -oClearAllForwardings=yes"
_SAYINGS = (
    (
        r"could not resolve hostname|name or service not known|no address associated",
        "the name cannot be resolved: check its spelling, DNS and /etc/hosts",
    ),
    (r"connection refused", "it refused the connection: start sshd there"),
    (
        r"no route to host|network is unreachable|host is down",
        "there is no route to it: is the host up, and its link?",
    ),
    (r"timed out|timeout", "it did not answer in time: is it up, and its link?"),
    (
        r"host identification has changed",
        "its host key has changed: update known_hosts if the change is legitimate",
    ),
    (
        r"host key verification failed|no .*host key is known",
        "its host key is unknown here: log in to it once",
    ),
    (r"too many authentication failures", "it refused the login: too many keys were offered"),
    (
        r"permission denied",
        "it refused the login: install your key there, so that ssh does not need a password",
    ),
    (
        r"connection (closed|reset)|kex_exchange",
        "it closed the connection at once: see the log of sshd there",
    ),
    (
        r"bad owner or permissions|unprotected private key",
        "ssh does not trust the files in ~/.ssh: correct their permissions",
    ),
)
"""Messages of ssh (OpenSSH 9), and our sentence for each; the first match is used."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class HostAnswer:
    """The answer of a host. ``text``: standard output of the command (at most 200 lines);
    ``problem``: "" or a sentence.
    """

    text: str = ""
    problem: str = ""


def problem_of(status: int, lines: Sequence[str], timeout_s: float) -> str:
    """Return a sentence about an ssh process that ended with ``status`` (-1: it was killed after
    ``timeout_s``) and printed ``lines``.
    """
    if status == 0:
        return ""
    if status < 0:
        return f"it did not answer within {timeout_s:g} s: is it up, and its link?"
    said = [
        " ".join("".join(c if c.isprintable() else " " for c in line).split()) for line in lines
    ]
    said = [line for line in said if line]
    for pattern, sentence in _SAYINGS if status == 255 else ():
        if any(re.search(pattern, line, re.IGNORECASE) for line in said):
            return sentence
    last = f": {said[-1][:160]}" if said else ""
    return (
        f"the connection failed{last}"
        if status == 255
        else f"the command ended there with status {status}{last}"
    )


def reachable(
    hosts: Sequence[str],
    agent: str = "",
    timeout_s: float = 10.0,
    fanout: int = 64,
    *,
    progress: Progress | None = None,
) -> dict[str, str]:
    """Return for each host, in the order of ``hosts``, "" if a command can be started there, else a
    sentence with the reason.

    ``agent``: a program called ``AGENT HOST COMMAND`` instead of ssh. This machine is not
    contacted. At most ``fanout`` hosts are contacted at a time, each for ``timeout_s``. Raise
    ``BadInput`` if the program does not exist.
    """
    answers = facts_by_host(hosts, ["true"], agent, timeout_s, fanout, progress=progress)
    return {host: answer.problem for host, answer in answers.items()}


def facts_by_host(
    hosts: Sequence[str],
    argv: Sequence[str],
    agent: str = "",
    timeout_s: float = 10.0,
    fanout: int = 64,
    *,
    environment: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> dict[str, HostAnswer]:
    """Return the output of ``argv`` on each host; arguments and errors as for ``reachable``."""
    names = tuple(dict.fromkeys(hosts))
    near = set() if agent else hosts_here(names)
    far = [host for host in names if host not in near]
    done = {host: _here(argv, timeout_s) for host in near}
    if far:
        if find_program(agent or "ssh") is None:
            raise BadInput(
                f"the program {agent or 'ssh'}, which is needed to reach {far[0]}, does not"
                " exist: install it, or give --agent."
            )
        listener = _Answers(far, len(near), len(names), progress)
        _run(
            listener,
            shlex.join(argv),
            agent,
            timeout_s,
            fanout,
            {**os.environ, **(environment or {})},
        )
        done |= {host: listener.answer(host, timeout_s) for host in far}
    return {host: done[host] for host in names}


def _here(argv: Sequence[str], timeout_s: float) -> HostAnswer:
    try:
        done = subprocess.run(
            **by_path(argv),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return HostAnswer(problem=problem_of(-1, [], timeout_s))
    except (OSError, ValueError) as error:
        return HostAnswer(
            problem=f"{argv[0]} cannot be started ({getattr(error, 'strerror', None) or error})"
        )
    lines = [
        line[:_LONGEST_LINE]
        for line in done.stdout.decode("utf-8", "replace").splitlines()[:_MOST_LINES]
    ]
    errors = done.stderr.decode("utf-8", "replace").splitlines()[-_MOST_LINES:]
    return HostAnswer(text="\n".join(lines), problem=problem_of(done.returncode, errors, timeout_s))


class _Answers:
    """The output of each host so far; ClusterShell calls the ``ev_`` methods."""

    def __init__(
        self, hosts: Sequence[str], before: int, total: int, progress: Progress | None
    ) -> None:
        self.hosts = hosts
        self._status: dict[str, int] = {}
        self._out: dict[str, list[str]] = defaultdict(list)
        self._errors: dict[str, deque[str]] = defaultdict(lambda: deque(maxlen=20))
        self._before, self._total, self._progress = before, total, progress

    def read(self, host: str, stream: str, line: bytes) -> None:
        text = line[:_LONGEST_LINE].decode("utf-8", "replace")
        if stream == "stderr":
            self._errors[host].append(text)
        elif len(self._out[host]) < _MOST_LINES:
            self._out[host].append(text)

    def ended(self, host: str, status: int) -> None:
        self._status[host] = status
        if self._progress is not None:
            self._progress(self._before + len(self._status), self._total)

    def answer(self, host: str, timeout_s: float) -> HostAnswer:
        problem = problem_of(self._status.get(host, -1), list(self._errors[host]), timeout_s)
        return HostAnswer(text="\n".join(self._out[host]), problem=problem)


def _worker(
    hosts: Sequence[str],
    command: str,
    agent: str,
    handler: Any,
    timeout_s: float,
    extra: dict[str, str],
) -> Any:
    """Return ClusterShell's ssh worker. An agent gets only host and command, because it may not
    accept ssh's options.
    """
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet
    from ClusterShell.Worker.Ssh import SshClient, WorkerSsh

    class Client(SshClient):  # type: ignore[misc]
        def _build_cmd(self) -> tuple[list[str], dict[str, str] | None]:
            argv, _ = super()._build_cmd()
            words = [agent, str(self.key), command] if agent else argv
            started = by_path(words, {**os.environ, **extra})
            return started["args"], started["env"]

    class Worker(WorkerSsh):  # type: ignore[misc]
        SHELL_CLASS = Client

    nodes = NodeSet.fromlist(list(hosts), resolver=RESOLVER_NOGROUP)
    return Worker(nodes, handler=handler, timeout=timeout_s, command=command, stderr=True)


def _run(
    answers: _Answers,
    command: str,
    agent: str,
    timeout_s: float,
    fanout: int,
    extra: dict[str, str],
) -> None:
    from ClusterShell.Event import EventHandler
    from ClusterShell.Task import task_self, task_terminate

    class Handler(EventHandler):  # type: ignore[misc]
        def ev_read(self, worker: WorkerSsh, node: str, sname: str, msg: bytes) -> None:
            del worker
            answers.read(str(node), sname, msg)

        def ev_hup(self, worker: WorkerSsh, node: str, rc: int) -> None:
            del worker
            answers.ended(str(node), rc)

        def ev_close(self, worker: WorkerSsh, timedout: bool) -> None:
            for node in worker.iter_keys_timeout() if timedout else ():
                answers.ended(str(node), -1)

    task = task_self()
    try:
        task.set_default("stdout_msgtree", False)
        task.set_default("stderr_msgtree", False)
        task.set_info("fanout", max(1, fanout))
        task.set_info("connect_timeout", max(1, int(timeout_s)))
        task.set_info("ssh_options", _SSH_OPTIONS)
        worker = _worker(answers.hosts, command, agent, Handler(), timeout_s, extra)
        worker.set_write_eof()
        task.schedule(worker)
        task.resume()
    finally:
        task_terminate()  # kills the commands that are still running, also after Ctrl-C
