"""Who was lost: from the ranks' last words, the frames, and what launchers say of dead ranks and
hosts. Pure.

Three kinds of evidence, the stronger first; a weaker one speaks only when no stronger one does:

1. a launcher saw a rank end by a signal that was not its own, a daemon or a connection to a host
  go, a node fail;
2. at the deadline a rank was silent (or late) while the others said whom they waited for;
3. survivors that lost a peer.

A rank that told its own trouble is alive, whoever blames it; evidence that names everybody names
nobody.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from wireproof.instrument.rank_names import Who
from wireproof.instrument.talk import clean_text
from wireproof.model.plan import Plan
from wireproof.model.record import EngineError, Frame

__all__ = ["lost_ranks", "scheduler_ended"]

_MOST_TALK = 128 << 10  # of the beginning, and of the end
_MOST_LINE = 1000
_MOST_LINES = 20_000
_MOST_PARTS = 64  # of a list of tasks or hosts
_MOST_EVIDENCE = 20_000
_MOST_SRUN = 500  # lines of dead tasks
_OUR_STATUSES = frozenset({0, 1, 2, 4})  # how the engine itself leaves
_KILL = 9  # SIGKILL
_FEW = 8  # one rank in so many may be blamed for mere silence

_WORD = re.compile(
    r"wireproof-engine: deadline: rank (\d{1,7}) on \S{1,80} (at point \d{1,18}|between points) "
    r"(?:waits for rank (\d{1,7})|waits for (the others)|is (busy) itself)(, late)?"
)
_PEER = re.compile(
    r"wireproof-engine: rank (\d{1,7}) on \S{1,80} [a-z]{2,8} [a-z0-9 ]{5,24}: tcp-[a-z]{4,8}: (.{1,400})"
)
_PEER_RANKS = re.compile(r"^ranks? ((?:\d{1,7}[, ]{0,2}){1,20})")
_ABORT = re.compile(r"^Abort\(\d{1,12}\) on node (\d{1,7}) \(rank \d{1,7} in comm")
_FAILED_CALL = re.compile(
    r"MPI_(?:I?[Ss]end|I?[Rr]ecv)\(buf=[^,]{1,40}, count=\d{1,12}, \w{1,30}, (\d{1,7}), "
)

_RANK_KILLED = (
    # Hydra of Intel: "=   RANK 2 PID 8 RUNNING AT n3" and then "=   KILLED BY SIGNAL: 9 (Killed)"
    re.compile(r"RANK (?P<rank>\d{1,7}) PID (?P<pid>\d{1,9}) RUNNING AT (?P<host>\S{1,255})"),
    # ORTE and PRRTE
    re.compile(
        r"noticed that process rank (?P<rank>\d{1,7}) with PID (?P<pid>\d{1,9}) on node (?P<host>\S{1,255}) exited on "
        r"signal (?P<signal>\d{1,3})"
    ),
    # Hydra of MPICH: "=   PID 6 RUNNING AT n3" and then "=   EXIT CODE: 9"
    re.compile(r"^=\s{1,8}PID (?P<pid>\d{1,9}) RUNNING AT (?P<host>\S{1,255})"),
)
_HOW = re.compile(r"^=\s{1,8}(?:KILLED BY SIGNAL: (\d{1,3})|EXIT (?:CODE|STATUS): (-?\d{1,9}))")

_SRUN_TASK = re.compile(
    r"srun: error: (\S{1,255}): tasks? ([0-9,-]{1,400}): ([A-Z][\w ]{2,40}?)(?: \(core dumped\))?$"
)
_SRUN_AFTER = re.compile(
    r"srun: (?:Terminating|Job step aborted|launch/slurm: _task_finish)|CANCELLED AT", re.IGNORECASE
)
_SRUN_DEATHS = (
    "Killed",
    "Segmentation fault",
    "Out Of Memory",
    "Aborted",
    "Bus error",
    "Illegal instruction",
    "Floating point exception",
)

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
_PEER_HOST = re.compile(r"^\s{0,8}Peer host:\s{1,8}(\S{1,255})")

_SCHEDULER = (
    (
        re.compile(
            r"\*\*\* (?:JOB|STEP) \S{1,60} ON \S{1,255} CANCELLED AT \S{1,40} DUE TO TIME LIMIT"
        ),
        "Slurm ended the job at its time limit",
    ),
    (re.compile(r"CANCELLED AT \S{1,40} DUE TO PREEMPTION"), "Slurm preempted the job"),
    (
        re.compile(
            r"slurmstepd: error: \*\*\* JOB \S{1,60} ON \S{1,255} CANCELLED AT \S{1,40} \*\*\*"
        ),
        "somebody cancelled the job",
    ),
    (
        re.compile(r"PBS: job killed: walltime \d{1,12} exceeded limit"),
        "PBS ended the job at its time limit",
    ),
    (re.compile(r"TERM_RUNLIMIT: job killed"), "LSF ended the job at its run limit"),
    (re.compile(r"job\.exception type=timeout"), "Flux ended the job at its time limit"),
)


def _lines(talk: bytes) -> Iterator[str]:
    if len(talk) > 2 * _MOST_TALK:
        talk = talk[:_MOST_TALK] + b"\n" + talk[-_MOST_TALK:]
    for number, line in enumerate(talk.splitlines()):
        if number >= _MOST_LINES:
            return
        yield line[:_MOST_LINE].decode("utf-8", "replace").rstrip()


def scheduler_ended(talk: bytes) -> str:
    """One sentence when the scheduler (or whoever asked it) ended the job: then no rank is to
    blame. Else "".
    """
    for line in _lines(talk):
        if "NODE FAILURE" in line:
            continue
        for pattern, sentence in _SCHEDULER:
            if pattern.search(line):
                return sentence
    return ""


def _signal(number: int) -> str:
    import signal

    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _killed(lines: Sequence[str], who: Who) -> Iterator[tuple[set[int], str]]:
    """Ranks that a launcher saw end by a signal."""
    for number, line in enumerate(lines):
        for pattern in _RANK_KILLED:
            if not (found := pattern.search(line)):
                continue
            parts = found.groupdict()
            how = parts.get("signal") or _how(lines[number + 1 : number + 4])
            if how is None:
                break
            # Hydra kills a lost rank's neighbours itself and may tell of one of those: then it is
            # their host.
            pid = 0 if int(how) == _KILL else int(parts["pid"])
            ranks = {int(parts["rank"])} if parts.get("rank") else who.on(parts["host"], pid)
            yield ranks & set(who.host), f"was ended by {_signal(int(how))}"
            break


def _how(following: Iterable[str]) -> str | None:
    """The signal in the lines after a rank's; None where the process left by itself (ours, or an
    MPI's abort).
    """
    for line in following:
        if found := _HOW.search(line):
            signal_number, status = found.groups()
            if signal_number:
                return signal_number
            number = int(status)
            if number > 128:
                number -= 128
            return str(number) if number in (6, 7, 8, 9, 11) else None
    return None


def _tasks(text: str, known: Sequence[int]) -> set[int]:
    """The ranks of ``0-3,7`` that are known (``known`` is sorted); a range may be as long as it
    likes.
    """
    ranges = []
    for part in text.split(",")[:_MOST_PARTS]:
        first, _, last = part.partition("-")
        if first.isdigit() and (last.isdigit() or not last):
            ranges.append((int(first), int(last or first)))
    found: set[int] = set()
    reached = -1
    for low, high in sorted(ranges):
        begin, end = bisect_left(known, max(low, reached + 1)), bisect_right(known, high)
        found.update(known[begin:end])
        reached = max(reached, high)
    return found


def _by_srun(lines: Sequence[str], who: Who) -> Iterator[tuple[set[int], str]]:
    """Tasks that died before srun began to end the others."""
    known = sorted(who.host)
    left = _MOST_SRUN
    for line in lines:
        if left == 0 or _SRUN_AFTER.search(line):
            return
        if found := _SRUN_TASK.search(line):
            left -= 1
            _, tasks, how = found.groups()
            own = how.startswith("Exited with exit code") and int(how.split()[-1]) in _OUR_STATUSES
            if how in _SRUN_DEATHS or (how.startswith("Exited") and not own):
                yield _tasks(tasks, known), f"srun: {how}"


def _hosts_gone(lines: Sequence[str], who: Who) -> Iterator[tuple[set[int], str]]:
    for line in lines:
        for pattern, why in _HOST_LOST:
            if found := pattern.search(line):
                said = why.format(**{"why": "", **found.groupdict()})
                for host in _expanded(found["host"]):
                    yield who.on(host), said
                break


def _expanded(hosts: str) -> Iterator[str]:
    """``n[1-3,7]`` and ``n1,n2`` as Slurm writes them; bounded."""
    for part in re.findall(r"[^,\[\]]{0,200}(?:\[[0-9,-]{1,100}\])?", hosts)[:_MOST_PARTS]:
        stem, bracket, inside = part.partition("[")
        if not bracket:
            yield part
            continue
        for piece in inside.rstrip("]").split(","):
            first, _, last = piece.partition("-")
            if first.isdigit() and (last or first).isdigit():
                for number in range(int(first), min(int(last or first), int(first) + 1024) + 1):
                    yield f"{stem}{number:0{len(first)}d}"


class _Words:
    """The ranks' last words at a deadline."""

    def __init__(self, lines: Sequence[str], known: set[int]) -> None:
        self.waits: dict[int, int] = {}
        self.others: set[int] = set()
        self.busy: set[int] = set()
        self.late: set[int] = set()
        self.where = ""
        for line in lines:
            for found in _WORD.finditer(line):
                self._take(found, known)

    def _take(self, found: re.Match[str], known: set[int]) -> None:
        rank = int(found[1])
        if rank not in known:
            return
        if found[6]:
            self.late.add(rank)
            return
        self.where = self.where or (
            "of the run" if found[2].startswith("between") else f"of {found[2][3:]}"
        )
        if found[3] and int(found[3]) in known:
            self.waits[rank] = int(found[3])
        elif found[5]:
            self.busy.add(rank)
        else:
            self.others.add(rank)

    @property
    def spoken(self) -> set[int]:
        return set(self.waits) | self.others | self.busy


