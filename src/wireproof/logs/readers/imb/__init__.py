# pure
"""The Intel MPI Benchmarks."""

import re

from wireproof.logs.readers.imb.heading import ImbRun, is_own, is_table, run_of
from wireproof.logs.readers.imb.tables import read_table
from wireproof.logs.readers.page import Page
from wireproof.logs.readers.registry import Adapter, Parsed, given, refuse_others, starts_result
from wireproof.model.errors import BadInput
from wireproof.model.series import Series, ToolRequest

# --- Intel MPI Benchmarks (3.x, 4.x, 2017 to 2021: MPI1, P2P, RMA, EXT, NBC, MT): output and
# options. A run has a title, a heading and one table per benchmark and number of processes; a
# pasted excerpt often contains only one table.

# --- Intel MPI's output before a run's title if I_MPI_DEBUG is set: the hosts of the ranks and
# the provider.

_MARK = "MPI startup():"
_RANK = re.compile(r"MPI startup\(\): +(\d{1,7}) +\d{1,10} +([A-Za-z0-9][A-Za-z0-9_.-]{0,63}) +\{")
_PROVIDER = re.compile(r"libfabric provider: ([A-Za-z0-9_;-]{1,40})")
_OTHERS = 12
_MOST = 20_000


def startup(page: Page, title: int) -> tuple[list[str], list[str]]:
    """Return the hosts of all ranks, each once, in rank order; and notes on the provider and on
    ranks that share a host.

    It reads backwards from line index ``title`` as long as lines come from Intel MPI, with only a
    few others between them.
    """
    ranks: dict[int, str] = {}
    provider, others = "", 0
    for index in range(title - 1, max(-1, title - _MOST), -1):
        line = page.lines[index]
        if _MARK not in line:
            others += 1
            if others > _OTHERS or "MPI Benchmark" in line:
                break
            continue
        others = 0
        rank, carrier = _RANK.search(line), _PROVIDER.search(line)
        if rank is not None:
            ranks.setdefault(int(rank.group(1)), rank.group(2))
        if carrier is not None:
            provider = carrier.group(1)
            break
    hosts = list(dict.fromkeys(ranks[rank] for rank in sorted(ranks)))
    notes = [f"Intel MPI says: libfabric provider {provider}"] if provider else []
    if len(hosts) == 1 and max(ranks) + 1 == len(ranks) > 1:
        notes.append(f"Intel MPI says: all {len(ranks)} ranks are on {hosts[0]}")
    return hosts, notes


_PATIENCE = 2000
"""After this many lines between two tables (warnings, other output), the run's title no longer
applies.
"""


def parse(page: Page, start: int) -> Parsed:
    """Parse all tables of the run whose title, or first table, is on line index ``start``."""
    lines, run, found = page.lines, ImbRun(), list[Series]()
    index, idle = start, 0
    while index < len(lines) and idle <= _PATIENCE:
        line = lines[index]
        if is_table(line):
            parsed = read_table(page, index, run)
            found += parsed.series
            index, idle = max(parsed.after, index + 1), 0
            continue
        title = run_of(line)
        if title is not None:
            run, idle = title, 0
            run.hosts, run.notes = startup(page, index)
        elif "MPI_Finalize" in line:
            return Parsed(found, index + 1)
        elif not is_own(line) and starts_result(line):
            break
        elif line.startswith("#"):
            run.told.take(line)
        index, idle = index + 1, idle + 1
    return Parsed(found, max(index, start + 1))


def _logs(sizes: tuple[int, ...]) -> tuple[int, int] | None:
    """Return (k, n) if the sizes are 2^k, 2^(k+1) ... 2^n, with or without 0; otherwise None."""
    wanted = sorted(set(sizes) - {0})
    if not wanted:
        return None
    low, high = wanted[0].bit_length() - 1, wanted[-1].bit_length() - 1
    return (low, high) if wanted == [1 << power for power in range(low, high + 1)] else None


def _sizes(request: ToolRequest, suite: str) -> list[str]:
    if any(size < 0 for size in request.sizes):
        raise BadInput(f"{request.program}: a message size cannot be negative.")
    if suite == "MT":
        return ["-datatype", "char", "-count", ",".join(map(str, request.sizes))]
    logs = _logs(request.sizes)
    # the range k:n of IMB-P2P does not include 0
    if logs is not None and not (suite == "P2P" and 0 in request.sizes):
        return ["-msglog", f"{logs[0]}:{logs[1]}"]
    if suite == "P2P":
        return [word for size in request.sizes for word in ("-msgsz", str(size))]
    if suite == "MPI1":
        return ["-msgsize", ",".join(map(str, request.sizes))]
    raise BadInput(
        f"{request.program} takes sizes that are successive powers of two; write other sizes to a "
        "file, one per line, and give -msglen FILE."
    )


def argv(request: ToolRequest) -> tuple[str, ...]:
    """Return ``IMB-MPI1 -msglog 0:22 -iter 1000 -time 10 PingPong``; ``seconds`` limits each
    message size. Raise BadInput for requests that IMB leaves to the launcher or does not support.
    """
    # P2P of /opt/intel/bin/IMB-P2P, MPI1 of mpitests-IMB-MPI1 and of IMB-MPI1-GPU
    name = request.program.rsplit("/", 1)[-1].upper()
    suite = name.rpartition("IMB-")[2].partition("-")[0]
    if request.seconds is not None and suite in ("P2P", "MT"):
        raise BadInput(f"{request.program} has no time limit: give iterations.")
    refuse_others(request, f"{request.program} (an MPI program)", "sizes", "iterations", "seconds")
    repeats = "-repeat" if suite == "MT" else "-iter"
    sizes = _sizes(request, suite) if request.sizes else []
    options = given((repeats, request.iterations), ("-time", request.seconds))
    named = (request.benchmark,) if request.benchmark else ()
    return (request.program, *sizes, *options, *request.extra, *named)


ADAPTER = Adapter(name="imb", parse=parse, argv=argv, csv=True)
