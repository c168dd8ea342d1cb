"""Parse the reports of launchers about dead ranks, lost hosts and ended jobs. Pure."""

import re
import signal
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from wireproof.launch.known import SCHEDULERS
from wireproof.model.plan import Plan
from wireproof.model.quantity import whole
from wireproof.model.record import Frame, Host
from wireproof.model.secrets import clean_text

# --- The ranks of a plan by the names that a launcher may use: host, short host, address, process
# id.


class RankNames:
    """The plan's ranks by every name that a launcher may use."""

    def __init__(self, plan: Plan, frames: Sequence[Frame]) -> None:
        named = {place.index: place.host for place in plan.ranks}
        for point in plan.points:
            for rank in (*(rank for pair in point.pairs for rank in pair), *point.members):
                named.setdefault(rank, "")
        self.host = named
        self._by_name: dict[str, set[int]] = {}
        self._by_pid: dict[tuple[int, int], int] = {}
        for place in plan.ranks:
            self._know(place.index, place.host, place.address)
        for frame in frames:
            if isinstance(frame, Host) and frame.rank in named:
                self._know(frame.rank, frame.hostname)
                self._by_pid[frame.rank, frame.pid] = frame.rank

    def _know(self, rank: int, *names: str) -> None:
        for name in names:
            for form in {name.lower(), _short(name)} - {""}:
                self._by_name.setdefault(form, set()).add(rank)

    def on(self, host: str, pid: int = 0) -> set[int]:
        """Return the ranks of a host; if the frames contain the PIDs, only those of the process."""
        host = host.strip("[]'\",.:;").lower()
        ranks = self._by_name.get(host) or self._by_name.get(_short(host)) or set()
        return {rank for rank in ranks if (rank, pid) in self._by_pid} or set(ranks)

    def title(self, rank: int) -> str:
        host = clean_text(self.host.get(rank, "").encode("utf-8", "replace"), 80)
        return f"rank {rank} on {host}" if host else f"rank {rank}"


def _short(name: str) -> str:
    """Return the name without the domain; numeric addresses are not changed."""
    return (
        name.lower()
        if name.replace(".", "").isdigit() or ":" in name
        else name.lower().split(".", 1)[0]
    )


Evidence = Iterator[tuple[set[int], str]]
"""Ranks, and the predicate of a sentence about each: "was killed by SIGKILL"."""
_MOST_TALK = 128 << 10  # length of the beginning, and of the end
_MOST_LINE = 1000
_MOST_LINES = 20_000
_MOST_PARTS = 64  # of a list of tasks or hosts
_MOST_SRUN = 500  # lines of dead tasks
_OUR_STATUSES = frozenset({0, 1, 2, 4})  # the messages with which the engine itself exits
_KILL = 9  # SIGKILL
_FAULTS = frozenset({4, 6, 7, 8, 11})
"""SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV: a process causes these itself; an MPI library may also
cause them after the loss of another rank.
"""

_ENDED_BY_OTHERS = frozenset({1, 2, 15})
"""SIGHUP, SIGINT, SIGTERM: a launcher sends them to the remaining ranks."""
_LAST_SIGNAL = 64

_RANK_KILLED = (
    # Hydra of Intel: "=   RANK 2 PID 8 RUNNING AT n3" and then "=   KILLED BY SIGNAL: 9 (Killed)"
    re.compile(r"RANK (?P<rank>\d{1,7}) PID (?P<pid>\d{1,9}) RUNNING AT (?P<host>\S{1,255})"),
    # ORTE and PRRTE
    re.compile(
        r"noticed that process rank (?P<rank>\d{1,7}) with PID (?P<pid>\d{1,9})"
        r" on node (?P<host>\S{1,255}) exited on signal (?P<signal>\d{1,3})"
    ),
    # the same for a process that a shell started: " Process name: [[6427,1],2]" and then " Exit
    # code: 139"
    re.compile(r"^\s{1,8}Process name: \[(?:\[\d{1,10},1\]|[\w.-]{1,80}@1),(?P<rank>\d{1,7})\]$"),
    # PALS of HPE Cray: "n3.hsn: rank 2 died from signal 11", for a shell "... exited with code 139"
    re.compile(
        r"^[\w.-]{1,255}: rank (?P<rank>\d{1,7}) (?:died from signal (?P<signal>\d{1,3})"
        r"|exited with code (?P<status>\d{1,3}))"
    ),
    # Hydra of MPICH: "=   PID 6 RUNNING AT n3" and then "=   EXIT CODE: 9"
    re.compile(r"^=\s{1,8}PID (?P<pid>\d{1,9}) RUNNING AT (?P<host>\S{1,255})"),
)
_HOW = re.compile(r"^=\s{1,8}(?:KILLED BY SIGNAL: (\d{1,3})|EXIT (?:CODE|STATUS): (-?\d{1,9}))")
_EXIT_CODE = re.compile(r"^\s{1,8}Exit code:\s{1,8}(\d{1,3})$")