def _silent(words: _Words, who: Who) -> Iterator[tuple[set[int], str]]:
    """Those who said nothing in time and are waited for; else the few that said nothing at all, or
    were busy.
    """
    if not words.spoken:
        return
    silent = set(who.host) - words.spoken
    awaited = {
        waited: rank
        for rank, waited in sorted(words.waits.items(), reverse=True)
        if waited in silent
    }
    manner = {
        rank: "was late to say anything" if rank in words.late else "said nothing"
        for rank in silent
    }
    for rank, other in sorted(awaited.items()):
        yield (
            {rank},
            f"{manner[rank]} at the deadline {words.where} while {who.words(other)} waited for it",
        )
    few = max(1, len(who.host) // _FEW)
    if not awaited and 0 < len(silent) <= few:
        for rank in sorted(silent):
            yield {rank}, f"{manner[rank]} at the deadline {words.where} while the others waited"
    elif not awaited and not silent and 0 < len(words.busy) <= few:
        why = f"was busy with itself at the deadline {words.where} while the others waited (a driver or a file system)"
        yield set(words.busy), why


def _peers_lost(
    lines: Sequence[str], frames: Sequence[Frame], who: Who
) -> Iterator[tuple[set[int], str]]:
    """Ranks that survivors have lost, by the survivors' own words."""
    for line in lines:
        if found := _PEER.search(line):
            yield (
                _named(found[2]),
                f"{who.words(int(found[1]))} lost it: {clean_text(found[2].encode(), 160)}",
            )
        elif found := _FAILED_CALL.search(line):
            yield (
                {int(found[1])},
                f"a message to or from it failed ({clean_text(found[0][:8].encode())})",
            )
        elif found := _PEER_HOST.search(line):
            yield who.on(found[1]), "the connection of another rank to it broke"
    for frame in frames:
        if isinstance(frame, EngineError) and frame.code in (
            "tcp-lost",
            "tcp-stalled",
            "tcp-absent",
        ):
            teller = f"rank {frame.rank or 0}"
            yield (
                _named(frame.message),
                f"{teller} lost it: {clean_text(frame.message.encode(), 160)}",
            )


def _named(message: str) -> set[int]:
    """``rank 5 at 10.0.0.5:4000 closed ..``, ``ranks 1 2 did not come``."""
    found = _PEER_RANKS.match(message)
    return {int(word) for word in re.findall(r"\d+", found[1])} if found else set()


def _alive(lines: Sequence[str], words: _Words) -> set[int]:
    """Ranks that told their own trouble."""
    told = {int(found[1]) for line in lines if (found := _PEER.search(line) or _ABORT.search(line))}
    return told | words.spoken


def _collect(evidence: Iterable[tuple[set[int], str]], who: Who, alive: set[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    free = set(who.host) - alive
    for ranks, why in islice(evidence, _MOST_EVIDENCE):
        fresh = ranks & free
        free -= fresh
        found.update((rank, f"{who.words(rank)} {_joined(why)}") for rank in sorted(fresh))
    return found if len(found) < len(who.host) else {}


def _joined(why: str) -> str:
    return why if why.startswith(("was ", "said ")) else f"was lost: {why}"


def lost_ranks(plan: Plan, frames: Sequence[Frame], talk: bytes) -> dict[int, str]:
    """Rank to one sentence why it is taken for lost; empty when nobody is, or when nothing tells
    who.

    ``frames``: those of this run; ``talk``: standard error of launcher and ranks. Both are believed
    only as far as they name ranks of the plan.
    """
    if scheduler_ended(talk):
        return {}
    who = Who(plan, frames)
    lines = list(_lines(talk))
    words = _Words(lines, set(who.host))
    nobody: set[int] = set()
    seen = _collect(_killed(lines, who), who, nobody) | _collect(_by_srun(lines, who), who, nobody)
    gone = _collect(_hosts_gone(lines, who), who, nobody)
    strong: Mapping[int, str] = {**gone, **seen}
    if strong and len(strong) < len(who.host):
        return dict(sorted(strong.items()))
    return _collect(_silent(words, who), who, words.spoken - words.busy) or _collect(
        _peers_lost(lines, frames, who), who, _alive(lines, words)
    )
