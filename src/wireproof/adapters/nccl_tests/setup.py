"""What stands around an nccl-tests table: the devices' list, the arguments, the program's name, the
last lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from wireproof.adapters.page import Page

__all__ = ["NcclRun", "bus_factor", "guessed_name", "read_end", "run_before"]

_RANK = re.compile(
    r"\bRank +(\d{1,7}) +(?:Group +\d{1,5} +)?Pid +\d{1,10} +on +(\S{1,255}) +device +\d"
)
_ARGUMENTS = re.compile(
    r"\bnThread +(\d{1,6}) +nGpus +(\d{1,6}) +minBytes +(\d{1,18}) +maxBytes +(\d{1,18})\b"
)
_ITERATIONS = re.compile(r"(?<!warmup )(?<!agg )\biters: +(\d{1,9})")
_STARTING = re.compile(r"Collective test (?:starting|concluded): +([\w-]{1,60})")
_VERSION = re.compile(r"\b(?:nccl|rccl)-tests:? [Vv]ersion:? ?([\w.:-]{1,40})")
_NAMES = (
    "all_reduce|all_gather|reduce_scatter|broadcast|reduce|alltoallv?|sendrecv|gather|scatter"
    "|hypercube"
)
_PROGRAM = re.compile(rf"(?:^|[\s/'\"=])((?:{_NAMES})_perf)(?:_mpi)?(?=[\s'\"]|$)")
_AVERAGE = re.compile(r"Avg bus bandwidth *: *(\S{1,30})")
_OUT_OF_BOUNDS = re.compile(r"Out of bounds values *: *(\d{1,18})\b")
_TABLE_BEFORE = ("busbw", "Avg bus bandwidth", "concluded")
_TELLING = ("Rank", "_perf", "nThread", "ersion")
_LOOK_BACK = 5000
_LONGEST_LINE = 500

# times (n - 1) / n over n ranks
_FACTORS = {
    "all_reduce": 2.0,
    "reduce_scatter": 1.0,
    "all_gather": 1.0,
    "alltoall": 1.0,
    "gather": 1.0,
    "scatter": 1.0,
}


@dataclass(slots=True)
class NcclRun:
    """``hosts``: by rank, without repeats; ``repeated``: rank 0 is listed more than once, so each
    process ran alone.
    """

    program: str = ""
    version: str = ""
    hosts: list[str] = field(default_factory=list)
    ranks: int | None = None
    repeated: bool = False
    most_bytes: int | None = None
    iterations: int | None = None
    average: str = ""
    wrong: int | None = None
    ended: bool = False


def bus_factor(program: str, ranks: int) -> float | None:
    """Bus bandwidth / algorithm bandwidth as nccl-tests defines it: 2 (n - 1) / n for all_reduce;
    None when unknown.
    """
    name = program.removesuffix("_perf").removesuffix("v")
    if name in ("broadcast", "reduce", "sendrecv"):
        return 1.0
    return _FACTORS[name] * (ranks - 1) / ranks if name in _FACTORS and ranks > 0 else None


def guessed_name(redop: str, root: str, ratio: float | None, ranks: int | None) -> str:
    """The program by its columns, when the log does not name it; "" when several fit."""
    if root.isdigit():
        return "broadcast_perf" if redop in ("", "none") else "reduce_perf"
    if redop in ("", "none") or ratio is None or not ranks or ranks < 2:
        return ""
    for name in ("all_reduce_perf", "reduce_scatter_perf"):
        if abs(ratio - (bus_factor(name, ranks) or 0.0)) < 0.02:
            return name
    return ""


def _read_rank(run: NcclRun, found: re.Match[str], seen: dict[int, str]) -> None:
    rank = int(found.group(1))
    run.repeated = run.repeated or rank in seen
    seen.setdefault(rank, found.group(2))


def _read_arguments(run: NcclRun, found: re.Match[str]) -> None:
    threads, devices, _, most = map(int, found.groups())
    iterations = _ITERATIONS.search(found.string)
    if iterations is not None:
        run.iterations = run.iterations or int(iterations.group(1))
    run.most_bytes = run.most_bytes or most
    run.ranks = run.ranks or threads * devices


def _read_line(run: NcclRun, line: str, seen: dict[int, str]) -> None:
    if (rank := _RANK.search(line)) is not None:
        _read_rank(run, rank, seen)
    elif (arguments := _ARGUMENTS.search(line)) is not None:
        _read_arguments(run, arguments)
    elif not run.program and (named := _STARTING.search(line) or _PROGRAM.search(line)) is not None:
        run.program = named.group(1).removesuffix("_mpi")
    elif not run.version and (version := _VERSION.search(line)) is not None:
        run.version = version.group(1)


def run_before(page: Page, start: int) -> NcclRun:
    """Reads back from the table's heading, not beyond the table before it."""
    run, seen = NcclRun(), dict[int, str]()
    for index in range(start - 1, max(-1, start - _LOOK_BACK), -1):
        line = page.lines[index][:_LONGEST_LINE]
        if any(word in line for word in _TABLE_BEFORE):
            break
        if any(word in line for word in _TELLING):
            _read_line(run, line, seen)
    if seen:
        run.hosts = list(dict.fromkeys(seen[rank] for rank in sorted(seen)))
        run.ranks = len(seen)
    return run


def read_end(run: NcclRun, line: str) -> bool:
    """Takes up what the last lines say; True when ``line`` is one of them."""
    if ":" not in line:
        return False
    average, wrong, named = (
        _AVERAGE.search(line),
        _OUT_OF_BOUNDS.search(line),
        _STARTING.search(line),
    )
    if average is not None:
        run.average = average.group(1)
    elif wrong is not None:
        run.wrong = int(wrong.group(1))
    elif named is not None:
        run.program = run.program or named.group(1)
    else:
        return False
    run.ended = True
    return True