_SRUN_TASK = re.compile(
    r"srun: error: (\S{1,255}): tasks? ([0-9,-]{1,400}): ([A-Z][\w ]{2,40}?)(?: \(core dumped\))?$"
)
_SRUN_AFTER = re.compile(
    r"srun: (?:Terminating|Job step aborted|launch/slurm: _task_finish)|CANCELLED AT", re.IGNORECASE
)
_SRUN_FAULTS = (
    "Segmentation fault",
    "Aborted",
    "Bus error",
    "Illegal instruction",
    "Floating point exception",
)
_SRUN_DEATHS = ("Killed", "Out Of Memory", *_SRUN_FAULTS)

_HOST_LOST = (
    (
        re.compile(r"srun: error: Node failure on (?P<host>[\w.,\[\]-]{1,255})"),
        "Slurm reports a node failure",
    ),
    (
        re.compile(r"Error: Downstream from host (?P<host>\S{1,255}) exited abnormally"),
        "its launcher's proxy has gone",
    ),
    (
        re.compile(r"Remote daemon: \[\[?[\w@,.\[\]-]{1,80}\] on node (?P<host>\S{1,255})"),
        "its launcher's daemon has gone",
    ),
    (
        re.compile(r"ssh: connect to host (?P<host>\S{1,255}) port \d{1,5}: (?P<why>[\w ]{3,60})"),
        "ssh: {why}",
    ),
    (
        re.compile(r"ssh: Could not resolve hostname (?P<host>[^\s:]{1,255})"),
        "ssh does not know its name",
    ),
    (re.compile(r"Timeout, server (?P<host>\S{1,255}) not responding"), "ssh: it does not respond"),
    (re.compile(r"Connection to (?P<host>\S{1,255}) closed"), "ssh: the connection was closed"),
    (
        re.compile(r"Connection to (?P<host>\S{1,255}) port \d{1,5}: (?P<why>[\w ]{3,60})"),
        "ssh: {why}",
    ),
    (
        re.compile(
            r"Connection (?:closed|reset) by (?:remote host )?(?P<host>[\w.:-]{1,255}) port"
        ),
        "ssh: the connection was closed",
    ),
    (
        re.compile(r"Read from remote host (?P<host>[^\s:]{1,255}): (?P<why>[\w ]{3,60})"),
        "ssh: {why}",
    ),
    (re.compile(r"(?P<host>\S{1,255}): Connection timed out"), "the connection timed out"),
    (
        re.compile(r"there is no living node '(?P<host>[^']{1,255})' in this lab"),
        "the lab's node has died",
    ),
)


def lines_of(talk: bytes) -> Iterator[str]:
    if len(talk) > 2 * _MOST_TALK:
        talk = talk[:_MOST_TALK] + b"\n" + talk[-_MOST_TALK:]
    for number, line in enumerate(talk.splitlines()):
        if number >= _MOST_LINES:
            return
        yield line[:_MOST_LINE].decode("utf-8", "replace").rstrip()


def scheduler_ended(talk: bytes) -> str:
    """Return a sentence if the scheduler (or a user through it) ended the job, so that no rank is
    the cause; otherwise "".
    """
    endings = [
        (re.compile(pattern), sentence)
        for one in SCHEDULERS.values()
        for pattern, sentence in one.endings
    ]
    for line in lines_of(talk):
        if "NODE FAILURE" in line:
            continue
        for pattern, sentence in endings:
            if pattern.search(line):
                return sentence
    return ""


def signal_name(number: int) -> str:
    """Return the name of a signal, ``signal N`` if it has none here."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def killed(lines: Sequence[str], names: RankNames, *, faults: bool = False) -> Evidence:
    """Return ranks that ended by a signal according to a launcher; ``faults``: only by a signal in
    ``_FAULTS``.
    """
    for number, line in enumerate(lines):
        for pattern in _RANK_KILLED:
            if not (found := pattern.search(line)):
                continue
            parts = found.groupdict()
            number_seen = _ended_by(parts, lines[number + 1 : number + 4])
            if number_seen is None or (faults and number_seen not in _FAULTS):
                break
            # Hydra kills the neighbours of a lost rank and may report one of them: in that case
            # their host was lost.
            pid = 0 if number_seen == _KILL else int(parts.get("pid") or 0)
            ranks = {int(parts["rank"])} if parts.get("rank") else names.on(parts["host"], pid)
            yield ranks & set(names.host), f"was killed by {signal_name(number_seen)}"
            break


def _ended_by(parts: Mapping[str, str | None], following: Iterable[str]) -> int | None:
    """Return the signal that ended a rank, from its line and the lines after it; None if the
    process exited by itself (the engine's exit, or an MPI's abort) or was ended by others.
    """
    if told := parts.get("signal"):
        return int(told) if int(told) not in _ENDED_BY_OTHERS else None
    if status := parts.get("status"):
        return _of_shell(int(status))
    for line in following:
        if found := _EXIT_CODE.search(line):
            return _of_shell(int(found[1]))
        if found := _HOW.search(line):
            signal_number, raw = found.groups()
            if signal_number:
                return int(signal_number)
            return int(raw) if int(raw) in (6, 7, 8, 9, 11) else _of_shell(int(raw))
    return None


def _of_shell(status: int) -> int | None:
    """Return the signal of a process that a shell started, by the shell's exit status: 128 + its
    number (POSIX: greater than 128).
    """
    number = status - 128
    return number if number == _KILL or number in _FAULTS else None


def _tasks(text: str, known: Sequence[int]) -> set[int]:
    """Return the known ranks in ``0-3,7`` (``known`` is sorted); a range may have any length."""
    ranges = []
    for part in text.split(",")[:_MOST_PARTS]:
        first, _, last = part.partition("-")
        low, high = whole(first), whole(last or first)
        if low is not None and high is not None:
            ranges.append((low, high))
    found: set[int] = set()
    reached = -1
    for low, high in sorted(ranges):
        begin, end = bisect_left(known, max(low, reached + 1)), bisect_right(known, high)
        found.update(known[begin:end])
        reached = max(reached, high)
    return found


def dead_in_srun(lines: Sequence[str], names: RankNames, *, faults: bool = False) -> Evidence:
    """Return the tasks that died before srun began to end the others; ``faults``: only tasks that
    died of a fault in the process.
    """
    known = sorted(names.host)
    left = _MOST_SRUN
    for line in lines:
        if left == 0 or _SRUN_AFTER.search(line):
            return
        if found := _SRUN_TASK.search(line):
            left -= 1
            _, tasks, how = found.groups()
            dead, fault, signal_name = _srun_ending(how)
            if dead and (fault or not faults):
                yield _tasks(tasks, known), f"was lost: srun: {how}{signal_name}"


def _srun_ending(how: str) -> tuple[bool, bool, str]:
    """Return whether a task died by itself, whether a fault in the process was the cause, and the
    signal's name if srun states only the exit status of a shell.
    """
    status = whole(how.rpartition(" ")[2]) if how.startswith("Exited with exit code") else None
    if status is None or status in _OUR_STATUSES:
        dead = status is None and (how in _SRUN_DEATHS or how.startswith("Exited"))
        return dead, how in _SRUN_FAULTS, ""
    number = _of_shell(status)
    if number is None:
        return not 0 < status - 128 <= _LAST_SIGNAL, False, ""
    return True, number in _FAULTS, f" ({signal_name(number)})"


def lost_hosts(lines: Sequence[str], names: RankNames) -> Evidence:
    for line in lines:
        for pattern, why in _HOST_LOST:
            if found := pattern.search(line):
                said = why.format(**{"why": "", **found.groupdict()})
                for host in _expanded(found["host"]):
                    yield names.on(host), f"was lost: {said}"
                break


def _expanded(hosts: str) -> Iterator[str]:
    """Return the names in ``n[1-3,7]`` and ``n1,n2`` as Slurm writes them; bounded."""
    for part in re.findall(r"[^,\[\]]{0,200}(?:\[[0-9,-]{1,100}\])?", hosts)[:_MOST_PARTS]:
        stem, bracket, inside = part.partition("[")
        if not bracket:
            yield part
            continue
        for piece in inside.rstrip("]").split(","):
            first, _, last = piece.partition("-")
            low, high = whole(first), whole(last or first)
            if low is not None and high is not None:
                for number in range(low, min(high, low + 1024) + 1):
                    yield f"{stem}{number:0{len(first)}d}"
